/*
 * The stages of a dashboard and what they hand on, in their order:
 *
 *   catalog  what the dataset says of its columns          catalog.c; which sheet sheet.c
 *   profile  what each column is for: roles, kinds         profile*.c, words*.c
 *   goal     which columns the person named, and why       goal*.c
 *   plan     widgets                                       plan*.c; from JSON plan_read*.c, back plan_json.c; held to the
 *                                                          rules repair*.c; filters filter*.c; titles titles.c
 *   result   the numbers of each widget, in one scan       scan*.c over keys.c, ids.c, group.c; by the chips cube.c; what is
 *                                                          shown finish.c; as SQL sql*.c; buckets bucket.c
 *   page     HTML                                          page*.c; numbers and dates as text format*.c; words text.c
 *
 * All texts of a build lie in one arena (al_dash.arena) unless it says otherwise; column numbers index al_dash_catalog.columns.
 */
#ifndef AL_DASHBOARD_DASHBOARD_INT_H
#define AL_DASHBOARD_DASHBOARD_INT_H

#include "dashboard/dashboard.h"

#include "base/arena.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

#define AL_DASH_ARENA ((size_t)96 << 20) /* bytes of a build's texts and results */
#define AL_DASH_WIDGETS 12
#define AL_DASH_KPIS 6
#define AL_DASH_TABLE_COLUMNS 8
#define AL_DASH_LIMIT 20       /* of a ranking, rows of a table; default 10 */
#define AL_DASH_KEYS 31        /* bars in a natural order (order key): hours, days of a month */
#define AL_DASH_TITLE 120      /* characters; of a widget 80 */
#define AL_DASH_WIDGET_TITLE 80
#define AL_DASH_ID 41          /* bytes with the zero */
#define AL_DASH_SLICES 6       /* of a pie or donut, Other included */
#define AL_DASH_BUCKETS 400
#define AL_DASH_SERIES 8       /* of stacked bars, or of lines by a second dimension */
#define AL_DASH_HEAT 20        /* rows and columns of a heat table */
#define AL_DASH_POINTS 500     /* of a scatter */
#define AL_DASH_CHIPS 4
#define AL_DASH_CHIP_VALUES 12 /* distinct values of a column with chips */
#define AL_DASH_CELLS 20000    /* grouped cells in the page */
#define AL_DASH_FILTERS 16
#define AL_DASH_FILTER_VALUES 100
#define AL_DASH_SHORTLIST 8    /* measures, dimensions; of times 4 */
#define AL_DASH_TIMES 4
#define AL_DASH_NOTES 40

/* --- catalog.c: from the dataset's own tables; a claim, bounded --- */

enum al_dash_role {
    AL_ROLE_NONE,       /* empty, or nothing is known to do with it */
    AL_ROLE_TIME,
    AL_ROLE_DIMENSION,
    AL_ROLE_BOOLEAN,    /* two values; only when the goal or a plan names it */
    AL_ROLE_MEASURE,
    AL_ROLE_IDENTIFIER, /* ids, codes, postcodes, phone numbers: counted at most, never summed */
    AL_ROLE_PLACE,      /* latitude, longitude */
    AL_ROLE_TEXT,       /* names and free text with many values: ranked when the goal asks */
};
/* How a measure may be put together. */
enum al_dash_adds {
    AL_ADDS_ALWAYS,  /* flows: sales, counts, costs */
    AL_ADDS_ACROSS,  /* levels: population, stock, balance: over places, never over time */
    AL_ADDS_NEVER,   /* rates, prices, scores, temperatures, ages: averages */
};
enum al_dash_time {
    AL_TIME_NONE,
    AL_TIME_DATE, /* ISO text, in the view of values, perhaps with a time of day */
    AL_TIME_YEAR, /* integers like 1955, reals (1955.0, 1955.25) or texts of four digits */
};
/* Orders that people expect of a dimension's values, rather than the largest first. */
enum al_dash_natural {
    AL_NATURAL_NONE,
    AL_NATURAL_NUMBER,  /* integers: cylinders, classes, years */
    AL_NATURAL_MONTH,   /* names of months, short or long: English, Spanish, German, French, Portuguese */
    AL_NATURAL_WEEKDAY,
    AL_NATURAL_RANGE,   /* "18-24", "<18", "65+": by the first number */
};

