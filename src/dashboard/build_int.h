/* Steps of a build that are in files of their own. */
#ifndef AL_DASHBOARD_BUILD_INT_H
#define AL_DASHBOARD_BUILD_INT_H

#include "dashboard/dashboard_int.h"

/* sheet.c: fills d's catalog and profile with the sheet of that name or table. Without a name it is the first sheet whose
 * columns can be shown, with a note on the others that have rows. NOT_FOUND, NO_USABLE_COLUMNS (the hint names other sheets). */
int al_dash_open_sheet(struct al_dash *d, struct al_str asked, struct al_err *err) AL_MUST_CHECK;
/* filter_note.c: after the scan: a note when the filters keep no row at all, with the values that there are. */
void al_filters_note_nothing(struct al_dash *d);
/* goal_note.c: after the repair: why columns that the goal names are not shown; of a fresh plan also what it asks for and no
 * column has. */
void al_goal_note(struct al_dash *d, bool fresh);

#endif
