/*
 * A filter as a condition. What is "not equal" may have no value at all: = and != together are all rows. A
 * date means all of its year, month or day, so that "until 2024-03-31" keeps that day's times.
 */
#include "dashboard/bucket_int.h"
#include "dashboard/filter_int.h"

#include "base/text.h"
#include "dataset/cell.h"

#include <stdio.h>

struct part {
    const struct al_filter *f;
    const struct al_dash_column *c;
    struct al_buf *out;
};

static const char *const signs[] = {[AL_OP_EQ] = "=",  [AL_OP_NE] = "<>", [AL_OP_LT] = "<",
                                    [AL_OP_LE] = "<=", [AL_OP_GT] = ">",  [AL_OP_GE] = ">="};

static void name(const struct part *p)
{
    al_sql_name(p->out, p->c->name);
}

static void number(double d, struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_double(&w, d);
}

/* Digits: in a column of texts those are numbers where they print back. */
static bool like_number(struct al_str s)
{
    struct al_value v;
    unsigned decimals;
    bool zeros;
    return al_cell_number(s, true, &v, &decimals, &zeros);
}

static void in_list(const struct part *p, bool numbers, bool negated)
{
    size_t n = 0;
    al_buf_adds(p->out, negated ? " NOT IN (" : " IN (");
    for (size_t i = 0; i < p->f->n_values; i++) {
        const struct al_filter_value *v = &p->f->values[i];
        if (v->number != numbers)
            continue;
        al_buf_adds(p->out, n++ ? ", " : "");
        if (numbers)
            number(v->d, p->out);
        else
            al_sql_text(p->out, v->text);
    }
    al_buf_addc(p->out, ')');
}

static size_t count_of(const struct al_filter *f, bool numbers)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_values; i++)
        n += f->values[i].number == numbers;
    return n;
}

/* --- texts --- */

static void equal_texts(const struct part *p, bool negated)
{
    bool digits = false;
    for (size_t i = 0; i < p->f->n_values; i++)
        digits |= like_number(p->f->values[i].text);
    al_buf_adds(p->out, negated ? "(" : "");
    if (digits)
        al_buf_adds(p->out, "CAST(");
    name(p);
    if (digits)
        al_buf_adds(p->out, " AS TEXT)");
    if (p->f->n_values == 1) {
        al_buf_addf(p->out, " %s ", negated ? "<>" : "=");
        al_sql_text(p->out, p->f->values[0].text);
    } else {
        in_list(p, false, negated);
    }
    if (!negated)
        return;
    al_buf_adds(p->out, " OR ");
    name(p);
    al_buf_adds(p->out, " IS NULL)");
}

static void contains(const struct part *p)
{
    struct al_str v = p->f->values[0].text;
    autobuf struct al_buf like = AL_BUF_INIT(4096);
    bool escaped = false;
    al_buf_addc(&like, '%');
    for (size_t i = 0; i < v.n; i++) {
        if (strchr("%_\\", v.p[i])) {
            al_buf_addc(&like, '\\');
            escaped = true;
        }
        al_buf_addc(&like, v.p[i]);
    }
    al_buf_addc(&like, '%');
    name(p);
    al_buf_adds(p->out, " LIKE ");
    al_sql_text(p->out, al_buf_str(&like));
    if (escaped)
        al_buf_adds(p->out, " ESCAPE '\\'");
    p->out->failed |= al_buf_failed(&like);
}

/* --- numbers --- */

static void only_numbers(const struct part *p, bool negated)
{
    al_buf_adds(p->out, "typeof(");
    name(p);
    al_buf_addf(p->out, ") %sIN ('integer', 'real')", negated ? "NOT " : "");
}

static void compare_numbers(const struct part *p)
{
    if (al_sql_mixed(p->c)) {
        only_numbers(p, false);
        al_buf_adds(p->out, " AND ");
    }
    name(p);
    if (p->f->op == AL_OP_BETWEEN) {
        al_buf_adds(p->out, " BETWEEN ");
        number(p->f->values[0].d, p->out);
        al_buf_adds(p->out, " AND ");
        number(p->f->values[1].d, p->out);
        return;
    }
    al_buf_addf(p->out, " %s ", p->f->op == AL_OP_IN ? "=" : signs[p->f->op]);
    number(p->f->values[0].d, p->out);
}

/* Numbers and texts of one list are looked for apart. */
static void equal_numbers(const struct part *p, bool negated)
{
    size_t numbers = count_of(p->f, true), texts = p->f->n_values - numbers;
    bool mixed = al_sql_mixed(p->c);
    al_buf_adds(p->out, "(");
    if (numbers && negated) {
        al_buf_addc(p->out, '(');
        if (mixed) {
            only_numbers(p, true);
        } else {
            name(p);
            al_buf_adds(p->out, " IS NULL");
        }
        al_buf_adds(p->out, " OR ");
        name(p);
        in_list(p, true, true);
        al_buf_addc(p->out, ')');
    } else if (numbers) {
        if (mixed) {
            only_numbers(p, false);
            al_buf_adds(p->out, " AND ");
        }
        name(p);
        in_list(p, true, false);
    }
    if (numbers && texts)
        al_buf_adds(p->out, negated ? " AND " : " OR ");
    if (texts) {
        al_buf_adds(p->out, negated ? "(" : "");
        name(p);
        in_list(p, false, negated);
        if (negated) {
            al_buf_adds(p->out, " OR ");
            name(p);
            al_buf_adds(p->out, " IS NULL)");
        }
    }
    al_buf_addc(p->out, ')');
}

