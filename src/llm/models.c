/* Which models an endpoint has, and how large their windows are: its list, and what known servers tell beside
 * it. */
#include "base/mem.h"
#include "llm/models_int.h"

#include <stdio.h>

#define LIST_MS 30000
#define BESIDE_MS 5000 /* a question that it may not know */
#define CONNECT_MS 10000
#define MAX_PAGES 20
#define UNKNOWN_WINDOW \
    32768 /* what is assumed where nothing is known: less is worth knowing, more is no promise */

enum step {
    LIST,
    ONE,
    PROPS,
    LMSTUDIO,
    PS,
    SHOW,
    END
};

struct al_llm_listing {
    struct al_llm *l;
    char *only; /* NULL: none */
    void (*done)(void *ud, const struct al_llm_models *models, const struct al_err *err);
    void *ud;
    struct al_arena memory;
    struct al_llm_found found;
    enum step step;
    unsigned n_pages;
    void *http, *timer;
    struct al_buf body;
    int status;
    char type[128];
    int64_t most; /* what the model could have at most */
    bool over_limit;
    unsigned depth; /* of calls that are running here: freed when none is */
    bool dead;      /* cancelled, or done was called */
};

static void next(struct al_llm_listing *x);

static void enter(struct al_llm_listing *x)
{
    x->depth++;
}

static void leave(struct al_llm_listing *x)
{
    if (--x->depth > 0 || !x->dead)
        return;
    al_llm_found_fini(&x->found);
    al_arena_free(&x->memory);
    al_buf_free(&x->body);
    free(x->only);
    free(x);
}

static void stop(struct al_llm_listing *x)
{
    if (x->timer)
        x->l->time.unwait(x->l->time.ud, x->timer);
    x->timer = NULL;
    if (x->http)
        x->l->transport.cancel(x->l->transport.ud, x->http);
    x->http = NULL;
}

void al_llm_list_cancel(struct al_llm_listing *x)
{
    if (!x || x->dead)
        return;
    enter(x);
    x->dead = true;
    stop(x);
    leave(x);
}

static void end(struct al_llm_listing *x, const struct al_err *err)
{
    if (x->dead)
        return;
    struct al_llm_models models = {x->found.v, x->found.n};
    x->dead = true;
    stop(x);
    x->done(x->ud, err ? NULL : &models, err);
}

static void end_fault(struct al_llm_listing *x, const struct al_llm_fault *f)
{
    struct al_err err = {0};
    al_llm_fault_err(f, &x->l->provider, x->l->model, &err);
    if (strstr(err.hint, "alisio resume"))
        al_hint(&err, "try again in a while"); /* here is nothing to go on with */
    end(x, &err);
}

static const char *header_of(void *ud, const char *name)
{
    struct al_llm_listing *x = ud;
    return x->http ? x->l->transport.header(x->l->transport.ud, x->http, name) : NULL;
}

/* --- what an answer says --- */

static struct al_llm_model *wanted(struct al_llm_listing *x)
{
    struct al_llm_model *m = al_llm_found_one(&x->found, x->only);
    return m ? m : al_llm_found_add(&x->found, al_str_of(x->only));
}

static void found(struct al_llm_listing *x, int64_t window, const char *from)
{
    struct al_llm_model *m = window > 0 ? wanted(x) : NULL;
    if (m)
        al_llm_found_window(m, window, from);
}

/* Of a list: the model behind the first of its pages, further pages, and then what only this server tells. */
static void took_list(struct al_llm_listing *x, const struct al_json *v, bool ok)
{
    if (!ok || !al_llm_read_list(&x->found, v)) {
        struct al_llm_fault f;
        al_llm_fault_of_answer(x->status, al_str_of(x->type), al_buf_str(&x->body), header_of, x, x->l->key,
                               &f);
        end_fault(x, &f);
        return;
    }
    bool more = x->found.last_id[0] && ++x->n_pages < MAX_PAGES && x->found.n < AL_LLM_MAX_MODELS;
    x->step = more ? LIST : ONE;
}

