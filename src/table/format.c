#include "table/readers.h"
#include "table/table.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <zlib.h>

#define SNIFF_MAX ((size_t)64 << 10) /* bytes of an unpacked head that are looked at */
#define NAME_SHOWN 120               /* bytes of a file's name in a message */
#define ADVICE "save it as .csv, .tsv, .json, .jsonl or .xlsx"

const char *al_table_format_name(enum al_table_format f)
{
    static const char *const names[] = {"csv", "tsv", "json", "jsonl", "xlsx"};
    return names[f];
}

const char *al_note_id(enum al_note n)
{
    static const char *const ids[] = {
#define AL_NOTE_ID(name, id) id,
        AL_NOTES(AL_NOTE_ID)
#undef AL_NOTE_ID
    };
    return ids[n];
}

/* What a name says. Books are what a spreadsheet program writes, read or not. */
enum extension {
    EXT_NONE,
    EXT_CSV,
    EXT_TSV,
    EXT_JSON,
    EXT_JSONL,
    EXT_BOOK,
    EXT_OTHER
};

static bool ends_with(struct al_str name, const char *suffix)
{
    size_t n = strlen(suffix);
    if (name.n < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = name.p[name.n - n + i];
        if ((c >= 'A' && c <= 'Z' ? c | 0x20 : c) != suffix[i])
            return false;
    }
    return true;
}

static enum extension extension_of(struct al_str name)
{
    static const struct {
        const char *suffix;
        enum extension ext;
    } known[] = {
        {".csv", EXT_CSV},     {".tsv", EXT_TSV},      {".tab", EXT_TSV},   {".json", EXT_JSON},
        {".jsonl", EXT_JSONL}, {".ndjson", EXT_JSONL}, {".xlsx", EXT_BOOK}, {".xlsm", EXT_BOOK},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (ends_with(name, known[i].suffix))
            return known[i].ext;
    }
    return memchr(name.p, '.', name.n) ? EXT_OTHER : EXT_NONE;
}

static const char *shown(struct al_str name, struct al_buf *out)
{
    al_text_visible(out, name.n ? al_utf8_cut(name, NAME_SHOWN) : AL_STR("the file"), false);
    al_buf_addc(out, '\0');
    return al_buf_failed(out) ? "the file" : out->p;
}

static int refuse(struct al_str name, const char *what, const char *hint, struct al_err *err)
{
    autobuf struct al_buf text = AL_BUF_INIT(8 * NAME_SHOWN);
    al_fail(err, AL_DATASET_UNSUPPORTED, "%s is %s", shown(name, &text), what);
    return al_hint(err, "%s", hint);
}

static bool has(struct al_str head, const char *p, size_t n)
{
    return al_str_find(head, (struct al_str){p, n}) >= 0;
}
#define HAS(head, lit) has(head, lit, sizeof(lit) - 1)

static bool begins(struct al_str s, const char *p, size_t n)
{
    return s.n >= n && memcmp(s.p, p, n) == 0;
}
#define BEGINS(head, lit) begins(head, lit, sizeof(lit) - 1)

/* Control characters that no text has, early on. UTF-16 has zeros, and is not asked here. */
static bool binary(struct al_str head)
{
    for (size_t i = 0; i < head.n && i < 512; i++) {
        unsigned char c = (unsigned char)head.p[i];
        if (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b && c != 0x1a)
            return true;
    }
    return false;
}

