/*
 * A plan from JSON that a person or a model may have edited: what can be read is read, the rest gets a note.
 * What was not said is filled in here, since only here it is known that it was not said; what is said and
 * cannot be is repair.c's.
 */
#include "dashboard/plan_read.h"

#include "base/text.h"

static const char *const plan_fields[] = {"version", "purpose", "locale", "title",   "sheet",
                                          "noRows",  "filters", "chips",  "widgets", NULL};
static const char *const purposes[] = {"executive", "operational", "analytical"};

void al_plan_unknown_fields(struct plan_reading *r, const struct al_json *object, const char *const *known)
{
    al_json_each(it, object)
    {
        size_t i = 0;
        while (known[i] && !al_str_is(it->key, known[i]))
            i++;
        if (known[i] || r->n_unknown == 8)
            continue;
        al_buf_adds(&r->unknown, r->n_unknown++ ? ", " : "");
        al_buf_add_str(&r->unknown, al_utf8_head(it->key, 30));
    }
}

static struct al_str raw(const struct al_json *v)
{
    return v->type == AL_JSON_STRING ? v->str : v->raw;
}

static bool refuse(struct al_dash *d, const char *field, const struct al_json *v, const char *may)
{
    AL_NOTE(d, NOTE_PLAN_FIELD, al_str_of(field), al_utf8_head(raw(v), 40), al_str_of(may));
    return false;
}

/* --- what makes a plan unusable --- */

static bool good_locale(struct al_dash *d, const struct al_json *v)
{
    struct al_str tag;
    if (!v || v->type == AL_JSON_NULL || al_json_get_text(d->request, "locale").n)
        return true;
    if (al_json_is_string(v) && al_locale_canonical(v->str, &d->arena, &tag))
        return true;
    return refuse(d, "locale", v, "a BCP 47 tag, like en, es-CO, de");
}

static const char *purpose_of(const struct al_json *v)
{
    if (!v || v->type == AL_JSON_NULL)
        return purposes[0];
    for (size_t i = 0; al_json_is_string(v) && i < sizeof purposes / sizeof *purposes; i++)
        if (al_str_is(v->str, purposes[i]))
            return purposes[i];
    return NULL;
}

/* Of another dataset (like) it names another sheet; the catalog has looked for that of a spec. */
static bool good_sheet(struct al_dash *d, const struct al_json *v)
{
    struct al_buf may = AL_BUF_INIT(1024);
    if (!v || v->type == AL_JSON_NULL || al_json_get(d->request, "like") ||
        al_json_get_text(d->request, "sheet").n)
        return true;
    if (al_json_is_string(v) &&
        (!v->str.n || al_str_eq(v->str, d->catalog.sheet) || al_str_eq(v->str, d->catalog.table)))
        return true;
    al_buf_add_str(&may, al_utf8_head(d->catalog.sheet, 60));
    al_buf_addc(&may, '\0');
    bool good = refuse(d, "sheet", v, may.p ? may.p : "");
    al_buf_free(&may);
    return good;
}

static bool usable(struct al_dash *d, const struct al_json *plan)
{
    const struct al_json *version =
        plan && plan->type == AL_JSON_OBJECT ? al_json_get(plan, "version") : NULL;
    const struct al_json *widgets = al_json_get(plan, "widgets");
    int64_t one;
    if (!plan || plan->type != AL_JSON_OBJECT) {
        al_plan_note(d, AL_TEXT_NOTE_PLAN_NO_OBJECT, NULL, 0);
        return false;
    }
    if (version && !al_json_int(version, 1, 1, &one)) {
        AL_NOTE(d, NOTE_PLAN_VERSION, al_utf8_head(raw(version), 40));
        return false;
    }
    if (!purpose_of(al_json_get(plan, "purpose")))
        return refuse(d, "purpose", al_json_get(plan, "purpose"), "executive, operational, analytical");
    if (!widgets || widgets->type != AL_JSON_ARRAY) {
        al_plan_note(d, AL_TEXT_NOTE_PLAN_NO_WIDGETS, NULL, 0);
        return false;
    }
    return good_locale(d, al_json_get(plan, "locale")) && good_sheet(d, al_json_get(plan, "sheet"));
}

/* --- columns --- */

static void missing(struct plan_reading *r, struct al_str name)
{
    struct al_dash *d = r->d;
    autobuf struct al_buf near = AL_BUF_INIT(4096);
    struct al_str head = al_utf8_head(name, 100);
    for (size_t i = 0; i < d->n_missing; i++)
        if (al_str_eq(d->missing[i], head))
            return;
    char *own = d->n_missing < sizeof d->missing / sizeof *d->missing ? al_arena_dup(&d->arena, head) : NULL;
    if (!own)
        return;
    d->missing[d->n_missing++] = (struct al_str){own, head.n};
    if (r->like || d->n_missing > 5)
        return;
    al_near_columns(d, head, &near);
    AL_NOTE(d, NOTE_MISSING_NEAR, head, al_buf_str(&near));
}

