/* Our resources: run://<executionId>, the whole record of a run of this workspace, dataset://<datasetId>, the
 * description of a dataset, and artifact://<artifactId>/<path> (resources_artifact.c). */
#include "mcp/resources_int.h"

#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>

#define PAGE AL_RESOURCES_PAGE
#define MAX_RECORD (8u << 20)
#define SCHEME "run://"
#define DATASET_SCHEME "dataset://"

static const struct al_str nothing = {"", 0};

/* --- lists --- */

bool al_resources_next(struct al_resources_page *page, const char *id)
{
    if (page->n == PAGE) {
        page->more = true;
        return false;
    }
    if (page->out->n)
        al_buf_addc(page->out, ',');
    page->n++;
    snprintf(page->last, sizeof page->last, "%s", id);
    return true;
}

static void put_run(struct al_jw *w, const struct al_run *run)
{
    char uri[sizeof SCHEME + AL_ID_MAX], at[AL_TIME_MAX];
    autobuf struct al_buf title = AL_BUF_INIT(4096);
    snprintf(uri, sizeof uri, SCHEME "%s", run->id);
    al_time_iso(at, run->created_ms);
    if (run->title)
        al_text_visible(&title, al_utf8_head(al_str_of(run->title), 80), false);
    al_jw_obj(w);
    al_jw_kstrz(w, "uri", uri);
    al_jw_kstrz(w, "name", run->id);
    if (title.n)
        al_jw_kstr(w, "title", al_buf_str(&title));
    al_jw_key(w, "description");
    autobuf struct al_buf line = AL_BUF_INIT(512);
    al_buf_addf(&line, "%s, %s, %s", run->kind, run->status, at);
    al_jw_str(w, al_buf_str(&line));
    al_jw_kstrz(w, "mimeType", "application/json");
    al_jw_end(w);
}

static bool on_run(void *ud, const struct al_run *run)
{
    struct al_resources_page *page = ud;
    struct al_jw w;
    if (!al_resources_next(page, run->id))
        return false;
    al_jw_init(&w, page->out);
    put_run(&w, run);
    return true;
}

static bool on_dataset(void *ud, const struct al_dataset_row *d)
{
    struct al_resources_page *page = ud;
    if (!al_resources_next(page, d->id))
        return false;
    char uri[sizeof DATASET_SCHEME + AL_ID_MAX], at[AL_TIME_MAX];
    autobuf struct al_buf title = AL_BUF_INIT(4096), line = AL_BUF_INIT(512);
    struct al_jw w;
    snprintf(uri, sizeof uri, DATASET_SCHEME "%s", d->id);
    al_time_iso(at, d->created_ms);
    al_text_visible(&title, al_utf8_head(al_str_of(d->name), 80), false);
    al_buf_addf(&line, "dataset, %s, %lld row%s, %s", d->format, (long long)d->n_rows,
                d->n_rows == 1 ? "" : "s", at);
    al_jw_init(&w, page->out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "uri", uri);
    al_jw_kstrz(&w, "name", d->id);
    al_jw_kstr(&w, "title", al_buf_str(&title));
    al_jw_kstr(&w, "description", al_buf_str(&line));
    al_jw_kstrz(&w, "mimeType", "application/json");
    al_jw_end(&w);
    return true;
}

static bool is_dataset(const char *id)
{
    return al_id_valid(al_str_of(id), "ds");
}

static bool is_run(const char *id)
{
    return al_id_valid(al_str_of(id), "exec");
}

/* The relay shows our first page alone, of each kind. */
static void turn_over(const struct al_mcp *m, struct al_resources_page *page)
{
    if (m->relay) {
        page->n = 0;
        page->more = false;
    }
}

static int read_datasets(struct al_mcp *m, struct al_resources_page *page, struct al_err *err)
{
    struct al_dataset_filter filter = {.session = al_core_session(m->core)->id,
                                       .limit = (int)PAGE + 1,
                                       .before = is_dataset(page->after) ? page->after : NULL};
    turn_over(m, page);
    if (page->more || is_run(page->after))
        return 0;
    return al_store_dataset_each(al_core_store(m->core), &filter, on_dataset, page, err);
}

static int read_runs(struct al_mcp *m, struct al_resources_page *page, struct al_err *err)
{
    struct al_run_filter filter = {.session = al_core_session(m->core)->id,
                                   .limit = (int)PAGE + 1,
                                   .before = is_run(page->after) ? page->after : NULL};
    turn_over(m, page);
    if (page->more)
        return 0;
    return al_store_run_each(al_core_store(m->core), &filter, on_run, page, err);
}

/* Whether the cursor is one that was given out, and what it names is there still: else the rest of the list
 * cannot be told. */
