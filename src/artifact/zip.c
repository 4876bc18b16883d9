/*
 * A ZIP archive (APPNOTE 6.3), the same bytes for the same files: no times, no owners, one compression level.
 * Written to a regular file, since a header is completed after its data; without ZIP64, so below 4 GiB.
 */
#include "artifact/artifact_int.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK ((size_t)64 << 10)
#define LOCAL_SIZE 30
#define CENTRAL_SIZE 46
#define END_SIZE 22
#define MAX_OFFSET UINT64_C(0xfffffffe)
#define MAX_ENTRIES 65534
#define CENTRAL_MAX ((size_t)256 << 20)
#define VERSION 20
#define UNIX_3_0 0x031e
#define UTF8_NAMES 0x0800
#define DATE_1980 0x0021
#define LEVEL 6

struct al_zipw {
    int fd;
    uint64_t at;
    size_t n;
    struct al_buf central;
    z_stream z;
    unsigned char in[CHUNK], out[CHUNK];
};

struct entry {
    struct al_str name;
    uint64_t at, packed, size;
    uint32_t crc;
    unsigned method;
};

static unsigned char *put(unsigned char *p, uint64_t v, unsigned n)
{
    for (; n; n--, v >>= 8)
        *p++ = (unsigned char)v;
    return p;
}

static int failed(struct al_err *err, int eno)
{
    return al_fail_errno(err, eno == ENOSPC || eno == EDQUOT ? AL_QUOTA_EXCEEDED : AL_INTERNAL, eno,
                         "the archive cannot be written");
}

static int write_at(struct al_zipw *z, const void *p, size_t n, uint64_t at, struct al_err *err)
{
    for (const char *from = p; n;) {
        ssize_t r = pwrite(z->fd, from, n, (off_t)at);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            return failed(err, r < 0 ? errno : EIO);
        from += r;
        at += (uint64_t)r;
        n -= (size_t)r;
    }
    return 0;
}

static int too_large(struct al_err *err)
{
    al_fail(err, AL_PUBLISH_REJECTED, "the archive would be larger than 4 GB, or have more than %d files",
            MAX_ENTRIES);
    return al_hint(err, "publish the files one by one, or in smaller folders");
}

static int append(struct al_zipw *z, const void *p, size_t n, struct al_err *err)
{
    if (z->at + n > MAX_OFFSET)
        return too_large(err);
    if (write_at(z, p, n, z->at, err) < 0)
        return -1;
    z->at += n;
    return 0;
}

/* Up to CHUNK bytes of the input; 0 at the size that it must have. */
static int read_chunk(struct al_zipw *z, int fd, uint64_t done, uint64_t size, struct al_err *err)
{
    size_t want = size - done < CHUNK ? (size_t)(size - done) : CHUNK;
    for (;;) {
        ssize_t r = want ? pread(fd, z->in, want, (off_t)done) : 0;
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return al_fail_errno(err, AL_INTERNAL, errno, "a file for the archive cannot be read");
        if (r == 0 && want)
            return al_fail(err, AL_STATE_CONFLICT, "a file changed while it was packed");
        return (int)r;
    }
}

static int store(struct al_zipw *z, int fd, struct entry *e, struct al_err *err)
{
    int n;
    e->method = 0;
    e->crc = 0;
    for (uint64_t done = 0; (n = read_chunk(z, fd, done, e->size, err)) > 0; done += (uint64_t)n) {
        e->crc = (uint32_t)crc32(e->crc, z->in, (uInt)n);
        if (append(z, z->in, (size_t)n, err) < 0)
            return -1;
    }
    e->packed = e->size;
    return n;
}

/* One call of deflate until it wants more input, or with `end` has no more output. */
static int drain(struct al_zipw *z, bool end, struct al_err *err)
{
    do {
        z->z.next_out = z->out;
        z->z.avail_out = CHUNK;
        int r = deflate(&z->z, end ? Z_FINISH : Z_NO_FLUSH);
        if (r == Z_STREAM_ERROR)
            return al_fail(err, AL_INTERNAL, "a file cannot be packed");
        if (append(z, z->out, CHUNK - z->z.avail_out, err) < 0)
            return -1;
    } while (z->z.avail_out == 0);
    return 0;
}

