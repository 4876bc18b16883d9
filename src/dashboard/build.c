/* A dashboard from a request to a page: the stages in their order. */
#include "dashboard/build_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

#define NOTE_TEXT 400

void al_dash_note(struct al_dash *d, const char *fmt, ...)
{
    char text[NOTE_TEXT * 4];
    va_list ap;
    if (d->n_notes == AL_DASH_NOTES)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    char *note = al_arena_dup(&d->arena, al_utf8_head(al_str_of(text), NOTE_TEXT));
    if (note)
        d->notes[d->n_notes++] = al_str_of(note);
}

static void progress(const struct al_dash *d, const char *stage)
{
    if (d->out->progress)
        d->out->progress(d->out->ud, stage, 0, d->catalog.rows);
}

static int no_memory(struct al_err *err)
{
    return al_fail(err, AL_QUERY_LIMIT, "the dashboard needs more memory than it may have");
}

/* The request's own locale, else that of the plan it brings along, else English. */
static int set_locale(struct al_dash *d, const struct al_json *given, struct al_err *err)
{
    struct al_str tag = al_json_get_text(d->request, "locale");
    bool own = tag.n > 0;
    if (!own)
        tag = al_json_get_text(given, "locale");
    if (!tag.n || !al_locale_canonical(tag, &d->arena, &d->plan.locale)) {
        if (own) {
            autobuf struct al_buf shown = AL_BUF_INIT(512);
            al_text_visible(&shown, al_utf8_head(tag, 60), false);
            al_fail(err, AL_INVALID_INPUT, "\"%.*s\" is no language tag", AL_FMT(al_buf_str(&shown)));
            return al_hint(err, "a BCP 47 tag, like en, en-GB, es-CO or de");
        }
        d->plan.locale = al_str_of("en");
    }
    struct al_str l = d->plan.locale;
    d->plan.spanish = l.n >= 2 && l.p[0] == 'e' && l.p[1] == 's' && (l.n == 2 || l.p[2] == '-');
    return 0;
}

/* What the request says beside the plan counts more than what the plan says. */
static int override(struct al_dash *d, struct al_err *err)
{
    struct al_str title = al_json_get_text(d->request, "title");
    const struct al_json *filters = al_json_get(d->request, "filters");
    if (title.n) {
        char *own = al_arena_dup(&d->arena, al_utf8_head(title, AL_DASH_TITLE));
        if (!own)
            return no_memory(err);
        d->plan.title = al_str_of(own);
    }
    if (al_json_is_true(al_json_get(d->request, "noRows")))
        d->plan.no_rows = true;
    return filters ? al_filters_read(d, filters, true, err) : 0;
}

static int make_plan(struct al_dash *d, const struct al_json *given, struct al_err *err)
{
    const struct al_json *by = al_json_get(d->request, "by");
    bool fresh = !given || !al_plan_read(d, given);
    if (override(d, err) < 0)
        return -1;
    al_filters_narrow(d);
    if (fresh) {
        if (al_plan_make(d, by, err) < 0)
            return -1;
    }
    if (al_plan_repair(d, err) < 0)
        return -1;
    al_goal_note(d, fresh);
    return 0;
}

/* --- what is told of it --- */

static void put_strs(struct al_jw *w, const char *key, const struct al_str *list, size_t n)
{
    al_jw_key(w, key);
    al_jw_arr(w);
    for (size_t i = 0; i < n; i++)
        al_jw_str(w, list[i]);
    al_jw_end(w);
}

static void put_names(const struct al_dash *d, struct al_jw *w, const char *key, const int *list, size_t n)
{
    al_jw_key(w, key);
    al_jw_arr(w);
    for (size_t i = 0; i < n; i++)
        al_jw_str(w, d->catalog.columns[list[i]].display);
    al_jw_end(w);
}

