/* The rows of a worksheet (18.3), one after the other, cells as text. */
#include "table/xlsx_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>

struct al_xlsx_reader {
    struct al_xlsx *w;
    const struct al_xlsx_sheet *sheet;
    struct al_xml *x;
    bool quiet, in_data, ended, has_dimension;
    unsigned dim_first, dim_last;
    uint64_t row;       /* the number of the row that is read */
    uint32_t epoch;     /* counts rows: which slots are this row's */
    unsigned column;    /* of the cell before, from 1; 0 none */
    uint64_t text_from; /* where this row's texts begin in the batch's */
    uint64_t merged;
    char merged_first[32];
    uint32_t *slot_epoch, *slot; /* per column: where its cell is in the batch */
    struct al_buf tmp;
};

/* One cell while it is read. */
struct cell {
    unsigned column; /* from 1 */
    char type[12];
    uint32_t style;
    bool formula; /* <f> was there */
};

void al_xlsx_batch_clear(struct al_xlsx_batch *b)
{
    b->n_rows = b->n_cells = 0;
    al_buf_clear(&b->text);
}

void al_xlsx_batch_free(struct al_xlsx_batch *b)
{
    free(b->rows);
    free(b->cells);
    al_buf_free(&b->text);
    *b = (struct al_xlsx_batch){0};
}

static void note(struct al_xlsx_reader *r, enum al_note kind, const char *text)
{
    if (!r->quiet)
        r->w->sink->note(r->w->sink->ud, kind, r->row, "sheet \"%.100s\": %s", r->sheet->name, text);
}

/* "AB12": the column from 1 and the row; 0 for what is not there. False: no reference. */
static bool reference(struct al_str s, unsigned *ret_column, uint64_t *ret_row)
{
    unsigned column = 0;
    uint64_t row = 0;
    size_t i = 0;
    for (; i < s.n; i++) {
        char c = (char)(s.p[i] & ~0x20);
        if (s.p[i] == '$')
            continue;
        if (c < 'A' || c > 'Z')
            break;
        column = column * 26 + (unsigned)(c - 'A' + 1);
        if (column > AL_XLSX_COLUMNS)
            return false;
    }
    for (; i < s.n; i++) {
        if (s.p[i] == '$')
            continue;
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        row = row * 10 + (uint64_t)(s.p[i] - '0');
        if (row > AL_XLSX_ROWS)
            return false;
    }
    *ret_column = column;
    *ret_row = row;
    return true;
}

static int bad_cell(struct al_xlsx_reader *r, const struct cell *c, const char *what, struct al_err *err)
{
    char letters[8];
    size_t n = sizeof letters;
    letters[--n] = 0;
    for (unsigned k = c->column; k && n; k = (k - 1) / 26)
        letters[--n] = (char)('A' + (k - 1) % 26);
    return al_fail(err, AL_INGEST_INVALID, "%s, cell %s%llu of sheet \"%.100s\": %s", r->x->part, letters + n,
                   (unsigned long long)r->row, r->sheet->name, what);
}

/* ---- a cell's place ---- */

/* The cell of a column in this row; a second one takes the first one's place. NULL: the row is too large. */
static struct al_xlsx_cell *place(struct al_xlsx_reader *r, struct al_xlsx_batch *b, unsigned column)
{
    unsigned at = column - 1;
    if (r->slot_epoch[at] == r->epoch) {
        note(r, AL_NOTE_OTHER, "a cell is there twice; the later one counts");
        return &b->cells[r->slot[at]];
    }
    if (b->n_cells == b->cap_cells) {
        b->cap_cells = b->cap_cells ? b->cap_cells * 2 : 256;
        b->cells = al_xrealloc(b->cells, b->cap_cells * sizeof *b->cells);
    }
    r->slot_epoch[at] = r->epoch;
    r->slot[at] = (uint32_t)b->n_cells;
    struct al_xlsx_cell *c = &b->cells[b->n_cells++];
    c->column = (uint16_t)at;
    return c;
}

static int row_limit(struct al_xlsx_reader *r, struct al_err *err)
{
    return al_fail(err, AL_INGEST_LIMIT, "sheet \"%.100s\", row %llu: its texts have more than %zu MiB",
                   r->sheet->name, (unsigned long long)r->row, AL_XLSX_MAX_ROW >> 20);
}

