/* A sheet and its export are the same table: one header for both. Grids: rows end with ~, cells with |. */
#include "test.h"

#include "csv_rig.h"
#include "xlsx_make.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>

static const char *const grids[] = {
    "a|b|c~1|2|3~4|5|6",
    "a|b|c~x|y|z~u|v|w",
    "1|2|3~4|5|6~7|8|9",
    "name|age~ann|31~bob|4~cy|7",
    "ann|31|2020-01-01~bob|4|2021-03-04~cy|7|2022-05-06",
    "city|2019|2020~Bonn|12|13~Ulm|4|5",
    "Sales 2024||~||~a|b|c~1|2|3~4|5|6",
    "Sales 2024||~a|b|c~1|2|3~4|5|6",
    "Sales||~by month||~||~a|b|c~x|y|1~u|v|2",
    "|score|at~ann|1.5|2024-01-01~bob|2|2024-01-02",
    "id|price|tax~|EUR|%~1|2.5|7~2|3.5|7~3|4.5|7",
    "when|trip||cost~|air|rail|~may|x|y|1~june|x|y|2~july|z|y|3",
    "x|y~red|up~blue|down",
    "x|y~x|y~x|y~x|y~x|y",
    "AB-1|red~CD-2|blue~EF-3|red~GH-4|red",
    "code|colour~AB-1|red~CD-2|blue~EF-3|red~GH-4|red",
    "flag|n~TRUE|1~FALSE|2~TRUE|3",
    "TRUE|1~FALSE|2~TRUE|3~FALSE|4",
    "when|amount~2024-01-01T10:00:00|1,50~2024-01-02T11:30:00|2,75~2024-01-03T00:00:00|3,00",
    "Betrag|Satz~1.234,56 €|19 %~2,00 €|7 %~3,10 €|0 %",
    "a~1~2~3",
    "a~x~y~z",
    "1~2~3",
    "a|b~1|2",
    "only|a|header",
    "Q1|Q2|Q3~1|2|3~4|5|6",
    "name|note~ann|~bob|x~cy|~dan|y",
    "n/a|1~n/a|2",
    "id|value~1|n/a~2|5~3|NA~4|6",
    "# made by x||~a|b|c~1|2|3~4|5|6",
    "#|name|n~1|ann|2~2|bob|3",
    "Report|~Total|12~|~item|n~tea|4~milk|8",
    "Report|||~from|2024|to|2025~|||~a|b|c|d~x|1|2|3~y|4|5|6",
    "x|1|a~y|2|b~||~z|3|c",
    "city|Jan|Feb|Mar~Rome|1|2|3~Total|1|2|3",
    "Name|Straße|PLZ~Ann|Weg 1|01067~Bob|Allee 2|50667",
};

/* Cells as they stand: those that a spreadsheet would take for a number are one there. */
static void write_cell(struct al_buf *csv, struct al_buf *sheet, struct al_str cell, bool first)
{
    bool number = cell.n && cell.n < 16 && (cell.n == 1 || *cell.p != '0');
    for (size_t i = 0; i < cell.n; i++)
        number =
            number && ((cell.p[i] >= '0' && cell.p[i] <= '9') || (cell.p[i] == '.' && i && i + 1 < cell.n));
    al_buf_adds(csv, first ? "\"" : ",\"");
    al_buf_add_str(csv, cell);
    al_buf_addc(csv, '"');
    if (!cell.n)
        al_buf_adds(sheet, "<c/>");
    else if (number)
        al_buf_addf(sheet, "<c><v>%.*s</v></c>", AL_FMT(cell));
    else
        al_buf_addf(sheet, "<c t=\"inlineStr\"><is><t>%.*s</t></is></c>", AL_FMT(cell));
}

static void write_grid(const char *grid, struct al_buf *csv, struct al_buf *sheet)
{
    struct al_str rest = al_str_of(grid);
    while (rest.n) {
        size_t n = 0;
        while (n < rest.n && rest.p[n] != '~')
            n++;
        struct al_str row = {rest.p, n};
        al_buf_adds(sheet, "<row>");
        for (bool first = true, more = true; more; first = false) {
            const char *bar = memchr(row.p, '|', row.n);
            struct al_str cell = {row.p, bar ? (size_t)(bar - row.p) : row.n};
            write_cell(csv, sheet, cell, first);
            more = bar != NULL;
            row = more ? (struct al_str){bar + 1, row.n - cell.n - 1} : row;
        }
        al_buf_adds(sheet, "</row>");
        al_buf_addc(csv, '\n');
        n += n < rest.n;
        rest = (struct al_str){rest.p + n, rest.n - n};
    }
}

/* What the sheet gave, as the other rig writes it; rows without a value are no rows of a sheet. */
static void normal(const char *seen, const char *rig, struct al_buf *a, struct al_buf *b)
{
    bool columns = true;
    for (const char *p = seen; *p;) {
        const char *end = strchrnul(p, '\n');
        struct al_str line = {p, (size_t)(end - p)};
        p = *end ? end + 1 : end;
        if (line.n && (*line.p == '[' || *line.p == '!'))
            continue;
        const char *colon = columns ? NULL : memmem(line.p, line.n, ": ", 2);
        if (colon)
            line = (struct al_str){colon + 2, line.n - (size_t)(colon + 2 - line.p)};
        if (columns)
            al_buf_addc(a, '=');
        columns = false;
        for (size_t i = 0; i < line.n; i++) {
            bool null =
                line.p[i] == '-' && (!i || line.p[i - 1] == '|') && (i + 1 == line.n || line.p[i + 1] == '|');
            if (!null)
                al_buf_addc(a, line.p[i]);
        }
        al_buf_addc(a, '\n');
    }
    for (const char *p = rig; *p;) {
        const char *end = strchrnul(p, '\n');
        size_t n = (size_t)(end - p);
        if (*p == '=' || strspn(p, "|") < n)
            al_buf_add(b, p, n), al_buf_addc(b, '\n');
        p = *end ? end + 1 : end;
    }
    al_buf_addc(a, 0);
    al_buf_addc(b, 0);
}

static void a_sheet_and_its_export_have_one_header(void **state)
{
    (void)state;
    static struct csv_rig rig;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        autobuf struct al_buf csv = AL_BUF_INIT(65536), sheet = AL_BUF_INIT(65536), a = AL_BUF_INIT(65536),
                              b = AL_BUF_INIT(65536);
        struct seen seen;
        write_grid(grids[i], &csv, &sheet);
        al_buf_addc(&sheet, 0);
        csv_rig_init(&rig);
        rig.opts.delimiter = ',';
        if (csv_rig_read(&rig, al_buf_str(&csv)) < 0)
            fail_msg("%s: %s", grids[i], rig.err.msg);
        seen_init(&seen);
        seen_read(&seen, make_sheet(sheet.p, NULL, NULL), NULL);
        normal(seen_text(&seen), csv_rig_text(&rig), &a, &b);
        if (strcmp(a.p, b.p) != 0)
            fail_msg("%s: the sheet gave\n%s\nits export\n%s", grids[i], a.p, b.p);
        seen_free(&seen);
        csv_rig_free(&rig);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sheet_and_its_export_have_one_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
