/*
 * A workbook out of any bytes. "PK…": they are the archive. Else they are its parts, apart by form feeds: the
 * worksheet, the shared strings, the styles, the workbook, its relationships; what is missing is as it should
 * be.
 */
#include "table/readers.h"

#include "base/text.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char book[] =
    "<workbook xmlns:r=\"u\"><sheets><sheet name=\"S\" r:id=\"a\"/></sheets></workbook>";
static const char rels[] = "<Relationships><Relationship Id=\"a\" Type=\"t/worksheet\" "
                           "Target=\"worksheets/sheet1.xml\"/></Relationships>";
static const char *const names[] = {"xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml",
                                    "xl/workbook.xml", "xl/_rels/workbook.xml.rels"};
#define N_PARTS (sizeof names / sizeof *names)

static void put(struct al_buf *b, uint64_t v, int bytes)
{
    for (; bytes--; v >>= 8)
        al_buf_addc(b, (char)v);
}

/* A stored entry, and its line in the directory. */
static void add(struct al_buf *file, struct al_buf *dir, const char *name, struct al_str text)
{
    uint64_t at = file->n, crc = crc32(0, (const Bytef *)text.p, (uInt)text.n);
    for (int central = 0; central < 2; central++) {
        struct al_buf *b = central ? dir : file;
        put(b, central ? 0x02014b50 : 0x04034b50, 4);
        put(b, 20, central ? 4 : 2);
        put(b, 0, 8); /* flags, method, time, date */
        put(b, crc, 4);
        put(b, text.n, 4);
        put(b, text.n, 4);
        put(b, strlen(name), 2);
        put(b, 0, central ? 14 : 2);
        if (central)
            put(b, at, 4);
        al_buf_adds(b, name);
    }
    al_buf_add_str(file, text);
}

static void build(struct al_str s, struct al_buf *file)
{
    autobuf struct al_buf dir = AL_BUF_INIT(1 << 20);
    unsigned n = 0;
    for (size_t i = 0; i < N_PARTS; i++) {
        const char *end = s.p ? memchr(s.p, '\f', s.n) : NULL;
        struct al_str part = {s.p, end ? (size_t)(end - s.p) : s.n};
        if (!s.p) {
            if (i < 3)
                continue;
            part = al_str_of(i == 3 ? book : rels);
        }
        add(file, &dir, names[i], part);
        n++;
        s = end ? (struct al_str){end + 1, s.n - part.n - 1} : (struct al_str){NULL, 0};
    }
    uint64_t at = file->n;
    al_buf_add_str(file, al_buf_str(&dir));
    put(file, 0x06054b50, 8);
    put(file, n, 2);
    put(file, n, 2);
    put(file, dir.n, 4);
    put(file, at, 4);
    put(file, 0, 2);
}

static size_t n_columns;

static int on_sheet(void *ud, struct al_str name, struct al_err *err)
{
    (void)ud, (void)err;
    if (!al_utf8_valid(name))
        abort();
    n_columns = 0;
    return 0;
}

static int on_columns(void *ud, const struct al_str *labels, size_t n, struct al_err *err)
{
    (void)ud, (void)err;
    if (n_columns || !n)
        abort();
    n_columns = n;
    for (size_t i = 0; i < n; i++)
        if (!al_utf8_valid(labels[i]))
            abort();
    return 0;
}

static int on_late(void *ud, struct al_str label, struct al_err *err)
{
    (void)ud, (void)err, (void)label;
    n_columns++;
    return 0;
}

static int on_row(void *ud, const struct al_cell *cells, size_t n, uint64_t line, struct al_err *err)
{
    (void)ud, (void)err, (void)line;
    if (n != n_columns || n > AL_TABLE_MAX_COLUMNS)
        abort();
    for (size_t i = 0; i < n; i++)
        if (!al_utf8_valid(cells[i].text) || cells[i].text.n > AL_TABLE_MAX_CELL)
            abort();
    return 0;
}

static void on_note(void *ud, enum al_note kind, uint64_t line, const char *fmt, ...)
{
    (void)ud, (void)line, (void)fmt;
    if (kind >= AL_NOTE_COUNT)
        abort();
}

static int on_progress(void *ud, uint64_t bytes, struct al_err *err)
{
    (void)ud, (void)bytes, (void)err;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static const struct al_table_sink sink = {on_sheet, on_columns,  on_late, on_row,
                                              on_note,  on_progress, NULL};
    static const struct al_table_opts opts = {.max_bytes = 1 << 24};
    autobuf struct al_buf file = AL_BUF_INIT(1 << 24);
    struct al_str s = {(const char *)data, size};
    if (fd < 0)
        fd = memfd_create("xlsx", MFD_CLOEXEC);
    if (al_str_starts(s, "PK"))
        al_buf_add_str(&file, s);
    else
        build((struct al_str){size ? s.p : "", size}, &file);
    if (al_buf_failed(&file))
        return 0;
    if (ftruncate(fd, 0) < 0 || pwrite(fd, file.p, file.n, 0) != (ssize_t)file.n)
        abort();
    struct al_err err = {0};
    if (al_xlsx_read(fd, file.n, &opts, &sink, &err) < 0 && err.code == AL_INTERNAL)
        abort();
    return 0;
}