static void put_widgets(const struct al_dash *d, struct al_jw *w)
{
    autobuf struct al_buf sql = AL_BUF_INIT((size_t)256 << 10);
    al_jw_key(w, "widgets");
    al_jw_arr(w);
    for (size_t i = 0; i < d->plan.n_widgets; i++) {
        const struct al_widget *x = &d->plan.widgets[i];
        al_buf_clear(&sql);
        al_sql_widget(d, x, &sql);
        al_jw_obj(w);
        al_jw_kstrz(w, "id", x->id);
        al_jw_kstrz(w, "type", al_widget_type_name(x->type));
        al_jw_kstr(w, "title", x->title);
        al_jw_kstr(w, "sql", al_buf_str(&sql));
        al_jw_end(w);
    }
    al_jw_end(w);
}

/* Rows of the file that stand in the page as they are. */
static uint64_t raw_rows(const struct al_dash *d)
{
    uint64_t n = 0;
    for (size_t i = 0; d->results && i < d->plan.n_widgets; i++)
        n += d->results[i].n_rows + d->results[i].n_points;
    uint64_t most = d->has_kept ? d->kept : d->catalog.rows;
    return n < most ? n : most;
}

static int tell(struct al_dash *d, struct al_err *err)
{
    struct al_jw w;
    al_jw_init(&w, d->out->json);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "purpose", d->plan.purpose);
    al_jw_kstr(&w, "title", d->plan.title);
    al_jw_kstr(&w, "locale", d->plan.locale);
    al_jw_kstr(&w, "sheet", d->catalog.sheet);
    al_jw_kint(&w, "rows", (int64_t)d->catalog.rows);
    al_jw_kint(&w, "rawRows", (int64_t)raw_rows(d));
    put_widgets(d, &w);
    put_names(d, &w, "measures", d->profile.measures, d->profile.n_measures);
    put_names(d, &w, "dimensions", d->profile.dimensions, d->profile.n_dimensions);
    put_strs(&w, "notShown", d->goal.not_shown, d->goal.n_not_shown);
    put_strs(&w, "missing", d->missing, d->n_missing);
    put_strs(&w, "notes", d->notes, d->n_notes);
    al_jw_key(&w, "plan");
    al_plan_write(d, &w);
    al_jw_end(&w);
    return al_buf_failed(d->out->json) ? no_memory(err) : 0;
}

static int run(struct al_dash *d, struct al_err *err)
{
    const struct al_json *spec = al_json_get(d->request, "spec"), *like = al_json_get(d->request, "like");
    const struct al_json *given = spec ? spec : al_json_get(like, "plan");
    struct al_str sheet = al_json_get_text(d->request, "sheet");
    progress(d, "analysing");
    if (set_locale(d, given, err) < 0 ||
        al_dash_open_sheet(d, sheet.n ? sheet : al_json_get_text(spec, "sheet"), err) < 0)
        return -1;
    progress(d, "planning");
    al_goal_read(&d->arena, al_json_get_text(d->request, "goal"), &d->catalog, &d->profile, &d->goal);
    if (make_plan(d, given, err) < 0)
        return -1;
    if (!al_json_is_true(al_json_get(d->request, "planOnly"))) {
        progress(d, "reading");
        if (al_scan(d, err) < 0)
            return -1;
        al_filters_note_nothing(d);
        progress(d, "writing");
        if (al_page_write(d, err) < 0)
            return -1;
    }
    return tell(d, err);
}

int al_dashboard_build(struct sqlite3 *db, struct al_str request, struct al_dashboard_out *out,
                       struct al_err *err)
{
    struct al_dash *d = al_xcalloc(1, sizeof *d);
    int r = -1;
    d->db = db;
    d->out = out;
    al_arena_init(&d->arena, AL_DASH_ARENA);
    if (request.n > AL_DASHBOARD_MAX_REQUEST)
        al_fail(err, AL_INVALID_INPUT, "the request has %zu bytes; at most %zu are taken", request.n,
                AL_DASHBOARD_MAX_REQUEST);
    else if (al_json_parse(&d->arena, request, &d->request, err) == 0)
        r = run(d, err);
    al_arena_free(&d->arena);
    free(d);
    return r;
}
