/* An external program that stays: started under the supervisor, spoken to over its standard input and output until one
 * of us ends it. Its whole tree goes with it, and with us. */
#ifndef AL_LOOP_SERVICE_H
#define AL_LOOP_SERVICE_H

#include "loop/loop.h"

#include <sys/types.h>

struct al_service_end {
    int exec_errno;  /* > 0: it did not start */
    int exit_status; /* -1 when killed */
    int signal;      /* 0 when it exited */
    bool stopped;    /* by al_service_stop */
    uint64_t cpu_ms; /* of all that was reaped */
};

struct al_service_ops {
    /* Standard output; a view for the call. Empty, once: the program has closed it. */
    void (*output)(void *ud, struct al_str bytes);
    void (*errors)(void *ud, struct al_str bytes); /* standard error */
    void (*drained)(void *ud);                     /* what was written is with the program; may be NULL */
    /* Exactly once and last, when the whole tree has been reaped and both outputs were read to their ends. */
    void (*ended)(void *ud, const struct al_service_end *end);
};

#define AL_SERVICE_PASS_FDS 6

struct al_service_spec {
    const char *program; /* absolute path */
    char *const *argv;   /* NULL-terminated, argv[0] included */
    char *const *envp;   /* NULL-terminated */
    int cwd_fd;          /* borrowed; -1: inherit */
    bool no_input;       /* its standard input is /dev/null, and al_service_write fails */
    size_t pipe_bytes;   /* that each of its outputs may be ahead of us; 0: as the system has it. Up to 1 MiB */
    size_t max_queue;    /* bytes that may wait to be read by the program */
    const int *pass_fds; /* borrowed: the program gets them as 4, 5, … (3 is the supervisor's own) */
    size_t n_pass_fds;   /* up to AL_SERVICE_PASS_FDS */
    uint64_t grace_ms;   /* between SIGTERM and SIGKILL; 0: 300, up to 5,000 */
};

struct al_service;
struct al_service *al_service_start(struct al_loop *loop, const struct al_service_spec *spec,
                                    const struct al_service_ops *ops, void *ud, struct al_err *err);
/* -1 when max_queue would be passed (nothing is queued), or the program reads no more. */
int al_service_write(struct al_service *s, struct al_str bytes) AL_MUST_CHECK;
/* Of its standard output. At its end, what is left in the pipe (at most 2 MiB) comes all the same. */
size_t al_service_queued(const struct al_service *s); /* bytes that it has not read yet */
pid_t al_service_pid(const struct al_service *s);     /* of the supervisor, from which the whole tree descends */
void al_service_pause(struct al_service *s, bool pause);
/* Closes its input when what was written is read (the polite end of a stdio server); SIGTERM after grace_ms, SIGKILL
 * 300 ms later. ended() follows. A second call sets the time anew. */
void al_service_stop(struct al_service *s, uint64_t grace_ms);
/* Kills and reaps now, without callbacks; waits at most the supervisor's 300 ms. After ended() it is gone already. NULL
 * is fine. */
void al_service_free(struct al_service *s);

#endif