/* Files known by how they begin. A magic that is plain text counts only where what follows is not text. */
struct magic {
    struct al_str bytes;
    unsigned at;
    bool texty;
    const char *what;
    const char *hint;
};
#define EXPORT "export the table from the program that made it as .csv or .xlsx"
#define UNPACK "unpack it first, then give the file that is inside"
#define PACKED "unpack it first, or pack it with gzip: .csv.gz and .jsonl.gz are read as they are"
#define COLUMNAR "export it as .csv or .jsonl, for instance with DuckDB: COPY (FROM 'file') TO 'file.csv'"
#define IMAGE "a picture holds no rows: give the table that it was made from"
static const struct magic magics[] = {
    {AL_S("%PDF-"), 0, false, "a PDF document, not a table", EXPORT},
    {AL_S("{\\rtf"), 0, false, "a rich text document, not a table", EXPORT},
    {AL_S("%!PS"), 0, false, "a PostScript document, not a table", EXPORT},
    {AL_S("SQLite format 3\0"), 0, false, "an SQLite database, which is not read here",
     "Export a table as .csv: sqlite3 -header -csv FILE \"SELECT * FROM table\" > table.csv"},
    {AL_S("PAR1"), 0, true, "a Parquet file, which is not read here", COLUMNAR},
    {AL_S("PARE"), 0, true, "an encrypted Parquet file, which is not read here", COLUMNAR},
    {AL_S("ARROW1"), 0, true, "an Arrow (Feather) file, which is not read here", COLUMNAR},
    {AL_S("FEA1"), 0, true, "a Feather file, which is not read here", COLUMNAR},
    {AL_S("ORC"), 0, true, "an ORC file, which is not read here", COLUMNAR},
    {AL_S("Obj\1"), 0, false, "an Avro file, which is not read here", COLUMNAR},
    {AL_S("DUCK"), 8, true, "a DuckDB database, which is not read here",
     "export a table: COPY table TO 'table.csv'"},
    {AL_S("\x89HDF\r\n\x1a\n"), 0, false, "an HDF5 file, which is not read here", EXPORT},
    {AL_S("$FL"), 0, true, "an SPSS file, which is not read here", EXPORT},
    {AL_S("<stata_dta>"), 0, false, "a Stata file, which is not read here", EXPORT},
    {AL_S("BZh"), 0, true, "packed with bzip2", PACKED},
    {AL_S("\xfd"
          "7zXZ\0"),
     0, false, "packed with xz", PACKED},
    {AL_S("\x28\xb5\x2f\xfd"), 0, false, "packed with zstd", PACKED},
    {AL_S("\x04\x22\x4d\x18"), 0, false, "packed with lz4", PACKED},
    {AL_S("\x1f\x9d"), 0, false, "packed with compress", PACKED},
    {AL_S("7z\xbc\xaf\x27\x1c"), 0, false, "a 7-Zip archive", UNPACK},
    {AL_S("Rar!\x1a\x07"), 0, false, "a RAR archive", UNPACK},
    {AL_S("ustar"), 257, true, "a tar archive", UNPACK},
    {AL_S("\x89PNG\r\n\x1a\n"), 0, false, "a PNG image, not a table", IMAGE},
    {AL_S("\xff\xd8\xff"), 0, false, "a JPEG image, not a table", IMAGE},
    {AL_S("GIF8"), 0, true, "a GIF image, not a table", IMAGE},
    {AL_S("II*\0"), 0, false, "a TIFF image, not a table", IMAGE},
    {AL_S("MM\0*"), 0, false, "a TIFF image, not a table", IMAGE},
    {AL_S("WEBP"), 8, true, "a WebP image, not a table", IMAGE},
    {AL_S("BM"), 0, true, "a bitmap image, not a table", IMAGE},
    {AL_S("\x7f"
          "ELF"),
     0, false, "a program, not a table", "give the file that holds the rows"},
    {AL_S("MZ"), 0, true, "a Windows program, not a table", "give the file that holds the rows"},
    {AL_S("\0asm"), 0, false, "a WebAssembly program, not a table", "give the file that holds the rows"},
};

static int check_magic(struct al_str name, struct al_str head, struct al_err *err)
{
    bool bin = binary(head);
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
        const struct magic *m = &magics[i];
        if ((!m->texty || bin) && head.n >= m->at + m->bytes.n &&
            memcmp(head.p + m->at, m->bytes.p, m->bytes.n) == 0)
            return refuse(name, m->what, m->hint, err);
    }
    return 0;
}

/* Compound files [MS-CFB]: an old workbook, or a new one that is encrypted [MS-OFFCRYPTO]; stream names are
 * UTF-16. */
