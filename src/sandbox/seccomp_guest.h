/* The guests' table, for seccomp.c and seccomp_profile.c alone. */
#ifndef AL_SANDBOX_SECCOMP_GUEST_H
#define AL_SANDBOX_SECCOMP_GUEST_H

#include "sandbox/seccomp.h"

/* Of one of the three AL_SEAL_GUEST…; NULL when it came out too big. */
struct sock_fprog *al_seal_build_guest(enum al_seal kind);
/* The rules of AL_SEAL_GUEST, for seccomp_profile.c; their number. */
struct al_filter_rule;
size_t al_seal_guest_rules(const struct al_filter_rule **ret);

#endif
