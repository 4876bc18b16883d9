/*
 * Statistics of columns in one pass: exact while they fit into a sheet's budget, then approximate, column by column, the
 * largest first. No SQL, no threads in here.
 */
#ifndef AL_DATASET_STATS_H
#define AL_DATASET_STATS_H

#include "dataset/cell.h"
#include "dataset/pattern.h"

#define AL_STATS_TOP 5
#define AL_STATS_TOP_TEXT 200 /* bytes of a frequent value that are kept, cut at a character, with an ellipsis */

struct al_stats; /* of one sheet */
struct al_stats *al_stats_new(uint64_t budget_bytes);
void al_stats_free(struct al_stats *s);
size_t al_stats_column(struct al_stats *s); /* adds one; its index */
/* The next value of a column. scale: of the column at this time (AL_SCALE_…), which makes sums of decimals exact.
 * kind AL_CELL_STRING texts are never taken for formatted numbers, but may be dates. */
void al_stats_add(struct al_stats *s, size_t column, const struct al_value *v, int scale);
/* n more NULLs (of a column that came late, or of short rows). */
void al_stats_nulls(struct al_stats *s, size_t column, uint64_t n);
/* Forgets a column's values, for a second pass over it. */
void al_stats_reset(struct al_stats *s, size_t column);

struct al_stats_top {
    struct al_value value; /* text owned by the summary */
    uint64_t count;
    bool cut; /* the text is longer than AL_STATS_TOP_TEXT */
};
struct al_stats_summary {
    const char *type; /* "integer" "real" "date" "boolean" "text", over all rows */
    uint64_t nulls, numbers, texts;
    uint64_t distinct;    /* of what is not NULL */
    bool exact;           /* distinct, top and quartiles are */
    struct al_value min, max; /* numeric over numeric cells where there are any, else texts in byte order; NULL: none */
    bool has_mean;        /* any number */
    double mean, stddev;  /* of the numbers; stddev with n - 1, and only when n ≥ 2 */
    bool has_stddev;
    bool has_quartiles;   /* of the numbers; by linear interpolation (Hyndman & Fan type 7) */
    double quartile[3];
    uint64_t text_fallbacks; /* text cells where there are numbers; else text cells with a digit and no ASCII letter */
    uint64_t min_length, max_length; /* characters of the texts */
    struct al_stats_top top[AL_STATS_TOP]; /* by count, then by value */
    size_t n_top;
    struct al_pattern_verdict pattern;
};
/* Views in it live until the next summary of this column, or the stats' end. */
void al_stats_summary(struct al_stats *s, size_t column, char decimal, struct al_stats_summary *ret);

#endif