static int pack(struct al_zipw *z, int fd, struct entry *e, struct al_err *err)
{
    uint64_t start = z->at;
    int n;
    e->method = Z_DEFLATED;
    if (deflateReset(&z->z) != Z_OK)
        return al_fail(err, AL_INTERNAL, "a file cannot be packed");
    for (uint64_t done = 0; (n = read_chunk(z, fd, done, e->size, err)) > 0; done += (uint64_t)n) {
        e->crc = (uint32_t)crc32(e->crc, z->in, (uInt)n);
        z->z.next_in = z->in;
        z->z.avail_in = (uInt)n;
        if (drain(z, false, err) < 0)
            return -1;
    }
    if (n < 0 || drain(z, true, err) < 0)
        return -1;
    e->packed = z->at - start;
    return 0;
}

/* What both headers have in common, from the version needed to the lengths. */
static unsigned char *put_common(unsigned char *p, const struct entry *e)
{
    p = put(p, VERSION, 2);
    p = put(p, UTF8_NAMES, 2);
    p = put(p, e->method, 2);
    p = put(p, 0, 2); /* midnight */
    p = put(p, DATE_1980, 2);
    p = put(p, e->crc, 4);
    p = put(p, e->packed, 4);
    p = put(p, e->size, 4);
    p = put(p, e->name.n, 2);
    return put(p, 0, 2);
}

static void add_central(struct al_zipw *z, const struct entry *e)
{
    unsigned char h[CENTRAL_SIZE];
    unsigned char *p = put(put(h, 0x02014b50, 4), UNIX_3_0, 2);
    p = put_common(p, e);
    p = put(p, 0, 6);                                /* comment, disk, internal attributes */
    p = put(p, (uint64_t)(S_IFREG | 0644) << 16, 4); /* what unzip gives the file */
    put(p, e->at, 4);
    al_buf_add(&z->central, h, sizeof h);
    al_buf_add_str(&z->central, e->name);
    z->n++;
}

int al_zipw_add(struct al_zipw *z, struct al_str name, int in_fd, uint64_t size, struct al_err *err)
{
    unsigned char h[LOCAL_SIZE] = {0};
    struct entry e = {.name = name, .at = z->at, .size = size};
    if (z->n >= MAX_ENTRIES || name.n > 0xffff || size > MAX_OFFSET)
        return too_large(err);
    if (append(z, h, sizeof h, err) < 0 || append(z, name.p, name.n, err) < 0)
        return -1;
    uint64_t data = z->at;
    if (size == 0 ? store(z, in_fd, &e, err) < 0 : pack(z, in_fd, &e, err) < 0)
        return -1;
    if (e.method && e.packed >= size) {
        uint32_t crc = e.crc;
        z->at = data;
        if (store(z, in_fd, &e, err) < 0)
            return -1;
        if (crc != e.crc)
            return al_fail(err, AL_STATE_CONFLICT, "a file changed while it was packed");
    }
    put_common(put(h, 0x04034b50, 4), &e);
    add_central(z, &e);
    return write_at(z, h, sizeof h, e.at, err);
}

int al_zipw_end(struct al_zipw *z, struct al_err *err)
{
    unsigned char h[END_SIZE];
    uint64_t start = z->at, n = z->central.n;
    if (al_buf_failed(&z->central))
        return too_large(err);
    if (append(z, al_buf_str(&z->central).p, z->central.n, err) < 0)
        return -1;
    unsigned char *p = put(put(h, 0x06054b50, 4), 0, 4); /* disks */
    p = put(put(p, z->n, 2), z->n, 2);
    p = put(put(p, n, 4), start, 4);
    put(p, 0, 2);
    if (append(z, h, sizeof h, err) < 0)
        return -1;
    /* What a longer attempt to pack wrote. */
    return ftruncate(z->fd, (off_t)z->at) < 0 ? failed(err, errno) : 0;
}

