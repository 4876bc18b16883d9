/* Which part of the archive is what: relationships (ECMA-376-2), and the workbook (18.2). */
#include "table/xlsx_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>

#define MAX_PATH 1024

/* ---- relationships ---- */

struct relation {
    char *id, *type, *target; /* the type's last word; the target as a path in the archive */
};
struct relations {
    struct relation *v;
    size_t n, cap;
};

static void relations_free(struct relations *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free(r->v[i].id);
        free(r->v[i].type);
        free(r->v[i].target);
    }
    free(r->v);
    *r = (struct relations){0};
}

/* target as seen from the folder of part from, without . and .. and with / for \. */
static bool resolve(struct al_str from, struct al_str target, char ret[MAX_PATH])
{
    size_t n = 0;
    bool absolute = target.n && (target.p[0] == '/' || target.p[0] == '\\');
    if (!absolute) {
        size_t dir = from.n;
        while (dir && from.p[dir - 1] != '/')
            dir--;
        if (dir >= MAX_PATH)
            return false;
        memcpy(ret, from.p, dir);
        n = dir;
    }
    for (size_t i = 0; i < target.n;) {
        size_t end = i;
        while (end < target.n && target.p[end] != '/' && target.p[end] != '\\')
            end++;
        struct al_str piece = {target.p + i, end - i};
        if (al_str_is(piece, "..")) {
            if (n)
                n--;
            while (n && ret[n - 1] != '/')
                n--;
        } else if (piece.n && !al_str_is(piece, ".")) {
            if (piece.n + n + 2 > MAX_PATH)
                return false;
            memcpy(ret + n, piece.p, piece.n);
            n += piece.n;
            if (end < target.n)
                ret[n++] = '/';
        }
        i = end + 1;
    }
    ret[n] = 0;
    return n > 0;
}

static const struct al_zip_entry *find_part(struct al_xlsx *w, const char *path, struct al_err *err)
{
    bool twice = false;
    const struct al_zip_entry *e = al_zip_find(w->zip, al_str_of(path), &twice);
    if (!e) {
        al_fail(err, AL_INGEST_INVALID, "the workbook has no part %.200s", path);
        return NULL;
    }
    if (twice) {
        al_fail(err, AL_INGEST_INVALID,
                "the archive has the part %.200s twice, so that two programs may read two tables", path);
        return NULL;
    }
    return e;
}

static int open_small(struct al_xlsx *w, const struct al_zip_entry *e, struct al_xml **ret,
                      struct al_err *err)
{
    if (e->unpacked > AL_XLSX_MAX_SMALL)
        return al_fail(err, AL_INGEST_LIMIT, "%.*s has %llu bytes (at most %llu)",
                       (int)(e->name.n > 200 ? 200 : e->name.n), e->name.p, (unsigned long long)e->unpacked,
                       (unsigned long long)AL_XLSX_MAX_SMALL);
    return al_xml_open(w->zip, e, w->sink, ret, err);
}

static char *value_of(struct al_xml *x, const char *name, struct al_err *err)
{
    autobuf struct al_buf b = AL_BUF_INIT(AL_XML_BUFFER);
    struct al_str raw = al_xml_attr(x, name);
    if (al_xml_text(x, raw, false, &b, err) < 0)
        return NULL;
    struct al_str s = al_buf_str(&b);
    if (!al_utf8_valid(s)) {
        al_xml_broken(x, err, "bytes that are no UTF-8");
        return NULL;
    }
    return al_xdup(s.p, s.n);
}

static int add_relation(struct al_xml *x, struct al_str from, struct relations *r, struct al_err *err)
{
    struct relation v = {value_of(x, "Id", err), value_of(x, "Type", err), NULL};
    autofree char *target = value_of(x, "Target", err);
    char path[MAX_PATH];
    bool ok = v.id && v.type && target;
    if (ok && resolve(from, al_str_of(target), path)) {
        v.target = al_xstrdup(path);
        const char *last = strrchr(v.type, '/');
        if (last)
            memmove(v.type, last + 1, strlen(last));
        if (r->n == r->cap) {
            r->cap = r->cap ? r->cap * 2 : 16;
            r->v = al_xrealloc(r->v, r->cap * sizeof *r->v);
        }
        r->v[r->n++] = v;
        return 0;
    }
    free(v.id);
    free(v.type);
    return ok ? 0 : -1;
}