static bool read_cursor(struct al_mcp *m, struct al_str cursor, struct al_resources_page *page)
{
    struct al_dataset_row row = {0};
    struct al_err ignored;
    bool dataset = al_id_valid(cursor, "ds"), artifact = al_id_valid(cursor, "art");
    if (!dataset && !artifact && !al_id_valid(cursor, "exec"))
        return false;
    snprintf(page->after, sizeof page->after, "%.*s", AL_FMT(cursor));
    if (artifact)
        return al_resources_artifact_there(m, page->after);
    if (dataset && al_store_dataset_get(al_core_store(m->core), page->after,
                                        al_workspace_root(al_core_workspace(m->core)), &row, &ignored) < 0)
        return false;
    al_dataset_row_fini(&row);
    return true;
}

static int read_all(struct al_mcp *m, struct al_resources_page *page, struct al_err *err)
{
    if (al_resources_artifacts(m, page, err) < 0 || read_datasets(m, page, err) < 0)
        return -1;
    return read_runs(m, page, err);
}

void al_mcp_resources_list(struct al_mcp_request *r, const struct al_json *params)
{
    struct al_mcp *m = r->peer->mcp;
    autobuf struct al_buf items = AL_BUF_INIT(AL_MCP_MAX_MESSAGE), out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    struct al_resources_page page = {.out = &items};
    struct al_err err;
    const struct al_json *cursor = al_json_get(params, "cursor");
    if (cursor && cursor->type == AL_JSON_NULL)
        cursor = NULL;
    if (cursor && !m->relay) {
        if (!al_json_is_string(cursor) || !read_cursor(m, cursor->str, &page)) {
            al_mcp_fail(r, AL_RPC_INVALID_PARAMS, nothing,
                        "\"params.cursor\" is not one that was given out, or what it names has gone");
            return;
        }
    }
    if (!(cursor && m->relay) && read_all(m, &page, &err) < 0) {
        al_mcp_fail(r, AL_RPC_INTERNAL_ERROR, nothing, "%s: %s", al_code_name(err.code), err.msg);
        return;
    }
    if (m->relay) {
        al_mcp_relay_list(m->relay, r, params, "resources", al_buf_str(&items));
        return;
    }
    al_mcp_put_list(r, &out, "resources", al_buf_str(&items), page.more ? al_str_of(page.last) : nothing);
    al_mcp_answer(r, al_buf_str(&out));
}

void al_mcp_resources_templates(struct al_mcp_request *r, const struct al_json *params)
{
    static const struct al_str ours =
        AL_S("{\"uriTemplate\":\"run://{executionId}\",\"name\":\"run\",\"title\":\"A "
             "run\",\"description\":\"The whole "
             "record of a js_run: value, text, calls, limits, error.\",\"mimeType\":\"application/json\"},"
             "{\"uriTemplate\":\"dataset://{datasetId}\",\"name\":\"dataset\",\"title\":\"A "
             "dataset\",\"description\":"
             "\"What data_inspect says of it: sheets, columns, statistics, "
             "notes.\",\"mimeType\":\"application/json\"},"
             "{\"uriTemplate\":\"" AL_ARTIFACT_TEMPLATE "\",\"name\":\"artifact\",\"title\":\"A file of an "
             "artifact\",\"description\":\"What a script or artifact_create published: text, or base64.\"}");
    struct al_mcp *m = r->peer->mcp;
    autobuf struct al_buf out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    if (m->relay) {
        al_mcp_relay_list(m->relay, r, params, "resourceTemplates", ours);
        return;
    }
    if (!al_mcp_first_page(r, params))
        return;
    al_mcp_put_list(r, &out, "resourceTemplates", ours, nothing);
    al_mcp_answer(r, al_buf_str(&out));
}

/* --- reading --- */

void al_mcp_fail_resource(struct al_mcp_request *r, struct al_str uri)
{
    autobuf struct al_buf data = AL_BUF_INIT(64u << 10);
    struct al_jw w;
    al_jw_init(&w, &data);
    al_jw_obj(&w);
    al_jw_kstr(&w, "uri", al_utf8_head(uri, 4096));
    al_jw_end(&w);
    al_mcp_fail(r, r->client.modern ? AL_RPC_INVALID_PARAMS : AL_RPC_RESOURCE_NOT_FOUND, al_buf_str(&data),
                "Resource not found");
}

/* A run is found from every session of its workspace, and from no other workspace. */
static bool is_here(struct al_mcp *m, const struct al_run *run)
{
    struct al_session session = {0};
    struct al_err ignored;
    if (strcmp(run->session, al_core_session(m->core)->id) == 0)
        return true;
    if (al_store_session_get(al_core_store(m->core), run->session, &session, &ignored) < 0)
        return false;
    bool here = strcmp(session.workspace, al_workspace_root(al_core_workspace(m->core))) == 0;
    al_session_fini(&session);
    return here;
}

static void put_unfinished(const struct al_run *run, struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "executionId", run->id);
    al_jw_kstrz(&w, "status", run->status);
    al_jw_key(&w, "value");
    al_jw_null(&w);
    if (run->error_code) {
        al_jw_key(&w, "error");
        al_jw_obj(&w);
        al_jw_kstrz(&w, "code", run->error_code);
        al_jw_kstrz(&w, "message", run->error_msg ? run->error_msg : "");
        al_jw_end(&w);
    }
    al_jw_end(&w);
}

