/* A message as the journal keeps it, and what a finished draft becomes. */
#include "llm/llm_int.h"

#include "base/mem.h"
#include "base/text.h"

#define RAW_DEPTH 100

/* --- hygiene --- */

static int32_t hex4_at(const char *p)
{
    int32_t v = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int d = c >= '0' && c <= '9'                     ? c - '0'
                : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                         : -1;
        if (d < 0)
            return -1;
        v = v << 4 | d;
    }
    return v;
}

static int32_t escape_of(const char *p, size_t n)
{
    return n >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4_at(p + 2) : -1;
}

void al_llm_json_clean(char *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        char *slash = memchr(p + i, '\\', n - i);
        if (!slash)
            return;
        i = (size_t)(slash - p);
        int32_t v = escape_of(p + i, n - i);
        if (v >= 0xd800 && v < 0xdc00) {
            int32_t low = n - i >= 12 ? escape_of(p + i + 6, n - i - 6) : -1;
            if (low >= 0xdc00 && low <= 0xdfff) {
                i += 12;
                continue;
            }
        }
        if (v == 0 || (v >= 0xd800 && v <= 0xdfff))
            memcpy(p + i + 2, "fffd", 4);
        i += v >= 0 ? 6 : 2;
    }
}

/* A NUL, as which JSON would take it back, is no character here. */
static void clean_text(struct al_buf *out, struct al_str s)
{
    al_utf8_clean(out, s);
    bool nul = out->n && memchr(out->p, 0, out->n);
    if (!nul)
        return;
    autobuf struct al_buf whole = AL_BUF_INIT(SIZE_MAX / 2);
    for (size_t i = 0; i < out->n; i++) {
        if (out->p[i])
            al_buf_addc(&whole, out->p[i]);
        else
            al_buf_adds(&whole, "\xef\xbf\xbd");
    }
    al_buf_clear(out);
    al_buf_add_str(out, al_buf_str(&whole));
}

static void write_text(struct al_jw *w, const char *key, struct al_str s)
{
    if (al_utf8_valid(s) && !(s.n && memchr(s.p, 0, s.n))) {
        al_jw_kstr(w, key, s);
        return;
    }
    autobuf struct al_buf clean = AL_BUF_INIT(SIZE_MAX / 2);
    clean_text(&clean, s);
    al_jw_kstr(w, key, al_buf_str(&clean));
}

/* Text that is JSON, or means to be: of a lone surrogate in it nothing may be left either. */
static void write_json_text(struct al_jw *w, const char *key, struct al_str s)
{
    autobuf struct al_buf copy = AL_BUF_INIT(SIZE_MAX / 2);
    clean_text(&copy, s);
    if (copy.n)
        al_llm_json_clean(copy.p, copy.n);
    al_jw_kstr(w, key, al_buf_str(&copy));
}

static void write_raw(struct al_jw *w, struct al_str raw)
{
    if (!raw.n || !al_json_check(raw, RAW_DEPTH))
        return;
    autobuf struct al_buf copy = AL_BUF_INIT(SIZE_MAX / 2);
    al_buf_add_str(&copy, raw);
    al_llm_json_clean(copy.p, copy.n);
    al_jw_kraw(w, "raw", al_buf_str(&copy));
}

/* --- writing --- */

static const char *const by_names[] = {
    [AL_LLM_PERSON] = "person",
    [AL_LLM_HOST] = "host",
    [AL_LLM_REPOSITORY] = "repository",
    [AL_LLM_SUMMARY] = "summary",
};
static const char *const role_names[] = {
    [AL_LLM_USER] = "user",
    [AL_LLM_ASSISTANT] = "assistant",
    [AL_LLM_RESULT] = "result",
};

static void write_part(struct al_jw *w, const struct al_llm_part *p)
{
    al_jw_obj(w);
    if (p->kind == AL_LLM_CALL) {
        al_jw_key(w, "call");
        al_jw_obj(w);
        write_text(w, "id", p->id);
        write_text(w, "providerId", p->provider_id);
        write_text(w, "name", p->name);
        write_json_text(w, "arguments", p->text);
        write_raw(w, p->raw);
        al_jw_end(w);
    } else {
        write_text(w, p->kind == AL_LLM_TEXT ? "text" : "reasoning", p->text);
        write_raw(w, p->raw);
    }
    al_jw_end(w);
}

void al_llm_message_write(struct al_jw *w, const struct al_llm_message *m)
{
    al_jw_obj(w);
    al_jw_kstrz(w, "role", role_names[m->role]);
    if (m->role == AL_LLM_USER)
        al_jw_kstrz(w, "by", by_names[m->by]);
    if (m->role == AL_LLM_ASSISTANT) {
        al_jw_key(w, "from");
        al_jw_obj(w);
        write_text(w, "provider", m->from.provider);
        write_text(w, "baseUrl", m->from.base_url);
        write_text(w, "model", m->from.model);
        al_jw_kstrz(w, "api", al_api_name(m->from.api));
        al_jw_end(w);
    }
    if (m->role == AL_LLM_RESULT) {
        write_text(w, "callId", m->call_id);
        al_jw_kbool(w, "isError", m->is_error);
    }
    al_jw_key(w, "parts");
    al_jw_arr(w);
    for (size_t i = 0; i < m->n_parts; i++)
        write_part(w, &m->parts[i]);
    al_jw_end(w);
    al_jw_end(w);
}

