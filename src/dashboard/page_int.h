/* Shared by page*.c only: a page while it is written. */
#ifndef AL_DASHBOARD_PAGE_INT_H
#define AL_DASHBOARD_PAGE_INT_H

#include "dashboard/dashboard_int.h"

#define AL_PAGE_TEXT 300  /* characters of a foreign text that are shown */
#define AL_PAGE_BRIEF 80  /* likewise, in a summary for screen readers */

struct al_page {
    struct al_dash *d;
    struct al_format *fmt;
    struct al_buf *out;
    struct al_buf json, text; /* scratch */
    size_t cells;             /* where the cube's begin, for its size */
};

/* --- page_html.c: the one place where text becomes HTML --- */
/* Markup of ours, as it is. */
void al_page_add(struct al_page *p, const char *markup);
/* Foreign text, safe between tags and in double quotes: what HTML or UTF-8 cannot hold becomes U+FFFD. */
void al_html_text(struct al_buf *out, struct al_str text);
void al_page_text(struct al_page *p, struct al_str text);
void al_page_word(struct al_page *p, enum al_text_id id);
/* A text with gaps, as plain text in the arena; gaps that may run right to left are isolated. Not NULL. */
struct al_str al_page_fill(struct al_page *p, enum al_text_id id, size_t n, const struct al_str *gaps);
#define AL_PAGE_FILL(p, id, ...) \
    al_page_fill(p, id, sizeof((struct al_str[]){__VA_ARGS__}) / sizeof(struct al_str), (struct al_str[]){__VA_ARGS__})
/* JSON that no HTML parser takes for markup: from p->json, which is emptied. */
void al_page_inert(struct al_page *p);
/* At most so many characters, with "…" for the rest. In the arena when it was cut. */
struct al_str al_page_cut(struct al_page *p, struct al_str text, size_t chars);
/* What is in p->text, kept in the arena; p->text is emptied. */
struct al_str al_page_keep(struct al_page *p);

/* --- page_value.c: values as text --- */
struct al_str al_page_number(struct al_page *p, const struct al_number_style *s, double v);
struct al_str al_page_count(struct al_page *p, uint64_t n);
/* Digits that read back as the same double, for data-ac-v. */
void al_page_digits(struct al_page *p, double v);
/* A key of column c (-1: none) as it is shown. */
struct al_str al_page_label(struct al_page *p, int c, enum al_bucket b, struct al_str key);
bool al_page_cell_number(const struct al_dash_cell *c, double *ret);
/* <td class="ac-num" …>; an attribute data-ac-f when which is not NULL. */
void al_page_number_cell(struct al_page *p, const struct al_number_style *s, double v, const char *which);
/* <th scope="row" …> with its key, where the text is another. */
void al_page_row_head(struct al_page *p, struct al_str text, struct al_str key);
struct al_str al_page_name(struct al_page *p, int c); /* of a column; of -1 "Rows" */
struct al_str al_page_source(struct al_page *p); /* the file's name; "" unknown */
double al_page_largest(const struct al_result *r);

/* --- the parts --- */
void al_page_figure(struct al_page *p, const struct al_widget *w, const struct al_result *r);  /* page_figure.c */
void al_page_scatter(struct al_page *p, const struct al_widget *w, const struct al_result *r); /* page_scatter.c */
void al_page_heat(struct al_page *p, const struct al_widget *w, const struct al_result *r);    /* page_table.c */
void al_page_rows(struct al_page *p, const struct al_widget *w, const struct al_result *r);
void al_page_head(struct al_page *p);    /* page_head.c: doctype to <main>, title, filters, key figures */
void al_page_cube(struct al_page *p);    /* page_cube.c */
void al_page_made(struct al_page *p);    /* page_made.c: how it was made, the foot */
void al_page_library(struct al_page *p); /* page_head.c: scripts and the end */
/* The start of SPEC or of a summary, shared by figures. */
void al_page_spec(struct al_page *p, struct al_jw *w, const struct al_widget *x, int height);
const char *al_page_kind(const struct al_widget *w, enum al_text_id *ret_word);
void al_page_scroll(struct al_page *p, const struct al_widget *w, const char *classes);

#endif
