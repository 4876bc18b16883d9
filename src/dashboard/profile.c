/* What each column is for, and which ones are the best of their kind. By statistics and names alone: no cell
 * is read. */
#include "dashboard/profile_int.h"

#include "base/text.h"
#include "dataset/pattern.h"

#include <math.h>
#include <stdio.h>

#define SPARSE 0.95      /* of rows without a value: no use */
#define TEXT_VALUES 200  /* distinct texts of a dimension */
#define LONG_TEXT 250    /* characters: prose */
#define NUMERIC_TEXTS 30 /* distinct texts of digits that may be a dimension */
#define MANY_NAMES 20000
#define MANY_FLAGS 4

struct profiler {
    struct al_dash_catalog *c;
    struct al_arena *arena;
    struct al_name_traits *traits; /* of each column */
    double *score;
    struct al_profile_context x;
};

/* Texts of four digits are years or nothing. */
static bool is_year_text(const struct profiler *p, const struct al_dash_column *c)
{
    return c->has_range && !c->parsed_as.n && al_str_is(c->type, "text") &&
           c->text_fallbacks * 2 > al_column_filled(&p->x, c);
}

static bool is_date(const struct al_dash_column *c)
{
    return *c->first && *c->last;
}

/* "ORD-2024-0001", "a3f9…": unique, no spaces, digits; not names. */
static bool looks_like_code(const struct al_dash_column *c)
{
    for (size_t i = 0; i < c->n_top; i++) {
        struct al_str s = c->top[i];
        size_t digits = 0;
        for (size_t k = 0; k < s.n; k++) {
            digits += s.p[k] >= '0' && s.p[k] <= '9';
            if (s.p[k] == ' ' || ((unsigned char)s.p[k] & 0x80))
                return false;
        }
        if (s.n < 4 || digits * 3 < s.n)
            return false;
    }
    return c->n_top > 0;
}

/* A record that was kept as JSON. */
static bool is_json(const struct al_dash_column *c)
{
    for (size_t i = 0; i < c->n_top; i++)
        if (!c->top[i].n || (*c->top[i].p != '{' && *c->top[i].p != '['))
            return false;
    return c->n_top > 0;
}

/* Digits without letters that are neither numbers nor ranges: telephones, odd dates, amounts in a form that
 * nobody reads. */
static bool is_numeric_text(const struct profiler *p, const struct al_dash_column *c)
{
    for (size_t i = 0; i < c->n_top; i++) {
        bool digit = false;
        for (size_t k = 0; k < c->top[i].n; k++) {
            char b = c->top[i].p[k];
            digit |= b >= '0' && b <= '9';
            if ((b | 32) >= 'a' && (b | 32) <= 'z')
                return false;
        }
        if (!digit)
            return false;
    }
    return c->n_top && (double)c->text_fallbacks >= 0.9 * (double)al_column_filled(&p->x, c) &&
           c->natural == AL_NATURAL_NONE;
}

static bool is_total(const struct al_words *w)
{
    static const char *const first[] = {"all", "total", "todos", "todas", "grand"};
    static const char *const alone[] = {"world", "worldwide", "global", "overall", "mundo", "gesamt"};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (w->n >= 1 && w->n <= 4 && al_str_is(w->list[0], first[i]))
            return true;
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        if (w->n == 1 && al_str_is(w->list[0], alone[i]))
            return true;
    return false;
}

/* A frequent value that says it is all of the others: sums over the column count each thing twice. */
static struct al_str find_total(const struct al_dash_column *c)
{
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)64 << 10);
    struct al_words *w = al_arena_alloc(&a, sizeof *w);
    for (size_t i = 0; w && i < c->n_top && c->distinct >= 3; i++) {
        al_words_of(&a, c->top[i], w);
        if (is_total(w))
            return c->top[i];
    }
    return AL_STR("");
}

static void profile_text(const struct profiler *p, const struct al_name_traits *t, struct al_dash_column *c)
{
    uint64_t filled = al_column_filled(&p->x, c);
    double ratio = filled ? (double)c->distinct / (double)filled : 0;
    bool unique = ratio >= 0.9 && filled >= 20;
    c->role = AL_ROLE_NONE;
    if (c->distinct < 2 || t->head & AL_CLASS(LINK) || c->max_length > LONG_TEXT || is_json(c))
        return;
    c->natural = al_profile_order(c);
    bool code = t->id_last || t->number_last || (t->all & (AL_CLASS(CODE) | AL_CLASS(PLACE)));
    if ((code && ratio >= 0.5 && c->distinct > 12) || (unique && looks_like_code(c)))
        c->role = AL_ROLE_IDENTIFIER;
    else if (is_numeric_text(p, c) && c->distinct > NUMERIC_TEXTS)
        c->role = AL_ROLE_IDENTIFIER;
    else
        c->role = c->distinct <= TEXT_VALUES ? AL_ROLE_DIMENSION : AL_ROLE_TEXT;
    if (c->role == AL_ROLE_DIMENSION)
        c->total = find_total(c);
}

