/* The description of a dataset, as a model reads it and as programs do. It is a claim of a worker: any member
 * may be missing or of another type, and no text in it is safe to show as it is. */
#include "tools/data_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>

#define SHOWN_SHEETS 5
#define SHOWN_NOTES 12
#define SHEETS_MAX (64u << 10) /* of a row's sheets */

/* How much of a sheet is told; each step tells less than the one before. */
static const struct step {
    unsigned columns, sample_columns, top, cell, names;
    bool statistics;
} steps[] = {
    {60, 12, 5, 60, 200, true},  {60, 12, 3, 40, 200, true}, {60, 10, 2, 30, 200, false},
    {30, 10, 2, 30, 150, false}, {16, 8, 2, 30, 100, false}, {8, 6, 2, 24, 60, false},
    {4, 4, 1, 20, 30, false},    {2, 3, 0, 20, 10, false},
};
#define N_STEPS (sizeof steps / sizeof *steps)

void al_data_number(struct al_buf *out, uint64_t n)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            al_buf_addc(out, ',');
        al_buf_addc(out, digits[i]);
    }
}

void al_data_count(struct al_buf *out, uint64_t n, const char *one, const char *many)
{
    al_data_number(out, n);
    al_buf_addf(out, " %s", n == 1 ? one : many);
}

static void put_text(struct al_buf *out, struct al_str s, size_t max_chars)
{
    struct al_str head = al_utf8_head(s, max_chars);
    al_text_visible(out, head, false);
    if (head.n < s.n)
        al_buf_adds(out, "…");
}

static void put_number(struct al_buf *out, const struct al_json *v)
{
    al_buf_add_str(out, al_utf8_head(v->raw, 32));
}

/* A scalar: texts in quotes, so that "12" and 12 are two things. */
static void put_value(struct al_buf *out, const struct al_json *v, size_t max_chars)
{
    if (al_json_is_string(v)) {
        al_buf_addc(out, '"');
        put_text(out, v->str, max_chars);
        al_buf_addc(out, '"');
    } else if (v && (v->type == AL_JSON_NUMBER || v->type == AL_JSON_TRUE || v->type == AL_JSON_FALSE)) {
        put_number(out, v);
    } else {
        al_buf_adds(out, "NULL");
    }
}

static bool is_there(const struct al_json *v)
{
    return v && v->type != AL_JSON_NULL;
}

static int64_t integer(const struct al_json *v, const char *key)
{
    int64_t n = 0;
    al_json_int(al_json_get(v, key), 0, INT64_MAX, &n);
    return n;
}

static bool has_range(const struct al_json *c)
{
    struct al_str type = al_json_get_text(c, "type");
    return is_there(al_json_get(c, "min")) && is_there(al_json_get(c, "max")) && !al_str_is(type, "text") &&
           !al_str_is(type, "boolean");
}

static void put_range(struct al_buf *out, const struct al_json *c, const struct step *step)
{
    const struct al_json *min = al_json_get(c, "min"), *max = al_json_get(c, "max");
    if (!has_range(c))
        return;
    al_buf_adds(out, "; ");
    if (al_json_is_string(min))
        put_text(out, min->str, step->cell);
    else
        put_number(out, min);
    al_buf_adds(out, " … ");
    if (al_json_is_string(max))
        put_text(out, max->str, step->cell);
    else
        put_number(out, max);
}

static void put_statistics(struct al_buf *out, const struct al_json *c)
{
    static const char *const names[] = {"mean", "stddev"};
    for (size_t i = 0; i < 2; i++) {
        double d;
        if (al_json_double(al_json_get(c, names[i]), &d))
            al_buf_addf(out, "%s %s %.6g", i ? "," : ";", names[i], d);
    }
    const struct al_json *q = al_json_get(c, "quartiles");
    if (!q || q->type != AL_JSON_ARRAY || q->n != 3)
        return;
    al_buf_adds(out, ", quartiles ");
    const char *between = "";
    al_json_each(v, q)
    {
        al_buf_adds(out, between);
        put_value(out, v, 24);
        between = "/";
    }
}

