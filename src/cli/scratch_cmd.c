#include "cli/commands.h"
#include "cli/run_text.h"
#include "cli/session_scratch.h"
#include "cli/table.h"

#include "base/mem.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILES 10000
#define MAX_DEPTH 32

struct opened {
    struct al_session session;
    struct al_scratch *scratch;
};

static void close_opened(struct opened *o)
{
    al_scratch_free(o->scratch);
    al_session_fini(&o->session);
}

static int open_scratch(struct al_app *app, struct opened *o, struct al_err *err)
{
    if (al_app_config(app, err) < 0 || al_app_session(app, &o->session, err) < 0)
        return -1;
    if (!al_config_bool(app->config, AL_OPT_FORGE_SCRATCH_ENABLED)) {
        al_fail(err, AL_NOT_FOUND, "the scratchpad is switched off by forge.scratch.enabled");
        return al_hint(err, "alisio config set forge.scratch.enabled true");
    }
    o->scratch = al_session_scratch(app, app->workspace, o->session.id, err);
    return o->scratch ? 0 : -1;
}

/* --- list --- */

struct file {
    char *name;
    int64_t bytes, modified_ms;
};

struct files {
    struct file *v;
    size_t n, cap;
    bool more;
};

static void add_file(struct files *f, const char *name, const struct stat *st)
{
    if (f->n == MAX_FILES) {
        f->more = true;
        return;
    }
    if (f->n == f->cap) {
        f->cap = f->cap ? f->cap * 2 : 64;
        f->v = al_xrealloc(f->v, f->cap * sizeof *f->v);
    }
    f->v[f->n++] = (struct file){al_xstrdup(name), (int64_t)st->st_size,
                                 (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000};
}

/* Links are listed as what they are and never followed. */
static void walk(int dir_fd, const char *prefix, unsigned depth, struct files *f)
{
    DIR *dir = fdopendir(dir_fd);
    if (!dir) {
        close(dir_fd);
        return;
    }
    for (struct dirent *e; (e = readdir(dir)) && !f->more;) {
        struct stat st;
        autobuf struct al_buf name = AL_BUF_INIT(8192);
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        al_buf_addf(&name, "%s%s%s", prefix, *prefix ? "/" : "", e->d_name);
        al_buf_addc(&name, 0);
        if (al_buf_failed(&name) || fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (!S_ISDIR(st.st_mode)) {
            add_file(f, name.p, &st);
            continue;
        }
        int sub = openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (sub >= 0 && depth < MAX_DEPTH)
            walk(sub, name.p, depth + 1, f);
        else if (sub >= 0)
            close(sub);
    }
    closedir(dir);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct file *)a)->name, ((const struct file *)b)->name);
}

static void print_files(struct al_app *app, struct files *f, struct al_reply *reply)
{
    static const char *const heads[] = {"NAME", "SIZE", "CHANGED", NULL};
    autotable struct al_table t;
    struct al_jw w;
    al_table_init(&t, heads);
    t.right = 1u << 1;
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_key(&w, "files");
    al_jw_arr(&w);
    for (size_t i = 0; i < f->n; i++) {
        autobuf struct al_buf cell = AL_BUF_INIT(256);
        al_table_add(&t, f->v[i].name);
        al_text_bytes(&cell, (uint64_t)f->v[i].bytes);
        al_table_add_str(&t, al_buf_str(&cell));
        al_buf_clear(&cell);
        al_say_time(&cell, f->v[i].modified_ms);
        al_table_add_str(&t, al_buf_str(&cell));
        al_jw_obj(&w);
        al_jw_kstrz(&w, "name", f->v[i].name);
        al_jw_kint(&w, "bytes", f->v[i].bytes);
        al_jw_ktime(&w, "modifiedAt", f->v[i].modified_ms);
        al_jw_end(&w);
        free(f->v[i].name);
    }
    al_jw_end(&w);
    al_jw_kbool(&w, "truncated", f->more);
    al_jw_end(&w);
    if (f->n == 0)
        al_buf_adds(&reply->text, "the scratchpad is empty\n");
    al_table_print(app, &t, &reply->text);
    if (f->more)
        al_buf_addf(&reply->text, "only the first %d files are shown\n", MAX_FILES);
    free(f->v);
}

