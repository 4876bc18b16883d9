#include "table/icu.h"
#include "table/readers.h"

#include "base/fdstat.h"
#include "base/ident.h"
#include "base/mem.h"

#include <errno.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_MAX ((size_t)64 << 10)
#define STEP ((size_t)1 << 20) /* bytes between two looks at whether the reading is still wanted */

static int pread_all(int fd, char *p, size_t n, uint64_t at, size_t *ret, struct al_err *err)
{
    size_t got = 0;
    while (got < n) {
        ssize_t r = pread(fd, p + got, n - got, (off_t)(at + got));
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return al_fail_errno(err, AL_INGEST_INVALID, errno, "the file cannot be read");
        if (r == 0)
            break;
        got += (size_t)r;
    }
    *ret = got;
    return 0;
}

/*
 * What the format is told by: the first 64 KiB. ZIP and compound files keep the names of their parts at the
 * end as well, so that for those the last 64 KiB are added.
 */
static int read_head(int fd, uint64_t size, struct al_buf *out, struct al_err *err)
{
    size_t got = 0;
    char *p = al_buf_grow(out, HEAD_MAX);
    if (pread_all(fd, p, HEAD_MAX, 0, &got, err) < 0)
        return -1;
    out->n = got;
    bool parts = got > 4 && (memcmp(p, "PK", 2) == 0 || memcmp(p, "\xd0\xcf\x11\xe0", 4) == 0);
    if (!parts || size <= HEAD_MAX)
        return 0;
    size_t tail = size - HEAD_MAX < HEAD_MAX ? (size_t)(size - HEAD_MAX) : HEAD_MAX;
    p = al_buf_grow(out, tail);
    if (pread_all(fd, p, tail, size - tail, &got, err) < 0)
        return -1;
    out->n -= tail - got;
    return 0;
}

static int fail_changed(struct al_err *err)
{
    al_fail(err, AL_INGEST_INVALID, "the file changed while it was read");
    return al_hint(err, "try again when nothing writes to it any more, or copy it first");
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int hash_file(int fd, uint64_t size, const struct al_table_sink *sink, char sha256[65],
                     struct al_err *err)
{
    struct al_sha256 *h = al_sha256_new();
    autofree char *piece = al_xmalloc(STEP);
    int r = 0;
    for (uint64_t at = 0; at < size && r == 0;) {
        size_t want = size - at < STEP ? (size_t)(size - at) : STEP, got = 0;
        r = pread_all(fd, piece, want, at, &got, err);
        if (r == 0 && got < want)
            r = fail_changed(err);
        al_sha256_add(h, piece, got);
        at += got;
        if (r == 0)
            r = sink->progress(sink->ud, 0, err); /* hashing is no progress with rows, but can be cancelled */
    }
    al_sha256_end(h, sha256);
    return r;
}

static int read_book(int fd, const struct stat *before, const struct al_table_opts *opts,
                     const struct al_table_sink *sink, char sha256[65], struct al_err *err)
{
    struct stat after;
    uint64_t size = (uint64_t)before->st_size;
    if (hash_file(fd, size, sink, sha256, err) < 0 || al_xlsx_read(fd, size, opts, sink, err) < 0)
        return -1;
    if (al_fstat(fd, &after) < 0)
        return al_fail_errno(err, AL_INGEST_INVALID, errno, "the file cannot be read");
    return same_file(before, &after) ? 0 : fail_changed(err);
}

static int read_text(int fd, const struct al_table_opts *opts, const struct al_table_sink *sink,
                     struct al_table_found *found, char sha256[65], struct al_err *err)
{
    struct al_source *src = NULL;
    if (al_source_open(fd, found->gzip, opts, sink, &src, err) < 0)
        return -1;
    int r;
    if (found->format == AL_TABLE_CSV || found->format == AL_TABLE_TSV)
        r = al_csv_read(src, found->format == AL_TABLE_TSV, opts, sink, found, err);
    else
        r = al_jsonrows_read(src, found->format == AL_TABLE_JSONL, opts, sink, found, err);
    if (r == 0) {
        const char *name = al_source_encoding(src);
        size_t n = strnlen(name, sizeof found->encoding - 1);
        memcpy(found->encoding, name, n);
        found->encoding[n] = '\0';
        r = al_source_sha256(src, sha256, err);
    }
    al_source_free(src);
    return r;
}

static bool name_ends(struct al_str name, const char *low)
{
    size_t n = strlen(low);
    return name.n >= n && strncasecmp(name.p + name.n - n, low, n) == 0;
}

/* A file that is something else than its name says is read as what it is, and that is told. */
static void note_name(struct al_str name, const struct al_table_found *found,
                      const struct al_table_sink *sink)
{
    struct al_str bare = name;
    if (name_ends(bare, ".gz"))
        bare.n -= 3;
    else if (found->gzip)
        sink->note(sink->ud, AL_NOTE_OTHER, 0,
                   "the file is packed with gzip, though its name does not say so");
    bool csv = name_ends(bare, ".csv") || name_ends(bare, ".tsv") || name_ends(bare, ".tab");
    bool json = name_ends(bare, ".json") || name_ends(bare, ".jsonl") || name_ends(bare, ".ndjson");
    bool book = name_ends(bare, ".xlsx") || name_ends(bare, ".xlsm");
    bool text = found->format == AL_TABLE_CSV || found->format == AL_TABLE_TSV;
    if (found->format == AL_TABLE_XLSX ? csv || json : (text ? book : csv || book)) {
        const char *what = found->format == AL_TABLE_XLSX ? "a workbook" : text ? "delimited text" : "JSON";
        sink->note(sink->ud, AL_NOTE_OTHER, 0, "the file is %s, whatever its name says, and was read as such",
                   what);
    }
}

int al_table_read(int fd, struct al_str name, const struct al_table_opts *opts,
                  const struct al_table_sink *sink, struct al_table_found *ret, char sha256[65],
                  struct al_err *err)
{
    struct stat st;
    struct al_table_found found = {0};
    autobuf struct al_buf head = AL_BUF_INIT(2 * HEAD_MAX);
    if (al_fstat(fd, &st) < 0)
        return al_fail_errno(err, AL_INGEST_INVALID, errno, "the file cannot be read");
    if (!S_ISREG(st.st_mode))
        return al_fail(err, AL_INGEST_INVALID, "it is not a regular file");
    if (opts->max_bytes && (uint64_t)st.st_size > opts->max_bytes) {
        al_fail(err, AL_INGEST_LIMIT, "the file has %llu bytes, analysis.data.maxUploadBytes allows %llu",
                (unsigned long long)st.st_size, (unsigned long long)opts->max_bytes);
        return al_hint(err, "raise analysis.data.maxUploadBytes, or split the file");
    }
    if (read_head(fd, (uint64_t)st.st_size, &head, err) < 0 ||
        al_table_detect(name, al_buf_str(&head), &found, err) < 0)
        return -1;
    note_name(name, &found, sink);
    int r = found.format == AL_TABLE_XLSX ? read_book(fd, &st, opts, sink, sha256, err)
                                          : read_text(fd, opts, sink, &found, sha256, err);
    if (r == 0)
        *ret = found;
    return r;
}

void al_table_prepare(void)
{
    (void)al_icu_load();
}
