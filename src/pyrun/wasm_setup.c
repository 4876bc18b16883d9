/* Pyodide in the state folder: copied or fetched, compared with its hashes, and there at once or not at all.
 */
#include "pyrun/wasm_int.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"
#include "os/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAID_MAX 65536

struct setup {
    struct al_pyrun *pyrun;
    uint64_t timeout_ms;
    void (*note)(void *ud, struct al_str line);
    void *ud;
    char *parent; /* <state>/runtimes/pyodide */
    int parent_fd;
    char tmp[64]; /* the new folder, beneath it */
};

static void note(struct setup *s, const char *line)
{
    if (s->note)
        s->note(s->ud, al_str_of(line));
}

static int fail_write(int eno, struct al_err *err)
{
    return al_fail_errno(err, eno == ENOSPC || eno == EDQUOT ? AL_QUOTA_EXCEEDED : AL_INTERNAL, eno,
                         "Pyodide cannot be written into the state folder");
}

/* --- where the files come from --- */

/* The folder with the files, in what a person named. */
static int open_from(const char *from, struct al_err *err)
{
    static const char *const places[] = {".", "package", "node_modules/pyodide"};
    autofd int top = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; top >= 0 && i < sizeof(places) / sizeof(places[0]); i++) {
        autofd int fd = openat(top, places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0 && faccessat(fd, al_wasm_files[0].name, F_OK, 0) == 0) {
            int found = fd;
            fd = -1;
            return found;
        }
    }
    al_fail(err, AL_NOT_FOUND, "there is no Pyodide in that folder");
    return al_hint(err, "--from DIR is the unpacked npm package " AL_WASM_NPM ", with %s in it",
                   al_wasm_files[0].name);
}

/* npm reads the user's own settings: registry, proxy, certificates. */
static int fetch(struct setup *s, struct al_err *err)
{
    const char *npm = al_pyrun_program(s->pyrun, "npm");
    autofree char *into = NULL;
    if (!npm) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "Pyodide is fetched by npm, which is not installed");
        return al_hint(err, "install Node.js with npm, or unpack the npm package " AL_WASM_NPM
                            " elsewhere and name its folder: alisio analysis setup --wasm --from DIR");
    }
    if (asprintf(&into, "%s/%s/npm", s->parent, s->tmp) < 0)
        abort();
    const char *argv[] = {npm,         "install",   "--ignore-scripts", "--no-audit",
                          "--no-fund", "--no-save", "--omit=dev",       "--loglevel=error",
                          "--prefix",  into,        AL_WASM_NPM,        NULL};
    autobuf struct al_buf errors = AL_BUF_INIT(SAID_MAX);
    int status = -1;
    note(s, "npm fetches " AL_WASM_NPM);
    if (mkdirat(s->parent_fd, s->tmp, 0700) < 0)
        return fail_write(errno, err);
    if (al_py_ask(s->pyrun, argv, s->timeout_ms, NULL, &errors, &status, err) < 0)
        return al_wrap(err, "npm");
    if (status == 0)
        return open_from(into, err);
    al_fail(err, AL_RUNTIME_UNAVAILABLE, "npm could not fetch " AL_WASM_NPM " (exit status %d)", status);
    al_detail(err, "%.*s", errors.n > 200 ? 200 : (int)errors.n, errors.p ? errors.p : "");
    return al_hint(err, "without a network, unpack the npm package elsewhere and name its folder: "
                        "alisio analysis setup --wasm --from DIR");
}

/* --- the new folder --- */

