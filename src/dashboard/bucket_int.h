/* Buckets as numbers in their order, one after the other without gaps: what the scan groups by. */
#ifndef AL_DASHBOARD_BUCKET_INT_H
#define AL_DASHBOARD_BUCKET_INT_H

#include "dashboard/dashboard_int.h"

#define AL_YEAR_FIRST 1000 /* of a column of years: keys have four digits */
#define AL_YEAR_LAST 9999

/* The number of the bucket that an ISO text is in. False: it begins with no date of the calendar (0000 to 9999). */
bool al_bucket_index(enum al_bucket b, struct al_str iso, int64_t *ret);
/* The key of a bucket's number; false when no year of four digits is left. */
bool al_bucket_text(enum al_bucket b, int64_t index, char ret[16]);
/* The number of a key. False: it is none of this bucket. */
bool al_bucket_of_key(enum al_bucket b, struct al_str key, int64_t *ret);
/* The first day after the year, month or day that an ISO text of 4, 7 or 10 characters is ("2024-02": "2024-03-01"), and
 * its own first day. False: it is none, or the last of all. */
bool al_bucket_days(struct al_str iso, char first[16], char after[16]);

#endif
