/*
 * The words of a command line: one table of flags, one table of commands, and the parser that reads both. It
 * starts nothing and opens nothing; what it returns are views of argv.
 */
#ifndef AL_CLI_ARGS_H
#define AL_CLI_ARGS_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct al_app;
struct al_reply;

enum al_flag_id {
    AL_FLAG_END, /* ends a command's list */

    /* Global: in any position, before or after the command. */
    AL_FLAG_CWD,
    AL_FLAG_CONFIG,
    AL_FLAG_TRUST_PROJECT,
    AL_FLAG_ALLOW_WRITE,
    AL_FLAG_ALLOW_PROCESS,
    AL_FLAG_ALLOW_EXTERNAL,
    AL_FLAG_ALLOW_MCP,
    AL_FLAG_ALLOW_ANALYSIS,
    AL_FLAG_READ_ONLY,
    AL_FLAG_ADD_DIR,
    AL_FLAG_ISOLATION,
    AL_FLAG_PYTHON,
    AL_FLAG_DB,
    AL_FLAG_SESSION,
    AL_FLAG_JSON,
    AL_FLAG_QUIET,
    AL_FLAG_NO_COLOR,
    AL_FLAG_VERSION,
    AL_FLAG_HELP,

    /* Of the commands that list them. */
    AL_FLAG_EVAL,
    AL_FLAG_INPUT,
    AL_FLAG_TITLE,
    AL_FLAG_TIMEOUT,
    AL_FLAG_EXPLAIN,
    AL_FLAG_FAILED,
    AL_FLAG_LIMIT,
    AL_FLAG_CODE,
    AL_FLAG_COMMAND,
    AL_FLAG_FOLLOW,
    AL_FLAG_ALL,
    AL_FLAG_EXPOSE,
    AL_FLAG_PLAIN_NAMES,
    AL_FLAG_MCP_CONFIG,
    AL_FLAG_HTTP,
    AL_FLAG_SOCKET,
    AL_FLAG_ALLOW_HOST,
    AL_FLAG_YES,
    AL_FLAG_DRY_RUN,
    AL_FLAG_UNDO,
    AL_FLAG_FILE,
    AL_FLAG_PROBE,
    AL_FLAG_WORKSPACE,
    AL_FLAG_OLDER_THAN,
    AL_FLAG_REQUIRE,
    AL_FLAG_SHEET,
    AL_FLAG_ROWS,
    AL_FLAG_DELIMITER,
    AL_FLAG_HEADER,
    AL_FLAG_ENCODING,
    AL_FLAG_SKIP_ROWS,
    AL_FLAG_DECIMAL,
    AL_FLAG_FORMAT,
    AL_FLAG_EXACT,
    AL_FLAG_MAX_ROWS,
    AL_FLAG_PARAM,
    AL_FLAG_DATASET,
    AL_FLAG_IN,
    AL_FLAG_OUT,
    AL_FLAG_EXTRAS,
    AL_FLAG_PUBLISH_ON_ERROR,
    AL_FLAG_KIND,
    AL_FLAG_OVERWRITE,
    AL_FLAG_LOCK,
    AL_FLAG_FROM,
    AL_FLAG_OCI,
    AL_FLAG_IMAGE,
    AL_FLAG_WASM,
    AL_FLAG_FORCE,
    AL_FLAG_GOAL,
    AL_FLAG_LOCALE,
    AL_FLAG_LIKE,
    AL_FLAG_FILTER,
    AL_FLAG_BY,
    AL_FLAG_NO_ROWS,
    AL_FLAG_PLAN,
    AL_FLAG_SPEC,
    AL_FLAG_OUTPUT,
    AL_FLAG_OPEN,
    AL_FLAG_PROVIDER,
    AL_FLAG_MODEL,
    AL_FLAG_BASE_URL,
    AL_FLAG_API,
    AL_FLAG_KEY_ENV,
    AL_FLAG_MAX_TURNS,
    AL_FLAG_RAW,
    AL_FLAG_FORK,

    AL_FLAG_COUNT,
};

/* What follows a flag; also what a shell completes there. */
enum al_takes {
    AL_TAKES_NOTHING,
    AL_TAKES_TEXT,
    AL_TAKES_FILE,
    AL_TAKES_DIR,
    AL_TAKES_INT,
};