struct al_dash_column {
    /* from the dataset */
    struct al_str name, label;
    struct al_str type;      /* integer real date boolean text */
    struct al_str parsed_as; /* "" for none */
    uint64_t nulls, distinct, text_fallbacks, parsed_nulls;
    bool distinct_exact;
    int scale;       /* or -1 */
    uint64_t max_length; /* characters of the longest text; 0 unknown */
    bool has_range;  /* of numbers, as the view of values has them */
    double min, max, mean; /* mean: 0 of converted columns */
    bool integers;   /* all numbers are */
    char first[32], last[32]; /* ISO text of the first and last time; "" unknown */
    struct al_str top[5];     /* frequent values as text */
    uint64_t top_count[5];    /* how often, as the dataset says */
    size_t n_top;
    /* from the profile */
    enum al_dash_role role;
    enum al_dash_adds adds;
    enum al_dash_time time;
    enum al_dash_natural natural;
    bool percent;  /* fractions of 1 that are shown as percentages */
    bool unit_percent; /* numbers that are percentages already: "12 %" */
    double score;  /* in its shortlist */
    struct al_str total; /* of a dimension: the value that is all of the others together ("All natural disasters"), or "" */
    struct al_str display; /* name for people, ≤ 60 characters */
};

/* A column's name and label as they are compared: letter case and accents aside. */
struct al_dash_fold {
    struct al_str name, label;
};

struct al_dash_catalog {
    struct al_str sheet, table, view; /* view: of values */
    struct al_str source;             /* the file's name, as the dataset says; may be "" */
    uint64_t rows;
    struct al_dash_column *columns;
    size_t n;
    struct al_dash_fold *folds; /* of each column; NULL: al_dash_catalog_find makes them each time */
    size_t n_sheets;
};

/* sheet: "" the first with rows. NOT_FOUND names those that there are. Reads the dataset's metadata tables; then, in one
 * statement, first/last and min/max of columns whose statistics are of their raw text (parsedAs) or are missing. */
int al_dash_catalog_read(struct sqlite3 *db, struct al_str sheet, struct al_arena *arena, struct al_dash_catalog *ret,
                    struct al_err *err) AL_MUST_CHECK;
/* By name, else by label, letter case and accents aside; -1. */
int al_dash_catalog_find(const struct al_dash_catalog *c, struct al_str name);

/* --- profile.c --- */
struct al_profile {
    /* column numbers, best first */
    int measures[AL_DASH_SHORTLIST], dimensions[AL_DASH_SHORTLIST], times[AL_DASH_TIMES];
    size_t n_measures, n_dimensions, n_times;
};
/* Fills the columns' roles and shortlists. NO_USABLE_COLUMNS when all three lists stay empty (the message says what the
 * columns are and points to python_run). rows == 0 is NO_USABLE_COLUMNS, too. */
int al_profile(struct al_dash_catalog *c, struct al_arena *arena, struct al_profile *ret, struct al_err *err) AL_MUST_CHECK;
/* A name for people: the label when it is one, else the words of the identifier. */
struct al_str al_display_name(struct al_arena *arena, struct al_str name, struct al_str label);

/* --- words.c: vocabularies --- */
#define AL_WORDS_MAX 400
struct al_words {
    struct al_str list[AL_WORDS_MAX];
    size_t n;
};
/* Words of a text: letters and digits, lower case, accents off, camelCase and digits after letters split. */
void al_words_of(struct al_arena *arena, struct al_str text, struct al_words *ret);
enum al_word_kind { /* whole words, English and Spanish; each list is ours and in words.c */
    AL_WORD_FLOW,      /* sales amount cost quantity births … ventas importe … */
    AL_WORD_LEVEL,     /* population stock inventory balance headcount … */
    AL_WORD_AVERAGE,   /* rate price ratio score temperature age rating … */
    AL_WORD_PERCENT,
    AL_WORD_ID,
    AL_WORD_NOT_MEASURE, /* zip postal phone fips … */
    AL_WORD_PLACE,
    AL_WORD_DIMENSION,
    AL_WORD_TIME,
    AL_WORD_YEAR,
    AL_WORD_KINDS,
};
bool al_word_is(struct al_str word, enum al_word_kind kind); /* plurals, too */
/* The group of words that mean the same ("ventas", "revenue"), or -1. */
int al_word_synonyms(struct al_str word);
/* The next group behind this one that has the word, too ("estado": status, then state), or -1. */
int al_word_synonyms_also(struct al_str word, int group);
/* Whether two words may mean the same; knows words that are in two groups ("estado": status, state). */
bool al_word_same(struct al_str a, struct al_str b);

