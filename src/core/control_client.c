/* From another process: a run is cancelled by its host; when that hangs, the run's own process is killed. */
#include "base/ident.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/control_int.h"
#include "core/core.h"
#include "os/fd.h"
#include "os/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_MS 1000
#define END_MS 5000
#define LOOK_EVERY_MS 10

static bool is_live(const char *status)
{
    return strcmp(status, "queued") == 0 || strcmp(status, "running") == 0;
}

/* 1: the run has ended; 0: not within the time; -1 error. */
static int wait_for_end(struct al_store *store, const char *id, uint64_t deadline_ms, struct al_err *err)
{
    for (;;) {
        struct al_run run = {0};
        if (al_store_run_get(store, id, &run, err) < 0)
            return -1;
        bool live = is_live(run.status);
        al_run_fini(&run);
        if (!live)
            return 1;
        if (al_mono_ms() >= deadline_ms)
            return 0;
        poll(NULL, 0, LOOK_EVERY_MS);
    }
}

static bool wait_ready(int fd, short events, uint64_t deadline_ms)
{
    uint64_t now = al_mono_ms();
    struct pollfd p = {.fd = fd, .events = events};
    return now < deadline_ms && poll(&p, 1, (int)(deadline_ms - now)) > 0;
}

static int connect_host(const char *path)
{
    struct sockaddr_un addr;
    socklen_t len;
    struct al_err ignored;
    autofd int dir = -1;
    autofd int fd = -1;
    if (control_address(path, &addr, &len, &dir, &ignored) < 0)
        return -1;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&addr, len) < 0 || !control_same_user(fd))
        return -1;
    int ret = fd;
    fd = -1;
    return ret;
}

/* True when a whole line came in time. */
static bool exchange(int fd, struct al_str request, struct al_buf *reply, uint64_t deadline_ms)
{
    if (send(fd, request.p, request.n, MSG_NOSIGNAL) != (ssize_t)request.n)
        return false;
    while (!memchr(al_buf_str(reply).p, '\n', reply->n)) {
        char bytes[512];
        if (!wait_ready(fd, POLLIN, deadline_ms))
            return false;
        ssize_t n = read(fd, bytes, sizeof bytes);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            return false;
        al_buf_add(reply, bytes, (size_t)n);
        if (al_buf_failed(reply))
            return false;
    }
    return true;
}

/* The host has answered at all: then it is not for us to kill anything. */
static bool ask_host(struct al_store *store, const struct al_run *run)
{
    autofree char *path = al_store_socket_path(store, run->host_id);
    autofd int fd = connect_host(path);
    if (fd < 0)
        return false;
    autobuf struct al_buf request = AL_BUF_INIT(CONTROL_MAX_LINE), reply = AL_BUF_INIT(CONTROL_MAX_LINE);
    struct al_jw w;
    al_jw_init(&w, &request);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "op", "cancel");
    al_jw_kstrz(&w, "run", run->id);
    al_jw_end(&w);
    al_buf_addc(&request, '\n');
    return exchange(fd, al_buf_str(&request), &reply, al_mono_ms() + ANSWER_MS);
}

static bool read_proc(const char *path, struct al_buf *out)
{
    autofd int fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || al_fd_read_all(fd, out) < 0)
        return false;
    al_buf_addc(out, '\0');
    return !al_buf_failed(out);
}

/* Takes the next word off the text. */
static struct al_str next_word(struct al_str *rest)
{
    size_t i = 0;
    while (i < rest->n && (rest->p[i] == ' ' || rest->p[i] == '\t'))
        i++;
    size_t from = i;
    while (i < rest->n && rest->p[i] != ' ' && rest->p[i] != '\t' && rest->p[i] != '\n' && rest->p[i])
        i++;
    struct al_str word = {rest->p + from, i - from};
    rest->p += i;
    rest->n -= i;
    return word;
}

/* The process that holds the lock of the host, from /proc/locks (proc(5)); 0 when that is not certain. */
static int64_t lock_holder(struct al_store *store, const char *host_id)
{
    char path[4096];
    struct stat st;
    int n = snprintf(path, sizeof path, "%s/hosts/%s.lock", al_store_dir(store), host_id);
    autobuf struct al_buf locks = AL_BUF_INIT(4u << 20);
    if (n < 0 || (size_t)n >= sizeof path || lstat(path, &st) < 0 || !read_proc("/proc/locks", &locks))
        return 0;
    char inode[32];
    snprintf(inode, sizeof inode, ":%llu", (unsigned long long)st.st_ino);
    int64_t found = 0;
    struct al_str rest = al_buf_str(&locks);
    while (rest.n) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t len = end ? (size_t)(end - rest.p) : rest.n;
        struct al_str line = {rest.p, len};
        rest.p += len + (end != NULL);
        rest.n -= len + (end != NULL);
        next_word(&line); /* 1: */
        if (!al_str_is(next_word(&line), "FLOCK"))
            continue;
        next_word(&line); /* ADVISORY */
        next_word(&line); /* WRITE */
        int64_t pid;
        struct al_str who = next_word(&line), what = next_word(&line);
        if (!al_str_ends(what, inode) || !al_parse_int(who, 1, INT32_MAX, &pid))
            continue;
        if (found && found != pid)
            return 0; /* two file systems with the same number */
        found = pid;
    }
    return found;
}

