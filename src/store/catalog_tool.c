/* One tool of a server: from what it sent, of which nothing is believed, to what is kept, shown and searched.
 */
#include "store/catalog_int.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

#define ANY_OBJECT "{\"type\":\"object\"}"
#define HASH_CHARS 8u
#define MAX_PARAMS 200u

/* --- elements of the list --- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t string_end(struct al_str s, size_t i)
{
    for (i++; i < s.n && s.p[i] != '"'; i++)
        i += s.p[i] == '\\';
    return i;
}

bool al_catalog_open(struct al_str *list)
{
    size_t i = 0;
    while (i < list->n && is_space(list->p[i]))
        i++;
    bool is_list = i < list->n && list->p[i] == '[';
    i += is_list;
    *list = (struct al_str){list->p + i, list->n - i};
    return is_list;
}

bool al_catalog_next(struct al_str *rest, struct al_str *ret)
{
    struct al_str s = *rest;
    size_t i = 0, depth = 0;
    while (i < s.n && (is_space(s.p[i]) || s.p[i] == ','))
        i++;
    size_t from = i;
    for (; i < s.n; i++) {
        char c = s.p[i];
        if (c == '"')
            i = string_end(s, i);
        else if (c == '{' || c == '[')
            depth++;
        else if (depth > 0 && (c == '}' || c == ']'))
            depth--;
        else if (depth == 0 && (c == ',' || c == ']'))
            break;
    }
    if (i > s.n) /* a string without an end */
        i = s.n;
    *ret = (struct al_str){s.p + from, i - from};
    *rest = (struct al_str){s.p + i, s.n - i};
    return ret->n > 0;
}

/* --- names --- */