static void put_top(struct al_buf *out, const struct al_json *c, const struct step *step)
{
    const struct al_json *top = al_json_get(c, "top");
    unsigned n = 0;
    if (!top || top->type != AL_JSON_ARRAY)
        return;
    /* Values that are there once each are examples; a range says more than those of numbers and dates. */
    bool once = integer(top->child, "count") == 1;
    if (once && has_range(c))
        return;
    al_json_each(t, top)
    {
        if (n == step->top)
            break;
        al_buf_adds(out, n++ ? ", " : once ? "; e.g. " : "; top ");
        put_value(out, al_json_get(t, "value"), step->cell);
        if (!once)
            al_buf_addf(out, " ×%lld", (long long)integer(t, "count"));
    }
}

static void put_column(struct al_buf *out, const struct al_json *c, const struct step *step)
{
    struct al_str name = al_json_get_text(c, "name"), label = al_json_get_text(c, "label"),
                  parsed = al_json_get_text(c, "parsedAs");
    al_buf_adds(out, "- ");
    put_text(out, name, 64);
    if (label.n && !al_str_eq(label, name)) {
        al_buf_adds(out, " (\"");
        put_text(out, label, step->cell);
        al_buf_adds(out, "\")");
    }
    al_buf_adds(out, ": ");
    put_text(out, al_json_get_text(c, "type"), 20);
    if (parsed.n) {
        al_buf_adds(out, ", reads as ");
        put_text(out, parsed, 40);
        if (integer(c, "parsedNulls"))
            al_buf_addf(out, " (%lld do not)", (long long)integer(c, "parsedNulls"));
    }
    al_buf_addf(out, "; %lld nulls; %lld%s distinct", (long long)integer(c, "nulls"),
                (long long)integer(c, "distinct"),
                al_json_is_true(al_json_get(c, "distinctExact")) ? "" : "~");
    put_range(out, c, step);
    if (step->statistics)
        put_statistics(out, c);
    struct al_str type = al_json_get_text(c, "type");
    int64_t odd = integer(c, "textFallbacks");
    if (odd && !al_str_is(type, "text"))
        al_buf_addf(out, "; %lld cell%s text", (long long)odd, odd == 1 ? " is" : "s are");
    put_top(out, c, step);
    al_buf_addc(out, '\n');
}

/* Columns that are not told of: their names at least. */
static void put_rest(struct al_buf *out, const struct al_json *c, uint32_t left, const struct step *step)
{
    unsigned n = 0;
    al_buf_addf(out, "- and %u more: ", left);
    for (; c && n < step->names; c = c->next, n++) {
        al_buf_adds(out, n ? ", " : "");
        put_text(out, al_json_get_text(c, "name"), 64);
    }
    al_buf_adds(out, c ? ", …\n" : "\n");
}

static void put_sample(struct al_buf *out, const struct al_json *sheet, const struct step *step)
{
    const struct al_json *rows = al_json_get(sheet, "sample"), *columns = al_json_get(sheet, "columns");
    if (!rows || rows->type != AL_JSON_ARRAY || rows->n == 0)
        return;
    unsigned n = 0;
    al_buf_addf(out, "first rows (%u), tab-separated", rows->n);
    if (columns && columns->n > step->sample_columns)
        al_buf_addf(out, ", the first %u columns", step->sample_columns);
    al_buf_adds(out, ":\n");
    al_json_each(c, columns)
    {
        if (n == step->sample_columns)
            break;
        al_buf_adds(out, n++ ? "\t" : "");
        put_text(out, al_json_get_text(c, "name"), 64);
    }
    al_buf_addc(out, '\n');
    al_json_each(row, rows)
    {
        n = 0;
        al_json_each(cell, row)
        {
            if (n == step->sample_columns)
                break;
            al_buf_adds(out, n++ ? "\t" : "");
            if (al_json_is_string(cell))
                put_text(out, cell->str, step->cell);
            else
                put_value(out, cell, step->cell);
        }
        al_buf_addc(out, '\n');
    }
}

