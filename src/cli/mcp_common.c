#include "cli/mcp_common.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/path.h"
#include "os/spawn.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define MAX_FILE (32u << 20)
#define MAX_ALLOW_RULES 200
#define MAX_PATTERN 4096

/* --- this program --- */

static bool is_own_file(const char *path)
{
    struct stat st, own;
    return al_self_fd() >= 0 && fstat(al_self_fd(), &own) == 0 && stat(path, &st) == 0 &&
           st.st_dev == own.st_dev && st.st_ino == own.st_ino;
}

char *al_own_path(struct al_err *err)
{
    char link[64], real[PATH_MAX];
    autofree char *found = al_path_find_program("alisio", NULL);
    if (found && is_own_file(found)) {
        char *keep = found;
        found = NULL;
        return keep;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", al_self_fd());
    ssize_t n = readlink(link, real, sizeof real);
    if (n > 0 && (size_t)n < sizeof real && real[0] == '/') {
        char *path = al_xdup(real, (size_t)n);
        if (is_own_file(path))
            return path;
        free(path);
    }
    al_fail(err, AL_RUNTIME_UNAVAILABLE, "this program was moved or replaced while it runs");
    al_hint(err, "start it again");
    return NULL;
}

bool al_server_is_own(const struct al_server *s)
{
    if (s->http || !s->command)
        return false;
    autofree char *found =
        strchr(s->command, '/') ? al_xstrdup(s->command) : al_path_find_program(s->command, NULL);
    return found && is_own_file(found);
}

/* --- asking --- */

void al_tell(struct al_app *app, struct al_str text)
{
    al_app_progress_end(app);
    (void)!al_fd_write_all(STDERR_FILENO, text);
}

bool al_ask_yes(struct al_app *app, const char *question, bool otherwise)
{
    char line[64];
    size_t n = 0;
    autobuf struct al_buf b = AL_BUF_INIT(8192);
    al_say_plain(&b, question);
    al_buf_adds(&b, otherwise ? " [Y/n] " : " [y/N] ");
    /* What was typed before all of that could be read answers nothing. */
    tcflush(STDIN_FILENO, TCIFLUSH);
    al_tell(app, al_buf_str(&b));
    while (n < sizeof line) {
        ssize_t r = read(STDIN_FILENO, line + n, sizeof line - n);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            return false;
        n += (size_t)r;
        if (memchr(line, '\n', n))
            break;
    }
    struct al_str s = al_str_trim((struct al_str){line, n});
    if (s.n == 0)
        return otherwise;
    return al_str_is(s, "y") || al_str_is(s, "Y") || al_str_is(s, "yes") || al_str_is(s, "Yes");
}

bool al_approved(struct al_app *app, struct al_str shown, const char *question, const char *command,
                 struct al_err *err)
{
    if (al_args_has(&app->args, AL_FLAG_YES))
        return true;
    if (!al_app_can_ask(app)) {
        al_fail(err, AL_APPROVAL_REQUIRED, "this wants a person's yes, and there is no terminal to ask at");
        al_hint(err, "%s", command);
        return false;
    }
    al_tell(app, shown);
    if (al_ask_yes(app, question, false))
        return true;
    al_fail(err, AL_CANCELLED, "nothing was changed");
    return false;
}

/* --- catalogues --- */

struct fetching {
    struct al_app *app;
    struct al_fetch *v;
    size_t n, left;
    bool over, stopped;
    bool tell;
};

struct one {
    struct fetching *all;
    struct al_fetch *f;
};

static void tell_end(const struct fetching *all, const struct al_fetch *f)
{
    autobuf struct al_buf name = AL_BUF_INIT(1024);
    const struct al_server *s = al_upstream_config(f->s);
    if (!all->tell || all->n < 2 || s->disabled || all->stopped)
        return;
    al_say_plain(&name, s->name);
    al_app_note(all->app, "%.*s: %s after %llu.%llu s", AL_FMT(al_buf_str(&name)),
                f->err.code == AL_OK ? "ready" : "failed", (unsigned long long)(f->done_ms / 1000),
                (unsigned long long)(f->done_ms / 100 % 10));
}

static void fetched(void *ud, const struct al_err *err)
{
    struct one *o = ud;
    o->f->done = true;
    o->f->done_ms = al_mono_ms() - o->f->started_ms;
    if (err)
        o->f->err = *err;
    tell_end(o->all, o->f);
    if (--o->all->left == 0)
        o->all->over = true;
}

static void became_ready(void *ud, const struct al_err *err)
{
    struct one *o = ud;
    if (!err)
        o->f->ready_ms = al_mono_ms() - o->f->started_ms;
    if (--o->all->left == 0)
        o->all->over = true;
}

/* The servers stop with the core; whoever waits here hears of it. */
static void stop_fetching(void *ud)
{
    struct fetching *all = ud;
    all->stopped = true;
    all->over = true;
}

int al_fetch_all(struct al_app *app, struct al_fetch *v, size_t n, bool tell, struct al_err *err)
{
    struct fetching all = {.app = app, .v = v, .n = n, .left = 2 * n, .over = n == 0, .tell = tell};
    autofree struct one *ones = al_xcalloc(n + 1, sizeof *ones);
    al_app_catch_signals(app, stop_fetching, &all);
    for (size_t i = 0; i < n; i++) {
        ones[i] = (struct one){&all, &v[i]};
        v[i].started_ms = al_mono_ms();
        al_upstream_ready(v[i].s, became_ready, &ones[i]);
        al_upstream_refresh(v[i].s, fetched, &ones[i]);
    }
    al_loop_run_until(app->loop, &all.over, 0);
    app->on_signal = NULL;
    if (!all.stopped)
        return 0;
    /* Nobody may call back into this frame later. */
    bool stopped = false;
    al_upstreams_stop(app->upstreams, al_set_true, &stopped);
    al_loop_run_until(app->loop, &stopped, 0);
    for (all.over = all.left == 0; !all.over;)
        al_loop_run_until(app->loop, &all.over, 0);
    return al_fail(err, AL_CANCELLED, "stopped");
}

bool al_tool_reads_only(const struct al_catalog_tool *t)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    const struct al_json *v;
    if (!t->annotations || al_json_parse(&a, al_str_of(t->annotations), &v, NULL) < 0)
        return false;
    return al_json_is_true(al_json_get(v, "readOnlyHint"));
}

