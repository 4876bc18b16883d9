/* System call filters for zygotes and sealed workers, compiled once with libseccomp, loaded by seccomp(2). */
#ifndef AL_SANDBOX_SECCOMP_H
#define AL_SANDBOX_SECCOMP_H

#include "base/buf.h"
#include "base/err.h"

struct sock_fprog;

enum al_seal {
    AL_SEAL_ZYGOTE, /* may clone runs and talk to the host; nothing else */
    AL_SEAL_RUN,    /* read, write, memory without PROT_EXEC, clock, exit; default KILL_PROCESS */
    /* The data engine. Descriptors are those that the process was given; nothing opens, clones, sends or
     * connects. */
    AL_SEAL_QUERY_ZYGOTE, /* as AL_SEAL_ZYGOTE, and what AL_SEAL_QUERY allows, which is loaded on top of it */
    AL_SEAL_QUERY,        /* reads, writes, anonymous memory without PROT_EXEC, clock; default KILL_PROCESS */
    AL_SEAL_INGEST,       /* likewise, for a process of two threads that are there already */
    AL_SEAL_GIT,          /* all but sockets, tracing, namespaces and execve: EACCES (execveat stays) */
    /* Foreign programs: what a container engine would allow, less what reaches other processes or memory that no limit
     * counts. Refused calls fail; foreign architectures kill. */
    AL_SEAL_GUEST,
    AL_SEAL_GUEST_NO_SOCKETS, /* and no sockets; changes of modes, owners, times and attributes answer 0 and do nothing */
    AL_SEAL_GUEST_NO_CUTTING, /* and: no truncation but through a descriptor for writing (Landlock before ABI 3) */
};

/* Builds the program; free with al_seal_free. */
int al_seal_build(enum al_seal kind, struct sock_fprog **ret, struct al_err *err) AL_MUST_CHECK;
void al_seal_free(struct sock_fprog *prog);
int al_seal_load(const struct sock_fprog *prog); /* sets no_new_privs; 0 or -errno; async-signal-safe */
int al_seal_load_threads(const struct sock_fprog *prog); /* of all threads of the process */

/* AL_SEAL_GUEST as the JSON that container engines take (--security-opt seccomp=FILE), some 8 KiB; what it
 * refuses by looking at arguments is ENOSYS there. -1: out is full. */
int al_seal_guest_profile(struct al_buf *out) AL_MUST_CHECK;

#endif
