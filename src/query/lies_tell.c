/* Says where in the statement a text met arithmetic, which column it came from, and what to write instead. */
#include "query/query_int.h"

#include "base/text.h"
#include "dataset/pattern.h"

#include <stdio.h>

struct place {
    size_t first, last; /* tokens of the column, with its qualifier */
    size_t from, to;    /* tokens of the form around it */
    const struct al_read *read;
};

#define MAX_PLACES 8

static bool any_of(const struct al_tokens *t, size_t i, const char *const *words)
{
    for (; *words; words++)
        if (al_token_is(t, i, *words))
            return true;
    return false;
}

static const char *const arithmetic[] = {"+", "-", "*", "/", "%", NULL};
static const char *const comparisons[] = {
    "<", "<=", ">", ">=", "=", "==", "<>", "!=", "BETWEEN", "IN", "IS", NULL};
static const char *const conditions[] = {"WHERE", "AND", "OR", "NOT", "WHEN", "HAVING", "ON", "(", NULL};

/* An operand that can be shown behind an operator: one token that goes on in no parenthesis and no other
 * name. */
static bool is_short(const struct al_tokens *t, size_t i)
{
    return i < t->n && t->list[i].kind != AL_TOKEN_SIGN && !al_token_is(t, i + 1, "(") &&
           !al_token_is(t, i + 1, ".");
}

static bool around_operator(const struct al_tokens *t, const char *const *operators, struct place *p)
{
    if (any_of(t, p->last + 1, operators)) {
        p->to = p->last + 1;
        if (al_token_is(t, p->to, "BETWEEN") && is_short(t, p->to + 1) && al_token_is(t, p->to + 2, "AND"))
            p->to += 2;
        if (is_short(t, p->to + 1))
            p->to++;
        return true;
    }
    if (p->first == 0 || !any_of(t, p->first - 1, operators))
        return false;
    p->from = p->first - 1;
    if (p->from > 0 && is_short(t, p->from - 1))
        p->from--;
    return true;
}

/* fn(column), fn(DISTINCT column), fn(column, 2), CAST(column AS REAL); only minmax: of min and max. */
static bool in_function(const struct al_tokens *t, bool minmax, struct place *p)
{
    size_t open = p->first;
    if (open > 0 && al_token_is(t, open - 1, "DISTINCT"))
        open--;
    if (open < 2 || !al_token_is(t, open - 1, "(") || t->list[open - 2].kind != AL_TOKEN_WORD)
        return false;
    static const char *const no_functions[] = {"IN",     "AND",  "OR", "NOT", "WHERE",
                                               "VALUES", "OVER", "AS", NULL};
    if (any_of(t, open - 2, no_functions))
        return false;
    if (minmax && !al_token_is(t, open - 2, "min") && !al_token_is(t, open - 2, "max"))
        return false;
    p->from = open - 2;
    p->to = p->last;
    for (size_t i = p->last + 1; i < t->n && i < p->last + 6; i++) {
        if (t->list[i].depth == t->list[open - 1].depth) {
            p->to = i;
            break;
        }
    }
    return true;
}

static bool fits(const struct al_query_state *s, struct place *p)
{
    const struct al_tokens *t = &s->tokens;
    if (s->compares)
        return s->how == AL_SQLITE_MINMAX ? in_function(t, true, p) : around_operator(t, comparisons, p);
    switch (s->where) {
    case AL_SQLITE_ARITHMETIC:
        return around_operator(t, arithmetic, p);
    case AL_SQLITE_TRUTH:
        return p->first > 0 && any_of(t, p->first - 1, conditions);
    default:
        return in_function(t, false, p);
    }
}

/* The column at a token: what the authorizer saw being read, at the statement's own level if there. */
static const struct al_read *read_of(const struct al_query_state *s, size_t i)
{
    const struct al_read *found = NULL;
    for (size_t k = 0; k < s->guard.n_reads; k++) {
        const struct al_read *r = &s->guard.reads[k];
        if (*r->column && al_token_names(&s->tokens, i, r->column) && (!found || !*r->via))
            found = r;
    }
    return found;
}

static size_t find_places(const struct al_query_state *s, struct place places[MAX_PLACES])
{
    const struct al_tokens *t = &s->tokens;
    size_t n = 0;
    for (size_t i = 0; i < t->n && n < MAX_PLACES; i++) {
        if (al_token_is(t, i + 1, ".") || al_token_is(t, i + 1, "("))
            continue;
        struct place p = {.first = i, .last = i, .read = read_of(s, i)};
        if (!p.read || (i > 0 && al_token_is(t, i - 1, "AS")))
            continue;
        while (p.first >= 2 && al_token_is(t, p.first - 1, "."))
            p.first -= 2;
        p.from = p.first;
        p.to = p.last;
        if (fits(s, &p))
            places[n++] = p;
    }
    return n;
}

