/* data inspect, data list, data rm. */
#include "cli/data.h"

#include "cli/commands.h"
#include "cli/run_text.h"
#include "cli/table.h"
#include "tools/data.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_ARGS (64u << 10)
#define ARENA (512u << 20)
#define CELL_CHARS 200
#define MIN_CELL 10 /* columns of a terminal that a cell takes, with its gap */

int al_data_ready(struct al_app *app, struct al_err *err)
{
    if (al_app_core(app, "cli", err) < 0)
        return -1;
    if (al_config_bool(app->config, AL_OPT_ANALYSIS_ENABLED))
        return 0;
    al_fail(err, AL_TOOL_NOT_FOUND, "the data tools are off");
    return al_hint(err, "analysis.enabled in your config.json switches them on");
}

/* --- the call --- */

static bool forces(const struct al_args *args)
{
    return al_args_has(args, AL_FLAG_DELIMITER) || al_args_has(args, AL_FLAG_HEADER) ||
           al_args_has(args, AL_FLAG_ENCODING) || al_args_has(args, AL_FLAG_SKIP_ROWS) ||
           al_args_has(args, AL_FLAG_DECIMAL);
}

bool al_data_reads(const struct al_args *args)
{
    return forces(args) || al_args_has(args, AL_FLAG_SHEET);
}

static int put_options(const struct al_app *app, struct al_jw *w, struct al_err *err)
{
    static const struct {
        enum al_flag_id flag;
        const char *key;
    } texts[] = {
        {AL_FLAG_DELIMITER, "delimiter"}, {AL_FLAG_ENCODING, "encoding"}, {AL_FLAG_DECIMAL, "decimal"}};
    const struct al_args *args = &app->args;
    const char *header = args->value[AL_FLAG_HEADER], *decimal = args->value[AL_FLAG_DECIMAL];
    if (!forces(args))
        return 0;
    if (header && strcmp(header, "yes") != 0 && strcmp(header, "no") != 0)
        return al_fail(err, AL_INVALID_INPUT, "--header is yes or no, not %.40s", header);
    if (decimal && strcmp(decimal, ".") != 0 && strcmp(decimal, ",") != 0)
        return al_fail(err, AL_INVALID_INPUT, "--decimal is . or , and not %.40s", decimal);
    al_jw_key(w, "options");
    al_jw_obj(w);
    for (size_t i = 0; i < 3; i++) {
        if (al_args_has(args, texts[i].flag))
            al_jw_kstrz(w, texts[i].key, args->value[texts[i].flag]);
    }
    if (header)
        al_jw_kbool(w, "header", strcmp(header, "yes") == 0);
    if (al_args_has(args, AL_FLAG_SKIP_ROWS))
        al_jw_kint(w, "skipRows", args->number[AL_FLAG_SKIP_ROWS]);
    al_jw_end(w);
    return 0;
}

int al_data_inspect_word(struct al_app *app, const char *word, int sample_rows, struct al_reply *reply)
{
    autobuf struct al_buf args = AL_BUF_INIT(MAX_ARGS);
    struct al_jw w;
    if (al_data_ready(app, &reply->err) < 0 || al_app_workspace(app, &reply->err) < 0)
        return -1;
    if (!*word)
        return al_fail(&reply->err, AL_INVALID_INPUT, "the name of the file is empty");
    if (strcmp(word, "-") == 0) {
        al_fail(&reply->err, AL_INVALID_INPUT, "a file is read, not standard input");
        return al_hint(&reply->err, "save it first: `… > data.csv`, then name that");
    }
    al_jw_init(&w, &args);
    al_jw_obj(&w);
    if (al_id_valid(al_str_of(word), "ds"))
        al_jw_kstrz(&w, "datasetId", word);
    else
        al_app_put_path(app, &w, "path", word);
    if (al_args_has(&app->args, AL_FLAG_SHEET))
        al_jw_kstrz(&w, "sheet", app->args.value[AL_FLAG_SHEET]);
    al_jw_kint(&w, "sampleRows", sample_rows);
    if (put_options(app, &w, &reply->err) < 0)
        return -1;
    al_jw_end(&w);
    return al_app_call(app, AL_STR("data_inspect"), al_buf_str(&args), reply);
}

