#include "test.h"

#include "xlsx_make.h"

#include "base/mem.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static void put16(struct al_buf *b, unsigned v)
{
    al_buf_addc(b, (char)v);
    al_buf_addc(b, (char)(v >> 8));
}

static void put32(struct al_buf *b, uint64_t v)
{
    put16(b, (unsigned)(v & 0xffff));
    put16(b, (unsigned)(v >> 16 & 0xffff));
}

static void put64(struct al_buf *b, uint64_t v)
{
    put32(b, v & 0xffffffff);
    put32(b, v >> 32);
}

void make_begin(struct make *m)
{
    *m = (struct make){.file = AL_BUF_INIT(64 << 20), .directory = AL_BUF_INIT(16 << 20), .method = 8};
}

static size_t pack(const struct make *m, const char *text, size_t n, unsigned char **ret)
{
    uLong room = compressBound(n) + 64;
    *ret = al_xmalloc(room);
    if (m->method != 8) {
        memcpy(*ret, text, n);
        return n;
    }
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)n;
    z.next_out = *ret;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t packed = z.total_out;
    deflateEnd(&z);
    return packed;
}

void make_add(struct make *m, const char *name, const char *text, size_t n)
{
    autofree unsigned char *bytes = NULL;
    size_t packed = pack(m, text, n, &bytes);
    uint64_t unpacked = m->claim_unpacked ? m->claim_unpacked : n, at = m->file.n;
    uLong crc = crc32(0, (const Bytef *)text, (uInt)n);
    put32(&m->file, 0x04034b50);
    put16(&m->file, 20);
    put16(&m->file, m->flags);
    put16(&m->file, m->method);
    put32(&m->file, 0);
    put32(&m->file, crc);
    put32(&m->file, packed);
    put32(&m->file, unpacked);
    put16(&m->file, (unsigned)strlen(name));
    put16(&m->file, 0);
    al_buf_adds(&m->file, name);
    al_buf_add(&m->file, bytes, packed);

    put32(&m->directory, 0x02014b50);
    put32(&m->directory, 20 | 20 << 16);
    put16(&m->directory, m->flags);
    put16(&m->directory, m->method);
    put32(&m->directory, 0);
    put32(&m->directory, crc);
    put32(&m->directory, m->zip64 ? 0xffffffff : packed);
    put32(&m->directory, m->zip64 ? 0xffffffff : unpacked);
    put16(&m->directory, (unsigned)strlen(name));
    put16(&m->directory, m->zip64 ? 28 : 0);
    put16(&m->directory, 0);
    put32(&m->directory, 0);
    put32(&m->directory, 0);
    put32(&m->directory, m->zip64 ? 0xffffffff : at);
    al_buf_adds(&m->directory, name);
    if (m->zip64) {
        put16(&m->directory, 1);
        put16(&m->directory, 24);
        put64(&m->directory, unpacked);
        put64(&m->directory, packed);
        put64(&m->directory, at);
    }
    m->n++;
}

void make_part(struct make *m, const char *name, const char *text)
{
    make_add(m, name, text, strlen(text));
}

int make_end(struct make *m)
{
    uint64_t at = m->file.n, size = m->directory.n;
    al_buf_add_str(&m->file, al_buf_str(&m->directory));
    if (m->zip64) {
        uint64_t end = m->file.n;
        put32(&m->file, 0x06064b50);
        put64(&m->file, 44);
        put32(&m->file, 45 | 45 << 16);
        put64(&m->file, 0);
        put64(&m->file, m->n);
        put64(&m->file, m->n);
        put64(&m->file, size);
        put64(&m->file, at);
        put32(&m->file, 0x07064b50);
        put32(&m->file, 0);
        put64(&m->file, end);
        put32(&m->file, 1);
    }
    put32(&m->file, 0x06054b50);
    put32(&m->file, 0);
    put16(&m->file, m->zip64 ? 0xffff : m->n);
    put16(&m->file, m->zip64 ? 0xffff : m->n);
    put32(&m->file, m->zip64 ? 0xffffffff : size);
    put32(&m->file, m->zip64 ? 0xffffffff : at);
    put16(&m->file, 0);
    assert_false(al_buf_failed(&m->file));
    int fd = memfd_create("book", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, m->file.p, m->file.n), m->file.n);
    al_buf_free(&m->file);
    al_buf_free(&m->directory);
    return fd;
}

#define MAIN "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
#define REL "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
#define PACKAGE "http://schemas.openxmlformats.org/package/2006/relationships"

const char make_rels[] = "<Relationships xmlns=\"" PACKAGE "\"><Relationship Id=\"rId1\" Type=\"" REL
                         "/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>";