static void put_sheet(struct al_buf *out, const struct al_json *sheet, const struct step *step)
{
    const struct al_json *columns = al_json_get(sheet, "columns");
    struct al_str view = al_json_get_text(sheet, "valuesView"), table = al_json_get_text(sheet, "table"),
                  name = al_json_get_text(sheet, "name");
    unsigned n = 0;
    al_buf_addc(out, '\n');
    bool converts = false;
    al_json_each(c, columns) converts |= al_json_get_text(c, "parsedAs").n > 0;
    if (view.n && converts) {
        put_text(out, view, 80);
        al_buf_adds(out, " (numbers and dates converted, else NULL) and table ");
        put_text(out, table, 80);
        al_buf_adds(out, " (each cell as it stood)");
    } else {
        al_buf_adds(out, "table ");
        put_text(out, table, 80);
    }
    if (name.n && !al_str_eq(name, table)) {
        al_buf_adds(out, ", sheet \"");
        put_text(out, name, 80);
        al_buf_addc(out, '"');
    }
    al_buf_adds(out, ": ");
    al_data_count(out, (uint64_t)integer(sheet, "rows"), "row", "rows");
    al_buf_adds(out, ", ");
    al_data_count(out, columns ? columns->n : 0, "column", "columns");
    al_buf_addc(out, '\n');
    al_json_each(c, columns)
    {
        if (n++ < step->columns) {
            put_column(out, c, step);
            continue;
        }
        put_rest(out, c, columns->n - step->columns, step);
        break;
    }
    put_sample(out, sheet, step);
}

static void put_note(struct al_buf *out, const struct al_json *note)
{
    const struct al_json *lines = al_json_get(note, "lines");
    int64_t count = integer(note, "count");
    al_buf_adds(out, "- ");
    put_text(out, al_json_get_text(note, "kind"), 40);
    if (count > 1)
        al_buf_addf(out, " ×%lld", (long long)count);
    al_buf_adds(out, ": ");
    put_text(out, al_json_get_text(note, "message"), 200);
    if (lines && lines->type == AL_JSON_ARRAY && lines->n) {
        const char *before = lines->n == 1 ? " [line " : " [lines ";
        al_json_each(l, lines)
        {
            al_buf_adds(out, before);
            put_value(out, l, 24);
            before = ", ";
        }
        al_buf_adds(out, (uint64_t)count > lines->n ? ", …]" : "]");
    }
    al_buf_addc(out, '\n');
}

static void put_notes(struct al_buf *out, const struct al_json *notes)
{
    unsigned n = 0;
    if (!notes || notes->type != AL_JSON_ARRAY || notes->n == 0)
        return;
    al_buf_adds(out, "\nnotes:\n");
    al_json_each(note, notes)
    {
        if (n++ == SHOWN_NOTES) {
            al_buf_addf(out, "- and %u more, in the structured value\n", notes->n - SHOWN_NOTES);
            break;
        }
        put_note(out, note);
    }
}

static void put_head(struct al_buf *out, const struct al_data_shown *shown, const struct al_json *v)
{
    struct al_str delimiter = al_json_get_text(v, "delimiter"), encoding = al_json_get_text(v, "encoding");
    al_buf_addf(out, "%s: ", shown->id);
    put_text(out, al_str_of(shown->name), 100);
    al_buf_adds(out, ", ");
    put_text(out, al_json_get_text(v, "format"), 16);
    if (al_json_is_true(al_json_get(v, "gzip")))
        al_buf_adds(out, ", gzip");
    if (encoding.n) {
        al_buf_adds(out, ", ");
        put_text(out, encoding, 40);
    }
    if (al_str_is(delimiter, "\t")) {
        al_buf_adds(out, ", delimiter tab");
    } else if (delimiter.n) {
        al_buf_adds(out, ", delimiter ");
        put_text(out, delimiter, 4);
    }
    al_buf_adds(out, shown->reused ? " (was there already)\n" : "\n");
}

static void put_all(struct al_buf *out, const struct al_data_shown *shown, const struct al_json *v,
                    const struct step *step)
{
    const struct al_json *sheets = al_json_get(v, "sheets");
    unsigned n = 0;
    put_head(out, shown, v);
    al_json_each(sheet, sheets)
    {
        if (n++ == SHOWN_SHEETS) {
            al_buf_addf(out, "\nand %u more sheets; name one with `sheet`:", sheets->n - SHOWN_SHEETS);
            for (unsigned k = 0; sheet && k < step->names; sheet = sheet->next, k++) {
                al_buf_adds(out, k ? ", " : " ");
                put_text(out, al_json_get_text(sheet, "name"), 64);
            }
            al_buf_addc(out, '\n');
            break;
        }
        put_sheet(out, sheet, step);
    }
    put_notes(out, al_json_get(v, "notes"));
}

