/* Comments and trailing commas, and edits that leave them where they are. */
#include "config/servers_text.h"

#include "base/mem.h"
#include "config/config_int.h"
#include "config/servers_int.h"

#include <stdlib.h>

/* --- to plain JSON --- */

/* Just behind the string that begins at i. */
static size_t skip_string(struct al_str s, size_t i)
{
    for (i++; i < s.n && s.p[i] != '"' && s.p[i] != '\n'; i++)
        i += s.p[i] == '\\';
    return i < s.n ? i + 1 : s.n;
}

/* Just behind the comment that begins at i, or i; the end of the text when a comment has no end. */
static size_t skip_comment(struct al_str s, size_t i)
{
    if (s.n - i < 2 || s.p[i] != '/')
        return i;
    if (s.p[i + 1] == '/') {
        while (i < s.n && s.p[i] != '\n')
            i++;
        return i;
    }
    if (s.p[i + 1] != '*')
        return i;
    ptrdiff_t end = al_str_find((struct al_str){s.p + i + 2, s.n - i - 2}, AL_STR("*/"));
    return end < 0 ? s.n : i + 2 + (size_t)end + 2;
}

/* Whether the comment that ends at `end`, the end of the text, lacks its own. */
static bool is_open(struct al_str s, size_t i, size_t end)
{
    return s.p[i + 1] == '*' && (end - i < 4 || memcmp(s.p + end - 2, "*/", 2) != 0);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* A trailing comma becomes a tab and a comment spaces, so that an edit can tell them apart. */
void al_jsonc_plain(struct al_str text, struct al_buf *out)
{
    size_t start = out->n, comma = SIZE_MAX;
    al_buf_add_str(out, text);
    if (al_buf_failed(out))
        return;
    char *to = out->p + start;
    for (size_t i = 0; i < text.n;) {
        char c = text.p[i];
        size_t end = skip_comment(text, i);
        if (end == text.n && end > i && is_open(text, i, end))
            return; /* it stays, for the reader to refuse; searched again at each "/" it would take for ever
                     */
        if (end > i) {
            for (; i < end; i++)
                to[i] = text.p[i] == '\n' || text.p[i] == '\r' ? text.p[i] : ' ';
            continue;
        }
        if ((c == '}' || c == ']') && comma != SIZE_MAX)
            to[comma] = '\t';
        if (!is_space(c))
            comma = c == ',' ? i : SIZE_MAX;
        i = c == '"' ? skip_string(text, i) : i + 1;
    }
}

/* --- edits --- */

struct span {
    size_t from, to;
    struct al_str with;
};

/* A member of the object, and where its parts are in the text. */
struct part {
    const struct al_json *v;
    size_t key, end; /* of name and value */
    size_t comma;    /* behind the comma that follows it; 0: none */
    bool trailing;   /* that comma may be there or not */
    bool gone;
};

struct editor {
    struct al_str text;  /* without byte order mark */
    struct al_buf plain; /* of the same length */
    const char *shown;
    const struct al_json *root, *object;
    size_t depth; /* of the object: the root's is 0 */
    struct part *parts;
    size_t n_parts;
    struct span spans[2]; /* what comes beside the removals */
    size_t n_spans;
    const char *newline; /* "" when the file is all in one line */
    struct al_str unit;  /* of indentation */
};

static int bad(const struct editor *e, const char *what, struct al_err *err)
{
    return al_fail(err, AL_CONFIG_INVALID, "%s, %s", e->shown, what);
}

static size_t offset(const struct editor *e, const char *p)
{
    return (size_t)(p - e->plain.p);
}

static size_t skip_space(const struct editor *e, size_t i)
{
    while (i < e->plain.n && is_space(e->plain.p[i]))
        i++;
    return i;
}

/* Where the comma after a value is, behind it. */
static void find_comma(const struct editor *e, struct part *p)
{
    for (size_t i = p->end; i < e->plain.n; i++) {
        if (e->plain.p[i] == ',' || (e->plain.p[i] == '\t' && e->text.p[i] == ',')) {
            p->trailing = e->plain.p[i] == '\t';
            p->comma = i + 1;
            return;
        }
        if (!is_space(e->plain.p[i]))
            return;
    }
}

static void find_parts(struct editor *e)
{
    e->parts = al_xcalloc(e->object->n + 1u, sizeof *e->parts);
    size_t at = offset(e, e->object->raw.p) + 1;
    al_json_each(m, e->object)
    {
        struct part *p = &e->parts[e->n_parts++];
        p->v = m;
        p->key = skip_space(e, at);
        p->end = offset(e, m->raw.p) + m->raw.n;
        find_comma(e, p);
        at = p->comma ? p->comma : p->end;
    }
}

/* White space from the beginning of the line to i; n is SIZE_MAX when there is more than that. */
static struct al_str indent_before(const struct editor *e, size_t i)
{
    size_t from = i;
    while (from > 0 && (e->text.p[from - 1] == ' ' || e->text.p[from - 1] == '\t'))
        from--;
    if (from > 0 && e->text.p[from - 1] != '\n')
        return (struct al_str){NULL, 0};
    return (struct al_str){e->text.p + from, i - from};
}

static void find_style(struct editor *e)
{
    const char *lf = memchr(e->text.p, '\n', e->text.n);
    bool one_line = e->root->n && !memchr(e->root->raw.p, '\n', e->root->raw.n);
    e->newline = one_line ? "" : lf && lf > e->text.p && lf[-1] == '\r' ? "\r\n" : "\n";
    e->unit = AL_STR("  ");
    if (!e->root->child || one_line)
        return;
    size_t key = skip_space(e, offset(e, e->root->raw.p) + 1);
    struct al_str s = indent_before(e, key);
    if (s.p && s.n && s.n <= 16)
        e->unit = s;
}

static void new_line(const struct editor *e, size_t depth, struct al_buf *out)
{
    if (!e->newline[0])
        return;
    al_buf_adds(out, e->newline);
    for (size_t i = 0; i < depth; i++)
        al_buf_add_str(out, e->unit);
}

static bool all_scalars(const struct al_json *v)
{
    al_json_each(m, v)
    {
        if (m->type == AL_JSON_ARRAY || m->type == AL_JSON_OBJECT)
            return false;
    }
    return true;
}

/* A value in the file's own style. Our own values: no deeper than a few levels. */
static void write_value(const struct editor *e, const struct al_json *v, size_t depth, struct al_buf *out)
{
    bool array = v->type == AL_JSON_ARRAY, one_line = (array && all_scalars(v)) || !v->child;
    if (!array && v->type != AL_JSON_OBJECT) {
        al_buf_add_str(out, v->raw);
        return;
    }
    al_buf_addc(out, array ? '[' : '{');
    al_json_each(m, v)
    {
        struct al_jw w;
        if (!one_line)
            new_line(e, depth + 1, out);
        if (!array) {
            autobuf struct al_buf key = AL_BUF_INIT(AL_SERVERS_MAX_FILE);
            al_jw_init(&w, &key);
            al_jw_str(&w, m->key);
            al_buf_add_str(out, al_buf_str(&key));
            al_buf_adds(out, e->newline[0] ? ": " : ":");
        }
        write_value(e, m, depth + 1, out);
        if (m->next)
            al_buf_adds(out, one_line && e->newline[0] ? ", " : ",");
    }
    if (!one_line)
        new_line(e, depth, out);
    al_buf_addc(out, array ? ']' : '}');
}

static int locate(struct editor *e, const struct al_text_edit *edit, size_t *ret_found, struct al_err *err)
{
    e->object = e->root;
    for (size_t i = 0; i < edit->n_steps; i++) {
        const struct al_json *next = al_json_get_str(e->object, edit->steps[i]);
        if (!next)
            break;
        if (next->type != AL_JSON_OBJECT)
            return bad(e, "where the servers stand is no object", err);
        e->object = next;
        e->depth = i + 1;
    }
    *ret_found = e->depth;
    return 0;
}

static bool listed(const struct al_text_edit *edit, struct al_str name)
{
    for (size_t i = 0; i < edit->n_remove; i++)
        if (al_str_eq(edit->remove[i], name))
            return true;
    return false;
}

/* What goes with a member: its whole lines when nothing else is on them. */
static struct span span_of(const struct editor *e, const struct part *p)
{
    struct span s = {p->key, p->comma ? p->comma : p->end, {0}};
    struct al_str before = indent_before(e, p->key);
    size_t rest = s.to;
    while (rest < e->text.n && (e->text.p[rest] == ' ' || e->text.p[rest] == '\t' || e->text.p[rest] == '\r'))
        rest++;
    if (before.p && e->text.n - rest >= 2 && e->text.p[rest] == '/' && e->text.p[rest + 1] == '/')
        rest = skip_comment(e->text, rest);
    bool line_ends = rest < e->text.n && e->text.p[rest] == '\n';
    if (before.p && line_ends) {
        s.from -= before.n;
        s.to = rest + 1;
    } else if (p->comma && !line_ends) {
        s.to = rest;
    }
    return s;
}

static void apply(const struct editor *e, struct al_buf *out)
{
    size_t at = 0, extra = 0;
    for (size_t i = 0; i <= e->n_parts; i++) {
        struct span gone = {SIZE_MAX, SIZE_MAX, {0}};
        if (i < e->n_parts && !e->parts[i].gone)
            continue;
        if (i < e->n_parts)
            gone = span_of(e, &e->parts[i]);
        for (; extra < e->n_spans && e->spans[extra].from <= gone.from; extra++) {
            const struct span *s = &e->spans[extra];
            if (s->from < at)
                continue;
            al_buf_add(out, e->text.p + at, s->from - at);
            al_buf_add_str(out, s->with);
            at = s->to;
        }
        if (gone.from == SIZE_MAX)
            break;
        if (gone.from > at)
            al_buf_add(out, e->text.p + at, gone.from - at);
        at = gone.to > at ? gone.to : at;
    }
    al_buf_add(out, e->text.p + at, e->text.n - at);
}

static void add_span(struct editor *e, size_t from, size_t to, struct al_str with)
{
    e->spans[e->n_spans++] = (struct span){from, to, with};
}

/* Where a member goes into an object in which nothing stays: white space goes, comments stay before it. */
static size_t empty_place(const struct editor *e, size_t open, size_t close, bool *ret_line_begins)
{
    size_t at = close;
    *ret_line_begins = false;
    while (at > open + 1 && is_space(e->text.p[at - 1]))
        at--;
    for (size_t i = 0; i < e->n_parts; i++) {
        struct span s = span_of(e, &e->parts[i]);
        if (at <= s.from || at > s.to)
            continue;
        at = s.to > close ? close : s.to;
        *ret_line_begins = e->text.p[at - 1] == '\n';
    }
    return at;
}

static void write_member(const struct editor *e, struct al_str name, const struct al_json *value,
                         struct al_buf *mid)
{
    autobuf struct al_buf key = AL_BUF_INIT(AL_SERVERS_MAX_FILE);
    struct al_jw w;
    al_jw_init(&w, &key);
    al_jw_str(&w, name);
    al_buf_add_str(mid, al_buf_str(&key));
    al_buf_adds(mid, e->newline[0] ? ": " : ":");
    write_value(e, value, e->depth + 1, mid);
}

/* Behind the comment at the end of the line that i is in, if all before it is white space. */
static size_t behind_remark(const struct editor *e, size_t i)
{
    size_t at = i;
    while (at < e->text.n && (e->text.p[at] == ' ' || e->text.p[at] == '\t'))
        at++;
    if (e->text.n - at < 2 || e->text.p[at] != '/' || e->text.p[at + 1] != '/')
        return i;
    at = skip_comment(e->text, at);
    return e->text.p[at - 1] == '\r' ? at - 1 : at;
}

/* The new member, and what has to be between it and what stays. `mid` holds its text. */
static void put_member(struct editor *e, struct al_str name, const struct al_json *value, struct al_buf *mid)
{
    struct part *last = NULL;
    for (size_t i = 0; i < e->n_parts; i++)
        last = e->parts[i].gone ? last : &e->parts[i];
    size_t open = offset(e, e->object->raw.p), close = open + e->object->raw.n - 1;
    if (!last) {
        bool line_begins;
        size_t at = empty_place(e, open, close, &line_begins);
        new_line(e, e->depth + 1, mid);
        if (line_begins)
            al_buf_drop(mid, strlen(e->newline));
        write_member(e, name, value, mid);
        new_line(e, e->depth, mid);
        add_span(e, at, close, al_buf_str(mid));
        return;
    }
    size_t at = last->comma ? last->comma : last->end;
    struct al_str own = indent_before(e, last->key);
    if (!last->comma)
        add_span(e, at, at, AL_STR(","));
    at = behind_remark(e, at);
    if (own.p && e->newline[0]) {
        al_buf_adds(mid, e->newline);
        al_buf_add_str(mid, own);
    } else {
        new_line(e, e->depth + 1, mid);
    }
    write_member(e, name, value, mid);
    if (e->newline[0] && !own.p && !memchr(e->text.p + at, '\n', close - at))
        new_line(e, e->depth, mid); /* all in one line so far: the closing brace moves to its own */
    add_span(e, at, at, al_buf_str(mid));
}

static void remove_members(struct editor *e, const struct al_text_edit *edit)
{
    struct part *last = NULL;
    for (size_t i = 0; i < e->n_parts; i++) {
        e->parts[i].gone = listed(edit, e->parts[i].v->key);
        last = e->parts[i].gone ? last : &e->parts[i];
    }
    /* A comma that parted it from what has gone. */
    if (last && last->comma && !last->trailing && !edit->put_name.p)
        add_span(e, last->comma - 1, last->comma, (struct al_str){0});
}

static int edit_object(struct editor *e, const struct al_text_edit *edit, struct al_str name,
                       const struct al_json *value, struct al_buf *out, struct al_err *err)
{
    autobuf struct al_buf mid = AL_BUF_INIT(AL_SERVERS_MAX_FILE);
    find_style(e);
    find_parts(e);
    remove_members(e, edit);
    for (size_t i = 0; name.p && i < e->n_parts; i++) {
        struct part *p = &e->parts[i];
        if (!al_str_eq(p->v->key, name) || p->gone)
            continue;
        write_value(e, value, e->depth + 1, &mid);
        add_span(e, p->end - p->v->raw.n, p->end, al_buf_str(&mid));
        name.p = NULL;
    }
    if (name.p)
        put_member(e, name, value, &mid);
    apply(e, out);
    return al_buf_failed(out) || al_buf_failed(&mid) ? bad(e, "it would be larger than 32 MiB", err) : 0;
}

/* {"a": {"b": value}} for the steps that are missing. */
static int wrap(struct al_arena *a, const struct al_text_edit *edit, size_t found, struct al_str *ret_name,
                const struct al_json **ret, struct al_err *err)
{
    struct al_buf json = AL_BUF_INIT(AL_SERVERS_MAX_FILE);
    struct al_jw w;
    al_jw_init(&w, &json);
    for (size_t i = found + 1; i < edit->n_steps; i++) {
        al_jw_obj(&w);
        al_jw_key_str(&w, edit->steps[i]);
    }
    if (found < edit->n_steps) {
        al_jw_obj(&w);
        al_jw_key_str(&w, edit->put_name);
    }
    al_jw_raw(&w, edit->put_value);
    while (w.depth)
        al_jw_end(&w);
    *ret_name = found < edit->n_steps ? edit->steps[found] : edit->put_name;
    char *copy = al_buf_failed(&json) ? NULL : al_arena_dup(a, al_buf_str(&json));
    size_t n = json.n;
    al_buf_free(&json);
    if (!copy)
        return al_fail(err, AL_INVALID_INPUT, "the new value is too large");
    return al_json_parse(a, (struct al_str){copy, n}, ret, err);
}

static int check_result(const struct editor *e, struct al_str text, struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(AL_SERVERS_MAX_ARENA);
    autobuf struct al_buf plain = AL_BUF_INIT(AL_SERVERS_MAX_FILE);
    const struct al_json *root;
    struct al_err why;
    al_jsonc_plain(text, &plain);
    if (al_json_parse(&a, al_buf_str(&plain), &root, &why) < 0)
        return bad(e, "it cannot be edited without breaking it", err);
    return 0;
}

int al_text_edit_json(struct al_str text, const struct al_text_edit *edit, const char *shown,
                      struct al_buf *out, struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(AL_SERVERS_MAX_ARENA);
    autobuf struct al_buf body = AL_BUF_INIT(AL_SERVERS_MAX_FILE);
    struct al_str bare = al_config_without_bom(text), name = {0};
    struct editor e = {.text = al_str_trim(bare).n ? bare : AL_STR("{}\n"),
                       .shown = shown,
                       .plain = AL_BUF_INIT(AL_SERVERS_MAX_FILE)};
    const struct al_json *value = NULL;
    struct al_err why;
    size_t found = 0;
    int r = -1;
    al_jsonc_plain(e.text, &e.plain);
    if (al_buf_failed(&e.plain))
        bad(&e, "it is larger than 32 MiB", err);
    else if (al_json_parse(&a, al_buf_str(&e.plain), &e.root, &why) < 0)
        bad(&e, why.msg, err);
    else if (e.root->type != AL_JSON_OBJECT)
        bad(&e, "line 1: it must be a JSON object", err);
    else if (locate(&e, edit, &found, err) == 0)
        r = 0;
    if (r == 0 && edit->put_name.p)
        r = wrap(&a, edit, found, &name, &value, err);
    if (r == 0 && !edit->put_name.p && found < edit->n_steps)
        al_buf_add_str(&body, e.text); /* nothing there to take out */
    else if (r == 0)
        r = edit_object(&e, edit, name, value, &body, err);
    if (r == 0)
        r = check_result(&e, al_buf_str(&body), err);
    if (r == 0) {
        al_buf_add(out, text.p, text.n - bare.n);
        al_buf_add_str(out, al_buf_str(&body));
        if (al_buf_failed(out))
            r = bad(&e, "it would be too large", err);
    }
    free(e.parts);
    al_buf_free(&e.plain);
    return r;
}
