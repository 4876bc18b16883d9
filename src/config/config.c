#include "config/config_int.h"
#include "config/providers_int.h"
#include "config/servers_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define MAX_NOTICES 32
#define MAX_KEY 256

struct al_config {
    struct al_opt_value v[AL_OPT_COUNT];
    struct al_servers servers; /* mcp.servers */
    struct al_providers providers;
    char *notices[MAX_NOTICES + 1];
    size_t n_notices;
    size_t n_lost; /* notices beyond the limit */
};

/* One file being applied. */
struct source {
    struct al_config *c;
    enum al_layer layer;
    const char *path;  /* may be NULL */
    const char *dir;   /* of path; may be NULL */
    const char *shown; /* its name in messages: no path of this machine */
    bool strict;       /* a fault fails, since a person named the file; else it is a notice */
    struct al_str text;
};

__attribute__((format(printf, 2, 3))) static void notice(struct al_config *c, const char *fmt, ...)
{
    if (c->n_notices == MAX_NOTICES) {
        c->n_lost++;
        return;
    }
    struct al_err e;
    char line[sizeof e.msg];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    struct al_str s = al_utf8_cut((struct al_str){line, len}, sizeof line);
    c->notices[c->n_notices++] = al_xdup(s.p, s.n);
}

static void set_defaults(struct al_config *c)
{
    al_servers_free(&c->servers);
    al_providers_free(&c->providers);
    for (unsigned o = 0; o < AL_OPT_COUNT; o++) {
        const struct al_opt_def *def = &al_opt_table[o];
        al_opt_value_fini(&c->v[o]);
        c->v[o].num = def->num;
        if (def->type == AL_OPT_CHOICE)
            c->v[o].text = al_xstrdup(def->choices[0]);
    }
}

/* The line of a member's name: the last quote before its value closes it, and a name holds no line feed. */
static unsigned line_of(const struct source *s, const struct al_json *member)
{
    const char *at = member->raw.p;
    while (at > s->text.p && at[-1] != '"')
        at--;
    unsigned line = 1;
    for (const char *p = s->text.p; p < at; p++)
        line += *p == '\n';
    return line;
}

/* Always 0: the key has no effect, and that is told. */
static int ignore(const struct source *s, const struct al_json *member, const char *what)
{
    notice(s->c, "%s, line %u is ignored: %s", s->shown, line_of(s, member), what);
    return 0;
}

static int fail_source(const struct source *s, struct al_err *err)
{
    al_hint(err, "edit the file that %s names",
            s->layer == AL_LAYER_USER ? "`alisio config path`" : "--config");
    return al_detail(err, "%s", s->path ? s->path : "");
}

/* A fault of one key. */
static int reject(const struct source *s, const struct al_json *member, const char *what, struct al_err *err)
{
    if (!s->strict)
        return ignore(s, member, what);
    al_fail(err, AL_CONFIG_INVALID, "%s, line %u: %s", s->shown, line_of(s, member), what);
    return fail_source(s, err);
}

static int reject_unknown(const struct source *s, const struct al_json *member, struct al_str name,
                          struct al_err *err)
{
    autobuf struct al_buf shown = AL_BUF_INIT(1024);
    al_text_visible(&shown, al_utf8_cut(name, 80), false);
    const char *near = al_opt_nearest(name);
    if (al_str_distance(name, AL_STR("providers")) <= 2)
        near = "providers";
    char what[768];
    snprintf(what, sizeof what, "there is no key %.*s%s%s", AL_FMT(al_buf_str(&shown)),
             near ? "; the nearest is " : "", near ? near : "");
    return reject(s, member, what, err);
}

/* A project may only make things smaller. Says why it may not, or NULL. */
static const char *project_refusal(const struct al_config *c, enum al_opt o, const struct al_opt_value *new)
{
    /* 0 is no small number of them: it leaves the limit to the window. */
    bool by_window = o == AL_OPT_MAX_TOKENS;
    switch (al_opt_table[o].project) {
    case AL_PROJECT_LOWER:
        if (by_window && (new->num == 0 || c->v[o].num == 0))
            return new->num ? NULL : "a project may only lower it";
        return new->num < c->v[o].num ? NULL : "a project may only lower it";
    case AL_PROJECT_OFF:
        return !new->num ? NULL : "a project may only switch it off";
    case AL_PROJECT_NEVER:
        break;
    }
    return "only the user's own configuration may set it";
}

