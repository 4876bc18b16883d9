/* artifact_create: text that the model has becomes an artifact; artifact_list: which there are. */
#include "tools/artifacts_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "tools/publish_text.h"

#include <stdio.h>

#define TITLE_CHARS 120
#define NAME_CHARS 200
#define LIST_DEFAULT 50
#define LIST_MAX 100

bool al_tool_artifacts_on(const struct al_core *core)
{
    return al_config_bool(al_core_config(core), AL_OPT_ANALYSIS_ENABLED);
}

bool al_tool_artifacts_writable(const struct al_core *core)
{
    return al_tool_artifacts_on(core) && !al_core_policy(core)->read_only;
}

int al_tool_artifact(struct al_call *call, struct al_artifact *ret, struct al_err *err)
{
    struct al_str id = al_json_get_text(call->args, "id");
    const char *workspace = al_workspace_root(al_core_workspace(call->core));
    char z[AL_ID_MAX];
    if (al_id_valid(id, "art")) {
        snprintf(z, sizeof z, "%.*s", AL_FMT(id));
        if (al_store_artifact_get(al_core_store(call->core), z, workspace, ret, err) == 0)
            return 0;
        if (err->code != AL_NOT_FOUND)
            return -1;
    }
    autobuf struct al_buf shown = AL_BUF_INIT(512);
    al_text_visible(&shown, al_utf8_head(id, 64), false);
    al_fail(err, AL_NOT_FOUND, "there is no artifact %.*s in this workspace", AL_FMT(al_buf_str(&shown)));
    return al_hint(err, "artifact_list has the ids, art_…");
}

void al_tool_artifact_words(struct al_buf *out, const struct al_artifact *a)
{
    al_text_visible(out, al_utf8_head(al_str_of(a->file_name), NAME_CHARS), false);
    al_buf_addf(out, " (%s, ", a->kind);
    al_text_bytes(out, (uint64_t)a->bytes);
    if (a->n_files > 1)
        al_buf_addf(out, " in %lld files", (long long)a->n_files);
    al_buf_addf(out, "%s, %s)", a->partial ? ", partial" : "", a->id);
}

void al_tool_artifact_members(struct al_jw *w, const struct al_artifact *a)
{
    al_jw_kstrz(w, "id", a->id);
    al_jw_kstrz(w, "title", a->title ? a->title : a->file_name);
    al_jw_kstrz(w, "fileName", a->file_name);
    al_jw_kstrz(w, "kind", a->kind);
    al_jw_kstrz(w, "mimeType", a->mime);
    al_jw_kint(w, "bytes", a->bytes);
    al_jw_kint(w, "files", a->n_files);
    al_jw_kbool(w, "partial", a->partial);
}

/* --- artifact_create --- */

struct create {
    struct al_call *call;
    struct al_buf provenance;
};

static void create_end(struct create *c)
{
    struct al_call *call = c->call;
    al_buf_free(&c->provenance);
    free(c);
    call->impl = NULL;
    al_call_finish(call);
}

static int bad_name(struct al_err *err)
{
    al_fail(err, AL_TOOL_INPUT_INVALID,
            "/fileName: must be a plain name of at most 255 bytes, without folders");
    return al_hint(err, "like report.md: no slash, no dot at its beginning");
}

static void tell_created(struct al_call *call, const struct al_publication *made)
{
    const struct al_artifact *a = &made->list[0];
    struct al_jw w;
    al_buf_adds(&call->text, "published ");
    al_tool_artifact_words(&call->text, a);
    al_buf_addc(&call->text, '\n');
    al_buf_add_str(&call->text, al_buf_str(&made->warnings));
    al_jw_init(&w, &call->structured);
    al_jw_obj(&w);
    al_tool_artifact_members(&w, a);
    al_jw_key(&w, "warnings");
    al_jw_arr(&w);
    struct al_str rest = al_buf_str(&made->warnings), line;
    while (al_tool_next_line(&rest, &line))
        if (line.n)
            al_jw_str(&w, line);
    al_jw_end(&w);
    al_jw_end(&w);
}

