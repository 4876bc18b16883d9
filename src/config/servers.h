/*
 * MCP servers as people configure them: the object mcp.servers of our config.json, and the same thing in the files of
 * other clients (mcpServers of Claude Desktop, Claude Code, Cursor, Gemini, .mcp.json; servers of VS Code; mcp of
 * opencode; [mcp_servers.*] of Codex' TOML). Reading starts nothing and expands nothing.
 */
#ifndef AL_CONFIG_SERVERS_H
#define AL_CONFIG_SERVERS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/ident.h"
#include "base/json.h"

#include <stdint.h>

enum al_tool_policy {
    AL_POLICY_ASK,
    AL_POLICY_ALLOW,
    AL_POLICY_DENY,
};

struct al_server_rule {
    char *pattern; /* shell-style, over the server's own tool name; a backslash takes a character as it is */
    enum al_tool_policy policy;
};

#define AL_SERVER_NAME_MAX 64     /* bytes */
#define AL_SERVERS_MAX 128
#define AL_SERVER_RULES_MAX 256

struct al_server {
    char *name;
    bool http;             /* else stdio */
    char *command;         /* stdio; as written: a name for PATH, or a path */
    char **args;           /* NULL-terminated; may be NULL */
    char **env;            /* "NAME=value", unexpanded, NULL-terminated; may be NULL */
    char *cwd;             /* may be NULL: the home folder; relative: from the workspace */
    char *url;             /* http */
    char **headers;        /* "Name: value", unexpanded, NULL-terminated; may be NULL */
    bool disabled;
    uint64_t timeout_ms;       /* of one call: 60,000 unless the entry says otherwise (1 s to 1 h) */
    uint64_t start_timeout_ms; /* from start to a usable catalogue: 30,000 (1 s to 10 min) */
    struct al_server_rule *rules; /* first match wins; none: ask */
    size_t n_rules;
    char *origin;          /* what named it, for people: "the user config file", a path, "--mcp-config" */
    const char *note;      /* what a person should know of another client's entry; static; may be NULL */
    char *project;         /* of another client's entry: the folder that it is for; NULL: all */
    char *imported_file;   /* the file that it was copied from; may be NULL … */
    char *imported_name;   /* … its name there … */
    char imported_sha256[AL_SHA256_HEX]; /* … and what it was then: its sha256 below, "" when not known */
    char sha256[AL_SHA256_HEX]; /* of what it is (command, args, env, cwd, url, headers), not of its rules and limits */
};

struct al_servers {
    struct al_server *v;
    size_t n;
};

void al_servers_free(struct al_servers *s);
const struct al_server *al_servers_find(const struct al_servers *s, struct al_str name);
/* Appends a copy; CONFIG_INVALID when the name is there already or there are too many. */
int al_servers_add(struct al_servers *s, const struct al_server *server, struct al_err *err) AL_MUST_CHECK;
/* The last. A pattern that is there already stays as it is, since the first match wins. */
void al_server_add_rule(struct al_server *s, const char *pattern, enum al_tool_policy policy);
/* The pattern that matches this tool and no other: * ? [ ] \ and , have a backslash before them. */
void al_server_exact_pattern(struct al_str tool, struct al_buf *out);

enum al_servers_shape {
    AL_SERVERS_OURS,        /* {"mcp":{"servers":{…}}}: strict, CONFIG_INVALID with file, line and nearest key */
    AL_SERVERS_ANY_JSON,    /* JSON or JSONC of another client; which one is seen from its members */
    AL_SERVERS_GEMINI,      /* JSON, in which $NAME and ${NAME} anywhere in a text are variables */
    AL_SERVERS_CODEX_TOML,
};
/* Of another client's file, by its path. */
enum al_servers_shape al_servers_shape_of(const char *path);
/*
 * Appends the servers of a file's text. Foreign files: members that we do not know are left alone; an entry that cannot
 * be used (no command and no url, a wrong type) is left out and told in notices (may be NULL), "NAME: what", one a line.
 * A name that is there already fails with CONFIG_INVALID; what was appended before a failure stays in add_to.
 */
int al_servers_read(struct al_str text, enum al_servers_shape shape, const char *origin, struct al_servers *add_to,
                    struct al_buf *notices, struct al_err *err) AL_MUST_CHECK;

/*
 * The entries from `first` on, as al_servers_read took them from another client's file (its absolute path): relative
 * paths of programs and folders, and arguments that are one, become absolute, by the project of the entry, by the file's
 * folder, or the one above where that is hidden (.vscode). In the user's scope what counts from the folder that the client
 * is opened in has no such place. An entry whose place is not known is taken out and told in notices. imported_sha256
 * keeps what the entry was in the file.
 */
void al_servers_root(struct al_servers *s, size_t first, const char *file, bool user_scope, struct al_buf *notices);

/* JSON with // and block comments and trailing commas to plain JSON of the same length, in place of which there is
 * white space: positions stay. */
void al_jsonc_plain(struct al_str text, struct al_buf *out);

enum al_tool_policy al_server_policy(const struct al_server *s, struct al_str tool);
const char *al_tool_policy_name(enum al_tool_policy p); /* "allow" */

/* ${VAR} and ${VAR:-default}, from the environment; CONFIG_INVALID names a variable that is not set. $${ is ${. */
int al_server_expand(const char *text, struct al_buf *out, struct al_err *err) AL_MUST_CHECK;
/* The names of variables in a text, each once, appended as "A, B". */
void al_server_variables(const char *text, struct al_buf *out);

/* An entry as it stands in our config.json: an object. */
void al_server_write(struct al_jw *w, const struct al_server *s);

/*
 * Edits of our config.json, as bytes: what else is in it stays as it is. put adds or replaces a server (with its
 * rules); remove takes it out; switch makes it disabled or not; rule puts {pattern: policy} first among its rules (and
 * takes the same pattern out elsewhere). NOT_FOUND when there is no such server.
 */
int al_servers_edit_put(struct al_str old, const struct al_server *server, struct al_buf *out,
                        struct al_err *err) AL_MUST_CHECK;
int al_servers_edit_remove(struct al_str old, struct al_str name, struct al_buf *out, struct al_err *err) AL_MUST_CHECK;
int al_servers_edit_switch(struct al_str old, struct al_str name, bool disabled, struct al_buf *out,
                           struct al_err *err) AL_MUST_CHECK;
int al_servers_edit_rule(struct al_str old, struct al_str name, const char *pattern, enum al_tool_policy policy,
                         struct al_buf *out, struct al_err *err) AL_MUST_CHECK;

#endif
