#include "core/scratch.h"
#include "base/ident.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/scratch_int.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A reservation that nobody released: its writer is done or gone by then. */
#define RESERVED_MS 2000
#define MAX_RESERVED 64

struct reserved {
    uint64_t bytes;
    uint64_t at_ms; /* al_mono_ms */
};

struct al_scratch {
    pthread_mutex_t lock;
    char *shared_root; /* <base>/alisio-<uid> */
    char *state_root;  /* <state>/scratch; NULL: none */
    char key[AL_WORKSPACE_KEY_MAX];
    char *session;
    uint64_t max_bytes;

    char *root; /* of the two, the one in use; NULL: not made yet */
    char *path; /* of the scratchpad, in root or where it would be */
    char *note;
    int session_fd, fd; /* -1: not made yet */
    struct reserved reserved[MAX_RESERVED];
    size_t n_reserved;
};

/* --- the place --- */

static char *text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static char *text(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *z = NULL;
    int n = vasprintf(&z, fmt, ap);
    va_end(ap);
    if (n < 0)
        abort();
    return z;
}

static const char *base_or_default(const char *base)
{
    if (base && *base)
        return base;
    base = getenv("TMPDIR");
    return base && base[0] == '/' ? base : "/tmp";
}

char *al_scratch_root(const char *base)
{
    base = base_or_default(base);
    size_t n = strlen(base);
    while (n > 1 && base[n - 1] == '/')
        n--;
    return text("%.*s/alisio-%u", (int)n, base, (unsigned)geteuid());
}

int al_scratch_new(const struct al_scratch_opts *o, struct al_scratch **ret, struct al_err *err)
{
    if (base_or_default(o->base)[0] != '/') {
        al_fail(err, AL_INVALID_INPUT, "the base folder of scratchpads must be an absolute path");
        return al_hint(err, "set ALISIO_TMPDIR or forge.scratch.root to one");
    }
    if (!al_id_valid(al_str_of(o->session), "ses"))
        return al_fail(err, AL_INTERNAL, "a scratchpad belongs to a session");
    struct al_scratch *s = al_xcalloc(1, sizeof(*s));
    pthread_mutex_init(&s->lock, NULL);
    s->shared_root = al_scratch_root(o->base);
    s->state_root = o->state_dir ? text("%s/scratch", o->state_dir) : NULL;
    al_workspace_key(s->key, o->workspace);
    s->session = al_xstrdup(o->session);
    s->max_bytes = o->max_bytes;
    s->session_fd = s->fd = -1;
    s->path = text("%s/%s/%s/scratchpad", s->shared_root, s->key, s->session);
    *ret = s;
    return 0;
}

void al_scratch_free(struct al_scratch *s)
{
    if (!s)
        return;
    al_close(&s->fd);
    al_close(&s->session_fd);
    pthread_mutex_destroy(&s->lock);
    free(s->shared_root);
    free(s->state_root);
    free(s->session);
    free(s->root);
    free(s->path);
    free(s->note);
    free(s);
}

/* Nobody else may be able to swap our folder for theirs: what holds it is ours or root's, and sticky when
 * shared. */
static int check_base(const char *root, struct al_err *err)
{
    const char *slash = strrchr(root, '/');
    autofree char *base = al_xdup(root, slash == root ? 1 : (size_t)(slash - root));
    struct stat st;
    if (stat(base, &st) < 0) {
        if (errno == ENOENT)
            return al_path_private_dir(base, err);
        return al_fail_errno(err, AL_PERMISSION_DENIED, errno, "the base folder of scratchpads");
    }
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return al_fail(err, AL_PERMISSION_DENIED, "the base folder of scratchpads belongs to another user");
    if ((st.st_mode & 022) && !(st.st_mode & S_ISVTX))
        return al_fail(err, AL_PERMISSION_DENIED,
                       "the base folder of scratchpads can be changed by other users");
    return 0;
}

int al_scratch_open_private(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 077))
        return fd;
    close(fd);
    return -EPERM;
}