static int check_compound(struct al_str name, struct al_str head, struct al_err *err)
{
    if (!BEGINS(head, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"))
        return 0;
    bool old = HAS(head, "W\0o\0r\0k\0b\0o\0o\0k\0") || HAS(head, "\0B\0o\0o\0k\0");
    if (HAS(head, "E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0") ||
        (!old && extension_of(name) == EXT_BOOK)) {
        return refuse(name, "a password-protected workbook: its cells are encrypted",
                      "remove the password in Excel (File, Info, Protect Workbook) and save it again", err);
    }
    if (old || ends_with(name, ".xls")) {
        return refuse(
            name, "a workbook in the old binary format of Excel 97 to 2003 (.xls), which is not read here",
            "open it in Excel or LibreOffice and save it as .xlsx", err);
    }
    return refuse(name, "an old Office document, not a table", EXPORT, err);
}

/* 1: a workbook. The names of a ZIP's entries stand uncompressed in it. */
static int check_zip(struct al_str name, struct al_str head, struct al_err *err)
{
    if (BEGINS(head, "PK\5\6"))
        return refuse(name, "an empty ZIP archive", "give a file that holds rows", err);
    if (!BEGINS(head, "PK\3\4") && !BEGINS(head, "PK00PK\3\4"))
        return 0;
    if (HAS(head, "mimetypeapplication/vnd.oasis.opendocument.spreadsheet")) {
        return refuse(name, "an OpenDocument spreadsheet (.ods), which is not read here",
                      "open it in LibreOffice or Excel and save it as .xlsx or .csv", err);
    }
    if (HAS(head, "mimetypeapplication/vnd.oasis.opendocument"))
        return refuse(name, "an OpenDocument document, not a table", EXPORT, err);
    if (HAS(head, "xl/workbook.bin")) {
        return refuse(name, "a binary workbook (.xlsb), which is not read here",
                      "open it in Excel and save it as .xlsx", err);
    }
    if (HAS(head, "xl/workbook.xml") || HAS(head, "xl/_rels/") || HAS(head, "xl/worksheets/"))
        return 1;
    if (HAS(head, "word/document.xml"))
        return refuse(name, "a Word document, not a table",
                      "copy its table into a spreadsheet, save it as .xlsx", err);
    if (HAS(head, "ppt/presentation.xml"))
        return refuse(name, "a PowerPoint document, not a table", EXPORT, err);
    if (HAS(head, "Index/Document.iwa")) {
        return refuse(name, "an Apple Numbers document, which is not read here",
                      "export it from Numbers as .xlsx or .csv", err);
    }
    if (extension_of(name) == EXT_BOOK || HAS(head, "[Content_Types].xml"))
        return 1;
    return refuse(name, "a ZIP archive, not a table", UNPACK, err);
}

static bool begins_nocase(struct al_str s, const char *low)
{
    size_t n = strlen(low);
    return s.n >= n && ends_with((struct al_str){s.p, n}, low);
}

static struct al_str skip_space(struct al_str s)
{
    while (s.n && (*s.p == ' ' || *s.p == '\t' || *s.p == '\n' || *s.p == '\r')) {
        s.p++;
        s.n--;
    }
    return s;
}

/* Markup, in text without its byte order mark and zeros. */
static int check_markup(struct al_str name, struct al_str text, struct al_err *err)
{
    static const char *const tags[] = {"<!doctype html", "<html", "<head", "<body",
                                       "<table",         "<meta", "<title"};
    struct al_str s = skip_space(text);
    bool xml = begins_nocase(s, "<?xml");
    bool html = xml && (HAS(s, "<html") || HAS(s, "<HTML") || HAS(s, "<!DOCTYPE html"));
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++)
        html |= begins_nocase(s, tags[i]);
    if (html) {
        return refuse(
            name, "an HTML page, whatever its name says, and not a table file",
            "open it in Excel or LibreOffice and save it as .xlsx or .csv (or download the data again: "
            "the page may be a sign-in or an error page)",
            err);
    }
    if (xml && HAS(s, "urn:schemas-microsoft-com:office:spreadsheet")) {
        return refuse(name, "an XML spreadsheet of Excel 2003, which is not read here",
                      "open it in Excel or LibreOffice and save it as .xlsx", err);
    }
    if (xml || begins_nocase(s, "<!doctype"))
        return refuse(name, "an XML document, which is not read as a table", "convert it to .csv or .jsonl",
                      err);
    return 0;
}

static struct al_str first_line(struct al_str s)
{
    const char *end = s.n ? memchr(s.p, '\n', s.n) : NULL;
    return (struct al_str){s.p, end ? (size_t)(end - s.p) : s.n};
}

/* What a JSON text of several values begins with, and hardly a CSV. */
static bool looks_json(struct al_str text)
{
    struct al_str s = skip_space(text);
    if (s.n == 0 || (*s.p != '{' && *s.p != '['))
        return false;
    struct al_str line = first_line(s), bare = al_str_trim(line);
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)16 << 20);
    const struct al_json *v = NULL;
    if (al_json_parse(&a, line, &v, NULL) == 0)
        return true;
    if (bare.n == 1 || line.n == s.n) { /* laid out over lines, or one line longer than what is here */
        struct al_str in = skip_space((struct al_str){s.p + 1, s.n - 1});
        if (in.n == 0 || (*s.p == '{' && *in.p != '"'))
            return false;
        return strchr("{[\"-0123456789", *in.p) || BEGINS(in, "null") || BEGINS(in, "true") ||
               BEGINS(in, "false");
    }
    return al_str_is(bare, "[{") || BEGINS(s, "[{\"") || BEGINS(s, "{\"") || BEGINS(s, "[[");
}