/* Puts a text that is not shared. */
static int put_text(struct al_xlsx_reader *r, struct al_xlsx_batch *b, const struct cell *c, struct al_str s,
                    enum al_cell_kind kind, struct al_err *err)
{
    if (!s.n)
        return 0;
    if (s.n > AL_TABLE_MAX_CELL)
        return al_fail(err, AL_INGEST_LIMIT, "sheet \"%.100s\", row %llu: a cell of more than 1 MiB",
                       r->sheet->name, (unsigned long long)r->row);
    if (s.n > AL_XLSX_MAX_ROW - (b->text.n - r->text_from))
        return row_limit(r, err);
    struct al_xlsx_cell *at = place(r, b, c->column);
    at->shared = NULL;
    at->off = (uint32_t)b->text.n;
    at->n = (uint32_t)s.n;
    at->kind = (unsigned char)kind;
    al_buf_add_str(&b->text, s);
    return al_buf_failed(&b->text) ? row_limit(r, err) : 0;
}

/* ---- a cell's value ---- */

static int put_shared(struct al_xlsx_reader *r, struct al_xlsx_batch *b, const struct cell *c,
                      struct al_str s, struct al_err *err)
{
    const struct al_xlsx_strings *t = &r->w->strings;
    uint64_t i = 0;
    size_t k = 0;
    for (; k < s.n && k < 10 && s.p[k] >= '0' && s.p[k] <= '9'; k++)
        i = i * 10 + (uint64_t)(s.p[k] - '0');
    if (k == 0 || k < s.n)
        return bad_cell(r, c, "the index of its shared text is no number", err);
    if (i >= t->n)
        return bad_cell(
            r, c, t->n ? "the workbook has no such shared text" : "the workbook has no shared texts", err);
    uint32_t n = t->start[i + 1] - t->start[i];
    if (!n)
        return 0;
    struct al_xlsx_cell *at = place(r, b, c->column);
    at->shared = t->bytes + t->start[i];
    at->n = n;
    at->kind = AL_CELL_TEXT;
    return 0;
}

/* Digits as they should be printed: no sign but -, no leading zero, no exponent, no trailing zero, at
 * most 15. */
static bool canonical(struct al_str s, bool *ret_point)
{
    const char *p = s.p, *end = s.p + s.n;
    size_t digits = 0, behind = 0;
    if (p < end && *p == '-')
        p++;
    if (p == end || (*p == '0' && end - p > 1 && p[1] != '.'))
        return false;
    if (*p == '0' && end - p == 1)
        return p == s.p; /* -0 */
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        digits++;
    if (!digits)
        return false;
    *ret_point = p < end;
    if (p < end) {
        if (*p++ != '.')
            return false;
        for (; p < end && *p >= '0' && *p <= '9'; p++)
            behind++;
        if (!behind || p[-1] == '0')
            return false;
    }
    return p == end && digits + behind <= 15;
}

static int put_number(struct al_xlsx_reader *r, struct al_xlsx_batch *b, const struct cell *c,
                      struct al_str s, struct al_err *err)
{
    struct al_xlsx_style style = {AL_XLSX_NUMBER, -1};
    if (c->style < r->w->n_styles)
        style = r->w->styles[c->style];
    else if (c->style && r->w->n_styles)
        note(r, AL_NOTE_OTHER, "a cell names a format that is not there; its number is shown plainly");
    bool point = false;
    if (style.kind == AL_XLSX_NUMBER && style.decimals < 0 && canonical(s, &point))
        return put_text(r, b, c, s, AL_CELL_TEXT, err);
    double d = 0;
    if (!al_xlsx_number(s, &d))
        return put_text(r, b, c, s, AL_CELL_TEXT, err);
    char text[48];
    size_t n = 0;
    enum al_cell_kind kind = AL_CELL_TEXT;
    bool dated = style.kind != AL_XLSX_NUMBER;
    if (!dated || !al_xlsx_date(d, (enum al_xlsx_kind)style.kind, r->w->date1904, text, &n)) {
        if (dated)
            note(r, AL_NOTE_DATE_RANGE,
                 "a number that is no date in a cell formatted as one; kept as a number");
        kind = al_xlsx_print(d, style.decimals, text, &n);
    }
    return put_text(r, b, c, (struct al_str){text, n}, kind, err);
}

