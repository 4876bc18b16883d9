/* What the writers of requests share. */
#ifndef AL_LLM_REQUEST_INT_H
#define AL_LLM_REQUEST_INT_H

#include "llm/llm_int.h"

#define AL_LLM_MAX_BODY 32000000u /* bytes of a request: the Messages API says 32 MB, the others about the same */
#define AL_LLM_MAX_MESSAGES 100000 /* of the Messages API; ours for all */

/* Depth of what is passed on as JSON within a body: it stands a few levels deep there. */
#define AL_LLM_MAX_NEST 100

/* Memory to look into a provider's own JSON of n bytes: long strings in a few members. What is nothing but small values would
 * take fifty times its size, and is no such thing. */
#define AL_LLM_TREE(n) ((n) * 2 + (1u << 20))

/* Whether a field may be sent: nobody has learned that this model refuses it. */
bool al_llm_sends(const struct al_llm_wire *w, enum al_llm_field f);
/* Whether the base URL's host is that one, in any case, with or without a port. */
bool al_llm_host_is(const struct al_provider *p, const char *host);
/* chat: whether reasoning_content goes back with the calls that it led to. */
bool al_llm_wants_reasoning(const struct al_llm_wire *w);
/* chat: whether reasoning_details go back (OpenRouter's way). */
bool al_llm_wants_details(const struct al_llm_wire *w);

/* Tokens that the answer may have: the request's own number, else al_llm_max_output. */
int64_t al_llm_wire_max_output(const struct al_llm_wire *w);

/* "temperature": hundredths as a number, when it is configured and not refused. */
void al_llm_put_temperature(const struct al_llm_wire *w, struct al_jw *j);
/* "prompt_cache_key": to its maker only, others do not know it. */
void al_llm_put_cache_key(const struct al_llm_wire *w, struct al_jw *j);

/* A member with text of files: a NUL in it, which endpoints refuse, becomes U+FFFD. */
void al_llm_put_clean(struct al_jw *j, const char *key, struct al_str text);

/* Nothing that a model could read: empty, or white space alone. */
bool al_llm_blank(struct al_str s);
/* One JSON object that may stand in a body: sound, not too deep, no lone surrogate and no NUL in its strings. */
bool al_llm_object_ok(struct al_str json);
/* Whether an escape of a JSON text is half of a surrogate pair or a NUL. */
bool al_llm_bad_escape(struct al_str json);
/* An id of 1 to 64 characters as the API takes it back from who got it there; a name of a tool, and an id, as all of them
 * take it from anybody. */
bool al_llm_id_ok(enum al_api api, struct al_str id);
bool al_llm_name_ok(struct al_str name);
/* A set of ids, each with a number that begins at 0; in the arena, as the ids themselves (views). */
struct al_llm_ids;
struct al_llm_ids *al_llm_ids_new(struct al_arena *a); /* NULL: over the arena's limit */
/* The number of an id, which is put in when it is new. NULL: over the arena's limit. */
uint32_t *al_llm_ids_count(struct al_llm_ids *ids, struct al_str id, bool *ret_new);
bool al_llm_ids_add(struct al_llm_ids *ids, struct al_str id); /* false: it was there (or over the limit) */

/* Whether a reasoning part's raw form is what this API takes back: its own kind of item, with its seal (of a thinking block
 * the signature; a few endpoints make none). */
bool al_llm_reasoning_ok(enum al_api api, struct al_str raw, bool signed_only);
/* Responses: whether an item of reasoning that is ok has an id that is in the set already; else its id is put in. The id is
 * copied into the arena. */
bool al_llm_reasoning_again(struct al_llm_ids *ids, struct al_arena *a, struct al_str raw);


#endif
