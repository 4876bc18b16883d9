#include "test.h"

#include "pyrun_world.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"
#include "os/spawn.h"
#include "sandbox/guest.h"
#include "sandbox/supervise.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAIT_MS 150000
#define TEXT_MAX (64u << 20)

void pyrun_world_enter(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], AL_SUPERVISE_VERB) == 0)
        exit(al_supervise_main(argc, argv));
    if (argc > 1 && strcmp(argv[1], AL_GUEST_VERB) == 0)
        exit(al_guest_main(argc, argv));
    al_fd_ensure_std();
    al_self_open();
}

static char *beneath(const char *a, const char *b)
{
    char *z = NULL;
    assert_true(asprintf(&z, "%s/%s", a, b) > 0);
    return z;
}

int pyrun_world_set_up(void **state)
{
    struct pyrun_world *t = al_xcalloc(1, sizeof(*t));
    const char *tmp = getenv("TMPDIR");
    autofree char *pattern = beneath(tmp ? tmp : "/tmp", "al-pyrun-XXXXXX");
    assert_non_null(mkdtemp(pattern));
    t->top = realpath(pattern, NULL);
    t->state = beneath(t->top, "state");
    assert_int_equal(mkdir(t->state, 0700), 0);
    t->loop = al_loop_new();
    t->opts = (struct al_pyrun_opts){.loop = t->loop, .state_dir = t->state};
    if (access("/usr/bin/python3", X_OK) == 0)
        t->opts.python = "/usr/bin/python3"; /* what stands first in PATH may be a slow shim */
    *state = t;
    return 0;
}

static void stop(struct pyrun_world *t)
{
    al_pyrun_free(t->pyrun);
    al_config_free(t->config);
    t->pyrun = NULL;
    t->config = NULL;
}

void pyrun_world_start(struct pyrun_world *t, const char *config_json)
{
    struct al_err err;
    stop(t);
    struct al_str user = al_str_of(config_json ? config_json : "");
    if (al_config_load_bytes(user, AL_STR(""), &t->config, &err) < 0)
        fail_msg("%s", err.msg);
    t->opts.config = t->config;
    t->pyrun = al_pyrun_new(&t->opts);
}

int pyrun_world_tear_down(void **state)
{
    struct pyrun_world *t = *state;
    stop(t);
    al_loop_free(t->loop);
    char *slash = strrchr(t->top, '/');
    autofree char *parent = al_xdup(t->top, slash == t->top ? 1 : (size_t)(slash - t->top));
    autofd int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(al_path_remove_tree(fd, slash + 1), 0);
    free(t->top);
    free(t->state);
    free(t);
    return 0;
}

void pyrun_world_job(struct pyrun_world *t, const char *code, struct al_py_job *ret)
{
    struct al_err err;
    char id[AL_ID_MAX];
    al_id_new(id, "exec");
    t->jobs++;
    if (al_py_job_new(t->state, "world-000000000000", "sess_1", id, ret, &err) < 0 ||
        al_py_job_script(ret, al_str_of(code), &err) < 0)
        fail_msg("%s (%s)", err.msg, err.detail);
}

static void started(void *ud, int64_t pid)
{
    struct pyrun_answer *a = ud;
    a->has_started = true;
    a->pid = pid;
}

static void progress(void *ud, struct al_str json)
{
    struct pyrun_answer *a = ud;
    a->n_progress++;
    free(a->progress);
    a->progress = al_xdup(json.p, json.n);
}

static void output(void *ud, bool is_error, struct al_str bytes)
{
    struct pyrun_answer *a = ud;
    (void)is_error;
    a->came += bytes.n;
    if (!a->until || a->heard)
        return;
    al_buf_add_str(&a->heard_text, bytes);
    a->heard = al_str_find(al_buf_str(&a->heard_text), al_str_of(a->until)) >= 0;
}

static void end(void *ud, const struct al_py_run_end *e)
{
    struct pyrun_answer *a = ud;
    a->ends++;
    a->done = true;
    a->heard = true;
    a->cause = e->cause;
    a->exit_code = e->exit_code;
    a->signal = e->signal;
    a->err = e->err;
    a->out = al_xdup(e->out.text.p, e->out.text.n);
    a->errors = al_xdup(e->errors.text.p, e->errors.text.n);
    a->out_bytes = e->out.bytes;
    a->out_logged = e->out.logged;
    a->duration_ms = e->duration_ms;
    a->cpu_ms = e->cpu_ms;
    a->peak_bytes = e->peak_bytes;
    a->memory = e->memory;
    a->pids = e->pids;
    a->disk = e->disk;
    a->pid_namespace = e->pid_namespace;
}

void pyrun_answer_free(struct pyrun_answer *a)
{
    free(a->out);
    free(a->errors);
    free(a->progress);
    al_buf_free(&a->heard_text);
    *a = (struct pyrun_answer){0};
}

struct al_py_run *pyrun_world_begin(struct pyrun_world *t, const struct al_py_run_spec *spec,
                                    struct pyrun_answer *answer)
{
    static const struct al_py_run_ops ops = {
        .started = started, .progress = progress, .output = output, .end = end};
    struct al_err err;
    const char *until = answer->until;
    *answer = (struct pyrun_answer){.until = until, .heard_text = AL_BUF_INIT(TEXT_MAX)};
    struct al_py_run *r = al_py_run_start(t->pyrun, spec, &ops, answer, &err);
    if (!r)
        fail_msg("%s", err.msg);
    return r;
}

void pyrun_world_wait(struct pyrun_world *t, const bool *flag)
{
    assert_true(al_loop_run_until(t->loop, flag, WAIT_MS));
}

void pyrun_world_run(struct pyrun_world *t, enum al_py_backend b, const char *code, uint64_t timeout_ms,
                     struct pyrun_answer *answer, struct al_py_job *keep)
{
    struct al_py_job job;
    *answer = (struct pyrun_answer){0};
    pyrun_world_job(t, code, &job);
    struct al_py_run_spec spec = {
        .job = &job, .backend = b, .timeout_ms = timeout_ms, .max_head = 2048, .max_tail = 2048};
    pyrun_world_begin(t, &spec, answer);
    pyrun_world_wait(t, &answer->done);
    assert_int_equal(answer->ends, 1);
    if (keep) {
        *keep = job;
        return;
    }
    al_py_job_remove(&job);
    al_py_job_close(&job);
}

bool pyrun_world_has(struct pyrun_world *t, enum al_py_backend b)
{
    static enum {
        UNKNOWN,
        HERE,
        NOT_HERE
    } known[AL_PY_N]; /* for all tests of a program */
    if (known[b] != UNKNOWN)
        return known[b] == HERE;
    struct pyrun_answer a = {0};
    pyrun_world_run(t, b, "print('ready')", 20000, &a, NULL);
    bool has = a.cause == AL_PY_EXITED && a.exit_code == 0 && strcmp(a.out, "ready\n") == 0;
    if (!has)
        print_message("%s is not here: %s %s %s\n", al_py_backend_name(b), a.err.msg, a.err.hint, a.errors);
    known[b] = has ? HERE : NOT_HERE;
    pyrun_answer_free(&a);
    return has;
}