static void show_text(struct al_buf *text, const struct al_data_shown *shown, const struct al_json *v)
{
    for (size_t i = 0; i < N_STEPS; i++) {
        autobuf struct al_buf b = AL_BUF_INIT(4u << 20);
        put_all(&b, shown, v, &steps[i]);
        struct al_str s = al_buf_str(&b);
        bool last = i + 1 == N_STEPS;
        if (!last && (al_buf_failed(&b) || al_utf8_count(s) > AL_DATA_TEXT_CHARS))
            continue;
        al_buf_add_str(text, al_utf8_head(s, AL_DATA_TEXT_CHARS));
        return;
    }
}

static void show_structured(struct al_buf *out, const struct al_data_shown *shown, const struct al_json *v)
{
    static const char *const copied[] = {"format", "encoding", "delimiter", "gzip", "sheets", "notes"};
    const struct al_json *sheets = al_json_get(v, "sheets"), *first = sheets ? sheets->child : NULL,
                         *sample = al_json_get(first, "sample");
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "datasetId", shown->id);
    al_jw_kbool(&w, "reused", shown->reused);
    al_jw_kstrz(&w, "name", shown->name);
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) {
        const struct al_json *m = al_json_get(v, copied[i]);
        if (!is_there(m))
            continue;
        al_jw_key(&w, copied[i]);
        al_jw_value(&w, m);
    }
    al_jw_key(&w, "sample");
    if (sample)
        al_jw_value(&w, sample);
    else
        al_jw_raw(&w, AL_STR("[]"));
    al_jw_kbool(&w, "truncated", false);
    al_jw_end(&w);
}

int al_data_show(const struct al_data_shown *shown, struct al_str json, struct al_buf *text,
                 struct al_buf *structured, struct al_err *err)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(AL_DATA_ARENA);
    const struct al_json *v;
    struct al_err why = {0};
    if (al_json_parse(&arena, json, &v, &why) < 0 || v->type != AL_JSON_OBJECT) {
        al_fail(err, AL_RESULT_TOO_LARGE, "the description of %s cannot be read", shown->id);
        return al_hint(err, "ask for one sheet");
    }
    show_text(text, shown, v);
    show_structured(structured, shown, v);
    return 0;
}

static void put_sheets(struct al_buf *out, const struct al_json *v, bool columns)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_arr(&w);
    al_json_each(sheet, al_json_get(v, "sheets"))
    {
        al_jw_obj(&w);
        al_jw_kstr(&w, "name", al_json_get_text(sheet, "name"));
        al_jw_kstr(&w, "table", al_json_get_text(sheet, "table"));
        al_jw_kint(&w, "rows", integer(sheet, "rows"));
        al_jw_key(&w, "columns");
        al_jw_arr(&w);
        if (columns) {
            al_json_each(c, al_json_get(sheet, "columns"))
            {
                al_jw_obj(&w);
                al_jw_kstr(&w, "name", al_json_get_text(c, "name"));
                al_jw_kstr(&w, "type", al_json_get_text(c, "type"));
                al_jw_end(&w);
            }
        }
        al_jw_end(&w);
        al_jw_end(&w);
    }
    al_jw_end(&w);
}

char *al_data_sheets(struct al_str json, char ret_format[16])
{
    autoarena struct al_arena arena = AL_ARENA_INIT(AL_DATA_ARENA);
    const struct al_json *v;
    struct al_err ignored;
    snprintf(ret_format, 16, "unknown");
    if (al_json_parse(&arena, json, &v, &ignored) < 0)
        return al_xstrdup("[]");
    struct al_str format = al_json_get_text(v, "format");
    if (format.n && format.n < 16)
        snprintf(ret_format, 16, "%.*s", AL_FMT(format));
    for (int with_columns = 1; with_columns >= 0; with_columns--) {
        struct al_buf out = AL_BUF_INIT(SHEETS_MAX);
        put_sheets(&out, v, with_columns);
        if (!al_buf_failed(&out))
            return al_buf_take(&out);
        al_buf_free(&out);
    }
    return al_xstrdup("[]");
}