static void took(struct al_llm_listing *x, const struct al_json *v, bool ok)
{
    int64_t n;
    switch (x->step) {
    case LIST:
        took_list(x, v, ok);
        return;
    case ONE:
        if (ok)
            al_llm_read_one(&x->found, v, x->only);
        x->step = PROPS;
        return;
    case PROPS:
        found(x, ok ? al_llm_read_props(v) : 0, "n_ctx");
        x->step = LMSTUDIO;
        return;
    case LMSTUDIO:
        n = ok ? al_llm_read_lmstudio(v, x->only, &x->most) : 0;
        found(x, n, "loaded_context_length");
        x->step = PS;
        return;
    case PS:
        n = ok ? al_llm_read_ps(v, x->only) : 0;
        found(x, n, "context_length");
        x->step = n || !ok ? END : SHOW;
        return;
    case SHOW:
        n = ok ? al_llm_read_show(v, &x->most) : 0;
        found(x, n, "num_ctx");
        x->step = END;
        return;
    case END:
        return;
    }
}

/* --- one question --- */

static void on_head(void *ud, const struct al_http_head *head)
{
    struct al_llm_listing *x = ud;
    x->status = head->status;
    snprintf(x->type, sizeof(x->type), "%s", head->content_type ? head->content_type : "");
}

static bool on_body(void *ud, struct al_str bytes)
{
    struct al_llm_listing *x = ud;
    al_buf_add_str(&x->body, bytes);
    return !al_buf_failed(&x->body);
}

/* The list must come; what is asked beside it need not. */
static void no_answer(struct al_llm_listing *x, const struct al_llm_fault *f)
{
    if (x->step == LIST)
        end_fault(x, f);
    else
        took(x, NULL, false);
    next(x);
}

static void on_done(void *ud, const struct al_err *err)
{
    struct al_llm_listing *x = ud;
    struct al_llm_fault f;
    if (x->dead)
        return;
    enter(x);
    if (x->timer)
        x->l->time.unwait(x->l->time.ud, x->timer);
    x->timer = NULL;
    if (err->code != AL_OK || al_buf_failed(&x->body)) {
        if (err->code != AL_OK)
            al_llm_fault_of_transport(err, false, &f);
        else
            f = (struct al_llm_fault){.kind = AL_LLM_FAULT_TOO_LARGE, .message = "its list is over 16 MiB"};
        x->http = NULL;
        no_answer(x, &f);
    } else {
        autoarena struct al_arena arena = AL_ARENA_INIT(8 * AL_LLM_MAX_LIST);
        const struct al_json *v = NULL;
        bool ok = x->status == 200 && al_json_parse(&arena, al_buf_str(&x->body), &v, NULL) == 0;
        took(x, v, ok);
        x->http = NULL;
        next(x);
    }
    leave(x);
}

static const struct al_http_ops http_ops = {.head = on_head, .body = on_body, .done = on_done};

static void on_time(void *ud)
{
    struct al_llm_listing *x = ud;
    char host[AL_LLM_HOST_MAX];
    x->timer = NULL;
    enter(x);
    stop(x);
    al_llm_host(x->l->provider.base_url, host);
    struct al_llm_fault f = {.kind = AL_LLM_FAULT_TIMEOUT, .retry_after_ms = -1};
    snprintf(f.message, sizeof(f.message), "%s did not list its models within %d s", host, LIST_MS / 1000);
    no_answer(x, &f);
    leave(x);
}

static void add_percent(struct al_buf *b, struct al_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     (c && strchr("-._~", c));
        if (plain)
            al_buf_addc(b, c);
        else
            al_buf_addf(b, "%%%02X", (unsigned char)c);
    }
}

static char *url_of(struct al_llm_listing *x)
{
    static const char *const paths[] = {
        [LIST] = "models", [ONE] = "models/",   [PROPS] = "/props", [LMSTUDIO] = "/api/v0/models",
        [PS] = "/api/ps",  [SHOW] = "/api/show"};
    autobuf struct al_buf path = AL_BUF_INIT(4096), url = AL_BUF_INIT(1 << 16);
    al_buf_adds(&path, paths[x->step]);
    if (x->step == ONE)
        add_percent(&path, al_str_of(x->only));
    autofree char *z = al_buf_take(&path);
    autofree char *base = al_llm_url(&x->l->provider, z);
    al_buf_adds(&url, base);
    if (x->step == LIST && x->l->provider.api == AL_API_MESSAGES) {
        al_buf_adds(&url, strchr(base, '?') ? "&limit=1000" : "?limit=1000");
        if (x->found.last_id[0]) {
            al_buf_adds(&url, "&after_id=");
            add_percent(&url, al_str_of(x->found.last_id));
        }
    }
    return al_buf_take(&url);
}