static int copy_files(int from, int to, struct al_err *err)
{
    for (size_t i = 0; i < al_wasm_n_files; i++) {
        const struct al_wasm_file *f = &al_wasm_files[i];
        autobuf struct al_buf bytes = AL_BUF_INIT(f->bytes);
        int r = al_wasm_check_file(from, f, &bytes);
        if (r != 0) {
            al_fail(err, r == 1 ? AL_NOT_FOUND : AL_RUNTIME_UNAVAILABLE, "%s %s", f->name,
                    r == 1 ? "is missing"
                           : "is not that of Pyodide " AL_WASM_VERSION ": its hash is another one");
            return al_hint(err, "the npm package " AL_WASM_NPM " has the right one");
        }
        autofd int fd = openat(to, f->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        r = fd < 0 ? -errno : al_fd_write_all(fd, al_buf_str(&bytes));
        if (r == 0 && (fchmod(fd, 0644) < 0 || fsync(fd) < 0))
            r = -errno;
        if (r < 0)
            return fail_write(-r, err);
    }
    return 0;
}

/* What was there is not what it should be: it goes, and the new one takes its place. */
static int put(struct setup *s, const char *name, struct al_err *err)
{
    if (renameat(s->parent_fd, name, s->parent_fd, AL_WASM_VERSION) == 0)
        return 0;
    if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
        return fail_write(errno, err);
    int r = al_path_remove_tree(s->parent_fd, AL_WASM_VERSION);
    if (r < 0 || renameat(s->parent_fd, name, s->parent_fd, AL_WASM_VERSION) < 0)
        return fail_write(r < 0 ? -r : errno, err);
    return 0;
}

static int build(struct setup *s, int from, struct al_err *err)
{
    char name[80];
    snprintf(name, sizeof(name), "%s-new", s->tmp);
    note(s, "its files are compared with their hashes");
    if (mkdirat(s->parent_fd, name, 0755) < 0 || fchmodat(s->parent_fd, name, 0755, 0) < 0)
        return fail_write(errno, err);
    autofd int to = openat(s->parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int r = to < 0 ? fail_write(errno, err) : copy_files(from, to, err);
    if (r == 0)
        r = put(s, name, err);
    if (r < 0)
        (void)al_path_remove_tree(s->parent_fd, name);
    return r;
}

static int set_up(struct setup *s, const char *from, struct al_err *err)
{
    autofree char *runtimes = NULL;
    if (asprintf(&runtimes, "%s/runtimes", al_pyrun_state_dir(s->pyrun)) < 0)
        abort();
    if (al_path_private_dir(runtimes, err) < 0 || al_path_private_dir(s->parent, err) < 0)
        return -1;
    s->parent_fd = open(s->parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (s->parent_fd < 0)
        return fail_write(errno, err);
    uint64_t random;
    al_random(&random, sizeof(random));
    snprintf(s->tmp, sizeof(s->tmp), ".alisio-new-%016llx", (unsigned long long)random);
    autofd int dir = from ? open_from(from, err) : fetch(s, err);
    int r = dir < 0 ? -1 : build(s, dir, err);
    (void)al_path_remove_tree(s->parent_fd, s->tmp);
    al_close(&s->parent_fd);
    return r;
}

int al_wasm_setup(struct al_pyrun *p, const char *from, uint64_t timeout_ms,
                  void (*say)(void *ud, struct al_str line), void *ud, struct al_wasm_runtime *ret,
                  struct al_err *err)
{
    struct setup s = {.pyrun = p, .timeout_ms = timeout_ms, .note = say, .ud = ud, .parent_fd = -1};
    autofree char *folder = al_wasm_folder(p);
    s.parent = al_xdup(folder, (size_t)(strrchr(folder, '/') - folder));
    bool there = al_wasm_check_folder(folder, NULL) == 0;
    int r = there ? 0 : set_up(&s, from, err);
    if (r == 0 && !there)
        r = al_wasm_check_folder(folder, err);
    free(s.parent);
    if (r < 0)
        return -1;
    uint64_t bytes = 0;
    for (size_t i = 0; i < al_wasm_n_files; i++)
        bytes += al_wasm_files[i].bytes;
    *ret = (struct al_wasm_runtime){.path = al_xstrdup(folder), .bytes = bytes, .was_there = there};
    return 0;
}