/* --- dates --- */

/* The first text of a time, and the first behind it. */
static void bounds(struct al_str v, char first[32], char after[32])
{
    char a[16], z[16];
    if (v.n <= 10 && al_bucket_days(v, a, z)) {
        snprintf(first, 32, "%s", a);
        snprintf(after, 32, "%s", z);
    } else { /* "~" comes after all that may go on: seconds, a zone */
        snprintf(first, 32, "%.*s", (int)(v.n < 24 ? v.n : 24), v.p);
        snprintf(after, 32, "%.*s~", (int)(v.n < 24 ? v.n : 24), v.p);
    }
}

static void side(const struct part *p, bool time, const char *sign, const char *bound)
{
    if (time)
        al_buf_adds(p->out, "replace(");
    name(p);
    if (time)
        al_buf_adds(p->out, ", ' ', 'T')");
    al_buf_addf(p->out, " %s ", sign);
    al_sql_text(p->out, al_str_of(bound));
}

static void equal_dates(const struct part *p, bool negated)
{
    al_buf_addc(p->out, '(');
    for (size_t i = 0; i < p->f->n_values; i++) {
        char first[32], after[32];
        bool time = p->f->values[i].text.n > 10;
        bounds(p->f->values[i].text, first, after);
        if (i)
            al_buf_adds(p->out, negated ? " AND " : " OR ");
        al_buf_adds(p->out, negated ? "(" : "");
        side(p, time, negated ? "<" : ">=", first);
        al_buf_adds(p->out, negated ? " OR " : " AND ");
        side(p, time, negated ? ">=" : "<", after);
        al_buf_adds(p->out, negated ? ")" : "");
    }
    if (negated) {
        al_buf_adds(p->out, " OR ");
        name(p);
        al_buf_adds(p->out, " IS NULL");
    }
    al_buf_addc(p->out, ')');
}

static void compare_dates(const struct part *p)
{
    char first[32], after[32], last[32], beyond[32];
    bool time = p->f->values[0].text.n > 10;
    bounds(p->f->values[0].text, first, after);
    switch (p->f->op) {
    case AL_OP_LT:
        side(p, time, "<", first);
        break;
    case AL_OP_LE:
        side(p, time, "<", after);
        break;
    case AL_OP_GT:
        side(p, time, ">=", after);
        break;
    case AL_OP_GE:
        side(p, time, ">=", first);
        break;
    default:
        bounds(p->f->values[1].text, last, beyond);
        side(p, time, ">=", first);
        al_buf_adds(p->out, " AND ");
        side(p, p->f->values[1].text.n > 10, "<", beyond);
    }
}

/* --- */

static void nothing(const struct part *p, bool negated)
{
    bool texts = al_filter_kind(p->c) != AL_FILTER_NUMBER || al_sql_mixed(p->c);
    al_buf_adds(p->out, texts && !negated ? "(" : "");
    name(p);
    if (negated) {
        al_buf_adds(p->out, texts ? " <> ''" : " IS NOT NULL");
        return;
    }
    al_buf_adds(p->out, " IS NULL");
    if (texts) {
        al_buf_adds(p->out, " OR ");
        name(p);
        al_buf_adds(p->out, " = '')");
    }
}

static void equal(const struct part *p, bool negated)
{
    enum al_filter_kind kind = al_filter_kind(p->c);
    if (kind == AL_FILTER_DATE)
        equal_dates(p, negated);
    else if (kind == AL_FILTER_TEXT)
        equal_texts(p, negated);
    else if (p->f->n_values == 1 && p->f->values[0].number && !negated)
        compare_numbers(p);
    else
        equal_numbers(p, negated);
}

void al_sql_filter(const struct al_dash *d, const struct al_filter *f, struct al_buf *out)
{
    struct part p = {f, &d->catalog.columns[f->column], out};
    switch (f->op) {
    case AL_OP_EQ:
    case AL_OP_IN:
        equal(&p, false);
        break;
    case AL_OP_NE:
    case AL_OP_NOT_IN:
        equal(&p, true);
        break;
    case AL_OP_CONTAINS:
        contains(&p);
        break;
    case AL_OP_NULL:
    case AL_OP_NOT_NULL:
        nothing(&p, f->op == AL_OP_NOT_NULL);
        break;
    default:
        if (al_filter_kind(p.c) == AL_FILTER_DATE)
            compare_dates(&p);
        else
            compare_numbers(&p);
    }
}
