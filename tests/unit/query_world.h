/* A dataset made by statements, in memory, and questions to it. */
#ifndef AL_TESTS_QUERY_WORLD_H
#define AL_TESTS_QUERY_WORLD_H

#include "query/query.h"

#include "base/json.h"

#include <sys/types.h>

struct query_world {
    struct al_query q;
    struct al_buf text, json, details, bytes;
    struct al_err err;
    struct al_arena arena;
    const struct al_json *value; /* of json, when the query succeeded */
};

void query_world_init(void);          /* the VFS and the limits, once */
void query_world_spill(uint64_t max); /* at most so many bytes, from now on */
off_t query_world_spilled(void);      /* bytes of the spill file */
/* A descriptor of a dataset file that these statements made, with the tables of a dataset's metadata in it.
 */
int query_dataset(const char *sql);
int query_empty_dataset(const char *sql);             /* without them */
int query_hostile_dataset(const char *sql);           /* likewise, as far as SQLite does what they say */
void query_world_open(struct query_world *w, int fd); /* the descriptor is closed with the world */
void query_world_close(struct query_world *w);
/* Runs; 0 or -1. The last answer is forgotten. */
int ask(struct query_world *w, const char *sql);
void must(struct query_world *w, const char *sql); /* succeeds, or the test fails with the error */
/* The rows' JSON is that. */
void assert_rows(struct query_world *w, const char *sql, const char *rows);
/* Fails with that code and a message (or hint) that has this in it. */
void assert_refused(struct query_world *w, const char *sql, enum al_code code, const char *part);
void assert_note(struct query_world *w, const char *part);
void assert_no_note(struct query_world *w);

#endif
