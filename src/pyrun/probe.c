/* What a back end keeps scripts from, here and now: found out by running one that tries. */
#include "pyrun/pyrun_int.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define TIMEOUT_MS 20000
#define SETTLE_MS 8000
#define READY_MS (INT64_C(24) * 60 * 60 * 1000)
/* What was missing may be there soon: somebody follows the hint, and asks again. */
#define NOT_READY_MS 15000

struct waiter {
    void (*done)(void *ud, const struct al_py_probe *probe);
    void *ud;
    struct waiter *next;
};

struct al_py_probing {
    struct al_pyrun *pyrun;
    enum al_py_backend backend;
    bool fresh;
    struct waiter *first, **last;
    struct al_py_probe probe; /* the result to be */
    bool decided;             /* nothing is left to be run */
    char fingerprint[AL_SHA256_HEX];
    struct al_py_trap trap;
    struct al_py_job job;
    bool has_job;
    struct al_py_run *run;
};

static void enter(struct al_pyrun *p)
{
    p->busy++;
    p->idle = false;
}

static void leave(struct al_pyrun *p)
{
    p->busy--;
    p->idle = p->busy == 0;
}

static bool still_counts(const struct al_py_probe *p)
{
    int64_t age = al_wall_ms() - p->at_ms;
    return p->state != AL_PY_UNPROBED && age >= 0 &&
           age < (p->state == AL_PY_READY ? READY_MS : NOT_READY_MS);
}

/* --- on the pool --- */

static int make_job(struct al_py_probing *g, struct al_err *err)
{
    const struct al_py_backend_ops *ops = al_py_backend_ops(g->backend);
    autobuf struct al_buf told = AL_BUF_INIT(32768);
    char id[AL_ID_MAX];
    if (al_py_trap_set(g->pyrun, &g->trap, err) < 0)
        return -1;
    /* Beside the trap, so that all of it goes with it. */
    al_id_new(id, "exec");
    if (al_py_job_new(g->trap.path, "probe", "probe", id, &g->job, err) < 0)
        return -1;
    g->has_job = true;
    al_py_trap_tell(&g->trap, &told);
    if (al_buf_failed(&told))
        return al_fail(err, AL_INTERNAL, "the path of the state folder is too long");
    if (al_py_job_write(&g->job, "input/probe.json", al_buf_str(&told), err) < 0)
        return -1;
    return al_py_job_script(&g->job, al_str_of(ops->probe_code ? ops->probe_code : al_py_probe_script), err);
}

/* 0: to be run; 1: known; -1: not ready. */
static int prepare_it(struct al_py_probing *g, struct al_py_interpreter *python, struct al_err *err)
{
    const struct al_py_backend_ops *ops = al_py_backend_ops(g->backend);
    struct al_py_probe *probe = &g->probe;
    if (ops->needs_python) {
        if (al_py_interpreter_find(g->pyrun, python, err) < 0)
            return -1;
        snprintf(probe->python, sizeof(probe->python), "%s", python->version);
        snprintf(probe->interpreter, sizeof(probe->interpreter), "%s", python->path);
    }
    if (ops->check(g->pyrun, probe, err) < 0)
        return -1;
    probe->isolation = ops->isolation(g->pyrun);
    al_py_fingerprint(g->pyrun, g->backend, ops->needs_python ? python : NULL, g->fingerprint);
    struct al_py_probe old;
    if (!g->fresh && al_py_probe_recall(g->pyrun, g->backend, g->fingerprint, &old) &&
        old.isolation == probe->isolation) {
        *probe = old;
        return 1;
    }
    return make_job(g, err);
}

static void refuse(struct al_py_probe *probe, const struct al_err *why)
{
    probe->state = AL_PY_NOT_READY;
    probe->why = *why;
    probe->denies_network = probe->denies_files = probe->denies_processes = false;
    probe->at_ms = al_wall_ms();
}

static void prepare(void *ud)
{
    struct al_py_probing *g = ud;
    struct al_py_interpreter python = {0};
    struct al_err err = {0};
    int r = prepare_it(g, &python, &err);
    if (r < 0)
        refuse(&g->probe, &err);
    g->decided = r != 0;
    al_py_interpreter_fini(&python);
}

static void clear(void *ud)
{
    struct al_py_probing *g = ud;
    if (g->has_job)
        al_py_job_close(&g->job);
    al_py_trap_clear(g->pyrun, &g->trap);
    if (g->probe.state == AL_PY_READY && g->has_job)
        al_py_probe_remember(g->pyrun, g->backend, g->fingerprint, &g->probe);
}

/* --- in the loop --- */

static void probed(void *ud, const struct al_py_probe *probe);