static bool is_plain(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* Every character that a name cannot have becomes `_`. False when there was one. */
static bool add_clean(struct al_buf *out, struct al_str name)
{
    bool same = true;
    while (name.n > 0) {
        uint32_t c = 0;
        unsigned n = al_utf8_decode(name, &c);
        bool plain = n == 1 && is_plain(c);
        same = same && plain;
        al_buf_addc(out, plain ? (char)c : '_');
        name.p += n ? n : 1;
        name.n -= n ? n : 1;
    }
    return same;
}

static bool ends_as_a_hash(struct al_str s)
{
    if (s.n <= HASH_CHARS || s.p[s.n - HASH_CHARS - 1] != '_')
        return false;
    for (size_t i = s.n - HASH_CHARS; i < s.n; i++)
        if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
            return false;
    return true;
}

/*
 * A name is plain when it can be read back in one way: the server has no `_`, so that the first one after
 * mcp_ ends it; nothing was replaced or cut; and it does not end as a hash would. Every other name ends in a
 * hash of both names. So no two are equal, and each is what it is whatever else there is.
 */
void al_catalog_name(const char *server, const char *tool, char out[AL_CATALOG_NAME_MAX])
{
    autobuf struct al_buf b = AL_BUF_INIT(64u << 10);
    al_buf_adds(&b, "mcp_");
    bool plain = add_clean(&b, al_str_of(server)) && !strchr(server, '_');
    al_buf_addc(&b, '_');
    plain = add_clean(&b, al_str_of(tool)) && plain;
    struct al_str name = al_buf_str(&b);
    if (plain && name.n < AL_CATALOG_NAME_MAX && !ends_as_a_hash(name)) {
        snprintf(out, AL_CATALOG_NAME_MAX, "%.*s", AL_FMT(name));
        return;
    }
    char hash[AL_SHA256_HEX];
    struct al_sha256 *h = al_sha256_new();
    al_sha256_add(h, server, strlen(server) + 1);
    al_sha256_add(h, tool, strlen(tool) + 1);
    al_sha256_end(h, hash);
    size_t most = AL_CATALOG_NAME_MAX - 1 - HASH_CHARS - 1;
    name.n = name.n < most ? name.n : most;
    snprintf(out, AL_CATALOG_NAME_MAX, "%.*s_%.*s", AL_FMT(name), (int)HASH_CHARS, hash);
}

/* --- words, for the index --- */

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_letter(char c)
{
    return is_upper(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80);
}

/* Whether a new word begins at i: getUser, HTMLPage. */
static bool word_begins(struct al_str s, size_t i)
{
    if (i == 0 || !is_upper(s.p[i]) || !is_letter(s.p[i - 1]))
        return false;
    return !is_upper(s.p[i - 1]) || (i + 1 < s.n && is_letter(s.p[i + 1]) && !is_upper(s.p[i + 1]));
}

void al_catalog_words(struct al_buf *out, struct al_str text)
{
    bool joined = false;
    al_buf_add_str(out, text);
    for (size_t i = 0; i < text.n && !joined; i++)
        joined = word_begins(text, i);
    al_buf_addc(out, ' ');
    for (size_t i = 0; joined && i < text.n; i++) {
        if (word_begins(text, i))
            al_buf_addc(out, ' ');
        al_buf_addc(out, text.p[i]);
    }
    al_buf_addc(out, ' ');
}

#define MAX_TERMS 16u
#define MAX_TERM 32u

/* Length without an ending: searches, searching and search begin alike. */
static size_t stem(struct al_str w)
{
    static const char *const endings[] = {"ing", "es", "ed", "s", "e"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t n = strlen(endings[i]);
        if (w.n >= n + 3 && al_str_ends(w, endings[i]))
            return w.n - n;
    }
    return w.n;
}

void al_catalog_match(struct al_buf *out, struct al_str query)
{
    size_t n_terms = 0;
    for (size_t i = 0; i < query.n && n_terms < MAX_TERMS;) {
        size_t from = i;
        while (i < query.n && is_letter(query.p[i]) && (i == from || !word_begins(query, i)))
            i++;
        struct al_str word = al_utf8_cut((struct al_str){query.p + from, i - from}, MAX_TERM);
        word.n = stem(word);
        if (i == from) {
            i++;
            continue;
        }
        if (word.n < 2 || !al_utf8_valid(word))
            continue;
        al_buf_addf(out, "%s\"%.*s\"*", n_terms++ ? " OR " : "", AL_FMT(word));
    }
}

/* --- what a tool is --- */

static int by_key(const void *a, const void *b)
{
    const struct al_json *const *x = a, *const *y = b;
    int r = al_str_cmp((*x)->key, (*y)->key);
    return r ? r : ((*x)->raw.p < (*y)->raw.p ? -1 : (*x)->raw.p > (*y)->raw.p);
}

static void hash_value(struct al_sha256 *h, const struct al_json *v);

static void hash_text(struct al_sha256 *h, char kind, struct al_str s)
{
    char head[32];
    int n = snprintf(head, sizeof head, "%c%zu:", kind, s.n);
    al_sha256_add(h, head, (size_t)n);
    al_sha256_add(h, s.p, s.n);
}

/* Some servers keep members in tables whose order is another one at each start. */
static void hash_members(struct al_sha256 *h, const struct al_json *v)
{
    const struct al_json **sorted = al_xcalloc(v->n + 1u, sizeof *sorted);
    size_t n = 0;
    al_json_each(m, v) sorted[n++] = m;
    qsort(sorted, n, sizeof *sorted, by_key);
    for (size_t i = 0; i < n; i++) {
        hash_text(h, 'k', sorted[i]->key);
        hash_value(h, sorted[i]);
    }
    free(sorted);
}

/* No deeper than the reader goes. */
static void hash_value(struct al_sha256 *h, const struct al_json *v)
{
    if (!v) {
        al_sha256_add(h, "-", 1);
    } else if (v->type == AL_JSON_STRING) {
        hash_text(h, 's', v->str);
    } else if (v->type == AL_JSON_OBJECT) {
        al_sha256_add(h, "{", 1);
        hash_members(h, v);
        al_sha256_add(h, "}", 1);
    } else if (v->type == AL_JSON_ARRAY) {
        al_sha256_add(h, "[", 1);
        al_json_each(e, v) hash_value(h, e);
        al_sha256_add(h, "]", 1);
    } else {
        hash_text(h, 'v', v->raw);
    }
}

static void hash_tool(const char *server, const struct al_json *v, char out[AL_SHA256_HEX])
{
    static const char *const parts[] = {"name", "description", "inputSchema", "outputSchema", "annotations"};
    struct al_sha256 *h = al_sha256_new();
    hash_text(h, 's', al_str_of(server));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        hash_value(h, al_json_get(v, parts[i]));
    al_sha256_end(h, out);
}

/* Any text as it may be shown; NULL when there is none. */
static const char *clean_text(struct al_arena *a, const struct al_json *v, size_t max_chars, bool lines)
{
    if (!al_json_is_string(v) || v->str.n == 0)
        return NULL;
    struct al_str head = al_utf8_head(v->str, max_chars);
    autobuf struct al_buf shown = AL_BUF_INIT(64u << 10);
    al_text_visible(&shown, head, lines);
    struct al_str s = al_utf8_head(al_buf_str(&shown), max_chars);
    if (s.n == shown.n && head.n == v->str.n)
        return al_arena_dup(a, s);
    s = al_utf8_head(s, max_chars - 1);
    return al_arena_printf(a, "%.*s…", AL_FMT(s));
}

/* On one line, without white space; NULL when it is no object or too large. */
static const char *object_text(struct al_arena *a, const struct al_json *v, size_t max)
{
    if (!v || v->type != AL_JSON_OBJECT)
        return NULL;
    autobuf struct al_buf b = AL_BUF_INIT(max);
    struct al_jw w;
    al_jw_init(&w, &b);
    al_jw_value(&w, v);
    return al_buf_failed(&b) ? NULL : al_arena_dup(a, al_buf_str(&b));
}

static void add_params(const struct al_json *schema, struct al_buf *out)
{
    unsigned n = 0;
    al_json_each(p, al_json_get(schema, "properties"))
    {
        if (n++ < MAX_PARAMS && p->key.n <= AL_CATALOG_MAX_TOOL_NAME)
            al_catalog_words(out, p->key);
    }
}

static bool usable_name(const struct al_json *name)
{
    return al_json_is_string(name) && name->str.n > 0 && name->str.n <= AL_CATALOG_MAX_TOOL_NAME &&
           !memchr(name->str.p, 0, name->str.n);
}

bool al_catalog_read(const char *server, struct al_str json, struct al_arena *a, struct al_catalog_tool *ret,
                     struct al_buf *params)
{
    const struct al_json *v = NULL;
    struct al_err ignored;
    if (al_json_parse(a, json, &v, &ignored) < 0 || !usable_name(al_json_get(v, "name")))
        return false;
    char name[AL_CATALOG_NAME_MAX];
    const struct al_json *input = al_json_get(v, "inputSchema"), *output = al_json_get(v, "outputSchema");
    *ret = (struct al_catalog_tool){
        .server = server,
        .tool = al_arena_dup(a, al_json_get(v, "name")->str),
        .title = clean_text(a, al_json_get(v, "title"), AL_CATALOG_MAX_TITLE, false),
        .description = clean_text(a, al_json_get(v, "description"), AL_CATALOG_MAX_DESCRIPTION, true),
        .input_schema = object_text(a, input, AL_CATALOG_MAX_SCHEMA),
        .output_schema = object_text(a, output, AL_CATALOG_MAX_SCHEMA),
        .annotations = object_text(a, al_json_get(v, "annotations"), AL_CATALOG_MAX_ANNOTATIONS),
    };
    if (!ret->tool)
        return false;
    if (!ret->input_schema)
        ret->input_schema = ANY_OBJECT;
    if (!ret->output_schema && output && output->type == AL_JSON_OBJECT)
        ret->output_schema = ANY_OBJECT;
    al_catalog_name(server, ret->tool, name);
    ret->name = al_arena_dup(a, al_str_of(name));
    hash_tool(server, v, ret->sha256);
    add_params(input, params);
    return ret->name != NULL;
}

void al_catalog_definition(const struct al_catalog_tool *t, struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "name", t->tool);
    if (t->title)
        al_jw_kstrz(&w, "title", t->title);
    al_jw_kstrz(&w, "description", t->description ? t->description : "");
    al_jw_kraw(&w, "inputSchema", al_str_of(t->input_schema));
    if (t->output_schema)
        al_jw_kraw(&w, "outputSchema", al_str_of(t->output_schema));
    if (t->annotations)
        al_jw_kraw(&w, "annotations", al_str_of(t->annotations));
    al_jw_end(&w);
}
