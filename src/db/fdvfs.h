/*
 * A VFS for sealed processes: SQLite works on descriptors that are open already and opens nothing by path.
 * Registered as "alfd". Database names are "fd:N" (N a decimal descriptor, borrowed); every temporary file
 * lives in one spill file.
 */
#ifndef AL_DB_FDVFS_H
#define AL_DB_FDVFS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Makes it the default VFS. spill_fd is an open, empty, unlinked regular file, or -1 (temporary files then
 * fail with SQLITE_CANTOPEN). Temporary files share it in chunks of 256 KiB that are handed back when they
 * are closed; beyond spill_max bytes writing fails with SQLITE_FULL. Single-threaded. Databases are opened
 * without locks (nobody else has them), journals of any kind are refused. No syscall but pread, pwrite,
 * ftruncate, fstat; time and randomness come from clock_gettime and from al_fdvfs_seed. May be called again,
 * with another spill file, while no temporary file is open. Open what is never written with
 * SQLITE_OPEN_READONLY: such a file counts as immutable, and a descriptor that can only read will do. Set
 * journal_mode OFF (or MEMORY) before writing, temp_store FILE where the spill file is to be used.
 */
int al_fdvfs_register(int spill_fd, uint64_t spill_max, struct al_err *err) AL_MUST_CHECK;
/* True when a write was refused because the spill file was full: what a failed query is then told. */
bool al_fdvfs_spill_was_full(void);
/* Where SQLite's random numbers begin; the time of registering, where it is not called. Before the first
 * connection. */
void al_fdvfs_seed(uint64_t seed);

#endif