/* A choice of ours hears it in any case, and ends. */
static void tell(const struct al_pyrun *p, const struct waiter *w, const struct al_py_probe *probe)
{
    if (!p->closed || w->done == probed)
        w->done(w->ud, probe);
}

static void finish(struct al_py_probing *g)
{
    struct al_pyrun *p = g->pyrun;
    struct al_py_probe probe = g->probe;
    p->probing[g->backend] = NULL;
    p->known[g->backend] = probe;
    if (probe.state == AL_PY_READY)
        p->distrusted[g->backend] = false;
    struct waiter *w = g->first;
    free(g);
    for (struct waiter *next; w; w = next) {
        next = w->next;
        tell(p, w, &probe);
        free(w);
    }
    leave(p);
}

static void cleared(void *ud)
{
    finish(ud);
}

static bool nothing_in(const struct al_json *said, const char *key)
{
    const struct al_json *list = al_json_get(said, key);
    return list && list->type == AL_JSON_ARRAY && list->n == 0;
}

/* What the script says is a claim, which what arrived here can only make worse. */
static bool read_answer(struct al_py_probing *g, struct al_str text)
{
    struct al_py_probe *probe = &g->probe;
    autoarena struct al_arena a = AL_ARENA_INIT(262144);
    const struct al_json *said;
    bool network = false, files = false;
    if (al_json_parse(&a, al_str_trim(text), &said, NULL) < 0 || !al_json_get(said, "network"))
        return false;
    struct al_str version = al_json_get_text(said, "python");
    if (version.p && version.n < sizeof(probe->python))
        snprintf(probe->python, sizeof(probe->python), "%.*s", AL_FMT(version));
    al_py_trap_sprung(&g->trap, &network, &files);
    probe->denies_network = nothing_in(said, "network") && !network;
    probe->denies_files = nothing_in(said, "files") && !files;
    probe->denies_processes = nothing_in(said, "processes");
    return true;
}

static void fail_answer(const struct al_py_run_end *end, const char *name, struct al_err *err)
{
    if (end->cause == AL_PY_NOT_STARTED) {
        *err = end->err;
        return;
    }
    if (end->cause == AL_PY_TIMED_OUT)
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "a small script did not end in %d s", TIMEOUT_MS / 1000);
    else if (end->cause == AL_PY_STOPPED)
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "the probe was stopped");
    else if (end->signal)
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "a small script was killed by signal %d", end->signal);
    else
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "a small script failed in it (exit status %d)", end->exit_code);
    struct al_str said = al_str_trim(end->errors.text);
    for (size_t i = said.n; i > 0; i--) { /* a traceback's last line says what it is about */
        if (said.p[i - 1] == '\n') {
            said = (struct al_str){said.p + i, said.n - i};
            break;
        }
    }
    autobuf struct al_buf shown = AL_BUF_INIT(1024);
    al_text_visible(&shown, al_utf8_cut(said, 200), false);
    al_hint(err, "`alisio analysis status` shows more of %s.", name);
    al_detail(err, "%.*s", AL_FMT(al_buf_str(&shown)));
}

static void run_ended(void *ud, const struct al_py_run_end *end)
{
    struct al_py_probing *g = ud;
    struct al_err err = {0};
    g->run = NULL;
    if (end->cause == AL_PY_EXITED && end->exit_code == 0 && read_answer(g, end->out.text)) {
        g->probe.state = AL_PY_READY;
        if (g->backend != AL_PY_OCI) { /* of that, only its engine knows: check() has asked it */
            g->probe.memory = end->memory;
            g->probe.pids = end->pids;
            g->probe.disk = end->disk;
        }
        g->probe.pid_namespace = end->pid_namespace;
        g->probe.at_ms = al_wall_ms();
    } else {
        fail_answer(end, al_py_backend_name(g->backend), &err);
        refuse(&g->probe, &err);
    }
    al_work_start(g->pyrun->loop, clear, cleared, g);
}

static void prepared(void *ud)
{
    static const struct al_py_run_ops ops = {.end = run_ended};
    struct al_py_probing *g = ud;
    struct al_err err = {0};
    if (!g->decided && !g->pyrun->closed) {
        const struct al_py_run_spec spec = {.job = &g->job,
                                            .backend = g->backend,
                                            .timeout_ms = TIMEOUT_MS,
                                            .max_head = 65536,
                                            .max_tail = 8192};
        g->run = al_py_run_start(g->pyrun, &spec, &ops, g, &err);
        if (g->run)
            return;
        refuse(&g->probe, &err);
    }
    al_work_start(g->pyrun->loop, clear, cleared, g);
}

/* --- for others --- */

