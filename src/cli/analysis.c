#include "cli/analysis.h"

#include "cli/commands.h"
#include "cli/table.h"

#include "base/text.h"
#include "pyrun/extras.h"

#include <stdio.h>
#include <string.h>

struct probing {
    struct al_py_probe *probes;
    size_t left;
    bool done;
};

struct one {
    struct probing *all;
    enum al_py_backend backend;
};

static void on_probe(void *ud, const struct al_py_probe *probe)
{
    struct one *one = ud;
    one->all->probes[one->backend] = *probe;
    one->all->done = --one->all->left == 0;
}

void al_probe_python(struct al_app *app, bool fresh, struct al_py_probe probes[AL_PY_N])
{
    struct one each[AL_PY_N];
    struct probing all = {.probes = probes, .left = AL_PY_N};
    for (int b = 0; b < AL_PY_N; b++) {
        each[b] = (struct one){&all, (enum al_py_backend)b};
        al_pyrun_probe(al_core_pyrun(app->core), (enum al_py_backend)b, fresh, on_probe, &each[b]);
    }
    al_loop_run_until(app->loop, &all.done, 0);
}

static const char *yes_no(bool yes)
{
    return yes ? "refused" : "open";
}

static void say_ready(const struct al_app *app, const struct al_py_probe *p, struct al_table *t)
{
    al_table_add_style(t, "ready", AL_GOOD);
    al_table_add_style(t, al_py_isolation_name(p->isolation),
                       p->isolation == AL_PY_NONE ? AL_WARN : AL_PLAIN);
    al_table_add(t, yes_no(p->denies_network));
    al_table_add(t, yes_no(p->denies_files));
    al_table_add(t, yes_no(p->denies_processes));
    al_table_add(t, al_py_keeper_name(p->memory));
    bool named = strncmp(p->version, "Python ", strlen("Python ")) == 0;
    al_table_addf(t, "%s%s%s", p->version, named || !p->python[0] ? "" : ", Python ", named ? "" : p->python);
    (void)app;
}

static void put_probe(struct al_jw *w, enum al_py_backend b, const struct al_py_probe *p)
{
    bool ready = p->state == AL_PY_READY;
    al_jw_obj(w);
    al_jw_kstrz(w, "backend", al_py_backend_name(b));
    al_jw_kbool(w, "ready", ready);
    al_jw_kstrz(w, "isolation", al_py_isolation_name(p->isolation));
    al_jw_kstrz(w, "version", p->version[0] ? p->version : NULL);
    al_jw_kstrz(w, "python", p->python[0] ? p->python : NULL);
    al_jw_kstrz(w, "interpreter", p->interpreter[0] ? p->interpreter : NULL);
    if (ready) {
        al_jw_kbool(w, "deniesNetwork", p->denies_network);
        al_jw_kbool(w, "deniesFiles", p->denies_files);
        al_jw_kbool(w, "deniesProcesses", p->denies_processes);
        al_jw_kstrz(w, "memory", al_py_keeper_name(p->memory));
        al_jw_kstrz(w, "processes", al_py_keeper_name(p->pids));
        al_jw_kstrz(w, "disk", al_py_keeper_name(p->disk));
        al_jw_kbool(w, "pidNamespace", p->pid_namespace);
    } else {
        al_jw_kstrz(w, "why", p->why.msg);
        al_jw_kstrz(w, "cure", p->why.hint[0] ? p->why.hint : NULL);
    }
    al_jw_end(w);
}

static void say_missing(struct al_app *app, const struct al_py_probe *probes, struct al_buf *out)
{
    for (int b = 0; b < AL_PY_N; b++) {
        const struct al_py_probe *p = &probes[b];
        if (p->state == AL_PY_READY)
            continue;
        al_buf_addf(out, "%-9s ", al_py_backend_name((enum al_py_backend)b));
        al_say_foreign(app, out, al_str_of(p->why.msg), false);
        al_buf_addc(out, '\n');
        if (p->why.hint[0]) {
            al_buf_addf(out, "%-9s ", "");
            al_say_foreign(app, out, al_str_of(p->why.hint), false);
            al_buf_addc(out, '\n');
        }
    }
}

int al_choose_python(struct al_app *app, const struct al_py_probe *probes, enum al_py_backend *ret,
                     struct al_buf *reason, struct al_err *err)
{
    const struct al_pyrun *p = al_core_pyrun(app->core);
    enum al_py_backend need; /* every probe is there, so nothing is left to be asked */
    return al_py_choose(al_pyrun_wanted(p), al_pyrun_policy(p), probes, ret, &need, reason, err);
}

