/* Entries of "providers" as they are written into our own file. */
#include "config/providers_int.h"

#include "base/mem.h"
#include "config/config_int.h"
#include "config/servers_text.h"

#include <string.h>

static const char shown[] = "the user config file";

static bool differs(const char *a, const char *b)
{
    return a && (!b || strcmp(a, b) != 0);
}

static void write_headers(struct al_jw *w, char **list)
{
    if (!list || !list[0])
        return;
    al_jw_key(w, "headers");
    al_jw_obj(w);
    for (size_t i = 0; list[i]; i++) {
        const char *at = strstr(list[i], ": ");
        al_jw_key_str(w, (struct al_str){list[i], (size_t)(at - list[i])});
        al_jw_strz(w, at + 2);
    }
    al_jw_end(w);
}

static void write_dollars(struct al_jw *w, const char *key, int64_t micro)
{
    if (micro < 0)
        return;
    al_jw_key(w, key);
    al_jw_double(w, (double)micro / 1e6);
}

static void write_price(struct al_jw *w, const struct al_price *p)
{
    if (p->input < 0 && p->cached_input < 0 && p->cache_write < 0 && p->output < 0)
        return;
    al_jw_key(w, "price");
    al_jw_obj(w);
    write_dollars(w, "input", p->input);
    write_dollars(w, "cachedInput", p->cached_input);
    write_dollars(w, "cacheWrite", p->cache_write);
    write_dollars(w, "output", p->output);
    al_jw_end(w);
}

static void write_models(struct al_jw *w, const struct al_provider *p)
{
    if (!p->n_models)
        return;
    al_jw_key(w, "models");
    al_jw_obj(w);
    for (size_t i = 0; i < p->n_models; i++) {
        const struct al_model_entry *m = &p->models[i];
        al_jw_key(w, m->id);
        al_jw_obj(w);
        if (m->context_window)
            al_jw_kint(w, "contextWindow", m->context_window);
        if (m->max_output_tokens)
            al_jw_kint(w, "maxOutputTokens", m->max_output_tokens);
        write_price(w, &m->price);
        al_jw_end(w);
    }
    al_jw_end(w);
}

static void write_auth(struct al_jw *w, const struct al_provider *p, const struct al_provider *standard)
{
    static const char *const names[] = {[AL_AUTH_DEFAULT] = NULL,
                                        [AL_AUTH_BEARER] = "bearer",
                                        [AL_AUTH_X_API_KEY] = "x-api-key",
                                        [AL_AUTH_NONE] = "none"};
    if (p->auth != standard->auth && names[p->auth])
        al_jw_kstrz(w, "auth", names[p->auth]);
}

static void write_numbers(struct al_jw *w, const struct al_provider *p)
{
    if (p->first_byte_ms)
        al_jw_kint(w, "firstByteMs", (int64_t)p->first_byte_ms);
    if (p->idle_ms)
        al_jw_kint(w, "idleMs", (int64_t)p->idle_ms);
    if (p->context_window)
        al_jw_kint(w, "contextWindow", p->context_window);
    if (p->max_output_tokens)
        al_jw_kint(w, "maxOutputTokens", p->max_output_tokens);
    if (p->reasoning_effort)
        al_jw_kstrz(w, "reasoningEffort", p->reasoning_effort);
    if (p->temperature >= 0) {
        al_jw_key(w, "temperature");
        al_jw_double(w, (double)p->temperature / 100);
    }
}

void al_provider_write(struct al_jw *w, const struct al_provider *p)
{
    struct al_provider standard;
    bool known = al_provider_preset(al_str_of(p->name), &standard);
    if (!known)
        al_provider_init(&standard, al_str_of(p->name), "");
    al_jw_obj(w);
    if (!known || p->api != standard.api)
        al_jw_kstrz(w, "api", al_api_name(p->api));
    if (differs(p->base_url, standard.base_url))
        al_jw_kstrz(w, "baseUrl", p->base_url);
    if (p->model)
        al_jw_kstrz(w, "model", p->model);
    if (differs(p->key_env, standard.key_env))
        al_jw_kstrz(w, "keyEnv", p->key_env);
    write_auth(w, p, &standard);
    if (p->insecure)
        al_jw_kbool(w, "insecure", true);
    if (p->anthropic_version)
        al_jw_kstrz(w, "anthropicVersion", p->anthropic_version);
    write_headers(w, p->headers);
    write_numbers(w, p);
    write_models(w, p);
    al_jw_end(w);
    al_provider_fini(&standard);
}

