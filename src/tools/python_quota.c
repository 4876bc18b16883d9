/*
 * storage.maxBytes is over artifacts, datasets and jobs. The first two are sums in the store. Jobs are
 * folders, whose sizes only a walk tells: it is made at most every ten minutes, and its result kept beside
 * them for other hosts and for commands.
 */
#include "tools/python_int.h"

#include "base/text.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define JOBS "analysis/jobs"
#define USAGE "analysis/usage.json"
#define MAX_USAGE 4096u
#define FRESH_MS (10 * 60 * INT64_C(1000))

int python_stored(struct python_run *r, struct al_err *err)
{
    struct al_store *store = al_core_store(r->core);
    int64_t n, artifacts, datasets;
    if (al_store_artifact_usage(store, NULL, &n, &artifacts, err) < 0 ||
        al_store_dataset_usage(store, NULL, &n, &datasets, err) < 0)
        return -1;
    r->stored_bytes = (uint64_t)artifacts + (uint64_t)datasets;
    return 0;
}

/* -1: it is not known, or was found out too long ago (or in the future). */
static int64_t noted(int state_fd)
{
    autoarena struct al_arena a = AL_ARENA_INIT(64u << 10);
    autobuf struct al_buf text = AL_BUF_INIT(MAX_USAGE);
    const struct al_json *v;
    struct al_err ignored;
    int64_t at, bytes;
    autofd int fd = -1;
    if (al_path_open(state_fd, USAGE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0, USAGE, &fd,
                     &ignored) < 0 ||
        al_fd_read_all(fd, &text) < 0 || al_json_parse(&a, al_buf_str(&text), &v, &ignored) < 0 ||
        !al_json_int(al_json_get(v, "atMs"), 0, INT64_MAX, &at) ||
        !al_json_int(al_json_get(v, "jobBytes"), 0, INT64_MAX / 4, &bytes))
        return -1;
    int64_t age = al_wall_ms() - at;
    return age >= 0 && age < FRESH_MS ? bytes : -1;
}

static void note(int state_fd, int64_t bytes)
{
    autobuf struct al_buf text = AL_BUF_INIT(MAX_USAGE);
    struct al_err ignored;
    struct al_jw w;
    autofd int dir = -1;
    const char *name;
    al_jw_init(&w, &text);
    al_jw_obj(&w);
    al_jw_kint(&w, "atMs", al_wall_ms());
    al_jw_kint(&w, "jobBytes", bytes);
    al_jw_end(&w);
    if (al_path_open_parent(state_fd, USAGE, false, USAGE, &dir, &name, &ignored) < 0 ||
        al_path_write_atomic(dir, name, al_buf_str(&text), 0600, USAGE, &ignored) < 0)
        return; /* the next one walks again */
}

static uint64_t job_bytes(const struct python_run *r)
{
    struct al_err ignored;
    autofd int state = open(al_store_dir(al_core_store(r->core)), O_RDONLY | O_DIRECTORY | O_CLOEXEC),
               jobs = -1;
    int64_t bytes = state < 0 ? 0 : noted(state);
    if (bytes >= 0)
        return (uint64_t)bytes;
    if (al_path_open(state, JOBS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, JOBS, &jobs, &ignored) < 0)
        return 0; /* there was none yet */
    bytes = al_path_tree_bytes(jobs);
    note(state, bytes);
    return (uint64_t)bytes;
}

int python_check_room(struct python_run *r, struct al_err *err)
{
    uint64_t max = (uint64_t)al_config_int(al_core_config(r->core), AL_OPT_STORAGE_MAX_BYTES);
    uint64_t jobs = job_bytes(r), used = r->stored_bytes + jobs;
    if (used < max) {
        if (r->limits.input_bytes > max - used)
            r->limits.input_bytes = max - used;
        return 0;
    }
    autobuf struct al_buf a = AL_BUF_INIT(64), b = AL_BUF_INIT(64), c = AL_BUF_INIT(64);
    al_text_bytes(&a, r->stored_bytes);
    al_text_bytes(&b, jobs);
    al_text_bytes(&c, max);
    al_fail(err, AL_QUOTA_EXCEEDED,
            "artifacts and datasets have %.*s, files of earlier Python runs %.*s: storage.maxBytes is %.*s",
            AL_FMT(al_buf_str(&a)), AL_FMT(al_buf_str(&b)), AL_FMT(al_buf_str(&c)));
    return al_hint(
        err, "`alisio artifacts rm art_ID`, `alisio purge --older-than 7d` and `alisio analysis sweep` make "
             "room, or a larger storage.maxBytes");
}