int al_cmd_scratch_list(struct al_app *app, struct al_reply *reply)
{
    struct opened o = {0};
    struct files files = {0};
    int r = open_scratch(app, &o, &reply->err);
    int fd = r < 0 ? -1 : al_scratch_fd(o.scratch, &reply->err);
    int own = fd < 0 ? -1 : openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && own < 0)
        al_fail_errno(&reply->err, AL_INTERNAL, errno, "the scratchpad cannot be read");
    if (own >= 0) {
        walk(own, "", 0, &files);
        if (files.n > 1)
            qsort(files.v, files.n, sizeof *files.v, by_name);
        print_files(app, &files, reply);
    }
    close_opened(&o);
    return own < 0 ? -1 : 0;
}

/* --- show --- */

int al_cmd_scratch_show(struct al_app *app, struct al_reply *reply)
{
    struct opened o = {0};
    struct al_buf *out = &reply->text;
    struct al_jw w;
    if (open_scratch(app, &o, &reply->err) < 0 || al_scratch_fd(o.scratch, &reply->err) < 0)
        return close_opened(&o), -1;
    int64_t bytes = al_scratch_bytes(o.scratch), days;
    int64_t max = al_config_int(app->config, AL_OPT_FORGE_SCRATCH_MAX_BYTES);
    const char *note = al_scratch_note(o.scratch);
    days = al_config_int(app->config, AL_OPT_FORGE_SCRATCH_RETENTION_DAYS);
    al_buf_addf(out, "%-10s ", "place");
    al_say_foreign(app, out, al_str_of(al_scratch_path(o.scratch)), false);
    al_buf_addf(out, "\n%-10s %s\n%-10s ", "session", o.session.id, "used");
    al_text_bytes(out, (uint64_t)bytes);
    al_buf_adds(out, " of ");
    al_text_bytes(out, (uint64_t)max);
    if (days)
        al_buf_addf(out, "\n%-10s %lld days without activity\n", "kept", (long long)days);
    else
        al_buf_addf(out, "\n%-10s for ever\n", "kept");
    if (note)
        al_buf_addf(out, "%-10s %s\n", "note", note);
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "path", al_scratch_path(o.scratch));
    al_jw_kstrz(&w, "sessionId", o.session.id);
    al_jw_kint(&w, "bytes", bytes);
    al_jw_kint(&w, "maxBytes", max);
    al_jw_kint(&w, "retentionDays", days);
    al_jw_kstrz(&w, "note", note);
    al_jw_end(&w);
    close_opened(&o);
    return 0;
}

/* --- empty --- */

static bool note_live(void *ud, const struct al_run *run)
{
    char *id = ud;
    memcpy(id, run->id, AL_ID_MAX);
    return false;
}

static int refuse_while_running(struct al_app *app, const struct al_session *session, struct al_err *err)
{
    char id[AL_ID_MAX] = "";
    struct al_run_filter live = {.session = session->id, .live_only = true, .limit = 1};
    if (al_store_run_each(app->store, &live, note_live, id, err) < 0)
        return -1;
    if (!id[0])
        return 0;
    al_fail(err, AL_BUSY, "%s is running and may be using the scratchpad", id);
    return al_hint(err, "wait for it, or `alisio runs cancel %s`", id);
}

int al_cmd_scratch_empty(struct al_app *app, struct al_reply *reply)
{
    struct opened o = {0};
    struct al_jw w;
    int64_t bytes = 0;
    int r = open_scratch(app, &o, &reply->err);
    if (r == 0)
        r = refuse_while_running(app, &o.session, &reply->err);
    if (r == 0 && al_scratch_fd(o.scratch, &reply->err) < 0)
        r = -1;
    if (r == 0) {
        bytes = al_scratch_bytes(o.scratch);
        r = al_scratch_empty(o.scratch, &reply->err);
    }
    if (r == 0) {
        al_buf_adds(&reply->text, "emptied; ");
        al_text_bytes(&reply->text, (uint64_t)bytes);
        al_buf_adds(&reply->text, " are free again\n");
        al_jw_init(&w, &reply->structured);
        al_jw_obj(&w);
        al_jw_kint(&w, "freedBytes", bytes);
        al_jw_end(&w);
    }
    close_opened(&o);
    return r;
}
