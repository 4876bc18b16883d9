/*
 * The relay's pure parts, without loop or servers: names and cursors of a gateway (relay_names.c), and what
 * differs between the two eras of the protocol in params and results (relay_translate.c). Fuzzed, as all of
 * it reads outside bytes.
 */
#ifndef AL_MCP_RELAY_PURE_H
#define AL_MCP_RELAY_PURE_H

#include "base/buf.h"
#include "base/json.h"

/* --- who asks (relay_named.c) --- */

/* The params of an elicitation with the server's name before its message: what a server says must not pass
 * for words of this program, or of another server. */
void al_relay_write_named(const struct al_json *params, struct al_str server, struct al_buf *out);
/* The same for each elicitation of an "input_required" result. */
void al_relay_write_named_round(const struct al_json *result, struct al_str server, struct al_buf *out);
/* The same for each page of an older server's "open these pages first"; false: the error is another one. */
bool al_relay_write_named_pages(const struct al_json *error, struct al_str server, struct al_buf *out);

/* --- names (relay_names.c) --- */

#define AL_RELAY_NAME_MAX 64 /* bytes, without the final zero */
/*
 * The name that a prompt has with us: <server>_<prompt>, 1-64 of [A-Za-z0-9_-]. Where that is not
 * unmistakable (another character was replaced, it is too long, the server's name has a "_"), a "_" and a
 * short hash of both names end it.
 */
#define AL_RELAY_HASH_BYTES 8
void al_relay_prompt_name(struct al_str server, struct al_str prompt, char out[AL_RELAY_NAME_MAX + 1]);
/* Whether name may be a prompt of this server: it begins with the server's part. */
bool al_relay_prompt_of(struct al_str server, struct al_str name);

#define AL_RELAY_CURSOR_MAX (64u << 10)
/* A place in a list of several servers: a server, and its own cursor unless it is the first page. Views. */
struct al_relay_cursor {
    struct al_str server;
    bool first;
    struct al_str cursor;
};
void al_relay_cursor_write(const struct al_relay_cursor *c, struct al_buf *out);
bool al_relay_cursor_read(struct al_str text, struct al_relay_cursor *ret); /* false: none of ours */

/* The part of a URI template before its first expression: what every URI of it begins with. */
struct al_str al_relay_template_head(struct al_str uri_template);

/* --- translation (relay_translate.c) --- */

/* What a request of a client becomes on its way to a server. Texts are JSON; an empty one says: as it came.
 */
struct al_relay_params {
    const struct al_json *params;  /* of the client; NULL: none */
    const char *member;            /* this member of params … */
    struct al_str member_json;     /* … becomes this (another name, another cursor; "null" takes it out) */
    struct al_str capabilities;    /* the client's, for a modern server's _meta; empty: {} */
    struct al_str log_level;       /* likewise, a level's name; empty: no log messages are wanted */
    bool retry;                    /* the two below are put in, in place of what params had */
    struct al_str input_responses; /* empty: none */
    struct al_str request_state;   /* empty: none */
};
/* What the client's _meta says of its own hop (progressToken and what the protocol owns) is not passed on. */
void al_relay_write_params(const struct al_relay_params *p, struct al_buf *out);

/* What a modern server wants to know before it can go on. */
#define AL_RELAY_MAX_ASKED 64
struct al_relay_asked {
    const struct al_json *requests; /* the object inputRequests, or NULL */
    struct al_str state;            /* requestState as it came, JSON; empty: none */
};
/* True when result is an "input_required" that can be acted on: each request has a method, at most
 * AL_RELAY_MAX_ASKED. */
bool al_relay_is_asking(const struct al_json *result, struct al_relay_asked *ret);
/* Whether result says that it is input_required, well formed or not. */
bool al_relay_wants_input(const struct al_json *result);

/*
 * A server's result as the client's era wants it. To a modern client: cache hints where method needs them and
 * the server gave none. To an older one: structured content that is no object, which its schema refuses,
 * becomes text. All else stays as it came.
 */
void al_relay_write_result(const struct al_json *result, struct al_str method, bool client_modern,
                           struct al_buf *out);
/* Whether it needs no change: then it need not be written anew. */
bool al_relay_fits(const struct al_json *result, struct al_str method, bool client_modern);
/* Whether results of this method carry cache hints in the modern era. */
bool al_relay_is_cacheable(struct al_str method);

/* One entry of a list, named anew unless name is NULL. To an older client, an output schema that is no
 * object's is left out: its schema refuses the whole list otherwise. */
void al_relay_write_entry(struct al_jw *w, const struct al_json *entry, const char *name, bool client_modern);

/* A JSON-RPC error object of a server, as the client's era wants it: its codes are not the same. */
struct al_relay_error {
    int code;
    struct al_str message; /* "" when there was none */
    struct al_str data;    /* JSON; empty: none */
};
void al_relay_read_error(const struct al_json *error, bool client_modern, struct al_relay_error *ret);
/* An older server's "open these pages first" (-32042) as the input_required result that a modern client
 * knows; false: the error is another one. */
#define AL_RELAY_URL_FIRST (-32042)
bool al_relay_write_url_round(const struct al_json *error, struct al_buf *out);

#endif
