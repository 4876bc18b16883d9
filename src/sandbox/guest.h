/*
 * The last steps before foreign code runs: what a process of ours puts on itself, and then becomes the
 * program. It is a link of a chain, supervisor -> [guest ->] [bwrap ->] guest -> program, and stands inside
 * of whatever came before it.
 */
#ifndef AL_SANDBOX_GUEST_H
#define AL_SANDBOX_GUEST_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define AL_GUEST_VERB "__guest"

/* The reasons of a failure to start, as the report names them. */
enum al_guest_layer {
    AL_GUEST_STARTED, /* all is on; the program was about to be executed */
    AL_GUEST_CGROUP,
    AL_GUEST_PIDNS, /* only with pid_ns AL_GUEST_MUST */
    AL_GUEST_USER,  /* user, groups, capabilities */
    AL_GUEST_RLIMIT,
    AL_GUEST_LANDLOCK,
    AL_GUEST_SECCOMP,
    AL_GUEST_EXEC,
};

/*
 * What stays open with landlock, filter and no_sockets, but without namespaces (tests/sandbox/guest_walls.c
 * holds us to it):
 * - of all files: that they are there, stat, access, extended attributes and link targets are read; locks on
 * those that may be read;
 * - of other processes, without a pid namespace: their numbers, sessions, priorities, and whatever of /proc
 * the paths let in (never environ, mem, fd: Landlock refuses these); signals where al_landlock_gaps() says
 * so;
 * - the name of this machine, its load, its clock.
 * And what does not work there: sockets of every kind but connected pairs (so no multiprocessing.Manager and
 * no forkserver), inotify, and any change of modes, owners, times and attributes, also of the guest's own
 * files (a new file has the mode that it was made with). NPROC counts all processes of the user, and none of
 * root's.
 */

enum al_guest_want {
    AL_GUEST_NO,
    AL_GUEST_TRY,
    AL_GUEST_MUST
};

struct al_guest_path {
    const char *path; /* absolute, as the guest sees it; one that is not there is passed over when optional */
    bool write,
        optional; /* write: everything beneath, and making files, but no devices; else read and execute */
};

struct al_guest {
    const char *const
        *cgroup_procs; /* NULL-terminated paths of cgroup.procs files to write 0 into; NULL: none */
    /* A process id namespace of its own, in which the program is not the first process: when the program has
     * ended, or this process dies, all of it dies. TRY: without, where the kernel refuses. */
    enum al_guest_want pid_ns;
    uid_t uid; /* 0: stay who we are; else become it and gid (not 0), and drop every other group */
    gid_t gid;
    bool no_caps;                        /* every capability set and the bounding set become empty */
    uint64_t nproc, data, fsize, nofile; /* RLIMIT_…, 0: as it is; CORE is 0 in any case */
    bool landlock;
    const struct al_guest_path *paths; /* of landlock */
    size_t n_paths;
    bool filter;     /* the guest's table of system calls, AL_SEAL_GUEST */
    bool no_sockets; /* and: socket() is refused for every family, chmod, chown, utime, setxattr answer 0 and
                        do nothing (for the back end without namespaces) */
    int report_fd; /* where the report goes, ≥ 3 in the process that starts this; -1: nowhere. Closed before
                      exec */
    /* The program gets every descriptor: another __guest stands further inside of the chain (this one joins a
     * control group, then there is bwrap), and a report is written here only of a failure. Else 0, 1, 2
     * alone. */
    bool keep_fds;
};

/* One write each. The last one counts: STARTED comes right before execve, and AL_GUEST_EXEC after it when
 * that fails. */
struct al_guest_report {
    int32_t layer;    /* AL_GUEST_STARTED, or where it failed */
    int32_t error;    /* errno */
    int32_t pid_ns;   /* 1: it has one */
    char detail[116]; /* for people of this machine: a path; zero-terminated by who wrote it, to be checked by
                         who reads */
};

/* Appends "__guest", the options and "--" to the NULL-terminated arrays that al_arena holds. argv of the
 * program follows, its first word being the path to execute and argv[0] in one. Returns a new NULL-terminated
 * array of head + these + tail. */
char **al_guest_argv(struct al_arena *a, const char *const *head, const struct al_guest *g,
                     const char *const *tail);

/*
 * Does not return. Exit status 125 when something was refused; the report says what (with no report_fd:
 * standard error). With a pid namespace this process stays and waits; it then ends as the program did, by the
 * same signal when it was one. The program gets descriptors 0, 1 and 2 and no other, default signals, and
 * no_new_privs when anything of user, capabilities, Landlock or filter was asked for. To be called before
 * this process has threads.
 */
int al_guest_main(int argc, char **argv);

/* What to say to a person of a report that is not AL_GUEST_STARTED: RUNTIME_UNAVAILABLE, the layer, and the
 * cure. */
int al_guest_explain(const struct al_guest_report *r, struct al_err *err);

#endif
