/*
 * The supervisor: a small process between us and each external program. It is the subreaper of all that the
 * program starts, and takes the whole tree down when told to, when the program ends, or when we die by any signal.
 */
#ifndef AL_SANDBOX_SUPERVISE_H
#define AL_SANDBOX_SUPERVISE_H

/* argv[1] of our own binary that enters it; see al_supervise_main. */
#define AL_SUPERVISE_VERB "__supervise"

/*
 * argv: alisio __supervise [--seal-git | --seal-search | --seal-input] [--max-data=BYTES] -- PROGRAM ARGV0 ARGV1 …   descriptor 3: status pipe
 * --seal-git and --seal-search are sandbox/landlock.h's, the latter for the current folder; --seal-input is a search of
 * standard input alone, so of no folder. --max-data bounds the memory that PROGRAM can write to (RLIMIT_DATA).
 * Runs PROGRAM with the supervisor's own 0, 1, 2, cwd and environment. Writes one struct al_supervise_status to
 * descriptor 3 when the program has ended or could not be started. On SIGTERM: SIGTERM to the tree at once,
 * SIGKILL to what is left after 300 ms, or at a second SIGTERM; exits when nothing is left. PDEATHSIG of the host is
 * SIGTERM. Does not return. A program that kills its own supervisor is killed with it, but what it had detached before
 * survives: against that only a namespace or a control group helps.
 */
int al_supervise_main(int argc, char **argv);

struct al_supervise_status {
    int exec_errno;  /* > 0: the program did not start; ENOSYS: it was to be sealed and Landlock is missing */
    int exit_status; /* -1 when killed */
    int signal;      /* 0 when it exited */
};

#endif
