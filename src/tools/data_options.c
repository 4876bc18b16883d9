/* What a caller may force about the reading of a file. */
#include "tools/data_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>

static const struct {
    const char *name;
    char c;
} delimiters[] = {
    {"tab", '\t'}, {"\\t", '\t'}, {"comma", ','}, {"semicolon", ';'}, {"pipe", '|'}, {"space", ' '},
};

static int read_delimiter(struct al_str s, char *ret, struct al_err *err)
{
    for (size_t i = 0; i < sizeof delimiters / sizeof *delimiters; i++) {
        if (al_str_is(s, delimiters[i].name)) {
            *ret = delimiters[i].c;
            return 0;
        }
    }
    bool fine =
        s.n == 1 && (s.p[0] == '\t' || (s.p[0] >= ' ' && s.p[0] < 0x7f)) && s.p[0] != '"' && s.p[0] != '\'';
    if (!fine) {
        al_fail(err, AL_TOOL_INPUT_INVALID, "options.delimiter must be one ASCII character, and not a quote");
        return al_hint(err, "\",\" \";\" \"|\" or \"tab\"; leave it out to have it found");
    }
    *ret = s.p[0];
    return 0;
}

static int read_encoding(struct al_str s, char ret[40], struct al_err *err)
{
    bool fine = s.n > 0 && s.n < 40;
    for (size_t i = 0; fine && i < s.n; i++) {
        char c = s.p[i];
        fine =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-_.:+", c);
    }
    if (!fine) {
        al_fail(err, AL_TOOL_INPUT_INVALID, "options.encoding is no name of an encoding");
        return al_hint(err, "UTF-8, UTF-16, windows-1252, ISO-8859-1, Shift_JIS …");
    }
    snprintf(ret, 40, "%.*s", AL_FMT(s));
    return 0;
}

/* In a fixed order, so that equal options are equal texts. */
static char *canonical(const struct al_data_options *o)
{
    struct al_buf b = AL_BUF_INIT(4096);
    struct al_jw w;
    al_jw_init(&w, &b);
    al_jw_obj(&w);
    if (o->table.delimiter)
        al_jw_kstr(&w, "delimiter", (struct al_str){&o->table.delimiter, 1});
    if (o->table.header)
        al_jw_kbool(&w, "header", o->table.header > 0);
    if (o->table.encoding[0])
        al_jw_kstrz(&w, "encoding", o->table.encoding);
    if (o->table.has_skip_rows)
        al_jw_kint(&w, "skipRows", o->table.skip_rows);
    if (o->decimal)
        al_jw_kstr(&w, "decimal", (struct al_str){&o->decimal, 1});
    if (o->table.sheet[0])
        al_jw_kstrz(&w, "sheet", o->table.sheet);
    al_jw_end(&w);
    return al_buf_take(&b);
}

int al_data_options_read(const struct al_core *core, const struct al_json *options,
                         struct al_data_options *ret, struct al_err *err)
{
    struct al_data_options o = {0};
    struct al_str delimiter = al_json_get_text(options, "delimiter"),
                  encoding = al_json_get_text(options, "encoding"),
                  sheet = al_json_get_text(options, "sheet"), decimal = al_json_get_text(options, "decimal");
    const struct al_json *header = al_json_get(options, "header"), *skip = al_json_get(options, "skipRows");
    int64_t n;
    if (delimiter.p && read_delimiter(delimiter, &o.table.delimiter, err) < 0)
        return -1;
    if (encoding.p && read_encoding(encoding, o.table.encoding, err) < 0)
        return -1;
    if (sheet.n >= sizeof o.table.sheet || (sheet.n && memchr(sheet.p, 0, sheet.n)))
        return al_fail(err, AL_TOOL_INPUT_INVALID, "options.sheet is no name of a sheet");
    if (sheet.n)
        snprintf(o.table.sheet, sizeof o.table.sheet, "%.*s", AL_FMT(sheet));
    if (decimal.n)
        o.decimal = decimal.p[0];
    if (header)
        o.table.header = al_json_is_true(header) ? 1 : -1;
    if (skip && al_json_int(skip, 0, UINT32_MAX, &n)) {
        o.table.skip_rows = (uint32_t)n;
        o.table.has_skip_rows = true;
    }
    o.table.max_bytes = (uint64_t)al_config_int(al_core_config(core), AL_OPT_ANALYSIS_DATA_MAX_UPLOAD_BYTES);
    o.json = canonical(&o);
    if (!o.json)
        return al_fail(err, AL_TOOL_INPUT_INVALID, "options are too long");
    *ret = o;
    return 0;
}

void al_data_options_fini(struct al_data_options *o)
{
    free(o->json);
    *o = (struct al_data_options){0};
}