/* --- goal.c --- */
struct al_goal {
    int named[32]; /* columns, in the order of the text */
    size_t n_named;
    const char *purpose; /* or NULL: the text does not say */
    bool ratio;          /* it asks for a share of two measures ("margin %", "cost per order") */
    int ratio_of, ratio_over;
    bool ratio_percent;  /* parts of one whole: a percentage; else a plain quotient */
    bool ratio_first;    /* it comes before every other measure that the text names */
    int bucket;          /* enum al_bucket that it asks for ("per month"), or 0 */
    int averaged;        /* the named measure of which it wants the average, or -1 */
    int flag;            /* a column of 0 and 1 whose share it is about ("survival by class"), or -1 */
    bool rows;           /* it counts rows: "how many orders by status", "orders by status" where each row is one */
    int things;          /* the column whose different values it counts ("number of customers"), or -1 */
    bool cut;            /* longer than what counts */
    struct al_str unmet[4]; /* words that it asks for and no column answers ("by country", "margin %") */
    size_t n_unmet;
    bool names_nothing;  /* it has words of a matter, and none is a column's */
    struct al_str not_shown[8]; /* display names of named columns that no widget can show, filled by the plan */
    size_t n_not_shown;
};
void al_goal_read(struct al_arena *arena, struct al_str text, const struct al_dash_catalog *c, const struct al_profile *p,
                  struct al_goal *ret);

/* --- the plan --- */
enum al_widget_type { AL_W_KPI, AL_W_LINE, AL_W_AREA, AL_W_BAR, AL_W_HBAR, AL_W_PIE, AL_W_DONUT, AL_W_HEAT, AL_W_SCATTER, AL_W_TABLE };
enum al_widget_role { AL_R_KPI, AL_R_TREND, AL_R_RANKING, AL_R_COMPOSITION, AL_R_CROSSTAB, AL_R_CORRELATION, AL_R_TABLE };
enum al_agg { AL_AGG_SUM, AL_AGG_AVG, AL_AGG_MIN, AL_AGG_MAX, AL_AGG_COUNT, AL_AGG_DISTINCT, AL_AGG_RATIO };
enum al_bucket { AL_BUCKET_NONE, AL_BUCKET_HOUR, AL_BUCKET_DAY, AL_BUCKET_WEEK, AL_BUCKET_MONTH, AL_BUCKET_QUARTER, AL_BUCKET_YEAR };
enum al_order { AL_ORDER_VALUE, AL_ORDER_KEY }; /* key: the natural order of the dimension, else its text */
enum al_op { AL_OP_EQ, AL_OP_NE, AL_OP_LT, AL_OP_LE, AL_OP_GT, AL_OP_GE, AL_OP_IN, AL_OP_NOT_IN, AL_OP_BETWEEN, AL_OP_CONTAINS, AL_OP_NULL, AL_OP_NOT_NULL };

struct al_filter_value {
    bool number; /* else text */
    double d;
    struct al_str text; /* of a number: its digits as they were given */
};
struct al_filter {
    int column;
    enum al_op op;
    struct al_filter_value *values;
    size_t n_values;
};

struct al_widget {
    char id[AL_DASH_ID];
    enum al_widget_type type;
    enum al_widget_role role;
    struct al_str title;
    int metric, over;   /* column, or -1: rows (count), none */
    enum al_agg agg;
    bool percent;       /* of a ratio: a part of a whole, shown as a percentage */
    bool latest;        /* only rows of the last period of time column `clock` that has the metric: its year, or its day */
    int clock;          /* (by `bucket`, where that is set and neither dimension nor by is a time) */
    int dimension, by;  /* or -1 */
    enum al_bucket bucket; /* of dimension, when it is a time */
    enum al_order order;
    int limit;
    bool other;
    int x, y;           /* scatter */
    int columns[AL_DASH_TABLE_COLUMNS];
    size_t n_columns;
};

struct al_plan {
    const char *purpose; /* static */
    struct al_str locale, title, sheet;
    bool no_rows, spanish;
    struct al_filter filters[AL_DASH_FILTERS];
    size_t n_filters;
    int chips[AL_DASH_CHIPS];
    size_t n_chips;
    struct al_widget widgets[AL_DASH_WIDGETS + 1];
    size_t n_widgets;
};

