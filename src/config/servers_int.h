/* What the readers of server entries share: one setter for each part of an entry, whatever file it stands in. */
#ifndef AL_CONFIG_SERVERS_INT_H
#define AL_CONFIG_SERVERS_INT_H

#include "base/json.h"
#include "config/servers.h"

#define AL_SERVER_MAX_LIST 512          /* arguments, variables, headers of one server */
#define AL_SERVERS_MAX_FILE (32u << 20) /* of another client: Claude Code keeps all sorts of things in its own */
#define AL_SERVERS_MAX_ARENA (1u << 30)

enum al_server_part {
    AL_PART_COMMAND,
    AL_PART_ARGS,
    AL_PART_ENV,
    AL_PART_CWD,
    AL_PART_URL,
    AL_PART_HEADERS,
    AL_PART_DISABLED,
    AL_PART_TIMEOUT,
    AL_PART_START_TIMEOUT,
    AL_PART_TOOLS,
    AL_PART_IMPORTED,
};
/* Checks and takes one part. NULL when it was taken, else what is wrong with it: "must be a string". */
const char *al_server_set(struct al_server *s, enum al_server_part part, const struct al_json *v);
/* An entry with its defaults. */
void al_server_init(struct al_server *s, struct al_str name, const char *origin);
void al_server_fini(struct al_server *s);
/* What is wrong with the whole, or NULL; fills http and sha256. */
const char *al_server_complete(struct al_server *s);
/* What is wrong with a name, or NULL. */
const char *al_server_name_fault(struct al_str name);
/* Takes the entry over (also when it fails). */
int al_servers_take(struct al_servers *s, struct al_server *entry, struct al_err *err) AL_MUST_CHECK;

/* {"servers": {…}} at the name mcp of our own file: strict. *ret_at is then the member that is wrong. */
int al_servers_read_ours(const struct al_json *mcp, const char *origin, struct al_servers *add_to,
                         const struct al_json **ret_at, struct al_buf *ret_what) AL_MUST_CHECK;
int al_servers_read_foreign(const struct al_json *root, enum al_servers_shape shape, const char *origin,
                            struct al_servers *add_to, struct al_buf *notices,
                            struct al_err *err) AL_MUST_CHECK;

#endif