static int put_string(struct al_xlsx_reader *r, struct al_xlsx_batch *b, const struct cell *c,
                      struct al_buf *t, struct al_err *err)
{
    if (!t->n)
        return 0;
    struct al_str s = al_buf_str(t);
    if (al_utf8_valid(s))
        return put_text(r, b, c, s, AL_CELL_TEXT, err);
    autobuf struct al_buf clean = AL_BUF_INIT(AL_TABLE_MAX_CELL * 4);
    al_utf8_clean(&clean, s);
    note(r, AL_NOTE_INVALID_BYTES, "bytes that are no UTF-8; each became U+FFFD");
    return put_text(r, b, c, al_buf_str(&clean), AL_CELL_TEXT, err);
}

/* What <v> says, by the cell's type (18.18.11 ST_CellType). */
static int put_value(struct al_xlsx_reader *r, struct al_xlsx_batch *b, const struct cell *c,
                     struct al_buf *t, struct al_err *err)
{
    struct al_str s = al_buf_str(t), bare = al_str_trim(s);
    const char *type = c->type;
    if (!type[0] || strcmp(type, "n") == 0) {
        if (!bare.n)
            return 0;
        double d;
        return al_xlsx_number(bare, &d) ? put_number(r, b, c, bare, err) : put_string(r, b, c, t, err);
    }
    if (strcmp(type, "s") == 0)
        return bare.n ? put_shared(r, b, c, bare, err) : 0;
    if (strcmp(type, "b") == 0) {
        if (!bare.n)
            return 0;
        bool yes = al_str_is(bare, "1") || al_str_is(bare, "true") || al_str_is(bare, "TRUE");
        return put_text(r, b, c, yes ? AL_STR("TRUE") : AL_STR("FALSE"), AL_CELL_TEXT, err);
    }
    if (strcmp(type, "e") == 0 && bare.n)
        note(r, AL_NOTE_ERROR_CELLS, "error values are kept as text");
    if (t->n)
        t->n = al_xlsx_unescape(t->p, t->n);
    return put_string(r, b, c, t, err);
}

/* ---- a cell's elements ---- */

/* <is>: runs without what says how to pronounce them, as in a shared text. */
static int inline_string(struct al_xlsx_reader *r, struct al_err *err)
{
    struct al_xml *x = r->x;
    unsigned depth = x->depth;
    for (;;) {
        if (al_xml_next(x, err) < 0)
            return -1;
        if (x->kind == AL_XML_CLOSE && x->depth < depth)
            return 0;
        if (x->kind != AL_XML_OPEN)
            continue;
        if (al_str_is(x->name, "rPh")) {
            if (al_xml_skip(x, err) < 0)
                return -1;
        } else if (al_str_is(x->name, "t")) {
            size_t from = r->tmp.n;
            if (al_xml_content(x, &r->tmp, err) < 0)
                return -1;
            if (r->tmp.n > from)
                r->tmp.n = from + al_xlsx_unescape(r->tmp.p + from, r->tmp.n - from);
        }
    }
}

static int cell_attributes(struct al_xlsx_reader *r, struct cell *c, struct al_err *err)
{
    struct al_str ref = al_xml_attr(r->x, "r"), type = al_xml_attr(r->x, "t"), style = al_xml_attr(r->x, "s");
    uint64_t row = 0;
    int64_t s = 0;
    *c = (struct cell){.column = r->column + 1};
    if (ref.p) {
        unsigned column = 0;
        if (!reference(ref, &column, &row) || !column)
            return al_fail(
                err, AL_INGEST_INVALID,
                "%s, row %llu of sheet \"%.100s\": the reference of the cell after column %u is none",
                r->x->part, (unsigned long long)r->row, r->sheet->name, r->column);
        c->column = column;
    }
    if (c->column > AL_XLSX_COLUMNS)
        return al_fail(err, AL_INGEST_INVALID, "%s, row %llu of sheet \"%.100s\": more than %d cells",
                       r->x->part, (unsigned long long)r->row, r->sheet->name, AL_XLSX_COLUMNS);
    if (type.n && type.n < sizeof c->type)
        memcpy(c->type, type.p, type.n);
    if (style.p && al_parse_int(style, 0, UINT32_MAX, &s))
        c->style = (uint32_t)s;
    r->column = c->column;
    return 0;
}

