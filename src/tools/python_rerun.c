/* Running a script again: on the very same inputs, or with others in the place of some. What is not as it was
 * is listed whole, and nothing runs. */
#include "tools/python_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/path.h"
#include "tools/data_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_JOB_JSON (4u << 20)
#define MAX_PROBLEMS (16u << 10)
#define SHOWN_NAME 80u

/* --- which run --- */

static int refuse(struct al_err *err, const char *what)
{
    al_fail(err, AL_RERUN_REFUSED, "%s", what);
    return al_hint(err, "pass the script as code, and what it reads as inputs");
}

static int no_such(struct al_str id, struct al_err *err)
{
    autobuf struct al_buf shown = AL_BUF_INIT(512);
    al_text_visible(&shown, al_utf8_head(id, SHOWN_NAME), false);
    al_fail(err, AL_NOT_FOUND, "there is no artifact or execution \"%.*s\" in this workspace",
            AL_FMT(al_buf_str(&shown)));
    return al_hint(err, "artifact_list shows the ids of artifacts (art_…); a result names its own execution "
                        "(exec_…)");
}

/* Of an artifact, also of one whose files are gone: that is how it is made again. */
static int find_artifact(struct al_core *core, const char *id, struct python_rerun *ret, struct al_err *err)
{
    struct al_artifact a = {0};
    const char *workspace = al_workspace_root(al_core_workspace(core));
    if (al_store_artifact_get(al_core_store(core), id, workspace, &a, err) < 0)
        return -1;
    snprintf(ret->artifact, sizeof(ret->artifact), "%s", a.id);
    snprintf(ret->execution, sizeof(ret->execution), "%s", a.execution);
    al_artifact_fini(&a);
    return ret->execution[0] ? 0 : refuse(err, "no script made this artifact");
}

static bool is_of_workspace(struct al_core *core, const char *session)
{
    struct al_session s = {0};
    struct al_err ignored;
    if (al_store_session_get(al_core_store(core), session, &s, &ignored) < 0)
        return false;
    bool same = strcmp(s.workspace, al_workspace_root(al_core_workspace(core))) == 0;
    al_session_fini(&s);
    return same;
}

static int check_run(struct al_core *core, const struct al_run *run, struct al_str id, struct al_err *err)
{
    if (!is_of_workspace(core, run->session))
        return no_such(id, err);
    if (strcmp(run->kind, "python_run") != 0)
        return refuse(err, "this execution was no python_run");
    if (strcmp(run->status, "queued") == 0 || strcmp(run->status, "running") == 0)
        return refuse(err, "this execution has not ended yet");
    if (!run->started_ms)
        return refuse(err, "this execution never came to run its script");
    return 0;
}

static int take_run(struct al_core *core, const struct al_run *run, struct python_rerun *ret,
                    struct al_arena *a, struct al_buf *code, struct al_err *err)
{
    memcpy(ret->session, run->session, sizeof(ret->session));
    if (run->record)
        ret->record = al_arena_dup(a, al_str_of(run->record));
    if (run->title)
        ret->title = al_arena_dup(a, al_str_of(run->title));
    if (run->code_sha256)
        ret->code_sha256 = al_arena_dup(a, al_str_of(run->code_sha256));
    if (al_store_run_code(al_core_store(core), run->id, code, err) < 0)
        return refuse(err, "the script of this execution is no longer kept");
    return 0;
}

int python_rerun_find(struct al_core *core, struct al_str id, struct python_rerun *ret, struct al_arena *a,
                      struct al_buf *code, struct al_err *err)
{
    struct al_run run = {0};
    *ret = (struct python_rerun){0};
    if (al_id_valid(id, "art")) {
        char z[AL_ID_MAX];
        snprintf(z, sizeof(z), "%.*s", AL_FMT(id));
        if (find_artifact(core, z, ret, err) < 0)
            return -1;
    } else if (al_id_valid(id, "exec")) {
        snprintf(ret->execution, sizeof(ret->execution), "%.*s", AL_FMT(id));
    } else {
        return no_such(id, err);
    }
    if (al_store_run_get(al_core_store(core), ret->execution, &run, err) < 0)
        return ret->artifact[0] ? refuse(err, "the execution that made this artifact is no longer kept")
                                : no_such(id, err);
    int done = check_run(core, &run, id, err);
    if (done == 0)
        done = take_run(core, &run, ret, a, code, err);
    al_run_fini(&run);
    return done;
}