/* --- for a person --- */

static void say(const struct al_app *app, struct al_buf *out, struct al_str s, size_t chars)
{
    struct al_str head = al_utf8_head(s, chars);
    al_say_foreign(app, out, head, false);
    if (head.n < s.n)
        al_buf_adds(out, "…");
}

static void say_scalar(const struct al_app *app, struct al_buf *out, const struct al_json *v)
{
    if (al_json_is_string(v))
        say(app, out, v->str, CELL_CHARS);
    else if (v && v->type != AL_JSON_NULL)
        say(app, out, v->raw, CELL_CHARS);
}

static struct al_str head_of(const struct al_json *head)
{
    return al_json_is_string(head) ? head->str : al_json_get_text(head, "name");
}

/* Bit i: column i holds numbers, and nothing else but NULL. */
static uint64_t number_columns(const struct al_json *rows, unsigned n)
{
    uint64_t numbers = 0, others = 0;
    al_json_each(row, rows)
    {
        unsigned c = 0;
        al_json_each(cell, row)
        {
            if (c == n)
                break;
            if (cell->type == AL_JSON_NUMBER)
                numbers |= UINT64_C(1) << c;
            else if (cell->type != AL_JSON_NULL)
                others |= UINT64_C(1) << c;
            c++;
        }
    }
    return numbers & ~others;
}

static void add_cell(struct al_table *t, const struct al_json *cell)
{
    if (cell->type == AL_JSON_NULL) {
        al_table_add_style(t, "NULL", AL_DIM);
        return;
    }
    autobuf struct al_buf b = AL_BUF_INIT(8192);
    struct al_str s = al_json_is_string(cell) ? cell->str : cell->raw, head = al_utf8_head(s, CELL_CHARS);
    for (size_t i = 0; i < head.n; i++)
        al_buf_addc(&b, head.p[i] ? head.p[i] : ' '); /* a cell of the table ends at a NUL */
    if (head.n < s.n)
        al_buf_adds(&b, "…");
    al_table_add_str(t, al_buf_str(&b));
}

void al_data_table(const struct al_app *app, const struct al_json *heads, const struct al_json *rows,
                   struct al_buf *out)
{
    const char *names[AL_TABLE_COLUMNS + 1] = {NULL};
    autoarena struct al_arena arena = AL_ARENA_INIT(1u << 20);
    unsigned n = 0, most = AL_TABLE_COLUMNS;
    if (app->width && app->width / MIN_CELL < most)
        most = app->width / MIN_CELL ? app->width / MIN_CELL : 1;
    al_json_each(head, heads)
    {
        if (n == most)
            break;
        autobuf struct al_buf b = AL_BUF_INIT(1024);
        al_text_visible(&b, al_utf8_cut(head_of(head), 60), false);
        names[n++] = al_arena_dup(&arena, al_utf8_cut(al_buf_str(&b), 60));
    }
    autotable struct al_table t;
    al_table_init(&t, names);
    t.right = number_columns(rows, n);
    al_json_each(row, rows)
    {
        unsigned c = 0;
        for (const struct al_json *cell = row->child; c < n; c++, cell = cell ? cell->next : NULL) {
            if (cell)
                add_cell(&t, cell);
            else
                al_table_add(&t, NULL);
        }
    }
    if (t.n_cells == 0 && n > 0) { /* its heads at least */
        for (unsigned c = 0; c < n; c++)
            al_buf_addf(out, "%s%s", c ? "  " : "", names[c]);
        al_buf_addc(out, '\n');
    }
    al_table_print(app, &t, out);
    if (heads && heads->n > n)
        al_buf_addf(out, "(and %u more column%s)\n", heads->n - n, heads->n - n == 1 ? "" : "s");
}