struct al_zipw *al_zipw_new(int fd)
{
    struct al_zipw *z = al_xcalloc(1, sizeof *z);
    z->fd = fd;
    al_buf_init(&z->central, CENTRAL_MAX);
    if (deflateInit2(&z->z, LEVEL, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    return z;
}

void al_zipw_free(struct al_zipw *z)
{
    if (!z)
        return;
    deflateEnd(&z->z);
    al_buf_free(&z->central);
    free(z);
}

/* --- names --- */

static void add_safe_path(const char *path, struct al_buf *out)
{
    for (const char *at = path;;) {
        const char *slash = strchr(at, '/');
        struct al_str name = {at, slash ? (size_t)(slash - at) : strlen(at)};
        al_artifact_safe_name(name, out);
        if (!slash)
            return;
        al_buf_addc(out, '/');
        at = slash + 1;
    }
}

static bool is_taken(const char *const *paths, const char **names, size_t n, size_t self, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (i != self && strcmp(names[i] ? names[i] : paths[i], name) == 0)
            return true;
    }
    return false;
}

/* "a_b.txt", and for the next that becomes the same, "a_b-2.txt". The number only grows: however many names
 * there are, few are tried twice. */
static const char *free_name(struct al_arena *a, const char *const *paths, const char **names, size_t n,
                             size_t self, const char *name, size_t *number)
{
    const char *slash = strrchr(name, '/'), *dot = strrchr(name, '.');
    if (!dot || (slash && dot < slash))
        dot = name + strlen(name);
    const char *v = name;
    while (v && is_taken(paths, names, n, self, v))
        v = al_arena_printf(a, "%.*s-%zu%s", (int)(dot - name), name, ++*number, dot);
    return v;
}

int al_zip_names(struct al_arena *a, const char *const *paths, size_t n, const char **names,
                 struct al_err *err)
{
    size_t number = 1;
    for (size_t i = 0; i < n; i++)
        names[i] = NULL;
    for (size_t i = 0; i < n; i++) {
        autobuf struct al_buf b = AL_BUF_INIT(1 << 16);
        add_safe_path(paths[i], &b);
        const char *v = paths[i];
        /* Few names change: only they are compared with all others. */
        if (!al_str_is(al_buf_str(&b), paths[i])) {
            v = al_arena_dup(a, al_buf_str(&b));
            v = v ? free_name(a, paths, names, n, i, v, &number) : NULL;
        }
        if (!v)
            return al_fail(err, AL_PUBLISH_REJECTED, "the archive would have too long names");
        names[i] = v;
    }
    return 0;
}

/* --- whole archives --- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int add_path(struct al_zipw *z, int dir_fd, const char *path, const char *name, struct al_err *err)
{
    autofd int fd = -1;
    struct stat st;
    if (al_path_open(dir_fd, path, O_RDONLY | O_NOFOLLOW, 0, name, &fd, err) < 0)
        return -1;
    if (fstat(fd, &st) < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "%s", name);
    return al_zipw_add(z, al_str_of(name), fd, (uint64_t)st.st_size, err);
}

int al_zip_write(int out_fd, int dir_fd, const char *const *paths, size_t n, struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)64 << 20);
    if (n > MAX_ENTRIES)
        return too_large(err);
    const char **sorted = al_arena_alloc(&a, (n + 1) * sizeof *sorted);
    const char **names = al_arena_alloc(&a, (n + 1) * sizeof *names);
    for (size_t i = 0; i < n; i++)
        sorted[i] = paths[i];
    if (n)
        qsort(sorted, n, sizeof *sorted, by_text);
    if (al_zip_names(&a, sorted, n, names, err) < 0)
        return -1;
    struct al_zipw *z = al_zipw_new(out_fd);
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++)
        r = add_path(z, dir_fd, sorted[i], names[i], err);
    if (r == 0)
        r = al_zipw_end(z, err);
    al_zipw_free(z);
    return r;
}
