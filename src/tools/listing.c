/* The names of the files beneath a folder: ripgrep's listing for workspaces, our own walk for the scratchpad.
 */
#include "tools/tools_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/path.h"
#include "tools/search_int.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#define LISTING_MAX (64u << 20) /* bytes of names */
#define WALK_DEPTH 64
#define WALK_ENTRIES 200000

uint64_t al_listing_idle_ms = 10000;

static void listing_free(struct al_listing *l)
{
    l->call->impl = NULL;
    al_close(&l->dir_fd);
    al_globs_free(l->globs);
    free(l->left_out);
    al_buf_free(&l->raw);
    free(l->names);
    free(l);
}

void al_listing_cancel(struct al_call *call)
{
    struct al_listing *l = call->impl;
    if (l && l->child)
        al_child_cancel(l->child);
}

static void fail_listing(struct al_listing *l, const struct al_err *err)
{
    struct al_call *call = l->call;
    call->err = *err;
    listing_free(l);
    al_call_finish(call);
}

static void work_now(void *ud)
{
    struct al_listing *l = ud;
    l->work(l->call);
}

/* Freed in the loop's thread, where a cancel may look at it until now. */
static void work_done(void *ud)
{
    struct al_listing *l = ud;
    struct al_call *call = l->call;
    listing_free(l);
    al_call_finish(call);
}

/* --- the scratchpad --- */

struct walk {
    struct al_listing *l;
    DIR *dirs[WALK_DEPTH];
    size_t ends[WALK_DEPTH]; /* length of path that each level starts with */
    int depth;
    struct al_buf path;
    unsigned entries;
};

static void walk_into(struct walk *w, const char *name)
{
    if (w->depth == WALK_DEPTH) {
        w->l->truncated = true;
        return;
    }
    int parent = w->depth > 0 ? dirfd(w->dirs[w->depth - 1]) : w->l->dir_fd;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        al_close(&fd);
        return;
    }
    if (w->depth > 0)
        al_buf_addf(&w->path, "%s/", name);
    w->ends[w->depth] = w->path.n;
    w->dirs[w->depth++] = d;
}

