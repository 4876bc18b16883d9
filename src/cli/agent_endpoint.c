#include "cli/agent_cmd.h"

#include "base/mem.h"
#include "base/text.h"
#include "config/providers.h"

#include <stdio.h>
#include <string.h>

#define SMALL_WINDOW 8192

char *al_credentials_file(void)
{
    autofree char *home = al_config_home();
    struct al_buf b = AL_BUF_INIT(1 << 16);
    al_buf_addf(&b, "%s/credentials.json", home);
    return al_buf_take(&b);
}

/* --- which provider --- */

static void offer_near(struct al_str word, const char *name, const char **best, unsigned *distance)
{
    unsigned d = al_str_distance(word, al_str_of(name));
    if (d < *distance) {
        *distance = d;
        *best = name;
    }
}

int al_endpoint_provider(struct al_app *app, const char *name, struct al_provider *ret, struct al_err *err)
{
    const struct al_providers *own = al_config_providers(app->config);
    const struct al_provider *have = al_providers_find(own, al_str_of(name));
    if (have) {
        al_provider_copy(ret, have);
        return 0;
    }
    if (al_provider_preset(al_str_of(name), ret))
        return 0;
    const char *near = NULL;
    unsigned distance = 4;
    for (size_t i = 0; i < own->n; i++)
        offer_near(al_str_of(name), own->v[i].name, &near, &distance);
    for (size_t i = 0; i < al_provider_n_presets(); i++)
        offer_near(al_str_of(name), al_provider_preset_at(i), &near, &distance);
    al_fail(err, AL_INVALID_INPUT, "there is no model provider %.64s", name);
    if (near)
        return al_hint(err, "did you mean %s?", near);
    return al_hint(
        err, "`alisio setup provider %.64s` connects one; --base-url URL asks an endpoint this once", name);
}

/* A provider for one line, named by its host; one that is known by that very URL is that one. */
static void provider_of_url(struct al_app *app, struct al_str url, struct al_provider *ret)
{
    const struct al_providers *own = al_config_providers(app->config);
    *ret = (struct al_provider){.api = AL_API_CHAT, .temperature = -1};
    al_provider_set_url(ret, url);
    for (size_t i = 0; i < own->n + al_provider_n_presets(); i++) {
        struct al_provider p;
        if (i < own->n)
            al_provider_copy(&p, &own->v[i]);
        else
            (void)al_provider_preset(al_str_of(al_provider_preset_at(i - own->n)), &p);
        if (strcmp(p.base_url, ret->base_url) == 0) {
            al_provider_fini(ret);
            *ret = p;
            return;
        }
        al_provider_fini(&p);
    }
    const char *host = strstr(ret->base_url, "://") + 3;
    struct al_buf name = AL_BUF_INIT(AL_PROVIDER_NAME_MAX);
    for (size_t i = 0; host[i] && host[i] != '/' && (host[i] != ':' || host[0] == '['); i++)
        if (host[i] != '[' && host[i] != ']')
            al_buf_addc(&name, al_provider_name_fault((struct al_str){host + i, 1}) && host[i] != '.' &&
                                       host[i] != '-'
                                   ? '-'
                                   : host[i]);
    ret->name = name.n && name.p[0] != '-' && name.p[0] != '.' ? al_buf_take(&name) : al_xstrdup("endpoint");
    al_buf_free(&name);
    ret->origin = al_xstrdup("--base-url");
}

static int take_flags(struct al_app *app, struct al_provider *p, struct al_err *err)
{
    const char *api = app->args.value[AL_FLAG_API];
    struct al_provider named;
    if (!api || al_api_find(al_str_of(api), &p->api))
        return 0;
    al_fail(err, AL_INVALID_INPUT, "--api is chat, responses or messages, not %.40s", api);
    if (!al_provider_preset(al_str_of(api), &named))
        return al_hint(err, "it names what the endpoint speaks; who it is, --provider or --base-url says");
    al_provider_fini(&named);
    return al_hint(err, "--provider %s names who is asked, and what it speaks is known", api);
}

static int check_url(const char *url, struct al_err *err)
{
    const char *why = url ? al_provider_url_fault(al_str_of(url)) : NULL;
    if (!why)
        return 0;
    al_fail(err, AL_INVALID_INPUT, "--base-url %s", why);
    if (strncmp(why, "must begin", 10) != 0 || strstr(url, "://") || !*url || strlen(url) > 200)
        return al_hint(err, "such as --base-url http://127.0.0.1:8080/v1");
    autobuf struct al_buf word = AL_BUF_INIT(2048);
    al_text_shell(&word, al_str_of(url));
    if (!word.n || word.p[0] == '\'')
        return al_hint(err, "such as --base-url http://127.0.0.1:8080/v1");
    return al_hint(err, "--base-url http://%s, or with https:// where it is encrypted", url);
}

