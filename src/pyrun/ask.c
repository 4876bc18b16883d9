/* One question to a program, and its answer: blocking, for the pool. */
#include "pyrun/pyrun_int.h"

#include "base/ident.h"
#include "os/fd.h"
#include "os/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define CLOSING_MS 100 /* so often we look whether the answer is still wanted */

struct question {
    struct al_pyrun *pyrun; /* NULL: wanted in any case */
    int out, err, pidfd;
    struct al_buf *kept_out, *kept_err;
};

static void keep(struct al_buf *b, const char *p, size_t n)
{
    if (b)
        al_buf_add(b, p, n < b->max - b->n ? n : b->max - b->n);
}

/* Closes it at its end. */
static void read_some(int *fd, struct al_buf *b)
{
    char block[4096];
    ssize_t n = read(*fd, block, sizeof(block));
    if (n > 0)
        keep(b, block, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        al_close(fd);
}

static void read_rest(int *fd, struct al_buf *b)
{
    for (int i = 0; *fd >= 0 && i < 64; i++) {
        struct pollfd ready = {.fd = *fd, .events = POLLIN};
        if (poll(&ready, 1, 0) <= 0)
            return;
        read_some(fd, b);
    }
}

/* Until the program has ended, whoever else may hold its output. False: it is late. */
static bool listen_to(struct question *q, uint64_t timeout_ms)
{
    uint64_t end = al_mono_ms() + timeout_ms;
    for (;;) {
        uint64_t now = al_mono_ms();
        struct pollfd fds[] = {{q->out, POLLIN, 0}, {q->err, POLLIN, 0}, {q->pidfd, POLLIN, 0}};
        if (now >= end || (q->pyrun && q->pyrun->closing))
            return false;
        uint64_t wait = q->pyrun && end - now > CLOSING_MS ? CLOSING_MS : end - now;
        if (poll(fds, 3, (int)wait) < 0 && errno != EINTR)
            return false;
        if (fds[0].revents)
            read_some(&q->out, q->kept_out);
        if (fds[1].revents)
            read_some(&q->err, q->kept_err);
        if (fds[2].revents)
            break;
    }
    read_rest(&q->out, q->kept_out);
    read_rest(&q->err, q->kept_err);
    return true;
}

static int start(const char *const *argv, char **env, int out, int errors, pid_t *pid, int *pidfd,
                 struct al_err *err)
{
    autofd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const struct al_fd_map fds[] = {{out, 1}, {errors, 2}};
    struct al_spawn how = {
        .path = argv[0],
        .exec_fd = -1,
        .argv = (char *const *)argv, /* exec takes char *const[], and changes nothing */
        .envp = env,
        .cwd_fd = root,
        .fds = fds,
        .n_fds = 2,
        .death_signal = SIGKILL,
        .new_session = true,
    };
    return al_spawn(&how, pid, pidfd, err);
}

static int ask(struct al_pyrun *p, const char *const *argv, char **env, uint64_t timeout_ms,
               struct al_buf *out, struct al_buf *errors, int *ret_status, struct al_err *err)
{
    int out_pipe[2] = {-1, -1}, err_pipe[2] = {-1, -1}, pidfd = -1, r = -1;
    pid_t pid = 0;
    if (pipe2(out_pipe, O_CLOEXEC) < 0 || pipe2(err_pipe, O_CLOEXEC) < 0) {
        r = al_fail_errno(err, AL_BUSY, errno, "cannot make a pipe");
    } else {
        r = start(argv, env, out_pipe[1], err_pipe[1], &pid, &pidfd, err);
    }
    al_close(&out_pipe[1]);
    al_close(&err_pipe[1]);
    if (r == 0) {
        struct question q = {p, out_pipe[0], err_pipe[0], pidfd, out, errors};
        struct al_exit end = {0};
        bool in_time = listen_to(&q, timeout_ms);
        kill(-pid, SIGKILL); /* and what it has left in its group */
        if (al_reap(pidfd, true, &end) < 0)
            end.exited = false;
        *ret_status = end.exited ? end.status : -1;
        out_pipe[0] = q.out;
        err_pipe[0] = q.err;
        if (!in_time)
            r = al_fail(err, AL_RUNTIME_UNAVAILABLE, "it did not answer in %llu s",
                        (unsigned long long)(timeout_ms / 1000));
    }
    al_close(&out_pipe[0]);
    al_close(&err_pipe[0]);
    al_close(&pidfd);
    return r < 0 ? -1 : 0;
}

int al_py_ask_in(const char *const *argv, char **env, uint64_t timeout_ms, struct al_buf *out,
                 struct al_buf *errors, int *ret_status, struct al_err *err)
{
    return ask(NULL, argv, env, timeout_ms, out, errors, ret_status, err);
}

int al_py_ask(struct al_pyrun *p, const char *const *argv, uint64_t timeout_ms, struct al_buf *out,
              struct al_buf *errors, int *ret_status, struct al_err *err)
{
    char **env = al_env_child();
    al_env_clean_path(env, al_pyrun_avoid(p));
    int r = ask(p, argv, env, timeout_ms, out, errors, ret_status, err);
    al_env_free(env);
    return r;
}
