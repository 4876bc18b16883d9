#include "table/jsonrows.h"

#include "base/mem.h"

#include <inttypes.h>

#define BAD_LINES_WITHIN ((uint64_t)64 << 20) /* bytes behind a bad line in which others are looked for */

/* Reads the value at p and leaves p behind it; the mark is moved along. 0, or -1 with err. */
static int read_whole(struct al_jr *r, unsigned depth, struct al_js_mark *keep, struct al_js_value *ret)
{
    struct al_js_mark from = al_js_here(&r->js);
    size_t ahead = from.at - keep->at;
    enum al_js_result s;
    while ((s = al_js_read(&r->js, depth, ret)) == AL_JS_MORE) {
        if (al_js_refill(&r->js, keep, AL_JR_RECORD_MAX, "one record", r->err) < 0)
            return -1;
        from.at = keep->at + ahead;
        al_js_back(&r->js, &from);
    }
    return s == AL_JS_OK ? 0 : al_jr_bad(r, from.line);
}

/* Behind a row: whether another follows, with p at it. Text that is wrong there is told when it is read
 * again. */
static int another(struct al_jr *r, bool comma, struct al_js_mark *keep, bool *ret)
{
    struct al_js_mark from = al_js_here(&r->js);
    size_t ahead = from.at - keep->at;
    for (;;) {
        int s = AL_JS_OK;
        if (comma) {
            s = al_js_member(&r->js, ']', false, ret);
        } else {
            int c = al_js_peek(&r->js);
            *ret = c >= 0;
            s = c == AL_JS_PEEK_MORE ? AL_JS_MORE : AL_JS_OK;
        }
        if (s == AL_JS_BAD)
            *ret = false;
        if (s != AL_JS_MORE)
            return 0;
        if (al_js_refill(&r->js, keep, AL_JR_RECORD_MAX, "the beginning", r->err) < 0)
            return -1;
        from.at = keep->at + ahead;
        al_js_back(&r->js, &from);
    }
}

static bool all_strings(const struct al_json *v)
{
    bool all = v && v->type == AL_JSON_ARRAY && v->n > 0;
    if (all)
        al_json_each(it, v) all &= it->type == AL_JSON_STRING;
    return all;
}

/* A row of as many cells, of which at least one is neither a string nor null. */
static bool unlike(const struct al_json *names, const struct al_json *row)
{
    bool other = false;
    if (!row || row->type != AL_JSON_ARRAY || row->n != names->n)
        return false;
    al_json_each(it, row) other |= it->type != AL_JSON_STRING && it->type != AL_JSON_NULL;
    return other;
}

static int take_names(struct al_jr *r, const struct al_json *names, uint64_t line)
{
    al_json_each(it, names)
    {
        struct al_str label = it->type == AL_JSON_STRING ? it->str
                              : it->type == AL_JSON_NULL ? AL_STR("")
                                                         : it->raw;
        if (al_jr_add_place(r, label) < 0)
            return -1;
    }
    r->sink->note(r->sink->ud, AL_NOTE_HEADER, line, "the first array has the names of the columns");
    return 0;
}

int al_jr_header(struct al_jr *r, unsigned depth, bool comma, bool *ret_taken)
{
    struct al_js_mark keep = al_js_here(&r->js);
    struct al_js_value v = {0};
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)32 << 20);
    const struct al_json *names = NULL, *row = NULL;
    bool more = false;
    *ret_taken = false;
    if (read_whole(r, depth, &keep, &v) < 0)
        return -1;
    autofree char *first = al_xdup(v.raw.p, v.raw.n);
    if (al_json_parse(&a, (struct al_str){first, v.raw.n}, &names, NULL) < 0 ||
        names->n > AL_TABLE_MAX_COLUMNS)
        names = NULL;
    if (another(r, comma, &keep, &more) < 0)
        return -1;
    if (names && more && r->opts->header == 0 && *r->js.p == '[') {
        if (read_whole(r, depth, &keep, &v) < 0)
            return -1;
        if (al_json_parse(&a, v.raw, &row, NULL) < 0)
            row = NULL;
    }
    bool take = names && names->n > 0 && r->opts->header == 1;
    if (r->opts->header == 0 && all_strings(names))
        take = unlike(names, row);
    al_js_back(&r->js, &keep);
    uint64_t line = keep.line;
    if (take) {
        *ret_taken = true;
        return take_names(r, names, line) < 0 || read_whole(r, depth, &keep, &v) < 0 ? -1 : 0;
    }
    r->sink->note(r->sink->ud, AL_NOTE_HEADER, line, "the arrays have no names for their columns");
    return 0;
}