static void walk_entry(struct walk *w, const struct dirent *e)
{
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
        return;
    if (e->d_name[0] == '.' && (!w->l->hidden || al_str_starts(al_str_of(e->d_name), ".alisio-tmp-")))
        return;
    struct stat st;
    if (fstatat(dirfd(w->dirs[w->depth - 1]), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (S_ISDIR(st.st_mode)) {
        walk_into(w, e->d_name);
    } else if (S_ISREG(st.st_mode)) {
        size_t before = w->l->raw.n;
        al_buf_add_str(&w->l->raw, al_buf_str(&w->path));
        al_buf_add(&w->l->raw, e->d_name, strlen(e->d_name) + 1);
        if (al_buf_failed(&w->l->raw)) {
            w->l->raw.n = before;
            w->l->truncated = true;
        }
    }
}

static void walk(struct al_listing *l)
{
    struct walk w = {.l = l};
    al_buf_init(&w.path, WALK_DEPTH * 256 + 4096);
    walk_into(&w, ".");
    while (w.depth > 0) {
        w.path.n = w.ends[w.depth - 1];
        const struct dirent *e = readdir(w.dirs[w.depth - 1]);
        if (e && ++w.entries < WALK_ENTRIES && !atomic_load(&l->call->cancelled)) {
            walk_entry(&w, e);
            continue;
        }
        l->truncated |= e != NULL;
        closedir(w.dirs[--w.depth]);
    }
    al_buf_free(&w.path);
}

static void walk_and_work(void *ud)
{
    walk(ud);
    work_now(ud);
}

/* --- ripgrep --- */

void al_tool_rg_fail(int exit_status, struct al_str words, struct al_err *err)
{
    autobuf struct al_buf msg = AL_BUF_INIT(2000);
    al_text_visible(&msg, al_utf8_head(al_str_trim(words), 300), false);
    al_fail(err, AL_TOOL_ERROR, "rg does not work here (status %d): %.*s", exit_status,
            AL_FMT(al_buf_str(&msg)));
    al_hint(err, "`rg --version` in a terminal should work; install ripgrep from your system's packages");
}

/* rg waits for ever for an ignore file that is a pipe. */
static void fail_late(const struct al_child_end *end, struct al_err *err)
{
    al_fail(err, AL_TOOL_TIMEOUT, "listing the files took over %llu s",
            (unsigned long long)end->duration_ms / 1000);
    al_hint(err, "narrow it with path; a .gitignore or .ignore that is no plain file keeps it waiting");
}

static void rg_done(void *ud, const struct al_child_end *end)
{
    struct al_listing *l = ud;
    l->child = NULL;
    struct al_err err = {0};
    if (end->cancelled)
        al_fail(&err, AL_CANCELLED, "listing files was cancelled");
    else if (end->exec_errno > 0)
        al_fail_errno(&err, AL_RUNTIME_UNAVAILABLE, end->exec_errno, "rg does not start");
    else if (end->timed_out && end->out->n == 0)
        fail_late(end, &err);
    else if (end->exit_status < 0 && !end->timed_out)
        al_fail(&err, AL_TOOL_ERROR, "rg was killed by signal %d", end->signal);
    else if (end->exit_status > 2)
        al_tool_rg_fail(end->exit_status, al_buf_str(end->err), &err);
    if (err.code != AL_OK) {
        fail_listing(l, &err);
        return;
    }
    l->raw = *end->out;
    al_buf_init(end->out, end->out->max);
    l->truncated = end->out_truncated || end->timed_out;
    al_work_start(al_core_loop(l->call->core), work_now, work_done, l);
}

static int rg_start(struct al_listing *l, struct al_err *err)
{
    const char *rg =
        al_tool_program(l->call, "rg", "apt install ripgrep (or your system's package of it)", err);
    if (!rg)
        return -1;
    const char *left_out = al_tool_left_out_glob(l->left_out, &l->call->arena);
    const char *argv[] = {"rg",
                          "--no-config",
                          "--files",
                          "--null",
                          "--no-messages",
                          "--no-require-git",
                          "--threads=4",
                          "--color=never",
                          "--glob=!.git",
                          "--glob=!node_modules",
                          "--glob=!.alisio-tmp-*",
                          left_out ? left_out : "--glob=!.alisio-tmp-*",
                          l->hidden ? "--hidden" : "--no-hidden",
                          "--",
                          "./",
                          NULL};
    struct al_child_spec spec = {
        .program = rg,
        .argv = (char *const *)argv,
        .cwd_fd = l->dir_fd,
        .max_output = LISTING_MAX,
        .timeout_ms = AL_RG_TIMEOUT_MS,
        .idle_ms = al_listing_idle_ms,
        .seal = AL_CHILD_SEAL_SEARCH,
        .max_data = AL_RG_MEMORY,
    };
    l->child = al_child_start(al_core_loop(l->call->core), &spec, rg_done, l, err);
    return l->child ? 0 : -1;
}

/* --- both --- */

void al_listing_start(struct al_call *call, struct al_str path, struct al_str glob, bool hidden,
                      void (*work)(struct al_call *call))
{
    struct al_listing *l = al_xcalloc(1, sizeof(*l));
    *l = (struct al_listing){.call = call, .dir_fd = -1, .hidden = hidden, .work = work};
    al_buf_init(&l->raw, LISTING_MAX);
    call->impl = l;
    struct al_err err = {0};
    if ((glob.n > 0 && al_globs_new(glob, &l->globs, &err) < 0) ||
        al_tool_place(call, path, AL_WANT_LIST, &l->place, &err) < 0 ||
        al_tool_open_folder(call, &l->place, &l->dir_fd, &err) < 0) {
        fail_listing(l, &err);
        return;
    }
    l->left_out = al_workspace_left_out(al_core_workspace(call->core), l->dir_fd);
    if (l->place.kind == AL_PLACE_SCRATCH)
        al_work_start(al_core_loop(call->core), walk_and_work, work_done, l);
    else if (rg_start(l, &err) < 0)
        fail_listing(l, &err);
}

/* A sort that nobody waits for any more ends at once, in whatever order. */
static int by_name(const void *a, const void *b, void *cancelled)
{
    if (atomic_load((atomic_bool *)cancelled))
        return 0;
    return al_str_cmp(*(const struct al_str *)a, *(const struct al_str *)b);
}

int al_listing_sort(struct al_listing *l, struct al_err *err)
{
    if (atomic_load(&l->call->cancelled))
        return al_fail(err, AL_CANCELLED, "listing files was cancelled");
    struct al_str rest = al_buf_str(&l->raw);
    size_t cap = 0;
    for (size_t i = 0; i < rest.n; i++)
        cap += rest.p[i] == 0;
    l->names = al_xcalloc(cap > 0 ? cap : 1, sizeof(*l->names));
    const char *nul;
    while ((nul = memchr(rest.p, 0, rest.n))) {
        struct al_str name = {rest.p, (size_t)(nul - rest.p)};
        rest.n -= name.n + 1;
        rest.p += name.n + 1;
        if (al_str_starts(name, "./")) {
            name.p += 2;
            name.n -= 2;
        }
        if (atomic_load(&l->call->cancelled))
            return al_fail(err, AL_CANCELLED, "listing files was cancelled");
        if (al_tool_is_left_out(l->left_out, name))
            continue;
        if (name.n > 0 && (!l->globs || al_globs_match(l->globs, name)))
            l->names[l->n_names++] = name;
    }
    if (l->n_names > 0)
        qsort_r(l->names, l->n_names, sizeof(*l->names), by_name, &l->call->cancelled);
    return 0;
}
