#include "csv_rig.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX ((size_t)1 << 30)

static void put(struct csv_rig *r, struct al_str s)
{
    uint32_t n = (uint32_t)s.n;
    al_buf_add(&r->raw, &n, sizeof n);
    al_buf_add_str(&r->raw, s);
    for (size_t i = 0; i < s.n; i++) {
        char ch = s.p[i];
        if (ch == '\n')
            al_buf_adds(&r->text, "\\n");
        else if (ch == '\r')
            al_buf_adds(&r->text, "\\r");
        else if (ch == '\t')
            al_buf_adds(&r->text, "\\t");
        else if (ch == 0)
            al_buf_adds(&r->text, "\\0");
        else
            al_buf_addc(&r->text, ch);
    }
}

static int sheet(void *ud, struct al_str name, struct al_err *err)
{
    (void)ud;
    return al_str_is(name, "data") ? 0 : al_fail(err, AL_INTERNAL, "sheet %.*s", AL_FMT(name));
}

static int columns(void *ud, const struct al_str *labels, size_t n, struct al_err *err)
{
    struct csv_rig *r = ud;
    if (r->columns)
        return al_fail(err, AL_INTERNAL, "columns twice");
    r->columns = n;
    for (size_t i = 0; i < n; i++)
        r->labelled = r->labelled || labels[i].n;
    for (size_t i = 0; i < n && !r->quiet; i++) {
        al_buf_addc(&r->text, i ? '|' : '=');
        put(r, labels[i]);
    }
    al_buf_addc(&r->text, '\n');
    return 0;
}

static int late_column(void *ud, struct al_str label, struct al_err *err)
{
    (void)ud, (void)label;
    return al_fail(err, AL_INTERNAL, "a late column");
}

static int row(void *ud, const struct al_cell *cells, size_t n, uint64_t line, struct al_err *err)
{
    struct csv_rig *r = ud;
    r->rows++;
    r->cells += n;
    r->first_line = r->rows == 1 ? line : r->first_line;
    if (!r->columns || (r->rows > 1 && line <= r->last_line))
        return al_fail(err, AL_INTERNAL, "out of order");
    r->last_line = line;
    if (r->stop_at_row == r->rows)
        return al_fail(err, AL_CANCELLED, "stopped");
    for (size_t i = 0; i < n && !r->quiet; i++) {
        if (i)
            al_buf_addc(&r->text, '|');
        put(r, cells[i].text);
    }
    if (!r->quiet)
        al_buf_addc(&r->text, '\n');
    return 0;
}

static void note(void *ud, enum al_note kind, uint64_t line, const char *fmt, ...)
{
    struct csv_rig *r = ud;
    if (r->notes[kind]++)
        return;
    r->note_line[kind] = line;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->note_text[kind], sizeof r->note_text[kind], fmt, ap);
    va_end(ap);
}

static int progress(void *ud, uint64_t bytes, struct al_err *err)
{
    struct csv_rig *r = ud;
    if (bytes < r->progress)
        return al_fail(err, AL_INTERNAL, "progress went back");
    r->progress = bytes;
    return 0;
}

void csv_rig_init(struct csv_rig *r)
{
    memset(r, 0, sizeof *r);
    al_buf_init(&r->text, MAX);
    al_buf_init(&r->raw, MAX);
    r->sink = (struct al_table_sink){sheet, columns, late_column, row, note, progress, r};
}

void csv_rig_free(struct csv_rig *r)
{
    al_buf_free(&r->text);
    al_buf_free(&r->raw);
}

int csv_rig_fd(struct al_str bytes)
{
    int fd = memfd_create("csv", MFD_CLOEXEC);
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);
        if (n <= 0)
            abort();
        bytes = (struct al_str){bytes.p + n, bytes.n - (size_t)n};
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

int csv_rig_read_fd(struct csv_rig *r, int fd)
{
    struct al_source *src = NULL;
    al_buf_clear(&r->text);
    al_buf_clear(&r->raw);
    r->columns = r->rows = r->cells = 0;
    r->progress = r->first_line = r->last_line = 0;
    r->labelled = false;
    r->encoding[0] = r->sha256[0] = 0;
    memset(r->notes, 0, sizeof r->notes);
    memset(r->note_text, 0, sizeof r->note_text);
    memset(&r->found, 0, sizeof r->found);
    al_err_clear(&r->err);
    if (al_source_open(fd, r->gzip, &r->opts, &r->sink, &src, &r->err) < 0)
        return -1;
    snprintf(r->encoding, sizeof r->encoding, "%s", al_source_encoding(src));
    int ret = al_csv_read(src, r->tsv, &r->opts, &r->sink, &r->found, &r->err);
    snprintf(r->encoding, sizeof r->encoding, "%s", al_source_encoding(src));
    if (ret == 0)
        ret = al_source_sha256(src, r->sha256, &r->err);
    al_source_free(src);
    return ret;
}

int csv_rig_read(struct csv_rig *r, struct al_str bytes)
{
    int fd = csv_rig_fd(bytes);
    int ret = csv_rig_read_fd(r, fd);
    close(fd);
    return ret;
}

const char *csv_rig_text(struct csv_rig *r)
{
    al_buf_addc(&r->text, '\0');
    if (r->text.n)
        r->text.n--;
    return r->text.p ? r->text.p : "";
}

const char *csv_rig_corpus(char room[4096])
{
    const char *named = getenv("ALISIO_CORPUS");
    snprintf(room, 4096, "%s/csv", named ? named : ALISIO_SOURCE_DIR "/../shared/corpus");
    return access(room, R_OK) == 0 ? room : NULL;
}
