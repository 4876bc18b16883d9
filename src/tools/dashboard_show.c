/* What dashboard_generate made, as a model reads it and as programs do. What the process said is a claim: any
 * member may be missing or of another type, and no text in it is safe to show as it is. */
#include "tools/dashboard_int.h"

#include "base/text.h"

#include <stdio.h>

#define NAME_CHARS 100
#define WIDGETS_SHOWN 20u
#define NOTE_CHARS 400
#define NAMES_SHOWN 40u
#define NOTES_SHOWN 20u

static uint64_t count_of(const struct al_json *v, const char *key)
{
    int64_t n = 0;
    al_json_int(al_json_get(v, key), 0, INT64_MAX, &n);
    return (uint64_t)n;
}

static void put_head(struct al_buf *out, struct al_str s, size_t max_chars)
{
    struct al_str head = al_utf8_head(s, max_chars);
    al_text_visible(out, head, false);
    if (head.n < s.n)
        al_buf_adds(out, "…");
}

static void put_names(const struct al_json *list, const char *title, struct al_buf *out)
{
    unsigned n = 0;
    if (!list || !list->child)
        return;
    al_buf_adds(out, title);
    al_json_each(name, list)
    {
        if (n == NAMES_SHOWN) {
            al_buf_addf(out, " and %u more", list->n - n);
            break;
        }
        al_buf_adds(out, n++ ? ", " : " ");
        put_head(out, name->str, NAME_CHARS);
    }
    al_buf_addc(out, '\n');
}

static void put_notes(const struct al_json *list, struct al_buf *out)
{
    unsigned n = 0;
    al_json_each(note, list)
    {
        if (n++ == NOTES_SHOWN) {
            al_buf_addf(out, "%u more notes are in the structured value\n", list->n - NOTES_SHOWN);
            return;
        }
        al_buf_adds(out, "note: ");
        put_head(out, note->str, NOTE_CHARS);
        al_buf_addc(out, '\n');
    }
}

static void put_widgets(const struct al_json *list, struct al_buf *out)
{
    unsigned n = 0;
    al_json_each(widget, list)
    {
        if (n++ == WIDGETS_SHOWN)
            return;
        al_buf_adds(out, "- ");
        put_head(out, al_json_get_text(widget, "type"), 20);
        al_buf_adds(out, ": ");
        put_head(out, al_json_get_text(widget, "title"), NAME_CHARS);
        al_buf_adds(out, " (");
        put_head(out, al_json_get_text(widget, "id"), 41);
        al_buf_adds(out, ")\n");
    }
}

/* "4 KPIs, 3 charts, 1 table over 1,234 rows" */
static void put_counts(const struct al_json *made, struct al_buf *out)
{
    uint64_t kpis = 0, tables = 0, charts = 0;
    al_json_each(widget, al_json_get(made, "widgets"))
    {
        struct al_str type = al_json_get_text(widget, "type");
        if (al_str_is(type, "kpi"))
            kpis++;
        else if (al_str_is(type, "table"))
            tables++;
        else
            charts++;
    }
    al_data_count(out, kpis, "KPI", "KPIs");
    al_buf_adds(out, ", ");
    al_data_count(out, charts, "chart", "charts");
    if (tables) {
        al_buf_adds(out, ", ");
        al_data_count(out, tables, "table", "tables");
    }
    al_buf_adds(out, " over ");
    al_data_count(out, count_of(made, "rows"), "row", "rows");
}

/* What is said last is said whatever came before it. */
static void put_body(const struct al_buf *body, const char *last, struct al_buf *out)
{
    struct al_str all = al_buf_str(body);
    struct al_str head = al_utf8_head(all, AL_DASHBOARD_TEXT_CHARS - strlen(last) - 2);
    al_buf_add_str(out, head);
    if (head.n < all.n)
        al_buf_adds(out, "…\n");
    al_buf_adds(out, last);
}