static void profile_column(const struct profiler *p, const struct al_name_traits *t, struct al_dash_column *c)
{
    uint64_t filled = al_column_filled(&p->x, c);
    c->role = AL_ROLE_NONE;
    c->adds = AL_ADDS_NEVER;
    if (!filled || (double)filled < (1 - SPARSE) * (double)p->x.rows)
        return;
    if (is_date(c)) {
        if (strcmp(c->first, c->last) != 0) {
            c->role = AL_ROLE_TIME;
            c->time = AL_TIME_DATE;
        }
    } else if (al_str_is(c->type, "boolean")) {
        c->role = c->distinct >= 2 ? AL_ROLE_BOOLEAN : AL_ROLE_NONE;
    } else if (is_year_text(p, c)) {
        c->has_range = t->all & (AL_CLASS(YEAR) | AL_CLASS(YEARLY));
        if (c->has_range)
            al_profile_number(&p->x, t, c);
        if (c->role != AL_ROLE_TIME) {
            c->has_range = c->integers = false;
            profile_text(p, t, c);
        }
    } else if (c->has_range) {
        al_profile_number(&p->x, t, c);
    } else if (al_str_is(c->type, "text") && !c->parsed_as.n) {
        profile_text(p, t, c);
    }
}

/* --- what the columns beside it tell --- */

static bool is_called(const struct al_dash_column *c, const char *name)
{
    return al_str_is(c->name, name);
}

/* Each of its values stands in as many rows as every other. */
static bool is_even(const struct profiler *p, const struct al_dash_column *c)
{
    const size_t n = sizeof c->top / sizeof *c->top;
    if (c->n_top < n || !c->distinct_exact || c->distinct < 2 || c->top_count[0] < 2)
        return false;
    for (size_t i = 1; i < n; i++)
        if (c->top_count[i] != c->top_count[0])
            return false;
    return c->top_count[0] * c->distinct == al_column_filled(&p->x, c);
}

/* The value of each thing, written into each of its rows: adding it up would count it again and again. */
static void find_repeated(struct profiler *p)
{
    for (size_t i = 0; i < p->c->n; i++) {
        struct al_dash_column *c = &p->c->columns[i];
        if (c->role != AL_ROLE_MEASURE || c->adds == AL_ADDS_NEVER || !is_even(p, c))
            continue;
        for (size_t k = 0; k < p->c->n; k++) {
            const struct al_dash_column *thing = &p->c->columns[k];
            if (al_str_is(thing->type, "text") && !thing->has_range && thing->distinct == c->distinct &&
                is_even(p, thing))
                c->adds = AL_ADDS_NEVER;
        }
    }
}

/* Both ends of a graph's edges are numbers of nodes. */
static void find_edges(struct profiler *p)
{
    static const char *const ends[][2] = {
        {"source", "target"}, {"from", "to"}, {"src", "dst"}, {"origin", "destination"}};
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        struct al_dash_column *both[2] = {NULL, NULL};
        for (size_t i = 0; i < p->c->n; i++)
            for (int k = 0; k < 2; k++)
                if (is_called(&p->c->columns[i], ends[e][k]) && p->c->columns[i].integers)
                    both[k] = &p->c->columns[i];
        for (int k = 0; k < 2 && both[0] && both[1]; k++)
            if (both[k]->role == AL_ROLE_MEASURE)
                both[k]->role = AL_ROLE_IDENTIFIER;
    }
}

/* "other" is what the measure before it is, else the one behind it. */
static void find_others(struct profiler *p)
{
    for (size_t i = 0; i < p->c->n; i++) {
        struct al_dash_column *c = &p->c->columns[i];
        if (!p->traits[i].other || c->role != AL_ROLE_MEASURE)
            continue;
        for (size_t k = 1; k < p->c->n; k++) {
            const struct al_dash_column *near = k <= i ? &p->c->columns[i - k] : &p->c->columns[k];
            if (near->role == AL_ROLE_MEASURE && near->integers == c->integers) {
                c->adds = near->adds;
                break;
            }
        }
    }
}

