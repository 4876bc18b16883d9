/* UTF-8, numbers, and text made safe to show. Locale is never consulted. */
#ifndef AL_BASE_TEXT_H
#define AL_BASE_TEXT_H

#include "base/buf.h"

#include <stdint.h>

/* Decodes one code point (RFC 3629: no overlong forms, no surrogates). Bytes used, or 0 when invalid or at the end. */
unsigned al_utf8_decode(struct al_str s, uint32_t *ret_cp);
unsigned al_utf8_encode(uint32_t cp, char out[4]);
bool al_utf8_valid(struct al_str s);
size_t al_utf8_count(struct al_str s);               /* code points; an invalid byte counts as one */
struct al_str al_utf8_cut(struct al_str s, size_t max_bytes); /* the longest prefix that ends at a character */
struct al_str al_utf8_head(struct al_str s, size_t max_chars);
void al_utf8_clean(struct al_buf *out, struct al_str s); /* invalid sequences become U+FFFD */

/* Whole text, range checked, no sign but '-', no space. False leaves *ret alone. */
bool al_parse_int(struct al_str s, int64_t min, int64_t max, int64_t *ret);

/* Appends text for a terminal or a one-line message: control, bidi and tag characters become visible escapes
 * (\x1b, \u202e); with keep_lines, LF and TAB stay. */
void al_text_visible(struct al_buf *out, struct al_str s, bool keep_lines);
/* Likewise, and whatever else cannot be seen (zero width, fillers, variation selectors): for what a person decides by,
 * where nothing may be there that they do not see. */
void al_text_plain(struct al_buf *out, struct al_str s, bool keep_lines);

/* Appends a word as a POSIX shell reads it back: as it is when it needs no quotes. */
void al_text_shell(struct al_buf *out, struct al_str word);

/* Appends file:///… of an absolute path: all but unreserved characters and "/" in percent form (RFC 3986, RFC 8089). */
void al_text_file_uri(struct al_buf *out, const char *path);

/* "1.5 KB", "12 ms", "2.3 s" for people. */
void al_text_bytes(struct al_buf *out, uint64_t bytes);
void al_text_duration(struct al_buf *out, uint64_t ms);

#endif
