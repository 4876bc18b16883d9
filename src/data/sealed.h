/* What the sealed processes share: their first steps, their limits, what they send. (Not for the host.) */
#ifndef AL_DATA_SEALED_H
#define AL_DATA_SEALED_H

#include "data/proto.h"

#include <sys/types.h>

/*
 * At the start of a process that was exec'ed for this: checks that its parent is the host whose id argv[2] is
 * (false: it is not), and does ahead what libc would do by system calls that the seal refuses. argv[3], if
 * any, is the time zone.
 */
bool al_sealed_begin(int argc, char **argv, pid_t *ret_host);
/* Limits of a worker: bytes of private memory (RLIMIT_DATA), of a file; descriptors. */
void al_sealed_limit(uint64_t data_bytes, uint64_t file_bytes, unsigned n_fds);
/* Address space: what was mapped, and what may come. */
void al_sealed_limit_space(uint64_t mapped_bytes, uint64_t more_bytes);
/* Leaves the process when the host has gone. */
void al_sealed_send(uint8_t type, struct al_str payload);
/* Goes out with what is sent next: the host wakes once. */
void al_sealed_hold(uint8_t type, struct al_str payload);
_Noreturn void al_sealed_end(const struct al_err *err, uint64_t rows, uint64_t bytes, const char *sha256);
/* A system call that every filter here refuses; for the self-test. */
void al_sealed_probe(void);

#endif