/* The relationships of part ("" for the package); none where there is no such part. */
static int read_relations(struct al_xlsx *w, const char *part, struct relations *ret, struct al_err *err)
{
    char path[MAX_PATH + 16];
    const char *slash = strrchr(part, '/');
    int dir = slash ? (int)(slash + 1 - part) : 0;
    snprintf(path, sizeof path, "%.*s_rels/%s.rels", dir, part, part + dir);
    if (!al_zip_find(w->zip, al_str_of(path), NULL))
        return 0;
    const struct al_zip_entry *e = find_part(w, path, err);
    struct al_xml *x = NULL;
    if (!e || open_small(w, e, &x, err) < 0)
        return -1;
    int r;
    while ((r = al_xml_next(x, err)) == 0 && x->kind != AL_XML_EOF) {
        if (x->kind != AL_XML_OPEN || !al_str_is(x->name, "Relationship") ||
            al_str_is(al_xml_attr(x, "TargetMode"), "External"))
            continue;
        if (ret->n == AL_ZIP_MAX_ENTRIES)
            r = al_fail(err, AL_INGEST_LIMIT, "%s: more than %d relationships", x->part, AL_ZIP_MAX_ENTRIES);
        else
            r = add_relation(x, al_str_of(part), ret, err);
        if (r < 0)
            break;
    }
    al_xml_free(x);
    return r;
}

static const struct relation *by_type(const struct relations *r, const char *type)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->v[i].type, type) == 0)
            return &r->v[i];
    return NULL;
}

static const struct relation *by_id(const struct relations *r, const char *id)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->v[i].id, id) == 0)
            return &r->v[i];
    return NULL;
}

/* ---- workbook ---- */

static int sheet_part(struct al_xlsx *w, const struct relations *rels, const char *id,
                      struct al_xlsx_sheet *s, struct al_err *err)
{
    static const char *const others[] = {"chartsheet", "dialogsheet", "macrosheet", "xlMacrosheet",
                                         "xlIntlMacrosheet"};
    const struct relation *r = by_id(rels, id);
    char guess[MAX_PATH];
    const char *path = r ? r->target : guess;
    for (size_t i = 0; r && i < sizeof others / sizeof *others; i++) {
        if (strcmp(r->type, others[i]) == 0) {
            s->other = true;
            s->kind = others[i];
            return 0;
        }
    }
    if (!r) {
        /* A workbook without relationships at all: its sheets are named by their order, as every writer does
         * it. */
        if (rels->n || snprintf(guess, sizeof guess, "xl/worksheets/sheet%zu.xml", w->n_sheets + 1) < 0)
            return al_fail(err, AL_INGEST_INVALID,
                           "the sheet \"%.100s\" names the relationship \"%.60s\", which is not there",
                           s->name, id);
    }
    s->part = find_part(w, path, err);
    if (!s->part)
        return al_wrap(err, "sheet \"%.100s\"", s->name);
    return 0;
}

static int add_sheet(struct al_xlsx *w, struct al_xml *x, const struct relations *rels, struct al_err *err)
{
    if (w->n_sheets == AL_XLSX_MAX_SHEETS)
        return al_fail(err, AL_INGEST_LIMIT, "the workbook has more than %d sheets", AL_XLSX_MAX_SHEETS);
    struct al_str state = al_xml_attr(x, "state");
    struct al_xlsx_sheet s = {.hidden = al_str_is(state, "hidden") || al_str_is(state, "veryHidden")};
    autofree char *id = value_of(x, "id", err);
    s.name = value_of(x, "name", err);
    if (!id || !s.name || sheet_part(w, rels, id, &s, err) < 0) {
        free(s.name);
        return -1;
    }
    for (size_t i = 0; s.part && i < w->n_sheets; i++) {
        if (w->sheets[i].part == s.part) {
            al_fail(err, AL_INGEST_INVALID,
                    "the sheets \"%.100s\" and \"%.100s\" are one part of the archive", w->sheets[i].name,
                    s.name);
            free(s.name);
            return -1;
        }
    }
    if (w->n_sheets == w->cap_sheets) {
        w->cap_sheets = w->cap_sheets ? w->cap_sheets * 2 : 8;
        w->sheets = al_xrealloc(w->sheets, w->cap_sheets * sizeof *w->sheets);
    }
    w->sheets[w->n_sheets++] = s;
    return 0;
}

