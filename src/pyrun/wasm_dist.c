/* The distribution: where it lies, and that it is what this program was built for. */
#include "pyrun/wasm_int.h"

#include "base/mem.h"
#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK (256 * 1024)

const struct al_wasm_file al_wasm_files[] = {
    {"pyodide.mjs", "6f1d60f7bf529beb300f0f47983c921d3982363640ba20af0e38efdddbc66109", 17931},
    {"pyodide.asm.mjs", "f7cdc8ece80678ceb712f8e65ebe6d3a83203a180c399865f49612a051693635", 1250344},
    {"pyodide.asm.wasm", "cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6", 9598218},
    {"python_stdlib.zip", "fa1957e5777068fc4f7437f96d860ae2fbe9c19732ba06c84e004ec16dd7dd7a", 2545637},
    {"pyodide-lock.json", "5dc2fc119108bc148c7457dc86e7675b5c87e1cafd420b9c34c1eaef7b36c010", 119077},
};
#define N_FILES (sizeof(al_wasm_files) / sizeof(al_wasm_files[0]))
const size_t al_wasm_n_files = N_FILES;

char *al_wasm_folder(struct al_pyrun *p)
{
    char *path;
    if (asprintf(&path, "%s/runtimes/pyodide/%s", al_pyrun_state_dir(p), AL_WASM_VERSION) < 0)
        abort();
    return path;
}

int al_wasm_check_file(int dir_fd, const struct al_wasm_file *file, struct al_buf *out)
{
    autofd int fd = openat(dir_fd, file->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return 1;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != file->bytes)
        return 2;
    autofree char *chunk = al_xmalloc(CHUNK);
    char hash[AL_SHA256_HEX];
    struct al_sha256 *h = al_sha256_new();
    uint64_t total = 0;
    ssize_t n;
    while (total <= file->bytes && (n = read(fd, chunk, CHUNK)) > 0) {
        al_sha256_add(h, chunk, (size_t)n);
        if (out)
            al_buf_add(out, chunk, (size_t)n);
        total += (uint64_t)n;
    }
    al_sha256_end(h, hash);
    return total == file->bytes && strcmp(hash, file->sha256) == 0 ? 0 : 2;
}

/* What told a file from another one when it was hashed. */
struct seen {
    dev_t dev;
    ino_t ino;
    struct timespec changed;
};
static struct {
    pthread_mutex_t lock;
    bool all;
    struct seen files[N_FILES];
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool look(int dir_fd, struct seen *ret)
{
    for (size_t i = 0; i < N_FILES; i++) {
        struct stat st;
        if (fstatat(dir_fd, al_wasm_files[i].name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return false;
        ret[i] = (struct seen){st.st_dev, st.st_ino, st.st_ctim};
    }
    return true;
}

static bool is_seen(const struct seen *now)
{
    bool same = seen.all;
    for (size_t i = 0; same && i < N_FILES; i++)
        same = now[i].dev == seen.files[i].dev && now[i].ino == seen.files[i].ino &&
               now[i].changed.tv_sec == seen.files[i].changed.tv_sec &&
               now[i].changed.tv_nsec == seen.files[i].changed.tv_nsec;
    return same;
}

static int check_all(int dir_fd, struct al_err *err)
{
    for (size_t i = 0; i < N_FILES; i++) {
        int r = al_wasm_check_file(dir_fd, &al_wasm_files[i], NULL);
        if (r == 0)
            continue;
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "Pyodide: its file %s %s", al_wasm_files[i].name,
                r == 1 ? "is missing" : "is not the one that this program was built for");
        return al_hint(err, "alisio analysis setup --wasm");
    }
    return 0;
}

int al_wasm_check_folder(const char *folder, struct al_err *err)
{
    struct seen now[N_FILES];
    autofd int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "Pyodide %s is not installed", AL_WASM_VERSION);
        return al_hint(err, "alisio analysis setup --wasm");
    }
    pthread_mutex_lock(&seen.lock);
    bool known = look(fd, now);
    int r = known && is_seen(now) ? 0 : check_all(fd, err);
    seen.all = r == 0 && known;
    if (seen.all)
        memcpy(seen.files, now, sizeof(now));
    pthread_mutex_unlock(&seen.lock);
    return r;
}

int al_wasm_verify(struct al_pyrun *p, struct al_err *err)
{
    autofree char *folder = al_wasm_folder(p);
    return al_wasm_check_folder(folder, err);
}
