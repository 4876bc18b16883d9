/* Shared by scratch.c and scratch_sweep.c. */
#ifndef AL_CORE_SCRATCH_INT_H
#define AL_CORE_SCRATCH_INT_H

/* Opens a folder that is ours alone; no link is followed. fd, -EPERM when it is not private, or -errno. */
int al_scratch_open_private(int dir_fd, const char *name);
/* Everything in the folder, links as links. 0 or -errno. */
int al_scratch_remove_children(int fd);
/* Removes sessions' folders without activity for days, but `keep`; once a day. How many. */
int al_scratch_sweep_root(const char *root, const char *keep, unsigned days);

#endif
