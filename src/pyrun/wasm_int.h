/* Shared by the files of the WebAssembly back end only. */
#ifndef AL_PYRUN_WASM_INT_H
#define AL_PYRUN_WASM_INT_H

#include "pyrun/backend.h"
#include "pyrun/wasm.h"

/* What is around Node.js; al_pyrun.wasm_wall. */
enum al_wasm_wall {
    AL_WASM_WALL_UNKNOWN,
    AL_WASM_WALL_BWRAP,
    AL_WASM_WALL_LANDLOCK,
    AL_WASM_WALL_NONE
};

/* Files of the distribution that a script needs, and their hashes. */
struct al_wasm_file {
    const char *name, *sha256;
    uint64_t bytes;
};
extern const struct al_wasm_file al_wasm_files[];
extern const size_t al_wasm_n_files;

/* <state>/runtimes/pyodide/<version>; malloc'ed. */
char *al_wasm_folder(struct al_pyrun *p);
/* Compares one file beneath dir_fd with its hash, and appends its bytes to out (NULL: not wanted). 0, 1: it
 * is not there, 2: it is another. */
int al_wasm_check_file(int dir_fd, const struct al_wasm_file *file, struct al_buf *out);
/* Hashes every file, unless all of them are what they were when this process last did. */
int al_wasm_check_folder(const char *folder, struct al_err *err) AL_MUST_CHECK;

/* The Node.js to use: its real path, malloc'ed; with version (may be NULL) it is asked for it, and refused
 * when it is too old: then this blocks. */
char *al_wasm_node(struct al_pyrun *p, char version[32], struct al_err *err);
/* "v24.13.0": fine; NULL, or why not. */
const char *al_wasm_node_fault(struct al_str version);

/* Copies what is in the folder `from` into `to` beneath dir_fd, a new folder: files and folders, no links,
 * nothing special. INVALID_INPUT over 64 MB, 10,000 entries or 32 levels. */
int al_wasm_copy_scratch(const char *from, int dir_fd, const char *to, struct al_err *err) AL_MUST_CHECK;

/* The same, into scratch/ of the job, unless that is there: its path. NULL with err. */
const char *al_py_scratch_copy(const struct al_py_start *start, struct al_arena *a, struct al_err *err);

/* py/pyodide/runner.mjs, as the build put it into the binary. */
struct al_str al_wasm_runner(void);
/* What a probe runs in it: Python's own sockets and files are none, JavaScript's are. */
extern const char al_wasm_probe_script[];

#endif
