/* What a command answers, and how it is told: a person's text or one JSON object, errors, warnings, progress.
 */
#ifndef AL_CLI_REPLY_H
#define AL_CLI_REPLY_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

struct al_app;

#define AL_REPLY_MAX (96u << 20)

struct al_reply {
    char tool[80];            /* names it with --json */
    char execution_id[64];    /* "" when no run was made */
    struct al_buf text;       /* the person's form */
    struct al_buf model_text; /* `text` with --json, when it differs from the person's */
    struct al_buf structured; /* one JSON value; empty: none */
    struct al_buf note;       /* lines for people, on standard error after the results */
    struct al_err err;        /* code ≠ AL_OK: failed; text may be there all the same */
    struct al_buf details;    /* of the error, with --json: one JSON object; empty: none */
    uint64_t started_ns;
    bool written; /* the command has written its results itself */
    bool stream;  /* standard output carries events with --json: an error goes to standard error, once */
    bool told;    /* the error was told there */
};

void al_reply_init(struct al_reply *reply, const char *tool);
void al_reply_free(struct al_reply *reply);
/* Writes the reply in the form that was asked for; the exit status of the process. */
int al_reply_print(struct al_app *app, struct al_reply *reply);

enum al_style {
    AL_PLAIN,
    AL_GOOD,
    AL_WARN,
    AL_BAD,
    AL_DIM,
    AL_BOLD,
};
/* The escape that begins a style and the one that ends it; "" without colour. */
const char *al_style_on(bool color, enum al_style style);
const char *al_style_off(bool color, enum al_style style);

/* Adds text that others wrote: made visible where results go to a terminal, untouched in a pipe. */
void al_say_foreign(const struct al_app *app, struct al_buf *out, struct al_str s, bool keep_lines);
/* Adds JSON with two spaces of indentation (also visible on a terminal). */
void al_say_json(const struct al_app *app, struct al_buf *out, const struct al_json *v);
/* A local time, or "-" for 0. */
void al_say_time(struct al_buf *out, int64_t wall_ms);

/* "warning: …" on standard error, or its JSON line; nothing with --quiet. */
void al_app_warn(struct al_app *app, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A note about what is happening, for people only. */
void al_app_note(struct al_app *app, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Shows progress of a call: a line on a terminal, a JSON line with --json. At most ten a second. */
void al_app_progress(struct al_app *app, struct al_str json);
/* Takes the progress line off the terminal. */
void al_app_progress_end(struct al_app *app);

#endif