/* --- what it was run on --- */

static void problem(struct python_rerun *rr, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void problem(struct python_rerun *rr, const char *fmt, ...)
{
    va_list ap;
    char line[512];
    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    struct al_str whole = al_utf8_cut(al_str_of(line), sizeof(line) - 8); /* no half of a character */
    if (!rr->problems.max)
        al_buf_init(&rr->problems, MAX_PROBLEMS);
    al_buf_addf(&rr->problems, "%s%.*s", rr->n_problems++ ? "; " : "", AL_FMT(whole));
}

static const char *shown_str(struct python_run *r, struct al_str name)
{
    autobuf struct al_buf out = AL_BUF_INIT(16 * SHOWN_NAME);
    al_text_visible(&out, al_utf8_head(name, SHOWN_NAME), false);
    const char *kept = al_arena_dup(&r->arena, al_buf_str(&out));
    return kept ? kept : "?";
}

static const char *shown(struct python_run *r, const char *name)
{
    return shown_str(r, al_str_of(name));
}

/* job.json of the old job; "" when it is not there. The caller closes the job where *ret_there is true. */
static void open_old_job(const struct python_run *r, struct al_py_job *ret, bool *ret_there)
{
    char key[AL_WORKSPACE_KEY_MAX];
    struct al_err ignored;
    al_workspace_key(key, al_core_session(r->core)->workspace);
    *ret_there = al_py_job_open(al_store_dir(al_core_store(r->core)), key, r->rerun->session,
                                r->rerun->execution, ret, &ignored) == 0;
}

static const struct al_json *read_job_json(struct python_run *r)
{
    struct al_py_job job;
    bool there;
    const struct al_json *v = NULL;
    autobuf struct al_buf text = AL_BUF_INIT(MAX_JOB_JSON);
    struct al_err ignored;
    open_old_job(r, &job, &there);
    if (!there)
        return NULL;
    if (al_py_job_read(&job, "job.json", MAX_JOB_JSON, &text, &ignored) == 0) {
        char *kept = al_arena_dup(&r->arena, al_buf_str(&text));
        if (!kept || al_json_parse(&r->arena, (struct al_str){kept, text.n}, &v, &ignored) < 0)
            v = NULL;
    }
    al_py_job_close(&job);
    return v;
}

static void take_sha(char out[AL_SHA256_HEX], struct al_str hex)
{
    snprintf(out, AL_SHA256_HEX, "%.*s", AL_FMT(al_utf8_cut(hex, AL_SHA256_HEX - 1)));
}

/* One of the recorded inputs; false: it is no such record. */
static bool recorded_input(struct python_run *r, const struct al_json *v, const struct al_json *manifest,
                           struct python_input *ret)
{
    struct al_str name = al_json_get_text(v, "name"), copy = al_json_get_text(v, "copySha256");
    int kind = python_kind_find(al_json_get_text(v, "kind"));
    struct al_str sha = al_json_get_text(v, "sha256");
    if (!name.n || name.n > PYTHON_MAX_NAME || memchr(name.p, '/', name.n) || kind < 0 || !sha.n)
        return false;
    *ret = (struct python_input){.kind = (enum python_kind)kind, .fd = -1, .kept = true, .kept_bytes = -1};
    al_json_int(al_json_get(v, "bytes"), 0, INT64_MAX, &ret->kept_bytes);
    ret->as = al_arena_dup(&r->arena, name);
    ret->id = al_json_get_text(v, kind == PYTHON_DATASET ? "datasetId" : "artifactId");
    take_sha(ret->sha256, sha);
    take_sha(ret->kept_sha256, copy.n ? copy : sha);
    al_json_each(entry, manifest)
    {
        if (al_str_eq(al_json_get_text(entry, "name"), name))
            ret->manifest = al_arena_dup(&r->arena, entry->raw);
    }
    return true;
}

/* The result of the run lies in the journal, out of reach of its script; job.json is read where there is
 * none. */
static size_t recorded(struct python_run *r, struct python_input *list, const struct al_json **ret_extras)
{
    const struct al_json *record = NULL, *job = read_job_json(r);
    struct al_err ignored;
    size_t n = 0;
    if (r->rerun->record && al_json_parse(&r->arena, al_str_of(r->rerun->record), &record, &ignored) < 0)
        record = NULL;
    const struct al_json *inputs = al_json_get(record, "inputs");
    if (!inputs || inputs->type != AL_JSON_ARRAY) {
        record = job;
        inputs = al_json_get(job, "inputs");
    }
    if (!inputs || inputs->type != AL_JSON_ARRAY || inputs->n > PYTHON_MAX_INPUTS)
        problem(r->rerun, "what it was run on is not recorded");
    al_json_each(v, inputs)
    {
        if (n == PYTHON_MAX_INPUTS)
            break;
        if (recorded_input(r, v, al_json_get(job, "manifest"), &list[n]))
            n++;
        else
            problem(r->rerun, "an input is recorded in a way that cannot be read");
    }
    *ret_extras = al_json_get(record, "extras");
    if (!r->title)
        r->title = r->rerun->title;
    return n;
}

static void check_dataset(struct python_run *r, const struct python_input *in)
{
    struct al_dataset_row row = {0};
    struct al_err ignored;
    if (al_data_find(r->core, in->id, &row, &ignored) < 0) {
        problem(r->rerun, "the dataset of %s (%s) is no longer there", shown(r, in->as),
                shown_str(r, in->id));
        return;
    }
    if (!row.sha256 || strcmp(row.sha256, in->sha256) != 0)
        problem(r->rerun, "the dataset of %s (%s) has another content", shown(r, in->as),
                shown_str(r, in->id));
    al_dataset_row_fini(&row);
}

static void names_of(struct python_run *r, const struct python_input *list, size_t n, struct al_buf *out)
{
    for (size_t i = 0; i < n; i++)
        al_buf_addf(out, "%s%s", i ? ", " : "", shown(r, list[i].as));
    al_buf_addc(out, '\0');
}

/* A given input takes the place of the recorded one of its name. */
static void replace(struct python_run *r, const struct python_input *given, struct python_input *list,
                    size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!list[i].kept || strcmp(list[i].as, given->as) != 0)
            continue;
        list[i] = *given;
        r->rerun->replaced[r->rerun->n_replaced++] = given->as;
        return;
    }
    autobuf struct al_buf had = AL_BUF_INIT(PYTHON_MAX_INPUTS * 16 * SHOWN_NAME);
    int fd = given->fd;
    al_close(&fd);
    if (n == 0) {
        problem(r->rerun, "%s would take no input's place: it was run without any", shown(r, given->as));
        return;
    }
    names_of(r, list, n, &had);
    problem(r->rerun, "%s is none of its inputs' names (%.*s): name the one it replaces with \"as\"",
            shown(r, given->as), AL_FMT(al_utf8_cut(al_str_of(had.p), 200)));
}