/* Whether the column holds that text: asked of the data, within the statement's own deadline. */
static bool holds(struct al_query_state *s, const struct al_read *r)
{
    sqlite3_stmt *stmt = NULL;
    char *sql = sqlite3_mprintf("SELECT 1 FROM \"%w\".\"%w\" WHERE \"%w\" = ?1 LIMIT 1", r->schema, r->table,
                                r->column);
    bool yes = false;
    if (sql && sqlite3_prepare_v3(s->db, sql, -1, 0, &stmt, NULL) == SQLITE_OK) {
        sqlite3_bind_text(stmt, 1, s->text, (int)s->text_n, SQLITE_STATIC);
        yes = sqlite3_step(stmt) == SQLITE_ROW;
    }
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return yes;
}

static const struct place *choose(struct al_query_state *s, const struct place *places, size_t n)
{
    bool same = true;
    for (size_t i = 1; i < n; i++)
        same &= places[i].read == places[0].read;
    if (n == 0 || same || s->text_cut)
        return n > 0 && same ? &places[0] : NULL;
    for (size_t i = 0; i < n; i++)
        if (holds(s, places[i].read))
            return &places[i];
    return NULL;
}

/* The statement's own text between two tokens, on one line. */
static void add_form(const struct al_query_state *s, size_t from, size_t to, struct al_buf *out)
{
    size_t a = s->tokens.list[from].at, b = s->tokens.list[to].end;
    struct al_str form = al_utf8_cut((struct al_str){s->sql.p + a, b - a}, 120);
    al_text_visible(out, form, false);
}

static const struct al_column *raw_column(struct al_query_state *s, const struct al_read *r)
{
    const struct al_column *c = r ? al_column_of(s, r->schema, r->table, r->column) : NULL;
    return c && *c->parsed_as ? c : NULL;
}

static void add_values(const struct al_query_state *s, const struct al_column *c, struct al_buf *out)
{
    const char *view = *c->values ? c->values : NULL;
    if (s->n_schemas > 1 || strcmp(c->schema, "main") != 0)
        al_buf_addf(out, "%s.", c->schema);
    if (view)
        al_buf_adds(out, view);
    else
        al_buf_addf(out, "%s_values", c->table);
}

static void add_cure(struct al_query_state *s, const struct place *p, struct al_buf *out)
{
    const struct al_column *c = p ? raw_column(s, p->read) : NULL;
    struct al_value v;
    const char *name = p ? p->read->column : "…";
    bool date = c ? !al_column_numeric(c) : false;
    if (s->compares && !c)
        date = !al_pattern_misleads((struct al_str){s->text, s->text_n});
    if (c) {
        al_buf_adds(out, "use ");
        add_values(s, c, out);
        al_buf_addf(out, " or %s(%s)", date ? "to_date" : "to_number", name);
    } else if (date) {
        al_buf_addf(out, "use to_date(%s)", name);
    } else if (!s->compares && s->where == AL_SQLITE_TRUTH) {
        al_buf_addf(out, "compare it, as in %s = 'true'", name);
    } else if (al_pattern_number((struct al_str){s->text, s->text_n}, &v)) {
        al_buf_addf(out, "use data_values or to_number(%s)", name);
    } else {
        al_buf_addf(out,
                    "use to_number(%s), which makes it NULL, or leave it out: WHERE typeof(%s) <> 'text'",
                    name, name);
    }
}

static void add_met(const struct al_query_state *s, const struct place *p, struct al_buf *out)
{
    autobuf struct al_buf text = AL_BUF_INIT(1024);
    al_text_visible(&text, (struct al_str){s->text, s->text_n}, false);
    bool quoted = p && (s->compares || s->where == AL_SQLITE_ARITHMETIC || s->where == AL_SQLITE_TRUTH);
    if (quoted)
        al_buf_addc(out, '`');
    if (p)
        add_form(s, p->from, p->to, out);
    else
        al_buf_adds(out, s->compares ? "a comparison" : "the statement");
    if (quoted)
        al_buf_addc(out, '`');
    al_buf_addf(out, " met text \"%.*s%s\"", AL_FMT(al_buf_str(&text)), s->text_cut ? "…" : "");
    if (s->compares)
        al_buf_adds(out, ", which SQLite does not compare as a number");
    else if (s->where == AL_SQLITE_TRUTH)
        al_buf_adds(out, " where true or false is needed");
    else if (quoted || !p)
        al_buf_adds(out, " where a number is needed");
}

