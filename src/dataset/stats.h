/*
 * Statistics of columns in one pass: exact while they fit into a sheet's budget, then approximate, column by
 * column, the largest first. No SQL, no threads in here.
 *
 * "Exact" means: numbers and texts up to 8 bytes are compared; longer texts are told apart by 122-bit
 * fingerprints in secret points drawn for each run, so that two of 10 million texts of 100 bytes meet
 * with a chance below 10^-20, whoever wrote the file. Nothing of a result depends on the secret while it is
 * exact. Texts are ordered by their first 256 bytes, then by length.
 *
 * Memory for each distinct value, so many bytes: 1 to 16 for numbers that lie close together, 16 to 24 for
 * other numbers and short texts, 27 to 40 for longer texts. A column that fell back takes up to 100 KB (of a
 * sheet of more than 256 columns 45 KB), outside of the budget; columns that hold less (96 KB, 48 KB) never
 * fall back. Distinct counts are then within 2 % with 99.9 % certainty (wide sheets: 98 %); frequent values
 * are those that are certainly more frequent than whatever was not followed (in a column of unique values:
 * none), and their counts never less than the true ones.
 * What recent texts take (up to 2 MB of a sheet, or 2 KB of each column) is outside of the budget, too.
 */
#ifndef AL_DATASET_STATS_H
#define AL_DATASET_STATS_H

#include "dataset/cell.h"
#include "dataset/pattern.h"

#define AL_STATS_TOP 5
#define AL_STATS_TOP_TEXT \
    200 /* bytes of a frequent value that are kept, cut at a character, with an ellipsis */

struct al_stats; /* of one sheet */
struct al_stats *al_stats_new(uint64_t budget_bytes);
void al_stats_free(struct al_stats *s);
size_t al_stats_column(struct al_stats *s); /* adds one; its index */
/* The next value of a column. scale: of the column at this time (AL_SCALE_…); sums of decimals are exact
 * while all numbers are multiples of one power of ten, whether or not the column keeps a scale. */
void al_stats_add(struct al_stats *s, size_t column, const struct al_value *v, int scale);
/* The same for n cells, each stride cells behind the one before it. Of texts that are no longer, 24 bytes can
 * be read. */
void al_stats_add_cells(struct al_stats *s, size_t column, const struct al_bcell *cell, size_t stride,
                        size_t n);
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
    /* "integer" "real" "date" "boolean" "text", over all rows: a number's type when 95 % of what is not NULL
     * are numbers (three N/A do not make a price a text; text_fallbacks counts them); "date" and "boolean"
     * when all of it is (ISO dates by al_pattern_is_iso; true and false in any case). All NULL is "text". */
    const char *type;
    uint64_t nulls, numbers, texts;
    uint64_t distinct; /* of what is not NULL */
    bool exact;        /* distinct, top and quartiles are */
    /* Numeric over numeric cells where there are any, else texts in byte order, cut as frequent values are;
     * NULL: none. Numbers (here and in top) are INT when all numbers of the column are, else REAL. */
    struct al_value min, max;
    bool has_mean;       /* any number */
    double mean, stddev; /* of the numbers; stddev with n - 1, and only when n ≥ 2 */
    bool has_stddev;
    bool has_quartiles; /* of the numbers; by linear interpolation (Hyndman & Fan type 7) */
    double quartile[3];
    /* Text cells where there are numbers; else, of the type text, text cells with a digit and no ASCII
     * letter. */
    uint64_t text_fallbacks;
    uint64_t min_length, max_length;       /* characters of the texts */
    struct al_stats_top top[AL_STATS_TOP]; /* by count, then by value */
    size_t n_top;
    struct al_pattern_verdict pattern;
};
/* Views in it live until the next summary of this column, or the stats' end. */
void al_stats_summary(struct al_stats *s, size_t column, char decimal, struct al_stats_summary *ret);

#endif
