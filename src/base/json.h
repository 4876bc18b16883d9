/*
 * JSON (RFC 8259): a strict reader into an arena and a writer into a buffer.
 * Numbers keep their text and each value its source bytes, so that what is only passed on stays unharmed.
 */
#ifndef AL_BASE_JSON_H
#define AL_BASE_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

enum al_json_type {
    AL_JSON_NULL,
    AL_JSON_FALSE,
    AL_JSON_TRUE,
    AL_JSON_NUMBER,
    AL_JSON_STRING,
    AL_JSON_ARRAY,
    AL_JSON_OBJECT,
};

struct al_json {
    enum al_json_type type;
    uint32_t n;        /* members or elements */
    struct al_str raw; /* the value's bytes in the source text, which must outlive the tree */
    struct al_str key; /* decoded name, for a member of an object */
    struct al_str str; /* decoded UTF-8, for a string (a lone surrogate becomes U+FFFD; raw keeps it) */
    const struct al_json *child; /* first member or element */
    const struct al_json *next;  /* next sibling */
};

#define AL_JSON_MAX_DEPTH 128

/*
 * Reads one JSON text (white space around it allowed, nothing else). Iterative, no recursion. Nodes lie in
 * the arena; the arena's limit is the memory limit. Fails with INVALID_INPUT and "line L, column C: what".
 * Invalid UTF-8, depth over AL_JSON_MAX_DEPTH and raw control characters in strings are errors.
 */
int al_json_parse(struct al_arena *a, struct al_str text, const struct al_json **ret,
                  struct al_err *err) AL_MUST_CHECK;

/* Is s one JSON text, valid UTF-8, no deeper than max_depth (at most 256)? Needs no memory: for what is
 * passed on. */
bool al_json_check(struct al_str s, unsigned max_depth);
/* The last member of that name (as JavaScript would), or NULL; also NULL when v is NULL or no object. */
const struct al_json *al_json_get(const struct al_json *v, const char *key);
const struct al_json *al_json_get_str(const struct al_json *v, struct al_str key);
#define al_json_each(it, container) \
    for (const struct al_json *it = (container) ? (container)->child : NULL; it; it = it->next)

bool al_json_is_string(const struct al_json *v); /* NULL is fine: false */
bool al_json_is_true(const struct al_json *v);
/* The member as a view when it is a string, else {NULL, 0}. */
struct al_str al_json_get_text(const struct al_json *v, const char *key);
/* True when v is a number whose value is an integer within [min, max] (1e3 and 5.0 count as integers). */
bool al_json_int(const struct al_json *v, int64_t min, int64_t max, int64_t *ret);
bool al_json_double(const struct al_json *v, double *ret); /* false also when it is too large for a double */
const char *al_json_type_name(const struct al_json *v); /* "string", "object", …; "integer" is "number" */
/* Deep equality of values; numbers by value, objects regardless of order. */
bool al_json_equal(const struct al_json *a, const struct al_json *b);

/* Writer. Commas and colons are its work; depth ≤ AL_JSON_MAX_DEPTH. Failure is the buffer's. */
struct al_jw {
    struct al_buf *out;
    uint8_t has[AL_JSON_MAX_DEPTH / 8 + 1]; /* per level: something was written */
    uint8_t arr[AL_JSON_MAX_DEPTH / 8 + 1]; /* per level: it is an array */
    unsigned depth;
    bool after_key;
};

void al_jw_init(struct al_jw *w, struct al_buf *out);
void al_jw_obj(struct al_jw *w);
void al_jw_arr(struct al_jw *w);
void al_jw_end(struct al_jw *w); /* closes the innermost object or array */
void al_jw_key(struct al_jw *w, const char *key);
void al_jw_key_str(struct al_jw *w, struct al_str key);
/* Invalid UTF-8 becomes U+FFFD; control characters, U+2028 and U+2029 are escaped. */
void al_jw_str(struct al_jw *w, struct al_str s);
void al_jw_strz(struct al_jw *w, const char *z); /* NULL writes null */
void al_jw_int(struct al_jw *w, int64_t v);
void al_jw_double(struct al_jw *w, double v); /* shortest text that reads back; null for NaN and infinities */
void al_jw_bool(struct al_jw *w, bool v);
void al_jw_null(struct al_jw *w);
void al_jw_raw(struct al_jw *w,
               struct al_str json); /* one JSON value, as it is, with its line ends; not empty */
/* The value without white space (so on one line); numbers and strings as in the source, names escaped anew.
 * NULL writes null. */
void al_jw_value(struct al_jw *w, const struct al_json *v);

/* key + value in one line. */
void al_jw_kstr(struct al_jw *w, const char *key, struct al_str s);
void al_jw_kstrz(struct al_jw *w, const char *key, const char *z);
void al_jw_kint(struct al_jw *w, const char *key, int64_t v);
void al_jw_kbool(struct al_jw *w, const char *key, bool v);
void al_jw_kraw(struct al_jw *w, const char *key, struct al_str json);

#endif
