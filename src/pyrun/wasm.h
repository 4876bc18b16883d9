/*
 * Python in WebAssembly, as the rest of the program sees it: Pyodide of one pinned version, put into the
 * state folder by a person, and run by Node.js. See wasm.c for what holds it.
 */
#ifndef AL_PYRUN_WASM_H
#define AL_PYRUN_WASM_H

#include "pyrun/pyrun.h"

#define AL_WASM_VERSION "314.0.7"     /* of Pyodide */
#define AL_WASM_PYTHON "3.14"         /* in it */
#define AL_WASM_NPM "pyodide@314.0.7" /* the package that holds it */

struct al_wasm_runtime {
    char *path;     /* of the folder, malloc'ed */
    uint64_t bytes; /* of its files together */
    bool was_there; /* nothing had to be done */
};
/*
 * Puts the distribution into <state>/runtimes/pyodide/<version>/: from the folder `from` (as the npm package
 * has it: the folder itself, or one with package/ or node_modules/pyodide/ in it), else fetched by `npm` in
 * at most timeout_ms, whose registry and proxy are the user's. Every file is compared with the hash that this
 * program was built with, and the folder appears at once, or not at all. note may be NULL. Blocks: for the
 * pool. NOT_FOUND: no such files in `from`. RUNTIME_UNAVAILABLE: no npm, or it failed; a file with another
 * hash.
 */
int al_wasm_setup(struct al_pyrun *p, const char *from, uint64_t timeout_ms,
                  void (*note)(void *ud, struct al_str line), void *ud, struct al_wasm_runtime *ret,
                  struct al_err *err) AL_MUST_CHECK;
/* Whether it is there and unharmed. RUNTIME_UNAVAILABLE with the command that puts it there. Blocks: for the
 * pool. */
int al_wasm_verify(struct al_pyrun *p, struct al_err *err) AL_MUST_CHECK;

#endif
