#include "loop/supervised.h"
#include "base/mem.h"
#include "os/fd.h"
#include "os/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define READ_CHUNK (64 * 1024)
#define READS_PER_TURN 16
/* Of what may still lie in a pipe when its writers are gone. A writer outside of the tree is not waited for.
 */
#define DRAIN_MAX (2u << 20)
/* The supervisor needs 300 ms and a little. A program may have stopped it: it is waked, and at last killed.
 */
#define NUDGE_MS 500
#define NUDGES 20
#define FIRST_READ_FD 4
#define OPTION_SIZE 48

int al_program_pipes_open(struct al_program_pipes *p, bool with_input, struct al_err *err)
{
    *p = (struct al_program_pipes){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    if ((with_input && pipe2(p->in, O_CLOEXEC) < 0) || pipe2(p->out, O_CLOEXEC) < 0 ||
        pipe2(p->err, O_CLOEXEC) < 0 || pipe2(p->status, O_CLOEXEC) < 0)
        return al_fail_errno(err, AL_BUSY, errno, "cannot make pipes");
    return 0;
}

void al_program_pipes_close(struct al_program_pipes *p)
{
    for (int i = 0; i < 2; i++) {
        al_close(&p->in[i]);
        al_close(&p->out[i]);
        al_close(&p->err[i]);
        al_close(&p->status[i]);
    }
}

/* --- the end --- */

static struct al_supervise_status read_status(const struct al_supervised *s, const struct al_exit *supervisor)
{
    struct al_supervise_status st;
    ssize_t n;
    do {
        n = read(s->status_fd, &st, sizeof(st));
    } while (n < 0 && errno == EINTR);
    if (n == sizeof(st))
        return st;
    /* The supervisor ended before the program did, or before it began. */
    return (struct al_supervise_status){.exit_status = -1,
                                        .signal = supervisor->signal ? supervisor->signal : SIGKILL};
}

static void reaped(void *ud, int events)
{
    struct al_supervised *s = ud;
    struct al_exit supervisor = {0};
    (void)events;
    if (al_reap(s->pidfd, false, &supervisor) == 0)
        return;
    struct al_supervise_status status = read_status(s, &supervisor);
    al_watch_stop(s->watch);
    s->watch = NULL;
    al_timer_stop(s->nudge);
    s->nudge = NULL;
    al_close(&s->pidfd);
    s->cpu_ms = supervisor.cpu_ms;
    s->ended(s->ud, &status);
}

static void nudge(void *ud)
{
    struct al_supervised *s = ud;
    if (++s->nudges >= NUDGES)
        al_pidfd_kill(s->pidfd, SIGKILL);
    else
        al_pidfd_kill(s->pidfd, SIGCONT);
}

void al_supervised_kill(struct al_supervised *s)
{
    if (s->nudge || s->pidfd < 0)
        return;
    al_pidfd_kill(s->pidfd, SIGTERM);
    al_pidfd_kill(s->pidfd, SIGCONT);
    s->nudge = al_timer_every(s->loop, NUDGE_MS, nudge, s);
}

void al_supervised_fini(struct al_supervised *s)
{
    al_watch_stop(s->watch);
    s->watch = NULL;
    al_timer_stop(s->nudge);
    s->nudge = NULL;
    if (s->pidfd >= 0) {
        struct al_exit unused;
        al_pidfd_kill(s->pidfd, SIGTERM);
        al_pidfd_kill(s->pidfd, SIGCONT);
        al_reap(s->pidfd, true, &unused);
    }
    al_close(&s->pidfd);
    al_close(&s->status_fd);
}

/* --- the start --- */

void al_supervised_init(struct al_supervised *s, struct al_loop *loop,
                        void (*ended)(void *ud, const struct al_supervise_status *status), void *ud)
{
    *s = (struct al_supervised){.loop = loop, .pidfd = -1, .status_fd = -1, .ended = ended, .ud = ud};
}

/* alisio __supervise [OPTIONS] -- PROGRAM ARGV0 ARGV1 … */
static char **supervisor_argv(const struct al_supervised_spec *spec, char options[][OPTION_SIZE])
{
    size_t n = 0, at = 0;
    while (spec->argv[n])
        n++;
    const char **argv = al_xcalloc(n + 8 + spec->n_read_fds + spec->n_pass_fds, sizeof(*argv));
    argv[at++] = "alisio";
    argv[at++] = AL_SUPERVISE_VERB;
    if (spec->seal)
        argv[at++] = spec->seal;
    if (spec->max_data > 0) {
        snprintf(*options, OPTION_SIZE, "--max-data=%zu", spec->max_data);
        argv[at++] = *options++;
    }
    for (size_t i = 0; i < spec->n_read_fds; i++) {
        snprintf(*options, OPTION_SIZE, "--read=%zu", FIRST_READ_FD + i);
        argv[at++] = *options++;
    }
    for (size_t i = 0; i < spec->n_pass_fds; i++) {
        snprintf(*options, OPTION_SIZE, "--pass=%zu", FIRST_READ_FD + spec->n_read_fds + i);
        argv[at++] = *options++;
    }
    if (spec->grace_ms > 0) {
        snprintf(*options, OPTION_SIZE, "--grace=%" PRIu64, spec->grace_ms);
        argv[at++] = *options++;
    }
    argv[at++] = "--";
    argv[at++] = spec->program;
    for (size_t i = 0; i < n; i++)
        argv[at++] = spec->argv[i];
    return (char **)argv; /* exec takes char *const[], and changes nothing */
}

static int spawn_supervisor(struct al_supervised *s, const struct al_supervised_spec *spec,
                            const struct al_program_pipes *p, struct al_err *err)
{
    struct al_fd_map fds[4 + AL_SUPERVISED_READ_FDS + AL_SUPERVISED_PASS_FDS] = {
        {p->out[1], 1}, {p->err[1], 2}, {p->status[1], 3}};
    size_t n_fds = 3;
    char options[2 + AL_SUPERVISED_READ_FDS + AL_SUPERVISED_PASS_FDS][OPTION_SIZE];
    if (spec->n_read_fds > AL_SUPERVISED_READ_FDS || spec->n_pass_fds > AL_SUPERVISED_PASS_FDS)
        return al_fail(err, AL_INTERNAL, "a program was to be started with impossible settings");
    for (size_t i = 0; i < spec->n_read_fds; i++)
        fds[n_fds++] = (struct al_fd_map){spec->read_fds[i], FIRST_READ_FD + (int)i};
    for (size_t i = 0; i < spec->n_pass_fds; i++)
        fds[n_fds++] = (struct al_fd_map){spec->pass_fds[i], FIRST_READ_FD + (int)(spec->n_read_fds + i)};
    if (p->in[0] >= 0)
        fds[n_fds++] = (struct al_fd_map){p->in[0], 0};
    autofree char **argv = supervisor_argv(spec, options);
    char **own_env = spec->envp ? NULL : al_env_child();
    struct al_spawn how = {
        .exec_fd = al_self_fd(),
        .argv = argv,
        .envp = spec->envp ? spec->envp : own_env,
        .cwd_fd = spec->cwd_fd,
        .fds = fds,
        .n_fds = n_fds,
        .death_signal = SIGTERM,
        .new_session = true, /* a Ctrl-C in our terminal is ours to handle */
    };
    int r = al_spawn(&how, &s->pid, &s->pidfd, err);
    al_env_free(own_env);
    return r < 0 ? -1 : 0;
}

int al_supervised_start(struct al_supervised *s, const struct al_supervised_spec *spec,
                        struct al_program_pipes *p, struct al_err *err)
{
    int r = al_fd_nonblock(p->status[0]);
    if (r < 0)
        return al_fail_errno(err, AL_INTERNAL, -r, "cannot prepare a pipe");
    s->status_fd = p->status[0];
    p->status[0] = -1;
    if (spawn_supervisor(s, spec, p, err) < 0)
        return -1;
    s->watch = al_watch_start(s->loop, s->pidfd, AL_READABLE, reaped, s, err);
    if (s->watch)
        return 0;
    /* Killed before its program runs, or by its death signal: nothing may be left when we say no. */
    al_supervised_fini(s);
    return -1;
}

/* --- an output --- */

void al_outlet_close(struct al_outlet *o)
{
    al_watch_stop(o->watch);
    o->watch = NULL;
    al_close(&o->fd);
}

/* One read. Bytes, 0 at the end (then closed), -EAGAIN; -ESTALE: o is gone. */
static ssize_t read_once(struct al_outlet *o)
{
    char chunk[READ_CHUNK];
    ssize_t n;
    do {
        n = read(o->fd, chunk, sizeof(chunk));
    } while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN)
        return -EAGAIN;
    if (n <= 0) {
        al_outlet_close(o);
        return o->bytes(o->ud, (struct al_str){"", 0}) ? 0 : -ESTALE;
    }
    return o->bytes(o->ud, (struct al_str){chunk, (size_t)n}) ? n : -ESTALE;
}

