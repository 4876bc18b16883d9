/* The object "providers" of the user's config.json: each part checked as it is taken. No message shows a
 * value, since what stands in a wrong place may be a key. */
#include "config/providers_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "config/config_int.h"

#define MIN_WAIT_MS 1000
#define MAX_WAIT_MS 86400000
#define MIN_WINDOW 1024
#define MAX_TOKENS 100000000
#define MAX_DOLLARS 1000000

struct reading {
    const char *origin;
    struct al_providers *add_to;
    const struct al_json **ret_at;
    struct al_buf *what;
    struct al_buf prefix; /* "providers.local.models.x", made visible */
};

/* --- parts: NULL when taken, else what is wrong: "must be …" --- */

static const char *take_text(const struct al_json *v, size_t max, char **to)
{
    if (!al_json_is_string(v) || v->str.n == 0)
        return "must be a text";
    if (v->str.n > max)
        return "is too long";
    for (size_t i = 0; i < v->str.n; i++)
        if ((unsigned char)v->str.p[i] < ' ' || v->str.p[i] == 0x7f)
            return "holds a control character";
    free(*to);
    *to = al_xdup(v->str.p, v->str.n);
    return NULL;
}

/* A word of letters, digits, "_", "." and "-". */
static const char *take_word(const struct al_json *v, char **to)
{
    if (!al_json_is_string(v) || al_provider_name_fault(v->str))
        return "must be a word";
    return take_text(v, AL_PROVIDER_NAME_MAX, to);
}

static const char *take_bool(const struct al_json *v, bool *to)
{
    if (v->type != AL_JSON_TRUE && v->type != AL_JSON_FALSE)
        return "must be true or false";
    *to = v->type == AL_JSON_TRUE;
    return NULL;
}

static const char *take_wait(const struct al_json *v, uint64_t *to)
{
    int64_t ms;
    if (!al_json_int(v, MIN_WAIT_MS, MAX_WAIT_MS, &ms))
        return "must be a whole number from 1000 to 86400000";
    *to = (uint64_t)ms;
    return NULL;
}

static const char *take_window(const struct al_json *v, int64_t *to)
{
    return al_json_int(v, MIN_WINDOW, MAX_TOKENS, to) ? NULL
                                                      : "must be a whole number from 1024 to 100000000";
}

static const char *take_output(const struct al_json *v, int64_t *to)
{
    return al_json_int(v, 1, MAX_TOKENS, to) ? NULL : "must be a whole number from 1 to 100000000";
}

/* A number from 0 to max with at most as many decimals as scale has zeros. */
static bool scaled(const struct al_json *v, double max, double scale, int64_t *ret)
{
    double d;
    if (!al_json_double(v, &d) || !(d >= 0 && d <= max))
        return false;
    int64_t whole = (int64_t)(d * scale + 0.5);
    double off = d * scale - (double)whole;
    if (off > 1e-3 || off < -1e-3)
        return false;
    *ret = whole;
    return true;
}

static const char *take_url(struct al_provider *p, const struct al_json *v)
{
    if (!al_json_is_string(v))
        return "must be a text";
    const char *why = al_provider_url_fault(v->str);
    if (!why)
        al_provider_set_url(p, v->str);
    return why;
}

static const char *take_api(struct al_provider *p, const struct al_json *v)
{
    return al_json_is_string(v) && al_api_find(v->str, &p->api)
               ? NULL
               : "must be \"chat\", \"responses\" or \"messages\"";
}

static const char *take_key_env(struct al_provider *p, const struct al_json *v)
{
    if (!al_json_is_string(v) || !al_provider_env_name(v->str))
        return "must be the name of an environment variable, not the key itself";
    const char *why = take_text(v, 128, &p->key_env);
    if (!why && p->auth == AL_AUTH_NONE)
        p->auth = AL_AUTH_DEFAULT;
    return why;
}

