/* PKWARE's APPNOTE.TXT 6.3.10; section numbers below are its own. */
#include "table/zip.h"

#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#define END_SIZE 22 /* 4.3.16 */
#define END_SIG 0x06054b50u
#define LOCATOR_SIZE 20 /* 4.3.15 */
#define LOCATOR_SIG 0x07064b50u
#define END64_SIZE 56 /* 4.3.14 */
#define END64_SIG 0x06064b50u
#define ENTRY_SIZE 46 /* 4.3.12 */
#define ENTRY_SIG 0x02014b50u
#define LOCAL_SIZE 30 /* 4.3.7 */
#define LOCAL_SIG 0x04034b50u
#define MAX_COMMENT 65535
#define FLAG_ENCRYPTED 1u
#define FLAG_STRONG 0x40u
#define INPUT_SIZE ((size_t)64 << 10)

struct al_zip {
    int fd;
    uint64_t size;
    uint64_t read;      /* bytes, for progress */
    uint64_t shift;     /* bytes before the archive: offsets in it do not count them */
    uint64_t directory; /* where the central directory begins, shift included */
    unsigned char *bytes;
    struct al_zip_entry *entries;
    size_t n;
    uint32_t *by_name; /* indexes of entries, by folded name, then as they stand */
};

struct al_unzip {
    struct al_zip *zip;
    const struct al_zip_entry *entry;
    z_stream z;
    bool inflating, ended;
    uint64_t at, left; /* of the packed bytes */
    uint64_t out;
    uLong crc;
    unsigned char in[INPUT_SIZE];
};

