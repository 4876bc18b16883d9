/* Shared by format*.c only. */
#ifndef AL_DASHBOARD_FORMAT_INT_H
#define AL_DASHBOARD_FORMAT_INT_H

#include "dashboard/dashboard_int.h"

/* format_plain.c: English numbers, for where there is no ICU. v is finite. */
void al_format_plain(const struct al_number_style *s, double v, struct al_buf *out);

#endif
