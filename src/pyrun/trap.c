/* What the script of a probe tries to reach: sockets of ours, a file of ours. */
#include "pyrun/pyrun_int.h"

#include "base/json.h"
#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "probe-"
#define LEFT_OVER_S 3600
#define CANARY "canary"
#define WRITTEN "written"

static int port_socket(int type)
{
    autofd int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
        (type == SOCK_STREAM && listen(fd, 4) < 0))
        return -1;
    int r = fd;
    fd = -1;
    return r;
}

static int local_socket(const char *name)
{
    autofd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    size_t n = strlen(name);
    memcpy(at.sun_path + 1, name, n); /* a leading zero: it has no place in the file system */
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) < 0 || listen(fd, 4) < 0)
        return -1;
    int r = fd;
    fd = -1;
    return r;
}

static int analysis_folder(struct al_pyrun *p, struct al_err *err)
{
    autobuf struct al_buf path = AL_BUF_INIT(4096);
    al_buf_addf(&path, "%s/analysis", p->state_dir);
    if (al_buf_failed(&path))
        return al_fail(err, AL_INTERNAL, "the path of the state folder is too long");
    if (al_path_private_dir(path.p, err) < 0)
        return -1;
    int fd = open(path.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? al_fail_errno(err, AL_INTERNAL, errno, "the state folder cannot be read") : fd;
}

/* Those of hosts that were killed. */
static void sweep(int dir)
{
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    if (!d) {
        al_close(&copy);
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        struct stat st;
        if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) == 0 &&
            fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
            st.st_mtime < time(NULL) - LEFT_OVER_S)
            al_path_remove_tree(dir, e->d_name);
    }
    closedir(d);
}

static int put_canary(struct al_py_trap *t, int analysis, struct al_err *err)
{
    unsigned char bytes[16];
    al_random(bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(t->secret + 2 * i, 3, "%02x", bytes[i]);
    if (mkdirat(analysis, t->name, 0700) < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "no folder can be made in the state folder");
    autofd int dir = openat(analysis, t->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return al_path_write_atomic(dir, CANARY, al_str_of(t->secret), 0600, "a file of the state folder", err);
}

int al_py_trap_set(struct al_pyrun *p, struct al_py_trap *t, struct al_err *err)
{
    char id[AL_ID_MAX];
    *t = (struct al_py_trap){.tcp = -1, .udp = -1, .local = -1};
    autofd int analysis = analysis_folder(p, err);
    if (analysis < 0)
        return -1;
    sweep(analysis);
    al_id_new(id, "");
    snprintf(t->name, sizeof(t->name), PREFIX "%s", id);
    if (asprintf(&t->path, "%s/analysis/%s", p->state_dir, t->name) < 0)
        abort();
    if (put_canary(t, analysis, err) < 0)
        return -1;
    t->tcp = port_socket(SOCK_STREAM);
    t->udp = port_socket(SOCK_DGRAM);
    t->local = local_socket(t->name);
    if (t->local < 0 || (t->tcp < 0) != (t->udp < 0))
        return al_fail_errno(err, AL_INTERNAL, errno, "no socket can be opened");
    return 0;
}

static int64_t port_of(int fd)
{
    struct sockaddr_in at = {0};
    socklen_t n = sizeof(at);
    /* Where there is no network at all, nothing listens on port 9 (discard). */
    return fd >= 0 && getsockname(fd, (struct sockaddr *)&at, &n) == 0 ? ntohs(at.sin_port) : 9;
}

/* The 22nd field of stat(5); the second one may hold anything, and ends with the last parenthesis. */
static void add_start_time(struct al_jw *w)
{
    autobuf struct al_buf text = AL_BUF_INIT(4096);
    al_py_small_file("/proc/self/stat", &text);
    struct al_str s = al_buf_str(&text);
    const char *end = s.n ? memrchr(s.p, ')', s.n) : NULL;
    unsigned field = 2;
    for (size_t i = end ? (size_t)(end - s.p) : s.n; i < s.n; i++) {
        if (s.p[i] == ' ' && ++field == 22) {
            struct al_str rest = {s.p + i + 1, s.n - i - 1};
            const char *space = memchr(rest.p, ' ', rest.n);
            al_jw_kstr(w, "startTime", (struct al_str){rest.p, space ? (size_t)(space - rest.p) : rest.n});
            return;
        }
    }
    al_jw_kstrz(w, "startTime", "");
}

void al_py_trap_tell(const struct al_py_trap *t, struct al_buf *out)
{
    struct al_jw w;
    struct stat st;
    autobuf struct al_buf path = AL_BUF_INIT(8192);
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kint(&w, "tcp", port_of(t->tcp));
    al_jw_kint(&w, "udp", port_of(t->udp));
    al_jw_kstrz(&w, "abstract", t->name);
    al_buf_addf(&path, "%s/" CANARY, t->path);
    al_jw_kstr(&w, "canary", al_buf_str(&path));
    al_jw_kstrz(&w, "secret", t->secret);
    al_buf_clear(&path);
    al_buf_addf(&path, "%s/" WRITTEN, t->path);
    al_jw_kstr(&w, "write", al_buf_str(&path));
    al_jw_kint(&w, "pid", getpid());
    al_jw_kint(&w, "pidNamespace", stat("/proc/self/ns/pid", &st) == 0 ? (int64_t)st.st_ino : 0);
    add_start_time(&w);
    al_jw_end(&w);
}

static bool has_visitor(int fd)
{
    autofd int visitor = fd >= 0 ? accept4(fd, NULL, NULL, SOCK_CLOEXEC) : -1;
    return visitor >= 0;
}

void al_py_trap_sprung(const struct al_py_trap *t, bool *network, bool *files)
{
    char byte, path[4200];
    *network = has_visitor(t->tcp) || has_visitor(t->local) ||
               (t->udp >= 0 && recv(t->udp, &byte, 1, MSG_DONTWAIT) >= 0);
    snprintf(path, sizeof(path), "%s/" WRITTEN, t->path);
    *files = faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void al_py_trap_clear(struct al_pyrun *p, struct al_py_trap *t)
{
    al_close(&t->tcp);
    al_close(&t->udp);
    al_close(&t->local);
    if (t->path) {
        autofd int analysis = analysis_folder(p, NULL);
        if (analysis >= 0)
            al_path_remove_tree(analysis, t->name);
    }
    free(t->path);
    t->path = NULL;
}
