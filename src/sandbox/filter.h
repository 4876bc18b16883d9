/* System call filters from a table, put together without a library: for processes that have no time to build
 * one. */
#ifndef AL_SANDBOX_FILTER_H
#define AL_SANDBOX_FILTER_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a call comes to: SECCOMP_RET_ALLOW, or AL_FILTER_ERROR(errno); of 0: it answers 0 and does nothing. */
#define AL_FILTER_ERROR(e) (SECCOMP_RET_ERRNO | (uint32_t)(e))

/* One look at an argument: its lower 32 bits, which are all that the kernel takes of an int, or its upper
 * ones. When (they & mask) == value, or with other they are anything else, the call comes to `then`. */
struct al_filter_test {
    uint8_t arg;
    bool upper, other;
    uint32_t mask, value, then;
};

/* A set of calls that all come to the same: the tests one after the other, then `otherwise`. */
struct al_filter_rule {
    const int *calls; /* numbers; negative ones are not of this architecture */
    size_t n_calls;
    const struct al_filter_test *tests;
    size_t n_tests;
    uint32_t otherwise;
};

#define AL_FILTER_CALLS 512 /* higher numbers come to ENOSYS, as all that no rule names */
#define AL_FILTER_RULES 64

struct sock_fprog;
/* Later rules win. Another architecture's calls kill the process. Free with free(3). NULL: the table is too
 * big. */
struct sock_fprog *al_filter_build(const struct al_filter_rule *rules, size_t n);

#endif