int al_plan_column(struct plan_reading *r, const struct al_json *v)
{
    if (!v || v->type == AL_JSON_NULL)
        return PLAN_ABSENT;
    if (!al_json_is_string(v) || !v->str.n)
        return PLAN_NO_COLUMN;
    int c = v->str.n <= 4096 ? al_dash_catalog_find(&r->d->catalog, v->str) : -1;
    if (c < 0)
        missing(r, v->str);
    return c < 0 ? PLAN_MISSING : c;
}

static void chips(struct plan_reading *r, const struct al_json *list)
{
    struct al_plan *p = &r->d->plan;
    size_t seen = 0;
    if (!list || list->type != AL_JSON_ARRAY)
        return;
    al_json_each(it, list)
    {
        int c = seen++ < PLAN_READ ? al_plan_column(r, it) : PLAN_ABSENT;
        bool twice = false;
        for (size_t i = 0; i < p->n_chips; i++)
            twice = twice || p->chips[i] == c;
        if (c < 0 || twice)
            continue;
        if (p->n_chips < AL_DASH_CHIPS && al_col_chip(al_dash_col(r->d, c)))
            p->chips[p->n_chips++] = c;
        else
            AL_NOTE(r->d, NOTE_CHIPS, al_dash_col(r->d, c)->name);
    }
}

/* --- the plan --- */

static void widgets(struct plan_reading *r, const struct al_json *list)
{
    struct al_dash *d = r->d;
    struct al_widget *read = al_arena_alloc(&d->arena, PLAN_READ * sizeof *read);
    size_t n = 0, seen = 0;
    if (!read)
        return;
    al_json_each(it, list)
    {
        if (seen++ == PLAN_READ) {
            AL_NOTE(d, NOTE_PLAN_TOO_MANY, AL_STR("100"));
            break;
        }
        r->at = seen;
        if (al_plan_read_widget(r, it, &read[n]) && al_widget_repair(d, &read[n]))
            n++;
    }
    n = al_widgets_fit(d, read, n);
    memcpy(d->plan.widgets, read, n * sizeof *read);
    d->plan.n_widgets = n;
}

static void title(struct al_dash *d, const struct al_json *v)
{
    if (!al_json_is_string(v) || !v->str.n || al_title_page_is_made(d, v->str))
        return;
    struct al_str head = al_utf8_head(v->str, AL_DASH_TITLE);
    char *own = al_arena_dup(&d->arena, head);
    if (own)
        d->plan.title = (struct al_str){own, head.n};
    if (own && head.n < v->str.n)
        AL_NOTE(d, NOTE_TITLE, al_str_of(al_text(&d->plan, AL_TEXT_NOTE_WORD_THE_PLAN)), AL_STR("120"));
}

static void tell(struct plan_reading *r)
{
    struct al_dash *d = r->d;
    autobuf struct al_buf names = AL_BUF_INIT(8192);
    for (size_t i = 0; i < d->n_missing; i++) {
        al_buf_adds(&names, i ? ", " : "");
        al_buf_add_str(&names, d->missing[i]);
    }
    if (r->left_out.n)
        AL_NOTE(d, NOTE_MISSING, al_buf_str(&r->left_out), al_buf_str(&names));
    if (r->unknown.n)
        AL_NOTE(d, NOTE_PLAN_UNKNOWN_FIELD, al_buf_str(&r->unknown));
}

bool al_plan_read(struct al_dash *d, const struct al_json *plan)
{
    struct plan_reading r = {.d = d, .like = al_json_get(d->request, "spec") == NULL};
    const struct al_json *filters = al_json_get(plan, "filters"), *by = al_json_get(d->request, "by");
    struct al_err ignored = {0};
    if (!usable(d, plan))
        return false;
    al_buf_init(&r.left_out, (size_t)32 << 10);
    al_buf_init(&r.unknown, 8192);
    d->plan.purpose = purpose_of(al_json_get(plan, "purpose"));
    d->plan.no_rows = al_json_is_true(al_json_get(plan, "noRows"));
    title(d, al_json_get(plan, "title"));
    al_plan_unknown_fields(&r, plan, plan_fields);
    if (filters && filters->type == AL_JSON_ARRAY && al_filters_read(d, filters, false, &ignored) < 0)
        d->plan.n_filters = 0;
    widgets(&r, al_json_get(plan, "widgets"));
    chips(&r, al_json_get(plan, "chips"));
    tell(&r);
    if (by && by->type != AL_JSON_NULL)
        al_plan_note(d, AL_TEXT_NOTE_PLAN_BY, NULL, 0);
    al_buf_free(&r.left_out);
    al_buf_free(&r.unknown);
    return true;
}
