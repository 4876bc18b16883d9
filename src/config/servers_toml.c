/*
 * As much of TOML 1.0 as the configuration of Codex needs: tables, dotted keys, all four kinds of strings,
 * arrays, inline tables, comments. Numbers and dates are passed on as they are written.
 */
#include "config/servers_text.h"

#include "base/mem.h"
#include "base/text.h"
#include "config/config_int.h"
#include "config/servers_int.h"

#include <stdio.h>

#define MAX_DEPTH 32
#define MAX_STATEMENTS 100000
#define MAX_AGAIN (2 * (size_t)AL_SERVERS_MAX_FILE)

struct toml {
    struct al_arena *a;
    struct al_str text;
    size_t i;
    const char *want;
    struct al_json *wanted; /* the table */
    struct al_json *table;  /* what keys go into now; NULL: elsewhere */
    struct al_toml_span head;
    struct al_toml_span *spans;
    size_t n_spans, cap;
    size_t n_again; /* bytes read once more after a statement that was not understood */
    char why[160];
};

static bool fault(struct toml *t, const char *what)
{
    if (!t->why[0])
        snprintf(t->why, sizeof t->why, "%s", what);
    return false;
}

static char peek(const struct toml *t)
{
    return t->i < t->text.n ? t->text.p[t->i] : 0;
}

static bool starts(const struct toml *t, const char *z)
{
    return al_str_starts((struct al_str){t->text.p + t->i, t->text.n - t->i}, z);
}

static void skip_blanks(struct toml *t)
{
    while (t->i < t->text.n && (peek(t) == ' ' || peek(t) == '\t'))
        t->i++;
}

static void skip_line(struct toml *t)
{
    while (t->i < t->text.n && peek(t) != '\n')
        t->i++;
    t->i += t->i < t->text.n;
}

/* White space, line ends and comments. */
static void skip_all(struct toml *t)
{
    while (t->i < t->text.n) {
        char c = peek(t);
        if (c == '#')
            skip_line(t);
        else if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
            t->i++;
        else
            return;
    }
}

/* The rest of a line holds nothing more. */
static bool line_end(struct toml *t)
{
    skip_blanks(t);
    if (peek(t) == '#' || (peek(t) == '\r' && t->i + 1 < t->text.n && t->text.p[t->i + 1] == '\n'))
        skip_line(t);
    else if (peek(t) == '\n')
        t->i++;
    else if (t->i < t->text.n)
        return fault(t, "there is more on the line than one statement");
    return true;
}

/* --- strings --- */

