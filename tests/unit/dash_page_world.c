#include "test.h"

#include "base/text.h"
#include "dash_page_world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    REGION,
    REVENUE,
    DAY,
    PAID,
    NAME,
    UNITS
};

/* Titles and notes are short, whatever the file holds. */
static struct al_str head(struct al_str odd, size_t chars)
{
    return odd.p ? al_utf8_head(odd, chars) : odd;
}

static struct al_str text(struct al_str odd, const char *plain)
{
    return odd.p ? odd : al_str_of(plain);
}

static void columns(struct page_world *w, struct al_str odd)
{
    static const char *const names[] = {"Region", "Revenue", "Day", "Paid", "Name", "Units"};
    static const char *const types[] = {"text", "real", "date", "boolean", "text", "integer"};
    static const enum al_dash_role roles[] = {AL_ROLE_DIMENSION, AL_ROLE_MEASURE, AL_ROLE_TIME,
                                              AL_ROLE_BOOLEAN,   AL_ROLE_TEXT,    AL_ROLE_MEASURE};
    for (size_t i = 0; i < 6; i++) {
        w->columns[i] = (struct al_dash_column){.name = text(odd, names[i]),
                                                .label = text(odd, names[i]),
                                                .display = text(head(odd, 60), names[i]),
                                                .type = al_str_of(types[i]),
                                                .role = roles[i],
                                                .scale = i == REVENUE ? 2 : -1,
                                                .integers = i == UNITS,
                                                .time = i == DAY ? AL_TIME_DATE : AL_TIME_NONE};
    }
    w->d.catalog = (struct al_dash_catalog){.sheet = text(odd, "Data"),
                                            .table = text(odd, "data"),
                                            .view = text(odd, "data_values"),
                                            .source = text(odd, "sales.csv"),
                                            .rows = 5000,
                                            .columns = w->columns,
                                            .n = 6,
                                            .n_sheets = 2};
}

static struct al_widget *widget(struct page_world *w, enum al_widget_type type, enum al_widget_role role,
                                struct al_str title)
{
    struct al_plan *p = &w->d.plan;
    struct al_widget *x = &p->widgets[p->n_widgets];
    *x = (struct al_widget){.type = type,
                            .role = role,
                            .title = al_utf8_head(title, AL_DASH_WIDGET_TITLE),
                            .metric = REVENUE,
                            .over = -1,
                            .clock = -1,
                            .dimension = -1,
                            .by = -1,
                            .x = -1,
                            .y = -1,
                            .limit = 10};
    snprintf(x->id, sizeof x->id, "w%zu", p->n_widgets++);
    return x;
}

static void values(struct page_world *w, struct al_result *r, size_t labels, size_t series,
                   const char *const *names, struct al_str odd)
{
    r->labels = al_arena_alloc(&w->d.arena, labels * sizeof *r->labels);
    r->series = al_arena_alloc(&w->d.arena, series * sizeof *r->series);
    r->values = al_arena_alloc(&w->d.arena, labels * series * sizeof *r->values);
    r->n_labels = r->groups = labels;
    r->n_series = series;
    for (size_t i = 0; i < labels; i++)
        r->labels[i] = text(odd, names[i]);
    for (size_t i = 0; i < series; i++)
        r->series[i] = text(odd, i ? "false" : "true");
    for (size_t i = 0; i < labels * series; i++)
        r->values[i] = 1000.5 * (double)(labels * series - i);
}

static void charts(struct page_world *w, struct al_str odd)
{
    static const char *const months[] = {"2024-01", "2024-02", "2024-03", "2024-04"};
    static const char *const regions[] = {"North", "South", "East", "", "West"};
    struct al_widget *x = widget(w, AL_W_AREA, AL_R_TREND, text(odd, "Total revenue per month"));
    x->dimension = DAY;
    x->bucket = AL_BUCKET_MONTH;
    values(w, &w->results[1], 4, 1, months, (struct al_str){0});
    w->results[1].values[2] = NAN;
    x = widget(w, AL_W_HBAR, AL_R_RANKING, text(odd, "Total revenue by region"));
    x->dimension = REGION;
    values(w, &w->results[2], 3, 1, regions, odd);
    w->results[2].groups = 57;
    w->results[2].left_out = 12;
    x = widget(w, AL_W_DONUT, AL_R_COMPOSITION, text(odd, "Share of revenue by region"));
    x->dimension = REGION;
    x->other = true;
    values(w, &w->results[3], 4, 1, regions, odd);
    w->results[3].labels[3] = AL_STR("");
    w->results[3].has_other = true;
    w->results[3].groups = 57;
    x = widget(w, AL_W_BAR, AL_R_CROSSTAB, text(odd, "Revenue by region and paid"));
    x->dimension = REGION;
    x->by = PAID;
    values(w, &w->results[4], 3, 2, regions, odd);
    x = widget(w, AL_W_HEAT, AL_R_CROSSTAB, text(odd, "Revenue by region and paid, as a table"));
    x->dimension = REGION;
    x->by = PAID;
    values(w, &w->results[5], 3, 2, regions, odd);
}