/* Parent and real user of a process, from /proc/PID/status, which everybody may read. */
static bool whose_child(int64_t pid, int64_t *ret_parent, int64_t *ret_uid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/status", (long long)pid);
    autobuf struct al_buf status = AL_BUF_INIT(64u << 10);
    if (!read_proc(path, &status))
        return false;
    struct al_str all = al_buf_str(&status);
    ptrdiff_t ppid = al_str_find(all, AL_STR("\nPPid:")), uid = al_str_find(all, AL_STR("\nUid:"));
    if (ppid < 0 || uid < 0)
        return false;
    struct al_str p = {all.p + ppid + 6, all.n - (size_t)ppid - 6},
                  u = {all.p + uid + 5, all.n - (size_t)uid - 5};
    return al_parse_int(next_word(&p), 0, INT32_MAX, ret_parent) &&
           al_parse_int(next_word(&u), 0, UINT32_MAX, ret_uid);
}

/*
 * Kills the process of a run whose host hangs. The host is the process that holds its lock; a child of it
 * with the recorded number is the run's: a host closes a run in the same turn in which it reaps, so that the
 * number of a run that is still open cannot have been given to another child. The descriptor is opened before
 * all that is looked at.
 */
static int kill_process(struct al_store *store, const struct al_run *run, struct al_err *err)
{
    int64_t host = lock_holder(store, run->host_id), parent = 0, uid = -1;
    if (run->pid <= 1 || host <= 1)
        return al_fail(err, AL_BUSY,
                       "the host of %s does not answer, and the run has no process that could be stopped",
                       run->id);
    autofd int pidfd = al_pidfd_open((pid_t)run->pid);
    if (pidfd < 0 || !whose_child(run->pid, &parent, &uid) || parent != host || uid != (int64_t)getuid()) {
        al_fail(err, AL_BUSY, "the host of %s does not answer, and its process is gone", run->id);
        return al_hint(err, "end the host (process %lld) itself", (long long)host);
    }
    int r = al_pidfd_kill(pidfd, SIGKILL);
    if (r < 0)
        return al_fail_errno(err, AL_INTERNAL, -r, "the process of %s", run->id);
    return 0;
}

static int cancel_live(struct al_store *store, const struct al_run *run, struct al_err *err)
{
    uint64_t deadline = al_mono_ms() + END_MS;
    bool answered = ask_host(store, run);
    if (!answered) {
        int done = wait_for_end(store, run->id, 0, err);
        if (done != 0)
            return done < 0 ? -1 : 0;
        if (kill_process(store, run, err) < 0)
            return -1;
    }
    int done = wait_for_end(store, run->id, deadline, err);
    if (done != 0)
        return done < 0 ? -1 : 0;
    if (answered)
        al_fail(err, AL_TIMEOUT, "%s is being cancelled, but has not ended within 5 s", run->id);
    else
        al_fail(err, AL_TIMEOUT, "the script of %s was stopped, but its host does not answer", run->id);
    return al_hint(err, "`alisio runs show %s` tells when it has ended", run->id);
}

static int cancel_run(struct al_store *store, const struct al_run *run, struct al_err *err)
{
    if (!is_live(run->status))
        return al_fail(err, AL_NOT_FOUND, "%s has ended already (%s)", run->id, run->status);
    if (run->host_id && al_store_host_alive(store, run->host_id))
        return cancel_live(store, run, err);
    if (al_store_recover(store, err) < 0)
        return -1;
    return al_fail(err, AL_NOT_FOUND, "%s has ended already: its host is gone (interrupted)", run->id);
}

int al_control_cancel(struct al_store *store, const char *exec_id, struct al_err *err)
{
    struct al_run run = {0};
    if (al_store_run_get(store, exec_id, &run, err) < 0)
        return -1;
    int r = cancel_run(store, &run, err);
    al_run_fini(&run);
    return r;
}
