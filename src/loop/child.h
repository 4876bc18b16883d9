/* An external program under the supervisor, with its output captured up to a limit. */
#ifndef AL_LOOP_CHILD_H
#define AL_LOOP_CHILD_H

#include "base/buf.h"
#include "loop/loop.h"

/* sandbox/landlock.h, applied by the supervisor. */
#define AL_CHILD_READ_FDS 4

enum al_child_seal {
    AL_CHILD_OPEN,
    AL_CHILD_SEAL_GIT,    /* of cwd_fd and read_fds; without Landlock it does not start: ENOSYS */
    AL_CHILD_SEAL_SEARCH, /* of cwd_fd, or with -1 of its input alone; without Landlock it runs unsealed */
};

struct al_child_spec {
    const char *program;  /* absolute path */
    char *const *argv;    /* NULL-terminated, argv[0] included */
    char *const *envp;    /* NULL: al_env_child() */
    int cwd_fd;           /* borrowed; -1: inherit */
    enum al_child_seal seal;
    const int *read_fds;  /* borrowed: the folders, besides cwd_fd, that a sealed git may read */
    size_t n_read_fds;    /* up to AL_CHILD_READ_FDS */
    size_t max_data;      /* bytes of memory of its own that each of its processes may have (RLIMIT_DATA); 0: no limit */
    struct al_str input;  /* written to its standard input, then closed; empty: /dev/null */
    size_t max_output;    /* kept of standard output, and of standard error each; the rest is read and dropped */
    uint64_t timeout_ms;  /* 0: none */
    uint64_t idle_ms;     /* without any output for so long it is timed out, too; 0: no such limit */
    void (*output)(void *ud, bool is_error, struct al_str bytes); /* what it prints, as it comes; ud as done's; may be NULL */
};

struct al_child_end {
    int exec_errno;       /* > 0: did not start */
    int exit_status;      /* -1 when killed */
    int signal;           /* 0 when it exited */
    bool timed_out, cancelled;
    bool out_truncated, err_truncated;
    uint64_t duration_ms;
    struct al_buf *out, *err; /* borrowed for the call */
};

struct al_child;
/* done comes exactly once, after the whole tree is reaped. NULL with err when it cannot be started at all. */
struct al_child *al_child_start(struct al_loop *loop, const struct al_child_spec *spec,
                                void (*done)(void *ud, const struct al_child_end *end), void *ud, struct al_err *err);
/* SIGTERM at once, SIGKILL after 300 ms; done comes later, with cancelled set. */
void al_child_cancel(struct al_child *c);

#endif