static bool hex_escape(struct toml *t, unsigned digits, struct al_buf *out)
{
    uint32_t cp = 0;
    char utf8[4];
    for (unsigned k = 0; k < digits; k++, t->i++) {
        char c = peek(t);
        if (!((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f')))
            return fault(t, "an escape in a string has too few digits");
        cp = cp << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    unsigned n = cp == 0 || cp > 0x10ffff || (cp >= 0xd800 && cp < 0xe000) ? 0 : al_utf8_encode(cp, utf8);
    if (!n)
        return fault(t, "an escape in a string is no character");
    al_buf_add(out, utf8, n);
    return true;
}

/* Behind a backslash. */
static bool escape(struct toml *t, bool multi, struct al_buf *out)
{
    static const char from[] = "btnfre\"\\", to[] = "\b\t\n\f\r\x1b\"\\";
    char c = peek(t);
    const char *at = c ? strchr(from, c) : NULL;
    if (at) {
        al_buf_addc(out, to[at - from]);
        t->i++;
        return true;
    }
    if (c == 'u' || c == 'U') {
        t->i++;
        return hex_escape(t, c == 'u' ? 4 : 8, out);
    }
    size_t begin = t->i;
    skip_blanks(t);
    if (multi && (peek(t) == '\n' || peek(t) == '\r')) {
        while (t->i < t->text.n && memchr(" \t\r\n", peek(t), 4))
            t->i++;
        return true;
    }
    t->i = begin;
    return fault(t, "a string has an unknown escape");
}

static bool multi_string(struct toml *t, char quote, struct al_buf *out)
{
    const char end[] = {quote, quote, quote, 0};
    t->i += 3;
    if (starts(t, "\r\n"))
        t->i += 2;
    else if (peek(t) == '\n')
        t->i++;
    for (;;) {
        if (t->i >= t->text.n)
            return fault(t, "a string has no end");
        if (starts(t, end)) {
            t->i += 3;
            /* Up to two more quotes belong to the string. */
            for (int k = 0; k < 2 && peek(t) == quote; k++, t->i++)
                al_buf_addc(out, quote);
            return true;
        }
        char c = t->text.p[t->i++];
        if (c == '\\' && quote == '"') {
            if (!escape(t, true, out))
                return false;
        } else {
            al_buf_addc(out, c);
        }
    }
}

static bool string(struct toml *t, bool may_be_multi, struct al_buf *out)
{
    char quote = peek(t);
    if (may_be_multi && starts(t, quote == '"' ? "\"\"\"" : "'''"))
        return multi_string(t, quote, out);
    for (t->i++;;) {
        if (t->i >= t->text.n || peek(t) == '\n')
            return fault(t, "a string has no end");
        char c = t->text.p[t->i++];
        if (c == quote)
            return true;
        if (c == '\\' && quote == '"') {
            if (!escape(t, false, out))
                return false;
        } else {
            al_buf_addc(out, c);
        }
    }
}

static bool keep(struct toml *t, struct al_str s, struct al_str *ret)
{
    char *p = al_utf8_valid(s) ? al_arena_dup(t->a, s) : NULL;
    if (!p)
        return fault(t, "a string is no UTF-8, or too long");
    *ret = (struct al_str){p, s.n};
    return true;
}

/* --- keys --- */

static bool bare_char(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static bool simple_key(struct toml *t, struct al_str *ret)
{
    if (peek(t) == '"' || peek(t) == '\'') {
        autobuf struct al_buf b = AL_BUF_INIT(AL_SERVERS_MAX_FILE);
        return string(t, false, &b) && keep(t, al_buf_str(&b), ret);
    }
    size_t from = t->i;
    while (t->i < t->text.n && bare_char(peek(t)))
        t->i++;
    *ret = (struct al_str){t->text.p + from, t->i - from};
    return t->i > from || fault(t, "a name is missing, or has a character that needs quotes");
}

/* Names beyond the last that fits fail: nothing of ours is as deep. */
static bool dotted_key(struct toml *t, struct al_toml_span *s)
{
    for (;;) {
        struct al_str name;
        skip_blanks(t);
        if (!simple_key(t, &name))
            return false;
        if (s->n_path == AL_TEXT_MAX_STEPS)
            return fault(t, "a name has too many parts");
        s->path[s->n_path++] = name;
        skip_blanks(t);
        if (peek(t) != '.')
            return true;
        t->i++;
    }
}

/* --- the tree --- */

static struct al_json *new_node(struct toml *t, enum al_json_type type)
{
    struct al_json *v = al_arena_alloc(t->a, sizeof *v);
    if (!v) {
        fault(t, "it is too large");
        return NULL;
    }
    v->type = type;
    v->raw = type == AL_JSON_OBJECT ? AL_STR("{}") : AL_STR("[]");
    return v;
}

/* Behind `last`, the parent's last member so far; NULL: it has none. */
static void append_behind(struct al_json *parent, struct al_json *last, struct al_json *child)
{
    if (last)
        last->next = child;
    else
        parent->child = child;
    parent->n++;
}

static void append(struct al_json *parent, struct al_json *child)
{
    const struct al_json **at = &parent->child;
    while (*at)
        at = (const struct al_json **)&((struct al_json *)*at)->next;
    *at = child;
    parent->n++;
}

/* The table of that name, made when it is missing. */
static struct al_json *sub_table(struct toml *t, struct al_json *parent, struct al_str name)
{
    struct al_json *have = (struct al_json *)al_json_get_str(parent, name);
    if (have) {
        if (have->type == AL_JSON_OBJECT)
            return have;
        fault(t, "a table has the name of a value");
        return NULL;
    }
    if (parent->n >= AL_SERVER_MAX_LIST) {
        fault(t, "a table has too many members");
        return NULL;
    }
    have = new_node(t, AL_JSON_OBJECT);
    if (!have)
        return NULL;
    have->key = name;
    append(parent, have);
    return have;
}

static bool put_value(struct toml *t, struct al_json *table, const struct al_str *path, size_t n,
                      struct al_json *value)
{
    for (size_t i = 0; i + 1 < n; i++) {
        table = sub_table(t, table, path[i]);
        if (!table)
            return false;
    }
    if (al_json_get_str(table, path[n - 1]))
        return fault(t, "a key is there twice");
    if (table->n >= AL_SERVER_MAX_LIST)
        return fault(t, "a table has too many members");
    value->key = path[n - 1];
    append(table, value);
    return true;
}

/* --- values --- */

static bool value(struct toml *t, unsigned depth, struct al_json **ret);

static bool array(struct toml *t, unsigned depth, struct al_json *v)
{
    struct al_json *last = NULL;
    for (t->i++;;) {
        struct al_json *e;
        skip_all(t);
        if (peek(t) == ']' && t->i < t->text.n) {
            t->i++;
            return true;
        }
        if (v->n >= 4 * AL_SERVER_MAX_LIST)
            return fault(t, "an array is too long");
        if (!value(t, depth + 1, &e))
            return false;
        append_behind(v, last, e);
        last = e;
        skip_all(t);
        if (peek(t) == ',')
            t->i++;
        else if (peek(t) != ']')
            return fault(t, "an array has no end");
    }
}

/* Line ends and trailing commas, too: newer TOML allows them. */
static bool inline_table(struct toml *t, unsigned depth, struct al_json *v)
{
    for (t->i++;;) {
        struct al_toml_span key = {0};
        struct al_json *e;
        skip_all(t);
        if (peek(t) == '}') {
            t->i++;
            return true;
        }
        if (!dotted_key(t, &key))
            return false;
        if (peek(t) != '=')
            return fault(t, "a name has no \"=\" behind it");
        t->i++;
        skip_blanks(t);
        if (!value(t, depth + 1, &e) || !put_value(t, v, key.path, key.n_path, e))
            return false;
        skip_all(t);
        if (peek(t) == ',')
            t->i++;
        else if (peek(t) != '}')
            return fault(t, "an inline table has no end");
    }
}

static bool is_decimal(struct al_str s)
{
    size_t i = s.n && s.p[0] == '-';
    if (i == s.n || s.n > 18 || (s.p[i] == '0' && s.n > i + 1))
        return false;
    for (; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return true;
}

/* true, false, a number, a date: what is no plain number stays text. */
static bool scalar(struct toml *t, struct al_json *v)
{
    size_t from = t->i;
    while (t->i < t->text.n && !memchr(",]}#\r\n", peek(t), 6))
        t->i++;
    struct al_str s = al_str_trim((struct al_str){t->text.p + from, t->i - from});
    if (s.n == 0 || !al_utf8_valid(s))
        return fault(t, "a value is missing");
    v->type = al_str_is(s, "true")    ? AL_JSON_TRUE
              : al_str_is(s, "false") ? AL_JSON_FALSE
              : is_decimal(s)         ? AL_JSON_NUMBER
                                      : AL_JSON_STRING;
    v->raw = v->str = s;
    return true;
}

static bool value(struct toml *t, unsigned depth, struct al_json **ret)
{
    char c = peek(t);
    if (depth > MAX_DEPTH)
        return fault(t, "values are nested too deeply");
    struct al_json *v = new_node(t, c == '[' ? AL_JSON_ARRAY : c == '{' ? AL_JSON_OBJECT : AL_JSON_STRING);
    if (!v)
        return false;
    *ret = v;
    if (c == '[')
        return array(t, depth, v);
    if (c == '{')
        return inline_table(t, depth, v);
    if (c != '"' && c != '\'')
        return scalar(t, v);
    autobuf struct al_buf b = AL_BUF_INIT(AL_SERVERS_MAX_FILE);
    return string(t, true, &b) && keep(t, al_buf_str(&b), &v->str);
}

/* --- statements --- */

static bool is_wanted(const struct toml *t, const struct al_toml_span *s)
{
    return s->n_path && al_str_is(s->path[0], t->want);
}

static bool header(struct toml *t, struct al_toml_span *s)
{
    s->header = true;
    s->array = starts(t, "[[");
    t->i += s->array ? 2 : 1;
    if (!dotted_key(t, s))
        return false;
    if (!starts(t, s->array ? "]]" : "]"))
        return fault(t, "a table's name has no \"]\"");
    t->i += s->array ? 2 : 1;
    if (!line_end(t))
        return false;
    t->head = *s;
    t->table = NULL;
    if (!is_wanted(t, s))
        return true;
    if (s->array)
        return fault(t, "an array of tables stands where servers are named");
    t->table = t->wanted;
    for (size_t i = 1; t->table && i < s->n_path; i++)
        t->table = sub_table(t, t->table, s->path[i]);
    return t->table != NULL;
}

static bool key_value(struct toml *t, struct al_toml_span *s)
{
    struct al_json *v;
    *s = (struct al_toml_span){.n_path = t->head.n_path, .from = s->from};
    memcpy(s->path, t->head.path, sizeof s->path);
    if (!dotted_key(t, s))
        return false;
    if (peek(t) != '=')
        return fault(t, "a name has no \"=\" behind it");
    t->i++;
    skip_blanks(t);
    if (!value(t, 0, &v) || !line_end(t))
        return false;
    if (!is_wanted(t, s))
        return true;
    if (s->n_path > 1)
        return put_value(t, t->wanted, s->path + 1, s->n_path - 1, v);
    if (v->type != AL_JSON_OBJECT || t->wanted->n)
        return fault(t, "where the servers stand is no table, or there twice");
    t->wanted->child = v->child;
    t->wanted->n = v->n;
    return true;
}

static bool note_span(struct toml *t, const struct al_toml_span *s)
{
    if (t->n_spans == MAX_STATEMENTS)
        return fault(t, "it has too many statements");
    if (t->n_spans == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 64;
        t->spans = al_xrealloc(t->spans, t->cap * sizeof *t->spans);
    }
    t->spans[t->n_spans++] = *s;
    return true;
}

static int fail_at(const struct toml *t, size_t from, struct al_err *err)
{
    unsigned line = 1;
    for (size_t i = 0; i < from; i++)
        line += t->text.p[i] == '\n';
    return al_fail(err, AL_CONFIG_INVALID, "line %u: %s", line, t->why);
}

/* One statement. What is not understood elsewhere is passed over, line by line. */
static int statement(struct toml *t, struct al_err *err)
{
    size_t begin = t->i;
    while (begin > 0 && t->text.p[begin - 1] != '\n')
        begin--;
    struct al_toml_span s = {.from = begin};
    size_t at = t->i;
    bool is_header = peek(t) == '[';
    if (is_header ? header(t, &s) : key_value(t, &s)) {
        s.to = t->i;
        return note_span(t, &s) ? 0 : fail_at(t, at, err);
    }
    if (is_wanted(t, &s))
        return fail_at(t, at, err);
    if (is_header) {
        /* What follows belongs to a table that we do not know. */
        t->head = (struct al_toml_span){.path = {AL_STR("?")}, .n_path = 1};
        t->table = NULL;
    }
    /* A file of nothing but such statements, each of which ends far below, would be read many times over. */
    t->n_again += t->i - at;
    if (t->n_again > MAX_AGAIN) {
        t->why[0] = 0;
        fault(t, "there is too much that is no TOML");
        return fail_at(t, at, err);
    }
    t->why[0] = 0;
    t->i = at;
    skip_line(t);
    return 0;
}

int al_toml_read(struct al_arena *a, struct al_str text, const char *want, const struct al_json **ret,
                 struct al_toml_spans *spans, struct al_err *err)
{
    struct toml t = {.a = a, .text = text, .want = want};
    struct al_json *root = new_node(&t, AL_JSON_OBJECT);
    t.wanted = new_node(&t, AL_JSON_OBJECT);
    int r = root && t.wanted ? 0 : al_fail(err, AL_CONFIG_INVALID, "line 1: it is too large");
    if (r == 0) {
        t.wanted->key = al_str_of(want);
        append(root, t.wanted);
    }
    for (skip_all(&t); r == 0 && t.i < text.n; skip_all(&t))
        r = statement(&t, err);
    if (r == 0 && spans) {
        spans->n = t.n_spans;
        spans->v = al_arena_alloc(a, t.n_spans * sizeof *t.spans + 1);
        if (!spans->v)
            r = al_fail(err, AL_CONFIG_INVALID, "line 1: it is too large");
        else if (t.n_spans)
            memcpy(spans->v, t.spans, t.n_spans * sizeof *t.spans);
    }
    free(t.spans);
    if (r == 0)
        *ret = root;
    return r;
}

/* --- edits --- */

static bool listed(const struct al_text_edit *e, const struct al_toml_span *s)
{
    if (s->n_path < 2 || !al_str_eq(s->path[0], e->steps[0]))
        return false;
    if (e->put_name.p && al_str_eq(s->path[1], e->put_name))
        return true;
    for (size_t i = 0; i < e->n_remove; i++)
        if (al_str_eq(s->path[1], e->remove[i]))
            return true;
    return false;
}

static void write_key(struct al_str name, struct al_buf *out)
{
    bool bare = name.n > 0;
    for (size_t i = 0; i < name.n; i++)
        bare &= bare_char(name.p[i]);
    if (bare) {
        al_buf_add_str(out, name);
        return;
    }
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_str(&w, name);
}

/* A JSON string is a basic string of TOML as it stands. */
static void write_value(const struct al_json *v, struct al_buf *out)
{
    bool is_array = v->type == AL_JSON_ARRAY;
    if (!is_array && v->type != AL_JSON_OBJECT) {
        al_buf_add_str(out, v->raw);
        return;
    }
    al_buf_adds(out, is_array ? "[" : "{ ");
    al_json_each(m, v)
    {
        if (!is_array) {
            write_key(m->key, out);
            al_buf_adds(out, " = ");
        }
        write_value(m, out);
        if (m->next)
            al_buf_adds(out, ", ");
    }
    al_buf_adds(out, is_array ? "]" : " }");
}

static void write_table(const struct al_text_edit *e, const struct al_json *v, const char *newline,
                        struct al_buf *out)
{
    al_buf_addc(out, '[');
    write_key(e->steps[0], out);
    al_buf_addc(out, '.');
    write_key(e->put_name, out);
    al_buf_addc(out, ']');
    al_buf_adds(out, newline);
    al_json_each(m, v)
    {
        write_key(m->key, out);
        al_buf_adds(out, " = ");
        write_value(m, out);
        al_buf_adds(out, newline);
    }
}

/* Without the statements that go, and what stands between two of them; the new table in place of the first
 * header that went, so that what follows it begins with a header, else at the end. */
static void splice(struct al_str text, const struct al_toml_spans *spans, const struct al_text_edit *e,
                   struct al_str table, const char *newline, struct al_buf *out)
{
    size_t at = 0;
    bool done = table.n == 0;
    for (size_t i = 0; i < spans->n; i++) {
        const struct al_toml_span *s = &spans->v[i];
        if (!listed(e, s))
            continue;
        bool joined = i > 0 && listed(e, &spans->v[i - 1]);
        if (!joined && s->from > at)
            al_buf_add(out, text.p + at, s->from - at);
        if (!done && s->header) {
            al_buf_add_str(out, table);
            done = true;
        }
        at = s->to;
    }
    al_buf_add(out, text.p + at, text.n - at);
    if (done)
        return;
    if (out->n && out->p[out->n - 1] != '\n')
        al_buf_adds(out, newline);
    if (out->n)
        al_buf_adds(out, newline);
    al_buf_add_str(out, table);
}

/* An inline table, or a header of another kind, holds the servers: nothing can be added beside it. */
static bool is_closed(const struct al_toml_spans *spans, const struct al_text_edit *e)
{
    for (size_t i = 0; i < spans->n; i++) {
        const struct al_toml_span *s = &spans->v[i];
        if (!s->header && s->n_path == 1 && al_str_eq(s->path[0], e->steps[0]))
            return true;
    }
    return false;
}

int al_text_edit_toml(struct al_str text, const struct al_text_edit *e, const char *shown, struct al_buf *out,
                      struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(AL_SERVERS_MAX_ARENA);
    autobuf struct al_buf table = AL_BUF_INIT(AL_SERVERS_MAX_FILE), all = AL_BUF_INIT(AL_SERVERS_MAX_FILE);
    struct al_str bare = al_config_without_bom(text);
    struct al_toml_spans spans;
    const struct al_json *root, *v;
    autofree char *want = al_xdup(e->steps[0].p, e->steps[0].n);
    const char *lf = memchr(bare.p, '\n', bare.n);
    const char *newline = lf && lf > bare.p && lf[-1] == '\r' ? "\r\n" : "\n";
    if (al_toml_read(&a, bare, want, &root, &spans, err) < 0)
        return al_wrap(err, "%s", shown);
    if (is_closed(&spans, e))
        return al_fail(err, AL_CONFIG_INVALID,
                       "%s has its servers in one inline table; write them as [%s.NAME]", shown, want);
    if (e->put_name.p) {
        if (al_json_parse(&a, e->put_value, &v, err) < 0)
            return -1;
        write_table(e, v, newline, &table);
    }
    splice(bare, &spans, e, al_buf_str(&table), newline, &all);
    if (al_buf_failed(&all) || al_buf_failed(&table))
        return al_fail(err, AL_CONFIG_INVALID, "%s would be larger than 32 MiB", shown);
    if (al_toml_read(&a, al_buf_str(&all), want, &root, NULL, err) < 0)
        return al_fail(err, AL_CONFIG_INVALID, "%s cannot be edited without breaking it", shown);
    al_buf_add(out, text.p, text.n - bare.n);
    al_buf_add_str(out, al_buf_str(&all));
    return al_buf_failed(out) ? al_fail(err, AL_CONFIG_INVALID, "%s would be too large", shown) : 0;
}
