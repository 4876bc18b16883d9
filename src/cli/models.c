/* `alisio models`: what an endpoint says that it has, and what is known of one model. */
#include "base/mem.h"
#include "cli/agent_cmd.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "store/conversation.h"

#include <stdio.h>
#include <string.h>

#define UNKNOWN_WINDOW 32768
#define OUTPUT_SHARE 4 /* of the window, at most, for one answer */

struct asking {
    struct al_app *app;
    struct al_endpoint e;
    struct al_llm_listing *listing;
    struct al_err err; /* of the question to the endpoint */
    bool done, stopped;
    /* Copies of what it said. */
    struct al_arena arena;
    struct al_llm_model *v;
    size_t n;
};

static struct al_str keep(struct asking *q, struct al_str s)
{
    char *p = al_arena_dup(&q->arena, s);
    return (struct al_str){p ? p : "", p ? s.n : 0};
}

static void on_models(void *ud, const struct al_llm_models *models, const struct al_err *err)
{
    struct asking *q = ud;
    q->listing = NULL;
    q->done = true;
    if (err) {
        q->err = *err;
        return;
    }
    q->v = al_arena_alloc(&q->arena, (models->n + 1) * sizeof *q->v);
    for (size_t i = 0; q->v && i < models->n; i++) {
        q->v[q->n] = models->v[i];
        q->v[q->n].id = keep(q, models->v[i].id);
        q->v[q->n].name = keep(q, models->v[i].name);
        q->v[q->n++].window_from = keep(q, models->v[i].window_from);
    }
}

static void on_signal(void *ud)
{
    struct asking *q = ud;
    q->done = q->stopped = true;
}

/* Asks the endpoint; a failure is in q->err. only: the model that is wanted, or NULL. */
static int ask(struct asking *q, const char *only, struct al_err *err)
{
    if (al_app_store(q->app, err) < 0 || al_endpoint_open(q->app, &q->e, err) < 0)
        return -1;
    al_app_catch_signals(q->app, on_signal, q);
    q->listing = al_llm_list(q->e.llm, only, on_models, q);
    al_loop_run_until(q->app->loop, &q->done, 0);
    q->app->on_signal = NULL;
    if (q->listing)
        al_llm_list_cancel(q->listing);
    q->listing = NULL;
    return q->stopped ? al_fail(err, AL_CANCELLED, "cancelled") : 0;
}

static void close_asking(struct asking *q)
{
    al_endpoint_close(&q->e);
    al_arena_free(&q->arena);
}

/* --- numbers, and where they come from --- */

struct known {
    const char *model;
    int64_t configured, told, learned; /* windows; 0: nothing says one */
    const char *configured_from;
    struct al_str told_from;
    int64_t output, told_output;
    const char *output_from;
    struct al_price price;
    struct al_llm_facts facts;
    bool listed;
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a <= 0 ? b : b <= 0 ? a : a < b ? a : b;
}

/* What the next run takes for the window: what is configured and what was learned, the smaller; else what the
 * endpoint says. */
static int64_t window_of(const struct known *k)
{
    int64_t learned = k->learned > 0 ? smaller(k->learned, k->told) : k->told;
    return smaller(k->configured, learned);
}

static const char *from_of(const struct known *k, char *room, size_t n)
{
    int64_t w = window_of(k);
    if (w == 0)
        return "assumed";
    if (w == k->configured)
        return k->configured_from;
    if (w == k->told) {
        snprintf(room, n, "the endpoint: %.*s", (int)(k->told_from.n > 40 ? 40 : k->told_from.n),
                 k->told_from.p);
        return k->told_from.n ? room : "the endpoint";
    }
    return "learned";
}

static void configured(const struct asking *q, struct known *k)
{
    const struct al_provider *p = &q->e.provider;
    const struct al_model_entry *m = al_provider_model(p, k->model);
    bool own = m && m->context_window > 0, own_output = m && m->max_output_tokens > 0;
    k->configured = own ? m->context_window : p->context_window;
    k->configured_from = own ? "models in config.json" : "contextWindow in config.json";
    k->output = own_output ? m->max_output_tokens : p->max_output_tokens;
    k->output_from = own_output ? "models in config.json" : "maxOutputTokens of the provider in config.json";
    if (k->output == 0) {
        k->output = al_config_int(q->app->config, AL_OPT_MAX_OUTPUT_TOKENS);
        k->output_from = "maxOutputTokens";
    }
    k->price = al_provider_price(p, k->model);
}

static int learned(const struct asking *q, struct known *k, struct al_err *err)
{
    autobuf struct al_buf json = AL_BUF_INIT(64 << 10);
    autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
    const struct al_json *v;
    struct al_err ignored;
    if (al_store_model_facts(q->app->store, q->e.provider.base_url, k->model, &json, err) < 0)
        return -1;
    if (json.n && al_json_parse(&arena, al_buf_str(&json), &v, &ignored) == 0)
        al_llm_facts_read(v, &k->facts);
    al_endpoint_forget(&q->e.provider, &k->facts);
    k->learned = k->facts.window;
    return 0;
}

