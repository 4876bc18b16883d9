/* One entry of a server: each part checked as it is taken, the whole checked at its end. */
#include "config/servers_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>

#define MAX_NUMBER 32

/* A string that the operating system can be given. */
static bool text_of(const struct al_json *v, char **ret)
{
    if (!al_json_is_string(v) || memchr(v->str.p, 0, v->str.n))
        return false;
    free(*ret);
    *ret = al_xdup(v->str.p, v->str.n);
    return true;
}

static const char *set_text(char **to, const struct al_json *v)
{
    if (!al_json_is_string(v))
        return "must be a string";
    if (v->str.n == 0)
        return "must not be empty";
    return text_of(v, to) ? NULL : "holds a zero byte";
}

static void replace_list(char ***to, char **list)
{
    for (size_t i = 0; *to && (*to)[i]; i++)
        free((*to)[i]);
    free(*to);
    *to = list;
}

static const char *set_args(struct al_server *s, const struct al_json *v)
{
    if (!v || v->type != AL_JSON_ARRAY)
        return "must be an array of strings";
    if (v->n > AL_SERVER_MAX_LIST)
        return "has more than 512 elements";
    char **list = al_xcalloc(v->n + 1u, sizeof *list);
    size_t n = 0;
    const char *fault = NULL;
    al_json_each(e, v)
    {
        if (!text_of(e, &list[n])) {
            fault = "must be an array of strings";
            break;
        }
        n++;
    }
    replace_list(fault ? &list : &s->args, fault ? NULL : list);
    return fault;
}

static bool is_token(struct al_str s)
{
    static const char extra[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool alnum = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!alnum && (c == 0 || !strchr(extra, c)))
            return false;
    }
    return s.n > 0;
}

static bool has_any(struct al_str s, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memchr(s.p, bytes[i], s.n))
            return true;
    return false;
}

static const char *pair_fault(bool header, const struct al_json *m)
{
    if (!al_json_is_string(m))
        return "must be an object of strings";
    if (header && !is_token(m->key))
        return "has a name that is no header's";
    if (!header && (m->key.n == 0 || has_any(m->key, "=\0", 2)))
        return "has a name that is no variable's";
    if (header ? has_any(m->str, "\r\n\0", 3) : has_any(m->str, "\0", 1))
        return "has a value with a line feed or a zero byte";
    return NULL;
}

/* {"NAME": "value"} to "NAME=value" or "Name: value". */
static const char *set_pairs(char ***to, bool header, const struct al_json *v)
{
    if (!v || v->type != AL_JSON_OBJECT)
        return "must be an object of strings";
    if (v->n > AL_SERVER_MAX_LIST)
        return "has more than 512 members";
    char **list = al_xcalloc(v->n + 1u, sizeof *list);
    size_t n = 0;
    const char *fault = NULL;
    al_json_each(m, v)
    {
        fault = pair_fault(header, m);
        if (fault)
            break;
        struct al_buf b = AL_BUF_INIT(m->key.n + m->str.n + 3);
        al_buf_add_str(&b, m->key);
        al_buf_adds(&b, header ? ": " : "=");
        al_buf_add_str(&b, m->str);
        list[n++] = al_buf_take(&b);
    }
    replace_list(fault ? &list : to, fault ? NULL : list);
    return fault;
}

static const char *set_url(struct al_server *s, const struct al_json *v)
{
    const char *fault = set_text(&s->url, v);
    if (fault)
        return fault;
    struct al_str url = al_str_of(s->url);
    if (!al_str_starts(url, "http://") && !al_str_starts(url, "https://") && !al_str_starts(url, "${"))
        return "must begin with https:// or http://";
    for (size_t i = 0; i < url.n; i++)
        if ((unsigned char)url.p[i] <= ' ')
            return "holds a space or a control character";
    return NULL;
}

