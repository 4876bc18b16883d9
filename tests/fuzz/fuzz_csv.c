/* Any bytes as a CSV file: cells are valid UTF-8, lines go up, no letter or digit of plain text gets lost,
 * and what was forced is obeyed. The first byte chooses what is forced. */
#include "base/mem.h"
#include "base/text.h"
#include "table/icu.h"
#include "table/readers.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

struct seen {
    size_t columns, rows, weight;
    uint64_t line;
    bool left_out; /* the notes say that something is not in the cells as it stood */
};

static size_t weight(struct al_str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char ch = (unsigned char)s.p[i];
        n += (ch >= '0' && ch <= '9') || ((ch | 32) >= 'a' && (ch | 32) <= 'z') || ch >= 0x80;
    }
    return n;
}

static int sheet(void *ud, struct al_str name, struct al_err *err)
{
    (void)ud, (void)err;
    MUST(al_str_is(name, "data"));
    return 0;
}

static int columns(void *ud, const struct al_str *labels, size_t n, struct al_err *err)
{
    struct seen *s = ud;
    (void)err;
    MUST(n > 0 && s->columns == 0);
    s->columns = n;
    for (size_t i = 0; i < n; i++) {
        MUST(al_utf8_valid(labels[i]));
        s->weight += weight(labels[i]);
    }
    return 0;
}

static int row(void *ud, const struct al_cell *cells, size_t n, uint64_t line, struct al_err *err)
{
    struct seen *s = ud;
    (void)err;
    MUST(s->columns && n > 0 && line > s->line);
    s->line = line;
    s->rows++;
    for (size_t i = 0; i < n; i++) {
        MUST(cells[i].kind == AL_CELL_TEXT && cells[i].text.n <= AL_TABLE_MAX_CELL &&
             al_utf8_valid(cells[i].text));
        s->weight += weight(cells[i].text);
    }
    return 0;
}

static void note(void *ud, enum al_note kind, uint64_t line, const char *fmt, ...)
{
    struct seen *s = ud;
    char text[2048];
    (void)line;
    va_list ap;
    va_start(ap, fmt);
    MUST(vsnprintf(text, sizeof text, fmt, ap) > 0);
    va_end(ap);
    s->left_out = s->left_out || kind == AL_NOTE_PREAMBLE || kind == AL_NOTE_COMMENT_LINES ||
                  kind == AL_NOTE_ENCODING || kind == AL_NOTE_INVALID_BYTES || kind == AL_NOTE_HEADER;
}

static int progress(void *ud, uint64_t bytes, struct al_err *err)
{
    (void)ud, (void)bytes, (void)err;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static const char *const encodings[] = {"",          "",        "", "utf-8", "utf-16", "windows-1252",
                                            "shift_jis", "utf-32be"};
    static const char delims[] = {0, 0, 0, 0, ',', ';', ' ', 'x'};
    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        al_icu_load();
    }
    if (size < 2)
        return 0;
    bool gzip = data[0] & 1, tsv = data[0] & 2;
    struct al_table_opts opts = {.max_bytes = 1 << 24, .header = (signed char)((data[1] >> 6 & 3) % 3 - 1)};
    snprintf(opts.encoding, sizeof opts.encoding, "%s", encodings[data[0] >> 2 & 7]);
    opts.delimiter = delims[data[0] >> 5];
    opts.has_skip_rows = (data[1] & 7) == 7;
    opts.skip_rows = opts.has_skip_rows ? data[1] >> 3 & 3 : 0;
    struct al_str text = {(const char *)data + 2, size - 2};
    MUST(ftruncate(fd, 0) == 0 && pwrite(fd, text.p, text.n, 0) == (ssize_t)text.n &&
         lseek(fd, 0, SEEK_SET) == 0);

    struct seen seen = {0};
    struct al_table_sink sink = {sheet, columns, NULL, row, note, progress, &seen};
    struct al_table_found found = {0};
    struct al_err err = {0};
    struct al_source *src = NULL;
    if (al_source_open(fd, gzip, &opts, &sink, &src, &err) < 0) {
        MUST(err.code == AL_INGEST_INVALID || err.code == AL_INGEST_LIMIT ||
             err.code == AL_DATASET_UNSUPPORTED);
        return 0;
    }
    char sha[65];
    if (al_csv_read(src, tsv, &opts, &sink, &found, &err) < 0)
        MUST(err.code == AL_INGEST_INVALID || err.code == AL_INGEST_LIMIT);
    else
        MUST(seen.columns && al_source_sha256(src, sha, &err) == 0);
    bool plain = !gzip && !opts.encoding[0] && opts.delimiter != 'x' && !opts.skip_rows && !seen.left_out &&
                 al_utf8_valid(text) && !al_str_starts(text, "sep=") && !al_str_starts(text, "\xef\xbb\xbf");
    if (plain && err.code == AL_OK)
        MUST(seen.weight == weight(text));
    al_source_free(src);
    return 0;
}
