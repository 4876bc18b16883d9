/* All that descends from this process, found through /proc. Inner header of the supervisor. */
#ifndef AL_SANDBOX_TREE_H
#define AL_SANDBOX_TREE_H

#include <stdbool.h>
#include <stddef.h>

struct al_tree_count {
    size_t alive;   /* processes found that are no zombies */
    size_t refused; /* of these: the kernel did not let us signal them */
    size_t moving;  /* of these: neither stopped nor refused before this call */
};

/* Signals every descendant once, parents before children; with SIGKILL and SIGSTOP their process groups too.
 * What is made while this looks is found by the next call. 0, or -errno when /proc cannot be read. */
int al_tree_signal(int signum, struct al_tree_count *ret);

/* When all that descends from this process hangs by one chain of only children at the first process of a pid
 * namespace, that one is killed, and the kernel ends the rest with it: true. Else false, and nothing is done.
 */
bool al_tree_kill_namespace(void);

#endif