static int apply_option(const struct source *s, enum al_opt o, const struct al_json *member,
                        struct al_err *err)
{
    if (member->type == AL_JSON_NULL)
        return 0;
    char what[640];
    bool project = s->layer == AL_LAYER_PROJECT;
    if (project && al_opt_table[o].project == AL_PROJECT_NEVER) {
        snprintf(what, sizeof what, "%s: %s", al_opt_table[o].name, project_refusal(s->c, o, NULL));
        return ignore(s, member, what);
    }
    struct al_opt_value new = {.layer = s->layer};
    struct al_err why;
    if (al_opt_read(o, member, s->dir, &new, &why) < 0) {
        return reject(s, member, why.msg, err);
    }
    struct al_opt_value *old = &s->c->v[o];
    const char *refusal = project ? project_refusal(s->c, o, &new) : NULL;
    if (refusal) {
        al_opt_value_fini(&new);
        /* What changes nothing needs no words. */
        if (al_opt_table[o].project == AL_PROJECT_OFF ? old->num : new.num == old->num)
            return 0;
        snprintf(what, sizeof what, "%s: %s", al_opt_table[o].name, refusal);
        return ignore(s, member, what);
    }
    al_opt_value_fini(old);
    *old = new;
    old->origin = al_xstrdup(s->path ? s->path : s->shown);
    return 0;
}

static int apply_object(const struct source *s, const struct al_json *obj, struct al_str prefix,
                        struct al_err *err);

static int apply_member(const struct source *s, const struct al_json *m, struct al_str prefix,
                        struct al_err *err)
{
    autobuf struct al_buf name = AL_BUF_INIT(AL_CONFIG_MAX_FILE + MAX_KEY);
    al_buf_add_str(&name, prefix);
    if (prefix.n)
        al_buf_addc(&name, '.');
    al_buf_add_str(&name, m->key);
    struct al_str full = al_buf_str(&name);
    enum al_opt o = al_opt_lookup(full);
    /* A dot within a name is not a step: {"forge.javascript": {}} is no section. */
    bool dotted = memchr(m->key.p, '.', m->key.n) != NULL;
    if (o != AL_OPT_COUNT && !dotted)
        return apply_option(s, o, m, err);
    if (dotted || !al_opt_is_section(full))
        return reject_unknown(s, m, full, err);
    if (m->type == AL_JSON_OBJECT)
        return apply_object(s, m, full, err);
    char what[MAX_KEY];
    snprintf(what, sizeof what, "%.*s must be an object", AL_FMT(full));
    return m->type == AL_JSON_NULL ? 0 : reject(s, m, what, err);
}

static int apply_schema(const struct source *s, const struct al_json *m, struct al_err *err)
{
    int64_t v;
    if (al_json_int(m, 1, 1, &v))
        return 0;
    return reject(s, m, "schemaVersion must be 1", err);
}

/* Which programs and hosts are MCP servers, only the user says. */
static int apply_mcp(const struct source *s, const struct al_json *m, struct al_err *err)
{
    if (s->layer != AL_LAYER_USER)
        return ignore(s, m, "mcp: only the user's own configuration may name servers");
    autobuf struct al_buf what = AL_BUF_INIT(2048);
    const struct al_json *at = m;
    if (al_servers_read_ours(m, s->shown, &s->c->servers, &at, &what) == 0)
        return 0;
    al_buf_addc(&what, 0);
    return reject(s, at, al_buf_failed(&what) ? "mcp.servers is wrong" : what.p, err);
}

/* Nor where a prompt and a key are sent to. */
static int apply_providers(const struct source *s, const struct al_json *m, struct al_err *err)
{
    if (s->layer != AL_LAYER_USER)
        return ignore(s, m, "providers: only the user's own configuration may name them");
    autobuf struct al_buf what = AL_BUF_INIT(8192);
    const struct al_json *at = m;
    if (al_providers_read_ours(m, s->shown, &s->c->providers, &at, &what) == 0)
        return 0;
    al_buf_addc(&what, 0);
    return reject(s, at, al_buf_failed(&what) ? "providers is wrong" : what.p, err);
}

