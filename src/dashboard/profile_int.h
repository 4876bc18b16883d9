/* What words.c, catalog.c and the parts of the profile share. */
#ifndef AL_DASHBOARD_PROFILE_INT_H
#define AL_DASHBOARD_PROFILE_INT_H

#include "dashboard/dashboard_int.h"

/* X(name): classes of words, finer than enum al_word_kind; each has a list in words_lists.c. */
#define AL_WORD_CLASSES(X)                                                                  \
    X(MONEY)      /* flows of money: sales, cost */                                         \
    X(FLOW)       /* events and quantities that add up: births, passengers, precipitation */ \
    X(MASS)       /* of these, amounts that have decimals; of events only plurals and whole numbers are counted */ \
    X(COUNT)      /* that it is a count, of whatever: n, number, qty */                     \
    X(TOTAL)      /* that it is a sum: total, gross, worldwide */                           \
    X(CUMULATIVE) /* a sum so far: ytd, cumulative */                                       \
    X(LEVEL)      /* there at one time: population, stock, balance */                       \
    X(LEVEL_RATE) /* a level when it is counted, a rate when it has decimals: unemployment */ \
    X(RATE)       /* never adds up, whatever stands beside it: average, rate, score */      \
    X(UNIT)       /* a property of one thing: price, age, temperature */                    \
    X(MEASURED)   /* units of measurement: mm, kg, hours */                                 \
    X(SIZE)       /* a share when it lies in 0..1, else an amount: discount, margin */      \
    X(PERCENT)                                                                              \
    X(STATISTIC)  /* limits and errors of another column: min, stddev, lower */             \
    X(ID)                                                                                   \
    X(NUMBER)     /* an id when it stands last, a count when it stands first: number, no */ \
    X(CODE)       /* numbers that name: zip, phone, fips, code */                           \
    X(RANK)                                                                                 \
    X(PLACE)                                                                                \
    X(DIMENSION)                                                                            \
    X(OUTCOME)    /* flags whose share is what people ask for: survived, churn */           \
    X(TIME)                                                                                 \
    X(LATER)      /* dates that are no time axis when there is another: updated, due, birth */ \
    X(YEAR)                                                                                 \
    X(YEARLY)     /* with integers like 1955 it is a year: released, start, born */         \
    X(STEP)       /* a running number that orders: day, step, round */                      \
    X(GENERIC)    /* says nothing itself: value, amount */                                  \
    X(LINK)       /* addresses and pictures */                                              \
    X(MINOR)      /* measures beside the matter: sample, tax, previous */                   \
    X(BETTER)     /* of several like measures the whole: total, worldwide, net */

enum al_word_class {
#define AL_WORD_CLASS_ENUM(name) AL_CLASS_##name,
    AL_WORD_CLASSES(AL_WORD_CLASS_ENUM)
#undef AL_WORD_CLASS_ENUM
    AL_CLASS_COUNT_OF
};
#define AL_CLASS(name) (1u << AL_CLASS_##name)

/* The classes of a word as bits; plurals, too. 0: it is not known. */
uint32_t al_word_classes(struct al_str word);
/* Likewise, and of words that were written as one: "domgross", "totalprice". */
uint32_t al_word_classes_deep(struct al_str word);
/* The list of a class: words, one space between. */
const char *al_word_list(enum al_word_class c);
/* "sales" → "sale", "ciudades" → "ciudad"; up to 3 readings of a word as a singular, itself not among them. */
size_t al_word_singulars(struct al_str word, char ret[3][64]);
/* A plural by its form: ends in s, and not as "gross", "status", "analysis" do. */
bool al_word_looks_plural(struct al_str word);
/* Appends a text in lower case and without accents; what is no letter stays. */
void al_fold(struct al_buf *out, struct al_str text);
/* "January", "ene.", "Mon", "lunes": the number of a month or a weekday (Monday is 1); 0: none. */
int al_word_month(struct al_str folded);
int al_word_weekday(struct al_str folded);