static int know(const struct asking *q, const char *model, const struct al_llm_model *told, struct known *ret,
                struct al_err *err)
{
    *ret = (struct known){.model = model, .listed = told != NULL};
    configured(q, ret);
    if (told) {
        ret->told = told->window;
        ret->told_from = told->window_from;
        ret->told_output = told->max_output;
    }
    return learned(q, ret, err);
}

static void tokens(struct al_buf *out, int64_t n)
{
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%lld", (long long)n);
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            al_buf_addc(out, ',');
        al_buf_addc(out, digits[i]);
    }
}

/* --- models --- */

static int list_models(struct asking *q, struct al_reply *reply)
{
    static const char *const heads[] = {"", "MODEL", "WINDOW", "FROM", "NAME", NULL};
    autotable struct al_table t = {0};
    struct al_jw w;
    al_table_init(&t, heads);
    t.right = 1u << 2;
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "provider", q->e.provider.name);
    al_jw_kstrz(&w, "baseUrl", q->e.provider.base_url);
    al_jw_kstrz(&w, "model", q->e.model);
    al_jw_key(&w, "models");
    al_jw_arr(&w);
    for (size_t i = 0; i < q->n; i++) {
        autobuf struct al_buf cell = AL_BUF_INIT(64);
        char room[80];
        struct known k;
        if (know(q, q->v[i].id.p, &q->v[i], &k, &reply->err) < 0)
            return -1;
        int64_t window = window_of(&k);
        bool used = q->e.model && al_str_is(q->v[i].id, q->e.model);
        al_table_add(&t, used ? "*" : "");
        al_table_add_str(&t, q->v[i].id);
        if (window)
            tokens(&cell, window);
        al_table_add_str(&t, window ? al_buf_str(&cell) : AL_STR("-"));
        al_table_add(&t, window ? from_of(&k, room, sizeof room) : "");
        al_table_add_str(&t, al_str_eq(q->v[i].name, q->v[i].id) ? AL_STR("") : q->v[i].name);
        al_jw_obj(&w);
        al_jw_kstr(&w, "id", q->v[i].id);
        al_jw_kstr(&w, "name", q->v[i].name);
        if (window) {
            al_jw_kint(&w, "contextWindow", window);
            al_jw_kstrz(&w, "from", from_of(&k, room, sizeof room));
        }
        if (q->v[i].max_output)
            al_jw_kint(&w, "maxOutputTokens", q->v[i].max_output);
        al_jw_end(&w);
    }
    al_jw_end(&w);
    al_jw_end(&w);
    if (!q->n)
        al_buf_addf(&reply->text, "%s lists no models\n", q->e.provider.name);
    al_table_print(q->app, &t, &reply->text);
    if (q->n && !q->e.model)
        al_buf_addf(&reply->note,
                    "no model is chosen yet: `alisio setup provider %s --model M`, or --model M\n",
                    q->e.provider.name);
    return 0;
}

int al_cmd_models(struct al_app *app, struct al_reply *reply)
{
    struct asking q = {.app = app, .arena = AL_ARENA_INIT(64u << 20)};
    int r = al_endpoint_find(app, false, &q.e, &reply->err);
    if (r == 0)
        r = ask(&q, NULL, &reply->err);
    if (r == 0 && q.err.code != AL_OK) {
        reply->err = q.err;
        r = -1;
    }
    if (r == 0)
        r = list_models(&q, reply);
    close_asking(&q);
    return r;
}

/* --- models show --- */

static void line(struct al_buf *out, const char *name)
{
    al_buf_addf(out, "%-10s ", name);
}

static void number_line(struct al_buf *out, const char *name, int64_t n, const char *from)
{
    line(out, name);
    tokens(out, n);
    al_buf_addf(out, " tokens (%s)\n", from);
}

static void say_windows(const struct known *k, struct al_buf *out)
{
    char room[80];
    int64_t window = window_of(k);
    number_line(out, "window", window ? window : UNKNOWN_WINDOW, from_of(k, room, sizeof room));
    if (k->configured && k->configured != window)
        number_line(out, "", k->configured, k->configured_from);
    if (k->told && k->told != window)
        number_line(out, "", k->told, "the endpoint");
    if (k->learned && k->learned != window && k->learned != k->told)
        number_line(out, "", k->learned, "learned");
}

static void say_output(const struct known *k, struct al_buf *out)
{
    int64_t window = window_of(k), share = (window ? window : UNKNOWN_WINDOW) / OUTPUT_SHARE;
    int64_t said = smaller(smaller(k->output, k->facts.max_output), k->told_output);
    if (share < said)
        number_line(out, "output", share, "a quarter of the window");
    else
        number_line(out, "output", said,
                    said == k->output        ? k->output_from
                    : said == k->told_output ? "the endpoint"
                                             : "learned");
}

static void say_dollars(struct al_buf *out, const char *what, int64_t micro)
{
    if (micro >= 0)
        al_buf_addf(out, "%s$%.6g %s", out->n && out->p[out->n - 1] != ' ' ? ", " : "", (double)micro / 1e6,
                    what);
}

