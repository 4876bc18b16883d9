/* Places where a test lets the process die as a machine does. Nothing without ALISIO_FAILPOINT in the environment. */
#ifndef AL_BASE_FAILPOINT_H
#define AL_BASE_FAILPOINT_H

/* ALISIO_FAILPOINT=name or name:N: the process kills itself (SIGKILL) when it comes to that place for the N-th time. */
void al_failpoint(const char *name);

#endif