/* Where there is no time axis a name's rule may be another: levels by the file's name only. */
static void settle_levels(struct profiler *p)
{
    for (size_t i = 0; i < p->c->n; i++)
        p->x.clock |= p->c->columns[i].role == AL_ROLE_TIME;
    for (size_t i = 0; i < p->c->n && p->x.clock; i++) {
        struct al_dash_column *c = &p->c->columns[i];
        if (c->role == AL_ROLE_MEASURE && !c->unit_percent && !c->percent)
            c->adds = al_profile_adds(&p->x, &p->traits[i], c);
    }
}

/* Where there are "new_cases", "total_cases" are those so far. */
static void find_running_totals(struct profiler *p)
{
    static const char *const starts[] = {"new_", "daily_", "nuevos_", "nuevas_"};
    for (size_t i = 0; i < p->c->n; i++) {
        struct al_dash_column *c = &p->c->columns[i];
        if (c->role != AL_ROLE_MEASURE || c->adds != AL_ADDS_ALWAYS || !al_str_starts(c->name, "total_"))
            continue;
        struct al_str rest = {c->name.p + 6, c->name.n - 6};
        for (size_t k = 0; k < p->c->n; k++)
            for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
                struct al_str other = p->c->columns[k].name;
                size_t n = strlen(starts[s]);
                if (al_str_starts(other, starts[s]) &&
                    al_str_eq(rest, (struct al_str){other.p + n, other.n - n}))
                    c->adds = AL_ADDS_ACROSS;
            }
    }
}

static uint64_t count_role(const struct profiler *p, enum al_dash_role role)
{
    uint64_t n = 0;
    for (size_t i = 0; i < p->c->n; i++)
        n += p->c->columns[i].role == role;
    return n;
}

/* Names with many values group rows where nothing else does and each name has several. */
static void group_by_names(struct profiler *p)
{
    if (count_role(p, AL_ROLE_DIMENSION))
        return;
    for (size_t i = 0; i < p->c->n; i++) {
        struct al_dash_column *c = &p->c->columns[i];
        if (c->role == AL_ROLE_TEXT && c->distinct <= MANY_NAMES &&
            al_column_filled(&p->x, c) / c->distinct >= 3)
            c->role = AL_ROLE_DIMENSION;
    }
}

/* A table of flags: their shares are all that there is to measure. The most balanced are the most telling. */
static void measure_flags(struct profiler *p)
{
    if (count_role(p, AL_ROLE_MEASURE) || count_role(p, AL_ROLE_BOOLEAN) < MANY_FLAGS)
        return;
    for (size_t i = 0; i < p->c->n; i++) {
        struct al_dash_column *c = &p->c->columns[i];
        if (c->role == AL_ROLE_BOOLEAN && c->has_range && c->mean >= 0.1 && c->mean <= 0.9) {
            c->role = AL_ROLE_MEASURE;
            c->adds = AL_ADDS_NEVER;
        }
    }
}

/* --- scores --- */

/* A few gaps do not make a column worse. */
static double filled_part(const struct profiler *p, const struct al_dash_column *c)
{
    double part = (double)al_column_filled(&p->x, c) / (double)p->x.rows;
    return part >= 0.95 ? 1 : part;
}

static double measure_score(const struct profiler *p, const struct al_name_traits *t,
                            const struct al_dash_column *c)
{
    double s = filled_part(p, c);
    if (c->adds == AL_ADDS_ALWAYS)
        s += t->all & AL_CLASS(MONEY) ? 0.8 : 0.6;
    else if (c->adds == AL_ADDS_ACROSS)
        s += 0.4;
    else if (t->strict || t->all & (AL_CLASS(RATE) | AL_CLASS(UNIT) | AL_CLASS(OUTCOME)))
        s += 0.2;
    if (t->in_source)
        s += 0.3; /* the file is called after it */
    bool whole = c->adds != AL_ADDS_NEVER || (t->head & AL_CLASS(BETTER) && !(t->head & AL_CLASS(TOTAL))) ||
                 (t->first & AL_CLASS(TOTAL) && t->n > 1);
    if (t->all & AL_CLASS(BETTER) && whole && !t->strict)
        s += 0.35;
    if (t->n == 1 && al_str_is(t->head_word, "n"))
        s -= 0.7; /* of a sample */
    if (t->all & AL_CLASS(MINOR) && !(c->percent && c->integers))
        s -= 0.7;
    if (t->all & AL_CLASS(STATISTIC))
        s -= 0.15;
    return s + (c->min < c->max ? 0.2 : -0.5);
}

/* Short marks ("S", "C") are no names. */
static bool single_letters(const struct al_dash_column *c)
{
    for (size_t i = 0; i < c->n_top; i++)
        if (al_utf8_count(c->top[i]) > 1)
            return false;
    return c->n_top > 0;
}