static int end_cell(struct al_xlsx_reader *r, struct al_xlsx_batch *b, const struct cell *c,
                    struct al_err *err)
{
    if (al_buf_failed(&r->tmp))
        return al_fail(err, AL_INGEST_LIMIT, "sheet \"%.100s\", row %llu: a cell of more than 1 MiB",
                       r->sheet->name, (unsigned long long)r->row);
    if (strcmp(c->type, "inlineStr") == 0)
        return put_string(r, b, c, &r->tmp, err);
    if (c->formula && !r->tmp.n && strcmp(c->type, "str") != 0)
        note(r, AL_NOTE_NO_CACHED_VALUE, "formulas that were never computed are empty");
    return put_value(r, b, c, &r->tmp, err);
}

/* After <c>. */
static int read_cell(struct al_xlsx_reader *r, struct al_xlsx_batch *b, struct al_err *err)
{
    struct al_xml *x = r->x;
    struct cell c;
    if (cell_attributes(r, &c, err) < 0)
        return -1;
    unsigned depth = x->depth;
    bool inlined = false;
    al_buf_clear(&r->tmp);
    for (;;) {
        if (al_xml_next(x, err) < 0)
            return -1;
        if (x->kind == AL_XML_CLOSE && x->depth < depth)
            return end_cell(r, b, &c, err);
        if (x->kind != AL_XML_OPEN)
            continue;
        int s = 0;
        if (al_str_is(x->name, "is")) {
            al_buf_clear(&r->tmp);
            inlined = strcmp(c.type, "inlineStr") == 0;
            s = inline_string(r, err);
        } else if (al_str_is(x->name, "v") && !inlined) {
            al_buf_clear(&r->tmp); /* of <v> and <is> the one that the type asks for counts */
            s = al_xml_content(x, &r->tmp, err);
        } else {
            c.formula = c.formula || al_str_is(x->name, "f");
            s = al_xml_skip(x, err);
        }
        if (s < 0)
            return -1;
    }
}

/* ---- the way nearly all cells are written ---- */

static const char *quick_digits(const char *p, uint32_t *ret)
{
    const char *from = p;
    uint32_t n = 0;
    while (*p >= '0' && *p <= '9' && p - from < 9)
        n = n * 10 + (uint32_t)(*p++ - '0');
    *ret = n;
    return p == from || *p != '"' ? NULL : p + 1;
}

/* <c r="A1" s="1" t="s"> in any order; NULL: not so. What is read beyond the buffer is zeros. */
static const char *quick_open(const char *p, unsigned column, struct cell *c)
{
    uint32_t row = 0;
    *c = (struct cell){.column = column + 1};
    while (*p == ' ') {
        char name = p[1];
        if (p[1] == 0 || p[2] != '=' || p[3] != '"')
            return NULL;
        p += 4;
        if (name == 'r') {
            unsigned k = 0;
            int n = 0;
            for (; *p >= 'A' && *p <= 'Z' && n < 3; n++)
                k = k * 26 + (unsigned)(*p++ - 'A' + 1);
            if (!k || k > AL_XLSX_COLUMNS)
                return NULL;
            c->column = k;
            p = quick_digits(p, &row);
            if (!p || row > AL_XLSX_ROWS)
                return NULL;
        } else if (name == 's') {
            p = quick_digits(p, &c->style);
            if (!p)
                return NULL;
        } else if (name == 't') {
            size_t n = 0;
            while (n < sizeof c->type - 1 && *p >= 'A')
                c->type[n++] = *p++;
            if (*p++ != '"')
                return NULL;
        } else {
            return NULL;
        }
    }
    return c->column > AL_XLSX_COLUMNS ? NULL : p;
}

/* The text up to the next <, when it is as it stands: no entity, no CR, no _x, ASCII. Else NULL. */
static const char *quick_text(const char *p, const char *end)
{
    for (; p < end && *p != '<'; p++)
        if (*p == '&' || *p == '\r' || (*p == '_' && p[1] == 'x') || (signed char)*p < 0)
            return NULL;
    return p < end ? p : NULL;
}

