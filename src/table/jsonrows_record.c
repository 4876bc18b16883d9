#include "table/jsonrows.h"

#include "base/mem.h"
#include "base/text.h"

#include <inttypes.h>

void al_jr_init(struct al_jr *r, struct al_source *src, const struct al_table_opts *opts,
                const struct al_table_sink *sink, struct al_err *err)
{
    memset(r, 0, sizeof *r);
    al_js_init(&r->js, src, sink);
    r->opts = opts;
    r->sink = sink;
    r->err = err;
}

void al_jr_fini(struct al_jr *r)
{
    for (unsigned i = 0; i < r->n_columns; i++)
        free(r->columns[i].key);
    free(r->scratch);
    al_js_fini(&r->js);
}

void al_jr_begin(struct al_jr *r)
{
    r->record++;
    r->scratch_n = 0;
    r->odd = (struct al_jr_odd){0};
}

int al_jr_bad(struct al_jr *r, uint64_t record_line)
{
    return al_js_fail(&r->js, record_line, r->err);
}

static uint32_t hash(struct al_str s)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * 16777619u;
    return h;
}

static bool is_column(const struct al_jr_column *c, struct al_str key)
{
    return c->named && c->n == key.n && memcmp(c->key, key.p, key.n) == 0;
}

/* The index of a named column, or of the free slot of the index when there is none: -1 - slot. */
static int find_column(const struct al_jr *r, struct al_str key)
{
    uint32_t slot = hash(key) % AL_JR_SLOTS;
    while (r->index[slot]) {
        unsigned i = r->index[slot] - 1u;
        if (is_column(&r->columns[i], key))
            return (int)i;
        slot = (slot + 1) % AL_JR_SLOTS;
    }
    return -1 - (int)slot;
}

static void show(struct al_buf *out, struct al_str s)
{
    al_text_visible(out, al_utf8_cut(s, 80), false);
    if (s.n > 80)
        al_buf_adds(out, "…");
}

int al_jr_add_column(struct al_jr *r, struct al_str label, bool named)
{
    autobuf struct al_buf text = AL_BUF_INIT(1024);
    uint64_t line = r->js.line;
    show(&text, label);
    if (label.n > AL_JR_KEY_MAX) {
        al_fail(r->err, AL_INGEST_LIMIT, "line %" PRIu64 ": a name has %zu bytes, %d are allowed: \"%.*s\"",
                line, label.n, AL_JR_KEY_MAX, AL_FMT(al_buf_str(&text)));
        al_hint(r->err,
                "names of a JSON object are columns here; what changes from row to row belongs in values");
        return AL_JR_FAILED;
    }
    if (r->n_columns == AL_TABLE_MAX_COLUMNS) {
        al_fail(r->err, AL_INGEST_LIMIT,
                "line %" PRIu64 ": \"%.*s\" would be column %d, a table has at most %d", line,
                AL_FMT(al_buf_str(&text)), AL_TABLE_MAX_COLUMNS + 1, AL_TABLE_MAX_COLUMNS);
        al_hint(r->err,
                "where names are data (ids, dates), write one row for each of them: [{\"id\": …, …}, …]");
        return AL_JR_FAILED;
    }
    unsigned i = r->n_columns;
    if (named)
        r->index[-1 - find_column(r, label)] = (uint16_t)(i + 1);
    r->columns[i] = (struct al_jr_column){.key = al_xdup(label.p, label.n), .n = label.n, .named = named};
    r->n_columns++;
    if (r->started && r->sink->late_column(r->sink->ud, label, r->err) < 0)
        return AL_JR_FAILED;
    return AL_JS_OK;
}

int al_jr_add_place(struct al_jr *r, struct al_str label)
{
    if (al_jr_add_column(r, label, false) < 0)
        return AL_JR_FAILED;
    r->place[r->n_places++] = (uint16_t)(r->n_columns - 1);
    return AL_JS_OK;
}

/* Room for n more bytes. What a record has decoded never exceeds the window, which does not change meanwhile.
 */
