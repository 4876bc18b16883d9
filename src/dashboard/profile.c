/* What each column is for. By statistics and names alone: no cell
 * is read. */
#include "dashboard/profile_int.h"

#include "base/text.h"

#define SPARSE 0.95 /* of rows without a value: no use */

/* Texts of four digits are years or nothing. */
static bool is_year_text(const struct al_profiler *p, const struct al_dash_column *c)
{
    return c->has_range && !c->parsed_as.n && al_str_is(c->type, "text") &&
           c->text_fallbacks * 2 > al_column_filled(&p->x, c);
}

/* "quarter": 1 to 4 and "1OT". */
static bool is_named_group(const struct al_name_traits *t, const struct al_dash_column *c)
{
    return al_str_is(c->type, "text") && !c->parsed_as.n && c->distinct <= 30 && t->n == 1 &&
           t->head & (AL_CLASS(DIMENSION) | AL_CLASS(STEP));
}

static bool is_date(const struct al_dash_column *c)
{
    return *c->first && *c->last;
}

static void profile_column(const struct al_profiler *p, const struct al_name_traits *t,
                           struct al_dash_column *c)
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
            al_profile_text(p, t, c);
        }
    } else if (c->has_range && c->text_fallbacks && is_named_group(t, c)) {
        c->has_range = c->integers = false;
        al_profile_text(p, t, c);
    } else if (c->has_range) {
        al_profile_number(&p->x, t, c);
    } else if (al_str_is(c->type, "text") && !c->parsed_as.n) {
        al_profile_text(p, t, c);
    }
}

/* --- nothing to show --- */

static const char *what_it_is(const struct al_dash_column *c, const struct al_profiler *p)
{
    uint64_t filled = al_column_filled(&p->x, c);
    if (!filled)
        return "empty";
    if ((double)filled < (1 - SPARSE) * (double)p->x.rows)
        return "nearly empty";
    if (c->role == AL_ROLE_IDENTIFIER)
        return al_text_is_numeric(p, c) ? "digits that do not read as numbers" : "an identifier";
    if (c->role == AL_ROLE_PLACE)
        return "a coordinate";
    if (c->distinct < 2)
        return "one value in all rows";
    if (c->role == AL_ROLE_TEXT)
        return "names, nearly each another";
    return al_text_is_json(c) ? "nested JSON" : "long text or links";
}

static int nothing_usable(const struct al_profiler *p, struct al_err *err)
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
static void tell_apart(struct al_profiler *p)
{
    for (size_t i = 1; i < p->c->n; i++)
        for (size_t k = 0; k < i; k++) {
            struct al_dash_column *a = &p->c->columns[i];
            if (!al_str_eq(a->display, p->c->columns[k].display))
                continue;
            struct al_str before = p->c->columns[k].name, mark = a->name;
            if (mark.n > before.n + 1 && mark.p[before.n] == '_' && memcmp(mark.p, before.p, before.n) == 0)
                mark = (struct al_str){mark.p + before.n + 1, mark.n - before.n - 1}; /* "class", "class_2" */
            char *text = al_arena_printf(p->arena, "%.*s (%.*s)", AL_FMT(al_utf8_head(a->display, 40)),
                                         AL_FMT(al_utf8_head(mark, 17)));
            if (text)
                a->display = al_str_of(text);
            break;
        }
}

/* Words of the file's name, and of the sheet's in a workbook. */
static struct al_words *read_source(struct al_profiler *p)
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
    struct al_profiler p = {.c = c, .arena = arena, .x = {.rows = c->rows}};
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
        if (p.traits[i].row && p.traits[i].n == 1 && !col->has_range &&
            (col->role == AL_ROLE_TEXT || col->role == AL_ROLE_DIMENSION))
            col->display = AL_STR("Name"); /* "rownames" */
    }
    al_profile_beside(&p);
    tell_apart(&p);
    al_profile_shortlist(&p, ret);
    return ret->n_measures + ret->n_dimensions + ret->n_times ? 0 : nothing_usable(&p, err);
}