/* Of one build; what its parts share. */
struct al_dash {
    struct sqlite3 *db;
    struct al_arena arena;
    const struct al_json *request;
    struct al_dash_catalog catalog;
    struct al_profile profile;
    struct al_goal goal;
    struct al_plan plan;
    struct al_str notes[AL_DASH_NOTES]; /* for people and models; of the plan's locale */
    size_t n_notes;
    struct al_str missing[32]; /* columns that a plan names and the dataset does not have */
    size_t n_missing;
    struct al_result *results; /* one for each widget */
    uint64_t kept;             /* rows that the filters keep, where they were read (has_kept) */
    bool has_kept;
    struct al_cube *cube;      /* NULL: no chips */
    struct al_dashboard_out *out;
};
void al_dash_note(struct al_dash *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* plan.c: a fresh plan by the rules. d's catalog, profile, goal are there. PLAN_FAILED. */
int al_plan_make(struct al_dash *d, const struct al_json *by, struct al_err *err) AL_MUST_CHECK;
/* plan_json.c: reads as much as can be read; what is unknown or of a wrong type is dropped with a note. A wrong version,
 * purpose, locale or sheet: false, with a note, and the caller plans afresh. missing columns go to d->missing. */
bool al_plan_read(struct al_dash *d, const struct al_json *plan);
void al_plan_write(const struct al_dash *d, struct al_jw *w);
/* repair.c: holds the plan to the rules, whoever made it; each change with a note. PLAN_FAILED when nothing is left. */
int al_plan_repair(struct al_dash *d, struct al_err *err) AL_MUST_CHECK;
/* filter.c: [{column, op, value}] of a request: INVALID_INPUT names the column (and near ones), the op, the value; of a plan
 * (strict false): what does not hold is dropped with a note. Replaces the plan's filters. A date
 * means all of its year, month, day or minute; != and not_in keep rows without a value; texts have no order. */
int al_filters_read(struct al_dash *d, const struct al_json *list, bool strict, struct al_err *err) AL_MUST_CHECK;
/* The first and last of time columns, as the plan's filters leave them: charts are made for what they show. */
void al_filters_narrow(struct al_dash *d);
void al_filter_write(const struct al_dash *d, const struct al_filter *f, struct al_jw *w);
/* "region is North or South", for people. */
void al_filter_words(const struct al_dash *d, const struct al_filter *f, struct al_buf *out);
const char *al_widget_type_name(enum al_widget_type t);
const char *al_widget_role_name(enum al_widget_role r);
const char *al_agg_name(enum al_agg a);
const char *al_bucket_name(enum al_bucket b);
const char *al_op_name(enum al_op o);

/* --- bucket.c --- */
enum al_bucket al_bucket_for(const struct al_dash_column *c); /* by the span of its first and last time */
/* The key of a time: "2024-03-05T07" day "2024-03-05", week: its Monday, "2024-03", "2024-Q1", "2024". False: no date. */
bool al_bucket_key(enum al_bucket b, struct al_str iso, char ret[16]);
/* The key that follows; false at the year 9999. */
bool al_bucket_next(enum al_bucket b, const char key[16], char ret[16]);

/* --- sql.c: the definition of each widget: one SELECT with quoted names of the catalog and quoted literals only --- */
void al_sql_widget(const struct al_dash *d, const struct al_widget *w, struct al_buf *out);
void al_sql_where(const struct al_dash *d, struct al_buf *out); /* the filters: "" or "WHERE …" */
void al_sql_name(struct al_buf *out, struct al_str name);
void al_sql_text(struct al_buf *out, struct al_str text);
/* Where the natural order puts a value; ties and what it does not know go by the text. */
double al_natural_key(enum al_dash_natural n, struct al_str value);

/* --- the results --- */
struct al_dash_cell {
    enum { AL_DASH_CELL_NONE, AL_DASH_CELL_INT, AL_DASH_CELL_REAL, AL_DASH_CELL_TEXT } kind;
    int64_t i;
    double d;
    struct al_str text;
};
struct al_result {
    const char *failed; /* why it has no numbers; NULL: it has. Such widgets are left out with a note */
    struct al_dash_cell value; /* kpi */
    uint64_t rows;        /* that counted */
    struct al_str period; /* of `latest`: the key of the period they are of (by al_clock_bucket), or "" */
    /* charts: labels × series; a heat table likewise. Keys as the SQL gives them; value NAN: none (a gap in time) */
    struct al_str *labels, *series;
    size_t n_labels, n_series; /* n_series 1 without `by`: its name is the metric's */
    double *values;            /* [series * n_labels + label] */
    bool whole;                /* all values are integers */
    bool has_other;            /* the last label is what is left; its text is "" */
    uint64_t groups;           /* in all, shown or not */
    uint64_t left_out;         /* rows without a dimension, or without a time */
    /* scatter: x, y pairs */
    double *points;
    size_t n_points;
    uint64_t of_points;
    /* table */
    struct al_dash_cell *cells; /* [row * n_columns + column] */
    size_t n_rows;
};
/* One scan over the view of values; then statements of their own for what one scan cannot. The arena holds the results.
 * A widget that fails has result.failed; all failed: QUERY_ERROR. */
int al_scan(struct al_dash *d, struct al_err *err) AL_MUST_CHECK;

/* The numbers of each widget, grouped by the chips, too: what the page needs to count again. */
struct al_cube_cell {
    uint8_t chip[AL_DASH_CHIPS]; /* value numbers; the last of each chip's values may be "none" (text "") */
    uint32_t label, series;      /* of the widget's own keys here; 0 without */
    uint64_t n;                  /* rows (count), or numbers met (avg) */
    double sum, over, min, max;
};
struct al_cube_widget {
    bool there; /* false: this widget is not counted again, and says so */
    struct al_str *labels, *series; /* keys of this widget */
    size_t n_labels, n_series;
    struct al_cube_cell *cells; /* by chips, then label, then series */
    size_t n_cells;
};
struct al_cube {
    int chips[AL_DASH_CHIPS]; /* columns; those of the plan that fit */
    size_t n_chips;
    struct al_str *values[AL_DASH_CHIPS];
    size_t n_values[AL_DASH_CHIPS];
    struct al_cube_widget rows; /* all rows that the filters keep: n by chips alone, for "1,204 of 5,000 rows" */
    struct al_cube_widget widgets[AL_DASH_WIDGETS + 1];
    size_t n_cells; /* of all widgets, ≤ AL_DASH_CELLS */
};

/* --- text.c: words of the page, by language; one table each --- */
enum al_text_id {
#define AL_DASH_TEXT(id, en, es) AL_TEXT_##id,
#include "dashboard/texts.h"
#undef AL_DASH_TEXT
    AL_TEXT_COUNT
};
/* A template with {0}, {1} …; never a printf format. */
const char *al_text(const struct al_plan *p, enum al_text_id id);
/* " or " before this word: in Spanish " o ", or " u ". */
const char *al_text_or(const struct al_plan *p, struct al_str next);
/* Appends the template with its gaps filled, as they are (not escaped). */
void al_text_fill(struct al_buf *out, const char *text, const struct al_str *gaps, size_t n);
/* "Total revenue per month", ≤ 80 characters. */
struct al_str al_title_widget(struct al_dash *d, const struct al_widget *w);
struct al_str al_title_page(struct al_dash *d); /* when none is given: by the purpose */

/* --- format.c: numbers and dates as Intl would write them for the locale; ICU where it was loaded --- */
struct al_number_style {
    bool percent;  /* of fractions */
    bool compact;  /* 1.2M */
    bool unit_percent; /* a % behind the number */
    int min_digits, max_digits; /* after the mark */
    int significant;            /* 0: none; else at most so many digits in all */
};
/* The style of a widget's values: percent by its metric, 2 digits at most, the scale of prices kept, small numbers by
 * significant digits. */
struct al_number_style al_number_style_of(const struct al_dash *d, const struct al_widget *w, double largest);
struct al_format;
struct al_format *al_format_new(struct al_str locale); /* never NULL */
void al_format_free(struct al_format *f);
void al_format_number(struct al_format *f, const struct al_number_style *s, double v, struct al_buf *out); /* NAN: — */
void al_format_bucket(struct al_format *f, enum al_bucket b, struct al_str key, struct al_buf *out); /* "Mar 2024" */
/* The options of Intl.NumberFormat that write the same, as JSON. */
void al_format_options(const struct al_number_style *s, struct al_jw *w);
/* A well-formed BCP 47 tag, in its canonical case. False: it is none. */
bool al_locale_canonical(struct al_str tag, struct al_arena *arena, struct al_str *ret);

/* --- page.c --- */
/* The whole page into out->html. */
int al_page_write(struct al_dash *d, struct al_err *err) AL_MUST_CHECK;

#endif