static char *scratch(struct al_jr *r, size_t n)
{
    if (r->scratch_cap < r->js.win.n) {
        free(r->scratch); /* nothing of this record lies in it: it would have had the room */
        r->scratch = al_xmalloc(r->js.win.n);
        r->scratch_cap = r->js.win.n;
    }
    char *p = r->scratch + r->scratch_n;
    r->scratch_n += n;
    return p;
}

static struct al_str decoded(struct al_jr *r, const struct al_js_value *v)
{
    if (!v->escaped)
        return v->raw;
    char *p = scratch(r, v->raw.n);
    return (struct al_str){p, al_js_decode(v->raw, p, &r->odd.lone)};
}

static struct al_str compact(struct al_jr *r, const struct al_js_value *v)
{
    if (!v->spaced)
        return v->raw;
    char *p = scratch(r, v->raw.n);
    return (struct al_str){p, al_js_compact(v->raw, p)};
}

/* Integers beyond 2^53-1, and what no double can hold. */
static bool is_big(struct al_str s)
{
    struct al_json v = {.type = AL_JSON_NUMBER, .raw = s};
    double d;
    int64_t i;
    bool plain = true;
    for (size_t k = 0; k < s.n; k++)
        plain &= s.p[k] != '.' && (s.p[k] | 0x20) != 'e';
    if (!plain)
        return !al_json_double(&v, &d);
    return !al_json_int(&v, -9007199254740991, 9007199254740991, &i);
}

int al_jr_set(struct al_jr *r, unsigned column, const struct al_js_value *v)
{
    struct al_cell *cell = &r->cells[column];
    r->stamp[column] = r->record;
    cell->kind = AL_CELL_STRING;
    cell->text = v->raw;
    switch (v->type) {
    case AL_JSON_NULL:
        cell->kind = AL_CELL_NULL;
        cell->text.n = 0;
        break;
    case AL_JSON_FALSE:
    case AL_JSON_TRUE:
        cell->kind = AL_CELL_TEXT;
        break;
    case AL_JSON_NUMBER:
        cell->kind = AL_CELL_NUMBER;
        if ((v->raw.n > 15 || memchr(v->raw.p, 'e', v->raw.n) || memchr(v->raw.p, 'E', v->raw.n)) &&
            is_big(v->raw)) {
            if (r->odd.numbers++ == 0)
                r->odd.number = v->raw;
        }
        break;
    case AL_JSON_STRING:
        cell->text = decoded(r, v);
        break;
    case AL_JSON_ARRAY:
    case AL_JSON_OBJECT:
        cell->text = compact(r, v);
        break;
    }
    if (cell->text.n <= AL_TABLE_MAX_CELL)
        return AL_JS_OK;
    autobuf struct al_buf text = AL_BUF_INIT(1024);
    show(&text, (struct al_str){r->columns[column].key, r->columns[column].n});
    al_fail(r->err, AL_INGEST_LIMIT,
            "row %" PRIu64 " (line %" PRIu64 "): the value of \"%.*s\" has %zu bytes, a cell holds 1 MiB",
            r->rows + 1, v->line, AL_FMT(al_buf_str(&text)), cell->text.n);
    al_hint(r->err, "leave that value out, or split it over rows");
    return AL_JR_FAILED;
}

/* The column that an earlier value of the same name in this record moves to. */
static int move_earlier(struct al_jr *r, unsigned column, struct al_str key)
{
    unsigned from = column, nth = 2;
    if (r->odd.doubles++ == 0)
        r->odd.double_key = (struct al_str){r->columns[column].key, r->columns[column].n};
    while (r->columns[from].shadow && r->stamp[r->columns[from].shadow] == r->record) {
        from = r->columns[from].shadow;
        nth++;
    }
    if (!r->columns[from].shadow) {
        autobuf struct al_buf label = AL_BUF_INIT(AL_JR_KEY_MAX + 16);
        if (key.n) {
            al_buf_add_str(&label, al_utf8_cut(key, AL_JR_KEY_MAX - 16));
            al_buf_addf(&label, "_%u", nth);
        }
        if (al_jr_add_column(r, al_buf_str(&label), false) < 0)
            return AL_JR_FAILED;
        r->columns[from].shadow = r->n_columns - 1;
    }
    unsigned to = r->columns[from].shadow;
    r->cells[to] = r->cells[column];
    r->stamp[to] = r->record;
    return AL_JS_OK;
}