int al_providers_edit_put(struct al_str old, const struct al_provider *p, bool default_one,
                          struct al_buf *out, struct al_err *err)
{
    autobuf struct al_buf value = AL_BUF_INIT(AL_CONFIG_MAX_FILE), once = AL_BUF_INIT(AL_CONFIG_MAX_FILE),
                          all = AL_BUF_INIT(AL_CONFIG_MAX_FILE), name = AL_BUF_INIT(1024);
    struct al_providers check = {0};
    struct al_jw w;
    al_jw_init(&w, &value);
    al_provider_write(&w, p);
    if (al_buf_failed(&value))
        return al_fail(err, AL_CONFIG_INVALID, "%s would be larger than 1 MiB", shown);
    struct al_text_edit e = {.steps = {AL_STR("providers")},
                             .n_steps = 1,
                             .put_name = al_str_of(p->name),
                             .put_value = al_buf_str(&value)};
    if (al_text_edit_json(old, &e, shown, &once, err) < 0)
        return -1;
    al_jw_init(&w, &name);
    al_jw_strz(&w, p->name);
    struct al_text_edit d = {.put_name = AL_STR("provider"), .put_value = al_buf_str(&name)};
    if (!default_one)
        al_buf_add_str(&all, al_buf_str(&once));
    else if (al_text_edit_json(al_buf_str(&once), &d, shown, &all, err) < 0)
        return -1;
    /* What was written is read again: an edit never leaves a file that the next start refuses. */
    int r = al_providers_read(al_buf_str(&all), shown, &check, err);
    al_providers_free(&check);
    if (r == 0)
        al_buf_add_str(out, al_buf_str(&all));
    if (r == 0 && al_buf_failed(out))
        r = al_fail(err, AL_CONFIG_INVALID, "%s would be larger than 1 MiB", shown);
    return r;
}

static bool is_json_word(struct al_str s)
{
    autoarena struct al_arena a = AL_ARENA_INIT(64 << 10);
    const struct al_json *v;
    struct al_err ignored;
    return al_json_parse(&a, s, &v, &ignored) == 0 &&
           (v->type == AL_JSON_NUMBER || v->type == AL_JSON_TRUE || v->type == AL_JSON_FALSE);
}

int al_providers_edit_set(struct al_str old, struct al_str key, struct al_str value, struct al_buf *out,
                          struct al_err *err)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(AL_CONFIG_MAX_ARENA);
    autobuf struct al_buf json = AL_BUF_INIT(AL_CONFIG_MAX_FILE), all = AL_BUF_INIT(AL_CONFIG_MAX_FILE),
                          what = AL_BUF_INIT(8192);
    struct al_str inner = {key.p + sizeof "providers." - 1, key.n - (sizeof "providers." - 1)};
    /* A name may hold dots; what may be set of it holds none. */
    const char *dot = inner.n ? memrchr(inner.p, '.', inner.n) : NULL;
    if (!dot || dot == inner.p || dot + 1 == inner.p + inner.n || inner.n > AL_PROVIDER_MAX_TEXT)
        return al_fail(err, AL_INVALID_INPUT,
                       "of a provider one member is set: providers.NAME.contextWindow, for example");
    struct al_str name = {inner.p, (size_t)(dot - inner.p)}, member = {dot + 1, inner.n - name.n - 1};
    bool gone = al_str_is(value, "null");
    struct al_jw w;
    al_jw_init(&w, &json);
    if (is_json_word(value))
        al_buf_add_str(&json, value);
    else
        al_jw_str(&w, value);
    struct al_text_edit e = {.steps = {AL_STR("providers"), name},
                             .n_steps = 2,
                             .remove = &member,
                             .n_remove = gone,
                             .put_name = gone ? (struct al_str){0} : member,
                             .put_value = al_buf_str(&json)};
    if (al_buf_failed(&json) || al_text_edit_json(old, &e, shown, &all, err) < 0)
        return al_buf_failed(&json) ? al_fail(err, AL_INVALID_INPUT, "the value is too long") : -1;
    struct al_providers check = {0};
    const struct al_json *root, *at = NULL;
    int r = al_json_parse(&arena, al_config_without_bom(al_buf_str(&all)), &root, err);
    if (r == 0 && al_json_get(root, "providers"))
        r = al_providers_read_ours(al_json_get(root, "providers"), shown, &check, &at, &what);
    al_providers_free(&check);
    if (r < 0 && at) {
        al_fail(err, AL_INVALID_INPUT, "%.*s", AL_FMT(al_buf_str(&what)));
        return al_hint(err,
                       "docs/providers.md has the keys of a provider; `alisio setup provider` makes one");
    }
    if (r == 0)
        al_buf_add_str(out, al_buf_str(&all));
    return r == 0 && al_buf_failed(out)
               ? al_fail(err, AL_INVALID_INPUT, "%s would be larger than 1 MiB", shown)
               : r;
}