static const char *set_rules(struct al_server *s, const struct al_json *v)
{
    if (!v || v->type != AL_JSON_OBJECT)
        return "must be an object: {\"get_*\": \"allow\"}";
    if (v->n > AL_SERVER_RULES_MAX)
        return "has more than 256 patterns";
    al_json_each(m, v)
    {
        enum al_tool_policy p = AL_POLICY_ASK;
        while (p <= AL_POLICY_DENY && !(al_json_is_string(m) && al_str_is(m->str, al_tool_policy_name(p))))
            p++;
        if (p > AL_POLICY_DENY)
            return "must have allow, ask or deny for each pattern";
        if (m->key.n == 0 || memchr(m->key.p, 0, m->key.n))
            return "has an empty pattern";
        autofree char *pattern = al_xdup(m->key.p, m->key.n);
        al_server_add_rule(s, pattern, p);
    }
    return NULL;
}

static const char *set_imported(struct al_server *s, const struct al_json *v)
{
    static const char form[] = "must be an object with file, name and sha256, as an import writes it";
    struct al_str sha = al_json_get_text(v, "sha256");
    if (!text_of(al_json_get(v, "file"), &s->imported_file) ||
        !text_of(al_json_get(v, "name"), &s->imported_name) || sha.n != AL_SHA256_HEX - 1)
        return form;
    memcpy(s->imported_sha256, sha.p, sha.n);
    return NULL;
}

const char *al_server_set(struct al_server *s, enum al_server_part part, const struct al_json *v)
{
    int64_t ms;
    switch (part) {
    case AL_PART_COMMAND:
        return set_text(&s->command, v);
    case AL_PART_ARGS:
        return set_args(s, v);
    case AL_PART_ENV:
        return set_pairs(&s->env, false, v);
    case AL_PART_CWD:
        return set_text(&s->cwd, v);
    case AL_PART_URL:
        return set_url(s, v);
    case AL_PART_HEADERS:
        return set_pairs(&s->headers, true, v);
    case AL_PART_DISABLED:
        if (v->type != AL_JSON_TRUE && v->type != AL_JSON_FALSE)
            return "must be true or false";
        s->disabled = v->type == AL_JSON_TRUE;
        return NULL;
    case AL_PART_TIMEOUT:
        if (!al_json_int(v, 1000, 3600000, &ms))
            return "must be a whole number from 1000 to 3600000";
        s->timeout_ms = (uint64_t)ms;
        return NULL;
    case AL_PART_START_TIMEOUT:
        if (!al_json_int(v, 1000, 600000, &ms))
            return "must be a whole number from 1000 to 600000";
        s->start_timeout_ms = (uint64_t)ms;
        return NULL;
    case AL_PART_TOOLS:
        return set_rules(s, v);
    case AL_PART_IMPORTED:
        return set_imported(s, v);
    }
    return "is unknown";
}

const char *al_server_name_fault(struct al_str name)
{
    if (name.n == 0)
        return "a server has an empty name";
    if (name.n > AL_SERVER_NAME_MAX)
        return "a server's name is longer than 64 bytes";
    for (size_t i = 0; i < name.n; i++)
        if ((unsigned char)name.p[i] < ' ' || name.p[i] == 0x7f)
            return "a server's name holds a control character";
    return NULL;
}

/* Each piece with its length, so that no two entries look the same. */
static void hash_text(struct al_sha256 *h, const char *z)
{
    char len[MAX_NUMBER];
    int n = snprintf(len, sizeof len, "%zu:", z ? strlen(z) : 0);
    al_sha256_add(h, z ? len : "-", z ? (size_t)n : 1);
    if (z)
        al_sha256_add(h, z, strlen(z));
}

static void hash_list(struct al_sha256 *h, char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        hash_text(h, list[i]);
    al_sha256_add(h, ";", 1);
}

