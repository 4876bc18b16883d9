/* Shared by the files of a run only. */
#ifndef AL_PYRUN_RUN_INT_H
#define AL_PYRUN_RUN_INT_H

#include "loop/service.h"
#include "pyrun/backend.h"

#include <stdatomic.h>

/* --- capture.c: one output of a script --- */
struct al_py_capture {
    struct al_buf head;
    char *tail; /* a ring of tail_max bytes, of what came after the head; made when it is needed */
    size_t tail_max, tail_at;
    uint64_t bytes, logged, max_log;
    int log_fd; /* owned; -1: nothing is logged any more */
    const char *log_name;
};
void al_py_capture_init(struct al_py_capture *c, size_t max_head, size_t max_tail, uint64_t max_log,
                        int log_fd, const char *log_name);
void al_py_capture_fini(struct al_py_capture *c);
void al_py_capture_add(struct al_py_capture *c, struct al_str bytes);
/* Head, mark, tail: valid UTF-8 without NUL, whatever came. At most three times as long as both, and the
 * mark. */
void al_py_capture_text(const struct al_py_capture *c, struct al_buf *out);

/* --- sample.c: what a run uses, looked at from outside. On any thread --- */
struct al_py_use {
    uint64_t memory;      /* bytes of the tree, and of its swap */
    uint64_t disk, files; /* bytes on the disk, and names in the folders */
    bool deep;            /* folders are nested deeper than AL_PY_MAX_DEPTH */
};
#define AL_PY_MAX_DEPTH 256
/* Memory of all that descends from pid, itself included. Each page counts once where it seems to be more than
 * limit. */
uint64_t al_py_tree_memory(pid_t pid, uint64_t limit, const atomic_bool *stop);
/* Adds what lies in the folder to *use. Ends soon when a limit is passed, or *stop is true. Links are not
 * followed. */
void al_py_folder_use(int dir_fd, uint64_t max_bytes, uint64_t max_files, const atomic_bool *stop,
                      struct al_py_use *use);

/* --- progress.c --- */
#define AL_PY_PROGRESS_FILE ".alisio-progress.json"
/* What the script says of its progress now, checked and written anew: {"completed"?,"total"?,"note"?}. False:
 * nothing, or nothing that counts. */
bool al_py_progress_read(int work_fd, struct al_buf *out);

#endif
