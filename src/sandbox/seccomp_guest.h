/* The guests' table, for seccomp.c alone. */
#ifndef AL_SANDBOX_SECCOMP_GUEST_H
#define AL_SANDBOX_SECCOMP_GUEST_H

#include "sandbox/seccomp.h"

/* Of one of the three AL_SEAL_GUEST…; NULL when it came out too big. */
struct sock_fprog *al_seal_build_guest(enum al_seal kind);

#endif