/* --- reading --- */

static int bad(struct al_err *err, const char *what)
{
    return al_fail(err, AL_INVALID_INPUT, "a message of the journal %s", what);
}

static int keep(struct al_arena *a, struct al_str s, struct al_str *ret, struct al_err *err)
{
    char *p = al_arena_dup(a, s);
    if (!p)
        return bad(err, "is larger than the limit allows");
    *ret = (struct al_str){p, s.n};
    return 0;
}

static int read_text(struct al_arena *a, const struct al_json *v, const char *key, struct al_str *ret,
                     struct al_err *err)
{
    const struct al_json *m = al_json_get(v, key);
    if (!al_json_is_string(m))
        return al_fail(err, AL_INVALID_INPUT, "a message of the journal has no text \"%s\"", key);
    return keep(a, m->str, ret, err);
}

static int read_raw(struct al_arena *a, const struct al_json *v, struct al_llm_part *ret, struct al_err *err)
{
    const struct al_json *raw = al_json_get(v, "raw");
    return raw ? keep(a, raw->raw, &ret->raw, err) : 0;
}

static int find_name(const char *const *names, size_t n, struct al_str name)
{
    for (size_t i = 0; i < n; i++) {
        if (al_str_is(name, names[i]))
            return (int)i;
    }
    return -1;
}

static int read_call(struct al_arena *a, const struct al_json *call, struct al_llm_part *ret,
                     struct al_err *err)
{
    ret->kind = AL_LLM_CALL;
    if (read_text(a, call, "id", &ret->id, err) < 0 ||
        read_text(a, call, "providerId", &ret->provider_id, err) < 0 ||
        read_text(a, call, "name", &ret->name, err) < 0 ||
        read_text(a, call, "arguments", &ret->text, err) < 0)
        return -1;
    if (!ret->id.n)
        return bad(err, "has a call without an id");
    return read_raw(a, call, ret, err);
}

static int read_part(struct al_arena *a, const struct al_json *v, enum al_llm_role role,
                     struct al_llm_part *ret, struct al_err *err)
{
    const struct al_json *call = al_json_get(v, "call"), *reasoning = al_json_get(v, "reasoning");
    if (v->type != AL_JSON_OBJECT)
        return bad(err, "has a part that is no object");
    if (role != AL_LLM_ASSISTANT && (call || reasoning))
        return bad(err, "has a part that only an assistant's can have");
    if (call)
        return read_call(a, call, ret, err);
    ret->kind = reasoning ? AL_LLM_REASONING : AL_LLM_TEXT;
    if (read_text(a, v, reasoning ? "reasoning" : "text", &ret->text, err) < 0)
        return -1;
    return read_raw(a, v, ret, err);
}

static int read_from(struct al_arena *a, const struct al_json *v, struct al_llm_from *ret, struct al_err *err)
{
    if (read_text(a, v, "provider", &ret->provider, err) < 0 ||
        read_text(a, v, "baseUrl", &ret->base_url, err) < 0 || read_text(a, v, "model", &ret->model, err) < 0)
        return -1;
    return al_api_find(al_json_get_text(v, "api"), &ret->api) ? 0 : bad(err, "names an unknown API");
}

static int read_parts(struct al_arena *a, const struct al_json *v, struct al_llm_message *m,
                      struct al_err *err)
{
    if (!v || v->type != AL_JSON_ARRAY || v->n > AL_LLM_MAX_PARTS)
        return bad(err, "has no list of parts, or too many");
    m->parts = al_arena_alloc(a, (v->n ? v->n : 1) * sizeof *m->parts);
    if (!m->parts)
        return bad(err, "is larger than the limit allows");
    al_json_each(it, v)
    {
        if (read_part(a, it, m->role, &m->parts[m->n_parts], err) < 0)
            return -1;
        m->n_parts++;
    }
    return 0;
}

int al_llm_message_read(struct al_arena *a, const struct al_json *v, struct al_llm_message *ret,
                        struct al_err *err)
{
    struct al_llm_message m = {0};
    int role = find_name(role_names, sizeof role_names / sizeof *role_names, al_json_get_text(v, "role"));
    if (role < 0)
        return bad(err, "has an unknown role");
    m.role = (enum al_llm_role)role;
    if (m.role == AL_LLM_USER) {
        int by = find_name(by_names, sizeof by_names / sizeof *by_names, al_json_get_text(v, "by"));
        if (by < 0)
            return bad(err, "does not say whose words it has");
        m.by = (enum al_llm_by)by;
    }
    if (m.role == AL_LLM_ASSISTANT && read_from(a, al_json_get(v, "from"), &m.from, err) < 0)
        return -1;
    if (m.role == AL_LLM_RESULT) {
        if (read_text(a, v, "callId", &m.call_id, err) < 0)
            return -1;
        m.is_error = al_json_is_true(al_json_get(v, "isError"));
    }
    if (read_parts(a, al_json_get(v, "parts"), &m, err) < 0)
        return -1;
    *ret = m;
    return 0;
}

