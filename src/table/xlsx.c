#include "table/xlsx_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <unistd.h>

#define DEFAULT_MAX_BYTES ((uint64_t)1 << 30)

/* Encrypted workbooks and those of before 2007 are compound files (MS-CFB). */
static int check_compound(int fd, struct al_err *err)
{
    char head[8];
    if (pread(fd, head, sizeof head, 0) != sizeof head ||
        memcmp(head, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8) != 0)
        return 0;
    al_fail(err, AL_DATASET_UNSUPPORTED, "the workbook is encrypted, or an old .xls");
    return al_hint(err, "save it as .xlsx without a password, or as .csv");
}

static bool same_name(struct al_str a, struct al_str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++) {
        char x = a.p[i], y = b.p[i];
        x = (char)(x >= 'A' && x <= 'Z' ? x + 32 : x);
        y = (char)(y >= 'A' && y <= 'Z' ? y + 32 : y);
        if (x != y)
            return false;
    }
    return true;
}

/* The sheet that was asked for: by its exact name, else in another case. */
static const struct al_xlsx_sheet *chosen_sheet(const struct al_xlsx *w, struct al_err *err)
{
    struct al_str name = al_str_of(w->opts->sheet);
    for (int fold = 0; fold < 2; fold++)
        for (size_t i = 0; i < w->n_sheets; i++) {
            struct al_str s = al_str_of(w->sheets[i].name);
            if (!w->sheets[i].other && (fold ? same_name(s, name) : al_str_eq(s, name)))
                return &w->sheets[i];
        }
    autobuf struct al_buf names = AL_BUF_INIT(2048);
    for (size_t i = 0; i < w->n_sheets; i++)
        if (!w->sheets[i].other && names.n < 300)
            al_buf_addf(&names, "%s\"%.60s\"", names.n ? ", " : "", w->sheets[i].name);
    autobuf struct al_buf shown = AL_BUF_INIT(8192);
    al_text_visible(&shown, al_buf_str(&names), false);
    al_fail(err, AL_INGEST_INVALID, "the workbook has no sheet \"%.100s\"; it has %.*s", w->opts->sheet,
            AL_FMT(al_utf8_cut(al_buf_str(&shown), 500)));
    al_hint(err, "name one of these sheets, or none to read them all");
    return NULL;
}

static void note_others(struct al_xlsx *w)
{
    const struct al_table_sink *s = w->sink;
    for (size_t i = 0; i < w->n_sheets; i++)
        if (w->sheets[i].other)
            s->note(s->ud, AL_NOTE_OTHER_SHEETS, 0, "sheet \"%.100s\" is a %s and was not read",
                    w->sheets[i].name, w->sheets[i].kind);
    if (w->macros)
        s->note(s->ud, AL_NOTE_MACROS, 0, "the workbook has macros, which were not looked at");
}

static int read_sheets(struct al_xlsx *w, struct al_err *err)
{
    const struct al_xlsx_sheet *one = NULL;
    if (w->opts->sheet[0] && !(one = chosen_sheet(w, err)))
        return -1;
    size_t n = 0;
    note_others(w);
    for (size_t i = 0; i < w->n_sheets; i++) {
        const struct al_xlsx_sheet *s = &w->sheets[i];
        if (s->other || (one && s != one))
            continue;
        if (al_xlsx_table(w, s, err) < 0)
            return -1;
        n++;
    }
    if (!n)
        return al_fail(err, AL_INGEST_INVALID, "the workbook has no worksheet");
    return 0;
}

int al_xlsx_read(int fd, uint64_t size, const struct al_table_opts *opts, const struct al_table_sink *sink,
                 struct al_err *err)
{
    struct al_xlsx w = {.opts = opts, .sink = sink};
    if (check_compound(fd, err) < 0)
        return -1;
    int r = al_zip_open(fd, size, opts->max_bytes ? opts->max_bytes : DEFAULT_MAX_BYTES, &w.zip, err);
    if (r == 0)
        r = al_xlsx_book(&w, err);
    if (r == 0)
        r = al_xlsx_styles(&w, err);
    if (r == 0)
        r = al_xlsx_strings(&w, err);
    if (r == 0)
        r = read_sheets(&w, err);
    for (size_t i = 0; i < w.n_sheets; i++)
        free(w.sheets[i].name);
    free(w.sheets);
    free(w.styles);
    free(w.strings.bytes);
    free(w.strings.start);
    al_zip_free(w.zip);
    return r;
}