static void add_details(const struct al_query_state *s, const char *column, size_t position,
                        struct al_buf *details)
{
    struct al_jw w;
    if (!details)
        return;
    al_jw_init(&w, details);
    al_jw_obj(&w);
    if (s->text_n > 0 || s->met)
        al_jw_kstr(&w, "text", (struct al_str){s->text, s->text_n});
    if (column)
        al_jw_kstrz(&w, "column", column);
    if (position)
        al_jw_kint(&w, "position", (int64_t)position);
    al_jw_end(&w);
}

static size_t position_of(const struct al_query_state *s, size_t token)
{
    return al_utf8_count((struct al_str){s->sql.p, s->tokens.list[token].at}) + 1;
}

int al_lies_fail(struct al_query_state *s, struct al_buf *details, struct al_err *err)
{
    struct place places[MAX_PLACES];
    al_lies_watch(NULL);
    const struct place *p = choose(s, places, find_places(s, places));
    autobuf struct al_buf message = AL_BUF_INIT(900), cure = AL_BUF_INIT(400);
    add_met(s, p, &message);
    add_cure(s, p, &cure);
    add_details(s, p ? p->read->column : NULL, p ? position_of(s, p->from) : 0, details);
    al_fail(err, AL_QUERY_ERROR, "%.*s; %.*s", AL_FMT(al_buf_str(&message)), AL_FMT(al_buf_str(&cure)));
    return al_hint(err, "SQLite reads \"1.234,56\" as 1.234 and \"n/a\" as 0 without a word; the views "
                        "*_values hold numbers as "
                        "numbers, and to_number() makes one of a text, or NULL");
}

/* --- ORDER BY --- */

/* Whether the statement gives that name to something that is not the column itself. */
static bool is_alias(const struct al_query_state *s, const char *name)
{
    const struct al_tokens *t = &s->tokens;
    for (size_t i = 1; i < t->n; i++) {
        if (!al_token_names(t, i, name))
            continue;
        if (al_token_is(t, i - 1, ")") || al_token_is(t, i - 1, "END"))
            return true;
        if (al_token_is(t, i - 1, "AS") && !(i >= 2 && al_token_names(t, i - 2, name)))
            return true;
    }
    return false;
}

static bool ends_item(const struct al_tokens *t, size_t i, unsigned depth)
{
    static const char *const ends[] = {",",      ";",     "LIMIT",  "ROWS",      "RANGE",
                                       "GROUPS", "UNION", "EXCEPT", "INTERSECT", NULL};
    return i >= t->n || t->list[i].depth < depth || (t->list[i].depth == depth && any_of(t, i, ends));
}

/* The column that an item of ORDER BY is, with nothing done to it. */
static const struct al_column *item_column(struct al_query_state *s, size_t from, size_t to)
{
    static const char *const tail[] = {"ASC",     "DESC",   "NULLS",  "FIRST", "LAST",
                                       "COLLATE", "NOCASE", "BINARY", "RTRIM", NULL};
    const struct al_tokens *t = &s->tokens;
    while (to > from + 1 && any_of(t, to - 1, tail))
        to--;
    while (from + 2 < to && al_token_is(t, from + 1, "."))
        from += 2;
    if (to != from + 1)
        return NULL;
    for (size_t k = 0; k < s->guard.n_reads; k++) {
        const struct al_read *r = &s->guard.reads[k];
        const struct al_column *c =
            *r->column && al_token_names(t, from, r->column) ? raw_column(s, r) : NULL;
        if (!c)
            continue;
        bool by_view = sqlite3_stricmp(r->via, c->values) == 0 && *r->via;
        if (by_view || is_alias(s, r->column))
            return NULL;
        return c;
    }
    return NULL;
}

static int refuse_order(struct al_query_state *s, const struct al_column *c, size_t token,
                        struct al_buf *details, struct al_err *err)
{
    autobuf struct al_buf view = AL_BUF_INIT(200);
    const char *fn = al_column_numeric(c) ? "to_number" : "to_date";
    add_values(s, c, &view);
    add_details(s, c->name, position_of(s, token), details);
    al_fail(err, AL_QUERY_ERROR,
            "ORDER BY %s would sort text such as %s by its characters; use %.*s or ORDER BY %s(%s)", c->name,
            c->parsed_as, AL_FMT(al_buf_str(&view)), fn, c->name);
    return al_hint(err, "in %.*s the column holds %s that sort rightly", AL_FMT(al_buf_str(&view)),
                   al_column_numeric(c) ? "numbers" : "ISO dates");
}

