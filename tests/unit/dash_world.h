/* Random datasets with their catalog, random plans over them, and whether the scan says what the statements say. */
#ifndef AL_TESTS_DASH_WORLD_H
#define AL_TESTS_DASH_WORLD_H

#include "dashboard/dashboard_int.h"

#include "query_world.h"

#define DASH_COLUMNS 14

struct dash_world {
    uint64_t seed;
    struct query_world q;
    struct sqlite3 *db;
    struct al_dash d;
    struct al_dashboard_out out;
    struct al_dash_column columns[DASH_COLUMNS];
};
unsigned dash_pick(struct dash_world *w, unsigned n);
/* Makes the dataset; rows as given. The world is closed with dash_close. */
void dash_open(struct dash_world *w, uint64_t seed, unsigned rows);
void dash_close(struct dash_world *w);
void dash_column(struct dash_world *w, int i, const char *name, const char *type, uint64_t fallbacks);
/* A dataset of the caller's statements (a view data_values); its catalog is the caller's to fill by dash_column. */
void dash_open_sql(struct dash_world *w, const char *sql);
void dash_forget(struct dash_world *w); /* plan and results; the dataset stays */
void dash_random_plan(struct dash_world *w);
struct al_widget dash_widget(enum al_widget_type type);
/* al_scan; the test fails when it does. */
void dash_scan(struct dash_world *w);
/* Each widget's result is what its statement answers through the guarded query. */
void dash_check(struct dash_world *w);
/* The cube, put together over all chips, is each result again. */
void dash_check_cube(struct dash_world *w);

#endif