/* Deep as the names are: a deeper object has an unknown key. */
static int apply_object(const struct source *s, const struct al_json *obj, struct al_str prefix,
                        struct al_err *err)
{
    unsigned seen = 0;
    al_json_each(m, obj)
    {
        /* More members than there are names: some are wrong or twice; the user's file has failed by then. */
        if (++seen > 4 * AL_OPT_COUNT) {
            notice(s->c, "%s: the rest is ignored, it has too many keys", s->shown);
            return 0;
        }
        for (const struct al_json *before = obj->child; before != m; before = before->next) {
            if (s->strict && al_str_eq(before->key, m->key))
                return reject(s, m, "this key is there twice", err);
        }
        bool schema = !prefix.n && al_str_is(m->key, "schemaVersion");
        bool mcp = !prefix.n && al_str_is(m->key, "mcp");
        bool providers = !prefix.n && al_str_is(m->key, "providers");
        int r = schema      ? apply_schema(s, m, err)
                : mcp       ? apply_mcp(s, m, err)
                : providers ? apply_providers(s, m, err)
                            : apply_member(s, m, prefix, err);
        if (r < 0)
            return -1;
    }
    return 0;
}

/* Broken as a whole. */
static int broken(const struct source *s, const char *why, struct al_err *err)
{
    if (!s->strict) {
        notice(s->c, "%s is ignored: %s", s->shown, why);
        return 0;
    }
    al_fail(err, AL_CONFIG_INVALID, "%s, %s", s->shown, why);
    return fail_source(s, err);
}

static int apply_text(const struct source *s, struct al_err *err)
{
    if (al_str_trim(s->text).n == 0)
        return 0;
    autoarena struct al_arena a = AL_ARENA_INIT(AL_CONFIG_MAX_ARENA);
    const struct al_json *root;
    struct al_err why;
    if (al_json_parse(&a, s->text, &root, &why) < 0)
        return broken(s, why.msg, err);
    if (root->type != AL_JSON_OBJECT)
        return broken(s, "line 1: it must be a JSON object", err);
    int64_t schema;
    const struct al_json *version = al_json_get(root, "schemaVersion");
    if (!s->strict && version && !al_json_int(version, 1, 1, &schema))
        return broken(s, "its schemaVersion is not 1", err);
    return apply_object(s, root, (struct al_str){0}, err);
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (path[0] != '/' || !slash)
        return NULL;
    return al_xdup(path, slash == path ? 1 : (size_t)(slash - path));
}

static int load_user(struct al_config *c, const char *path, struct al_err *err)
{
    autobuf struct al_buf text = AL_BUF_INIT(AL_CONFIG_MAX_FILE);
    autofree char *dir = folder_of(path);
    struct source s = {c, AL_LAYER_USER, path, dir, "the user config file", true, {0}};
    int r = al_config_read_file(path, true, true, s.shown, &text, err);
    if (r <= 0)
        return r;
    s.text = al_buf_str(&text);
    if (apply_text(&s, err) == 0)
        return 0;
    set_defaults(c); /* half a file is not what anybody wrote */
    return -1;
}

static int load_project(struct al_config *c, const struct al_config_sources *src, struct al_err *err)
{
    const char *path = src->project_file;
    bool named = src->project_is_explicit;
    const char *shown = named ? "the file of --config" : "the project's .alisio/config.json";
    struct stat st;
    if (!named && !src->project_trusted) {
        if (lstat(path, &st) == 0)
            notice(c, "%s is not trusted and was not read (alisio trust add .)", shown);
        return 0;
    }
    autobuf struct al_buf text = AL_BUF_INIT(AL_CONFIG_MAX_FILE);
    autofree char *dir = folder_of(path);
    struct source s = {c, AL_LAYER_PROJECT, path, dir, shown, named, {0}};
    if (src->project_bytes) {
        s.text = al_config_without_bom(*src->project_bytes);
        return apply_text(&s, err);
    }
    struct al_err why = {0};
    int r = al_config_read_file(path, named, false, shown, &text, named ? err : &why);
    if (r < 0 && named)
        return fail_source(&s, err);
    if (r < 0)
        notice(c, "%s", why.msg);
    if (r == 0 && named) {
        al_fail(err, AL_CONFIG_INVALID, "there is no such file as --config names");
        return al_detail(err, "%s", path);
    }
    if (r <= 0)
        return 0;
    s.text = al_buf_str(&text);
    return apply_text(&s, err);
}

static void apply_env(struct al_config *c)
{
    for (unsigned o = 0; o < AL_OPT_COUNT; o++) {
        const char *name = al_opt_table[o].env, *value = name ? getenv(name) : NULL;
        if (!value || !value[0])
            continue;
        struct al_json json = {.type = AL_JSON_STRING, .raw = al_str_of(value), .str = al_str_of(value)};
        struct al_opt_value new = {.layer = AL_LAYER_ENV};
        struct al_err why;
        if (al_opt_read((enum al_opt)o, &json, NULL, &new, &why) < 0) {
            notice(c, "the variable %s is ignored: it must be an absolute path", name);
            continue;
        }
        al_opt_value_fini(&c->v[o]);
        c->v[o] = new;
        c->v[o].origin = al_xstrdup(name);
    }
}

