/*
 * The shapes of error objects: {"error":{…}} of OpenAI, {"type":"error","error":{…}} of Anthropic,
 * {"error":"text"} of Ollama and LM Studio, flat ones of vLLM and of the Responses stream, lists of Google,
 * {"detail":…} of FastAPI, also within a "message" of their own, and OpenRouter's
 * {"error":{"metadata":{"raw":…}}}.
 */
#include "base/text.h"
#include "llm/fault_int.h"

#include <stdio.h>

void al_llm_words_fini(struct al_llm_words *w)
{
    al_buf_free(&w->message);
}

static void say(struct al_llm_words *w, struct al_str text)
{
    if (!text.n)
        return;
    if (w->message.n)
        al_buf_adds(&w->message, ": ");
    text = al_utf8_cut(text, w->message.max / 2);
    if (text.n <= w->message.max - w->message.n)
        al_buf_add_str(&w->message, text);
}

static bool is_object(const struct al_json *v)
{
    return v && v->type == AL_JSON_OBJECT;
}

/* [{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]: what was sent ("input") is left
 * out. */
static void read_detail(struct al_llm_words *w, const struct al_json *detail)
{
    if (al_json_is_string(detail)) {
        say(w, detail->str);
        return;
    }
    const struct al_json *first = detail && detail->type == AL_JSON_ARRAY ? detail->child : NULL;
    if (!is_object(first))
        return;
    const struct al_json *loc = al_json_get(first, "loc");
    size_t n = 0;
    al_json_each(part, loc && loc->type == AL_JSON_ARRAY ? loc : NULL)
    {
        struct al_str s = part->type == AL_JSON_STRING ? part->str : part->raw;
        if (al_str_is(s, "body") || n + s.n + 2 > sizeof(w->field) || memchr(s.p, 0, s.n))
            continue;
        n += (size_t)snprintf(w->field + n, sizeof(w->field) - n, "%s%.*s", n ? "." : "", AL_FMT(s));
    }
    say(w, al_str_of(w->field));
    say(w, al_json_get_text(first, "msg"));
}

static void read_code(struct al_llm_words *w, const struct al_json *code)
{
    int64_t n;
    if (!code || w->code.n)
        return;
    if (code->type == AL_JSON_STRING)
        w->code = code->str;
    if (al_json_int(code, 100, 599, &n) ||
        (code->type == AL_JSON_STRING && al_parse_int(code->str, 100, 599, &n)))
        w->status = (int)n;
}

static void read_type(struct al_llm_words *w, struct al_str type)
{
    if (!w->type.n && type.n && !al_str_is(type, "error"))
        w->type = type;
}

static void read_object(struct al_llm_words *w, const struct al_json *e)
{
    const struct al_json *message = al_json_get(e, "message"), *details = al_json_get(e, "details");
    if (al_json_is_string(message))
        say(w, message->str);
    else if (is_object(message))
        read_detail(w, al_json_get(message, "detail"));
    if (!w->message.n)
        say(w, al_json_get_text(e, "msg"));
    if (!w->message.n)
        read_detail(w, al_json_get(e, "detail"));
    if (!w->message.n)
        say(w, al_json_get_text(e, "error_description"));
    if (al_json_is_string(al_json_get(details, "error_code")))
        read_code(w, al_json_get(details, "error_code"));
    read_code(w, al_json_get(e, "error_code"));
    read_code(w, al_json_get(e, "code"));
    read_type(w, al_json_get_text(e, "type"));
    read_type(w, al_json_get_text(e, "status")); /* of Google */
    int64_t n;
    if (!w->status && al_json_int(al_json_get(e, "status_code"), 100, 599, &n))
        w->status = (int)n;
    if (!w->param.n)
        w->param = al_json_get_text(e, "param");
    if (al_json_int(al_json_get(e, "n_ctx"), 1, INT32_MAX, &n))
        w->window = n;
    const struct al_json *metadata = al_json_get(e, "metadata");
    say(w, al_json_get_text(metadata, "raw"));
}

void al_llm_words_read(struct al_llm_words *w, const struct al_json *v)
{
    if (v && v->type == AL_JSON_ARRAY)
        v = v->child;
    if (al_json_is_string(v)) {
        w->any = true;
        say(w, v->str);
    }
    if (!is_object(v))
        return;
    const struct al_json *e = al_json_get(v, "error"), *response = al_json_get(v, "response");
    if (!e && is_object(response))
        e = al_json_get(response, "error");
    if (is_object(e)) {
        w->any = true;
        read_object(w, e);
    } else if (al_json_is_string(e)) {
        w->any = true;
        say(w, e->str);
        read_code(w, al_json_get(v, "code"));
        say(w, al_json_get_text(v, "message"));
    } else {
        read_object(w, v);
        w->any = w->message.n > 0 || w->code.n > 0;
    }
    read_type(w, al_json_get_text(v, "type"));
    w->request_id = al_json_get_text(v, "request_id");
}