static void add_range(const struct al_app *app, struct al_table *t, const struct al_json *c)
{
    const struct al_json *min = al_json_get(c, "min"), *max = al_json_get(c, "max");
    struct al_str type = al_json_get_text(c, "type");
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    if (!al_str_is(type, "text") && !al_str_is(type, "boolean") && min && min->type != AL_JSON_NULL) {
        say_scalar(app, &b, min);
        al_buf_adds(&b, " … ");
        say_scalar(app, &b, max);
    }
    al_table_add_str(t, al_buf_str(&b));
}

static void add_top(const struct al_app *app, struct al_table *t, const struct al_json *c)
{
    const struct al_json *tops = al_json_get(c, "top");
    struct al_str type = al_json_get_text(c, "type");
    autobuf struct al_buf b = AL_BUF_INIT(8192);
    unsigned n = 0;
    int64_t count = 0;
    /* Values that are there once each are examples; a range says more than those of numbers and dates. */
    bool once = tops && al_json_int(al_json_get(tops->child, "count"), 1, 1, &count);
    if (once && !al_str_is(type, "text") && !al_str_is(type, "boolean"))
        tops = NULL;
    al_json_each(top, tops)
    {
        const struct al_json *v = al_json_get(top, "value");
        if (n == 3)
            break;
        al_buf_adds(&b, n++ ? ", " : "");
        say(app, &b, al_json_is_string(v) ? v->str : v ? v->raw : AL_STR(""), 40);
        if (!once && al_json_int(al_json_get(top, "count"), 0, INT64_MAX, &count))
            al_buf_addf(&b, " ×%lld", (long long)count);
    }
    al_table_add_str(t, al_buf_str(&b));
}

static void add_name(const struct al_app *app, struct al_table *t, const struct al_json *c)
{
    struct al_str name = al_json_get_text(c, "name"), label = al_json_get_text(c, "label");
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    say(app, &b, name, 64);
    if (label.n && !al_str_eq(name, label)) {
        al_buf_adds(&b, " (");
        say(app, &b, label, 40);
        al_buf_addc(&b, ')');
    }
    al_table_add_str(t, al_buf_str(&b));
}

static void add_type(const struct al_app *app, struct al_table *t, const struct al_json *c)
{
    struct al_str parsed = al_json_get_text(c, "parsedAs");
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    say(app, &b, al_json_get_text(c, "type"), 20);
    if (parsed.n) {
        al_buf_adds(&b, ", reads as ");
        say(app, &b, parsed, 40);
    }
    al_table_add_str(t, al_buf_str(&b));
}

static void say_sheet(struct al_app *app, const struct al_json *sheet, bool several, struct al_buf *out)
{
    static const char *const heads[] = {"COLUMN", "TYPE", "NULLS", "DISTINCT", "RANGE", "VALUES", NULL};
    const struct al_json *columns = al_json_get(sheet, "columns"), *sample = al_json_get(sheet, "sample");
    int64_t n = 0;
    autotable struct al_table t;
    al_table_init(&t, heads);
    t.right = 1u << 2 | 1u << 3;
    bool converts = false;
    al_json_each(c, columns)
    {
        int64_t distinct = 0, nulls = 0;
        al_json_int(al_json_get(c, "distinct"), 0, INT64_MAX, &distinct);
        al_json_int(al_json_get(c, "nulls"), 0, INT64_MAX, &nulls);
        add_name(app, &t, c);
        add_type(app, &t, c);
        al_table_addf(&t, "%lld", (long long)nulls);
        al_table_addf(&t, "%s%lld", al_json_is_true(al_json_get(c, "distinctExact")) ? "" : "~",
                      (long long)distinct);
        add_range(app, &t, c);
        add_top(app, &t, c);
        converts |= al_json_get_text(c, "parsedAs").n > 0;
    }
    al_json_int(al_json_get(sheet, "rows"), 0, INT64_MAX, &n);
    al_buf_addf(out, "\n%stable ", al_style_on(app->color, AL_BOLD));
    say(app, out, al_json_get_text(sheet, "table"), 80);
    if (several) {
        al_buf_adds(out, ", sheet ");
        say(app, out, al_json_get_text(sheet, "name"), 80);
    }
    al_buf_addf(out, "%s: ", al_style_off(app->color, AL_BOLD));
    al_data_count(out, (uint64_t)n, "row", "rows");
    al_buf_adds(out, ", ");
    al_data_count(out, columns ? columns->n : 0, "column", "columns");
    al_buf_addc(out, '\n');
    if (converts) {
        al_buf_adds(out, "view ");
        say(app, out, al_json_get_text(sheet, "valuesView"), 80);
        al_buf_adds(out, ": the same, with what reads as numbers and dates converted\n");
    }
    al_table_print(app, &t, out);
    if (sample && sample->n) {
        al_buf_addc(out, '\n');
        al_data_table(app, columns, sample, out);
    }
}