const char make_book[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?><workbook xmlns=\"" MAIN "\" xmlns:r=\"" REL
    "\"><sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>";
const char make_book_rels[] = "<Relationships xmlns=\"" PACKAGE "\"><Relationship Id=\"rId1\" Type=\"" REL
                              "/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>";

int make_sheet(const char *rows, const char *strings, const char *styles)
{
    struct make m;
    make_begin(&m);
    make_part(&m, "_rels/.rels", make_rels);
    make_part(&m, "xl/workbook.xml", make_book);
    make_part(&m, "xl/_rels/workbook.xml.rels", make_book_rels);
    autobuf struct al_buf b = AL_BUF_INIT(64 << 20);
    al_buf_addf(&b, "<worksheet xmlns=\"" MAIN "\"><sheetData>%s</sheetData></worksheet>", rows);
    make_add(&m, "xl/worksheets/sheet1.xml", b.p, b.n);
    al_buf_clear(&b);
    if (strings) {
        al_buf_addf(&b, "<sst xmlns=\"" MAIN "\">%s</sst>", strings);
        make_add(&m, "xl/sharedStrings.xml", b.p, b.n);
        al_buf_clear(&b);
    }
    if (styles) {
        al_buf_addf(&b, "<styleSheet xmlns=\"" MAIN "\">%s</styleSheet>", styles);
        make_add(&m, "xl/styles.xml", b.p, b.n);
    }
    return make_end(&m);
}

/* ---- the sink ---- */

static int on_sheet(void *ud, struct al_str name, struct al_err *err)
{
    struct seen *s = ud;
    (void)err;
    al_buf_addf(&s->text, "[%.*s]\n", AL_FMT(name));
    return 0;
}

static int on_columns(void *ud, const struct al_str *labels, size_t n, struct al_err *err)
{
    struct seen *s = ud;
    (void)err;
    for (size_t i = 0; i < n; i++)
        al_buf_addf(&s->text, "%s%.*s", i ? "|" : "", AL_FMT(labels[i]));
    al_buf_adds(&s->text, "\n");
    return 0;
}

static int on_late(void *ud, struct al_str label, struct al_err *err)
{
    struct seen *s = ud;
    (void)err;
    al_buf_addf(&s->text, "+%.*s\n", AL_FMT(label));
    return 0;
}

static int on_row(void *ud, const struct al_cell *cells, size_t n, uint64_t line, struct al_err *err)
{
    struct seen *s = ud;
    (void)err;
    s->rows++;
    for (size_t i = 0; i < n; i++)
        s->cells += cells[i].kind != AL_CELL_NULL;
    if (s->numbers_only)
        return 0;
    al_buf_addf(&s->text, "%llu: ", (unsigned long long)line);
    for (size_t i = 0; i < n; i++) {
        struct al_str t = cells[i].kind == AL_CELL_NULL ? AL_STR("-") : cells[i].text;
        al_buf_addf(&s->text, "%s%s%.*s", i ? "|" : "", cells[i].kind == AL_CELL_NUMBER ? "#" : "",
                    AL_FMT(t));
    }
    al_buf_adds(&s->text, "\n");
    return 0;
}

static void on_note(void *ud, enum al_note kind, uint64_t line, const char *fmt, ...)
{
    static const char *const ids[] = {
#define NOTE_ID(name, id) id,
        AL_NOTES(NOTE_ID)
#undef NOTE_ID
    };
    struct seen *s = ud;
    (void)fmt;
    if (!s->notes[kind]++)
        al_buf_addf(&s->text, "!%s@%llu\n", ids[kind], (unsigned long long)line);
}

static int on_progress(void *ud, uint64_t bytes, struct al_err *err)
{
    (void)ud, (void)bytes, (void)err;
    return 0;
}

void seen_init(struct seen *s)
{
    *s = (struct seen){.text = AL_BUF_INIT(16 << 20)};
    s->sink = (struct al_table_sink){on_sheet, on_columns, on_late, on_row, on_note, on_progress, s};
}

void seen_free(struct seen *s)
{
    al_buf_free(&s->text);
}

void seen_read(struct seen *s, int fd, const struct al_table_opts *opts)
{
    static const struct al_table_opts none;
    struct al_err err = {0};
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    if (al_xlsx_read(fd, (uint64_t)st.st_size, opts ? opts : &none, &s->sink, &err) < 0)
        al_buf_addf(&s->text, "%s: %s\n", al_code_name(err.code), err.msg);
    close(fd);
}

const char *seen_text(struct seen *s)
{
    al_buf_addc(&s->text, 0);
    assert_false(al_buf_failed(&s->text));
    s->text.n--;
    return s->text.p;
}
