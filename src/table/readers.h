/* The readers, one function each; al_table_read chooses. All push into sink and stop at its first error. */
#ifndef AL_TABLE_READERS_H
#define AL_TABLE_READERS_H

#include "table/source.h"

/* RFC 4180, and what people make of it. found->delimiter is set. tab_only: TSV. */
int al_csv_read(struct al_source *src, bool tab_only, const struct al_table_opts *opts, const struct al_table_sink *sink,
                struct al_table_found *found, struct al_err *err) AL_MUST_CHECK;

/* RFC 8259: an array of objects, one object of arrays, a wrapper around either, one object; streaming. A .json that is
 * JSON Lines is read as such, and found->format says so. lines: JSON Lines. */
int al_jsonrows_read(struct al_source *src, bool lines, const struct al_table_opts *opts,
                     const struct al_table_sink *sink, struct al_table_found *found, struct al_err *err) AL_MUST_CHECK;

/* ECMA-376 (transitional and strict), read by pread(2). size is the file's. */
int al_xlsx_read(int fd, uint64_t size, const struct al_table_opts *opts, const struct al_table_sink *sink,
                 struct al_err *err) AL_MUST_CHECK;

#endif
