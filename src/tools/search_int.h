/* Matches out of ripgrep's JSON lines. */
#ifndef AL_TOOLS_SEARCH_INT_H
#define AL_TOOLS_SEARCH_INT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/*
 * How rg is started, for searches and listings: sealed, with bounded memory. Not mapped, since a file that
 * shrinks meanwhile would kill it. The limit of memory holds for its lines and results: a line is held whole,
 * and each of its hits takes some 50 bytes, so that a line of 500 MB could otherwise take 20 GB.
 */
#define AL_RG_MEMORY (288u << 20)
#define AL_RG_TIMEOUT_MS 60000
/* A listing whose rg has said nothing for so long is ended: names come all the time. Changed by tests. */
extern uint64_t al_listing_idle_ms;
/* With one thread, and files up to that size, the limit is never met: measured at 52 bytes for each byte of a
 * file. */
#define AL_RG_SMALL_MIB 4

/* TOOL_ERROR for a status that rg itself never ends with: its loader found no library, say. */
void al_tool_rg_fail(int exit_status, struct al_str words, struct al_err *err);

/* One "match" record, as views into the output; the strings are still as JSON writes them. */
struct al_rg_match {
    struct al_str path, line; /* bodies of the JSON strings */
    bool path_base64, line_base64;
    bool line_cut;        /* the output ended within the line */
    uint64_t line_number; /* 0: not known */
    uint64_t start;       /* byte offset of the first hit in the line */
};

#define AL_RG_LINE_MAX (16u << 10) /* bytes of a line that are kept */

/* Reads the next "match" record from *rest, also one whose end is missing. False when there is none. */
bool al_rg_next(struct al_str *rest, struct al_rg_match *ret);
/* Appends the bytes of a body, from byte `from` on, at most max, as valid UTF-8. */
void al_rg_text(struct al_str body, bool base64, uint64_t from, size_t max, struct al_buf *out);
/* 1-based column in characters of the byte offset `start`. */
uint64_t al_rg_column(struct al_str body, bool base64, uint64_t start);

#endif