/* One level down from a folder that is ours alone. */
static int enter(int dir_fd, const char *name, int *ret_fd, struct al_err *err)
{
    if (mkdirat(dir_fd, name, 0700) < 0 && errno != EEXIST)
        return al_fail_errno(err, AL_PERMISSION_DENIED, errno, "the scratchpad cannot be made");
    int fd = al_scratch_open_private(dir_fd, name);
    if (fd < 0)
        return al_fail(err, AL_PERMISSION_DENIED, "the scratchpad's folder \"%s\" %s", name,
                       fd == -EPERM ? "is open to other users" : "is no folder of ours");
    *ret_fd = fd;
    return 0;
}

/* A descriptor that was lent out keeps its number when the folder had to be made again. */
static int put_in_place(int *place, int *fd)
{
    if (*place < 0) {
        *place = *fd;
        *fd = -1;
        return 0;
    }
    return dup3(*fd, *place, O_CLOEXEC) < 0 ? -1 : 0;
}

static int open_in(struct al_scratch *s, const char *root, struct al_err *err)
{
    autofd int root_fd = -1, key_fd = -1, session_fd = -1, fd = -1;
    if (al_path_private_dir(root, err) < 0)
        return -1;
    int r = al_scratch_open_private(AT_FDCWD, root);
    if (r < 0)
        return al_fail_errno(err, AL_PERMISSION_DENIED, -r, "the folder of scratchpads");
    root_fd = r;
    if (enter(root_fd, s->key, &key_fd, err) < 0 || enter(key_fd, s->session, &session_fd, err) < 0 ||
        enter(session_fd, "scratchpad", &fd, err) < 0)
        return -1;
    if (put_in_place(&s->fd, &fd) < 0 || put_in_place(&s->session_fd, &session_fd) < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "the scratchpad");
    if (!s->root || strcmp(s->root, root) != 0) {
        free(s->root);
        free(s->path);
        s->root = al_xstrdup(root);
        s->path = text("%s/%s/%s/scratchpad", root, s->key, s->session);
    }
    return 0;
}

/* True when the folder behind the descriptor is still there: a sweep or an emptying elsewhere may have
 * removed it. */
static bool still_there(int fd)
{
    struct stat st;
    return fd >= 0 && fstat(fd, &st) == 0 && st.st_nlink > 0;
}

/* With the lock held. */
static int open_locked(struct al_scratch *s, struct al_err *err)
{
    if (still_there(s->fd) && still_there(s->session_fd))
        return s->fd;
    struct al_err why;
    if (check_base(s->shared_root, &why) == 0 && open_in(s, s->shared_root, &why) == 0) {
        free(s->note);
        s->note = NULL;
        return s->fd;
    }
    if (!s->state_root) {
        if (err)
            *err = why;
        return -1;
    }
    if (open_in(s, s->state_root, err) < 0)
        return -1;
    free(s->note);
    s->note = text("the scratchpad lies in the state folder: %s", why.msg);
    return s->fd;
}

int al_scratch_fd(struct al_scratch *s, struct al_err *err)
{
    pthread_mutex_lock(&s->lock);
    int fd = open_locked(s, err);
    if (fd >= 0)
        futimens(s->session_fd, NULL); /* activity: what the sweep looks at */
    pthread_mutex_unlock(&s->lock);
    return fd;
}

const char *al_scratch_path(struct al_scratch *s)
{
    return s->path;
}

const char *al_scratch_note(struct al_scratch *s)
{
    return s->note;
}

int64_t al_scratch_bytes(struct al_scratch *s)
{
    int fd = al_scratch_fd(s, NULL);
    return fd < 0 ? 0 : al_path_tree_bytes(fd);
}

/* --- quota --- */

static uint64_t reserved_bytes(struct al_scratch *s)
{
    uint64_t now = al_mono_ms(), sum = 0;
    size_t kept = 0;
    for (size_t i = 0; i < s->n_reserved; i++) {
        if (now - s->reserved[i].at_ms >= RESERVED_MS)
            continue;
        s->reserved[kept++] = s->reserved[i];
        if (__builtin_add_overflow(sum, s->reserved[i].bytes, &sum))
            sum = UINT64_MAX;
    }
    s->n_reserved = kept;
    return sum;
}

