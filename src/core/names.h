/* Patterns of file names: which a tool may not write, and which it may not read. Works on names alone. */
#ifndef AL_CORE_NAMES_H
#define AL_CORE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct al_name_rules; /* a list of patterns; the last one that matches decides */

/* Our own list, then the user's: "name" adds, "!name" lifts; "a/b" are consecutive parts of a path, and
 * "**" any number of parts, also none. user may be NULL. */
struct al_name_rules *al_name_rules_protected(const char *const *user);
struct al_name_rules *al_name_rules_secret(const char *const *user);
void al_name_rules_free(struct al_name_rules *n);
/* Whether any part of a normalized path matches, in any case: a folder may ignore case. */
bool al_name_rules_match(const struct al_name_rules *n, const char *path);
/* The name as a folder that ignores case may take it: out has room for n bytes. Length of out. */
size_t al_name_rules_fold(const char *s, size_t n, char *out);

#endif
