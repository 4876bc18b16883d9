/*
 * One file as a stream of UTF-8: read(2), hashed, unpacked, decoded. Not a parser. For the readers of text formats.
 */
#ifndef AL_TABLE_SOURCE_H
#define AL_TABLE_SOURCE_H

#include "table/table.h"

struct al_source;
/*
 * Opens fd (borrowed). gzip says whether to unpack. The encoding is found from the first 1 MiB (byte order mark; UTF-16
 * and UTF-32 without one by their zero bytes; UTF-8; else ICU's detector when its confidence is ≥ 50 and 15 above
 * windows-1252's; else windows-1252) unless forced, noted by sink->note where it is not plain UTF-8. A file that began as
 * UTF-8 and turns out otherwise later: up to 0.1 % bad bytes become U+FFFD and are noted with line and byte; a file that
 * is more wrong than that is read anew in the encoding that fits (INGEST_INVALID when rows were already given out is not
 * an answer: the source looks through the whole file first when it cannot be sure).
 */
int al_source_open(int fd, bool gzip, const struct al_table_opts *opts, const struct al_table_sink *sink,
                   struct al_source **ret, struct al_err *err) AL_MUST_CHECK;
/* The next piece of text, at most 1 MiB, which ends at a character. n = 0 at the end. A view until the next call. */
int al_source_next(struct al_source *s, struct al_str *ret, struct al_err *err) AL_MUST_CHECK;
const char *al_source_encoding(const struct al_source *s);
uint64_t al_source_bytes(const struct al_source *s); /* of the file, so far */
/* Reads what is left (INGEST_INVALID when the file changed meanwhile) and gives the hash of all its bytes. */
int al_source_sha256(struct al_source *s, char ret[65], struct al_err *err) AL_MUST_CHECK;
void al_source_free(struct al_source *s);

#endif
