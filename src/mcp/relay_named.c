/* The name of the server that asks, before its words, wherever a server can put a question to a person. */
#include "mcp/relay_pure.h"

#include "base/text.h"

#define ELICITATION "elicitation/create"

static void put_others(struct al_jw *w, const struct al_json *v, const char *but)
{
    al_json_each(m, v)
    {
        if (al_str_is(m->key, but))
            continue;
        al_jw_key_str(w, m->key);
        al_jw_raw(w, m->raw);
    }
}

static void put_named(struct al_jw *w, const struct al_json *params, struct al_str server)
{
    autobuf struct al_buf text = AL_BUF_INIT(w->out->max);
    al_buf_adds(&text, "The MCP server ");
    al_text_visible(&text, server, false);
    al_buf_adds(&text, " asks: ");
    al_buf_add_str(&text, al_json_get_text(params, "message"));
    al_jw_obj(w);
    put_others(w, params, "message");
    al_jw_kstr(w, "message", al_buf_str(&text));
    al_jw_end(w);
}

void al_relay_write_named(const struct al_json *params, struct al_str server, struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    put_named(&w, params, server);
}

static void put_request(struct al_jw *w, const struct al_json *request, struct al_str server)
{
    const struct al_json *method = al_json_get(request, "method");
    if (!al_json_is_string(method) || !al_str_is(method->str, ELICITATION)) {
        al_jw_raw(w, request->raw);
        return;
    }
    al_jw_obj(w);
    al_jw_kstrz(w, "method", ELICITATION);
    al_json_each(m, request)
    {
        if (al_str_is(m->key, "method") || al_str_is(m->key, "params"))
            continue;
        al_jw_key_str(w, m->key);
        al_jw_raw(w, m->raw);
    }
    al_jw_key(w, "params");
    put_named(w, al_json_get(request, "params"), server);
    al_jw_end(w);
}

void al_relay_write_named_round(const struct al_json *result, struct al_str server, struct al_buf *out)
{
    const struct al_json *requests = al_json_get(result, "inputRequests");
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    put_others(&w, result, "inputRequests");
    if (requests) {
        al_jw_key(&w, "inputRequests");
        al_jw_obj(&w);
        al_json_each(request, requests)
        {
            al_jw_key_str(&w, request->key);
            put_request(&w, request, server);
        }
        al_jw_end(&w);
    }
    al_jw_end(&w);
}

bool al_relay_write_named_pages(const struct al_json *error, struct al_str server, struct al_buf *out)
{
    const struct al_json *data = al_json_get(error, "data"), *pages = al_json_get(data, "elicitations");
    int64_t code;
    if (!al_json_int(al_json_get(error, "code"), AL_RELAY_URL_FIRST, AL_RELAY_URL_FIRST, &code) || !pages ||
        pages->type != AL_JSON_ARRAY)
        return false;
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    put_others(&w, error, "data");
    al_jw_key(&w, "data");
    al_jw_obj(&w);
    put_others(&w, data, "elicitations");
    al_jw_key(&w, "elicitations");
    al_jw_arr(&w);
    al_json_each(page, pages)
    {
        if (page->type == AL_JSON_OBJECT)
            put_named(&w, page, server);
        else
            al_jw_raw(&w, page->raw);
    }
    al_jw_end(&w);
    al_jw_end(&w);
    al_jw_end(&w);
    return true;
}
