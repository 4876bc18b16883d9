/* artifact://<artifactId>/<path>: the files of an artifact, as text or as base64; and links to them in
 * results. */
#include "mcp/resources_int.h"

#include "artifact/artifact.h"
#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"

#include <stdio.h>
#include <string.h>

#define MAX_FILE (11u << 20) /* whose base64 fits into a message */
#define MAX_URI 8192
#define MAX_LINKS 20

static const struct al_str nothing = {"", 0};

/* --- URIs --- */

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~/", c);
}

static void put_uri(const struct al_artifact *a, const char *path, struct al_buf *out)
{
    al_buf_addf(out, AL_ARTIFACT_SCHEME "%s/", a->id);
    for (const char *c = path; *c; c++) {
        if (is_unreserved(*c))
            al_buf_addc(out, *c);
        else
            al_buf_addf(out, "%%%02X", (unsigned char)*c);
    }
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* A path has no NUL, written in whatever way. */
static bool decode_path(struct al_str s, struct al_buf *out)
{
    for (size_t i = 0; i < s.n; i++) {
        int c = (unsigned char)s.p[i];
        if (c == '%' && i + 2 < s.n && hex(s.p[i + 1]) >= 0 && hex(s.p[i + 2]) >= 0) {
            c = hex(s.p[i + 1]) * 16 + hex(s.p[i + 2]);
            i += 2;
        }
        if (c == 0)
            return false;
        al_buf_addc(out, (char)c);
    }
    return !al_buf_failed(out);
}

/* The file that opens it. */
static const char *main_file(const struct al_artifact *a)
{
    return a->entry ? a->entry : a->file_name;
}

static void put_title(struct al_jw *w, const struct al_artifact *a)
{
    autobuf struct al_buf title = AL_BUF_INIT(4096);
    al_text_visible(&title, al_utf8_head(al_str_of(a->title ? a->title : a->file_name), 80), false);
    al_jw_kstr(w, "title", al_buf_str(&title));
}

static void put_members(struct al_jw *w, const struct al_artifact *a)
{
    autobuf struct al_buf uri = AL_BUF_INIT(MAX_URI);
    autobuf struct al_buf name = AL_BUF_INIT(4096);
    put_uri(a, main_file(a), &uri);
    al_text_visible(&name, al_utf8_head(al_str_of(a->file_name), 120), false);
    al_jw_kstr(w, "uri", al_buf_str(&uri));
    al_jw_kstr(w, "name", al_buf_str(&name));
    put_title(w, a);
}

/* --- the list --- */

static bool on_artifact(void *ud, const struct al_artifact *a)
{
    struct al_resources_page *page = ud;
    char at[AL_TIME_MAX];
    autobuf struct al_buf line = AL_BUF_INIT(512);
    struct al_jw w;
    if (!al_resources_next(page, a->id))
        return false;
    al_time_iso(at, a->created_ms);
    al_buf_addf(&line, "artifact, %s%s, %s", a->kind, a->partial ? ", partial" : "", at);
    al_jw_init(&w, page->out);
    al_jw_obj(&w);
    put_members(&w, a);
    al_jw_kstr(&w, "description", al_buf_str(&line));
    al_jw_kstrz(&w, "mimeType", a->mime);
    if (a->n_files == 1)
        al_jw_kint(&w, "size", a->bytes);
    al_jw_end(&w);
    return true;
}

struct al_artifact_filter al_resources_artifact_filter(const struct al_core *core)
{
    const struct al_session *session = al_core_session(core);
    return (struct al_artifact_filter){
        .workspace = al_workspace_root(al_core_workspace(core)),
        .session = strcmp(session->kind, "default") == 0 ? NULL : session->id,
    };
}

int al_resources_artifacts(struct al_mcp *m, struct al_resources_page *page, struct al_err *err)
{
    struct al_artifact_filter filter = al_resources_artifact_filter(m->core);
    if (page->after[0] && !al_id_valid(al_str_of(page->after), "art"))
        return 0;
    filter.limit = (int)AL_RESOURCES_PAGE + 1;
    filter.before = page->after[0] ? page->after : NULL;
    return al_store_artifact_each(al_core_store(m->core), &filter, on_artifact, page, err);
}

static int find(struct al_mcp *m, const char *id, struct al_artifact *ret)
{
    struct al_err ignored;
    return al_store_artifact_get(al_core_store(m->core), id, al_workspace_root(al_core_workspace(m->core)),
                                 ret, &ignored);
}

bool al_resources_artifact_there(struct al_mcp *m, const char *id)
{
    struct al_artifact a = {0};
    bool there = find(m, id, &a) == 0;
    al_artifact_fini(&a);
    return there;
}

/* --- reading --- */

struct reading {
    struct al_mcp_request *request;
    char *uri;
    int fd;
    int64_t bytes;
    const char *mime;
    struct al_buf item; /* of the answer's contents */
    bool failed;
};

static void put_base64(struct al_str s, struct al_buf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < s.n; i += 3) {
        size_t n = s.n - i < 3 ? s.n - i : 3;
        uint32_t v = 0;
        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (k < n ? (unsigned char)s.p[i + k] : 0);
        char four[4] = {digits[v >> 18 & 63], digits[v >> 12 & 63], n > 1 ? digits[v >> 6 & 63] : '=',
                        n > 2 ? digits[v & 63] : '='};
        al_buf_add(out, four, 4);
    }
}