static void readable(void *ud, int events)
{
    struct al_outlet *o = ud;
    (void)events;
    for (int i = 0; i < READS_PER_TURN; i++) {
        ssize_t n = read_once(o);
        if (n < READ_CHUNK || !o->watch)
            return;
    }
}

int al_outlet_pause(struct al_outlet *o, bool pause, struct al_err *err)
{
    if (pause) {
        al_watch_stop(o->watch);
        o->watch = NULL;
        return 0;
    }
    if (o->watch || o->fd < 0)
        return 0;
    o->watch = al_watch_start(o->loop, o->fd, AL_READABLE, readable, o, err);
    return o->watch ? 0 : -1;
}

int al_outlet_open(struct al_outlet *o, struct al_loop *loop, int *fd,
                   bool (*bytes)(void *ud, struct al_str bytes), void *ud, struct al_err *err)
{
    *o = (struct al_outlet){.loop = loop, .fd = *fd, .bytes = bytes, .ud = ud};
    *fd = -1;
    int r = al_fd_nonblock(o->fd);
    if (r < 0)
        return al_fail_errno(err, AL_INTERNAL, -r, "cannot prepare a pipe");
    return al_outlet_pause(o, false, err);
}

bool al_outlet_drain(struct al_outlet *o)
{
    for (size_t total = 0; o->fd >= 0 && total < DRAIN_MAX;) {
        ssize_t n = read_once(o);
        if (n == -ESTALE)
            return false;
        if (n <= 0)
            break;
        total += (size_t)n;
    }
    al_outlet_close(o);
    return true;
}