static void ask(struct al_llm_listing *x)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
    autobuf struct al_buf body = AL_BUF_INIT(4096);
    struct al_err err = {0};
    struct al_llm_request none = {0};
    struct al_llm_wire w = {.provider = &x->l->provider,
                            .model = x->l->model,
                            .key = x->l->key,
                            .facts = &x->l->facts,
                            .request = &none};
    autofree char *url = url_of(x);
    if (x->step == SHOW) {
        struct al_jw jw;
        al_jw_init(&jw, &body);
        al_jw_obj(&jw);
        al_jw_kstrz(&jw, "model", x->only);
        al_jw_end(&jw);
    }
    struct al_http_request r = {.url = url,
                                .headers = al_llm_headers(&w, &arena),
                                .body = al_buf_str(&body),
                                .connect_ms = CONNECT_MS};
    r.method = body.n ? "POST" : "GET";
    al_buf_free(&x->body);
    x->status = 0;
    x->type[0] = 0;
    al_llm_look(x->l);
    if (al_llm_guard(x->l, url, &r, &err) == 0)
        x->http = x->l->transport.start(x->l->transport.ud, &r, &http_ops, x, &err);
    if (x->http) {
        uint64_t limit = x->step == LIST ? LIST_MS : BESIDE_MS;
        x->timer = x->l->time.wait(x->l->time.ud, limit, on_time, x);
        return;
    }
    struct al_llm_fault f;
    al_llm_fault_of_transport(&err, false, &f);
    end_fault(x, &f);
}

/* --- which questions there are --- */

static bool seems(struct al_llm_listing *x, unsigned what, const char *preset)
{
    char host[AL_LLM_HOST_MAX];
    if (x->found.seems & what || (x->l->provider.name && strcmp(x->l->provider.name, preset) == 0))
        return true;
    if (x->found.seems || x->l->provider.api == AL_API_MESSAGES)
        return false;
    al_llm_host(x->l->provider.base_url, host);
    struct al_llm_model *m = al_llm_found_one(&x->found, x->only);
    return al_llm_place(host) == AL_LLM_HERE && !(m && m->window); /* it costs nothing to ask a neighbour */
}

static bool applies(struct al_llm_listing *x)
{
    switch (x->step) {
    case LIST:
        return true;
    case ONE:
        return x->l->provider.api == AL_API_MESSAGES && !al_llm_found_one(&x->found, x->only);
    case PROPS:
        return seems(x, AL_LLM_SEEMS_LLAMACPP, "llamacpp");
    case LMSTUDIO:
        return seems(x, AL_LLM_SEEMS_LMSTUDIO, "lmstudio");
    case PS:
        return seems(x, AL_LLM_SEEMS_OLLAMA, "ollama");
    default:
        return true;
    }
}

/* A model that is not loaded has no window yet; one that could not have more than is assumed has no more. */
static void settle(struct al_llm_listing *x)
{
    struct al_llm_model *m = x->only ? al_llm_found_one(&x->found, x->only) : NULL;
    /* Better not to ask for more than to be refused. */
    int64_t *limit = &x->l->facts.max_output;
    if (m && m->max_output && strcmp(x->only, x->l->model) == 0 && (!*limit || m->max_output < *limit))
        *limit = m->max_output;
    if (x->most && x->most < UNKNOWN_WINDOW && !(m && m->window))
        found(x, x->most, "max_context_length");
}

static void next(struct al_llm_listing *x)
{
    if (x->dead)
        return;
    if (x->step != LIST && !x->only)
        x->step = END;
    while (x->step != END && !applies(x))
        x->step = x->step == PS ? END : x->step + 1;
    if (x->step != END) {
        ask(x);
        return;
    }
    settle(x);
    end(x, NULL);
}

static void begin(void *ud)
{
    struct al_llm_listing *x = ud;
    x->timer = NULL;
    enter(x);
    next(x);
    leave(x);
}

struct al_llm_listing *al_llm_list(struct al_llm *l, const char *only,
                                   void (*done)(void *ud, const struct al_llm_models *models,
                                                const struct al_err *err),
                                   void *ud)
{
    struct al_llm_listing *x = al_xcalloc(1, sizeof(*x));
    x->l = l;
    x->only = only && *only ? al_xstrdup(only) : NULL;
    x->done = done;
    x->ud = ud;
    al_arena_init(&x->memory, 4 * AL_LLM_MAX_LIST);
    x->found.arena = &x->memory;
    al_buf_init(&x->body, AL_LLM_MAX_LIST);
    x->timer = l->time.wait(l->time.ud, 0, begin, x);
    return x;
}
