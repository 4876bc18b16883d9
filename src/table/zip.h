/* A ZIP archive that nobody vouches for, read by pread(2) within stated bounds. Not a general unzipper: no
 * paths, no files. */
#ifndef AL_TABLE_ZIP_H
#define AL_TABLE_ZIP_H

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

#define AL_ZIP_MAX_ENTRIES 10000
#define AL_ZIP_MAX_DIRECTORY ((size_t)8 << 20) /* bytes of the central directory */
#define AL_ZIP_MAX_NAME 1024
/* How much entries that are packed more tightly than a ratio may unpack to, in all. Sheets are packed 5 to 30
 * times. */
#define AL_ZIP_RATIO 100
#define AL_ZIP_RATIO_BYTES ((uint64_t)64 << 20)
#define AL_ZIP_TIGHT_RATIO 200
#define AL_ZIP_TIGHT_BYTES ((uint64_t)16 << 20)

struct al_zip_entry {
    struct al_str name; /* as it stands in the archive, valid UTF-8 or not; a view until al_zip_free */
    uint64_t packed, unpacked;
    uint64_t offset; /* of the local header */
    uint32_t crc;
    uint16_t method, flags;
};

struct al_zip;
/*
 * Reads the end record and the central directory of fd (borrowed; size is the file's). Fails with
 * INGEST_INVALID when it is no archive, is cut off, or when entries overlap; with INGEST_LIMIT when there are
 * too many, or when they unpack to more than max_bytes in all or to AL_ZIP_RATIO times what they are: a
 * bomb costs no more than its directory.
 */
int al_zip_open(int fd, uint64_t size, uint64_t max_bytes, struct al_zip **ret,
                struct al_err *err) AL_MUST_CHECK;
void al_zip_free(struct al_zip *z);

size_t al_zip_count(const struct al_zip *z);
const struct al_zip_entry *al_zip_at(const struct al_zip *z, size_t i);
/* The entry of that name; else one whose name differs only in case, in \ for /, or by a leading slash. NULL:
 * none. *ret_twice (may be NULL): there are several, so that two programs may read two different ones. */
const struct al_zip_entry *al_zip_find(const struct al_zip *z, struct al_str name, bool *ret_twice);
uint64_t al_zip_read(const struct al_zip *z); /* bytes of the file read so far, by all streams */

struct al_unzip; /* one entry's bytes, in order */
/* DATASET_UNSUPPORTED: encrypted, or packed by a method other than stored and deflate. */
int al_unzip_open(struct al_zip *z, const struct al_zip_entry *e, struct al_unzip **ret,
                  struct al_err *err) AL_MUST_CHECK;
/* Fills buf with up to n bytes; *ret is 0 only at the end, and then length and CRC-32 were as the directory
 * says. Never more bytes than the directory says. */
int al_unzip_next(struct al_unzip *u, char *buf, size_t n, size_t *ret, struct al_err *err) AL_MUST_CHECK;
void al_unzip_free(struct al_unzip *u);

#endif
