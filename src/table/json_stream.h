/*
 * JSON (RFC 8259) over a window on a source: tokens that are checked as they pass, with their lines. Not a
 * tree and not rows: jsonrows.c makes those. A token that the window cuts is MORE: the caller goes back to a
 * mark, refills and reads it again, so that nothing here has to be resumed in the middle.
 */
#ifndef AL_TABLE_JSON_STREAM_H
#define AL_TABLE_JSON_STREAM_H

#include "base/json.h"
#include "table/source.h"

enum al_js_result {
    AL_JS_BAD = -1,
    AL_JS_OK = 0,
    AL_JS_MORE = 1
};
enum {
    AL_JS_PEEK_MORE = -1,
    AL_JS_PEEK_END = -2
}; /* beside the characters of al_js_peek */

struct al_js {
    struct al_source *src;
    const struct al_table_sink *sink;
    struct al_buf win;
    const char *p, *end;       /* what is left of the window */
    uint64_t base;             /* offset of the window's first byte in the text */
    uint64_t line, line_start; /* of p; the offset where its line begins */
    bool eof;                  /* nothing comes behind the window */
    const char *bad_p, *bad;   /* of a BAD: where, and what was expected */
};

/* A place in the window to come back to. Refilling moves it along. */
struct al_js_mark {
    size_t at;
    uint64_t line, line_start;
};

struct al_js_value {
    enum al_json_type type;
    bool escaped;      /* a string with escapes */
    bool spaced;       /* an array or object with white space in it */
    struct al_str raw; /* its text; of a string, what is between the quotes. A view until the next refill */
    uint64_t line;
};

void al_js_init(struct al_js *js, struct al_source *src, const struct al_table_sink *sink);
void al_js_fini(struct al_js *js);

struct al_js_mark al_js_here(const struct al_js *js);
void al_js_back(struct al_js *js, const struct al_js_mark *mark);
/* Goes back to the mark, forgets what is before it, and reads on: at least twice what was held, or to the
 * end. Asks progress. INGEST_LIMIT when more than max bytes stand behind the mark; what names the thing that
 * is too large. */
int al_js_refill(struct al_js *js, struct al_js_mark *mark, size_t max, const char *what,
                 struct al_err *err) AL_MUST_CHECK;
/* The same when nothing is to be kept. */
int al_js_next(struct al_js *js, struct al_err *err) AL_MUST_CHECK;

/* Skips white space: the next character, or AL_JS_PEEK_…. */
int al_js_peek_slow(struct al_js *js);
static inline int al_js_peek(struct al_js *js)
{
    return js->p < js->end && (unsigned char)*js->p > ' ' ? (unsigned char)*js->p : al_js_peek_slow(js);
}
/* al_js_peek that refills: a character, AL_JS_PEEK_END, or -3 with err. */
#define AL_JS_PEEK_FAILED (-3)
int al_js_peek_fill(struct al_js *js, struct al_err *err);

/* One value at p, which is no white space. depth: how many containers it stands in. */
enum al_js_result al_js_read(struct al_js *js, unsigned depth, struct al_js_value *ret);
/* A name and its colon, to the value. */
enum al_js_result al_js_key(struct al_js *js, struct al_js_value *ret);
/* Behind a value (or an opening, when first): 1 with p at the next member's start, 0 behind the closing. */
enum al_js_result al_js_member(struct al_js *js, char closer, bool first, bool *ret_more);
enum al_js_result al_js_bad(struct al_js *js, const char *p, const char *what);

/* What a raw string says: at most as many bytes as raw has. *lone: a surrogate without its other half became
 * U+FFFD. */
size_t al_js_decode(struct al_str raw, char *out, bool *lone);
/* A value that was read, without its white space; at most as many bytes. */
size_t al_js_compact(struct al_str raw, char *out);

/* INGEST_INVALID for a BAD: line, column, what. record_line: where its record begins, 0 for none. */
int al_js_fail(const struct al_js *js, uint64_t record_line, struct al_err *err);

#endif
