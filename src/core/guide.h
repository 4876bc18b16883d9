/* The guides of forge_guide: texts for a model, made from what is there now. Only guide*.c and their test
 * include it. */
#ifndef AL_CORE_GUIDE_H
#define AL_CORE_GUIDE_H

#include "core/core.h"

#define GUIDE_MAX_BYTES (6u << 10)

/* A script that a guide shows. The tests run each of them as it stands. */
struct guide_example {
    const char *topic, *what, *code;
    const char *needs[3]; /* registry names; it is shown only when all are there */
};
extern const struct guide_example guide_examples[];
extern const size_t guide_n_examples;

struct guide_topic {
    const char *name, *what;
    const char *needs; /* a tool without which there is no such topic; NULL: always there */
    void (*write)(struct al_core *core, struct al_str query, struct al_buf *out);
};
extern const struct guide_topic guide_topics[];
extern const size_t guide_n_topics;

bool guide_topic_live(const struct al_core *core, const struct guide_topic *topic);
/* "overview, js_run, tools, …" of the live ones. */
void guide_topic_names(const struct al_core *core, struct al_buf *out);
void guide_add_examples(struct al_core *core, const char *topic, struct al_buf *out);
/* What a script may call: in full what fits the query, without one in brief. In guide_tools.c. */
void guide_write_tools(struct al_core *core, struct al_str query, struct al_buf *out);
/* Data files and SQL, in guide_data.c. */
void guide_write_data(struct al_core *core, struct al_str query, struct al_buf *out);
/* Python scripts, in guide_python.c. */
void guide_write_python(struct al_core *core, struct al_str query, struct al_buf *out);
/* Dashboards without code, in guide_dashboard.c. */
void guide_write_dashboards(struct al_core *core, struct al_str query, struct al_buf *out);
/* The last run of this session, in guide_last.c. */
void guide_write_last(struct al_core *core, struct al_str query, struct al_buf *out);

#endif
