#include "dataset/builder_int.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>

static void __attribute__((format(printf, 2, 0)))
take_text(struct al_bnote *note, const char *fmt, va_list ap)
{
    char text[AL_NOTE_TEXT];
    if (note->text)
        return;
    int n = vsnprintf(text, sizeof text, fmt, ap);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    if (len == sizeof text - 1) { /* cut: at a character */
        while (len && ((unsigned char)text[len - 1] & 0xC0) == 0x80)
            len--;
        len -= len && (unsigned char)text[len - 1] >= 0xC0;
    }
    note->text = al_xdup(text, len);
}

void al_builder_note(void *ud, enum al_note kind, uint64_t line, const char *fmt, ...)
{
    struct al_builder *b = ud;
    if ((unsigned)kind >= AL_NOTE_COUNT)
        return;
    struct al_bnote *note = &(b->in_sheet ? b->notes : b->file_notes)[kind];
    if (line || note->lines.count == 0)
        al_lines_add(&note->lines, line);
    else
        note->lines.count++;
    if (note->text)
        return;
    va_list ap;
    va_start(ap, fmt);
    take_text(note, fmt, ap);
    va_end(ap);
}

void al_builder_note_lines(struct al_builder *b, enum al_note kind, const struct al_lines *lines,
                           const char *fmt, ...)
{
    struct al_bnote *note = &b->notes[kind];
    for (uint64_t i = 0; i < lines->count && i < AL_NOTE_LINES; i++)
        al_lines_add(&note->lines, lines->line[i]);
    if (lines->count > AL_NOTE_LINES)
        note->lines.count += lines->count - AL_NOTE_LINES;
    va_list ap;
    va_start(ap, fmt);
    take_text(note, fmt, ap);
    va_end(ap);
}

static void lines_json(const struct al_lines *l, struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_arr(&w);
    for (uint64_t i = 0; i < l->count && i < AL_NOTE_LINES; i++) {
        if (l->line[i])
            al_jw_int(&w, (int64_t)l->line[i]);
    }
    al_jw_end(&w);
}

int al_builder_write_notes(struct al_builder *b, struct al_bnote notes[AL_NOTE_COUNT], bool of_sheet,
                           struct al_err *err)
{
    sqlite3_stmt *s = NULL;
    if (al_builder_prepare(b, &s, err, "INSERT INTO _alisio_notes VALUES (?1, ?2, ?3, ?4, ?5, ?6)") < 0)
        return -1;
    int rc = SQLITE_OK;
    for (int kind = 0; kind < AL_NOTE_COUNT && rc == SQLITE_OK; kind++) {
        if (!notes[kind].lines.count)
            continue;
        autobuf struct al_buf lines = AL_BUF_INIT(256), text = AL_BUF_INIT(4 * AL_NOTE_TEXT);
        lines_json(&notes[kind].lines, &lines);
        al_utf8_clean(&text, al_str_of(notes[kind].text ? notes[kind].text : ""));
        sqlite3_bind_int64(s, 1, (int64_t)(of_sheet ? b->n_sheets : 0) * 1000 + kind);
        if (of_sheet)
            sqlite3_bind_text(s, 2, b->sheet_name, (int)b->n_sheet_name, SQLITE_STATIC);
        sqlite3_bind_text(s, 3, al_note_id((enum al_note)kind), -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 4, (int64_t)notes[kind].lines.count);
        sqlite3_bind_text(s, 5, lines.p, (int)lines.n, SQLITE_STATIC);
        sqlite3_bind_text(s, 6, al_buf_str(&text).p, (int)text.n, SQLITE_STATIC);
        sqlite3_step(s);
        rc = sqlite3_reset(s);
        sqlite3_clear_bindings(s);
    }
    sqlite3_finalize(s);
    al_builder_drop_notes(notes);
    return rc == SQLITE_OK ? 0 : al_builder_sql_error(b, rc, err);
}

void al_builder_drop_notes(struct al_bnote notes[AL_NOTE_COUNT])
{
    for (int kind = 0; kind < AL_NOTE_COUNT; kind++)
        free(notes[kind].text);
    memset(notes, 0, AL_NOTE_COUNT * sizeof *notes);
}