static void say_notes(const struct al_app *app, const struct al_json *notes, struct al_buf *out)
{
    if (!notes || notes->n == 0)
        return;
    al_buf_adds(out, "\nnotes\n");
    al_json_each(note, notes)
    {
        const struct al_json *lines = al_json_get(note, "lines");
        const char *before = lines && lines->n > 1 ? " (lines " : " (line ";
        int64_t count = 0;
        al_json_int(al_json_get(note, "count"), 0, INT64_MAX, &count);
        al_buf_adds(out, "- ");
        say(app, out, al_json_get_text(note, "message"), 400);
        if (count > 1)
            al_buf_addf(out, " ×%lld", (long long)count);
        al_json_each(l, lines)
        {
            al_buf_adds(out, before);
            say_scalar(app, out, l);
            before = ", ";
        }
        al_buf_adds(out, before[1] == '(' ? "\n" : ")\n");
    }
}

static int say_inspected(struct al_app *app, struct al_reply *reply)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(ARENA);
    struct al_buf *out = &reply->text;
    const struct al_json *v;
    if (al_json_parse(&arena, al_buf_str(&reply->structured), &v, &reply->err) < 0)
        return -1;
    const struct al_json *sheets = al_json_get(v, "sheets");
    struct al_str delimiter = al_json_get_text(v, "delimiter"), encoding = al_json_get_text(v, "encoding");
    say(app, out, al_json_get_text(v, "name"), 200);
    al_buf_adds(out, ": ");
    say(app, out, al_json_get_text(v, "format"), 20);
    if (encoding.n) {
        al_buf_adds(out, ", ");
        say(app, out, encoding, 40);
    }
    if (delimiter.n) {
        al_buf_adds(out, ", delimiter ");
        say(app, out, al_str_is(delimiter, "\t") ? AL_STR("tab") : delimiter, 4);
    }
    al_buf_addf(out, "\n%s", al_style_on(app->color, AL_DIM));
    say(app, out, al_json_get_text(v, "datasetId"), 60);
    al_buf_addf(out, "%s\n", al_style_off(app->color, AL_DIM));
    al_json_each(sheet, sheets) say_sheet(app, sheet, sheets->n > 1, out);
    say_notes(app, al_json_get(v, "notes"), out);
    return 0;
}

int al_cmd_data_inspect(struct al_app *app, struct al_reply *reply)
{
    const struct al_args *args = &app->args;
    int rows = al_args_has(args, AL_FLAG_ROWS) ? (int)args->number[AL_FLAG_ROWS] : 5;
    snprintf(reply->tool, sizeof reply->tool, "data_inspect");
    if (al_data_inspect_word(app, args->pos[0], rows, reply) < 0)
        return -1;
    return app->json ? 0 : say_inspected(app, reply);
}

/* --- list and rm --- */

struct listing {
    struct al_table table;
    struct al_jw w;
    int64_t bytes;
};