static const struct {
    const char *name;
    enum al_auth auth;
} auths[] = {{"bearer", AL_AUTH_BEARER}, {"x-api-key", AL_AUTH_X_API_KEY}, {"none", AL_AUTH_NONE}};

static const char *take_auth(struct al_provider *p, const struct al_json *v)
{
    for (size_t i = 0; i < sizeof auths / sizeof *auths; i++) {
        if (al_json_is_string(v) && al_str_is(v->str, auths[i].name)) {
            p->auth = auths[i].auth;
            return NULL;
        }
    }
    return "must be \"bearer\", \"x-api-key\" or \"none\"";
}

static bool is_token(struct al_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool alnum = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!alnum && (c == 0 || !strchr("!#$%&'*+-.^_`|~", c)))
            return false;
    }
    return s.n > 0 && s.n <= AL_PROVIDER_MAX_TEXT;
}

static bool same_header(struct al_str name, const char *lower)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i] >= 'A' && name.p[i] <= 'Z' ? (char)(name.p[i] + 32) : name.p[i];
        if (!lower[i] || c != lower[i])
            return false;
    }
    return lower[name.n] == 0;
}

static const char *header_fault(const struct al_json *m)
{
    static const char *const keys[] = {"authorization", "x-api-key", "api-key", "proxy-authorization", NULL};
    static const char *const ours[] = {"host",       "content-length", "content-type",    "transfer-encoding",
                                       "connection", "accept",         "accept-encoding", "expect",
                                       "te",         "upgrade",        "trailer",         "anthropic-version",
                                       NULL};
    if (!al_json_is_string(m) || m->str.n > AL_PROVIDER_MAX_HEADER)
        return "must be an object of texts of at most 4,096 bytes";
    if (!is_token(m->key))
        return "has a name that is no header's";
    for (size_t i = 0; keys[i]; i++)
        if (same_header(m->key, keys[i]))
            return "may not hold the key: it belongs into a variable (keyEnv) or the credentials file";
    for (size_t i = 0; ours[i]; i++)
        if (same_header(m->key, ours[i]))
            return "names a header that alisio sets by itself";
    for (size_t i = 0; i < m->str.n; i++)
        if (((unsigned char)m->str.p[i] < ' ' && m->str.p[i] != '\t') || m->str.p[i] == 0x7f)
            return "has a value with a control character";
    return NULL;
}

