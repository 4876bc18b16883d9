/* The one place that makes processes. A failed exec comes back as an error, never as exit status 127. */
#ifndef AL_OS_SPAWN_H
#define AL_OS_SPAWN_H

#include "base/err.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct al_fd_map {
    int from; /* ours */
    int to;   /* the child's number */
};

struct al_spawn {
    const char *path;  /* absolute; or NULL with exec_fd */
    int exec_fd;       /* execveat(AT_EMPTY_PATH) when path is NULL; else -1 */
    char *const *argv; /* NULL-terminated */
    char *const *envp; /* NULL-terminated; never NULL: nothing is inherited by accident */
    int cwd_fd;        /* fchdir there, or -1 */
    const struct al_fd_map
        *fds; /* every other descriptor is closed in the child; 0, 1, 2 not named are /dev/null */
    size_t n_fds;
    int death_signal;   /* PR_SET_PDEATHSIG with a parent check, or 0 */
    bool new_session;   /* setsid */
    size_t stack_bytes; /* RLIMIT_STACK when > 0 */
};

/* clone(CLONE_VM | CLONE_VFORK | CLONE_PIDFD) and exec. The caller owns *ret_pidfd and reaps by al_reap.
 * Signals are reset to default and unblocked in the child; RLIMIT_CORE is 0. */
int al_spawn(const struct al_spawn *how, pid_t *ret_pid, int *ret_pidfd, struct al_err *err) AL_MUST_CHECK;

/* A copy of this process, which has one thread; with a death signal as above. 0 in the copy, its pid here, or
 * -errno. */
pid_t al_fork(int death_signal) AL_MUST_CHECK;

/* A copy without any of libc's handlers, for zygotes: its id or -errno, and 0 in the copy. flags of clone(2),
 * without a signal. The kernel writes the id to told (may be NULL) before the copy runs and before this
 * process can be killed. */
long al_clone(uint64_t flags, int32_t *told) AL_MUST_CHECK;

/* What the kernel counts of this process under that name of /proc/self/status ("VmData:", as RLIMIT_DATA
 * compares it; "VmSize:"). */
uint64_t al_own_bytes(const char *name, uint64_t when_unknown);

/* This process becomes the program. Returns only when that fails: -errno. */
int al_become(const char *path, char *const *argv, char *const *envp);

struct al_exit {
    bool exited; /* else killed by `signal` */
    int status;  /* exit status when exited */
    int signal;
    unsigned long cpu_ms; /* user + system of the child and what it reaped */
};
/* waitid(P_PIDFD, WEXITED | __WALL). With block false: 0 when still running, 1 when reaped; -errno. */
int al_reap(int pidfd, bool block, struct al_exit *ret);
int al_pidfd_kill(int pidfd, int signum); /* 0 or -errno */
int al_pidfd_open(pid_t pid);             /* fd or -errno */
bool al_pid_is_child(pid_t pid);          /* of ours, and not reaped */

/* A descriptor of our own running binary, opened once at start, so that an upgrade never mixes versions. */
int al_self_open(void);
int al_self_fd(void);

/* The environment of tool children: PATH (its absolute entries) HOME USER LANG LC_* TERM TMPDIR XDG_* and
 * proxy and CA variables of ours, nothing else. NULL-terminated, malloc'ed with its strings; free with
 * al_env_free. */
char **al_env_child(void);
/* Takes what is inside one of `avoid` (NULL-terminated real paths, may be NULL) out of the PATH in it, and
 * what is relative or empty: a program of a repository must not stand in for one of the computer.
 * (al_env_child has done the latter.) */
void al_env_clean_path(char **env, const char *const *avoid);
void al_env_free(char **env);

#endif
