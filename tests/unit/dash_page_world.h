/* A dashboard as the stages before the page leave it, made by hand. */
#ifndef AL_TESTS_DASH_PAGE_WORLD_H
#define AL_TESTS_DASH_PAGE_WORLD_H

#include "dashboard/dashboard_int.h"

struct page_world {
    struct al_dash d;
    struct al_dashboard_out out;
    struct al_buf html;
    struct al_result results[AL_DASH_WIDGETS + 1];
    struct al_cube cube;
    struct al_dash_column columns[6];
};

/* One widget of each kind. odd: a text that is every name, title, label and cell; NULL: plain ones. */
struct page_world *page_world_new(const char *odd, size_t n);
/* Chips with so many cells in all. */
void page_world_cube(struct page_world *w, size_t cells);
/* The page, zero-terminated; it stays the world's. */
const char *page_world_write(struct page_world *w);
void page_world_free(struct page_world *w);

#endif