static void say_price(const struct al_price *p, struct al_buf *out)
{
    line(out, "price");
    size_t before = out->n;
    say_dollars(out, "input", p->input);
    say_dollars(out, "cached input", p->cached_input);
    say_dollars(out, "cache write", p->cache_write);
    say_dollars(out, "output", p->output);
    if (out->n == before)
        al_buf_adds(out, "not configured, so no money is counted");
    else
        al_buf_adds(out, ", a million tokens each");
    al_buf_addc(out, '\n');
}

static void say_learned(const struct al_llm_facts *f, struct al_buf *out)
{
    size_t n = 0;
    line(out, "learned");
    for (unsigned i = 0; i < AL_LLM_N_FIELDS; i++)
        if (f->without & (1u << i))
            al_buf_addf(out, "%s%s", n++ ? ", " : "it refuses ", al_llm_field_name((enum al_llm_field)i));
    if (f->wants_reasoning)
        al_buf_addf(out, "%sits reasoning must come back", n++ ? "; " : "");
    if (!n)
        al_buf_adds(out, "nothing that it refuses");
    al_buf_addc(out, '\n');
}

static void price_json(struct al_jw *w, const char *key, int64_t micro)
{
    al_jw_key(w, key);
    if (micro < 0)
        al_jw_null(w);
    else
        al_jw_double(w, (double)micro / 1e6);
}

static void show_json(const struct asking *q, const struct known *k, struct al_reply *reply)
{
    char room[80];
    struct al_jw w;
    int64_t window = window_of(k);
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "model", k->model);
    al_jw_kstrz(&w, "provider", q->e.provider.name);
    al_jw_kstrz(&w, "api", al_api_name(q->e.provider.api));
    al_jw_kstrz(&w, "baseUrl", q->e.provider.base_url);
    al_jw_kbool(&w, "listed", k->listed);
    al_jw_key(&w, "contextWindow");
    al_jw_obj(&w);
    al_jw_kint(&w, "tokens", window ? window : UNKNOWN_WINDOW);
    al_jw_kstrz(&w, "from", from_of(k, room, sizeof room));
    al_jw_kint(&w, "configured", k->configured);
    al_jw_kint(&w, "endpoint", k->told);
    al_jw_kint(&w, "learned", k->learned);
    al_jw_end(&w);
    al_jw_key(&w, "price");
    al_jw_obj(&w);
    price_json(&w, "input", k->price.input);
    price_json(&w, "cachedInput", k->price.cached_input);
    price_json(&w, "cacheWrite", k->price.cache_write);
    price_json(&w, "output", k->price.output);
    al_jw_end(&w);
    al_jw_key(&w, "learned");
    al_llm_facts_write(&w, &k->facts);
    al_jw_end(&w);
}

static int show(struct asking *q, const char *model, struct al_reply *reply)
{
    struct known k;
    const struct al_llm_model *told = NULL;
    struct al_buf *out = &reply->text;
    for (size_t i = 0; i < q->n; i++)
        if (al_str_is(q->v[i].id, model))
            told = &q->v[i];
    if (know(q, model, told, &k, &reply->err) < 0)
        return -1;
    line(out, "model");
    al_say_foreign(q->app, out, al_str_of(model), false);
    al_buf_addc(out, '\n');
    line(out, "provider");
    al_buf_addf(out, "%s (%s, %s; from %s)\n", q->e.provider.name, al_api_name(q->e.provider.api),
                q->e.provider.base_url, q->e.provider.origin);
    line(out, "key");
    if (q->e.key.value)
        al_buf_addf(out, "from %s%s%s\n", q->e.key.source, q->e.key.name ? ": " : "",
                    q->e.key.name ? q->e.key.name : "");
    else
        al_buf_adds(out, "none\n");
    say_windows(&k, out);
    say_output(&k, out);
    say_price(&k.price, out);
    say_learned(&k.facts, out);
    if (q->err.code != AL_OK)
        al_app_warn(q->app, "the endpoint could not be asked: %s", q->err.msg);
    else if (!told)
        al_app_warn(q->app, "the endpoint does not list that model");
    show_json(q, &k, reply);
    return 0;
}

int al_cmd_models_show(struct al_app *app, struct al_reply *reply)
{
    struct asking q = {.app = app, .arena = AL_ARENA_INIT(64u << 20)};
    const char *named = app->args.n_pos ? app->args.pos[0] : NULL;
    int r = 0;
    if (named && !*named)
        r = al_fail(&reply->err, AL_INVALID_INPUT, "the model's name is empty");
    if (r == 0)
        r = al_endpoint_find(app, !named, &q.e, &reply->err);
    if (r == 0 && named) {
        free(q.e.model);
        q.e.model = al_xstrdup(named);
    }
    if (r == 0)
        r = ask(&q, q.e.model, &reply->err);
    if (r == 0)
        r = show(&q, q.e.model, reply);
    close_asking(&q);
    return r;
}