/* Records mostly have the names of the one before in its order: guess is tried first. */
static int column_for(struct al_jr *r, struct al_str key, unsigned guess, unsigned *ret)
{
    if (guess < r->n_columns && is_column(&r->columns[guess], key)) {
        *ret = guess;
    } else {
        int i = find_column(r, key);
        if (i < 0 && al_jr_add_column(r, key, true) < 0)
            return AL_JR_FAILED;
        *ret = i < 0 ? r->n_columns - 1 : (unsigned)i;
    }
    return r->stamp[*ret] == r->record ? move_earlier(r, *ret, key) : AL_JS_OK;
}

int al_jr_members(struct al_jr *r, unsigned depth)
{
    struct al_js *js = &r->js;
    struct al_js_value key, v;
    unsigned column = 0, guess = 0;
    bool more = true, first = true;
    for (js->p++;; first = false) {
        int s = al_js_member(js, '}', first, &more);
        if (s != AL_JS_OK)
            return s;
        if (!more)
            break;
        if ((s = al_js_key(js, &key)) != AL_JS_OK || (s = al_js_read(js, depth + 1, &v)) != AL_JS_OK)
            return s;
        if (column_for(r, decoded(r, &key), guess, &column) < 0 || al_jr_set(r, column, &v) < 0)
            return AL_JR_FAILED;
        guess = column + 1;
    }
    r->odd.empty = first;
    return AL_JS_OK;
}

static int read_array(struct al_jr *r, unsigned depth, unsigned *ret_n)
{
    struct al_js *js = &r->js;
    struct al_js_value v;
    unsigned n = 0;
    bool more = true;
    for (js->p++;; n++) {
        int s = al_js_member(js, ']', n == 0, &more);
        if (s != AL_JS_OK)
            return s;
        if (!more)
            break;
        if ((s = al_js_read(js, depth + 1, &v)) != AL_JS_OK)
            return s;
        if ((n == r->n_places && al_jr_add_place(r, AL_STR("")) < 0) || al_jr_set(r, r->place[n], &v) < 0)
            return AL_JR_FAILED;
    }
    r->odd.empty = n == 0;
    if (n > 0 && r->place[n - 1] == n - 1) /* else other columns stand between: what is missing is NULL */
        *ret_n = n;
    return AL_JS_OK;
}

static int read_record(struct al_jr *r, unsigned depth, unsigned *ret_n)
{
    char c = *r->js.p;
    enum al_json_type kind = c == '{' ? AL_JSON_OBJECT : c == '[' ? AL_JSON_ARRAY : AL_JSON_STRING;
    al_jr_begin(r);
    r->odd.other_kind = r->kind_known && kind != r->kind;
    *ret_n = AL_TABLE_MAX_COLUMNS;
    int s;
    if (kind == AL_JSON_OBJECT) {
        s = al_jr_members(r, depth);
    } else if (kind == AL_JSON_ARRAY && r->arrays) {
        s = read_array(r, depth, ret_n);
    } else {
        struct al_js_value v;
        unsigned column;
        if ((s = al_js_read(&r->js, depth, &v)) != AL_JS_OK)
            return s;
        if (column_for(r, AL_STR("value"), 0, &column) < 0 || al_jr_set(r, column, &v) < 0)
            return AL_JR_FAILED;
    }
    if (s == AL_JS_OK && !r->kind_known) {
        r->kind = kind;
        r->kind_known = true;
    }
    return s;
}

