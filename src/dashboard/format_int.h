/* Shared by format*.c only. */
#ifndef AL_DASHBOARD_FORMAT_INT_H
#define AL_DASHBOARD_FORMAT_INT_H

#include "dashboard/dashboard_int.h"

/* format_plain.c: English numbers, for where there is no ICU. v is finite. */
void al_format_plain(const struct al_number_style *s, double v, struct al_buf *out);

/* format_icu.c: by ICU, one for a locale. Every function may fail, and then nothing was written. */
struct al_icu_format;
/* Once, before the process is sealed: finds the functions and keeps ICU from asking the machine for its zone and language. */
void al_icu_format_prepare(void);
struct al_icu_format *al_icu_format_new(struct al_str locale); /* NULL: no ICU, or none that is new enough */
void al_icu_format_free(struct al_icu_format *f);
bool al_icu_format_number(struct al_icu_format *f, const struct al_number_style *s, double v, struct al_buf *out);
/* The start of a bucket, in milliseconds since 1970 UTC. */
bool al_icu_format_time(struct al_icu_format *f, enum al_bucket b, double ms, struct al_buf *out);

#endif