static void free_headers(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

static const char *take_headers(struct al_provider *p, const struct al_json *v)
{
    if (v->type != AL_JSON_OBJECT)
        return "must be an object of texts";
    if (v->n > AL_PROVIDER_MAX_HEADERS)
        return "has more than 64 members";
    char **list = al_xcalloc(v->n + 1u, sizeof *list);
    const char *why = NULL;
    size_t n = 0;
    al_json_each(m, v)
    {
        why = header_fault(m);
        if (why)
            break;
        struct al_buf b = AL_BUF_INIT(AL_PROVIDER_MAX_HEADER + AL_PROVIDER_MAX_TEXT + 3);
        al_buf_add_str(&b, m->key);
        al_buf_adds(&b, ": ");
        al_buf_add_str(&b, m->str);
        list[n++] = al_buf_take(&b);
    }
    free_headers(why ? list : p->headers);
    if (!why)
        p->headers = list;
    return why;
}

/* --- faults --- */

static int fault(struct reading *r, const struct al_json *at, struct al_str key, const char *why)
{
    *r->ret_at = at;
    al_buf_add_str(r->what, al_buf_str(&r->prefix));
    if (key.n) {
        al_buf_addc(r->what, '.');
        al_text_visible(r->what, al_utf8_cut(key, 80), false);
    }
    al_buf_addf(r->what, " %s", why);
    return -1;
}

static bool names_a_key(struct al_str key)
{
    static const char *const words[] = {"apikey",  "key",     "token",    "secret",
                                        "api_key", "api-key", "apitoken", "authtoken"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (same_header(key, words[i]))
            return true;
    return false;
}

static int unknown_key(struct reading *r, const struct al_json *m, const char *const *names)
{
    const char *near = NULL;
    unsigned best = 4;
    for (size_t i = 0; names[i]; i++) {
        unsigned d = al_str_distance(m->key, al_str_of(names[i]));
        if (d < best) {
            best = d;
            near = names[i];
        }
    }
    *r->ret_at = m;
    al_buf_adds(r->what, "there is no key ");
    al_buf_add_str(r->what, al_buf_str(&r->prefix));
    al_buf_addc(r->what, '.');
    al_text_visible(r->what, al_utf8_cut(m->key, 80), false);
    if (names_a_key(m->key))
        al_buf_adds(r->what, ", since a key does not belong here: name its variable with keyEnv, or let "
                             "`alisio setup provider` keep it");
    else if (near)
        al_buf_addf(r->what, "; the nearest is %.*s.%s", AL_FMT(al_buf_str(&r->prefix)), near);
    return -1;
}

static bool seen_before(const struct al_json *obj, const struct al_json *m)
{
    for (const struct al_json *b = obj->child; b != m; b = b->next)
        if (al_str_eq(b->key, m->key))
            return true;
    return false;
}

/* Walks an object's members strictly: take gets each that has a name and is not null. */
static int walk(struct reading *r, const struct al_json *obj, const char *const *names, void *to,
                int (*take)(struct reading *r, void *to, size_t key, const struct al_json *m))
{
    size_t n_names = 0;
    if (obj->type != AL_JSON_OBJECT)
        return fault(r, obj, (struct al_str){0}, "must be an object");
    while (names[n_names])
        n_names++;
    if (obj->n > 4 * n_names)
        return fault(r, obj, (struct al_str){0}, "has too many keys");
    al_json_each(m, obj)
    {
        size_t k = 0;
        while (k < n_names && !al_str_is(m->key, names[k]))
            k++;
        if (k == n_names)
            return unknown_key(r, m, names);
        if (seen_before(obj, m))
            return fault(r, m, m->key, "is there twice");
        if (m->type != AL_JSON_NULL && take(r, to, k, m) < 0)
            return -1;
    }
    return 0;
}

/* Adds ".name" to the prefix; returns what to cut it back to. */
static size_t enter(struct reading *r, struct al_str name)
{
    size_t n = r->prefix.n;
    al_buf_addc(&r->prefix, '.');
    al_text_visible(&r->prefix, al_utf8_cut(name, 80), false);
    return n;
}

/* --- models --- */

static const char *const price_names[] = {"input", "cachedInput", "cacheWrite", "output", NULL};

static int take_price(struct reading *r, void *to, size_t key, const struct al_json *m)
{
    struct al_price *p = to;
    int64_t *const parts[] = {&p->input, &p->cached_input, &p->cache_write, &p->output};
    if (scaled(m, MAX_DOLLARS, 1e6, parts[key]))
        return 0;
    return fault(
        r, m, m->key,
        "must be dollars for a million tokens: a number from 0 to 1000000 with at most six decimals");
}

static const char *const model_names[] = {"contextWindow", "maxOutputTokens", "price", NULL};

static int take_model_part(struct reading *r, void *to, size_t key, const struct al_json *m)
{
    struct al_model_entry *e = to;
    if (key == 2) {
        size_t cut = enter(r, m->key);
        int ret = walk(r, m, price_names, &e->price, take_price);
        r->prefix.n = cut;
        return ret;
    }
    const char *why = key == 0 ? take_window(m, &e->context_window) : take_output(m, &e->max_output_tokens);
    return why ? fault(r, m, m->key, why) : 0;
}

static int read_models(struct reading *r, struct al_provider *p, const struct al_json *v)
{
    if (v->type != AL_JSON_OBJECT)
        return fault(r, v, v->key, "must be an object: a model's id, and what is to be known of it");
    if (v->n > AL_PROVIDER_MODELS_MAX)
        return fault(r, v, v->key, "has more than 256 members");
    size_t outer = enter(r, v->key);
    int ret = 0;
    for (const struct al_json *m = v->child; ret == 0 && m; m = m->next) {
        struct al_model_entry e = {.price = AL_PRICE_NONE};
        size_t inner = enter(r, m->key);
        struct al_json id = {.type = AL_JSON_STRING, .str = m->key};
        const char *why = take_text(&id, AL_PROVIDER_MAX_TEXT, &e.id);
        if (why)
            ret = fault(r, m, (struct al_str){0}, "is no id that a model can have");
        else if (seen_before(v, m))
            ret = fault(r, m, (struct al_str){0}, "is there twice");
        else if (m->type != AL_JSON_NULL)
            ret = walk(r, m, model_names, &e, take_model_part);
        r->prefix.n = inner;
        if (ret < 0) {
            free(e.id);
            break;
        }
        p->models = al_xrealloc(p->models, (p->n_models + 1) * sizeof *p->models);
        p->models[p->n_models++] = e;
    }
    r->prefix.n = outer;
    return ret;
}

/* --- an entry --- */

enum part {
    PART_API,
    PART_BASE_URL,
    PART_MODEL,
    PART_KEY_ENV,
    PART_AUTH,
    PART_INSECURE,
    PART_ANTHROPIC_VERSION,
    PART_HEADERS,
    PART_FIRST_BYTE,
    PART_IDLE,
    PART_WINDOW,
    PART_OUTPUT,
    PART_EFFORT,
    PART_TEMPERATURE,
    PART_MODELS,
};
static const char *const entry_names[] = {
    [PART_API] = "api",
    [PART_BASE_URL] = "baseUrl",
    [PART_MODEL] = "model",
    [PART_KEY_ENV] = "keyEnv",
    [PART_AUTH] = "auth",
    [PART_INSECURE] = "insecure",
    [PART_ANTHROPIC_VERSION] = "anthropicVersion",
    [PART_HEADERS] = "headers",
    [PART_FIRST_BYTE] = "firstByteMs",
    [PART_IDLE] = "idleMs",
    [PART_WINDOW] = "contextWindow",
    [PART_OUTPUT] = "maxOutputTokens",
    [PART_EFFORT] = "reasoningEffort",
    [PART_TEMPERATURE] = "temperature",
    [PART_MODELS] = "models",
    NULL,
};

static const char *take_plain_part(struct al_provider *p, enum part part, const struct al_json *m)
{
    switch (part) {
    case PART_API:
        return take_api(p, m);
    case PART_BASE_URL:
        return take_url(p, m);
    case PART_MODEL:
        return take_text(m, AL_PROVIDER_MAX_TEXT, &p->model);
    case PART_KEY_ENV:
        return take_key_env(p, m);
    case PART_AUTH:
        return take_auth(p, m);
    case PART_INSECURE:
        return take_bool(m, &p->insecure);
    case PART_ANTHROPIC_VERSION:
        return take_word(m, &p->anthropic_version);
    case PART_HEADERS:
        return take_headers(p, m);
    case PART_FIRST_BYTE:
        return take_wait(m, &p->first_byte_ms);
    case PART_IDLE:
        return take_wait(m, &p->idle_ms);
    case PART_WINDOW:
        return take_window(m, &p->context_window);
    case PART_OUTPUT:
        return take_output(m, &p->max_output_tokens);
    case PART_EFFORT:
        return take_word(m, &p->reasoning_effort);
    case PART_TEMPERATURE:
        return scaled(m, 2, 100, &p->temperature) ? NULL
                                                  : "must be a number from 0 to 2 with at most two decimals";
    case PART_MODELS:
        break;
    }
    return "is unknown";
}

static int take_part(struct reading *r, void *to, size_t key, const struct al_json *m)
{
    if (key == PART_MODELS)
        return read_models(r, to, m);
    const char *why = take_plain_part(to, (enum part)key, m);
    return why ? fault(r, m, m->key, why) : 0;
}

static int read_entry(struct reading *r, const struct al_json *m)
{
    struct al_provider p;
    if (!al_provider_preset(m->key, &p))
        al_provider_init(&p, m->key, r->origin);
    free(p.origin);
    p.origin = al_xstrdup(r->origin);
    p.preset = false;
    /* "auth" wins wherever it stands: naming a variable alone makes a key wanted. */
    int ret = walk(r, m, entry_names, &p, take_part);
    const struct al_json *auth = ret == 0 ? al_json_get(m, "auth") : NULL;
    if (auth && auth->type != AL_JSON_NULL)
        (void)take_auth(&p, auth);
    if (ret == 0 && !p.base_url)
        ret = fault(r, m, (struct al_str){0}, "has no baseUrl, and no provider is known by that name");
    if (ret < 0) {
        al_provider_fini(&p);
        return ret;
    }
    r->add_to->v = al_xrealloc(r->add_to->v, (r->add_to->n + 1) * sizeof *r->add_to->v);
    r->add_to->v[r->add_to->n++] = p;
    return 0;
}

static int read_all(struct reading *r, const struct al_json *providers)
{
    if (providers->type != AL_JSON_OBJECT)
        return fault(r, providers, (struct al_str){0}, "must be an object");
    if (providers->n > AL_PROVIDERS_MAX)
        return fault(r, providers, (struct al_str){0}, "has more than 64 members");
    al_json_each(m, providers)
    {
        size_t cut = enter(r, m->key);
        const char *why = al_provider_name_fault(m->key);
        if (why) {
            *r->ret_at = m;
            al_buf_addf(r->what, "providers: a provider's name %s", why);
            return -1;
        }
        if (al_providers_find(r->add_to, m->key))
            return fault(r, m, (struct al_str){0}, "is there twice");
        if (m->type != AL_JSON_NULL && read_entry(r, m) < 0)
            return -1;
        r->prefix.n = cut;
    }
    return 0;
}

int al_providers_read_ours(const struct al_json *providers, const char *origin, struct al_providers *add_to,
                           const struct al_json **ret_at, struct al_buf *ret_what)
{
    struct reading r = {
        .origin = origin, .add_to = add_to, .ret_at = ret_at, .what = ret_what, .prefix = AL_BUF_INIT(4096)};
    if (providers->type == AL_JSON_NULL)
        return 0;
    al_buf_adds(&r.prefix, "providers");
    int ret = read_all(&r, providers);
    al_buf_free(&r.prefix);
    return ret;
}

/* Line of a member's name: its value's last quote before closes the name, and a name holds no line feed. */
static unsigned line_of(struct al_str text, const struct al_json *member)
{
    const char *at = member->raw.p;
    while (at > text.p && at[-1] != '"')
        at--;
    unsigned line = 1;
    for (const char *p = text.p; p < at; p++)
        line += *p == '\n';
    return line;
}

int al_providers_read(struct al_str text, const char *origin, struct al_providers *add_to, struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(AL_CONFIG_MAX_ARENA);
    autobuf struct al_buf what = AL_BUF_INIT(8192);
    const struct al_json *root, *at = NULL;
    struct al_err why;
    text = al_config_without_bom(text);
    if (al_str_trim(text).n == 0)
        return 0;
    if (al_json_parse(&a, text, &root, &why) < 0)
        return al_fail(err, AL_CONFIG_INVALID, "%s, %s", origin, why.msg);
    const struct al_json *providers = al_json_get(root, "providers");
    if (!providers || al_providers_read_ours(providers, origin, add_to, &at, &what) == 0)
        return 0;
    return al_fail(err, AL_CONFIG_INVALID, "%s, line %u: %.*s", origin, line_of(text, at),
                   AL_FMT(al_buf_str(&what)));
}