static void raw(struct page_world *w, struct al_str odd)
{
    struct al_widget *x = widget(w, AL_W_SCATTER, AL_R_CORRELATION, text(odd, "Revenue vs. units"));
    struct al_result *r = &w->results[6];
    x->x = UNITS;
    x->y = REVENUE;
    r->n_points = AL_DASH_POINTS;
    r->of_points = 5000;
    r->points = al_arena_alloc(&w->d.arena, 2 * r->n_points * sizeof *r->points);
    for (size_t i = 0; i < r->n_points; i++) {
        r->points[2 * i] = (double)i;
        r->points[2 * i + 1] = (double)i * 1.25;
    }
    x = widget(w, AL_W_TABLE, AL_R_TABLE, text(odd, "Detail"));
    r = &w->results[7];
    for (x->n_columns = 0; x->n_columns < 6; x->n_columns++)
        x->columns[x->n_columns] = (int)x->n_columns;
    r->n_rows = 2;
    r->cells = al_arena_alloc(&w->d.arena, 12 * sizeof *r->cells);
    for (size_t i = 0; i < 6; i++) {
        static const char *const plain[] = {"North", "", "2024-03-05", "true", "Ann", ""};
        r->cells[i].kind = i == REVENUE ? AL_DASH_CELL_REAL
                           : i == UNITS ? AL_DASH_CELL_INT
                                        : AL_DASH_CELL_TEXT;
        r->cells[i].d = 1234.5;
        r->cells[i].i = 7;
        r->cells[i].text = text(odd, plain[i]);
    }
}

struct page_world *page_world_new(const char *odd_text, size_t n)
{
    struct page_world *w = calloc(1, sizeof *w);
    struct al_str odd = {odd_text, n};
    al_arena_init(&w->d.arena, AL_DASH_ARENA);
    al_buf_init(&w->html, AL_DASHBOARD_MAX_HTML);
    w->out.html = &w->html;
    w->d.out = &w->out;
    w->d.results = w->results;
    columns(w, odd);
    w->d.plan.purpose = "executive";
    w->d.plan.locale = AL_STR("en");
    w->d.plan.title = text(head(odd, AL_DASH_TITLE), "Executive dashboard");
    w->d.notes[w->d.n_notes++] = text(head(odd, 400), "A note");
    struct al_widget *kpi = widget(w, AL_W_KPI, AL_R_KPI, text(odd, "Total revenue"));
    kpi->dimension = -1;
    w->results[0].value = (struct al_dash_cell){.kind = AL_DASH_CELL_REAL, .d = 1234567.5};
    charts(w, odd);
    raw(w, odd);
    return w;
}

void page_world_cube(struct page_world *w, size_t cells)
{
    static struct al_str twelve[AL_DASH_CHIP_VALUES];
    struct al_cube *q = &w->cube;
    struct al_cube_widget *c = &q->widgets[2];
    for (size_t i = 0; i < AL_DASH_CHIP_VALUES; i++)
        twelve[i] = i ? al_str_of(&"abcdefghijkl"[i]) : AL_STR("");
    q->n_chips = 3;
    for (size_t k = 0; k < 3; k++) {
        q->chips[k] = k ? (k == 1 ? PAID : NAME) : REGION;
        q->values[k] = twelve;
        q->n_values[k] = AL_DASH_CHIP_VALUES;
    }
    c->there = true;
    c->n_series = 1;
    c->series = al_arena_alloc(&w->d.arena, sizeof *c->series);
    c->n_labels = 12;
    c->labels = twelve;
    c->n_cells = q->n_cells = cells;
    c->cells = al_arena_alloc(&w->d.arena, cells * sizeof *c->cells);
    for (size_t i = 0; i < cells; i++) {
        c->cells[i] = (struct al_cube_cell){
            .chip = {(uint8_t)(i / 1728 % 12), (uint8_t)(i / 144 % 12), (uint8_t)(i / 12 % 12)},
            .label = (uint32_t)(i % 12),
            .n = 1 + i % 90,
            .sum = (double)(i * 7919 % 9999999) / 100};
    }
    w->d.cube = q;
}

const char *page_world_write(struct page_world *w)
{
    struct al_err err = {0};
    al_buf_clear(&w->html);
    assert_int_equal(al_page_write(&w->d, &err), 0);
    al_buf_addc(&w->html, 0);
    return w->html.p;
}

void page_world_free(struct page_world *w)
{
    al_arena_free(&w->d.arena);
    al_buf_free(&w->html);
    free(w);
}