static void finish(struct al_config *c)
{
    /* The default of a call cannot be longer than what a call may ask for. */
    struct al_opt_value *t = &c->v[AL_OPT_FORGE_JAVASCRIPT_TIMEOUT_MS];
    const struct al_opt_value *max = &c->v[AL_OPT_FORGE_JAVASCRIPT_MAX_TIMEOUT_MS];
    if (t->num > max->num) {
        free(t->origin);
        *t = *max;
        t->origin = max->origin ? al_xstrdup(max->origin) : NULL;
    }
    if (c->n_lost) {
        char line[64];
        int n = snprintf(line, sizeof line, "and %zu more of the kind", c->n_lost);
        c->notices[c->n_notices++] = al_xdup(line, (size_t)n);
    }
}

int al_config_load(const struct al_config_sources *src, struct al_config **ret, struct al_err *err)
{
    struct al_config *c = al_xcalloc(1, sizeof *c);
    set_defaults(c);
    int r = src->user_file ? load_user(c, src->user_file, err) : 0;
    struct al_err second = {0};
    if (src->project_file && load_project(c, src, r < 0 ? &second : err) < 0)
        r = -1;
    apply_env(c);
    finish(c);
    *ret = c;
    return r;
}

int al_config_load_bytes(struct al_str user, struct al_str project, struct al_config **ret,
                         struct al_err *err)
{
    struct al_config *c = al_xcalloc(1, sizeof *c);
    set_defaults(c);
    struct source u = {c, AL_LAYER_USER, NULL, NULL, "the user config file", true, user};
    struct source p = {c, AL_LAYER_PROJECT, NULL, NULL, "the project's .alisio/config.json", false, project};
    int r = apply_text(&u, err);
    if (r < 0)
        set_defaults(c);
    if (apply_text(&p, NULL) < 0)
        r = -1;
    finish(c);
    *ret = c;
    return r;
}

void al_config_free(struct al_config *c)
{
    if (!c)
        return;
    al_servers_free(&c->servers);
    al_providers_free(&c->providers);
    for (unsigned o = 0; o < AL_OPT_COUNT; o++)
        al_opt_value_fini(&c->v[o]);
    for (size_t i = 0; i < c->n_notices; i++)
        free(c->notices[i]);
    free(c);
}

const struct al_servers *al_config_servers(const struct al_config *c)
{
    return &c->servers;
}

const struct al_providers *al_config_providers(const struct al_config *c)
{
    return &c->providers;
}

bool al_config_bool(const struct al_config *c, enum al_opt o)
{
    return c->v[o].num != 0;
}

int64_t al_config_int(const struct al_config *c, enum al_opt o)
{
    return c->v[o].num;
}

const char *al_config_text(const struct al_config *c, enum al_opt o)
{
    return c->v[o].text;
}

size_t al_config_list(const struct al_config *c, enum al_opt o, const char *const **ret)
{
    *ret = (const char *const *)c->v[o].list;
    return c->v[o].n_list;
}

enum al_layer al_config_layer(const struct al_config *c, enum al_opt o)
{
    return c->v[o].layer;
}

const char *al_config_origin(const struct al_config *c, enum al_opt o)
{
    return c->v[o].origin;
}

void al_config_value_json(const struct al_config *c, enum al_opt o, struct al_buf *out)
{
    const struct al_opt_value *v = &c->v[o];
    struct al_jw w;
    al_jw_init(&w, out);
    switch (al_opt_table[o].type) {
    case AL_OPT_BOOL:
        al_jw_bool(&w, v->num != 0);
        return;
    case AL_OPT_INT:
        al_jw_int(&w, v->num);
        return;
    case AL_OPT_HUNDREDTHS:
        al_jw_double(&w, (double)v->num / 100);
        return;
    case AL_OPT_CHOICE:
    case AL_OPT_PATH:
    case AL_OPT_TEXT:
    case AL_OPT_IMAGE:
        al_jw_strz(&w, v->text);
        return;
    case AL_OPT_LIST:
        al_jw_arr(&w);
        for (size_t i = 0; i < v->n_list; i++)
            al_jw_strz(&w, v->list[i]);
        al_jw_end(&w);
        return;
    }
}

size_t al_config_notices(const struct al_config *c, const char *const **ret)
{
    *ret = (const char *const *)c->notices;
    return c->n_notices;
}