int al_jr_member(struct al_jr *r, char closer, bool first, bool *ret_more)
{
    if (al_js_peek_fill(&r->js, r->err) == AL_JS_PEEK_FAILED)
        return -1;
    struct al_js_mark mark = al_js_here(&r->js);
    enum al_js_result s;
    while ((s = al_js_member(&r->js, closer, first, ret_more)) == AL_JS_MORE) {
        if (al_js_refill(&r->js, &mark, AL_JR_RECORD_MAX, "white space", r->err) < 0)
            return -1;
    }
    return s == AL_JS_OK ? 0 : al_jr_bad(r, 0);
}

int al_jr_array(struct al_jr *r, unsigned depth)
{
    bool more = true, taken = false;
    r->js.p++;
    for (bool first = true;; first = false) {
        if (al_jr_member(r, ']', first, &more) < 0)
            return -1;
        if (!more)
            return 0;
        if (first && *r->js.p == '[') {
            r->arrays = true;
            r->kind = AL_JSON_ARRAY;
            r->kind_known = true;
            if (r->n_places == 0 && al_jr_header(r, depth + 1, true, &taken) < 0)
                return -1;
        }
        if (!(first && taken) && al_jr_record(r, depth + 1) < 0)
            return -1;
    }
}

/* To the line behind the one that p is in. False at the end. */
static int next_line(struct al_js *js, bool *ret, struct al_err *err)
{
    for (;;) {
        const char *lf = js->p < js->end ? memchr(js->p, '\n', (size_t)(js->end - js->p)) : NULL;
        js->p = lf ? lf : js->end; /* the line end itself is white space, which counts it */
        *ret = lf != NULL;
        if (lf || js->eof)
            return 0;
        if (al_js_next(js, err) < 0)
            return -1;
    }
}

/* Whether the value at p is a whole line. The line's text may be longer than the window: then it is not
 * looked at. */
static int check_line(struct al_jr *r, bool *ret_good)
{
    struct al_js *js = &r->js;
    struct al_js_mark mark = al_js_here(js);
    struct al_js_value v;
    enum al_js_result s;
    while ((s = al_js_read(js, 0, &v)) == AL_JS_MORE) {
        if (al_js_refill(js, &mark, AL_JR_RECORD_MAX, "one record", r->err) < 0)
            return -1;
    }
    uint64_t line = js->line;
    int c = s == AL_JS_OK ? al_js_peek_fill(js, r->err) : 0;
    if (c == AL_JS_PEEK_FAILED)
        return -1;
    *ret_good = s == AL_JS_OK && (c == AL_JS_PEEK_END || js->line > line);
    if (!*ret_good)
        al_js_back(js, &mark);
    return 0;
}

/* After a bad line, which err tells and which p stands in: the lines behind it that are bad as well are
 * named, so that they can be put right at once. */
static int name_bad_lines(struct al_jr *r, struct al_err *err)
{
    struct al_js *js = &r->js;
    autobuf struct al_buf lines = AL_BUF_INIT(256);
    struct al_err other = {0}, first = *err;
    uint64_t bad = 0, from = js->base;
    bool more = true, good = true;
    r->err = &other;
    while (js->base - from < BAD_LINES_WITHIN) {
        if (!good || bad == 0) {
            if (next_line(js, &more, &other) < 0 || !more)
                break;
        }
        bad += bad == 0; /* the first one */
        int c = al_js_peek_fill(js, &other);
        uint64_t line = js->line;
        if (c < 0 || check_line(r, &good) < 0)
            break;
        if (!good && ++bad <= 6)
            al_buf_addf(&lines, "%s%" PRIu64, bad > 2 ? ", " : "", line);
    }
    r->err = err;
    if (bad < 2)
        return -1;
    al_fail(err, AL_INGEST_INVALID, "%s; bad as well: line%s %.*s%s", first.msg, bad > 2 ? "s" : "",
            AL_FMT(al_buf_str(&lines)), bad > 6 ? " and more" : "");
    return al_hint(err, "%s", first.hint);
}

/* The record at hand failed: where that is by its text, the lines behind its first one are looked at. */
static int bad_record(struct al_jr *r)
{
    if (!r->err || !r->js.bad || r->err->code != AL_INGEST_INVALID)
        return -1;
    al_js_back(&r->js, &r->from);
    return name_bad_lines(r, r->err);
}

/* What may stand behind a value that began with was, of a file whose values begin with kind. at_line: the
 * value's end. */
static int check_behind(struct al_jr *r, int c, bool strict, char kind, char was, uint64_t at_line)
{
    const char *what = NULL;
    if (c == ',')
        what = "values are on lines of their own, without commas (or all in one array, in [ ])";
    else if (strict && c != kind)
        what = "unexpected text after the value";
    else if (was != '{' && r->js.line == at_line)
        what = "expected the end of the line after the value";
    if (!what)
        return 0;
    al_js_bad(&r->js, r->js.p, what);
    (void)al_jr_bad(r, 0);
    return r->err ? name_bad_lines(r, r->err)
                  : -1; /* from here: the window may have left the record behind */
}