static const struct al_column *ordinal_column(struct al_query_state *s, sqlite3_stmt *stmt, size_t from,
                                              size_t to)
{
    const struct al_token *t = &s->tokens.list[from];
    int64_t k;
    if (t->depth > 0 || t->kind != AL_TOKEN_NUMBER || to - from > 2 ||
        !al_parse_int(t->text, 1, sqlite3_column_count(stmt), &k))
        return NULL;
    int i = (int)k - 1;
    const struct al_column *c =
        al_column_of(s, sqlite3_column_database_name(stmt, i), sqlite3_column_table_name(stmt, i),
                     sqlite3_column_origin_name(stmt, i));
    return c && *c->parsed_as ? c : NULL;
}

static bool reads_raw(struct al_query_state *s, const struct al_column **ret)
{
    for (size_t k = 0; k < s->guard.n_reads; k++) {
        const struct al_read *r = &s->guard.reads[k];
        const struct al_column *c = raw_column(s, r);
        if (c && !(*r->via && sqlite3_stricmp(r->via, c->values) == 0)) {
            *ret = c;
            return true;
        }
    }
    return false;
}

/* x IN (12, …): SQLite looks in a sorted list then, and compares with what it meets there alone. */
static int refuse_in(struct al_query_state *s, struct al_buf *details, struct al_err *err)
{
    const struct al_tokens *t = &s->tokens;
    for (size_t i = 0; i + 3 < t->n; i++) {
        size_t at = i + (al_token_is(t, i + 1, "NOT") ? 2 : 1);
        if (!al_token_is(t, at, "IN") || !al_token_is(t, at + 1, "("))
            continue;
        at += al_token_is(t, at + 2, "-") ? 3 : 2;
        const struct al_column *c =
            at < t->n && t->list[at].kind == AL_TOKEN_NUMBER ? item_column(s, i, i + 1) : NULL;
        if (!c || !al_column_numeric(c))
            continue;
        autobuf struct al_buf view = AL_BUF_INIT(200);
        add_values(s, c, &view);
        add_details(s, c->name, position_of(s, i), details);
        al_fail(err, AL_QUERY_ERROR,
                "%s IN (%.*s …) would compare text such as %s with a number; use %.*s or to_number(%s)",
                c->name, AL_FMT(t->list[at].text), c->parsed_as, AL_FMT(al_buf_str(&view)), c->name);
        return al_hint(err, "In %.*s the column holds numbers.", AL_FMT(al_buf_str(&view)));
    }
    return 0;
}

int al_lies_order(struct al_query_state *s, sqlite3_stmt *stmt, struct al_buf *details, struct al_err *err)
{
    const struct al_tokens *t = &s->tokens;
    const struct al_column *c = NULL;
    if (!reads_raw(s, &c))
        return 0;
    if (refuse_in(s, details, err) < 0)
        return -1;
    for (size_t i = 0; i + 2 < t->n; i++) {
        if (!al_token_is(t, i, "ORDER") || !al_token_is(t, i + 1, "BY"))
            continue;
        unsigned depth = t->list[i].depth;
        for (size_t from = i + 2; from < t->n;) {
            size_t to = from;
            while (!ends_item(t, to, depth))
                to++;
            const struct al_column *bad = to > from ? item_column(s, from, to) : NULL;
            if (!bad && to > from)
                bad = ordinal_column(s, stmt, from, to);
            if (bad)
                return refuse_order(s, bad, from, details, err);
            if (!al_token_is(t, to, ",") || t->list[to].depth != depth)
                break;
            from = to + 1;
        }
    }
    autobuf struct al_buf view = AL_BUF_INIT(200);
    add_values(s, c, &view);
    al_query_note(s, "%s holds %s as text (%s): in %.*s it is %s", c->name,
                  al_column_numeric(c) ? "numbers" : "dates", c->parsed_as, AL_FMT(al_buf_str(&view)),
                  al_column_numeric(c) ? "a number" : "an ISO date");
    return 0;
}

void al_lies_notes(struct al_query_state *s)
{
    if (s->not_numbers > 0)
        al_query_note(s, "to_number made NULL of %llu text%s that %s no number without doubt, such as \"%s\"",
                      (unsigned long long)s->not_numbers, s->not_numbers == 1 ? "" : "s",
                      s->not_numbers == 1 ? "is" : "are", s->not_number);
    if (s->not_dates > 0)
        al_query_note(
            s, "to_date or date_trunc made NULL of %llu text%s that %s no date without doubt, such as \"%s\"",
            (unsigned long long)s->not_dates, s->not_dates == 1 ? "" : "s", s->not_dates == 1 ? "is" : "are",
            s->not_date);
}