static void created(void *ud, const struct al_publication *made)
{
    struct create *c = ud;
    if (made)
        tell_created(c->call, made);
    create_end(c);
}

static void create_start(struct al_call *call)
{
    struct create *c = al_xcalloc(1, sizeof *c);
    struct al_str title = al_json_get_text(call->args, "title");
    struct al_jw w;
    c->call = call;
    al_buf_init(&c->provenance, 8192);
    struct al_publish_text spec = {
        .call = call,
        .name = al_json_get_text(call->args, "fileName"),
        .text = al_json_get_text(call->args, "text"),
        .title = title.n ? al_arena_dup(&call->arena, title) : NULL,
        .done = created,
        .ud = c,
    };
    if (!al_publish_text_name(spec.name)) {
        bad_name(&call->err);
        create_end(c);
        return;
    }
    al_jw_init(&w, &c->provenance);
    al_publish_text_provenance(call, &w);
    al_jw_end(&w);
    spec.provenance = al_buf_str(&c->provenance);
    al_publish_text(&spec);
}

const struct al_tool al_tool_artifact_create = {
    .name = "artifact_create",
    .title = "Publish text as a file",
    .description = "Publishes text that you have (Markdown, HTML, CSV, JSON, SVG, code) as an artifact: a "
                   "file that the person can "
                   "open and download, kept outside the workspace. It works without Python and needs no "
                   "approval. An HTML page is "
                   "shown offline and by itself: put styles, scripts and data into it. To write a file into "
                   "the workspace use "
                   "write_file, or artifact_export afterwards. Structured value: {id, title, fileName, kind, "
                   "mimeType, bytes, files, "
                   "partial, warnings}.",
    .brief =
        "Publishes text that you have (Markdown, HTML, CSV, SVG, code …) as a file for the "
        "person, outside the workspace. HTML is shown offline: put everything into it.",
    .input_schema = "{\"type\":\"object\",\"required\":[\"fileName\",\"text\"],\"properties\":{\"fileName\":{"
                    "\"type\":\"string\","
                    "\"minLength\":1,\"maxLength\":200,\"description\":\"A plain name with its ending, like "
                    "report.md\"},\"title\":{\"type\":\"string\",\"maxLength\":200,\"description\":\"What "
                    "people see above "
                    "it\"},\"text\":{\"type\":\"string\",\"maxLength\":5242880,\"description\":\"The whole "
                    "content\"}},\"additionalProperties\":false}",
    .output_schema = "{\"type\":\"object\",\"properties\":{" AL_ARTIFACT_PROPERTIES
                     ",\"warnings\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}}",
    .effect = AL_EFFECT_INTERNAL,
    .registered = al_tool_artifacts_writable,
    .start = create_start,
};

/* --- artifact_list --- */

struct list {
    struct al_call *call;
    struct al_jw w;
    int64_t n, limit;
    bool more;
};

static void put_line(struct al_buf *out, const struct al_artifact *a)
{
    char at[AL_TIME_MAX];
    al_time_iso(at, a->created_ms);
    al_buf_addf(out, "%s  %s  ", a->id, a->kind);
    al_text_visible(out, al_utf8_head(al_str_of(a->file_name), NAME_CHARS), false);
    al_buf_adds(out, "  ");
    al_text_bytes(out, (uint64_t)a->bytes);
    if (a->partial)
        al_buf_adds(out, "  partial");
    if (strcmp(a->status, "ready") != 0)
        al_buf_addf(out, "  %s", a->status);
    al_buf_addf(out, "  %s", at);
    if (a->title && strcmp(a->title, a->file_name) != 0) {
        al_buf_adds(out, "  ");
        al_text_visible(out, al_utf8_head(al_str_of(a->title), TITLE_CHARS), false);
    }
    al_buf_addc(out, '\n');
}

