/* What the files of the data tools share: options, making a dataset, showing one. */
#ifndef AL_TOOLS_DATA_INT_H
#define AL_TOOLS_DATA_INT_H

#include "tools/data.h"
#include "tools/tools_int.h"

#include "table/table.h"

extern const struct al_tool al_tool_data_inspect, al_tool_data_query;

bool al_data_on(const struct al_core *core); /* analysis.enabled */

/* --- options (data_options.c) --- */
struct al_data_options {
    struct al_table_opts table;
    char decimal;
    char *json; /* canonical, of what was given: equal options, equal text. Owned */
};
/* options may be NULL. Limits come from the config. TOOL_INPUT_INVALID. */
int al_data_options_read(const struct al_core *core, const struct al_json *options,
                         struct al_data_options *ret, struct al_err *err) AL_MUST_CHECK;
void al_data_options_fini(struct al_data_options *o);

/* --- making (data_ingest.c) --- */
/* An open source, and what was forced. Borrowed for the call. */
struct al_data_source {
    int fd;
    struct stat st;
    struct al_str name; /* for people */
    const char *path;   /* real; for the row only */
    const char *shown;  /* in messages */
    const struct al_data_options *options;
};
/* Who waits for a dataset. */
struct al_data_waiter {
    /* Once, never from within want; row is a view for the call (NULL with err). After it nothing is kept. */
    void (*done)(void *ud, const struct al_dataset_row *row, bool reused, const struct al_err *err);
    void (*progress)(void *ud, struct al_str json);
    void *ud;
    struct al_data_ingest *ingest; /* private, as next */
    struct al_data_waiter *next;
};
/*
 * The dataset of that file in the core's session: the one that is there (1: *ret_row is it, and the waiter is
 * not used), or one that is being made: 0, and done follows. Equal files with equal options that are asked
 * for at once are read once. fresh: a dataset that is there does not count.
 */
int al_data_want(struct al_core *core, const struct al_data_source *source, bool fresh,
                 struct al_data_waiter *waiter, struct al_dataset_row *ret_row,
                 struct al_err *err) AL_MUST_CHECK;
/* Waits no longer. True: done does not come. False: nobody else waits, so the reading ends, and done follows,
 * CANCELLED. */
bool al_data_unwant(struct al_data_waiter *waiter);

/* The row of a dataset of the core's workspace. NOT_FOUND, also for what is no id. */
int al_data_find(struct al_core *core, struct al_str id, struct al_dataset_row *ret,
                 struct al_err *err) AL_MUST_CHECK;

/* --- showing (data_show.c) --- */
#define AL_DATA_TEXT_CHARS 12000
#define AL_DATA_ARENA (192u << 20) /* of the tree of a description */
struct al_data_shown {
    const char *id, *name, *sheet; /* sheet: the one that was asked for; "" all */
    bool reused;
};
/* A description (dataset/dataset.h), which is a claim of a worker, as the structured value and as text for a
 * model. */
int al_data_show(const struct al_data_shown *shown, struct al_str json, struct al_buf *text,
                 struct al_buf *structured, struct al_err *err) AL_MUST_CHECK;
/* The sheets for the dataset's row: names, tables, rows, column names and types; "[]" for what is no
 * description. */
char *al_data_sheets(struct al_str json, char ret_format[16]);

#endif
