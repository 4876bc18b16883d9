/* Which sheet of a workbook a page is about: the one that was asked for, else the first that can be shown. */
#include "dashboard/build_int.h"

#include "base/text.h"
#include "dashboard/plan_int.h"

#include <sqlite3.h>

#define SHEETS 16 /* with rows, that are looked at */
#define NAME_CHARS 60
#define TABLE_BYTES 200

struct sheets {
    struct al_str name[SHEETS], table[SHEETS];
    size_t n;
};

static struct al_str keep(struct al_dash *d, sqlite3_stmt *s, int column, size_t chars)
{
    const char *p = (const char *)sqlite3_column_text(s, column);
    struct al_str text = {p ? p : "", p ? (size_t)sqlite3_column_bytes(s, column) : 0};
    char *own = al_arena_dup(&d->arena, al_utf8_head(text, chars));
    return own ? al_str_of(own) : AL_STR("");
}

/* As far as they can be read: who cannot read them says so elsewhere. */
static void list_sheets(struct al_dash *d, struct sheets *ret)
{
    sqlite3_stmt *s = NULL;
    ret->n = 0;
    if (sqlite3_prepare_v2(d->db,
                           "SELECT name, table_name FROM main._alisio_sheets WHERE rows > 0"
                           " AND length(table_name) <= 200 ORDER BY ordinal LIMIT 16",
                           -1, &s, NULL) != SQLITE_OK)
        return;
    while (ret->n < SHEETS && sqlite3_step(s) == SQLITE_ROW) {
        ret->name[ret->n] = keep(d, s, 0, NAME_CHARS);
        ret->table[ret->n] = keep(d, s, 1, TABLE_BYTES);
        if (ret->table[ret->n].n)
            ret->n++;
    }
    sqlite3_finalize(s);
}

/* "A, B": those that are not shown. */
static void other_names(const struct al_dash *d, const struct sheets *s, struct al_buf *out)
{
    for (size_t i = 0; i < s->n; i++) {
        if (al_str_eq(s->table[i], d->catalog.table))
            continue;
        al_buf_adds(out, out->n ? ", " : "");
        al_text_visible(out, s->name[i], false);
    }
}

static int open_one(struct al_dash *d, struct al_str sheet, struct al_err *err)
{
    d->catalog = (struct al_dash_catalog){0};
    d->profile = (struct al_profile){0};
    if (al_dash_catalog_read(d->db, sheet, &d->arena, &d->catalog, err) < 0)
        return -1;
    return al_profile(&d->catalog, &d->arena, &d->profile, err);
}

/* A cover sheet is often the first: the next ones are tried. 1: none of them can be shown. */
static int open_another(struct al_dash *d, const struct sheets *s, struct al_err *err)
{
    struct al_str first = d->catalog.table;
    for (size_t i = 0; i < s->n; i++) {
        struct al_err own = {0};
        if (al_str_eq(s->table[i], first))
            continue;
        if (open_one(d, s->table[i], &own) == 0)
            return 0;
        if (own.code != AL_NO_USABLE_COLUMNS) {
            *err = own;
            return -1;
        }
    }
    return 1;
}

int al_dash_open_sheet(struct al_dash *d, struct al_str asked, struct al_err *err)
{
    struct sheets s;
    autobuf struct al_buf names = AL_BUF_INIT(8192);
    int r = open_one(d, asked, err);
    if (d->catalog.n_sheets < 2 || (r < 0 && err->code != AL_NO_USABLE_COLUMNS))
        return r;
    list_sheets(d, &s);
    if (r < 0 && asked.n) {
        other_names(d, &s, &names);
        return names.n ? al_hint(err, "other sheets with rows: %.*s", AL_FMT(al_buf_str(&names))) : -1;
    }
    if (r < 0 && (r = open_another(d, &s, err)) != 0)
        return -1;
    al_err_clear(err);
    if (asked.n || al_json_is_true(al_json_get(d->request, "noRows")))
        return 0; /* a page that goes far says nothing of what is beside it */
    other_names(d, &s, &names);
    if (names.n)
        AL_NOTE(d, NOTE_SHEET, d->catalog.sheet, al_buf_str(&names));
    return 0;
}