/* A whole cell at pos. 1: taken; 0: not so, nothing was; -1. */
static int quick_cell(struct al_xlsx_reader *r, struct al_xlsx_batch *b, struct al_err *err)
{
    struct al_xml *x = r->x;
    const char *p = x->buf + x->pos, *end = x->buf + x->end;
    struct cell c;
    if (p[0] != '<' || p[1] != 'c' || !(p = quick_open(p + 2, r->column, &c)))
        return 0;
    if (p[0] == '/' && p[1] == '>') {
        r->column = c.column;
        x->pos = (size_t)(p + 2 - x->buf);
        return 1;
    }
    if (*p++ != '>')
        return 0;
    char type = c.type[0];
    bool in_line = type == 'i';
    const char *open = in_line ? "<is><t>" : "<v>", *close = in_line ? "</t></is></c>" : "</v></c>";
    size_t n_open = strlen(open), n_close = strlen(close);
    /* Behind end there are AL_XML_SLACK zeros. */
    if (memcmp(p, open, n_open) != 0 || p + n_open > end)
        return 0;
    p += n_open;
    const char *stop = quick_text(p, end);
    if (!stop || (size_t)(end - stop) < n_close || memcmp(stop, close, n_close) != 0 || stop == p)
        return 0;
    struct al_str s = {p, (size_t)(stop - p)};
    double d;
    bool number = !type || (type == 'n' && !c.type[1]), point;
    int ok;
    if (number && (canonical(s, &point) || al_xlsx_number(s, &d)))
        ok = put_number(r, b, &c, s, err);
    else if (type == 's' && !c.type[1])
        ok = put_shared(r, b, &c, s, err);
    else if (in_line || (type == 's' && strcmp(c.type, "str") == 0))
        ok = put_text(r, b, &c, s, AL_CELL_TEXT, err);
    else
        return 0;
    r->column = c.column;
    x->pos = (size_t)(stop + n_close - x->buf);
    return ok < 0 ? -1 : 1;
}

/* ---- rows ---- */

static int begin_row(struct al_xlsx_reader *r, struct al_xlsx_batch *b, struct al_err *err)
{
    struct al_str number = al_xml_attr(r->x, "r");
    int64_t n = 0;
    if (number.p && !al_parse_int(al_str_trim(number), 1, AL_XLSX_ROWS, &n))
        return al_fail(err, AL_INGEST_INVALID,
                       "%s: the row after row %llu of sheet \"%.100s\" has no number from 1 to %d",
                       r->x->part, (unsigned long long)r->row, r->sheet->name, AL_XLSX_ROWS);
    r->row = n ? (uint64_t)n : r->row + 1;
    r->epoch++;
    r->column = 0;
    r->text_from = b->text.n;
    return 0;
}

/* After <row>, up to its end. */
static int read_cells(struct al_xlsx_reader *r, struct al_xlsx_batch *b, struct al_err *err)
{
    struct al_xml *x = r->x;
    unsigned depth = x->depth;
    for (;;) {
        int quick = x->empty || x->in_cdata ? 0 : quick_cell(r, b, err);
        if (quick < 0)
            return -1;
        if (quick)
            continue;
        if (al_xml_next(x, err) < 0)
            return -1;
        if (x->kind == AL_XML_CLOSE && x->depth < depth)
            return 0;
        if (x->kind != AL_XML_OPEN)
            continue;
        if ((al_str_is(x->name, "c") ? read_cell(r, b, err) : al_xml_skip(x, err)) < 0)
            return -1;
    }
}

static int cell_cmp(const void *a, const void *b)
{
    return ((const struct al_xlsx_cell *)a)->column - ((const struct al_xlsx_cell *)b)->column;
}

/* 1 when the row has a value. */
static int read_row(struct al_xlsx_reader *r, struct al_xlsx_batch *b, struct al_err *err)
{
    size_t first = b->n_cells;
    if (begin_row(r, b, err) < 0 || read_cells(r, b, err) < 0)
        return -1;
    if (b->n_cells == first)
        return 0;
    bool sorted = true;
    for (size_t i = first + 1; i < b->n_cells; i++)
        sorted = sorted && b->cells[i - 1].column < b->cells[i].column;
    if (!sorted)
        qsort(b->cells + first, b->n_cells - first, sizeof *b->cells, cell_cmp);
    if (b->n_rows == b->cap_rows) {
        b->cap_rows = b->cap_rows ? b->cap_rows * 2 : 64;
        b->rows = al_xrealloc(b->rows, b->cap_rows * sizeof *b->rows);
    }
    b->rows[b->n_rows++] = (struct al_xlsx_row){r->row, (uint32_t)first, (uint32_t)(b->n_cells - first)};
    return 1;
}