void al_seen_add(struct al_seen *seen, const struct al_catalog_tool *t)
{
    if ((seen->n & (seen->n - 1)) == 0) /* full at each power of two */
        seen->v = al_xrealloc(seen->v, (seen->n ? 2 * seen->n : 1) * sizeof *seen->v);
    struct al_seen_tool *to = &seen->v[seen->n++];
    to->tool = al_xstrdup(t->tool);
    memcpy(to->sha256, t->sha256, sizeof to->sha256);
}

void al_seen_free(struct al_seen *seen)
{
    for (size_t i = 0; i < seen->n; i++)
        free(seen->v[i].tool);
    free(seen->v);
    *seen = (struct al_seen){0};
}

int al_seen_pin(struct al_app *app, const char *server, const struct al_seen *seen, struct al_err *err)
{
    for (size_t i = 0; i < seen->n; i++) {
        const struct al_seen_tool *t = &seen->v[i];
        if (al_catalog_pin(app->store, server, t->tool, t->sha256, false, err) < 0 &&
            err->code != AL_NOT_FOUND)
            return -1;
    }
    al_err_clear(err); /* one that has left the list meanwhile needs no pin */
    return 0;
}

struct counting {
    const struct al_server *s;
    struct al_tool_counts *c;
    struct al_seen *seen;       /* may be NULL */
    struct al_server *allow_in; /* rules for tools that only read go here; NULL: none */
    size_t max_rules;
};

/* The rule is for this tool alone: what the server offers later asks. */
static void allow_tool(const struct counting *k, const char *tool)
{
    autobuf struct al_buf pattern = AL_BUF_INIT(MAX_PATTERN);
    al_server_exact_pattern(al_str_of(tool), &pattern);
    al_buf_addc(&pattern, 0);
    if (k->allow_in->n_rules < k->max_rules && *tool && !al_buf_failed(&pattern))
        al_server_add_rule(k->allow_in, pattern.p, AL_POLICY_ALLOW);
}

static bool propose_tool(void *ud, const struct al_catalog_tool *t)
{
    struct counting *k = ud;
    if (k->seen)
        al_seen_add(k->seen, t);
    if (al_tool_reads_only(t) && al_server_policy(k->s, al_str_of(t->tool)) != AL_POLICY_DENY)
        allow_tool(k, t->tool);
    return true;
}