static void say_choice(struct al_app *app, const struct al_py_probe *probes, struct al_buf *out,
                       struct al_jw *w)
{
    enum al_py_backend chosen = AL_PY_MANAGED;
    autobuf struct al_buf reason = AL_BUF_INIT(4096);
    struct al_err err = {0};
    int r = al_choose_python(app, probes, &chosen, &reason, &err);
    if (r == 0) {
        al_buf_addf(out, "a script runs in %s%s%s (%s): %.*s\n", al_style_on(app->color, AL_BOLD),
                    al_py_backend_name(chosen), al_style_off(app->color, AL_BOLD),
                    al_py_isolation_name(probes[chosen].isolation), AL_FMT(al_buf_str(&reason)));
        al_jw_kstrz(w, "chosen", al_py_backend_name(chosen));
        al_jw_kstr(w, "reason", al_buf_str(&reason));
        return;
    }
    al_buf_addf(out, "%sno script can run%s: %s\n", al_style_on(app->color, AL_BAD),
                al_style_off(app->color, AL_BAD), err.msg);
    if (err.hint[0])
        al_buf_addf(out, "%s\n", err.hint);
    al_jw_kstrz(w, "chosen", NULL);
    al_jw_kstrz(w, "reason", err.msg);
}

/* Which Python it is: of the back ends that use the person's own, one will do. */
static void say_interpreter(struct al_app *app, const struct al_py_probe *probes, struct al_buf *out)
{
    for (int b = 0; b < AL_PY_N; b++) {
        if (b == AL_PY_OCI || b == AL_PY_WASM || !probes[b].interpreter[0])
            continue;
        al_buf_addf(out, "%-9s ", "python");
        al_say_foreign(app, out, al_str_of(probes[b].interpreter), false);
        al_buf_addc(out, '\n');
        return;
    }
}

/* "extras    analysis (Python 3.11)" */
static void say_extras(struct al_app *app, struct al_buf *out, struct al_jw *w)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(1u << 20);
    autobuf struct al_buf text = AL_BUF_INIT(64u << 10);
    const struct al_json *v;
    struct al_jw own;
    struct al_err ignored;
    size_t n = 0;
    al_jw_init(&own, &text);
    al_py_extras_json(al_core_pyrun(app->core), &own);
    if (al_json_parse(&arena, al_buf_str(&text), &v, &ignored) < 0)
        return;
    al_jw_key(w, "extras");
    al_jw_value(w, v);
    al_buf_addf(out, "%-9s ", "extras");
    al_json_each(set, v)
    {
        al_json_each(one, set)
        {
            al_buf_addf(out, "%s%.*s (Python ", n++ ? ", " : "", AL_FMT(al_utf8_head(set->key, 20)));
            al_say_foreign(app, out, al_utf8_head(al_json_get_text(one, "python"), 20), false);
            al_buf_addc(out, ')');
        }
    }
    al_buf_adds(out,
                n ? "\n" : "none; `alisio analysis setup --extras analysis` installs pandas and others\n");
}

void al_say_python(struct al_app *app, bool fresh, struct al_buf *out, struct al_jw *w)
{
    static const char *const heads[] = {"BACK END",  "STATE",  "ISOLATION", "NETWORK", "FILES",
                                        "PROCESSES", "MEMORY", "WITH",      NULL};
    struct al_py_probe probes[AL_PY_N];
    autotable struct al_table t;
    al_probe_python(app, fresh, probes);
    al_table_init(&t, heads);
    al_jw_key(w, "python");
    al_jw_obj(w);
    al_jw_key(w, "backends");
    al_jw_arr(w);
    for (int b = 0; b < AL_PY_N; b++) {
        const struct al_py_probe *p = &probes[b];
        put_probe(w, (enum al_py_backend)b, p);
        al_table_add(&t, al_py_backend_name((enum al_py_backend)b));
        if (p->state == AL_PY_READY) {
            say_ready(app, p, &t);
            continue;
        }
        al_table_add_style(&t, "not ready", AL_DIM);
        for (int i = 0; i < 6; i++)
            al_table_add(&t, NULL);
    }
    al_jw_end(w);
    al_table_print(app, &t, out);
    al_buf_addc(out, '\n');
    say_interpreter(app, probes, out);
    say_extras(app, out, w);
    say_missing(app, probes, out);
    say_choice(app, probes, out, w);
    al_jw_end(w);
}

int al_cmd_analysis_status(struct al_app *app, struct al_reply *reply)
{
    struct al_jw w;
    if (al_app_core(app, "cli", &reply->err) < 0)
        return -1;
    if (!al_config_bool(app->config, AL_OPT_ANALYSIS_ENABLED)) {
        al_fail(&reply->err, AL_RUNTIME_UNAVAILABLE, "Python scripts are switched off by analysis.enabled");
        return al_hint(&reply->err, "alisio config set analysis.enabled true");
    }
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_say_python(app, true, &reply->text, &w);
    al_jw_end(&w);
    return 0;
}