static void answer_contents(struct al_mcp_request *r, struct al_str uri, struct al_str json)
{
    autobuf struct al_buf out = AL_BUF_INIT(2 * (size_t)AL_MCP_MAX_MESSAGE);
    struct al_jw w;
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    al_jw_key(&w, "contents");
    al_jw_arr(&w);
    al_jw_obj(&w);
    al_jw_kstr(&w, "uri", uri);
    al_jw_kstrz(&w, "mimeType", "application/json");
    al_jw_kstr(&w, "text", json);
    al_jw_end(&w);
    al_jw_end(&w);
    al_mcp_put_caching(&w, r);
    al_jw_end(&w);
    al_mcp_answer(r, al_buf_str(&out));
}

static void answer_run(struct al_mcp_request *r, struct al_str uri, const struct al_run *run)
{
    autobuf struct al_buf record = AL_BUF_INIT(MAX_RECORD);
    if (run->record)
        al_mcp_bound_json(al_str_of(run->record), MAX_RECORD, &record);
    if (!record.n)
        put_unfinished(run, &record);
    answer_contents(r, uri, al_buf_str(&record));
}

/* A dataset that is being described, by the tool that describes it. */
struct describing {
    struct al_mcp_request *request;
    struct al_call *call;
    char uri[sizeof DATASET_SCHEME + AL_ID_MAX];
};

static void on_described(void *ud, struct al_call *call)
{
    struct describing *d = ud;
    autobuf struct al_buf json = AL_BUF_INIT(MAX_RECORD);
    if (call->err.code == AL_OK)
        al_mcp_bound_json(al_buf_str(&call->structured), MAX_RECORD, &json);
    if (json.n)
        answer_contents(d->request, al_str_of(d->uri), al_buf_str(&json));
    else if (call->err.code == AL_NOT_FOUND || call->err.code == AL_TOOL_NOT_FOUND)
        al_mcp_fail_resource(d->request, al_str_of(d->uri));
    else
        al_mcp_fail(d->request, AL_RPC_INTERNAL_ERROR, nothing, "%s: %s", al_code_name(call->err.code),
                    call->err.msg);
    free(d);
}

static void cancel_describing(void *ud)
{
    struct describing *d = ud;
    if (d->call)
        al_call_cancel(d->call);
}

static bool read_dataset(struct al_mcp_request *r, struct al_str uri)
{
    struct al_str id = {uri.p + strlen(DATASET_SCHEME), uri.n - strlen(DATASET_SCHEME)};
    autobuf struct al_buf args = AL_BUF_INIT(256);
    if (!al_id_valid(id, "ds"))
        return false;
    struct describing *d = al_xcalloc(1, sizeof *d);
    d->request = r;
    snprintf(d->uri, sizeof d->uri, "%.*s", AL_FMT(uri));
    al_buf_addf(&args, "{\"datasetId\":\"%.*s\",\"sampleRows\":0}", AL_FMT(id));
    r->work = d;
    r->cancel = cancel_describing;
    struct al_call_spec spec = {
        .tool = AL_STR("data_inspect"),
        .args_json = al_buf_str(&args),
        .origin = AL_ORIGIN_MCP,
        .done = on_described,
        .ud = d,
    };
    d->call = al_core_call(r->peer->mcp->core, &spec);
    return true;
}

static bool read_own(struct al_mcp_request *r, struct al_str uri)
{
    struct al_mcp *m = r->peer->mcp;
    struct al_str id = {uri.p + strlen(SCHEME), uri.n - strlen(SCHEME)};
    char z[AL_ID_MAX];
    struct al_run run = {0};
    struct al_err err;
    if (!al_id_valid(id, "exec"))
        return false;
    snprintf(z, sizeof z, "%.*s", AL_FMT(id));
    if (al_store_run_get(al_core_store(m->core), z, &run, &err) < 0)
        return false;
    bool here = is_here(m, &run);
    if (here)
        answer_run(r, uri, &run);
    al_run_fini(&run);
    return here;
}

void al_mcp_resources_read(struct al_mcp_request *r, const struct al_json *params)
{
    struct al_mcp_relay *relay = r->peer->mcp->relay;
    struct al_str uri = al_json_get_text(params, "uri");
    if (!uri.n) {
        al_mcp_fail(r, AL_RPC_INVALID_PARAMS, nothing, "\"params.uri\", the resource's URI, is missing");
        return;
    }
    if (al_str_starts(uri, SCHEME) && read_own(r, uri))
        return;
    if (al_str_starts(uri, DATASET_SCHEME) && read_dataset(r, uri))
        return;
    if (al_str_starts(uri, AL_ARTIFACT_SCHEME) && al_resources_artifact_read(r, uri))
        return;
    if (relay && al_mcp_relay_request(relay, r, params))
        return;
    al_mcp_fail_resource(r, uri);
}
