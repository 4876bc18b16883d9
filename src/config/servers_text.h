/*
 * Edits of configuration files as bytes, JSON with or without comments and Codex' TOML: what is not touched stays as
 * it is, a byte order mark, line ends, indentation and comments included.
 */
#ifndef AL_CONFIG_SERVERS_TEXT_H
#define AL_CONFIG_SERVERS_TEXT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

#define AL_TEXT_MAX_STEPS 8

/* Members of one object: some go, one comes (or is replaced). */
struct al_text_edit {
    struct al_str steps[AL_TEXT_MAX_STEPS]; /* the object, by names from the root; made when something is put there */
    size_t n_steps;
    const struct al_str *remove; /* names; those that are not there are fine */
    size_t n_remove;
    struct al_str put_name;  /* p NULL: none */
    struct al_str put_value; /* JSON */
};

/* JSON, comments and trailing commas allowed. Empty text counts as {}. `shown` names the file in errors:
 * CONFIG_INVALID. */
int al_text_edit_json(struct al_str text, const struct al_text_edit *e, const char *shown, struct al_buf *out,
                      struct al_err *err) AL_MUST_CHECK;

/* A statement of a TOML file: a header ("[a.b]") with what lies between it and its first key, or a key with its value;
 * from the beginning of its line to the end of its last, the line feed included. */
struct al_toml_span {
    struct al_str path[AL_TEXT_MAX_STEPS]; /* names from the root, at most so many */
    size_t n_path;
    bool header, array; /* "[…]", "[[…]]" */
    size_t from, to;
};
struct al_toml_spans {
    struct al_toml_span *v; /* in the arena */
    size_t n;
};
/*
 * The table `want` of a TOML text as JSON nodes in the arena ({} without it): *ret is an object whose one member it
 * is. Statements elsewhere that are not understood are left out; beneath the table they fail with "line N: …". spans
 * may be NULL.
 */
int al_toml_read(struct al_arena *a, struct al_str text, const char *want, const struct al_json **ret,
                 struct al_toml_spans *spans, struct al_err *err) AL_MUST_CHECK;
/* The same edit of a table of TOML (steps: one, n_steps 1). A member within an inline table cannot be edited:
 * CONFIG_INVALID says where it stands. */
int al_text_edit_toml(struct al_str text, const struct al_text_edit *e, const char *shown, struct al_buf *out,
                      struct al_err *err) AL_MUST_CHECK;

#endif