static bool list_one(void *ud, const struct al_artifact *a)
{
    struct list *l = ud;
    char at[AL_TIME_MAX];
    if (l->n == l->limit) {
        l->more = true;
        return false;
    }
    l->n++;
    put_line(&l->call->text, a);
    al_time_iso(at, a->created_ms);
    al_jw_obj(&l->w);
    al_tool_artifact_members(&l->w, a);
    al_jw_kstrz(&l->w, "status", a->status);
    al_jw_kstrz(&l->w, "createdAt", at);
    al_jw_end(&l->w);
    return true;
}

/* What direct calls and clients make belongs to the default session, which is the workspace to them: its list
 * has all of it. A session of its own lists what was made in it. */
static void list_start(struct al_call *call)
{
    const struct al_core *core = call->core;
    const struct al_session *session = al_core_session(core);
    struct list l = {.call = call, .limit = LIST_DEFAULT};
    char kind[32];
    struct al_str wanted = al_json_get_text(call->args, "kind");
    bool is_default = strcmp(session->kind, "default") == 0;
    al_json_int(al_json_get(call->args, "limit"), 1, LIST_MAX, &l.limit);
    snprintf(kind, sizeof kind, "%.*s", AL_FMT(wanted));
    struct al_artifact_filter filter = {.workspace = al_workspace_root(al_core_workspace(core)),
                                        .session = is_default ? NULL : session->id,
                                        .kind = wanted.n ? kind : NULL,
                                        .all = true,
                                        .limit = (int)l.limit + 1};
    al_jw_init(&l.w, &call->structured);
    al_jw_obj(&l.w);
    al_jw_key(&l.w, "artifacts");
    al_jw_arr(&l.w);
    if (al_store_artifact_each(al_core_store(core), &filter, list_one, &l, &call->err) < 0) {
        al_buf_clear(&call->structured);
        al_buf_clear(&call->text);
        al_call_finish(call);
        return;
    }
    al_jw_end(&l.w);
    al_jw_kbool(&l.w, "truncated", l.more);
    al_jw_end(&l.w);
    if (l.n == 0)
        al_buf_adds(&call->text, "there are no artifacts yet\n");
    else if (l.more)
        al_buf_adds(&call->text, "[older ones are not shown: a higher limit, or a kind]\n");
    al_call_finish(call);
}

const struct al_tool al_tool_artifact_list = {
    .name = "artifact_list",
    .title = "List artifacts",
    .description = "Lists the artifacts (published files) of this session, the newest first: a line each "
                   "with id, kind, file "
                   "name, size, time and title; \"partial\" marks those of a script that failed, \"expired\" "
                   "those whose "
                   "files were removed. Structured value: {artifacts: [{id, title, fileName, kind, mimeType, "
                   "bytes, files, "
                   "partial, status, createdAt}], truncated}. artifact_read shows one, artifact_export "
                   "copies one into the "
                   "workspace.",
    .brief =
        "Lists the published files of this session, the newest first, with their ids.",
    .input_schema =
        "{\"type\":\"object\",\"properties\":{\"kind\":{\"enum\":[\"dashboard\",\"document\",\"spreadsheet\","
        "\"image\",\"data\",\"code\",\"archive\",\"file\"]},\"limit\":{\"type\":\"integer\",\"minimum\":1,"
        "\"maximum\":100,\"default\":50}},\"additionalProperties\":false}",
    .output_schema = "{\"type\":\"object\",\"properties\":{\"artifacts\":{\"type\":\"array\",\"items\":{"
                     "\"type\":\"object\","
                     "\"properties\":{" AL_ARTIFACT_PROPERTIES
                     ",\"status\":{\"type\":\"string\"},\"createdAt\":{\"type\":\"string\"}}}},"
                     "\"truncated\":{\"type\":\"boolean\"}}}",
    .effect = AL_EFFECT_READ,
    .idempotent = true,
    .registered = al_tool_artifacts_on,
    .start = list_start,
};