static int read_workbook(struct al_xlsx *w, struct al_xml *x, const struct relations *rels,
                         struct al_err *err)
{
    for (;;) {
        if (al_xml_next(x, err) < 0)
            return -1;
        if (x->kind == AL_XML_EOF)
            return 0;
        if (x->kind != AL_XML_OPEN)
            continue;
        if (x->depth == 1 && !al_str_is(x->name, "workbook"))
            return al_fail(err, AL_DATASET_UNSUPPORTED, "%s is no workbook", x->part);
        if (x->depth == 2 && al_str_is(x->name, "workbookPr")) {
            struct al_str d = al_xml_attr(x, "date1904");
            w->date1904 = al_str_is(d, "1") || al_str_is(d, "true") || al_str_is(d, "on");
        } else if (x->depth == 3 && al_str_is(x->name, "sheet") && add_sheet(w, x, rels, err) < 0) {
            return -1;
        }
    }
}

/* Shared strings and styles: by relationship, else where every writer has them. */
static const struct al_zip_entry *side_part(struct al_xlsx *w, const struct relations *rels, const char *type,
                                            const char *usual, bool *bad, struct al_err *err)
{
    const struct relation *r = by_type(rels, type);
    const char *path = r ? r->target : usual;
    if (!al_zip_find(w->zip, al_str_of(path), NULL))
        return NULL; /* harmless until a cell asks for it */
    const struct al_zip_entry *e = find_part(w, path, err);
    *bad = *bad || !e;
    return e;
}

static int not_a_workbook(struct al_xlsx *w, struct al_err *err)
{
    static const struct {
        const char *part, *what;
    } known[] = {
        {"word/document.xml", "a Word document"},
        {"ppt/presentation.xml", "a PowerPoint presentation"},
        {"content.xml", "an OpenDocument file"},
        {"xl/workbook.bin", "a binary workbook (.xlsb)"},
        {"Index/Document.iwa", "a Numbers or Pages document"},
    };
    const char *what = "a ZIP archive without a workbook in it";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (al_zip_find(w->zip, al_str_of(known[i].part), NULL))
            what = known[i].what;
    al_fail(err, AL_DATASET_UNSUPPORTED, "the file is %s", what);
    return al_hint(err, "save the table as .xlsx or .csv");
}

static int read_book(struct al_xlsx *w, struct relations *package, struct relations *rels, struct al_err *err)
{
    if (read_relations(w, "", package, err) < 0)
        return -1;
    const struct relation *main_part = by_type(package, "officeDocument");
    const char *path = main_part ? main_part->target : "xl/workbook.xml";
    if (!al_zip_find(w->zip, al_str_of(path), NULL))
        path = "xl/workbook.xml";
    if (!al_zip_find(w->zip, al_str_of(path), NULL) || al_str_ends(al_str_of(path), ".bin"))
        return not_a_workbook(w, err);
    struct al_xml *x = NULL;
    const struct al_zip_entry *e = find_part(w, path, err);
    if (!e || read_relations(w, path, rels, err) < 0 || open_small(w, e, &x, err) < 0)
        return -1;
    int r = read_workbook(w, x, rels, err);
    al_xml_free(x);
    if (r < 0)
        return -1;
    bool bad = false;
    w->macros = by_type(rels, "vbaProject") != NULL;
    w->styles_part = side_part(w, rels, "styles", "xl/styles.xml", &bad, err);
    w->strings_part = bad ? NULL : side_part(w, rels, "sharedStrings", "xl/sharedStrings.xml", &bad, err);
    if (bad)
        return -1;
    if (w->styles_part && w->styles_part->unpacked > AL_XLSX_MAX_SMALL)
        return al_fail(err, AL_INGEST_LIMIT, "the workbook's styles have more than %llu bytes",
                       (unsigned long long)AL_XLSX_MAX_SMALL);
    return 0;
}

int al_xlsx_book(struct al_xlsx *w, struct al_err *err)
{
    struct relations package = {0}, rels = {0};
    int r = read_book(w, &package, &rels, err);
    relations_free(&package);
    relations_free(&rels);
    return r;
}
