#include "rpc/rpc.h"

#include "base/text.h"

#include <stdio.h>

void al_rpc_lines_init(struct al_rpc_lines *l, size_t max_line)
{
    al_buf_init(&l->line, max_line);
    l->skipping = false;
}

void al_rpc_lines_free(struct al_rpc_lines *l)
{
    al_buf_free(&l->line);
}

static bool give(struct al_str line, const struct al_rpc_sink *sink, void *ud)
{
    line = al_str_trim(line);
    return line.n == 0 || sink->line(ud, line);
}

/* Adds a part of a line; false when the line has become too long. */
static bool collect(struct al_rpc_lines *l, struct al_str part)
{
    al_buf_add_str(&l->line, part);
    if (!al_buf_failed(&l->line))
        return true;
    al_buf_free(&l->line);
    return false;
}

void al_rpc_lines_feed(struct al_rpc_lines *l, struct al_str bytes, const struct al_rpc_sink *sink, void *ud)
{
    while (bytes.n) {
        const char *nl = memchr(bytes.p, '\n', bytes.n);
        struct al_str part = {bytes.p, nl ? (size_t)(nl - bytes.p) : bytes.n};
        size_t used = part.n + (nl ? 1 : 0);
        bytes = (struct al_str){bytes.p + used, bytes.n - used};
        if (l->skipping) {
            l->skipping = !nl;
            continue;
        }
        if (nl && l->line.n == 0 && part.n <= l->line.max) {
            if (!give(part, sink, ud)) /* the common case: a whole line, not copied */
                return;
            continue;
        }
        if (!collect(l, part)) {
            l->skipping = !nl;
            sink->too_long(ud);
        } else if (nl) {
            bool more = give(al_buf_str(&l->line), sink, ud);
            al_buf_free(&l->line); /* a big message is rare: its memory is not kept */
            if (!more)
                return;
        }
    }
}

void al_rpc_lines_end(struct al_rpc_lines *l, const struct al_rpc_sink *sink, void *ud)
{
    if (!l->skipping)
        give(al_buf_str(&l->line), sink, ud);
    al_buf_free(&l->line);
    l->skipping = false;
}

static void broken(struct al_rpc *ret, enum al_rpc_code code, const char *why)
{
    ret->kind = AL_RPC_BROKEN;
    ret->error_code = code;
    snprintf(ret->error, sizeof ret->error, "%s", why);
}

static bool id_is_valid(const struct al_json *id)
{
    return id->raw.n <= AL_RPC_MAX_ID && (id->type == AL_JSON_STRING || id->type == AL_JSON_NUMBER);
}

/* Both, or a failure that is no object: such an answer is read as a failure, so that its waiter is told. */
static void read_response(const struct al_json *msg, struct al_rpc *ret)
{
    ret->failure = al_json_get(msg, "error");
    ret->result = ret->failure ? NULL : al_json_get(msg, "result");
    ret->kind = AL_RPC_RESPONSE;
}

static void read_message(const struct al_json *msg, struct al_rpc *ret)
{
    const struct al_json *id = al_json_get(msg, "id");
    const struct al_json *method = al_json_get(msg, "method");

    if (msg->type == AL_JSON_ARRAY) {
        broken(ret, AL_RPC_INVALID_REQUEST, "batches are not part of this protocol: send one message a line");
        return;
    }
    if (id && id_is_valid(id))
        ret->id = id->raw;
    ret->params = al_json_get(msg, "params");
    if (msg->type != AL_JSON_OBJECT || !al_str_is(al_json_get_text(msg, "jsonrpc"), "2.0"))
        broken(ret, AL_RPC_INVALID_REQUEST,
               "not a JSON-RPC 2.0 message: an object with \"jsonrpc\": \"2.0\"");
    else if (!method && (al_json_get(msg, "result") || al_json_get(msg, "error")))
        read_response(msg, ret);
    else if (id && !ret->id.n)
        broken(ret, AL_RPC_INVALID_REQUEST, "an id is a string or a number, of at most 1,024 bytes");
    else if (!al_json_is_string(method))
        broken(ret, AL_RPC_INVALID_REQUEST, "a request needs a \"method\", a string");
    else if (ret->params && ret->params->type != AL_JSON_OBJECT)
        broken(ret, AL_RPC_INVALID_PARAMS, "\"params\" is an object");
    else
        ret->kind = ret->id.n ? AL_RPC_REQUEST : AL_RPC_NOTIFICATION;
    if (al_json_is_string(method))
        ret->method = method->str;
}

void al_rpc_read(struct al_arena *arena, struct al_str line, struct al_rpc *ret)
{
    const struct al_json *msg;
    struct al_err err;
    *ret = (struct al_rpc){.kind = AL_RPC_BROKEN};
    if (al_json_parse(arena, line, &msg, &err) == 0) {
        read_message(msg, ret);
        return;
    }
    broken(ret, AL_RPC_PARSE_ERROR, "not valid JSON");
    snprintf(ret->error, sizeof ret->error, "not valid JSON: %.500s", err.msg);
}

void al_rpc_begin(struct al_jw *w, struct al_buf *out, struct al_str id)
{
    al_jw_init(w, out);
    al_jw_obj(w);
    al_jw_kstrz(w, "jsonrpc", "2.0");
    al_jw_kraw(w, "id", id.n ? id : AL_STR("null"));
}

void al_rpc_begin_call(struct al_jw *w, struct al_buf *out, struct al_str id, const char *method)
{
    al_jw_init(w, out);
    al_jw_obj(w);
    al_jw_kstrz(w, "jsonrpc", "2.0");
    if (id.n)
        al_jw_kraw(w, "id", id);
    al_jw_kstrz(w, "method", method);
}

void al_rpc_request(struct al_buf *out, struct al_str id, const char *method, struct al_str params)
{
    struct al_jw w;
    al_rpc_begin_call(&w, out, id, method);
    if (params.n)
        al_jw_kraw(&w, "params", params);
    al_jw_end(&w);
}

void al_rpc_notification(struct al_buf *out, const char *method, struct al_str params)
{
    al_rpc_request(out, (struct al_str){0}, method, params);
}

void al_rpc_result(struct al_buf *out, struct al_str id, struct al_str result)
{
    struct al_jw w;
    al_rpc_begin(&w, out, id);
    al_jw_kraw(&w, "result", result.n ? result : AL_STR("{}"));
    al_jw_end(&w);
}

void al_rpc_failure(struct al_buf *out, struct al_str id, int code, struct al_str message, struct al_str data)
{
    struct al_jw w;
    al_rpc_begin(&w, out, id);
    al_jw_key(&w, "error");
    al_jw_obj(&w);
    al_jw_kint(&w, "code", code);
    al_jw_kstr(&w, "message", message);
    if (data.n)
        al_jw_kraw(&w, "data", data);
    al_jw_end(&w);
    al_jw_end(&w);
}

void al_rpc_line(struct al_buf *message)
{
    for (size_t i = 0; i < message->n; i++)
        if (message->p[i] == '\n' || message->p[i] == '\r')
            message->p[i] = ' ';
    al_buf_addc(message, '\n');
}