/* One value a line, or objects one after the other. strict: not told by the file's name, so only of one kind.
 */
static int read_lines(struct al_jr *r, bool strict)
{
    struct al_js *js = &r->js;
    bool taken = false;
    char kind = *js->p;
    r->arrays = kind == '[';
    if (r->arrays && al_jr_header(r, 0, false, &taken) < 0)
        return -1;
    for (bool first = true;; first = false) {
        char was = *js->p;
        if (first && taken)
            was = '[';
        else if (al_jr_record(r, 0) < 0)
            return bad_record(r);
        uint64_t line = js->line;
        int c = al_js_peek_fill(js, r->err);
        if (c == AL_JS_PEEK_FAILED)
            return -1;
        if (c == AL_JS_PEEK_END)
            return 0;
        if (check_behind(r, c, strict, kind, was, line) < 0)
            return -1;
        for (uint64_t blank = line + 1; blank < js->line && blank < line + 1000; blank++)
            r->sink->note(r->sink->ud, AL_NOTE_BLANK_LINES, blank, "blank lines were skipped");
    }
}

/* At the '[' that a file begins with: whether it is the first line of JSON Lines rather than the document. */
static int begins_lines(struct al_jr *r, bool by_name, bool *ret)
{
    struct al_js *js = &r->js;
    struct al_js_mark mark = al_js_here(js);
    struct al_js_value v = {0};
    *ret = false;
    for (;;) {
        enum al_js_result s = al_js_read(js, 0, &v);
        uint64_t line = js->line;
        int c = s == AL_JS_OK ? al_js_peek(js) : AL_JS_PEEK_MORE;
        bool cut = s == AL_JS_MORE || (s == AL_JS_OK && c == AL_JS_PEEK_MORE);
        if (cut && js->win.n - mark.at < (size_t)1 << 20) {
            if (al_js_refill(js, &mark, AL_JR_RECORD_MAX, "one record", r->err) < 0)
                return -1;
            continue;
        }
        if (s == AL_JS_OK && c == AL_JS_PEEK_END && by_name) {
            struct al_str in = al_str_trim((struct al_str){v.raw.p + 1, v.raw.n - 2});
            *ret = in.n > 0 && *in.p != '{' && *in.p != '[';
        } else if (s == AL_JS_OK && c >= 0) {
            *ret = js->line > line && (by_name || c == '[');
        }
        al_js_back(js, &mark);
        return 0;
    }
}

static int read_document(struct al_jr *r, bool *lines)
{
    struct al_js *js = &r->js;
    bool by_name = *lines;
    int c = al_js_peek_fill(js, r->err);
    if (c == AL_JS_PEEK_FAILED)
        return -1;
    if (c == AL_JS_PEEK_END) {
        al_fail(r->err, AL_INGEST_INVALID, "the file holds white space only, no JSON value");
        return al_hint(r->err, "give a file with an array of objects, or JSON Lines");
    }
    if (c == '[' && begins_lines(r, by_name, lines) < 0)
        return -1;
    if (c != '[' && c != '{')
        *lines = by_name;
    if (c == '{' && !by_name && al_jr_object(r, lines) < 0)
        return -1;
    if (*lines)
        return read_lines(r, !by_name);
    if (c == '[' && al_jr_array(r, 0) < 0)
        return -1;
    if (c != '[' && c != '{' && al_jr_record(r, 0) < 0)
        return -1;
    c = al_js_peek_fill(js, r->err);
    if (c >= 0) {
        al_js_bad(js, js->p, "unexpected text after the value");
        return al_jr_bad(r, 0);
    }
    return c == AL_JS_PEEK_FAILED ? -1 : 0;
}

int al_jsonrows_read(struct al_source *src, bool lines, const struct al_table_opts *opts,
                     const struct al_table_sink *sink, struct al_table_found *found, struct al_err *err)
{
    struct al_jr *r = al_xmalloc(sizeof *r);
    bool by_name = lines;
    al_jr_init(r, src, opts, sink, err);
    int ret = sink->sheet(sink->ud, AL_STR("data"), err);
    if (ret == 0)
        ret = read_document(r, &lines);
    if (ret == 0)
        ret = al_jr_finish(r);
    if (ret == 0) {
        found->format = lines ? AL_TABLE_JSONL : AL_TABLE_JSON;
        found->delimiter = '\0';
        if (lines != by_name) {
            sink->note(sink->ud, AL_NOTE_OTHER, 0, "%s",
                       lines ? "the file is JSON Lines, whatever its name says"
                             : "the file is one JSON document, not JSON Lines");
        }
        if (opts->delimiter || opts->has_skip_rows)
            sink->note(sink->ud, AL_NOTE_OTHER, 0, "delimiter and skipRows mean nothing for JSON");
    }
    al_jr_fini(r);
    free(r);
    return ret;
}