static int find_provider(struct al_app *app, struct al_provider *ret, struct al_err *err)
{
    const char *name = app->args.value[AL_FLAG_PROVIDER], *url = app->args.value[AL_FLAG_BASE_URL];
    const char *configured = al_config_text(app->config, AL_OPT_PROVIDER);
    if (check_url(url, err) < 0)
        return -1;
    if (url && !name) {
        provider_of_url(app, al_str_of(url), ret);
        return take_flags(app, ret, err);
    }
    const struct al_providers *own = al_config_providers(app->config);
    if (!name && !configured && own->n == 1)
        configured = own->v[0].name;
    if (!name && !configured) {
        al_fail(err, AL_INVALID_INPUT, "no model provider is configured");
        return al_hint(
            err,
            "`alisio setup provider` connects one; or name one: --provider ollama --model M, --base-url URL");
    }
    if (al_endpoint_provider(app, name ? name : configured, ret, err) < 0)
        return -1;
    if (url) {
        al_provider_set_url(ret, al_str_of(url));
        free(ret->origin);
        ret->origin = al_xstrdup("--base-url");
    }
    return take_flags(app, ret, err);
}

/* --- which model --- */

static void find_model(struct al_app *app, struct al_endpoint *e)
{
    bool flagged = al_args_has(&app->args, AL_FLAG_PROVIDER) || al_args_has(&app->args, AL_FLAG_BASE_URL);
    const char *flag = app->args.value[AL_FLAG_MODEL],
               *configured = al_config_text(app->config, AL_OPT_MODEL);
    bool env = al_config_layer(app->config, AL_OPT_MODEL) == AL_LAYER_ENV;
    const char *name = NULL;
    if (flag && *flag) {
        name = flag;
        e->model_from = "--model";
    } else if (configured && env) {
        name = configured;
        e->model_from = "ALISIO_MODEL";
    } else if (configured && !flagged) { /* the model of another provider is none of this one's */
        name = configured;
        e->model_from = "model in config.json";
    } else if (e->provider.model) {
        name = e->provider.model;
        e->model_from = "the provider's entry in config.json";
    }
    e->model = name ? al_xstrdup(name) : NULL;
}

/* --- the key --- */

static int need_key(const struct al_provider *p, struct al_err *err)
{
    if (p->auth == AL_AUTH_NONE || (p->auth == AL_AUTH_DEFAULT && !p->key_env))
        return 0;
    al_fail(err, AL_AUTH_REQUIRED, "there is no key for %s", p->name);
    if (p->key_env)
        return al_hint(err, "export %s=…, or let `alisio setup provider %s` keep one", p->key_env, p->name);
    return al_hint(err, "`alisio setup provider %s` keeps one; --key-env NAME takes it from a variable",
                   p->name);
}

int al_endpoint_find(struct al_app *app, bool want_model, struct al_endpoint *ret, struct al_err *err)
{
    *ret = (struct al_endpoint){0};
    if (al_app_config(app, err) < 0 || find_provider(app, &ret->provider, err) < 0)
        return -1;
    find_model(app, ret);
    if (want_model && !ret->model) {
        autobuf struct al_buf flags = AL_BUF_INIT(4096);
        al_endpoint_flags(app, false, &flags);
        al_fail(err, AL_INVALID_INPUT, "no model is named for %s", ret->provider.name);
        return al_hint(err, "`alisio models%.*s` lists what there is; --model M names one", (int)flags.n,
                       flags.n ? flags.p : "");
    }
    if (ret->model && strlen(ret->model) > 200)
        return al_fail(err, AL_INVALID_INPUT, "the model's name is longer than 200 bytes");
    autofree char *file = al_credentials_file();
    if (al_key_find(&ret->provider, app->args.value[AL_FLAG_KEY_ENV], file, &ret->key, err) < 0)
        return -1;
    return ret->key.value ? 0 : need_key(&ret->provider, err);
}

/* --- a conversation that goes on --- */

int al_endpoint_resume(struct al_app *app, const struct al_turn *last, struct al_err *err)
{
    const char **value = app->args.value;
    struct al_provider p = {0};
    struct al_err ignored;
    if (al_app_config(app, err) < 0)
        return -1;
    if (value[AL_FLAG_PROVIDER] || value[AL_FLAG_BASE_URL])
        return 0;
    bool chosen = al_config_text(app->config, AL_OPT_PROVIDER) || al_config_providers(app->config)->n == 1;
    if (chosen && find_provider(app, &p, err) < 0)
        return al_provider_fini(&p), -1;
    if (chosen && strcmp(p.base_url, last->base_url) == 0) {
        al_provider_fini(&p);
        return 0;
    }
    struct al_provider of_last = {0};
    bool known = al_endpoint_provider(app, last->provider, &of_last, &ignored) == 0 &&
                 strcmp(of_last.base_url, last->base_url) == 0;
    al_provider_fini(&of_last);
    if (chosen) {
        al_fail(err, AL_INVALID_INPUT,
                "this conversation was with %.64s (%.100s), and your configuration names %s (%.100s)",
                last->provider, last->base_url, p.name, p.base_url);
        if (known)
            al_hint(err, "say who goes on with it: --provider %s --model %.100s, or --provider %s",
                    last->provider, last->model, p.name);
        else
            al_hint(err,
                    "say who goes on with it: --base-url %.120s --api %s --model %.100s, or --provider %s",
                    last->base_url, last->api, last->model, p.name);
        return al_provider_fini(&p), -1;
    }
    if (known) {
        value[AL_FLAG_PROVIDER] = last->provider;
    } else {
        value[AL_FLAG_BASE_URL] = last->base_url;
        if (!value[AL_FLAG_API])
            value[AL_FLAG_API] = last->api;
    }
    if (!value[AL_FLAG_MODEL])
        value[AL_FLAG_MODEL] = last->model;
    return 0;
}