static void show_made(const struct al_dashboard_shown *s, struct al_buf *out)
{
    autobuf struct al_buf body = AL_BUF_INIT((size_t)1 << 20);
    al_buf_adds(&body, "a dashboard: ");
    put_counts(s->made, &body);
    al_buf_adds(&body, "; ");
    al_data_count(&body, count_of(s->made, "rawRows"), "raw row", "raw rows");
    al_buf_adds(&body, " in the page\npublished ");
    al_tool_artifact_words(&body, s->a);
    al_buf_addc(&body, '\n');
    put_widgets(al_json_get(s->made, "widgets"), &body);
    put_names(al_json_get(s->made, "measures"), "measures:", &body);
    put_names(al_json_get(s->made, "dimensions"), "dimensions:", &body);
    put_names(al_json_get(s->made, "notShown"), "not shown:", &body);
    put_names(al_json_get(s->made, "missing"), "missing in this dataset:", &body);
    put_notes(al_json_get(s->made, "notes"), &body);
    al_buf_add_str(&body, al_utf8_head(s->warnings, 1000));
    char last[400];
    snprintf(
        last, sizeof last,
        "The page is complete%s. To change it, edit the plan of the structured value and give it as spec. "
        "The person gets the file by `alisio artifacts export %s DIR`.\n",
        s->has_python ? ": it need not be made again in Python" : "", s->a->id);
    put_body(&body, last, out);
}

/* The plan as it is; one too long for a model stays in the structured value. */
static void show_plan(const struct al_dashboard_shown *s, struct al_buf *out)
{
    autobuf struct al_buf body = AL_BUF_INIT((size_t)1 << 20), plan = AL_BUF_INIT(AL_DASHBOARD_MAX_JSON);
    struct al_jw w;
    al_buf_adds(&body, "a plan, nothing is built: ");
    put_counts(s->made, &body);
    al_buf_adds(&body, ". Give it back as spec, changed where you like.\n");
    put_names(al_json_get(s->made, "notShown"), "not shown:", &body);
    put_names(al_json_get(s->made, "missing"), "missing in this dataset:", &body);
    put_notes(al_json_get(s->made, "notes"), &body);
    al_jw_init(&w, &plan);
    al_jw_value(&w, al_json_get(s->made, "plan"));
    bool fits = al_utf8_count(al_buf_str(&plan)) + al_utf8_count(al_buf_str(&body)) < AL_DASHBOARD_TEXT_CHARS;
    if (fits) {
        al_text_visible(&body, al_buf_str(&plan), false);
        al_buf_addc(&body, '\n');
    }
    put_body(&body,
             fits ? "" : "[the plan is too long for this text: it is `plan` of the structured value]\n", out);
}

/* --- the structured value --- */

static void put_texts(struct al_jw *w, const struct al_json *made, const char *key)
{
    al_jw_key(w, key);
    al_jw_arr(w);
    al_json_each(one, al_json_get(made, key)) al_jw_str(w, one->str);
    al_jw_end(w);
}

static void put_members(struct al_jw *w, const struct al_json *made)
{
    static const char *const members[] = {"id", "type", "title", "sql"};
    al_jw_key(w, "widgets");
    al_jw_arr(w);
    al_json_each(widget, al_json_get(made, "widgets"))
    {
        al_jw_obj(w);
        for (size_t i = 0; i < sizeof members / sizeof *members; i++)
            al_jw_kstr(w, members[i], al_json_get_text(widget, members[i]));
        al_jw_end(w);
    }
    al_jw_end(w);
}

static void put_structured(const struct al_dashboard_shown *s, struct al_buf *out)
{
    static const char *const lists[] = {"measures", "dimensions", "notShown", "missing", "notes"};
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    if (s->a)
        al_jw_kstrz(&w, "artifactId", s->a->id);
    al_jw_kstr(&w, "title", al_json_get_text(s->made, "title"));
    al_jw_kstr(&w, "purpose", al_json_get_text(s->made, "purpose"));
    put_members(&w, s->made);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        put_texts(&w, s->made, lists[i]);
    al_jw_key(&w, "plan");
    al_jw_value(&w, al_json_get(s->made, "plan"));
    al_jw_kint(&w, "rows", (int64_t)count_of(s->made, "rows"));
    al_jw_kint(&w, "rawRows", (int64_t)count_of(s->made, "rawRows"));
    if (s->a)
        al_jw_kint(&w, "bytes", s->a->bytes);
    al_jw_end(&w);
}

void al_dashboard_result(const struct al_dashboard_shown *s, struct al_buf *text, struct al_buf *structured)
{
    if (s->a)
        show_made(s, text);
    else
        show_plan(s, text);
    put_structured(s, structured);
}