static int fail_quota(const struct al_scratch *s, uint64_t more, uint64_t used, struct al_err *err)
{
    autobuf struct al_buf b = AL_BUF_INIT(256);
    al_text_bytes(&b, used);
    al_buf_adds(&b, " used, ");
    al_text_bytes(&b, more);
    al_buf_adds(&b, " more, ");
    al_text_bytes(&b, s->max_bytes);
    al_buf_adds(&b, " at most");
    al_fail(err, AL_QUOTA_EXCEEDED, "the scratchpad is full: %.*s", AL_FMT(al_buf_str(&b)));
    return al_hint(err, "remove files there (`alisio scratch empty`), or raise forge.scratch.maxBytes");
}

/* With the lock held: whether `more` bytes fit when `gone` bytes of what is there go. */
static int check_quota(struct al_scratch *s, uint64_t more, uint64_t gone, struct al_err *err)
{
    int fd = open_locked(s, err);
    if (fd < 0)
        return -1;
    futimens(s->session_fd, NULL);
    uint64_t used = (uint64_t)al_path_tree_bytes(fd), total;
    used = used > gone ? used - gone : 0;
    if (__builtin_add_overflow(used, reserved_bytes(s), &used) ||
        __builtin_add_overflow(used, more, &total) || total > s->max_bytes)
        return fail_quota(s, more, used, err);
    return 0;
}

int al_scratch_reserve(struct al_scratch *s, uint64_t more, struct al_err *err)
{
    pthread_mutex_lock(&s->lock);
    int r = check_quota(s, more, 0, err);
    if (r == 0 && more > 0) {
        struct reserved one = {.bytes = more, .at_ms = al_mono_ms()};
        if (s->n_reserved < MAX_RESERVED) {
            s->reserved[s->n_reserved++] = one;
        } else { /* so many at once: the last one stands for all that follow */
            s->reserved[MAX_RESERVED - 1].bytes += more;
            s->reserved[MAX_RESERVED - 1].at_ms = one.at_ms;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return r;
}

void al_scratch_release(struct al_scratch *s, uint64_t more)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n_reserved; i++) {
        if (s->reserved[i].bytes != more)
            continue;
        s->reserved[i] = s->reserved[--s->n_reserved];
        break;
    }
    pthread_mutex_unlock(&s->lock);
}

int al_scratch_write(struct al_scratch *s, const char *rel, struct al_str bytes, struct al_err *err)
{
    autobuf struct al_buf normal = AL_BUF_INIT(4096);
    if (al_path_normalize(al_str_of(rel), &normal, err) < 0)
        return al_wrap(err, "scratch:%s", rel);
    autofree char *name_in = al_xdup(normal.p, normal.n);
    autofree char *shown = text("scratch:%s", name_in);
    /* The lock is held through the write, so that no reservation is needed. */
    pthread_mutex_lock(&s->lock);
    autofd int parent = -1;
    const char *name = NULL;
    int r = open_locked(s, err);
    if (r >= 0)
        r = al_path_open_parent(s->fd, name_in, true, shown, &parent, &name, err);
    if (r >= 0) {
        struct stat st;
        bool replaces = fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
        r = check_quota(s, bytes.n, replaces ? (uint64_t)st.st_size : 0, err);
    }
    if (r >= 0)
        r = al_path_write_atomic(parent, name, bytes, 0600, shown, err);
    pthread_mutex_unlock(&s->lock);
    return r < 0 ? -1 : 0;
}

int al_scratch_empty(struct al_scratch *s, struct al_err *err)
{
    pthread_mutex_lock(&s->lock);
    int r = open_locked(s, err) < 0 ? -1 : 0;
    if (r == 0) {
        int e = al_scratch_remove_children(s->fd);
        if (e < 0)
            r = al_fail_errno(err, AL_INTERNAL, -e, "the scratchpad cannot be emptied");
        s->n_reserved = 0;
    }
    pthread_mutex_unlock(&s->lock);
    return r;
}

int al_scratch_sweep(struct al_scratch *s, unsigned days)
{
    if (days == 0)
        return 0;
    const char *const roots[] = {s->shared_root, s->state_root};
    int n = 0;
    for (size_t i = 0; i < 2; i++)
        if (roots[i])
            n += al_scratch_sweep_root(roots[i], s->session, days);
    return n;
}