static uint16_t le16(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t le32(const unsigned char *p)
{
    return (uint32_t)le16(p) | (uint32_t)le16(p + 2) << 16;
}

static uint64_t le64(const unsigned char *p)
{
    return (uint64_t)le32(p) | (uint64_t)le32(p + 4) << 32;
}

static int read_at(struct al_zip *z, void *p, size_t n, uint64_t at, struct al_err *err)
{
    if (at > z->size || n > z->size - at)
        return al_fail(err, AL_INGEST_INVALID,
                       "the ZIP archive is cut off, or its directory points outside of it");
    for (size_t done = 0; done < n;) {
        ssize_t r = pread(z->fd, (char *)p + done, n - done, (off_t)(at + done));
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return al_fail_errno(err, AL_INGEST_INVALID, errno, "reading the file");
        if (r == 0)
            return al_fail(err, AL_INGEST_INVALID, "the file became shorter while it was read");
        done += (size_t)r;
    }
    z->read += n;
    return 0;
}

/* ---- names ---- */

static unsigned char fold(char c)
{
    if (c == '\\')
        return '/';
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

static struct al_str bare(struct al_str s)
{
    while (s.n && (s.p[0] == '/' || s.p[0] == '\\'))
        s.p++, s.n--;
    return s;
}

static int fold_cmp(struct al_str a, struct al_str b)
{
    a = bare(a);
    b = bare(b);
    for (size_t i = 0; i < a.n && i < b.n; i++) {
        int d = fold(a.p[i]) - fold(b.p[i]);
        if (d)
            return d;
    }
    return a.n < b.n ? -1 : a.n > b.n;
}

static int name_cmp(const void *x, const void *y, void *ud)
{
    const struct al_zip *z = ud;
    return fold_cmp(z->entries[*(const uint32_t *)x].name, z->entries[*(const uint32_t *)y].name);
}

static int offset_cmp(const void *x, const void *y, void *ud)
{
    const struct al_zip *z = ud;
    uint64_t a = z->entries[*(const uint32_t *)x].offset, b = z->entries[*(const uint32_t *)y].offset;
    return a < b ? -1 : a > b;
}

/* ---- directory ---- */

struct end {
    uint64_t at; /* of the end record, or of the ZIP64 one before it */
    uint64_t n, size, offset;
};

/* The end record is the last one whose comment reaches the end of the file; else the last one at all. */
static int find_end(struct al_zip *z, struct end *ret, struct al_err *err)
{
    size_t n = z->size < MAX_COMMENT + END_SIZE ? (size_t)z->size : MAX_COMMENT + END_SIZE;
    uint64_t from = z->size - n;
    autofree unsigned char *tail = al_xmalloc(n ? n : 1);
    if (read_at(z, tail, n, from, err) < 0)
        return -1;
    const unsigned char *found = NULL;
    for (size_t i = n >= END_SIZE ? n - END_SIZE + 1 : 0; i-- > 0;) {
        if (le32(tail + i) != END_SIG)
            continue;
        size_t comment = le16(tail + i + 20), room = n - i - END_SIZE;
        if (comment == room) {
            found = tail + i;
            break;
        }
        if (!found && comment < room)
            found = tail + i;
    }
    if (!found)
        return al_fail(err, AL_INGEST_INVALID, "the file is no ZIP archive, or its end is missing");
    if (le16(found + 4) != le16(found + 6) && le16(found + 4) != 0xffff)
        return al_fail(err, AL_DATASET_UNSUPPORTED, "the ZIP archive is one part of several");
    *ret =
        (struct end){from + (uint64_t)(found - tail), le16(found + 10), le32(found + 12), le32(found + 16)};
    return 0;
}

static int find_end64(struct al_zip *z, struct end *e, struct al_err *err)
{
    unsigned char l[LOCATOR_SIZE], r[END64_SIZE];
    if (e->n != 0xffff && e->size != 0xffffffff && e->offset != 0xffffffff)
        return 0;
    if (e->at < LOCATOR_SIZE)
        return 0;
    if (read_at(z, l, sizeof l, e->at - LOCATOR_SIZE, err) < 0)
        return -1;
    if (le32(l) != LOCATOR_SIG)
        return 0; /* 65,535 entries, really */
    /* Bytes before the archive shift the record, too: it lies right before its locator unless it has an
     * extension. */
    uint64_t at = le64(l + 8);
    if (at > e->at - LOCATOR_SIZE || read_at(z, r, sizeof r, at, NULL) < 0 || le32(r) != END64_SIG) {
        if (e->at < LOCATOR_SIZE + END64_SIZE)
            return al_fail(err, AL_INGEST_INVALID, "the ZIP64 end record is missing");
        at = e->at - LOCATOR_SIZE - END64_SIZE;
        if (read_at(z, r, sizeof r, at, err) < 0)
            return -1;
        if (le32(r) != END64_SIG)
            return al_fail(err, AL_INGEST_INVALID, "the ZIP64 end record is missing");
    }
    *e = (struct end){at, le64(r + 32), le64(r + 40), le64(r + 48)};
    return 0;
}

/* 4.5.3: the wide values of those fields that were too small for them, in this order. */
static int wide_fields(struct al_zip_entry *e, const unsigned char *p, size_t n, struct al_err *err)
{
    uint64_t *want[3];
    size_t wants = 0;
    if (e->unpacked == 0xffffffff)
        want[wants++] = &e->unpacked;
    if (e->packed == 0xffffffff)
        want[wants++] = &e->packed;
    if (e->offset == 0xffffffff)
        want[wants++] = &e->offset;
    while (wants && n >= 4) {
        size_t len = le16(p + 2);
        if (len > n - 4)
            break;
        if (le16(p) == 1) {
            for (size_t i = 0; i < wants; i++) {
                if (len < (i + 1) * 8)
                    return al_fail(err, AL_INGEST_INVALID, "a ZIP64 field is too short");
                *want[i] = le64(p + 4 + i * 8);
            }
            return 0;
        }
        p += 4 + len;
        n -= 4 + len;
    }
    return 0;
}

static int read_entries(struct al_zip *z, size_t size, struct al_err *err)
{
    const unsigned char *p = z->bytes, *end = p + size;
    for (size_t i = 0; i < z->n; i++) {
        if ((size_t)(end - p) < ENTRY_SIZE || le32(p) != ENTRY_SIG)
            return al_fail(err, AL_INGEST_INVALID, "the ZIP directory is broken at entry %zu of %zu", i + 1,
                           z->n);
        size_t name = le16(p + 28), extra = le16(p + 30), comment = le16(p + 32);
        if (name + extra + comment > (size_t)(end - p) - ENTRY_SIZE)
            return al_fail(err, AL_INGEST_INVALID, "the ZIP directory ends within entry %zu of %zu", i + 1,
                           z->n);
        if (name > AL_ZIP_MAX_NAME)
            return al_fail(err, AL_INGEST_LIMIT, "the name of ZIP entry %zu has %zu bytes (at most %d)",
                           i + 1, name, AL_ZIP_MAX_NAME);
        struct al_zip_entry *e = &z->entries[i];
        *e = (struct al_zip_entry){
            .name = {(const char *)p + ENTRY_SIZE, name},
            .flags = le16(p + 8),
            .method = le16(p + 10),
            .crc = le32(p + 16),
            .packed = le32(p + 20),
            .unpacked = le32(p + 24),
            .offset = le32(p + 42),
        };
        if (wide_fields(e, p + ENTRY_SIZE + name, extra, err) < 0)
            return -1;
        if (e->offset > z->directory - z->shift)
            return al_fail(err, AL_INGEST_INVALID, "ZIP entry %zu lies outside of the file", i + 1);
        e->offset += z->shift;
        p += ENTRY_SIZE + name + extra + comment;
    }
    return 0;
}

/* Entries whose bytes overlap are how a small archive unpacks to terabytes. */
static int check_overlap(struct al_zip *z, struct al_err *err)
{
    autofree uint32_t *order = al_xcalloc(z->n + 1, sizeof *order);
    for (size_t i = 0; i < z->n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, z->n, sizeof *order, offset_cmp, z);
    for (size_t i = 0; i < z->n; i++) {
        const struct al_zip_entry *e = &z->entries[order[i]];
        uint64_t end = i + 1 < z->n ? z->entries[order[i + 1]].offset : z->directory;
        if (end < e->offset || end - e->offset < LOCAL_SIZE + e->name.n ||
            e->packed > end - e->offset - LOCAL_SIZE - e->name.n)
            return al_fail(err, AL_INGEST_INVALID, "entries of the ZIP archive overlap");
    }
    return 0;
}

static void add(uint64_t *sum, uint64_t n)
{
    if (__builtin_add_overflow(*sum, n, sum))
        *sum = UINT64_MAX;
}

/* By entries, for what is packed honestly beside a bomb says nothing of it. */
static int check_sizes(struct al_zip *z, uint64_t max_bytes, struct al_err *err)
{
    uint64_t unpacked = 0, dense = 0, tight = 0;
    for (size_t i = 0; i < z->n; i++) {
        const struct al_zip_entry *e = &z->entries[i];
        add(&unpacked, e->unpacked);
        if (e->unpacked / AL_ZIP_RATIO > e->packed)
            add(&dense, e->unpacked);
        if (e->unpacked / AL_ZIP_TIGHT_RATIO > e->packed)
            add(&tight, e->unpacked);
    }
    if (dense > AL_ZIP_RATIO_BYTES || tight > AL_ZIP_TIGHT_BYTES) {
        al_fail(err, AL_INGEST_LIMIT,
                "the archive says that it unpacks to more than %d times its size (a ZIP bomb)",
                tight > AL_ZIP_TIGHT_BYTES ? AL_ZIP_TIGHT_RATIO : AL_ZIP_RATIO);
        return al_hint(err, "open it in a spreadsheet program and export the sheet as CSV");
    }
    if (unpacked > max_bytes) {
        al_fail(err, AL_INGEST_LIMIT,
                "the archive unpacks to %llu bytes, above analysis.data.maxUploadBytes (%llu)",
                (unsigned long long)unpacked, (unsigned long long)max_bytes);
        return al_hint(err, "raise analysis.data.maxUploadBytes, or export the sheet as CSV");
    }
    return 0;
}

static int read_directory(struct al_zip *z, uint64_t max_bytes, struct al_err *err)
{
    struct end e = {0};
    if (find_end(z, &e, err) < 0 || find_end64(z, &e, err) < 0)
        return -1;
    if (e.n > AL_ZIP_MAX_ENTRIES)
        return al_fail(err, AL_INGEST_LIMIT, "the ZIP archive has %llu entries (at most %d)",
                       (unsigned long long)e.n, AL_ZIP_MAX_ENTRIES);
    if (e.size > AL_ZIP_MAX_DIRECTORY)
        return al_fail(err, AL_INGEST_LIMIT, "the directory of the ZIP archive has %llu bytes (at most %zu)",
                       (unsigned long long)e.size, AL_ZIP_MAX_DIRECTORY);
    if (e.size > e.at || e.offset > e.at - e.size)
        return al_fail(err, AL_INGEST_INVALID,
                       "the ZIP archive is cut off, or its directory points outside of it");
    z->directory = e.at - e.size;
    z->shift = z->directory - e.offset;
    z->n = (size_t)e.n;
    z->bytes = al_xmalloc((size_t)e.size + 1);
    z->entries = al_xcalloc(z->n + 1, sizeof *z->entries);
    z->by_name = al_xcalloc(z->n + 1, sizeof *z->by_name);
    if (read_at(z, z->bytes, (size_t)e.size, z->directory, err) < 0 ||
        read_entries(z, (size_t)e.size, err) < 0 || check_overlap(z, err) < 0 ||
        check_sizes(z, max_bytes, err) < 0)
        return -1;
    for (size_t i = 0; i < z->n; i++)
        z->by_name[i] = (uint32_t)i;
    qsort_r(z->by_name, z->n, sizeof *z->by_name, name_cmp, z);
    return 0;
}

int al_zip_open(int fd, uint64_t size, uint64_t max_bytes, struct al_zip **ret, struct al_err *err)
{
    struct al_zip *z = al_xcalloc(1, sizeof *z);
    z->fd = fd;
    z->size = size;
    if (read_directory(z, max_bytes, err) < 0) {
        al_zip_free(z);
        return -1;
    }
    *ret = z;
    return 0;
}

void al_zip_free(struct al_zip *z)
{
    if (!z)
        return;
    free(z->bytes);
    free(z->entries);
    free(z->by_name);
    free(z);
}

size_t al_zip_count(const struct al_zip *z)
{
    return z->n;
}

const struct al_zip_entry *al_zip_at(const struct al_zip *z, size_t i)
{
    return i < z->n ? &z->entries[i] : NULL;
}

uint64_t al_zip_read(const struct al_zip *z)
{
    return z->read;
}

const struct al_zip_entry *al_zip_find(const struct al_zip *z, struct al_str name, bool *ret_twice)
{
    size_t lo = 0, hi = z->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (fold_cmp(z->entries[z->by_name[mid]].name, name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    const struct al_zip_entry *exact = NULL, *near = NULL;
    size_t n_exact = 0, n_near = 0;
    name = bare(name);
    for (; lo < z->n; lo++) {
        const struct al_zip_entry *e = &z->entries[z->by_name[lo]];
        if (fold_cmp(e->name, name) != 0)
            break;
        if (al_str_eq(e->name, name))
            exact = e, n_exact++;
        near = e, n_near++;
    }
    if (ret_twice)
        *ret_twice = exact ? n_exact > 1 : n_near > 1;
    return exact ? exact : near;
}

/* ---- one entry ---- */

/* A name of the archive, for a message. */
static const char *shown(const struct al_zip_entry *e, char buf[160])
{
    autobuf struct al_buf b = AL_BUF_INIT(1024);
    struct al_str s = e->name;
    s.n = s.n > 100 ? 100 : s.n;
    al_text_visible(&b, s, false);
    snprintf(buf, 160, "%.*s", AL_FMT(al_utf8_cut(al_buf_str(&b), 150)));
    return buf;
}

int al_unzip_open(struct al_zip *z, const struct al_zip_entry *e, struct al_unzip **ret, struct al_err *err)
{
    char name[160];
    unsigned char h[LOCAL_SIZE], stood[AL_ZIP_MAX_NAME];
    if (e->flags & (FLAG_ENCRYPTED | FLAG_STRONG)) {
        al_fail(err, AL_DATASET_UNSUPPORTED, "%s is encrypted", shown(e, name));
        return al_hint(err, "save the workbook without a password");
    }
    if (e->method != 0 && e->method != Z_DEFLATED) {
        al_fail(err, AL_DATASET_UNSUPPORTED, "%s is packed by ZIP method %u; only 0 and 8 are read",
                shown(e, name), e->method);
        return al_hint(err, "save the workbook anew with a spreadsheet program");
    }
    if (read_at(z, h, sizeof h, e->offset, err) < 0)
        return -1;
    size_t n = le16(h + 26), extra = le16(h + 28);
    if (le32(h) != LOCAL_SIG || n != e->name.n || le16(h + 8) != e->method)
        return al_fail(err, AL_INGEST_INVALID, "%s: its header in the ZIP archive differs from the directory",
                       shown(e, name));
    if (read_at(z, stood, n, e->offset + LOCAL_SIZE, err) < 0)
        return -1;
    uint64_t at = e->offset + LOCAL_SIZE + n + extra;
    if (memcmp(stood, e->name.p, n) != 0 || at > z->directory || e->packed > z->directory - at)
        return al_fail(err, AL_INGEST_INVALID, "%s: its header in the ZIP archive differs from the directory",
                       shown(e, name));
    if (e->method == 0 && e->packed != e->unpacked)
        return al_fail(err, AL_INGEST_INVALID, "%s: a stored entry of two sizes", shown(e, name));
    struct al_unzip *u = al_xcalloc(1, sizeof *u);
    u->zip = z;
    u->entry = e;
    u->at = at;
    u->left = e->packed;
    u->crc = crc32(0, NULL, 0);
    if (e->method == Z_DEFLATED) {
        if (inflateInit2(&u->z, -MAX_WBITS) != Z_OK) {
            al_unzip_free(u);
            return al_fail(err, AL_INTERNAL, "zlib does not start");
        }
        u->inflating = true;
    }
    *ret = u;
    return 0;
}

static int fill(struct al_unzip *u, struct al_err *err)
{
    size_t n = u->left < INPUT_SIZE ? (size_t)u->left : INPUT_SIZE;
    if (read_at(u->zip, u->in, n, u->at, err) < 0)
        return -1;
    u->at += n;
    u->left -= n;
    u->z.next_in = u->in;
    u->z.avail_in = (uInt)n;
    return 0;
}

static int inflate_some(struct al_unzip *u, char *buf, size_t n, size_t *ret, struct al_err *err)
{
    char name[160];
    u->z.next_out = (Bytef *)buf;
    u->z.avail_out = (uInt)n;
    while (u->z.avail_out == (uInt)n && !u->ended) {
        if (!u->z.avail_in && u->left && fill(u, err) < 0)
            return -1;
        if (!u->z.avail_in && !u->left)
            return al_fail(err, AL_INGEST_INVALID, "%s is cut off: its packed bytes end too early",
                           shown(u->entry, name));
        int r = inflate(&u->z, Z_NO_FLUSH);
        if (r == Z_STREAM_END)
            u->ended = true;
        else if (r != Z_OK && r != Z_BUF_ERROR)
            return al_fail(err, AL_INGEST_INVALID, "%s is damaged: its packed bytes are no deflate stream",
                           shown(u->entry, name));
    }
    *ret = n - u->z.avail_out;
    return 0;
}

static int copy_some(struct al_unzip *u, char *buf, size_t n, size_t *ret, struct al_err *err)
{
    n = u->left < n ? (size_t)u->left : n;
    if (read_at(u->zip, buf, n, u->at, err) < 0)
        return -1;
    u->at += n;
    u->left -= n;
    *ret = n;
    return 0;
}

int al_unzip_next(struct al_unzip *u, char *buf, size_t n, size_t *ret, struct al_err *err)
{
    char name[160];
    size_t got = 0;
    n = n > INT32_MAX ? INT32_MAX : n;
    if ((u->inflating ? inflate_some(u, buf, n, &got, err) : copy_some(u, buf, n, &got, err)) < 0)
        return -1;
    if (got > u->entry->unpacked - u->out)
        return al_fail(err, AL_INGEST_INVALID, "%s unpacks to more than the %llu bytes that the archive says",
                       shown(u->entry, name), (unsigned long long)u->entry->unpacked);
    u->out += got;
    u->crc = crc32(u->crc, (const Bytef *)buf, (uInt)got);
    if (!got && n) {
        if (u->out != u->entry->unpacked)
            return al_fail(
                err, AL_INGEST_INVALID, "%s unpacks to %llu bytes, not the %llu that the archive says",
                shown(u->entry, name), (unsigned long long)u->out, (unsigned long long)u->entry->unpacked);
        if ((uint32_t)u->crc != u->entry->crc)
            return al_fail(err, AL_INGEST_INVALID, "%s is damaged: its checksum is wrong",
                           shown(u->entry, name));
    }
    *ret = got;
    return 0;
}

void al_unzip_free(struct al_unzip *u)
{
    if (!u)
        return;
    if (u->inflating)
        inflateEnd(&u->z);
    free(u);
}