/* --- profile_name.c: what a column's name says --- */
struct al_name_traits {
    uint32_t all;      /* classes of all words */
    uint32_t head;     /* of the word that says what it is: the last one that is no unit, year, limit or particle */
    uint32_t first;    /* of the first word */
    size_t n;          /* words, particles aside */
    struct al_str head_word;
    bool strict;       /* average, rate, percent, per: nothing makes that add up */
    bool counts;       /* it begins or ends as a count does: "number of x", "x count", "# x" */
    bool counted;      /* the head is a plural of something that is no unit: "passengers" */
    bool flow;         /* a word of flow or money where it says what the column is */
    bool flow_last;    /* such a word behind the word of a property: "wage costs" */
    bool delta;        /* "new users", "change of stock" */
    bool money_unit;   /* prices and wages: "total price" adds up, "total litres" does not surely */
    bool percent_sign;
    bool percent_word; /* "pct", "porcentaje" */
    bool duration;     /* "days to ship", "years": plurals of units of time */
    bool step;         /* the head is a running number, and no plural: "day", "round" */
    bool id_last;      /* an id stands last: "order id" */
    bool number_last;  /* a word for number does: "order no", "invoice number" */
    bool level_count;  /* what is counted is there at one time: "employee count" */
    bool other;        /* "other", "rest": what the columns beside it are */
    bool in_source;    /* a word of the file's name is in it */
    int short_part;    /* "birth_mo", "birth_d": the largest number of such a part of a date; 0: it is none */
    bool row;          /* "rownames", "index", "obs": a number of the row */
    enum { AL_WIDE_NOT, AL_WIDE_FIRST, AL_WIDE_BETWEEN, AL_WIDE_LAST } wide; /* of years side by side: profile_table.c */
};
/* source: the words of the file's name. */
void al_name_read(struct al_arena *arena, const struct al_words *source, struct al_str name, struct al_str label,
                  struct al_name_traits *ret);

/* --- profile_number.c --- */
struct al_profile_context {
    uint64_t rows;
    uint32_t source; /* classes of the words in the file's name */
    bool clock;      /* there is a time axis */
};
/* Role, adds, time, natural, percent of a column of numbers with a range. */
void al_profile_number(const struct al_profile_context *x, const struct al_name_traits *t, struct al_dash_column *c);
/* How its numbers add up, by name and values; al_profile_number has asked. */
enum al_dash_adds al_profile_adds(const struct al_profile_context *x, const struct al_name_traits *t,
                                  const struct al_dash_column *c);
/* Whether any of it is not NULL, and how many values are (conversions that failed aside). */
uint64_t al_column_filled(const struct al_profile_context *x, const struct al_dash_column *c);

/* --- what the parts of the profile share --- */
struct al_profiler {
    struct al_dash_catalog *c;
    struct al_arena *arena;
    struct al_name_traits *traits; /* of each column */
    double *score;
    struct al_profile_context x;
};

/* profile_text.c: role, natural and total of a column of texts */
void al_profile_text(const struct al_profiler *p, const struct al_name_traits *t, struct al_dash_column *c);
bool al_text_is_json(const struct al_dash_column *c); /* by its frequent values; so is the next */
/* Digits without letters that are neither numbers nor ranges: telephones, odd dates, amounts in a form that nobody reads. */
bool al_text_is_numeric(const struct al_profiler *p, const struct al_dash_column *c);
/* profile_beside.c: settles what names and values alone left open */
void al_profile_beside(struct al_profiler *p);
/* profile_table.c: what the kind of table says: people, designs of trials, years side by side */
void al_profile_table(struct al_profiler *p);
/* Does a dimension hold the same groups as one that is a better name for them, as codes of countries do? By their
 * frequencies and names. */
bool al_profile_is_twin(const struct al_profiler *p, size_t i);
/* profile_score.c */
void al_profile_shortlist(struct al_profiler *p, struct al_profile *ret);

/* --- profile_order.c: the order that people expect of texts --- */
enum al_dash_natural al_profile_order(const struct al_dash_column *c);

#endif
