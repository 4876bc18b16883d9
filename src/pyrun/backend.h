/* What a back end is to the rest of this folder: how to start the interpreter so that its walls stand. */
#ifndef AL_PYRUN_BACKEND_H
#define AL_PYRUN_BACKEND_H

#include "pyrun/pyrun.h"
#include "sandbox/cgroup.h"
#include "sandbox/guest.h"

/* Where the parts of a job are for the script; absolute. */
struct al_py_places {
    const char *script, *input, *work, *output, *scratch; /* scratch NULL: none */
};

/* Descriptors of the first process: 0, 1, 2; 3 is the supervisor's; the writing end of the report; then those of the
 * command, without gaps: fds[0] is AL_PY_FIRST_FD. */
#define AL_PY_REPORT_FD 4
#define AL_PY_FIRST_FD 5

/* Where the parts of a job are in a back end with a file system of its own. */
#define AL_PY_PLACES_JOB {"/job/script", "/job/input", "/job/work", "/job/out", "/job/scratch"}

/* What is asked of a back end. */
struct al_py_start {
    struct al_pyrun *pyrun;
    const struct al_py_run_spec *spec;
    const struct al_py_interpreter *python; /* NULL for oci and wasm */
    struct al_cgroup *cgroup;               /* NULL: none */
    int report_fd;                          /* AL_PY_REPORT_FD, or -1: none is read */
    uid_t uid; /* whom the script is to be when we are root and the back end drops (al_py_job_owner); else 0 */
    gid_t gid;
};

/* What it answers; all in the arena. */
struct al_py_command {
    const char *program;   /* absolute, or NULL: our own binary (argv[0] is then its verb's argv[1]) */
    char **argv;           /* with argv[0]; for our own binary: "alisio", "__guest", … */
    char **envp;
    int cwd_fd;            /* owned as fds are; -1: none needed */
    int fds[4];            /* descriptors that the first process gets as AL_PY_FIRST_FD, …; owned, closed by the caller
                              (also after a failure); -1: no more */
    /* Run before the tree is killed, at a stop or a timeout (an engine's client is not its container). NULL: none. */
    const char *stop_program;
    char **stop_argv;
};

struct al_py_backend_ops {
    enum al_py_backend id;
    bool needs_python, drops_root; /* as root, work/ and staging/ are given to another user */
    bool sampled;                  /* memory and disk are watched by us where no control group does */
    enum al_py_isolation (*isolation)(struct al_pyrun *p);
    /* Cheap checks before anything is started: programs, versions, settings. 0, or -1 with RUNTIME_UNAVAILABLE. Also
     * fills probe->version. Called off the loop's thread. */
    int (*check)(struct al_pyrun *p, struct al_py_probe *probe, struct al_err *err);
    int (*command)(const struct al_py_start *start, struct al_arena *a, struct al_py_command *ret, struct al_err *err);
    /* The program ended: what failed, from the report (layer -1: none came), the exit status and what was said on standard
     * error. Returns true when err says that the script never started. */
    bool (*explain)(const struct al_guest_report *report, int exit_code, struct al_str errors, struct al_err *err);
    int memory_exit;        /* exit status of a program that was killed for its memory by others than us; 0: none */
    /* Another script for the probe than probe_script.c's; NULL: that one. input/probe.json tells it what to try:
     *   {"tcp": port, "udp": port, "abstract": name of a unix socket, "canary": path, "secret": what is in it,
     *    "write": path of a file to make, "pid": of the host, "pidNamespace": inode of its /proc/self/ns/pid,
     *    "startTime": of the host, the 22nd field of its /proc/PID/stat, as text}
     * It prints what it reached, each as a word: {"python": "3.14.0", "network": [], "files": [], "processes": []}. */
    const char *probe_code;
};
extern const struct al_py_backend_ops al_py_bwrap, al_py_landlock, al_py_oci, al_py_wasm, al_py_managed;
const struct al_py_backend_ops *al_py_backend_ops(enum al_py_backend b);

/* backends.c: the option by which the memory of a script is bounded there, in MiB: analysis.limits.memoryMb, or that of the
 * back end when it is less. */
enum al_opt al_py_memory_option(const struct al_config *c, enum al_py_backend b);
/* backends.c: the places on this computer, for what has no file system of its own. NULL: no memory left in the arena. */
struct al_py_places *al_py_host_places(const struct al_py_start *start, struct al_arena *a);
/* The executable of an interpreter: the venv's, when there is one. */
const char *al_py_executable(const struct al_py_start *start, struct al_arena *a);
/* explain() of what starts the script by __guest without anything between: the name is put before the words. */
bool al_py_explain_guest(const struct al_guest_report *report, int exit_code, struct al_str errors, const char *name,
                         struct al_err *err);

/* env.c: the environment of a script. NULL: no memory left in the arena, as everywhere here. */
char **al_py_env(const struct al_py_start *start, const struct al_py_places *places, struct al_arena *a);
/* The interpreter's own arguments: -E -s -B -u -X utf8 SCRIPT/main.py. NULL-terminated, after `head`. */
char **al_py_argv(const char *const *head, const char *main_py, struct al_arena *a);

/* What the files of this folder ask of the object. */
struct al_loop *al_pyrun_loop(const struct al_pyrun *p);
const struct al_config *al_pyrun_config(const struct al_pyrun *p);
const char *al_pyrun_state_dir(const struct al_pyrun *p);
const char *const *al_pyrun_avoid(const struct al_pyrun *p);
const char *al_pyrun_python(const struct al_pyrun *p); /* --python, or NULL */
/* A program of the computer, never one of `avoid`; once found it stays. NULL: not there. Any thread. */
const char *al_pyrun_program(struct al_pyrun *p, const char *name);

/* ask.c: runs a program to its end and waits: for the pool, never the loop. In "/", with the environment of tool
 * children but its PATH cleaned of `avoid`. What it prints is kept up to the maxima of out and errors (may be NULL), the
 * rest dropped. 0 with its exit status (-1: by a signal); -1 when it did not start or did not end in time, or the object is
 * being closed. */
int al_py_ask(struct al_pyrun *p, const char *const *argv, uint64_t timeout_ms, struct al_buf *out, struct al_buf *errors,
              int *ret_status, struct al_err *err) AL_MUST_CHECK;
/* The same with that environment (NULL-terminated, borrowed), in whatever process. */
int al_py_ask_in(const char *const *argv, char **env, uint64_t timeout_ms, struct al_buf *out, struct al_buf *errors,
                 int *ret_status, struct al_err *err) AL_MUST_CHECK;

/* probe_script.c: what a probe runs where the back end has no script of its own. */
extern const char al_py_probe_script[];

/* hints.c: what installs a Debian-named package ("python3", "bubblewrap") on the distribution of that os-release text:
 * "sudo apt install bubblewrap"; of this machine's. */
void al_py_install_for(struct al_str os_release, const char *package, struct al_buf *out);
void al_py_install(const char *package, struct al_buf *out);
/* A small file of /proc/sys or /etc, without white space at its ends; empty when it cannot be read. */
void al_py_small_file(const char *path, struct al_buf *out);

#endif
