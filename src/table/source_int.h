/* Encodings: which one some bytes are in, and the way to UTF-8. For source.c. */
#ifndef AL_TABLE_SOURCE_INT_H
#define AL_TABLE_SOURCE_INT_H

#include "table/icu.h"
#include "table/source.h"

enum al_enc {
    AL_ENC_UTF8,
    AL_ENC_UTF16LE,
    AL_ENC_UTF16BE,
    AL_ENC_UTF32LE,
    AL_ENC_UTF32BE,
    AL_ENC_LATIN1,
    AL_ENC_1252,
    AL_ENC_ICU,
};
struct al_enc_choice {
    enum al_enc enc;
    char name[40];
    size_t bom;    /* bytes of a byte order mark at the start */
    char why[120]; /* "" for plain UTF-8 */
};

/* How far s is valid UTF-8. Adds line feeds and characters beyond ASCII of that part; *ret_cut: what stops it
 * is a character that the end of s cuts. */
size_t al_utf8_span(struct al_str s, uint64_t *lines, uint64_t *multi, bool *ret_cut);
/* Bytes that make up the invalid sequence at the start of s (RFC 3629; the maximal subpart, as Unicode 3.9
 * advises). */
size_t al_utf8_bad(struct al_str s);

/* By a mark, or by the zero bytes of UTF-16 and UTF-32. False: neither. */
bool al_enc_by_form(struct al_str head, struct al_enc_choice *ret);
/* Of text that is in some 8-bit or multi-byte encoding, not UTF-8. sample holds bytes beyond ASCII. */
void al_enc_by_guess(struct al_str sample, struct al_enc_choice *ret);
/* By name, for what a person forced. False: unknown. */
bool al_enc_by_name(const char *name, struct al_enc_choice *ret);

/* What turns bytes into UTF-8; keeps the cut end of a piece for the next one. */
struct al_enc_conv {
    enum al_enc enc;
    unsigned char held[4];
    unsigned n_held;
    uint32_t high; /* a high surrogate that waits; 0: none */
    struct al_icu_conv *icu;
};
bool al_enc_conv_init(struct al_enc_conv *c, const struct al_enc_choice *choice);
/* Not for UTF-8. Appends at most 4 bytes for each of in, and 8. */
void al_enc_conv_do(struct al_enc_conv *c, struct al_str in, bool last, struct al_buf *out, uint64_t *bad);
void al_enc_conv_fini(struct al_enc_conv *c);

#endif