static double dimension_score(const struct profiler *p, const struct al_name_traits *t,
                              const struct al_dash_column *c)
{
    double s = filled_part(p, c);
    if (c->distinct >= 3 && c->distinct <= 12)
        s += 0.5;
    else if (c->distinct >= 13 && c->distinct <= 30)
        s += 0.25;
    else if (c->distinct > 100)
        s -= 0.5;
    if (t->all & AL_CLASS(DIMENSION))
        s += 0.3;
    if (c->natural == AL_NATURAL_NUMBER)
        s -= t->step ? 0.7 : 0.6;
    if (t->all & (AL_CLASS(MINOR) | AL_CLASS(LINK) | AL_CLASS(CODE)))
        s -= 0.3;
    if (is_numeric_text(p, c))
        s -= 0.5;
    if ((double)c->top_count[0] >= 0.95 * (double)al_column_filled(&p->x, c))
        s -= 0.5; /* nearly all rows are the same */
    if (single_letters(c) || c->max_length > 80)
        s -= 0.2;
    return s;
}

/* Days from the first to the last time; a rough calendar is enough here. */
static double days_of(const char *iso)
{
    int64_t y, m, d;
    if (strlen(iso) < 10 || !al_parse_int((struct al_str){iso, 4}, 0, 9999, &y) ||
        !al_parse_int((struct al_str){iso + 5, 2}, 0, 99, &m) ||
        !al_parse_int((struct al_str){iso + 8, 2}, 0, 99, &d))
        return 0;
    return (double)y * 365.25 + (double)m * 30.4 + (double)d;
}

static double time_score(const struct profiler *p, const struct al_name_traits *t,
                         const struct al_dash_column *c)
{
    double s = filled_part(p, c);
    double days = c->time == AL_TIME_YEAR ? (c->max - c->min) * 365.25 : days_of(c->last) - days_of(c->first);
    if (t->all & (AL_CLASS(TIME) | AL_CLASS(YEAR)))
        s += 0.3;
    if (t->all & AL_CLASS(LATER))
        s -= 0.5;
    if (c->time == AL_TIME_YEAR)
        s -= 0.15;
    return s + 0.1 * fmin(1, fmax(0, days) / 365);
}

/* --- shortlists --- */

/* Better ones first; among equals the earlier column. */
static void put(const struct profiler *p, int *list, size_t *n, size_t max, int column)
{
    size_t at = *n;
    while (at > 0 && p->score[list[at - 1]] < p->score[column])
        at--;
    if (at >= max)
        return;
    if (*n < max)
        ++*n;
    for (size_t i = *n - 1; i > at; i--)
        list[i] = list[i - 1];
    list[at] = column;
}

static void shortlist(struct profiler *p, struct al_profile *ret)
{
    for (size_t i = 0; i < p->c->n; i++) {
        struct al_dash_column *c = &p->c->columns[i];
        const struct al_name_traits *t = &p->traits[i];
        if (c->role == AL_ROLE_MEASURE) {
            c->score = p->score[i] = measure_score(p, t, c);
            put(p, ret->measures, &ret->n_measures, AL_DASH_SHORTLIST, (int)i);
        } else if (c->role == AL_ROLE_DIMENSION || c->role == AL_ROLE_BOOLEAN) {
            c->score = p->score[i] = dimension_score(p, t, c);
            if (c->role == AL_ROLE_DIMENSION)
                put(p, ret->dimensions, &ret->n_dimensions, AL_DASH_SHORTLIST, (int)i);
        } else if (c->role == AL_ROLE_TIME) {
            c->score = p->score[i] = time_score(p, t, c);
            put(p, ret->times, &ret->n_times, AL_DASH_TIMES, (int)i);
        }
    }
    /* Flags group rows where nothing else does. */
    for (size_t i = 0; ret->n_dimensions == 0 && i < p->c->n; i++)
        if (p->c->columns[i].role == AL_ROLE_BOOLEAN)
            put(p, ret->dimensions, &ret->n_dimensions, 1, (int)i);
}

/* --- nothing to show --- */

static const char *what_it_is(const struct al_dash_column *c, const struct profiler *p)
{
    uint64_t filled = al_column_filled(&p->x, c);
    if (!filled)
        return "empty";
    if ((double)filled < (1 - SPARSE) * (double)p->x.rows)
        return "nearly empty";
    if (c->role == AL_ROLE_IDENTIFIER)
        return is_numeric_text(p, c) ? "digits that do not read as numbers" : "an identifier";
    if (c->role == AL_ROLE_PLACE)
        return "a coordinate";
    if (c->distinct < 2)
        return "one value in all rows";
    if (c->role == AL_ROLE_TEXT)
        return "names, nearly each another";
    return is_json(c) ? "nested JSON" : "long text or links";
}

