/*
 * What upstream MCP servers offer, kept between processes: their tools as they described them, an index to search them
 * by, and the definition of each tool as it was when it was first used (its pin). Ten thousand tools cost rows, no memory.
 */
#ifndef AL_STORE_CATALOG_H
#define AL_STORE_CATALOG_H

#include "store/store.h"

struct al_catalog_server {
    const char *name;
    const char *config_sha256; /* of the definition (config/servers.h) that it was fetched with */
    const char *protocol;      /* version agreed on */
    const char *info;          /* serverInfo, JSON; may be NULL */
    const char *instructions;  /* may be NULL */
    int64_t fetched_ms;
    int64_t n_tools;
};

/* The registry's name of a server's tool: mcp_<server>_<tool>, of [A-Za-z0-9_-]. Where that is not unmistakable (another
 * character was replaced, it is too long, the server's name has a `_`), it ends in a hash of both names. */
#define AL_CATALOG_NAME_MAX 65
void al_catalog_name(const char *server, const char *tool, char out[AL_CATALOG_NAME_MAX]);

/* Views, valid for the call that gives them. */
struct al_catalog_tool {
    const char *server;
    const char *tool; /* as the server calls it */
    const char *name; /* as the registry does: mcp_<server>_<tool>, ≤ 64 of [A-Za-z0-9_-], unique */
    const char *title, *description; /* cleaned and cut; may be NULL */
    const char *input_schema;        /* JSON, on one line */
    const char *output_schema;       /* may be NULL */
    const char *annotations;         /* JSON object; may be NULL */
    char sha256[AL_SHA256_HEX];      /* of (server, tool, description, schemas, annotations) as they came */
    bool pinned;                     /* it was used before … */
    bool changed;                    /* … with another definition: allow is ask until it was reviewed */
};

/*
 * Replaces a server's catalogue, on the thread pool with a connection of its own, in transactions of a few milliseconds:
 * the loop writes its journal meanwhile. What has not changed is not written. The row of the server comes last, so that
 * a catalogue that was cut short is fetched again. tools_json is the array of tool objects exactly as the server sent
 * them (all pages in one); what has no usable name is left out and counted, as are tools beyond AL_CATALOG_MAX_TOOLS.
 */
#define AL_CATALOG_MAX_TOOLS 20000
#define AL_CATALOG_MAX_BYTES (32u << 20)
struct al_catalog_put_result {
    int64_t n_tools, n_left_out;
};
int al_catalog_put(const char *db_path, const struct al_catalog_server *server, struct al_str tools_json,
                   struct al_catalog_put_result *ret, struct al_err *err) AL_MUST_CHECK; /* any thread */
int al_catalog_remove(struct al_store *s, const char *server, struct al_err *err) AL_MUST_CHECK; /* pins stay */
/* And its pins. */
int al_catalog_forget(struct al_store *s, const char *server, struct al_err *err) AL_MUST_CHECK;

/* NOT_FOUND: never fetched. Strings live in the arena. */
int al_catalog_server(struct al_store *s, const char *name, struct al_arena *a, struct al_catalog_server *ret,
                      struct al_err *err) AL_MUST_CHECK;
/* One tool, by its name in the registry, or by server and tool; in the arena. NOT_FOUND. */
int al_catalog_find(struct al_store *s, const char *name, struct al_arena *a, struct al_catalog_tool *ret,
                    struct al_err *err) AL_MUST_CHECK;
int al_catalog_find_of(struct al_store *s, const char *server, const char *tool, struct al_arena *a,
                       struct al_catalog_tool *ret, struct al_err *err) AL_MUST_CHECK;
/* Of one server (NULL: all), in order of server and name. fn returns false to end. */
int al_catalog_each(struct al_store *s, const char *server, bool (*fn)(void *ud, const struct al_catalog_tool *),
                    void *ud, struct al_err *err) AL_MUST_CHECK;
/* The names alone, by name: far cheaper. */
int al_catalog_tools(struct al_store *s, const char *server, bool (*fn)(void *ud, struct al_str tool), void *ud,
                     struct al_err *err) AL_MUST_CHECK;
/* The best matches of a query by BM25 over names, titles, descriptions and parameter names (FTS5), best first, at most
 * limit. Any text is a query; words match by their beginnings. */
int al_catalog_search(struct al_store *s, struct al_str query, int limit,
                      bool (*fn)(void *ud, const struct al_catalog_tool *), void *ud,
                      struct al_err *err) AL_MUST_CHECK;

/*
 * Pins the tool's present definition, when it has none yet (first use), or, with replace, in any case (a review). sha256
 * is of the definition that was shown or let in: STATE_CONFLICT, and nothing pinned, when it is another by now. NULL: of
 * whatever it is.
 */
int al_catalog_pin(struct al_store *s, const char *server, const char *tool, const char *sha256, bool replace,
                   struct al_err *err) AL_MUST_CHECK;
/* Pins a definition that the catalogue may not have any more, when the tool has no pin yet: server, tool, the texts and
 * sha256 of t are what counts. */
int al_catalog_pin_as(struct al_store *s, const struct al_catalog_tool *t, struct al_err *err) AL_MUST_CHECK;
/* Tools whose definition is another than their pin: old and new as JSON objects, and the hash of the new one, for
 * al_catalog_pin. */
int al_catalog_changed(struct al_store *s, const char *server,
                       bool (*fn)(void *ud, const char *tool, struct al_str old_json, struct al_str new_json,
                                  const char *new_sha256),
                       void *ud, struct al_err *err) AL_MUST_CHECK;

#endif
