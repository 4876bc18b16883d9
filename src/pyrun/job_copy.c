/* Inputs of a job: copied and hashed, under names that are safe everywhere. */
#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "pyrun/job_int.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK (256 * 1024)
#define NAME_BYTES 255
#define SUFFIX_BYTES 32 /* of a name that has to be shortened, from its last dot */
#define SAME_NAME_MAX 1000
#define LIST_NAME "inputs.json" /* ours, beside the inputs */

/* --- names --- */

/* What turns the direction of text, or is not seen: a name must not look like another. */
static bool is_hidden(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp <= 0x9f) || cp == 0xad || cp == 0x61c ||
           (cp >= 0x200b && cp <= 0x200f) || (cp >= 0x2028 && cp <= 0x202e) ||
           (cp >= 0x2060 && cp <= 0x206f) || cp == 0xfeff || (cp >= 0xe0000 && cp <= 0xe0fff);
}

static void add_safe(struct al_buf *out, struct al_str as)
{
    while (as.n > 0) {
        uint32_t cp = 0;
        unsigned n = al_utf8_decode(as, &cp);
        bool bad = n == 0 || cp == '/' || cp == '\\' || is_hidden(cp);
        if (bad)
            al_buf_addc(out, '_');
        else if (out->n > 0 || cp != '.')
            al_buf_add(out, as.p, n);
        as = (struct al_str){as.p + (n ? n : 1), as.n - (n ? n : 1)};
    }
}

/* Where the suffix begins, with its dot; the end when there is none. */
static size_t suffix_at(struct al_str name)
{
    for (size_t i = name.n; i > 1; i--) {
        if (name.p[i - 1] == '.' && name.n - i + 1 <= SUFFIX_BYTES)
            return i - 1;
    }
    return name.n;
}

/* The number-th of equal names: "a.csv", "a-2.csv", … */
static void compose(char out[NAME_BYTES + 1], struct al_str safe, unsigned number)
{
    char mark[16] = "";
    if (number > 1)
        snprintf(mark, sizeof(mark), "-%u", number);
    size_t at = suffix_at(safe);
    struct al_str suffix = {safe.p + at, safe.n - at};
    struct al_str stem = al_utf8_cut((struct al_str){safe.p, at}, NAME_BYTES - suffix.n - strlen(mark));
    snprintf(out, NAME_BYTES + 1, "%.*s%s%.*s", AL_FMT(stem), mark, AL_FMT(suffix));
}

/* A new file of that name or of the next free one. fd or -errno. */
static int create(int dir, struct al_str as, char name[NAME_BYTES + 1])
{
    autobuf struct al_buf safe = AL_BUF_INIT(64 * 1024);
    add_safe(&safe, (struct al_str){as.p, as.n < 4096 ? as.n : 4096});
    if (safe.n == 0)
        al_buf_adds(&safe, "input");
    for (unsigned i = 1; i <= SAME_NAME_MAX; i++) {
        compose(name, al_buf_str(&safe), i);
        if (strcasecmp(name, LIST_NAME) == 0)
            continue;
        int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd >= 0 ? fd : -errno;
    }
    return -EEXIST;
}

/* --- bytes --- */

struct copy {
    int from, to; /* to -1: only hashed */
    uint64_t max, bytes;
    struct al_sha256 *hash;
};

static int copy_chunk(struct copy *c, char *chunk, size_t n)
{
    c->bytes += n;
    if (c->bytes > c->max)
        return -EFBIG;
    al_sha256_add(c->hash, chunk, n);
    return c->to < 0 ? 0 : al_fd_write_all(c->to, (struct al_str){chunk, n});
}

static int copy_all(struct copy *c)
{
    autofree char *chunk = al_xmalloc(CHUNK);
    for (;;) {
        ssize_t n = pread(c->from, chunk, CHUNK, (off_t)c->bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        int r = copy_chunk(c, chunk, (size_t)n);
        if (r < 0)
            return r;
    }
}

static bool same(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static int fail_size(struct al_err *err, const char *name, uint64_t max)
{
    autobuf struct al_buf size = AL_BUF_INIT(64);
    al_text_bytes(&size, max);
    al_fail(err, AL_INVALID_INPUT,
            "%s: larger than %.*s (%" PRIu64 " bytes), the most that an input may have", name,
            AL_FMT(al_buf_str(&size)), max);
    return al_hint(err, "Make a smaller file of it, or name it as a dataset (data_inspect).");
}

static int fail_copy(struct al_err *err, int eno, const char *name, uint64_t max)
{
    if (eno == EFBIG)
        return fail_size(err, name, max);
    if (eno == EAGAIN) {
        al_fail(err, AL_INVALID_INPUT, "%s: changed while it was read", name);
        return al_hint(err, "Call again when nothing writes to it any more.");
    }
    if (eno == ENOSPC || eno == EDQUOT)
        return al_fail_errno(err, AL_QUOTA_EXCEEDED, eno, "%s: cannot be copied", name);
    return al_fail_errno(err, AL_INTERNAL, eno, "%s: cannot be copied", name);
}

/* The copy of a clone is hashed from the clone, which nobody else has: it cannot change. */
static int copy_and_hash(int src_fd, int fd, struct copy *c)
{
    struct stat before, after;
    if (fstat(src_fd, &before) < 0)
        return -errno;
    if ((uint64_t)before.st_size > c->max)
        return -EFBIG;
    bool cloned = before.st_size > 0 && ioctl(fd, FICLONE, src_fd) == 0;
    c->from = cloned ? fd : src_fd;
    c->to = cloned ? -1 : fd;
    int r = copy_all(c);
    if (r < 0)
        return r;
    if (fstat(src_fd, &after) < 0)
        return -errno;
    bool whole = cloned || c->bytes == (uint64_t)before.st_size;
    if (!same(&before, &after) || !whole)
        return -EAGAIN;
    return fchmod(fd, geteuid() == 0 ? 0444 : 0400) < 0 ? -errno : 0;
}

int al_py_job_input(const struct al_py_job *j, int src_fd, struct al_str as, uint64_t max_bytes,
                    struct al_py_input *ret, struct al_err *err)
{
    struct stat st;
    autofd int dir = -1;
    if (fstat(src_fd, &st) < 0 || !S_ISREG(st.st_mode))
        return al_fail(err, AL_INVALID_INPUT, "an input has to be a regular file");
    if (al_py_job_part(j, "input", &dir, err) < 0)
        return -1;
    struct al_py_input in = {.bytes = 0};
    autofd int fd = create(dir, as, in.name);
    if (fd < 0)
        return fail_copy(err, -fd, "an input", max_bytes);
    struct copy c = {.max = max_bytes, .hash = al_sha256_new()};
    int r = copy_and_hash(src_fd, fd, &c);
    al_sha256_end(c.hash, in.sha256);
    if (r < 0) {
        unlinkat(dir, in.name, 0);
        return fail_copy(err, -r, in.name, max_bytes);
    }
    in.bytes = (int64_t)c.bytes;
    *ret = in;
    return 0;
}