static void put_item(struct reading *d, struct al_str bytes, bool as_text)
{
    struct al_jw w;
    al_buf_clear(&d->item);
    al_jw_init(&w, &d->item);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "uri", d->uri);
    al_jw_kstrz(&w, "mimeType", d->mime);
    if (as_text) {
        al_jw_kstr(&w, "text", bytes);
    } else {
        autobuf struct al_buf blob = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
        put_base64(bytes, &blob);
        al_jw_kstr(&w, "blob", al_buf_str(&blob));
    }
    al_jw_end(&w);
}

/* Text that needs more room in JSON than base64 does is a blob, too. */
static void read_work(void *ud)
{
    struct reading *d = ud;
    autobuf struct al_buf file = AL_BUF_INIT(MAX_FILE);
    d->failed = al_fd_read_all(d->fd, &file) < 0;
    if (d->failed)
        return;
    struct al_str bytes = al_buf_str(&file);
    bool text = !memchr(bytes.p, 0, bytes.n) && al_utf8_valid(bytes);
    struct al_str head = {bytes.p, bytes.n < AL_ARTIFACT_HEAD ? bytes.n : AL_ARTIFACT_HEAD};
    const char *slash = strrchr(d->uri, '/');
    text = text && (al_artifact_type_of(al_str_of(slash + 1), head).text || bytes.n == 0);
    put_item(d, bytes, text);
    if (al_buf_failed(&d->item) && text)
        put_item(d, bytes, false);
    d->failed = al_buf_failed(&d->item);
}

static void read_done(void *ud)
{
    struct reading *d = ud;
    struct al_mcp_request *r = d->request;
    autobuf struct al_buf out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE + 4096);
    struct al_jw w;
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    al_jw_key(&w, "contents");
    al_jw_arr(&w);
    if (!d->failed)
        al_jw_raw(&w, al_buf_str(&d->item));
    al_jw_end(&w);
    al_mcp_put_caching(&w, r);
    al_jw_end(&w);
    if (d->failed)
        al_mcp_fail(r, AL_RPC_INTERNAL_ERROR, nothing, "the file cannot be read");
    else
        al_mcp_answer(r, al_buf_str(&out));
    al_close(&d->fd);
    al_buf_free(&d->item);
    free(d->uri);
    free(d);
}

static void cancel_reading(void *ud)
{
    (void)ud; /* it is over soon; nothing is sent then */
}

static void fail_large(struct al_mcp_request *r, int64_t bytes)
{
    autobuf struct al_buf is = AL_BUF_INIT(64), max = AL_BUF_INIT(64);
    al_text_bytes(&is, (uint64_t)bytes);
    al_text_bytes(&max, MAX_FILE);
    al_mcp_fail(r, AL_RPC_INVALID_PARAMS, nothing,
                "the file has %.*s, and at most %.*s fit into an answer; artifact_export copies it into the "
                "workspace",
                AL_FMT(al_buf_str(&is)), AL_FMT(al_buf_str(&max)));
}