const char *al_server_complete(struct al_server *s)
{
    if (!s->command && !s->url)
        return "has neither a command nor a url";
    if (s->command && s->url)
        return "has both a command and a url";
    s->http = s->url != NULL;
    if (s->http && (s->args || s->env || s->cwd))
        return "has a url, and args, env or cwd, which belong to a command";
    if (!s->http && s->headers)
        return "has a command, and headers, which belong to a url";
    struct al_sha256 *h = al_sha256_new();
    hash_text(h, s->command);
    hash_list(h, s->args);
    hash_list(h, s->env);
    hash_text(h, s->cwd);
    hash_text(h, s->url);
    hash_list(h, s->headers);
    al_sha256_end(h, s->sha256);
    return NULL;
}

/* --- our own file: strict --- */

static const struct {
    const char *name;
    enum al_server_part part;
} our_keys[] = {
    {"command", AL_PART_COMMAND},
    {"args", AL_PART_ARGS},
    {"env", AL_PART_ENV},
    {"cwd", AL_PART_CWD},
    {"url", AL_PART_URL},
    {"headers", AL_PART_HEADERS},
    {"disabled", AL_PART_DISABLED},
    {"timeoutMs", AL_PART_TIMEOUT},
    {"tools", AL_PART_TOOLS},
    {"startTimeoutMs", AL_PART_START_TIMEOUT},
    {"importedFrom", AL_PART_IMPORTED},
};
#define N_OUR_KEYS (sizeof our_keys / sizeof *our_keys)

struct ours {
    const struct al_json **ret_at;
    struct al_buf *what;
    struct al_buf prefix; /* "mcp.servers.github" made visible */
};

static int fault(struct ours *o, const struct al_json *at, struct al_str key, const char *what)
{
    *o->ret_at = at;
    al_buf_add_str(o->what, al_buf_str(&o->prefix));
    if (key.n) {
        al_buf_addc(o->what, '.');
        al_text_visible(o->what, al_utf8_cut(key, 80), false);
    }
    al_buf_addf(o->what, " %s", what);
    return -1;
}

static int unknown_key(struct ours *o, const struct al_json *m)
{
    const char *near = NULL;
    unsigned best = 4;
    for (size_t i = 0; i < N_OUR_KEYS; i++) {
        unsigned d = al_str_distance(m->key, al_str_of(our_keys[i].name));
        if (d < best) {
            best = d;
            near = our_keys[i].name;
        }
    }
    *o->ret_at = m;
    al_buf_adds(o->what, "there is no key ");
    al_buf_add_str(o->what, al_buf_str(&o->prefix));
    al_buf_addc(o->what, '.');
    al_text_visible(o->what, al_utf8_cut(m->key, 80), false);
    if (near)
        al_buf_addf(o->what, "; the nearest is %.*s.%s", AL_FMT(al_buf_str(&o->prefix)), near);
    return -1;
}

static bool seen_before(const struct al_json *obj, const struct al_json *m)
{
    for (const struct al_json *b = obj->child; b != m; b = b->next)
        if (al_str_eq(b->key, m->key))
            return true;
    return false;
}

static bool is_policy(const struct al_json *v)
{
    for (enum al_tool_policy p = AL_POLICY_ASK; p <= AL_POLICY_DENY; p++)
        if (al_json_is_string(v) && al_str_is(v->str, al_tool_policy_name(p)))
            return true;
    return false;
}

/* The rule that is wrong, by its pattern and its word. */
static int rule_fault(struct ours *o, const struct al_json *tools, const char *what)
{
    const struct al_json *bad = tools->type == AL_JSON_OBJECT ? tools->child : NULL;
    while (bad && is_policy(bad))
        bad = bad->next;
    if (!bad || tools->n > AL_SERVER_RULES_MAX)
        return fault(o, tools, tools->key, what);
    *o->ret_at = bad;
    al_buf_add_str(o->what, al_buf_str(&o->prefix));
    al_buf_adds(o->what, ".tools: the pattern ");
    al_text_visible(o->what, al_utf8_cut(bad->key, 80), false);
    al_buf_adds(o->what, " has ");
    al_text_visible(o->what, al_utf8_cut(bad->raw, 40), false);
    al_buf_adds(o->what, "; it must have \"allow\", \"ask\" or \"deny\"");
    return -1;
}