int python_rerun_inputs(struct python_run *r, struct al_err *err)
{
    struct python_input list[PYTHON_MAX_INPUTS];
    const struct al_json *extras;
    if (python_open_inputs(r, err) < 0)
        return -1;
    size_t n = recorded(r, list, &extras);
    for (size_t i = 0; i < r->n_inputs; i++)
        replace(r, &r->inputs[i], list, n);
    memcpy(r->inputs, list, n * sizeof(*list));
    r->n_inputs = n;
    for (size_t i = 0; i < n; i++) {
        if (list[i].kept && list[i].kind == PYTHON_DATASET)
            check_dataset(r, &list[i]);
    }
    al_json_each(name, r->n_extras ? NULL : extras)
    {
        if (r->n_extras < 2 && al_json_is_string(name))
            r->extras[r->n_extras++] = al_str_is(name->str, "science") ? "science" : "analysis";
    }
    return 0;
}

/* --- whether it still is as it was; on the pool --- */

static int hash_file(struct python_run *r, int fd, char out[AL_SHA256_HEX])
{
    enum {
        CHUNK = 256 * 1024
    };
    autofree char *chunk = al_xmalloc(CHUNK);
    struct al_sha256 *hash = al_sha256_new();
    ssize_t n;
    for (off_t at = 0; (n = pread(fd, chunk, CHUNK, at)) != 0; at += n) {
        if (n < 0 && errno == EINTR) {
            n = 0;
            continue;
        }
        if (n < 0 || atomic_load(&r->stop))
            break;
        al_sha256_add(hash, chunk, (size_t)n);
    }
    al_sha256_end(hash, out);
    return n < 0 ? -1 : 0;
}

