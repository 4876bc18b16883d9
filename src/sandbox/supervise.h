/*
 * The supervisor: two small processes between us and each external program. Each is a subreaper of all that the
 * program starts, and takes the whole tree down when told to, when the program ends, or when the other one dies: the
 * outer one is our child, and its child, the inner one, is the program's parent.
 */
#ifndef AL_SANDBOX_SUPERVISE_H
#define AL_SANDBOX_SUPERVISE_H

/* argv[1] of our own binary that enters it; see al_supervise_main. */
#define AL_SUPERVISE_VERB "__supervise"

/*
 * argv: alisio __supervise [--seal-git [--read=FD …] | --seal-search | --seal-input] [--max-data=BYTES]
 *       [--pass=FD …] [--grace=MS] -- PROGRAM ARGV0 ARGV1 …
 * Descriptor 3: status pipe. --seal-git and --seal-search are sandbox/landlock.h's, for the current folder;
 * --read is one more folder for git, a descriptor that the program does not get. --seal-input is a search of standard
 * input alone, so of no folder. --max-data bounds the memory that PROGRAM can write to (RLIMIT_DATA).
 * --pass, up to 8 times: a descriptor of ours that PROGRAM gets, as 4, 5, … in their order. --grace: instead of the 300 ms
 * below, up to 5,000. PROGRAM may be our own binary by such a descriptor (/proc/self/fd/4 …), as "__guest": it is then
 * entered without an exec.
 * Runs PROGRAM with the supervisor's own 0, 1, 2, cwd and environment. Writes one struct al_supervise_status to
 * descriptor 3 when the program has ended or could not be started. On SIGTERM: SIGTERM to the tree at once,
 * SIGKILL to what is left after 300 ms, or at a second SIGTERM; exits when nothing is left. PDEATHSIG of the host is
 * SIGTERM. Does not return. A program that kills its parent has its tree killed by the other one. Against a program
 * that finds and kills both, only a namespace or a control group would help: what it had detached before survives.
 */
int al_supervise_main(int argc, char **argv);

struct al_supervise_status {
    int exec_errno;  /* > 0: the program did not start; ENOSYS: it was to be sealed and Landlock is missing */
    int exit_status; /* -1 when killed */
    int signal;      /* 0 when it exited */
};

#endif
