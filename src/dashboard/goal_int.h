/* A goal while it is read: its words, the columns' words, and what matched. goal.c, goal_words.c, goal_ratio.c. */
#ifndef AL_DASHBOARD_GOAL_INT_H
#define AL_DASHBOARD_GOAL_INT_H

#include "dashboard/dashboard_int.h"

#define GOAL_NAME_WORDS 12  /* of a column's name that count */
#define GOAL_HITS 64
#define GOAL_VALUE_WORDS 512

struct goal_word {
    struct al_str text; /* lower case, no accents */
    int synonyms, also; /* groups of words that mean the same, or -1 */
};
/* One of a column's names: display, label, identifier. Words for units are left out. */
struct goal_name {
    struct goal_word *words;
    size_t n;
};
struct goal_column {
    struct goal_name names[3];
};
struct goal_hit {
    int column;
    size_t at, end; /* words of the goal */
    bool run;       /* all words of a name, side by side */
};
struct goal {
    struct al_arena *arena;
    const struct al_dash_catalog *catalog;
    struct goal_word words[AL_WORDS_MAX];
    size_t n_words;
    bool taken[AL_WORDS_MAX]; /* names a column as part of a run of words */
    bool used[AL_WORDS_MAX];  /* names a column */
    struct goal_column *columns;
    struct al_str values[GOAL_VALUE_WORDS]; /* frequent values that are one word */
    size_t n_values;
    struct goal_hit hits[GOAL_HITS];
    size_t n_hits;
};

/* False: no memory. */
bool goal_words_read(struct goal *g, struct al_str text);
/* One word in two forms or two languages. */
bool goal_same(const struct goal_word *a, const struct goal_word *b);
bool goal_in(struct al_str word, const char *const *list); /* list ends with NULL */
bool goal_stop_word(struct al_str word);    /* articles, prepositions */
bool goal_generic_word(struct al_str word); /* names nothing on its own */
bool goal_request_word(struct al_str word); /* "show", "make": names a column only after a preposition */
/* "by", "per", "and", "vs": does such a word stand before, articles aside? */
bool goal_introduced(const struct goal *g, size_t at);
enum al_bucket goal_bucket_word(struct al_str word, bool *ret_adverb); /* "month"; "monthly" is an adverb */
const char *goal_purpose(const struct goal *g);
/* Ratios: needs the hits in the order of the text. */
void goal_ratio(const struct goal *g, struct al_goal *ret);
/* goal_count.c: whether rows or things are to be counted; needs the hits in the order of the text. */
void goal_count(const struct goal *g, struct al_goal *ret);
/* goal_unmet.c: what is asked for and not there; needs the hits and the ratio. */
void goal_unmet(const struct goal *g, struct al_goal *ret);
bool goal_is_value(const struct goal *g, struct al_str word); /* a frequent value of a column */

#endif
