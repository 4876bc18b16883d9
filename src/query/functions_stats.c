/* stddev and its like, as aggregates and over windows. Welford's method, which can also take a value away,
 * over the distances from the first value: large numbers that lie close keep their digits. */
#include "query/query_int.h"

#include <math.h>

struct moments {
    int64_t n;
    double mean, m2; /* of the distances */
    double first;
    bool started;
    int64_t not_finite;
};

enum {
    SAMPLE = 1,
    ROOT = 2
}; /* n - 1, and the root of it */

static void step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc;
    struct moments *m = sqlite3_aggregate_context(ctx, sizeof *m);
    if (!m || sqlite3_value_type(argv[0]) == SQLITE_NULL)
        return;
    double x = sqlite3_value_double(argv[0]);
    if (!isfinite(x)) {
        m->not_finite++;
        return;
    }
    if (!m->started) {
        m->started = true;
        m->first = x;
    }
    x -= m->first;
    m->n++;
    double d = x - m->mean;
    m->mean += d / (double)m->n;
    m->m2 += d * (x - m->mean);
}

static void inverse(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc;
    struct moments *m = sqlite3_aggregate_context(ctx, sizeof *m);
    if (!m || sqlite3_value_type(argv[0]) == SQLITE_NULL)
        return;
    double x = sqlite3_value_double(argv[0]);
    if (!isfinite(x)) {
        m->not_finite--;
        return;
    }
    if (--m->n <= 0) {
        m->n = 0;
        m->mean = m->m2 = 0;
        return;
    }
    x -= m->first;
    double d = x - m->mean;
    m->mean -= d / (double)m->n;
    m->m2 -= d * (x - m->mean);
    if (m->m2 < 0)
        m->m2 = 0;
}

static void value(sqlite3_context *ctx)
{
    int how = (int)(intptr_t)sqlite3_user_data(ctx);
    struct moments *m = sqlite3_aggregate_context(ctx, 0);
    int64_t by = m ? m->n - (how & SAMPLE ? 1 : 0) : 0;
    if (!m || by <= 0 || m->not_finite > 0)
        return;
    double var = m->m2 / (double)by;
    sqlite3_result_double(ctx, how & ROOT ? sqrt(var) : var);
}

int al_functions_stats(sqlite3 *db)
{
    static const struct {
        const char *name;
        int how;
    } all[] = {
        {"stddev", SAMPLE | ROOT}, {"stddev_samp", SAMPLE | ROOT}, {"stddev_pop", ROOT},
        {"variance", SAMPLE},      {"var_samp", SAMPLE},           {"var_pop", 0},
    };
    int rc = SQLITE_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && rc == SQLITE_OK; i++)
        rc = sqlite3_create_window_function(db, all[i].name, 1,
                                            SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                            (void *)(intptr_t)all[i].how, step, value, value, inverse, NULL);
    return rc;
}
