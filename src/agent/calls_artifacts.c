/* What a call has published: told as soon as it has ended, with where it is. */
#include "agent/turn_int.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

#define EVENT_MAX (1u << 20)
#define ARTIFACTS_MAX 200 /* of one call that are told */

struct finding {
    struct al_agent *a;
    const struct al_agent_call *c;
    const struct al_call *call;
    int64_t since_ms;
    size_t n;
    struct al_buf events; /* lines: a callback of the store must not write to it */
};

/* By its run, or since the result names it; a script's nested calls say nothing of themselves. */
static bool is_of(const struct finding *f, const struct al_artifact *art)
{
    struct al_str id = al_str_of(art->id);
    if (f->call->execution_id[0] && strcmp(art->execution, f->call->execution_id) == 0)
        return true;
    if (f->call->tool == &al_tool_js_run || f->call->tool == &al_tool_execute)
        return true;
    return al_str_find(al_buf_str(&f->call->structured), id) >= 0 ||
           al_str_find(al_buf_str(&f->call->text), id) >= 0;
}

static bool was_told(const struct al_agent *a, const char *id)
{
    for (size_t i = 0; i < a->n_published; i++)
        if (strcmp(a->published[i], id) == 0)
            return true;
    return false;
}

static void put_path(struct al_jw *w, const struct al_agent *a, const struct al_artifact *art)
{
    autobuf struct al_buf path = AL_BUF_INIT(16384);
    al_buf_addf(&path, "%s/%s/files/%s", al_store_dir(a->store), art->rel_dir,
                art->entry ? art->entry : art->file_name);
    al_jw_kstr(w, "path", al_buf_str(&path));
}

static bool on_artifact(void *ud, const struct al_artifact *art)
{
    struct finding *f = ud;
    if (al_id_time_ms(al_str_of(art->id)) < f->since_ms)
        return false; /* newest first */
    if (was_told(f->a, art->id) || !is_of(f, art))
        return true;
    struct al_jw w;
    if (f->events.n)
        al_buf_addc(&f->events, '\n');
    al_jw_init(&w, &f->events);
    al_jw_obj(&w);
    al_jw_key(&w, "artifact");
    al_jw_obj(&w);
    al_jw_kstrz(&w, "id", art->id);
    al_jw_kstrz(&w, "title", art->title && art->title[0] ? art->title : art->file_name);
    al_jw_kstrz(&w, "fileName", art->file_name);
    al_jw_kstrz(&w, "kind", art->kind);
    al_jw_kstrz(&w, "mimeType", art->mime);
    al_jw_kint(&w, "bytes", art->bytes);
    al_jw_kint(&w, "files", art->n_files);
    al_jw_kstrz(&w, "sha256", art->sha256);
    al_jw_kbool(&w, "partial", art->partial);
    al_jw_end(&w);
    put_path(&w, f->a, art);
    al_jw_kstrz(&w, "callId", f->c->id);
    const char *execution = art->execution[0] ? art->execution : f->call->execution_id;
    if (execution[0])
        al_jw_kstrz(&w, "executionId", execution);
    al_jw_end(&w);
    f->a->published = al_xrealloc(f->a->published, (f->a->n_published + 1) * sizeof(*f->a->published));
    snprintf(f->a->published[f->a->n_published++], AL_ID_MAX, "%s", art->id);
    return ++f->n < ARTIFACTS_MAX;
}

void al_call_artifacts(struct al_agent *a, const struct al_agent_call *c, const struct al_call *call)
{
    struct finding f = {.a = a, .c = c, .call = call, .events = AL_BUF_INIT(ARTIFACTS_MAX * (64u << 10))};
    struct al_artifact_filter filter = {.session = a->session};
    struct al_err err;
    if (!call->tool || call->tool->effect == AL_EFFECT_READ)
        return;
    f.since_ms = al_wall_ms() - (int64_t)((al_mono_ns() - c->began_ns) / 1000000) - 1;
    if (al_store_artifact_each(a->store, &filter, on_artifact, &f, &err) < 0)
        al_turn_notice(a, al_str_of(err.msg));
    struct al_str rest = al_buf_str(&f.events);
    while (rest.n > 0) {
        const char *end = memchr(rest.p, '\n', rest.n);
        struct al_str line = {rest.p, end ? (size_t)(end - rest.p) : rest.n};
        if (line.n < EVENT_MAX)
            al_agent_event(a, "artifact_published", line);
        rest = end ? (struct al_str){end + 1, rest.n - line.n - 1} : (struct al_str){"", 0};
    }
    al_buf_free(&f.events);
}