static int nothing_usable(const struct profiler *p, struct al_err *err)
{
    autobuf struct al_buf list = AL_BUF_INIT(700);
    size_t shown = p->c->n < 6 ? p->c->n : 6;
    for (size_t i = 0; i < shown; i++) {
        autobuf struct al_buf name = AL_BUF_INIT(512);
        al_text_plain(&name, p->c->columns[i].display, false);
        al_buf_addf(&list, "%s\"%.*s\" is %s", i ? ", " : "", AL_FMT(al_buf_str(&name)),
                    what_it_is(&p->c->columns[i], p));
    }
    if (p->c->n > shown)
        al_buf_addf(&list, " and %zu more alike", p->c->n - shown);
    al_fail(err, AL_NO_USABLE_COLUMNS, "no column can be measured, grouped by or put on a time axis: %.*s",
            AL_FMT(al_buf_str(&list)));
    return al_hint(err, "data_query shows the rows as they are; python_run can derive what a dashboard "
                        "needs, or draw it itself");
}

static int no_rows(const struct al_dash_catalog *c, struct al_err *err)
{
    autobuf struct al_buf name = AL_BUF_INIT(512);
    al_text_plain(&name, al_utf8_head(c->sheet, 60), false);
    al_fail(err, AL_NO_USABLE_COLUMNS, "the sheet \"%.*s\" has no rows", AL_FMT(al_buf_str(&name)));
    return al_hint(err,
                   c->n_sheets > 1
                       ? "name another sheet; data_inspect lists them"
                       : "data_inspect shows what was read; python_run can read the file in another way");
}

/* Columns that people could not tell apart get their identifiers behind. */
static void tell_apart(struct profiler *p)
{
    for (size_t i = 1; i < p->c->n; i++)
        for (size_t k = 0; k < i; k++) {
            struct al_dash_column *a = &p->c->columns[i];
            if (!al_str_eq(a->display, p->c->columns[k].display))
                continue;
            char *text = al_arena_printf(p->arena, "%.*s (%.*s)", AL_FMT(al_utf8_head(a->display, 40)),
                                         AL_FMT(al_utf8_head(a->name, 17)));
            if (text)
                a->display = al_str_of(text);
            break;
        }
}

/* Words of the file's name, and of the sheet's in a workbook. */
static struct al_words *read_source(struct profiler *p)
{
    struct al_words *w = al_arena_alloc(p->arena, sizeof *w);
    const char *dot = p->c->source.n ? memrchr(p->c->source.p, '.', p->c->source.n) : NULL;
    struct al_str name = p->c->source;
    if (!w)
        return NULL;
    if (dot && dot > name.p)
        name.n = (size_t)(dot - name.p);
    char *both = al_arena_printf(p->arena, "%.*s %.*s", AL_FMT(name),
                                 AL_FMT(p->c->n_sheets > 1 ? p->c->sheet : AL_STR("")));
    al_words_of(p->arena, al_str_of(both ? both : ""), w);
    for (size_t i = 0; i < w->n; i++)
        p->x.source |= al_word_classes(w->list[i]);
    return w;
}

int al_profile(struct al_dash_catalog *c, struct al_arena *arena, struct al_profile *ret, struct al_err *err)
{
    struct profiler p = {.c = c, .arena = arena, .x = {.rows = c->rows}};
    *ret = (struct al_profile){0};
    if (c->rows == 0)
        return no_rows(c, err);
    p.traits = al_arena_alloc(arena, (c->n + 1) * sizeof *p.traits);
    p.score = al_arena_alloc(arena, (c->n + 1) * sizeof *p.score);
    const struct al_words *source = read_source(&p);
    if (!p.traits || !p.score || !source)
        return al_fail(err, AL_QUERY_LIMIT, "the dashboard needs more memory than it may have");
    for (size_t i = 0; i < c->n; i++) {
        struct al_dash_column *col = &c->columns[i];
        al_name_read(arena, source, col->name, col->label, &p.traits[i]);
        col->display = al_display_name(arena, col->name, col->label);
        profile_column(&p, &p.traits[i], col);
    }
    settle_levels(&p);
    find_running_totals(&p);
    find_edges(&p);
    find_others(&p);
    find_repeated(&p);
    group_by_names(&p);
    measure_flags(&p);
    tell_apart(&p);
    shortlist(&p, ret);
    return ret->n_measures + ret->n_dimensions + ret->n_times ? 0 : nothing_usable(&p, err);
}