static int open_kept(const struct al_py_job *job, const char *folder, const char *name, int *ret_fd)
{
    struct al_err ignored;
    struct stat st;
    autobuf struct al_buf rel = AL_BUF_INIT(1024);
    al_buf_addf(&rel, "%s/%s", folder, name);
    al_buf_addc(&rel, '\0');
    autofd int fd = -1;
    if (al_path_open(job->fd, rel.p, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0, name, &fd, &ignored) <
            0 ||
        fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return -1;
    *ret_fd = fd;
    fd = -1;
    return 0;
}

/* Before it is read: a file of holes has any size, and costs its maker nothing. */
static bool has_size(int fd, int64_t bytes)
{
    struct stat st;
    return fstat(fd, &st) == 0 && (bytes < 0 || st.st_size == bytes);
}

static void verify_input(struct python_run *r, const struct al_py_job *job, struct python_input *in)
{
    char sha[AL_SHA256_HEX];
    if (!job || open_kept(job, "input", in->as, &in->fd) < 0)
        problem(r->rerun, "the kept copy of %s is missing", shown(r, in->as));
    else if (!has_size(in->fd, in->kept_bytes))
        problem(r->rerun, "the kept copy of %s has changed", shown(r, in->as));
    else if (hash_file(r, in->fd, sha) < 0)
        problem(r->rerun, "the kept copy of %s cannot be read", shown(r, in->as));
    else if (strcmp(sha, in->kept_sha256) != 0)
        problem(r->rerun, "the kept copy of %s has changed", shown(r, in->as));
}

/* The code comes from the journal, where it is kept longer; but a copy that is there must be the same. */
static void verify_script(struct python_run *r, const struct al_py_job *job)
{
    autofd int fd = -1;
    char sha[AL_SHA256_HEX];
    const char *recorded_sha = r->rerun->code_sha256;
    if (recorded_sha && strcmp(recorded_sha, r->sha256) != 0)
        problem(r->rerun, "the script is not the one that was recorded");
    else if (job && open_kept(job, "script", "main.py", &fd) == 0 &&
             (!has_size(fd, (int64_t)r->call->code.n) || hash_file(r, fd, sha) < 0 ||
              strcmp(sha, r->sha256) != 0))
        problem(r->rerun, "the kept script (main.py) has changed");
}

void python_rerun_verify(struct python_run *r)
{
    struct al_py_job job;
    bool there;
    open_old_job(r, &job, &there);
    verify_script(r, there ? &job : NULL);
    for (size_t i = 0; i < r->n_inputs; i++) {
        if (r->inputs[i].kept && !atomic_load(&r->stop))
            verify_input(r, there ? &job : NULL, &r->inputs[i]);
    }
    if (there)
        al_py_job_close(&job);
}

int python_rerun_verdict(struct python_run *r, struct al_err *err)
{
    struct python_rerun *rr = r->rerun;
    if (!rr->n_problems)
        return 0;
    al_fail(err, AL_RERUN_REFUSED, "%s cannot be run again: %.*s", rr->execution,
            AL_FMT(al_utf8_cut(al_buf_str(&rr->problems), 900)));
    return al_hint(
        err, "nothing was run. Give what is missing or changed in inputs, under the same name (\"as\"), "
             "or pass the script as code");
}
