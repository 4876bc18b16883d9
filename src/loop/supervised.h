/* What child.c and service.c share: a program under the supervisor, its end, and its output. For these two
 * only. */
#ifndef AL_LOOP_SUPERVISED_H
#define AL_LOOP_SUPERVISED_H

#include "loop/loop.h"
#include "sandbox/supervise.h"

#include <sys/types.h>

#define AL_SUPERVISED_READ_FDS 4
#define AL_SUPERVISED_PASS_FDS 8

struct al_supervised_spec {
    const char *program;
    char *const *argv, *const *envp; /* envp NULL: al_env_child() */
    int cwd_fd;
    const char *seal; /* an option of the supervisor; NULL: none */
    const int *read_fds;
    size_t n_read_fds;
    size_t max_data;
    const int *pass_fds; /* the program's 4, 5, …; borrowed */
    size_t n_pass_fds;
    uint64_t grace_ms; /* 0: 300; up to 5,000 */
};

struct al_supervised {
    struct al_loop *loop;
    int pidfd, status_fd;
    pid_t pid;       /* of the supervisor */
    uint64_t cpu_ms; /* of the whole tree, once it has been reaped */
    struct al_watch *watch;
    struct al_timer *nudge;
    unsigned nudges;
    void (*ended)(void *ud, const struct al_supervise_status *status);
    void *ud;
};

struct al_program_pipes {
    int in[2], out[2], err[2], status[2]; /* [0] is read from, [1] written to; -1: none */
};
int al_program_pipes_open(struct al_program_pipes *p, bool with_input, struct al_err *err) AL_MUST_CHECK;
void al_program_pipes_close(struct al_program_pipes *p);

/* Before start; ended comes once the whole tree is reaped. */
void al_supervised_init(struct al_supervised *s, struct al_loop *loop,
                        void (*ended)(void *ud, const struct al_supervise_status *status), void *ud);
/* Takes status[0]; the program gets in[0], out[1] and err[1]. After a failure nothing of it runs. */
int al_supervised_start(struct al_supervised *s, const struct al_supervised_spec *spec,
                        struct al_program_pipes *p, struct al_err *err) AL_MUST_CHECK;
/* SIGTERM at once, SIGKILL after grace_ms. */
void al_supervised_kill(struct al_supervised *s);
/* Kills and reaps now when it still runs, with no callback. */
void al_supervised_fini(struct al_supervised *s);

/* The reading end of an output. */
struct al_outlet {
    struct al_loop *loop;
    int fd; /* -1: at its end */
    struct al_watch *watch;
    /* Empty at the end. False: the outlet (and all around it) may be gone, so that nothing of it is touched any more. */
    bool (*bytes)(void *ud, struct al_str bytes);
    void *ud;
};
/* Takes *fd in any case. */
int al_outlet_open(struct al_outlet *o, struct al_loop *loop, int *fd,
                   bool (*bytes)(void *ud, struct al_str bytes), void *ud, struct al_err *err) AL_MUST_CHECK;
int al_outlet_pause(struct al_outlet *o, bool pause, struct al_err *err) AL_MUST_CHECK;
/* Reads what still lies in the pipe, and closes it. A writer outside of the tree is not waited for. */
bool al_outlet_drain(struct al_outlet *o);
void al_outlet_close(struct al_outlet *o);

#endif