void al_llm_message_text(const struct al_llm_message *m, struct al_buf *out)
{
    bool items = m->role == AL_LLM_ASSISTANT && m->from.api == AL_API_RESPONSES;
    bool between = false, any = false;
    for (size_t i = 0; i < m->n_parts; i++) {
        const struct al_llm_part *p = &m->parts[i];
        if (p->kind != AL_LLM_TEXT) {
            between = any;
        } else if (p->text.n) {
            if (between)
                al_buf_adds(out, "\n\n");
            al_buf_add_str(out, p->text);
            between = items; /* each text is a message of its own there */
            any = true;
        }
    }
}

/* --- a draft that is whole --- */

/* On the wire the order is the index's, whichever chunk came first; those of one index stay as they came. */
static void order(const struct al_llm_reader *r, struct al_llm_draft_part **v, size_t n)
{
    bool calls_only = r->api == AL_API_CHAT;
    for (size_t i = 0; i < n; i++) {
        if (v[i]->key < 0 && !(calls_only && v[i]->kind != AL_LLM_CALL))
            return;
    }
    for (size_t i = 1; i < n; i++) {
        if (calls_only && v[i]->kind != AL_LLM_CALL)
            continue;
        struct al_llm_draft_part *x = v[i];
        size_t to = i;
        for (size_t j = i; j-- > 0;) {
            if (calls_only && v[j]->kind != AL_LLM_CALL)
                continue;
            if (v[j]->key <= x->key)
                break;
            v[to] = v[j];
            to = j;
        }
        v[to] = x;
    }
}

static int take_text(struct al_arena *a, const struct al_llm_draft_part *p, struct al_llm_part *ret)
{
    size_t n = p->text.n + (p->half ? 3 : 0);
    char *text = al_arena_alloc(a, n + 1);
    if (!text)
        return -1;
    if (p->text.n)
        memcpy(text, p->text.p, p->text.n);
    if (p->half)
        memcpy(text + p->text.n, "\xef\xbf\xbd", 3);
    if (p->kind == AL_LLM_CALL)
        al_llm_json_clean(text, n);
    ret->text = (struct al_str){text, n};
    return 0;
}

static int take_part(struct al_arena *a, const struct al_llm_draft_part *p, struct al_llm_part *ret)
{
    *ret = (struct al_llm_part){.kind = p->kind};
    char *raw = al_arena_dup(a, al_buf_str(&p->raw));
    if (!raw || take_text(a, p, ret) < 0)
        return -1;
    al_llm_json_clean(raw, p->raw.n);
    ret->raw = (struct al_str){raw, p->raw.n};
    if (p->kind != AL_LLM_CALL)
        return 0;
    char id[AL_ID_MAX];
    al_id_new(id, "call_");
    char *own = al_arena_dup(a, al_str_of(id)), *theirs = al_arena_dup(a, al_buf_str(&p->id));
    char *name = al_arena_dup(a, al_buf_str(&p->name));
    if (!own || !theirs || !name)
        return -1;
    ret->id = al_str_of(own);
    ret->provider_id = (struct al_str){theirs, p->id.n};
    ret->name = (struct al_str){name, p->name.n};
    return 0;
}

int al_llm_reader_message(const struct al_llm_reader *r, struct al_arena *a, struct al_llm_message *ret,
                          struct al_err *err)
{
    const struct al_llm_draft *d = &r->draft;
    struct al_llm_message m = {.role = AL_LLM_ASSISTANT, .from.api = r->api};
    m.parts = al_arena_alloc(a, (d->n ? d->n : 1) * sizeof *m.parts);
    if (!m.parts)
        return al_fail(err, AL_RESULT_TOO_LARGE, "the answer is larger than the limit allows");
    autofree struct al_llm_draft_part **v = al_xcalloc(d->n ? d->n : 1, sizeof *v);
    if (d->n)
        memcpy(v, d->parts, d->n * sizeof *v);
    order(r, v, d->n);
    for (size_t i = 0; i < d->n; i++) {
        if (v[i]->kind != AL_LLM_CALL && !v[i]->text.n && !v[i]->half && !v[i]->raw.n)
            continue;
        if (take_part(a, v[i], &m.parts[m.n_parts]) < 0)
            return al_fail(err, AL_RESULT_TOO_LARGE, "the answer is larger than the limit allows");
        m.n_parts++;
    }
    *ret = m;
    return 0;
}
