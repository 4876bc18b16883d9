/* The two walls that a program of this computer can stand behind: namespaces (bwrap.c), or Landlock and the filter alone
 * (landlock_backend.c). For the user's Python, and for what runs a WebAssembly Python. */
#ifndef AL_PYRUN_WALLS_H
#define AL_PYRUN_WALLS_H

#include "pyrun/backend.h"

struct al_py_inside {
    const char *const *argv;  /* the program, by its absolute path, with its arguments */
    char **envp;
    const char *const *roots; /* NULL-terminated: further real folders that it may read; NULL: none */
    uint64_t data;            /* RLIMIT_DATA of each process; 0: analysis.limits.memoryMb */
};

/* Fill *ret for struct al_py_backend_ops.command. Refused: a root that is the home folder, or holds it or our state. */
int al_py_bwrap_wrap(const struct al_py_start *start, const struct al_py_inside *in, struct al_arena *a,
                     struct al_py_command *ret, struct al_err *err) AL_MUST_CHECK;
int al_py_landlock_wrap(const struct al_py_start *start, const struct al_py_inside *in, struct al_arena *a,
                        struct al_py_command *ret, struct al_err *err) AL_MUST_CHECK;

/* mounts.c: RUNTIME_UNAVAILABLE when the folder may not be shown to a script. */
int al_py_root_allowed(struct al_pyrun *p, const char *root, struct al_err *err) AL_MUST_CHECK;
/* What of /etc a script may read. NULL-terminated. */
extern const char *const al_py_etc[];
/* /lib, /lib64, /bin, …: where the loader and the programs are looked for. NULL-terminated. */
extern const char *const al_py_lib_links[];
/* Limits of a process, set inside of the wall: files, bytes of a file, and those that analysis.limits gives. */
void al_py_guest_limits(const struct al_py_start *start, const struct al_py_inside *in, struct al_guest *g);

/* Whether /tmp and /dev/shm of bwrap are memory; else they are these folders of work/, which have to be there. */
bool al_py_tmp_in_memory(const struct al_py_start *start);
#define AL_PY_TMP_FOLDER ".tmp"
#define AL_PY_SHM_FOLDER ".shm"

/* What bwrap is told, but the program: options in the order in which it acts on them, each ended by a NUL, for --args. */
struct al_py_bwrap_fds {
    int passwd, group; /* the numbers that they have in it */
};
int al_py_bwrap_options(const struct al_py_start *start, const struct al_py_inside *in, const struct al_py_bwrap_fds *fds,
                        struct al_buf *out, struct al_err *err) AL_MUST_CHECK;

/* For tests: as if bubblewrap were 0.MINOR. */
void al_pyrun_pretend_bwrap(struct al_pyrun *p, unsigned minor);

/* What failed, by what bwrap said and the settings of this kernel; pure. sysctl's texts may be empty. */
struct al_py_kernel {
    struct al_str apparmor_userns, userns_clone, max_userns;
    bool root, container;
};
void al_py_bwrap_explain(struct al_str said, const struct al_py_kernel *k, int exit_code, struct al_err *err);

#endif
