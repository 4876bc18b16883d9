/* A control group for one job, where the system lets us make one: version 2, or version 1 for each
 * controller. */
#ifndef AL_SANDBOX_CGROUP_H
#define AL_SANDBOX_CGROUP_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct al_cgroup_limits {
    uint64_t memory_bytes; /* 0: none; swap counts where the kernel counts it */
    uint64_t pids;
    unsigned cpu_percent; /* 100 is one processor; 0: none */
};
struct al_cgroup;
/* 0 with *ret; 1 when there is no delegated controller for memory and pids here (*ret is NULL, and err says
 * why); -1: a name with anything but letters, digits, - and _, or over 80 bytes. Named "alisio-<name>",
 * beneath our own group (version 2: beneath the nearest one above that hands memory and pids down and is
 * ours). */
int al_cgroup_new(const char *name, const struct al_cgroup_limits *limits, struct al_cgroup **ret,
                  struct al_err *err) AL_MUST_CHECK;
/* NULL-terminated paths of its cgroup.procs files, for al_guest.cgroup_procs; borrowed. */
const char *const *al_cgroup_procs(const struct al_cgroup *g);
bool al_cgroup_limits_memory(const struct al_cgroup *g);
/* Whether the kernel has killed for memory there; and bytes now, 0 when unknown. To be asked before it is
 * freed. */
bool al_cgroup_was_oom(const struct al_cgroup *g);
uint64_t al_cgroup_memory(const struct al_cgroup *g);
/* Kills what is in it (cgroup.kill, else signals), and removes it; waits up to 1 s for it to be empty, not at
 * all when it is. NULL is fine. */
void al_cgroup_free(struct al_cgroup *g);
/* Removes groups of that name that dead hosts left, when nothing is in them. */
void al_cgroup_sweep(void);

#endif
