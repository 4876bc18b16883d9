/* Where the servers of this world write how large a model's window is. */
#include "base/mem.h"
#include "base/text.h"
#include "llm/models_int.h"

#include <stdio.h>

#define MAX_ID 512
#define MAX_TOKENS INT64_C(1000000000)

void al_llm_found_fini(struct al_llm_found *f)
{
    free(f->v);
    *f = (struct al_llm_found){.arena = f->arena};
}

/* Ollama names a model without its tag when that is "latest". */
static bool same_model(struct al_str id, struct al_str only)
{
    if (al_str_eq(id, only))
        return true;
    struct al_str latest = AL_STR(":latest");
    return id.n == only.n + latest.n && memcmp(id.p, only.p, only.n) == 0 && al_str_ends(id, ":latest");
}

struct al_llm_model *al_llm_found_one(struct al_llm_found *f, const char *only)
{
    for (size_t i = 0; i < f->n; i++)
        if (al_str_is(f->v[i].id, only))
            return &f->v[i];
    for (size_t i = 0; i < f->n; i++)
        if (same_model(f->v[i].id, al_str_of(only)))
            return &f->v[i];
    return NULL;
}

static struct al_str keep(struct al_llm_found *f, struct al_str s)
{
    char *copy = al_arena_dup(f->arena, s);
    return copy ? (struct al_str){copy, s.n} : (struct al_str){"", 0};
}

struct al_llm_model *al_llm_found_add(struct al_llm_found *f, struct al_str id)
{
    if (!id.n || id.n > MAX_ID || f->n >= AL_LLM_MAX_MODELS)
        return NULL;
    if (f->n == f->cap) {
        f->cap = f->cap ? f->cap * 2 : 64;
        f->v = al_xrealloc(f->v, f->cap * sizeof(*f->v));
    }
    struct al_llm_model *m = &f->v[f->n++];
    *m = (struct al_llm_model){.id = keep(f, id)};
    return m;
}

void al_llm_found_window(struct al_llm_model *m, int64_t window, const char *from)
{
    if (window <= 0 || (m->window && window >= m->window))
        return;
    m->window = window;
    m->window_from = al_str_of(from);
}

static int64_t tokens(const struct al_json *v, const char *key)
{
    int64_t n;
    return al_json_int(al_json_get(v, key), AL_LLM_MIN_WINDOW, MAX_TOKENS, &n) ? n : 0;
}

static void read_sizes(struct al_llm_model *m, const struct al_json *v)
{
    static const char *const windows[] = {"max_input_tokens",      "context_length", "max_model_len",
                                          "loaded_context_length", "context_window", "max_context_length"};
    static const char *const outputs[] = {"max_completion_tokens", "max_output_tokens", "max_output_length"};
    const struct al_json *meta = al_json_get(v, "meta"), *top = al_json_get(v, "top_provider");
    for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++)
        al_llm_found_window(m, tokens(v, windows[i]), windows[i]);
    al_llm_found_window(m, tokens(top, "context_length"), "top_provider.context_length");
    al_llm_found_window(m, tokens(meta, "n_ctx"), "meta.n_ctx");
    al_llm_found_window(m, tokens(meta, "n_ctx_train"), "meta.n_ctx_train");
    for (size_t i = 0; !m->max_output && i < sizeof(outputs) / sizeof(*outputs); i++)
        m->max_output = tokens(v, outputs[i]);
    if (!m->max_output)
        m->max_output = tokens(top, "max_completion_tokens");
    if (!m->max_output && tokens(v, "max_input_tokens")) /* of Messages: what an answer may have */
        m->max_output = tokens(v, "max_tokens");
}

static void read_owner(struct al_llm_found *f, const struct al_json *v)
{
    struct al_str owner = al_json_get_text(v, "owned_by");
    if (al_str_is(owner, "llamacpp") || tokens(al_json_get(v, "meta"), "n_ctx_train"))
        f->seems |= AL_LLM_SEEMS_LLAMACPP;
    else if (al_str_is(owner, "organization_owner"))
        f->seems |= AL_LLM_SEEMS_LMSTUDIO;
    else if (al_str_is(owner, "library"))
        f->seems |= AL_LLM_SEEMS_OLLAMA;
    else if (al_str_is(owner, "vllm") || tokens(v, "max_model_len"))
        f->seems |= AL_LLM_SEEMS_KNOWN;
}