/* Flags that may be given more than once, each with a list of its own. */
enum al_list {
    AL_LIST_NONE,
    AL_LIST_DIRS,
    AL_LIST_MCP_CONFIGS,
    AL_LIST_ALLOW_MCP,
    AL_LIST_ALLOW_HOSTS,
    AL_LIST_PARAMS,
    AL_LIST_INPUTS,
    AL_LIST_FILTERS,
    AL_LIST_COUNT,
};

struct al_flag {
    const char *name;  /* "--json"; NULL when there is only a letter */
    char letter;       /* 'e', or 0 */
    const char *value; /* how help names the value: "DIR" */
    const char *help;  /* one line */
    enum al_takes takes;
    bool global;
    bool optional; /* the value may be missing, and is written --flag=VALUE */
    enum al_list list;
    int64_t min, max;
    const char *words; /* the values that a shell offers, separated by spaces */
};
extern const struct al_flag al_flag_table[AL_FLAG_COUNT];

/* What a shell completes as the command's argument. */
enum al_arg_kind {
    AL_ARG_NONE,
    AL_ARG_FILE,
    AL_ARG_DIR,
    AL_ARG_WORDS,
    AL_ARG_SERVER, /* the name of an MCP server */
};

struct al_example {
    const char *line, *says;
};

struct al_command {
    const char *name;  /* "js", "runs show" */
    const char *usage; /* what follows the name */
    const char *summary;
    const char *about;                 /* more, for --help; may be NULL */
    const enum al_flag_id *flags;      /* ends with AL_FLAG_END; NULL: global ones only */
    const struct al_example *examples; /* ends with a NULL line */
    unsigned min_args, max_args;
    enum al_arg_kind arg;
    const char *words; /* for AL_ARG_WORDS */
    bool stream;       /* with --json standard output carries events, a line each: a failure before them is told on standard
                          error alone */
    /* Fills the reply; 0, or -1 with reply->err. */
    int (*run)(struct al_app *app, struct al_reply *reply);
    const char *const *missing; /* what is said, and the hint, when arguments are missing; NULL: the usage */
};
extern const struct al_command al_command_table[];
extern const size_t al_n_commands;
/* First words that several commands share, with what they are about: "runs", "config", … */
struct al_group {
    const char *name, *summary;
};
extern const struct al_group al_group_table[];
extern const size_t al_n_groups;

/* By whole name, "runs show"; NULL when there is none. */
const struct al_command *al_command_find(struct al_str name);
const struct al_group *al_group_find(struct al_str name);
bool al_command_has_flag(const struct al_command *command, enum al_flag_id id);
/* The nearest command, group or flag to a mistyped word, or NULL when none is near. command may be NULL. */
const char *al_command_nearest(struct al_str word);
const char *al_flag_nearest(const struct al_command *command, struct al_str word);
/* The nearest verb of a group: "show" for "shwo". */
const char *al_verb_nearest(const struct al_group *group, struct al_str word);

#define AL_ARGS_MAX_POS 8
#define AL_ARGS_MAX_LIST 64

struct al_args {
    const struct al_command *command; /* NULL when no command was named (or only a group, or a failure) */
    const struct al_group *group;     /* the first word, when it names a group; `mcp` is a command, too */
    const char *value[AL_FLAG_COUNT]; /* NULL: not given; "" for a flag that takes nothing */
    int64_t number[AL_FLAG_COUNT];    /* for AL_TAKES_INT */
    const char *list[AL_LIST_COUNT][AL_ARGS_MAX_LIST + 1]; /* each NULL-terminated */
    size_t n_list[AL_LIST_COUNT];
    const char *pos[AL_ARGS_MAX_POS + 1]; /* what is left, NULL-terminated */
    size_t n_pos;
};

/* INVALID_INPUT with what was wrong with which word, and the nearest name. --json is noted even when parsing
 * fails before it, so that the failure can be told in that form. argv must outlive *ret. */
int al_args_parse(int argc, char *const *argv, struct al_args *ret, struct al_err *err) AL_MUST_CHECK;

static inline bool al_args_has(const struct al_args *args, enum al_flag_id id)
{
    return args->value[id] != NULL;
}

/* "30d", "12h", "90m", "2w" in milliseconds; false for anything else, and for over 100 years. */
bool al_parse_age(struct al_str text, int64_t *ret_ms);

#endif
