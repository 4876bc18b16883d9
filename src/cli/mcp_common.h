/* What the commands about MCP servers share: showing one, asking, fetching catalogues, proposing a policy, editing the
 * user's file. */
#ifndef AL_CLI_MCP_COMMON_H
#define AL_CLI_MCP_COMMON_H

#include "cli/app.h"
#include "store/catalog.h"

/* The absolute path of this very program; the one in PATH where that is the same file, since upgrades keep it. */
char *al_own_path(struct al_err *err);
/* Whether an entry starts this very program. */
bool al_server_is_own(const struct al_server *s);

/* What an entry would start or reach, on lines indented by four spaces; control characters visible, long words cut,
 * values of variables and headers left out but for variables that decide what runs. Whoever asks a person about it has to
 * look whether the buffer failed: what was not shown is not started. */
void al_say_server(const struct al_server *s, struct al_buf *out);
/* Its command line alone, as a line. */
void al_say_command(const struct al_server *s, struct al_buf *out);
/* The same as members of an object that is open. */
void al_json_server(struct al_jw *w, const struct al_server *s);
/* Appends a text without user and password of URLs in it, values of their queries, and tokens behind Bearer. With `word`
 * it is of a command line, and nothing is hidden that a shell could run. */
#define AL_NOT_SHOWN "‹not shown›"
void al_mask_secrets(struct al_str s, bool word, struct al_buf *out);
/* Text of others on one line, with nothing in it that is not seen, wherever it goes. */
void al_say_plain(struct al_buf *out, const char *z);
/* The same as a word of a command line to be pasted. */
void al_say_quoted(struct al_buf *out, const char *z);

/* Asks at the terminal; an empty line is `otherwise`, the end of the input a no. */
bool al_ask_yes(struct al_app *app, const char *question, bool otherwise);
/* True when --yes was given, or the person says so after what was shown (`shown` goes to standard error). Else false
 * with CANCELLED, or APPROVAL_REQUIRED naming `command` where nobody can be asked. */
bool al_approved(struct al_app *app, struct al_str shown, const char *question, const char *command,
                 struct al_err *err);
/* Writes text for a person to standard error at once. */
void al_tell(struct al_app *app, struct al_str text);

/* A configured server (al_app_servers), or NOT_FOUND with the nearest. */
const struct al_server *al_mcp_server(struct al_app *app, const char *name, struct al_err *err);

/* Warns of a server that --allow-mcp names and that is not configured. */
void al_warn_allow_mcp(struct al_app *app);
/* That none is configured, and how to get some. */
void al_say_no_server(struct al_buf *out);

/* One server's catalogue being fetched. */
struct al_fetch {
    struct al_upstream *s;
    uint64_t started_ms, ready_ms, done_ms; /* ready and done: since the start; 0: never */
    bool done;
    struct al_err err; /* code AL_OK: fetched */
};
/* All at once; returns when each has ended, CANCELLED by a signal. With `tell` of several it notes how each ends. */
int al_fetch_all(struct al_app *app, struct al_fetch *v, size_t n, bool tell, struct al_err *err) AL_MUST_CHECK;

/* The tools of a server as its catalogue knows them. */
struct al_tool_counts {
    size_t tools, allow, ask, deny, changed, read_only;
    size_t bytes; /* of their definitions, as a client's model would read them */
};
/* Definitions that something was counted, shown or proposed by. */
struct al_seen {
    struct al_seen_tool {
        char *tool;
        char sha256[AL_SHA256_HEX];
    } *v;
    size_t n;
};
void al_seen_add(struct al_seen *seen, const struct al_catalog_tool *t);
void al_seen_free(struct al_seen *seen);
/* Pins them, those that have no pin yet: what the server makes of them from now on asks. STATE_CONFLICT when one is
 * another already. */
int al_seen_pin(struct al_app *app, const char *server, const struct al_seen *seen, struct al_err *err) AL_MUST_CHECK;

/* `seen` may be NULL; what was counted is appended. */
int al_count_tools(struct al_app *app, const struct al_server *s, struct al_tool_counts *ret, struct al_seen *seen,
                   struct al_err *err) AL_MUST_CHECK;
/* Whether a tool says of itself that it only reads. */
bool al_tool_reads_only(const struct al_catalog_tool *t);
/* Puts allow for the tools that say they only read before the server's other rules; what those deny stays denied.
 * Starts nothing; without a catalogue nothing is allowed. */
int al_propose_policy(struct al_app *app, struct al_server *s, struct al_tool_counts *ret, struct al_seen *seen,
                      struct al_err *err) AL_MUST_CHECK;

/* "3 servers, 2 with a catalogue", of those that are configured; asks for the store. */
int al_say_servers(struct al_app *app, struct al_buf *out, struct al_jw *w, struct al_err *err) AL_MUST_CHECK;

/* How the entry that a server was imported from looks now. */
enum al_import_state {
    AL_IMPORT_NONE, /* it was not imported */
    AL_IMPORT_SAME,
    AL_IMPORT_CHANGED,
    AL_IMPORT_GONE, /* the file, or the entry in it */
};
enum al_import_state al_import_state(const struct al_server *s);

/* Lines of two texts with "- ", "+ " and "  " before them, and what is far from any change left out. */
void al_diff_lines(struct al_app *app, struct al_str old, struct al_str new, struct al_buf *out);

#endif