static void read_model(struct al_llm_found *f, const struct al_json *v)
{
    struct al_str id = al_json_get_text(v, "id");
    struct al_llm_model *m = al_llm_found_add(f, id.n ? id : al_json_get_text(v, "name"));
    if (!m)
        return;
    struct al_str name = al_json_get_text(v, "display_name");
    name = al_utf8_cut(name.n ? name : al_json_get_text(v, "name"), MAX_ID);
    m->name = keep(f, name);
    read_sizes(m, v);
    read_owner(f, v);
}

bool al_llm_read_list(struct al_llm_found *f, const struct al_json *v)
{
    const struct al_json *list = v && v->type == AL_JSON_ARRAY ? v : al_json_get(v, "data");
    if (!list)
        list = al_json_get(v, "models");
    f->last_id[0] = 0;
    if (!list || list->type != AL_JSON_ARRAY)
        return list && list->type == AL_JSON_NULL; /* how Ollama writes none */
    al_json_each(m, list) read_model(f, m);
    struct al_str last = al_json_get_text(v, "last_id");
    if (al_json_is_true(al_json_get(v, "has_more")) && last.n && last.n < sizeof(f->last_id))
        snprintf(f->last_id, sizeof(f->last_id), "%.*s", AL_FMT(last));
    return true;
}

bool al_llm_read_one(struct al_llm_found *f, const struct al_json *v, const char *only)
{
    if (!al_json_get_text(v, "id").n)
        return false;
    struct al_llm_model *m = al_llm_found_add(f, al_str_of(only));
    if (!m)
        return false;
    m->name = keep(f, al_utf8_cut(al_json_get_text(v, "display_name"), MAX_ID));
    read_sizes(m, v);
    return true;
}

int64_t al_llm_read_props(const struct al_json *v)
{
    int64_t a = tokens(al_json_get(v, "default_generation_settings"), "n_ctx"), b = tokens(v, "n_ctx");
    return a && b ? (a < b ? a : b) : a ? a : b;
}

int64_t al_llm_read_lmstudio(const struct al_json *v, const char *only, int64_t *ret_most)
{
    const struct al_json *data = al_json_get(v, "data");
    al_json_each(m, data && data->type == AL_JSON_ARRAY ? data : NULL)
    {
        if (!al_str_is(al_json_get_text(m, "id"), only))
            continue;
        *ret_most = tokens(m, "max_context_length");
        return tokens(m, "loaded_context_length");
    }
    return 0;
}

int64_t al_llm_read_ps(const struct al_json *v, const char *only)
{
    const struct al_json *models = al_json_get(v, "models");
    al_json_each(m, models && models->type == AL_JSON_ARRAY ? models : NULL)
    {
        if (same_model(al_json_get_text(m, "name"), al_str_of(only)) ||
            same_model(al_json_get_text(m, "model"), al_str_of(only)))
            return tokens(m, "context_length");
    }
    return 0;
}

/* Lines as "num_ctx                        8192". */
static int64_t read_parameter(struct al_str text, const char *name)
{
    size_t n = strlen(name);
    while (text.n) {
        const char *end = memchr(text.p, '\n', text.n);
        struct al_str line = {text.p, end ? (size_t)(end - text.p) : text.n};
        text = (struct al_str){text.p + line.n + (end != NULL), text.n - line.n - (end != NULL)};
        int64_t v;
        line = al_str_trim(line);
        if (al_str_starts(line, name) && line.n > n && (line.p[n] == ' ' || line.p[n] == '\t') &&
            al_parse_int(al_str_trim((struct al_str){line.p + n, line.n - n}), AL_LLM_MIN_WINDOW, MAX_TOKENS,
                         &v))
            return v;
    }
    return 0;
}

int64_t al_llm_read_show(const struct al_json *v, int64_t *ret_most)
{
    const struct al_json *info = al_json_get(v, "model_info");
    al_json_each(m, info && info->type == AL_JSON_OBJECT ? info : NULL)
    {
        int64_t n;
        if (al_str_ends(m->key, ".context_length") && al_json_int(m, AL_LLM_MIN_WINDOW, MAX_TOKENS, &n))
            *ret_most = n;
    }
    return read_parameter(al_json_get_text(v, "parameters"), "num_ctx");
}