static bool list_one(void *ud, const struct al_dataset_row *d)
{
    struct listing *l = ud;
    autobuf struct al_buf size = AL_BUF_INIT(64), used = AL_BUF_INIT(64);
    al_text_bytes(&size, (uint64_t)d->bytes);
    al_say_time(&used, d->used_ms);
    al_table_add(&l->table, d->id);
    al_table_add(&l->table, d->name);
    al_table_add(&l->table, d->format);
    al_table_addf(&l->table, "%lld", (long long)d->n_rows);
    al_table_add_str(&l->table, al_buf_str(&size));
    al_table_add_str(&l->table, al_buf_str(&used));
    al_jw_obj(&l->w);
    al_jw_kstrz(&l->w, "datasetId", d->id);
    al_jw_kstrz(&l->w, "sessionId", d->session);
    al_jw_kstrz(&l->w, "name", d->name);
    al_jw_kstrz(&l->w, "format", d->format);
    al_jw_kstrz(&l->w, "sourcePath", d->source_path);
    al_jw_kstrz(&l->w, "sha256", d->sha256);
    al_jw_kint(&l->w, "rows", d->n_rows);
    al_jw_kint(&l->w, "bytes", d->bytes);
    al_jw_kint(&l->w, "sourceBytes", d->source_bytes);
    al_jw_ktime(&l->w, "createdAt", d->created_ms);
    al_jw_ktime(&l->w, "usedAt", d->used_ms);
    al_jw_end(&l->w);
    l->bytes += d->bytes;
    return true;
}

int al_cmd_data_list(struct al_app *app, struct al_reply *reply)
{
    static const char *const heads[] = {"ID", "NAME", "FORMAT", "ROWS", "SIZE", "LAST USED", NULL};
    struct listing l = {0};
    if (al_app_workspace(app, &reply->err) < 0 || al_app_store(app, &reply->err) < 0)
        return -1;
    struct al_dataset_filter filter = {.workspace = app->workspace};
    al_table_init(&l.table, heads);
    l.table.fixed = 1;
    l.table.right = 1u << 3 | 1u << 4;
    al_jw_init(&l.w, &reply->structured);
    al_jw_obj(&l.w);
    al_jw_key(&l.w, "datasets");
    al_jw_arr(&l.w);
    int r = al_store_dataset_each(app->store, &filter, list_one, &l, &reply->err);
    al_jw_end(&l.w);
    al_jw_kint(&l.w, "bytes", l.bytes);
    al_jw_end(&l.w);
    if (l.table.n_cells == 0)
        al_buf_adds(&reply->text,
                    "this workspace has no dataset yet; `alisio data inspect FILE` makes one\n");
    al_table_print(app, &l.table, &reply->text);
    al_table_free(&l.table);
    return r;
}

int al_cmd_data_rm(struct al_app *app, struct al_reply *reply)
{
    struct al_jw w;
    if (al_app_workspace(app, &reply->err) < 0 || al_app_store(app, &reply->err) < 0)
        return -1;
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_key(&w, "deleted");
    al_jw_arr(&w);
    int r = 0;
    for (size_t i = 0; r == 0 && i < app->args.n_pos; i++) {
        const char *id = app->args.pos[i];
        struct al_dataset_row d = {0};
        if (!al_id_valid(al_str_of(id), "ds")) {
            al_fail(&reply->err, AL_INVALID_INPUT, "%.80s is not the id of a dataset", id);
            r = al_hint(&reply->err, "`alisio data list` shows the ids");
            break;
        }
        r = al_store_dataset_get(app->store, id, app->workspace, &d, &reply->err);
        if (r == 0)
            r = al_store_dataset_delete(app->store, id, &reply->err);
        if (r == 0) {
            al_buf_addf(&reply->text, "deleted %s\n", id);
            al_jw_strz(&w, id);
        }
        al_dataset_row_fini(&d);
    }
    al_jw_end(&w);
    al_jw_end(&w);
    return r;
}
