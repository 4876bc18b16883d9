/* The results of all widgets. */
#include "dashboard/scan_int.h"

#include "base/text.h"

int al_scan(struct al_dash *d, struct al_err *err)
{
    size_t failed = 0, n = d->plan.n_widgets;
    d->results = al_arena_alloc(&d->arena, (n + 1) * sizeof *d->results);
    if (!d->results)
        return al_scan_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        if (al_scan_own(d, &d->plan.widgets[i], &d->results[i], err) < 0)
            return -1;
        failed += d->results[i].failed != NULL;
    }
    if (failed == n && n > 0)
        return al_fail(err, AL_QUERY_ERROR, "no part of the dashboard could be computed: %s",
                       d->results[0].failed);
    return 0;
}
