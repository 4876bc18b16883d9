/* What filters of a column compare. */
#ifndef AL_DASHBOARD_FILTER_INT_H
#define AL_DASHBOARD_FILTER_INT_H

#include "dashboard/sql_int.h"

enum al_filter_kind {
    AL_FILTER_TEXT,
    AL_FILTER_NUMBER,
    AL_FILTER_DATE, /* values are ISO: a year, a month, a day, or a day with a time; each means all of it */
};
enum al_filter_kind al_filter_kind(const struct al_dash_column *c);

#endif
