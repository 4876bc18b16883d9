/* Which columns the person's words name, and what the dashboard is for. */
#include "dashboard/dashboard_int.h"

void al_goal_read(struct al_arena *arena, struct al_str text, const struct al_catalog *c,
                  const struct al_profile *p, struct al_goal *ret)
{
    (void)arena, (void)text, (void)c, (void)p;
    *ret = (struct al_goal){.ratio_of = -1, .ratio_over = -1};
}
