/* What the files of the guest share: the parts of its way to the program. All of them run in a process of one
 * thread. */
#ifndef AL_SANDBOX_GUEST_INT_H
#define AL_SANDBOX_GUEST_INT_H

#include "sandbox/guest.h"

/* --- guest_ns.c --- */
/*
 * Goes on in a process id namespace of its own, as the child of its first process: returns 1 there. 0: there
 * is none (only with TRY), and nothing has changed. -errno likewise, with MUST. This process and the first of
 * the namespace stay behind, wait, and do not return; they keep no descriptor.
 */
int al_guest_enter_pid_ns(const struct al_guest *g);

/* --- guest_self.c --- */
/* 0 or -errno, all of them. */
int al_guest_limits(const struct al_guest *g);
int al_guest_user(const struct al_guest *g); /* groups, then who we are */
int al_guest_drop_bounding(void);            /* before al_guest_user: needs a capability */
int al_guest_drop_caps(void);                /* what is left of them, after it */

#endif
