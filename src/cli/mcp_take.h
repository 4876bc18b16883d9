/* Taking servers over from another client's file into our own: what import and setup share. */
#ifndef AL_CLI_MCP_TAKE_H
#define AL_CLI_MCP_TAKE_H

#include "cli/mcp_common.h"

enum al_take_kind {
    AL_TAKE_NEW,
    AL_TAKE_SAME,    /* ours already, as it is */
    AL_TAKE_REPLACE, /* ours is another of that name */
    AL_TAKE_OWN,     /* starts this program: never taken */
};

struct al_take {
    const struct al_server *s; /* as it was found */
    enum al_take_kind kind;
    bool chosen;
    struct al_tool_counts counts;
    struct al_err err; /* why its tools are not known */
    bool known;
};
struct al_takeover {
    struct al_take *v;
    size_t n, n_chosen;
    struct al_servers chosen; /* copies, with the rules that are proposed; in the order of those chosen */
};

/* Sorts what was found by what is configured already; all but AL_TAKE_SAME and AL_TAKE_OWN are chosen. */
void al_takeover_init(struct al_app *app, const struct al_servers *found, struct al_takeover *ret);
void al_takeover_free(struct al_takeover *t);
/* One entry for a person, with what would happen to it. */
void al_take_say(const struct al_take *t, struct al_buf *out);
/* Starts the chosen ones and proposes a policy by what they say of their tools. `imported_file` NULL: no trace is
 * kept of where they came from. What cannot be started asks for everything; that is no failure. */
int al_takeover_prepare(struct al_app *app, struct al_takeover *t, const char *imported_file,
                     struct al_err *err) AL_MUST_CHECK;
/* The user's file with the chosen ones in it: for al_config_user_edit, ud is the struct al_takeover. */
int al_takeover_edit(void *ud, struct al_str old, struct al_buf *out, struct al_err *err);
/* "github: 12 of 32 tools only read: allow; the others ask". */
void al_takeover_say_policy(const struct al_takeover *t, struct al_buf *out);
void al_takeover_json(const struct al_takeover *t, struct al_jw *w); /* an array */

#endif
