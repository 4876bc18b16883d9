/* What the files of the catalogue share: one tool, as its server described it, made fit to keep. */
#ifndef AL_STORE_CATALOG_INT_H
#define AL_STORE_CATALOG_INT_H

#include "store/catalog.h"

#define AL_CATALOG_MAX_TOOL_NAME 256u /* bytes; a longer name is none */
#define AL_CATALOG_MAX_TITLE 200u     /* characters, as the description */
#define AL_CATALOG_MAX_DESCRIPTION 2000u
#define AL_CATALOG_MAX_SCHEMA (64u << 10) /* bytes; a larger one becomes that of any object */
#define AL_CATALOG_MAX_ANNOTATIONS (4u << 10)

/* Enters a JSON array, whose elements al_catalog_next then gives one by one: only strings and brackets are looked at, so
 * that an element which is no JSON spoils no other. False: no array; at the end. */
bool al_catalog_open(struct al_str *list);
bool al_catalog_next(struct al_str *rest, struct al_str *ret);
/* Reads one tool; its strings live in the arena. params: names of its parameters, for the index. False: it has no
 * usable name, or is none. */
bool al_catalog_read(const char *server, struct al_str json, struct al_arena *a, struct al_catalog_tool *ret,
                     struct al_buf *params);
/* Appends text and, where camelCase or snake_case joins words, those words again on their own. */
void al_catalog_words(struct al_buf *out, struct al_str text);
/* A query of words as FTS5 takes it: each by its beginning, any of them. Empty when there is no word in it. */
void al_catalog_match(struct al_buf *out, struct al_str query);
/* What a pin keeps of a tool, and what a review compares. */
void al_catalog_definition(const struct al_catalog_tool *t, struct al_buf *out);

#endif
