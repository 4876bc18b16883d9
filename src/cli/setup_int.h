/* `alisio setup CLIENT`: the parts that its files share. */
#ifndef AL_CLI_SETUP_INT_H
#define AL_CLI_SETUP_INT_H

#include "cli/mcp_take.h"
#include "config/servers_text.h"

#define AL_SETUP_MAX_FILE (32u << 20)
#define AL_SETUP_ENTRY "alisio"

struct al_client {
    const char *name;      /* "claude-code" */
    const char *title;     /* "Claude Code" */
    const char *container; /* the member that holds its servers */
    bool toml;
    bool typed;   /* its entries carry "type": "stdio" */
    bool opencode; /* its entries are of opencode's form */
    bool gemini;   /* its texts have Gemini's variables */
    const char *project_file; /* of a workspace: another scope, which is only named */
    /* Its configuration file, malloc'ed; the first that is there, else where it would be. */
    char *(*find)(void);
};
extern const struct al_client al_client_table[];
extern const size_t al_n_clients;
const struct al_client *al_client_find(const char *name, struct al_err *err);
/* The entry that starts this program, as JSON. */
void al_client_entry(const struct al_client *c, const char *own_path, struct al_buf *out);
/* Its servers of user scope alone. */
int al_client_read(const struct al_client *c, struct al_str text, const char *shown, struct al_servers *ret,
                   struct al_buf *notices, struct al_err *err) AL_MUST_CHECK;
int al_client_edit(const struct al_client *c, struct al_str text, const struct al_str *remove, size_t n_remove,
                   struct al_str entry, const char *shown, struct al_buf *out, struct al_err *err) AL_MUST_CHECK;
/* What else the client reads servers from, for people: lines. */
void al_client_other_scopes(const struct al_client *c, struct al_app *app, struct al_str text,
                            struct al_buf *out);

/* --- what would change, for people --- */
struct al_setup_change {
    const char *path;
    struct al_str old, new;
    bool toml;
    const char *steps[2]; /* to the object of servers; the second may be NULL */
};
/* The entries that go and come, as JSON, without what is secret in them, and no other line of the file. */
void al_setup_say_change(struct al_app *app, const struct al_setup_change *c, struct al_buf *out);

/* --- a client's file --- */
struct al_setup_file {
    char *path; /* real: links are followed, since people keep their files elsewhere */
    bool exists;
    struct al_buf text;
};
/* Reads it; a link that leads nowhere, or to another user's file, is refused. */
int al_setup_file_open(const char *path, struct al_setup_file *ret, struct al_err *err) AL_MUST_CHECK;
void al_setup_file_close(struct al_setup_file *f);
/* Makes what is missing of its folder, and appends the folders made as JSON strings to an open array. */
int al_setup_file_folder(const struct al_setup_file *f, struct al_jw *made, struct al_err *err) AL_MUST_CHECK;
/* Replaces it atomically if it still is what was read: else STATE_CONFLICT. */
int al_setup_file_write(struct al_setup_file *f, struct al_str bytes, struct al_err *err) AL_MUST_CHECK;
/* A copy beside it, 0600, named with the time. *ret is its path, malloc'ed. */
int al_setup_file_backup(const struct al_setup_file *f, char **ret, struct al_err *err) AL_MUST_CHECK;
/* Any file of ours, by its path, 0600. */
int al_setup_write_private(const char *path, struct al_str bytes, struct al_err *err) AL_MUST_CHECK;

/* --- what was done, to be undone --- */
struct al_setup_record {
    const struct al_client *client;
    const struct al_setup_file *file;
    const char *backup;    /* NULL: the file was not there */
    struct al_str after;   /* its text as we left it */
    const struct al_takeover *takeover;
    const char *const *original_names; /* of the servers in takeover->v, in the client's file */
    bool config_existed;
    struct al_str config_before, config_after;
    struct al_str made_dirs; /* JSON array */
};
/* *ret is where it was written, malloc'ed. */
int al_setup_record_write(const struct al_setup_record *r, char **ret, struct al_err *err) AL_MUST_CHECK;
/* Takes it away, and its folders when they are empty then. */
int al_setup_record_remove(const char *path, struct al_err *err);
int al_setup_undo(struct al_app *app, const struct al_client *c, struct al_reply *reply) AL_MUST_CHECK;

#endif
