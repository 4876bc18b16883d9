/* Shared by page*.c only: a page while it is written. */
#ifndef AL_DASHBOARD_PAGE_INT_H
#define AL_DASHBOARD_PAGE_INT_H

#include "dashboard/dashboard_int.h"

#define AL_PAGE_TEXT 300  /* characters of a foreign text that are shown; of a page that would be too large fewer: */
#define AL_PAGE_SHORT 60
#define AL_PAGE_BRIEF 80  /* likewise, in a summary for screen readers */

#define AL_PAGE_MAX 500000 /* bytes; above, parts of the cube are left out */
#define AL_PAGE_STYLES 3
#define AL_PAGE_SCRIPTS 3

struct al_page {
    struct al_dash *d;
    struct al_format *fmt;
    struct al_buf *out;
    struct al_buf json, text; /* scratch */
    size_t chars;             /* of a foreign text: AL_PAGE_TEXT or AL_PAGE_SHORT */
    bool rtl;                 /* the page runs from right to left */
    bool counted[AL_DASH_WIDGETS + 1]; /* again, by chips */
    struct al_str assets[AL_PAGE_STYLES + AL_PAGE_SCRIPTS]; /* as they are in the page */
};

/* --- page_html.c: the one place where text becomes HTML --- */
/* Markup of ours, as it is. */
void al_page_add(struct al_page *p, const char *markup);
/* Foreign text, safe between tags and in double quotes: what HTML or UTF-8 cannot hold becomes U+FFFD. */
void al_html_text(struct al_buf *out, struct al_str text);
void al_page_text(struct al_page *p, struct al_str text);
/* Likewise between tags only: isolated where it may run against the page's own direction. */
void al_page_show(struct al_page *p, struct al_str text);
/* A foreign text without the controls that turn what stands behind it (an end of an isolate that it did not begin
 * leaves its <bdi>). What al_page_show writes has none either; keys and SQL stay as they are. In the arena when changed. */
struct al_str al_page_calm(struct al_page *p, struct al_str text);
void al_page_line(struct al_page *p, const char *open, struct al_str text, const char *close); /* the same between markup */
void al_page_attr(struct al_page *p, const char *open, struct al_str text, const char *close); /* as al_page_text */
void al_page_word(struct al_page *p, enum al_text_id id); /* for attributes */
void al_page_say(struct al_page *p, enum al_text_id id);  /* between tags */
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
/* A key of a widget's dimension, or (second) of its `by`. */
struct al_str al_page_key(struct al_page *p, const struct al_widget *w, bool second, struct al_str key);
bool al_page_cell_number(const struct al_dash_cell *c, double *ret);
/* <td class="ac-num" …>; an attribute data-ac-f when which is not NULL. */
void al_page_number_cell(struct al_page *p, const struct al_number_style *s, double v, const char *which);
/* <th scope="row" …> with its key, where the text is another. */
void al_page_row_head(struct al_page *p, struct al_str text, struct al_str key);
struct al_str al_page_name(struct al_page *p, int c); /* of a column; of -1 "Rows" */
struct al_str al_page_source(struct al_page *p); /* the file's name; "" unknown */
struct al_str al_page_filter_words(struct al_page *p); /* "Only rows where …"; "": all rows */
double al_page_largest(const struct al_result *r);

/* --- the parts --- */
void al_page_figure(struct al_page *p, const struct al_widget *w, const struct al_result *r);  /* page_figure.c */
void al_page_scatter(struct al_page *p, const struct al_widget *w, const struct al_result *r); /* page_scatter.c */
void al_page_heat(struct al_page *p, const struct al_widget *w, const struct al_result *r);    /* page_table.c */
void al_page_rows(struct al_page *p, const struct al_widget *w, const struct al_result *r);
void al_page_read_assets(struct al_page *p); /* page_head.c, once, before all others */
void al_page_head(struct al_page *p);        /* doctype to <main> */
void al_page_cube(struct al_page *p);    /* page_cube.c */
void al_page_made(struct al_page *p);    /* page_made.c: how it was made, the foot */
void al_page_library(struct al_page *p); /* page_head.c: the cube, scripts, the end */
/* The start of SPEC or of a summary, shared by figures. */
void al_page_spec(struct al_page *p, struct al_jw *w, const struct al_widget *x, int height);
const char *al_page_kind(const struct al_widget *w, enum al_text_id *ret_word);
void al_page_scroll(struct al_page *p, const struct al_widget *w, const char *classes);

#endif