static void dimension(struct al_xlsx_reader *r)
{
    struct al_str ref = al_xml_attr(r->x, "ref");
    const char *colon = ref.p ? memchr(ref.p, ':', ref.n) : NULL;
    struct al_str a = ref, z = ref;
    unsigned first = 0, last = 0;
    uint64_t row = 0;
    if (colon) {
        a.n = (size_t)(colon - ref.p);
        z = (struct al_str){colon + 1, ref.n - a.n - 1};
    }
    if (!ref.p || !reference(a, &first, &row) || !reference(z, &last, &row) || !first || last < first)
        return;
    r->has_dimension = true;
    r->dim_first = first - 1;
    r->dim_last = last - 1;
}

static void merged(struct al_xlsx_reader *r)
{
    struct al_str ref = al_xml_attr(r->x, "ref");
    if (!r->merged++ && ref.n < sizeof r->merged_first && al_utf8_valid(ref)) {
        memcpy(r->merged_first, ref.p, ref.n);
        r->merged_first[ref.n] = 0;
    }
}

static void end_notes(struct al_xlsx_reader *r)
{
    unsigned column = 0;
    uint64_t row = 0;
    const char *colon = strchr(r->merged_first, ':');
    if (!r->merged || r->quiet)
        return;
    (void)reference((struct al_str){r->merged_first, colon ? (size_t)(colon - r->merged_first) : 0}, &column,
                    &row);
    r->w->sink->note(
        r->w->sink->ud, AL_NOTE_MERGED_CELLS, row,
        "sheet \"%.100s\": %llu merged areas, first %s; the value stands in the top left cell of each",
        r->sheet->name, (unsigned long long)r->merged, r->merged_first);
}

int al_xlsx_reader_row(struct al_xlsx_reader *r, struct al_xlsx_batch *b, struct al_err *err)
{
    struct al_xml *x = r->x;
    while (!r->ended) {
        if (al_xml_next(x, err) < 0)
            return -1;
        if (x->kind == AL_XML_EOF) {
            r->ended = true;
            end_notes(r);
        } else if (x->kind == AL_XML_CLOSE && x->depth < 2) {
            r->in_data = false;
        } else if (x->kind == AL_XML_OPEN && x->depth == 2) {
            r->in_data = al_str_is(x->name, "sheetData");
            if (al_str_is(x->name, "dimension"))
                dimension(r);
        } else if (x->kind == AL_XML_OPEN && x->depth == 3) {
            if (r->in_data && al_str_is(x->name, "row")) {
                int got = read_row(r, b, err);
                if (got)
                    return got;
            } else if (al_str_is(x->name, "mergeCell")) {
                merged(r);
            }
        }
    }
    return 0;
}

bool al_xlsx_reader_dimension(const struct al_xlsx_reader *r, unsigned *ret_first, unsigned *ret_last)
{
    *ret_first = r->dim_first;
    *ret_last = r->dim_last;
    return r->has_dimension;
}

int al_xlsx_reader_open(struct al_xlsx *w, const struct al_xlsx_sheet *sheet, bool quiet,
                        struct al_xlsx_reader **ret, struct al_err *err)
{
    struct al_xml *x = NULL;
    if (al_xml_open(w->zip, sheet->part, w->sink, &x, err) < 0)
        return -1;
    struct al_xlsx_reader *r = al_xcalloc(1, sizeof *r);
    r->w = w;
    r->sheet = sheet;
    r->x = x;
    r->quiet = quiet;
    r->slot_epoch = al_xcalloc(AL_XLSX_COLUMNS, sizeof *r->slot_epoch);
    r->slot = al_xcalloc(AL_XLSX_COLUMNS, sizeof *r->slot);
    al_buf_init(&r->tmp, AL_TABLE_MAX_CELL * 4);
    *ret = r;
    return 0;
}

void al_xlsx_reader_free(struct al_xlsx_reader *r)
{
    if (!r)
        return;
    al_xml_free(r->x);
    al_buf_free(&r->tmp);
    free(r->slot_epoch);
    free(r->slot);
    free(r);
}