struct line_count {
    unsigned fields;  /* delimiters of a line, quotes respected */
    bool more_behind; /* something stands behind the last one */
    bool blank;
};

static struct line_count count_line(struct al_str line, char delimiter)
{
    struct line_count c = {0};
    bool quoted = false;
    line = al_str_trim(line);
    c.blank = line.n == 0;
    for (size_t i = 0; i < line.n; i++) {
        quoted ^= line.p[i] == '"';
        if (line.p[i] == delimiter && !quoted) {
            c.fields++;
            c.more_behind = i + 1 < line.n;
        }
    }
    return c;
}

/* At least two lines, and nine of ten of the first hundred with the same count of one delimiter, not at their
 * ends. */
static bool looks_delimited(struct al_str text)
{
    static const char delimiters[] = ",;\t|";
    for (const char *d = delimiters; *d; d++) {
        struct al_str s = text;
        unsigned lines = 0, same = 0, width = 0;
        while (s.n && lines < 100) {
            struct al_str line = first_line(s);
            bool whole = line.n < s.n || text.n < SNIFF_MAX;
            size_t used = line.n < s.n ? line.n + 1 : line.n;
            s = (struct al_str){s.p + used, s.n - used};
            struct line_count c = count_line(line, *d);
            if (c.blank || !whole)
                continue;
            if (lines++ == 0)
                width = c.fields;
            same += c.fields == width && c.more_behind;
        }
        if (width > 0 && lines >= 2 && same * 10 >= lines * 9)
            return true;
    }
    return false;
}

/* For looking only: without byte order mark and without the zeros that UTF-16 and UTF-32 of ASCII have. */
static struct al_str plain(struct al_str head, struct al_buf *out)
{
    if (BEGINS(head, "\xef\xbb\xbf"))
        head = (struct al_str){head.p + 3, head.n - 3};
    else if (BEGINS(head, "\xff\xfe") || BEGINS(head, "\xfe\xff") || BEGINS(head, "\0\0\xfe\xff"))
        head = (struct al_str){head.p + 2, head.n - 2};
    for (size_t i = 0; i < head.n; i++) {
        if (head.p[i] != '\0' && (i > 3 || (unsigned char)head.p[i] < 0xfe))
            al_buf_addc(out, head.p[i]);
    }
    return al_buf_str(out);
}

static bool mostly_zeros(struct al_str head, struct al_str text)
{
    return head.n - text.n >=
           head.n / 4; /* UTF-16 of ASCII: half; a binary file's zeros are caught by its kind */
}