void al_endpoint_flags(const struct al_app *app, bool other_model, struct al_buf *out)
{
    static const struct {
        int flag; /* AL_FLAG_… */
        const char *word;
    } flags[] = {{AL_FLAG_PROVIDER, "--provider"},
                 {AL_FLAG_BASE_URL, "--base-url"},
                 {AL_FLAG_API, "--api"},
                 {AL_FLAG_KEY_ENV, "--key-env"},
                 {AL_FLAG_MODEL, "--model"}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        const char *value = app->args.value[flags[i].flag];
        if (!value)
            continue;
        al_buf_addf(out, " %s ", flags[i].word);
        if (other_model && flags[i].flag == AL_FLAG_MODEL)
            al_buf_adds(out, "M");
        else
            al_text_shell(out, al_str_of(value));
    }
}

void al_endpoint_forget(const struct al_provider *p, struct al_llm_facts *facts)
{
    if (facts->window < SMALL_WINDOW && al_llm_is_here(p))
        facts->window = 0;
}

int al_endpoint_open(struct al_app *app, struct al_endpoint *e, struct al_err *err)
{
    autobuf struct al_buf json = AL_BUF_INIT(64 << 10);
    autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
    struct al_llm_opts o = {.loop = al_app_loop(app),
                            .provider = &e->provider,
                            .model = e->model ? e->model : "",
                            .key = e->key.value};
    if (e->model && al_store_model_facts(app->store, e->provider.base_url, e->model, &json, err) < 0)
        return -1;
    const struct al_json *v = NULL;
    struct al_err ignored;
    /* Facts that cannot be read are learned again. */
    if (json.n && al_json_parse(&arena, al_buf_str(&json), &v, &ignored) == 0)
        al_llm_facts_read(v, &o.facts);
    al_endpoint_forget(&e->provider, &o.facts);
    e->http = al_http_client_new(o.loop);
    o.http = e->http;
    e->llm = al_llm_new(&o);
    return 0;
}

void al_endpoint_close(struct al_endpoint *e)
{
    if (e->llm)
        al_llm_free(e->llm);
    if (e->http)
        al_http_client_free(e->http);
    al_key_free(&e->key);
    al_provider_fini(&e->provider);
    free(e->model);
    *e = (struct al_endpoint){0};
}

static void say_key(const struct al_endpoint *e, const struct al_err *missing, struct al_buf *out)
{
    if (e->key.value)
        al_buf_addf(out, ", key from %s%s%s", e->key.source, e->key.name ? ": " : "",
                    e->key.name ? e->key.name : "");
    else if (missing->code != AL_OK)
        al_buf_adds(out, ", but there is no key for it");
    else
        al_buf_adds(out, ", without a key");
}

static void endpoint_json(struct al_jw *w, const struct al_endpoint *e)
{
    al_jw_key(w, "provider");
    al_jw_obj(w);
    al_jw_kstrz(w, "name", e->provider.name);
    al_jw_kstrz(w, "api", al_api_name(e->provider.api));
    al_jw_kstrz(w, "baseUrl", e->provider.base_url);
    al_jw_kstrz(w, "model", e->model);
    al_jw_kstrz(w, "keyFrom", e->key.source);
    al_jw_end(w);
}

int al_endpoint_say(struct al_app *app, struct al_buf *out, struct al_jw *w, struct al_err *err)
{
    struct al_endpoint e = {0};
    struct al_err missing = {0};
    if (!al_config_text(app->config, AL_OPT_PROVIDER) && al_config_providers(app->config)->n != 1) {
        al_buf_adds(out, "none is chosen: `alisio setup provider` connects one, for `alisio run`");
        if (w) {
            al_jw_key(w, "provider");
            al_jw_null(w);
        }
        return 0;
    }
    autofree char *file = al_credentials_file();
    int r = find_provider(app, &e.provider, err);
    if (r == 0)
        r = al_key_find(&e.provider, NULL, file, &e.key, err);
    if (r == 0) {
        find_model(app, &e);
        if (!e.key.value)
            (void)!need_key(&e.provider, &missing);
        al_buf_addf(out, "%s (%s, %s), %s%s", e.provider.name, al_api_name(e.provider.api),
                    e.provider.base_url, e.model ? "model " : "no model is named", e.model ? e.model : "");
        say_key(&e, &missing, out);
        if (w)
            endpoint_json(w, &e);
    }
    al_endpoint_close(&e);
    return r < 0 ? -1 : missing.code == AL_OK;
}