static void start_reading(struct al_mcp_request *r, struct al_str uri, int fd, int64_t bytes,
                          const char *mime)
{
    struct reading *d = al_xcalloc(1, sizeof *d);
    *d = (struct reading){.request = r, .uri = al_xdup(uri.p, uri.n), .fd = fd, .bytes = bytes, .mime = mime};
    al_buf_init(&d->item, AL_MCP_MAX_MESSAGE - 4096);
    r->work = d;
    r->cancel = cancel_reading;
    al_work_start(al_core_loop(r->peer->mcp->core), read_work, read_done, d);
}

bool al_resources_artifact_read(struct al_mcp_request *r, struct al_str uri)
{
    struct al_mcp *m = r->peer->mcp;
    struct al_str rest = {uri.p + strlen(AL_ARTIFACT_SCHEME), uri.n - strlen(AL_ARTIFACT_SCHEME)};
    const char *slash = memchr(rest.p, '/', rest.n);
    struct al_str id = {rest.p, slash ? (size_t)(slash - rest.p) : rest.n};
    struct al_str path = slash ? (struct al_str){slash + 1, rest.n - id.n - 1} : nothing;
    autobuf struct al_buf wanted = AL_BUF_INIT(4096), found = AL_BUF_INIT(MAX_URI);
    char z[AL_ID_MAX];
    struct al_artifact a = {0};
    struct al_err err;
    int fd = -1;
    int64_t bytes = 0;
    const char *mime = NULL;
    if (uri.n > MAX_URI || !al_id_valid(id, "art") || !decode_path(path, &wanted))
        return false;
    al_buf_addc(&wanted, '\0');
    snprintf(z, sizeof z, "%.*s", AL_FMT(id));
    if (find(m, z, &a) < 0)
        return false;
    int opened = al_artifact_open(al_core_store(m->core), &a, path.n ? wanted.p : NULL, &fd, &found, &bytes,
                                  &mime, &err);
    autobuf struct al_buf whole = AL_BUF_INIT(MAX_URI);
    put_uri(&a, main_file(&a), &whole); /* of one that names the artifact alone */
    al_artifact_fini(&a);
    if (opened < 0)
        return false;
    if (bytes > MAX_FILE) {
        al_close(&fd);
        fail_large(r, bytes);
    } else {
        start_reading(r, path.n ? uri : al_buf_str(&whole), fd, bytes, mime);
    }
    return true;
}

/* --- links in results --- */

static bool put_link(struct al_mcp *m, struct al_str id, size_t room, struct al_buf *out)
{
    struct al_artifact a = {0};
    char z[AL_ID_MAX];
    struct al_jw w;
    if (!al_id_valid(id, "art"))
        return true;
    snprintf(z, sizeof z, "%.*s", AL_FMT(id));
    if (find(m, z, &a) < 0)
        return true;
    autobuf struct al_buf link = AL_BUF_INIT(32u << 10);
    al_jw_init(&w, &link);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "type", "resource_link");
    put_members(&w, &a);
    al_jw_kstrz(&w, "mimeType", a.mime);
    if (a.n_files == 1)
        al_jw_kint(&w, "size", a.bytes);
    al_jw_end(&w);
    al_artifact_fini(&a);
    if (al_buf_failed(&link) || out->n + link.n + 1 > room)
        return false;
    al_buf_addc(out, ',');
    al_buf_add_str(out, al_buf_str(&link));
    return true;
}

void al_mcp_artifact_links(struct al_mcp *m, const struct al_call *call, size_t room, struct al_buf *out)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(16u << 20);
    const struct al_json *v = NULL;
    unsigned n = 0;
    bool creates = call->tool && strcmp(call->tool->name, "artifact_create") == 0;
    bool draws = call->tool && strcmp(call->tool->name, "dashboard_generate") == 0;
    bool runs = call->tool && strcmp(call->tool->name, "python_run") == 0;
    if ((!creates && !draws && !runs) || !call->structured.n ||
        al_json_parse(&arena, al_buf_str(&call->structured), &v, NULL) < 0)
        return;
    if (creates || draws) {
        put_link(m, al_json_get_text(v, creates ? "id" : "artifactId"), room, out);
        return;
    }
    al_json_each(a, al_json_get(v, "artifacts"))
    {
        if (n++ == MAX_LINKS || !put_link(m, al_json_get_text(a, "id"), room, out))
            return;
    }
}
