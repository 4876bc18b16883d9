/*
 * Which folders may hold a temporary file of this process: noted in a small file before one is made, so that the next
 * start finds what a killed process left, without searching the workspace.
 */
#ifndef AL_OS_TEMPS_H
#define AL_OS_TEMPS_H

/* Where this process notes; made at the first note, removed by al_temps_end. A process has one: a second begin changes
 * nothing, and neither does the end of what did not begin. Called while no other thread writes files. */
void al_temps_begin(const char *file);
void al_temps_end(const char *file);

/* Around the life of a temporary file in dir_fd, on any thread. 0, or -errno when it cannot be noted. */
int al_temps_enter(int dir_fd);
void al_temps_leave(void);

/* Sweeps each folder that the file of a dead process names (al_path_sweep_tmp), then removes the file. A missing file is
 * fine; at most 64 KiB of it are read. */
void al_temps_recover(const char *file);

#endif