static int start(struct al_jr *r)
{
    struct al_str labels[AL_TABLE_MAX_COLUMNS];
    struct al_cell none[AL_TABLE_MAX_COLUMNS];
    for (unsigned i = 0; i < r->n_columns; i++) {
        labels[i] = (struct al_str){r->columns[i].key, r->columns[i].n};
        none[i] = (struct al_cell){.text = AL_STR(""), .kind = AL_CELL_NULL};
    }
    if (r->sink->columns(r->sink->ud, labels, r->n_columns, r->err) < 0)
        return -1;
    r->started = true;
    for (; r->pending; r->pending--) {
        if (r->sink->row(r->sink->ud, none, r->n_columns, r->pending_line, r->err) < 0)
            return -1;
    }
    return 0;
}

static void note_odd(struct al_jr *r, uint64_t line)
{
    const struct al_jr_odd *o = &r->odd;
    const struct al_table_sink *s = r->sink;
    autobuf struct al_buf text = AL_BUF_INIT(1024);
    if (o->doubles) {
        show(&text, o->double_key);
        for (unsigned i = 0; i < o->doubles; i++) {
            s->note(s->ud, AL_NOTE_DUPLICATE_KEYS, line,
                    "the name \"%.*s\" stands more than once in a record: the last value is in that column, "
                    "earlier ones are in "
                    "columns of their own (…_2)",
                    AL_FMT(al_buf_str(&text)));
        }
    }
    al_buf_clear(&text);
    show(&text, o->number);
    for (unsigned i = 0; i < o->numbers; i++) {
        s->note(s->ud, AL_NOTE_BIG_NUMBERS, line,
                "%.*s is beyond what a number here holds exactly: kept as text", AL_FMT(al_buf_str(&text)));
    }
    if (o->lone)
        s->note(s->ud, AL_NOTE_INVALID_BYTES, line,
                "an escape \\ud800 to \\udfff without its other half became U+FFFD");
    if (o->empty)
        s->note(s->ud, AL_NOTE_EMPTY_RECORDS, line, "an empty record is a row of NULLs");
    if (o->other_kind) {
        s->note(s->ud, AL_NOTE_NOT_OBJECTS, line,
                "records are of more than one kind; what is no %s stands in columns of its own",
                r->kind == AL_JSON_OBJECT  ? "object"
                : r->kind == AL_JSON_ARRAY ? "array"
                                           : "plain value");
    }
}

int al_jr_emit(struct al_jr *r, unsigned n, uint64_t line)
{
    if (n > r->n_columns)
        n = r->n_columns;
    for (unsigned i = 0; i < n; i++) {
        if (r->stamp[i] != r->record)
            r->cells[i] = (struct al_cell){.text = AL_STR(""), .kind = AL_CELL_NULL};
    }
    note_odd(r, line);
    r->rows++;
    if (!r->started && r->n_columns == 0) {
        if (r->pending++ == 0)
            r->pending_line = line;
        return 0;
    }
    if (!r->started && start(r) < 0)
        return -1;
    return r->sink->row(r->sink->ud, r->cells, n, line, r->err);
}

int al_jr_record(struct al_jr *r, unsigned depth)
{
    uint64_t line = r->js.line;
    unsigned n = 0, before = r->n_places;
    int s;
    r->from = al_js_here(&r->js);
    while ((s = read_record(r, depth, &n)) == AL_JS_MORE) {
        if (al_js_refill(&r->js, &r->from, AL_JR_RECORD_MAX, "one record", r->err) < 0)
            return -1;
    }
    if (s == AL_JS_BAD)
        return al_jr_bad(r, line);
    if (s == AL_JR_FAILED)
        return -1;
    if (r->started && r->n_places > before) {
        r->sink->note(r->sink->ud, AL_NOTE_LONG_ROWS, line,
                      "a row has %u values, the rows before had at most %u: columns were added", r->n_places,
                      before);
    }
    return al_jr_emit(r, n, line);
}

int al_jr_finish(struct al_jr *r)
{
    if (r->started)
        return 0;
    if (r->n_columns == 0) {
        if (al_jr_add_column(r, AL_STR("value"), true) < 0)
            return -1;
        if (r->rows == 0)
            r->sink->note(r->sink->ud, AL_NOTE_OTHER, 0, "the file holds no record: a table without rows");
    }
    return start(r);
}
