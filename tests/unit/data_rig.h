/* Ingests and queries through the data engine's host API, waited for. */
#ifndef AL_TESTS_DATA_RIG_H
#define AL_TESTS_DATA_RIG_H

#include "test.h"

#include "base/buf.h"
#include "data/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rig_query {
    bool done;
    unsigned ends;
    struct al_err err;
    struct al_buf text, json, details, bytes; /* zero-terminated */
    unsigned n_chunks;
    struct al_query_job *job;
    bool (*on_chunk)(struct rig_query *r, struct al_str bytes); /* NULL: takes all */
    void (*on_end)(struct rig_query *r);
};

struct rig_ingest {
    bool done;
    unsigned ends, n_progress;
    struct al_err err;
    struct al_buf json;
    char sha256[65];
    uint64_t rows, bytes, total;
    struct al_ingest *ingest;
    void (*on_progress)(struct rig_ingest *r);
};

extern struct al_loop *rig_loop;
extern struct al_data *rig_data;

int rig_setup(void **state);
int rig_teardown(void **state);

int rig_file(const void *p, size_t n); /* without a name, at its beginning; the caller's to close */
int rig_text(const char *z);

struct al_query rig_spec(const char *sql, int dataset); /* dataset -1: none */
void rig_start(struct rig_query *r, const struct al_query *q);
void rig_wait(struct rig_query *r);
void rig_free(struct rig_query *r);
struct rig_query *rig_query(const char *sql, int dataset); /* the one static result, freed by the next call */
struct rig_query *rig_describe(int dataset, const char *sheet, int sample_rows);

struct al_ingest_spec rig_ingest_spec(int source, int output, const char *name);
void rig_ingest_start(struct rig_ingest *r, const struct al_ingest_spec *spec);
void rig_ingest_wait(struct rig_ingest *r);
void rig_ingest_free(struct rig_ingest *r);
struct rig_ingest *rig_ingest(int source, int output, const char *name); /* likewise */

unsigned rig_children(void); /* processes whose parent we are */
/* Waits until nothing is left but the zygote and a spare, and says so if it never comes to that. */
void rig_rest(void);
unsigned rig_fds(void);
pid_t rig_zygote(void); /* 0: none */

/* main of every program with the engine: the workers are the program itself. */
#define RIG_MAIN(tests)                                                \
    int main(int argc, char **argv)                                    \
    {                                                                  \
        if (argc > 1 && strcmp(argv[1], AL_DATA_ZYGOTE_VERB) == 0)     \
            return al_data_zygote_main(argc, argv);                    \
        if (argc > 1 && strcmp(argv[1], AL_DATA_INGEST_VERB) == 0)     \
            return al_data_ingest_main(argc, argv);                    \
        if (argc > 1 && strcmp(argv[1], AL_DATA_DASHBOARD_VERB) == 0)  \
            return al_data_dashboard_main(argc, argv);                 \
        return cmocka_run_group_tests(tests, rig_setup, rig_teardown); \
    }

#endif
