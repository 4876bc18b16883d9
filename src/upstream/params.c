#include "upstream/params.h"

#include "base/json.h"
#include "base/text.h"
#include "upstream/upstream_int.h"

#define PREFIX "io.modelcontextprotocol/"
#define KEY_MAX 4096

/* A walk over the members of one object, whose text was checked to be JSON before: nothing is copied, so that
 * params of many megabytes cost no memory. */
struct walk {
    const char *p, *end;
    struct al_str key, value; /* as they stand there, the key with its quotes */
};

static void skip_space(struct walk *w)
{
    while (w->p < w->end && strchr(" \t\r\n", *w->p) && *w->p)
        w->p++;
}

static void skip_string(struct walk *w)
{
    for (w->p++; w->p < w->end && *w->p != '"'; w->p++) {
        if (*w->p == '\\' && w->end - w->p > 1)
            w->p++;
    }
    if (w->p < w->end)
        w->p++;
}

static struct al_str take_value(struct walk *w)
{
    const char *from = w->p;
    size_t depth = 0;
    while (w->p < w->end) {
        char c = *w->p;
        if (depth == 0 && (c == ',' || c == '}' || c == ']'))
            break;
        if (c == '"') {
            skip_string(w);
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        w->p++;
    }
    return al_str_trim((struct al_str){from, (size_t)(w->p - from)});
}

static struct walk walk_begin(struct al_str object)
{
    struct walk w = {.p = object.p, .end = object.p + object.n};
    skip_space(&w);
    if (w.p < w.end && *w.p == '{')
        w.p++;
    else
        w.p = w.end;
    return w;
}

static bool walk_next(struct walk *w)
{
    skip_space(w);
    if (w->p < w->end && *w->p == ',')
        w->p++;
    skip_space(w);
    if (w->p >= w->end || *w->p != '"')
        return false;
    const char *from = w->p;
    skip_string(w);
    w->key = (struct al_str){from, (size_t)(w->p - from)};
    skip_space(w);
    if (w->p >= w->end || *w->p != ':')
        return false;
    w->p++;
    skip_space(w);
    w->value = take_value(w);
    return w->value.n > 0;
}

/* A string as it stands in the text, decoded into the arena. */
static struct al_str decode(struct al_str raw, struct al_arena *a)
{
    const struct al_json *v;
    struct al_err unused;
    if (al_json_parse(a, raw, &v, &unused) < 0 || v->type != AL_JSON_STRING)
        return (struct al_str){"", 0};
    return v->str;
}

/* Escapes are rare in names, and equal to what they stand for all the same. */
static bool key_matches(struct al_str raw, const char *text, bool prefix)
{
    autoarena struct al_arena a = AL_ARENA_INIT(2 * KEY_MAX + 4096);
    struct al_str key = {raw.p + 1, raw.n >= 2 ? raw.n - 2 : 0};
    if (memchr(key.p, '\\', key.n))
        key = raw.n > KEY_MAX ? key : decode(raw, &a);
    return prefix ? al_str_starts(key, text) : al_str_is(key, text);
}

struct al_str al_params_member(struct al_str params, const char *key)
{
    struct al_str found = {"", 0};
    struct walk w = walk_begin(params);
    while (walk_next(&w))
        if (key_matches(w.key, key, false))
            found = w.value;
    return found;
}

bool al_params_text(struct al_str params, const char *key, struct al_buf *out)
{
    struct al_str raw = al_params_member(params, key);
    if (raw.n < 2 || raw.p[0] != '"')
        return false;
    autoarena struct al_arena a = AL_ARENA_INIT(2 * out->max + 4096);
    al_buf_add_str(out, decode(raw, &a));
    return !al_buf_failed(out);
}

void al_params_client_info(struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "name", "alisio");
    al_jw_kstrz(&w, "title", "alisio: code mode");
    al_jw_kstrz(&w, "version", AL_VERSION);
    al_jw_end(&w);
}

static void add_member(struct al_buf *out, bool *any, struct al_str key_raw, struct al_str value)
{
    if (*any)
        al_buf_addc(out, ',');
    *any = true;
    al_buf_add_str(out, key_raw);
    al_buf_addc(out, ':');
    al_buf_add_str(out, value);
}

static void add_modern(struct al_buf *out, bool *any, const struct al_params *p, struct al_str brought)
{
    autobuf struct al_buf client = AL_BUF_INIT(4096);
    al_params_client_info(&client);
    struct al_str abilities =
        p->keep_capabilities && brought.n > 0 && brought.p[0] == '{' ? brought : p->capabilities;
    add_member(out, any, AL_STR("\"" PREFIX "protocolVersion\""), AL_STR("\"" AL_VERSION_MODERN "\""));
    add_member(out, any, AL_STR("\"" PREFIX "clientInfo\""), al_buf_str(&client));
    add_member(out, any, AL_STR("\"" PREFIX "clientCapabilities\""), abilities.n ? abilities : AL_STR("{}"));
    if (p->log_level.n == 0)
        return;
    autobuf struct al_buf level = AL_BUF_INIT(256);
    struct al_jw w;
    al_jw_init(&w, &level);
    al_jw_str(&w, al_utf8_cut(p->log_level, 32));
    add_member(out, any, AL_STR("\"" PREFIX "logLevel\""), al_buf_str(&level));
}

void al_params_rename(struct al_str params, struct al_str name, struct al_buf *out)
{
    bool any = true;
    struct walk w = walk_begin(params);
    struct al_jw jw;
    al_buf_adds(out, "{\"name\":");
    al_jw_init(&jw, out);
    al_jw_str(&jw, name);
    while (walk_next(&w))
        if (!key_matches(w.key, "name", false))
            add_member(out, &any, w.key, w.value);
    al_buf_addc(out, '}');
}

static void write_meta(struct al_buf *out, const struct al_params *p, struct al_str meta)
{
    bool any = false;
    struct al_str brought = {"", 0};
    struct walk w = walk_begin(meta);
    while (walk_next(&w)) {
        if (key_matches(w.key, PREFIX "clientCapabilities", false))
            brought = w.value;
        if (!key_matches(w.key, "progressToken", false) && !key_matches(w.key, PREFIX, true))
            add_member(out, &any, w.key, w.value);
    }
    if (p->progress_token) {
        autobuf struct al_buf token = AL_BUF_INIT(32);
        al_buf_addf(&token, "%llu", (unsigned long long)p->progress_token);
        add_member(out, &any, AL_STR("\"progressToken\""), al_buf_str(&token));
    }
    if (p->modern)
        add_modern(out, &any, p, brought);
}

void al_params_write(struct al_buf *out, const struct al_params *p)
{
    bool any = false;
    struct al_str meta = {"", 0};
    struct walk w = walk_begin(p->params);
    al_buf_addc(out, '{');
    while (walk_next(&w)) {
        if (key_matches(w.key, "_meta", false))
            meta = w.value;
        else
            add_member(out, &any, w.key, w.value);
    }
    autobuf struct al_buf own = AL_BUF_INIT(AL_UPSTREAM_MAX_MESSAGE);
    write_meta(&own, p, meta);
    if (own.n > 0) {
        if (any)
            al_buf_addc(out, ',');
        al_buf_adds(out, "\"_meta\":{");
        al_buf_add_str(out, al_buf_str(&own));
        al_buf_addc(out, '}');
    }
    if (al_buf_failed(&own))
        out->failed = true;
    al_buf_addc(out, '}');
}