struct answer {
    struct al_pyrun *pyrun;
    struct waiter waiter;
    struct al_py_probe probe;
};

static void give_answer(void *ud)
{
    struct answer *a = ud;
    struct al_pyrun *p = a->pyrun;
    tell(p, &a->waiter, &a->probe);
    leave(p);
    free(a);
}

void al_pyrun_probe(struct al_pyrun *p, enum al_py_backend b, bool fresh,
                    void (*done)(void *ud, const struct al_py_probe *probe), void *ud)
{
    if (!fresh && still_counts(&p->known[b])) {
        struct answer *a = al_xcalloc(1, sizeof(*a));
        *a = (struct answer){p, {done, ud, NULL}, p->known[b]};
        enter(p);
        al_defer(p->loop, give_answer, a);
        return;
    }
    struct al_py_probing *g = p->probing[b];
    bool start = !g;
    if (start) {
        g = p->probing[b] = al_xcalloc(1, sizeof(*g));
        *g = (struct al_py_probing){.pyrun = p,
                                    .backend = b,
                                    .fresh = fresh || p->distrusted[b],
                                    .probe = {.isolation = p->known[b].isolation},
                                    .trap = {.tcp = -1, .udp = -1, .local = -1}};
        g->last = &g->first;
        enter(p);
    }
    struct waiter *w = al_xcalloc(1, sizeof(*w));
    *w = (struct waiter){done, ud, NULL};
    *g->last = w;
    g->last = &w->next;
    if (start)
        al_work_start(p->loop, prepare, prepared, g);
}

const struct al_py_probe *al_pyrun_known(const struct al_pyrun *p, enum al_py_backend b)
{
    return &p->known[b];
}

void al_pyrun_forget(struct al_pyrun *p, enum al_py_backend b)
{
    p->known[b] = (struct al_py_probe){.isolation = p->known[b].isolation};
    p->distrusted[b] = true;
}

bool al_pyrun_settle(struct al_pyrun *p)
{
    p->closed = true;
    p->closing = true;
    for (int b = 0; b < AL_PY_N; b++) {
        if (p->probing[b] && p->probing[b]->run)
            al_py_run_cancel(p->probing[b]->run);
    }
    return p->busy == 0 || al_loop_run_until(p->loop, &p->idle, SETTLE_MS);
}

/* --- the choice --- */

struct al_py_choosing {
    struct al_py_choosing *next;
    struct al_pyrun *pyrun;
    struct al_py_probe probes[AL_PY_N];
    enum al_py_backend asked;
    void (*done)(void *ud, const struct al_py_probe *chosen, enum al_py_backend b, struct al_str reason,
                 const struct al_err *err);
    void *ud;
};

static void choose(void *ud);

static void probed(void *ud, const struct al_py_probe *probe)
{
    struct al_py_choosing *c = ud;
    c->probes[c->asked] = *probe;
    choose(c);
}

static void choose(void *ud)
{
    struct al_py_choosing *c = ud;
    struct al_pyrun *p = c->pyrun;
    autobuf struct al_buf reason = AL_BUF_INIT(4096);
    struct al_err err = {0};
    enum al_py_backend b = AL_PY_N;
    int r = p->closed ? -1
                      : al_py_choose(al_pyrun_wanted(p), al_pyrun_policy(p), c->probes, &b, &c->asked,
                                     &reason, &err);
    if (r > 0) {
        al_pyrun_probe(p, c->asked, false, probed, c);
        return;
    }
    struct al_py_choosing **at = &p->choosing;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    if (!p->closed && c->done)
        c->done(c->ud, r == 0 ? &c->probes[b] : NULL, b, al_buf_str(&reason), r == 0 ? NULL : &err);
    leave(p);
    free(c);
}

void al_pyrun_choose(struct al_pyrun *p,
                     void (*done)(void *ud, const struct al_py_probe *chosen, enum al_py_backend b,
                                  struct al_str reason, const struct al_err *err),
                     void *ud)
{
    struct al_py_choosing *c = al_xcalloc(1, sizeof(*c));
    *c = (struct al_py_choosing){.next = p->choosing, .pyrun = p, .done = done, .ud = ud};
    p->choosing = c;
    for (int b = 0; b < AL_PY_N; b++) {
        c->probes[b] = p->known[b];
        if (!still_counts(&p->known[b]))
            c->probes[b].state = AL_PY_UNPROBED;
    }
    enter(p);
    al_defer(p->loop, choose, c);
}

void al_pyrun_unchoose(struct al_pyrun *p, const void *ud)
{
    for (struct al_py_choosing *c = p->choosing; c; c = c->next) {
        if (c->ud == ud)
            c->done = NULL;
    }
}