static bool count_tool(void *ud, const struct al_catalog_tool *t)
{
    struct counting *k = ud;
    struct al_tool_counts *c = k->c;
    enum al_tool_policy p = al_server_policy(k->s, al_str_of(t->tool));
    if (k->seen)
        al_seen_add(k->seen, t);
    c->tools++;
    c->read_only += al_tool_reads_only(t);
    c->changed += t->changed;
    c->allow += p == AL_POLICY_ALLOW && !t->changed;
    c->ask += p == AL_POLICY_ASK || (p == AL_POLICY_ALLOW && t->changed);
    c->deny += p == AL_POLICY_DENY;
    c->bytes += strlen(t->tool) + (t->description ? strlen(t->description) : 0) +
                (t->input_schema ? strlen(t->input_schema) : 0);
    return true;
}

int al_count_tools(struct al_app *app, const struct al_server *s, struct al_tool_counts *ret,
                   struct al_seen *seen, struct al_err *err)
{
    struct counting k = {.s = s, .c = ret, .seen = seen};
    *ret = (struct al_tool_counts){0};
    return al_catalog_each(app->store, s->name, count_tool, &k, err);
}

/* What is counted is what the rules, once they stand there, really do. */
int al_propose_policy(struct al_app *app, struct al_server *s, struct al_tool_counts *ret,
                      struct al_seen *seen, struct al_err *err)
{
    struct al_server allow = {0};
    size_t room = AL_SERVER_RULES_MAX - s->n_rules;
    struct counting k = {.s = s,
                         .seen = seen,
                         .allow_in = &allow,
                         .max_rules = room < MAX_ALLOW_RULES ? room : MAX_ALLOW_RULES};
    int r = al_catalog_each(app->store, s->name, propose_tool, &k, err);
    for (size_t i = 0; r == 0 && i < s->n_rules; i++)
        al_server_add_rule(&allow, s->rules[i].pattern, s->rules[i].policy);
    if (r == 0) {
        struct al_server_rule *rules = s->rules;
        size_t n = s->n_rules;
        s->rules = allow.rules;
        s->n_rules = allow.n_rules;
        allow.rules = rules;
        allow.n_rules = n;
    }
    for (size_t i = 0; i < allow.n_rules; i++)
        free(allow.rules[i].pattern);
    free(allow.rules);
    return r < 0 ? r : al_count_tools(app, s, ret, NULL, err);
}

int al_say_servers(struct al_app *app, struct al_buf *out, struct al_jw *w, struct al_err *err)
{
    size_t known = 0;
    if (al_app_servers(app, err) < 0 || al_app_store(app, err) < 0)
        return -1;
    for (size_t i = 0; i < app->servers.n; i++) {
        autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
        struct al_catalog_server cat;
        struct al_err none;
        known += al_catalog_server(app->store, app->servers.v[i].name, &a, &cat, &none) == 0;
    }
    if (app->servers.n)
        al_buf_addf(out, "%zu server%s, %zu with a catalogue", app->servers.n, app->servers.n == 1 ? "" : "s",
                    known);
    else
        al_buf_adds(out, "no server is configured");
    if (w) {
        al_jw_key(w, "mcp");
        al_jw_obj(w);
        al_jw_kint(w, "servers", (int64_t)app->servers.n);
        al_jw_kint(w, "withCatalogue", (int64_t)known);
        al_jw_end(w);
    }
    return 0;
}

/* --- imports --- */

enum al_import_state al_import_state(const struct al_server *s)
{
    if (!s->imported_file)
        return AL_IMPORT_NONE;
    autobuf struct al_buf text = AL_BUF_INIT(MAX_FILE);
    struct al_servers found = {0};
    struct al_err err;
    enum al_import_state state = AL_IMPORT_GONE;
    struct stat st;
    /* The file may be a repository's: a pipe under that name must not stop us. */
    if (stat(s->imported_file, &st) == 0 && S_ISREG(st.st_mode) &&
        al_app_read_text(s->imported_file, MAX_FILE, &text, &err) == 0 &&
        al_servers_read(al_buf_str(&text), al_servers_shape_of(s->imported_file), s->imported_file, &found,
                        NULL, &err) == 0) {
        const struct al_server *now = al_servers_find(&found, al_str_of(s->imported_name));
        if (now)
            state = strcmp(now->sha256, s->imported_sha256) == 0 ? AL_IMPORT_SAME : AL_IMPORT_CHANGED;
    }
    al_servers_free(&found);
    return state;
}
