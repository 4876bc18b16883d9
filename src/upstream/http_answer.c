#include "base/mem.h"
#include "base/text.h"
#include "rpc/rpc.h"
#include "upstream/http_int.h"

#include <stdio.h>

#define ANSWER_ARENA (4u << 20)

/* --- whose answer is it --- */

/* Passes over a string that begins at i; the index after it. */
static size_t skip_string(struct al_str s, size_t i)
{
    for (i++; i < s.n && s.p[i] != '"'; i++)
        i += s.p[i] == '\\';
    return i + 1;
}

static bool same_id(struct al_str value, uint64_t id)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)id);
    value = al_str_trim(value);
    if (value.n > 2 && value.p[0] == '"')
        value = (struct al_str){value.p + 1, value.n - 2};
    return al_str_is(value, text);
}

/* Looks at the names of the outermost object alone, without reading what may be megabytes into memory. The
 * message has no method and this id: an answer. Of a batch, or of what is no JSON, it says no or yes at
 * random, which costs at most a try to take up a stream that has nothing more. */
bool al_answer_for(struct al_str s, uint64_t id)
{
    unsigned depth = 0;
    bool is_name = false, ours = false;
    struct al_str name = {"", 0};
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '{' || c == '[') {
            depth++;
            is_name = depth == 1;
        } else if (c == '}' || c == ']') {
            depth -= depth > 0;
        } else if (c == ',' && depth == 1) {
            is_name = true;
        } else if (c == ':' && depth == 1) {
            is_name = false;
            size_t end = i + 1;
            while (end < s.n && s.p[end] != ',' && s.p[end] != '}' && s.p[end] != '{' && s.p[end] != '[')
                end = s.p[end] == '"' ? skip_string(s, end) : end + 1;
            end = end < s.n ? end : s.n;
            ours = ours || (al_str_is(name, "id") && same_id((struct al_str){s.p + i + 1, end - i - 1}, id));
            i = end - 1;
        } else if (c == '"') {
            size_t end = skip_string(s, i);
            end = end < s.n ? end : s.n;
            if (is_name && depth == 1)
                name = (struct al_str){s.p + i + 1, end > i + 2 ? end - i - 2 : 0};
            if (is_name && al_str_is(name, "method"))
                return false;
            i = end - 1;
        }
    }
    return ours;
}

/* --- refusals --- */

static const struct al_json *read_text(const struct al_exchange *x, struct al_arena *a)
{
    const struct al_json *v;
    struct al_err unused;
    return al_json_parse(a, al_buf_str(&x->text), &v, &unused) == 0 ? v : NULL;
}

bool al_answer_is_error(const struct al_exchange *x, struct al_buf *out)
{
    autoarena struct al_arena a = AL_ARENA_INIT(ANSWER_ARENA);
    const struct al_json *v = read_text(x, &a);
    const struct al_json *error = al_json_get(v, "error"), *id = al_json_get(v, "id");
    int64_t code;
    if (!error || error->type != AL_JSON_OBJECT || al_json_get(v, "method") ||
        !al_json_int(al_json_get(error, "code"), INT32_MIN, INT32_MAX, &code))
        return false;
    if (id && same_id(id->raw, x->id)) {
        al_buf_add_str(out, v->raw);
        return true;
    }
    /* What only a server of the newer protocol says. Others refuse without an id what they do not understand.
     */
    bool known = code <= AL_RPC_HEADER_MISMATCH && code >= AL_RPC_UNSUPPORTED_VERSION;
    if (!x->modern || !known || (id && id->type != AL_JSON_NULL))
        return false;
    char number[24];
    snprintf(number, sizeof(number), "%llu", (unsigned long long)x->id);
    struct al_jw w;
    al_rpc_begin(&w, out, al_str_of(number));
    al_jw_kraw(&w, "error", error->raw);
    al_jw_end(&w);
    return true;
}

/* ": what the server said", cut and made visible; nothing when it said nothing for people. */
static void add_words(const struct al_exchange *x, struct al_buf *out)
{
    autoarena struct al_arena a = AL_ARENA_INIT(ANSWER_ARENA);
    const struct al_json *v = read_text(x, &a), *error = al_json_get(v, "error");
    struct al_str said = al_json_is_string(error) ? error->str : al_json_get_text(error, "message");
    if (al_json_get_text(v, "error_description").n)
        said = al_json_get_text(v, "error_description");
    if (!said.n)
        return;
    al_buf_adds(out, ": ");
    al_text_visible(out, al_utf8_cut(said, 200), false);
}

static bool mentions_session(const struct al_exchange *x)
{
    autobuf struct al_buf words = AL_BUF_INIT(2048);
    add_words(x, &words);
    for (size_t i = 0; i < words.n; i++)
        if (words.p[i] >= 'A' && words.p[i] <= 'Z')
            words.p[i] = (char)(words.p[i] + 32);
    return al_str_find(al_buf_str(&words), AL_STR("session")) >= 0;
}

static void unauthorized(const struct al_exchange *x, struct al_str words, struct al_err *err)
{
    const struct al_http_transport *t = x->t;
    if (t->has_authorization) {
        al_fail(err, AL_AUTH_REQUIRED, "the MCP server %s does not accept the header Authorization%.*s",
                t->name, AL_FMT(words));
        al_hint(err, "check the token in mcp.servers.%s.headers, or the variable that holds it", t->name);
        return;
    }
    al_fail(err, AL_AUTH_REQUIRED, "the MCP server %s wants to know who asks%.*s", t->name, AL_FMT(words));
    al_hint(err, "give it a token: mcp.servers.%s.headers {\"Authorization\": \"Bearer ${VARIABLE}\"}",
            t->name);
}

enum al_transport_loss al_answer_refused(const struct al_exchange *x, struct al_err *err)
{
    const char *name = x->t->name;
    autobuf struct al_buf words = AL_BUF_INIT(2048);
    add_words(x, &words);
    struct al_str said = al_buf_str(&words);
    if (x->status == 401) {
        unauthorized(x, said, err);
        return AL_LOSS_BROKEN;
    }
    if (x->had_session && (x->status == 404 || (x->status == 400 && mentions_session(x)))) {
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s has forgotten the session", name);
        return x->resuming ? AL_LOSS_BROKEN : AL_LOSS_SESSION;
    }
    if (x->status == 403) {
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s refuses us (HTTP 403)%.*s", name,
                AL_FMT(said));
        al_hint(err, "check what its token may do, and whether it takes requests from here");
        return AL_LOSS_BROKEN;
    }
    if (x->status == 429) {
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s wants fewer requests (HTTP 429)%.*s", name,
                AL_FMT(said));
        al_hint(err, "try again later");
        return AL_LOSS_BROKEN;
    }
    if (x->status >= 500) {
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s has a fault of its own (HTTP %d)%.*s", name,
                x->status, AL_FMT(said));
        al_hint(err, "try again later; if it stays, tell who runs it");
        return AL_LOSS_BROKEN;
    }
    if (x->status / 100 == 2)
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "what answers for the MCP server %s does not speak MCP", name);
    else
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s refuses the request (HTTP %d)%.*s", name,
                x->status, AL_FMT(said));
    al_hint(err, "check its URL, and whether it is one of Streamable HTTP");
    return AL_LOSS_REFUSED;
}