static int read_our_entry(struct ours *o, const struct al_json *obj, struct al_server *s)
{
    const char *why;
    if (obj->type != AL_JSON_OBJECT)
        return fault(o, obj, (struct al_str){0}, "must be an object");
    if (obj->n > 4 * N_OUR_KEYS)
        return fault(o, obj, (struct al_str){0}, "has too many keys");
    al_json_each(m, obj)
    {
        size_t k = 0;
        while (k < N_OUR_KEYS && !al_str_is(m->key, our_keys[k].name))
            k++;
        if (k == N_OUR_KEYS)
            return unknown_key(o, m);
        if (seen_before(obj, m))
            return fault(o, m, m->key, "is there twice");
        if (m->type == AL_JSON_NULL)
            continue;
        why = al_server_set(s, our_keys[k].part, m);
        if (why)
            return our_keys[k].part == AL_PART_TOOLS ? rule_fault(o, m, why) : fault(o, m, m->key, why);
    }
    why = al_server_complete(s);
    return why ? fault(o, obj, (struct al_str){0}, why) : 0;
}

static int read_our_servers(struct ours *o, const struct al_json *servers, const char *origin,
                            struct al_servers *add_to)
{
    al_json_each(m, servers)
    {
        struct al_server s;
        struct al_err err;
        const char *why = al_server_name_fault(m->key);
        al_buf_clear(&o->prefix);
        al_buf_adds(&o->prefix, "mcp.servers");
        if (why) {
            *o->ret_at = m;
            al_buf_addf(o->what, "mcp.servers: %s", why);
            return -1;
        }
        al_buf_addc(&o->prefix, '.');
        al_text_visible(&o->prefix, m->key, false);
        if (m->type == AL_JSON_NULL)
            continue;
        al_server_init(&s, m->key, origin);
        if (read_our_entry(o, m, &s) < 0) {
            al_server_fini(&s);
            return -1;
        }
        if (al_servers_take(add_to, &s, &err) < 0)
            return fault(o, m, (struct al_str){0}, "is one too many, or there twice");
    }
    return 0;
}

int al_servers_read_ours(const struct al_json *mcp, const char *origin, struct al_servers *add_to,
                         const struct al_json **ret_at, struct al_buf *ret_what)
{
    struct ours o = {.ret_at = ret_at, .what = ret_what, .prefix = AL_BUF_INIT(1024)};
    int r = 0;
    if (mcp->type == AL_JSON_NULL)
        return 0;
    al_buf_adds(&o.prefix, "mcp");
    if (mcp->type != AL_JSON_OBJECT)
        r = fault(&o, mcp, (struct al_str){0}, "must be an object");
    for (const struct al_json *m = mcp->child; r == 0 && mcp->type == AL_JSON_OBJECT && m; m = m->next) {
        *ret_at = m;
        if (!al_str_is(m->key, "servers")) {
            al_buf_adds(ret_what, "there is no key mcp.");
            al_text_visible(ret_what, al_utf8_cut(m->key, 80), false);
            al_buf_adds(ret_what, "; the nearest is mcp.servers");
            r = -1;
        } else if (seen_before(mcp, m)) {
            r = fault(&o, m, m->key, "is there twice");
        } else if (m->type != AL_JSON_OBJECT && m->type != AL_JSON_NULL) {
            r = fault(&o, m, m->key, "must be an object");
        } else if (m->type == AL_JSON_OBJECT) {
            r = read_our_servers(&o, m, origin, add_to);
        }
    }
    al_buf_free(&o.prefix);
    return r;
}