static int by_content(struct al_str name, struct al_str head, struct al_str text, struct al_table_found *ret,
                      struct al_err *err)
{
    bool wide = head.n > text.n && mostly_zeros(head, text);
    if ((head.n > text.n && !wide) || binary(text)) {
        return refuse(name, "a binary file of a kind that is not known here", ADVICE, err);
    }
    if (looks_json(text)) {
        ret->format = AL_TABLE_JSON;
        return 0;
    }
    if (looks_delimited(text)) {
        ret->format = AL_TABLE_CSV;
        return 0;
    }
    if (extension_of(name) == EXT_BOOK)
        return refuse(name, "not a workbook, whatever its name says", "save it again as .xlsx, or as .csv",
                      err);
    return refuse(name, "text in which no table can be recognised",
                  "give it the extension of its format (.csv, .tsv, .json or .jsonl), and it is read as that",
                  err);
}

static int detect_text(struct al_str name, struct al_str head, struct al_table_found *ret, struct al_err *err)
{
    autobuf struct al_buf held = AL_BUF_INIT(2 * SNIFF_MAX + 1);
    struct al_str text = plain(head, &held);
    if (check_markup(name, text, err) < 0)
        return -1;
    switch (extension_of(name)) {
    case EXT_CSV:
    case EXT_TSV:
        ret->format = looks_json(text)                ? AL_TABLE_JSON
                      : extension_of(name) == EXT_TSV ? AL_TABLE_TSV
                                                      : AL_TABLE_CSV;
        return 0;
    case EXT_JSON:
        ret->format = AL_TABLE_JSON;
        return 0;
    case EXT_JSONL:
        ret->format = AL_TABLE_JSONL;
        return 0;
    default:
        return by_content(name, head, text, ret, err);
    }
}

static int detect_plain(struct al_str name, struct al_str head, struct al_table_found *ret,
                        struct al_err *err)
{
    if (check_compound(name, head, err) < 0 || check_magic(name, head, err) < 0)
        return -1;
    int book = check_zip(name, head, err);
    if (book < 0)
        return -1;
    if (book == 0)
        return detect_text(name, head, ret, err);
    if (ret->gzip) {
        return refuse(name, "a workbook packed with gzip",
                      "unpack it first: only .csv, .tsv, .json and .jsonl are read "
                      "packed",
                      err);
    }
    ret->format = AL_TABLE_XLSX;
    return 0;
}

/* The first bytes of what a gzip file (RFC 1952) unpacks to. A damaged one gives what there is: its reader
 * says more. */
static int unpack_head(struct al_str head, struct al_buf *out, struct al_err *err)
{
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)head.p, .avail_in = (unsigned)head.n};
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return al_fail(err, AL_INTERNAL, "no memory to unpack");
    char *p = al_buf_grow(out, SNIFF_MAX);
    z.next_out = (unsigned char *)p;
    z.avail_out = (unsigned)SNIFF_MAX;
    int r;
    do
        r = inflate(&z, Z_SYNC_FLUSH);
    while (r == Z_OK && z.avail_in && z.avail_out);
    out->n = SNIFF_MAX - z.avail_out;
    inflateEnd(&z);
    return 0;
}

int al_table_detect(struct al_str name, struct al_str head, struct al_table_found *ret, struct al_err *err)
{
    struct al_table_found found = {0};
    autobuf struct al_buf unpacked = AL_BUF_INIT(SNIFF_MAX), text = AL_BUF_INIT(8 * NAME_SHOWN);
    struct al_str inner = name;
    if (ends_with(name, ".gz"))
        inner.n -= 3;
    if (BEGINS(head, "\x1f\x8b")) {
        found.gzip = true;
        if (head.n > 2 * SNIFF_MAX)
            head.n = 2 * SNIFF_MAX;
        if (unpack_head(head, &unpacked, err) < 0)
            return -1;
        head = al_buf_str(&unpacked);
        if (BEGINS(head, "\x1f\x8b"))
            return refuse(name, "packed with gzip twice", "unpack it once", err);
    }
    if (head.n == 0) {
        al_fail(err, AL_INGEST_INVALID, "%s is empty", shown(name, &text));
        return al_hint(err, "give a file that holds rows");
    }
    if (detect_plain(inner, head, &found, err) < 0)
        return -1;
    *ret = found;
    return 0;
}
