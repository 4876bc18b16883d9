/*
 * Options: one table (name, type, range, default, who may set it), filled by layers: defaults, user file,
 * project file (only when trusted; it may only lower limits and switch off), environment, flags. config.json
 * is our own file and small (≤ 1 MiB), so it is read here.
 */
#ifndef AL_CONFIG_CONFIG_H
#define AL_CONFIG_CONFIG_H

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

enum al_opt {
    AL_OPT_FORGE_JAVASCRIPT_ENABLED,
    AL_OPT_FORGE_JAVASCRIPT_HOST,
    AL_OPT_FORGE_JAVASCRIPT_TIMEOUT_MS,
    AL_OPT_FORGE_JAVASCRIPT_MAX_TIMEOUT_MS,
    AL_OPT_FORGE_JAVASCRIPT_MEMORY_BYTES,
    AL_OPT_FORGE_JAVASCRIPT_STACK_BYTES,
    AL_OPT_FORGE_JAVASCRIPT_MAX_TOOL_CALLS,
    AL_OPT_FORGE_JAVASCRIPT_MAX_CONCURRENCY,
    AL_OPT_FORGE_JAVASCRIPT_MAX_OUTPUT_CHARS,
    AL_OPT_FORGE_STATE_ENABLED,
    AL_OPT_FORGE_STATE_MAX_TOTAL_BYTES,
    AL_OPT_FORGE_SCRATCH_ENABLED,
    AL_OPT_FORGE_SCRATCH_ROOT,
    AL_OPT_FORGE_SCRATCH_RETENTION_DAYS,
    AL_OPT_FORGE_SCRATCH_MAX_BYTES,
    AL_OPT_FORGE_GUIDES_ENABLED,
    AL_OPT_FORGE_RUNS_RETENTION_DAYS,
    AL_OPT_STORAGE_MAX_BYTES,
    AL_OPT_ANALYSIS_ENABLED,
    AL_OPT_ANALYSIS_SMART_DASHBOARD,
    AL_OPT_ANALYSIS_DATA_MAX_UPLOAD_BYTES,
    AL_OPT_ANALYSIS_DATA_MAX_ROWS,
    AL_OPT_ANALYSIS_DATA_QUERY_TIMEOUT_MS,
    AL_OPT_ANALYSIS_DATA_MAX_INTERACTIVE_ROWS,
    AL_OPT_ANALYSIS_DATA_STATS_MEMORY_BYTES,
    AL_OPT_ANALYSIS_RUNTIME,
    AL_OPT_ANALYSIS_ISOLATION,
    AL_OPT_ANALYSIS_OCI_ENGINE,
    AL_OPT_ANALYSIS_OCI_IMAGE,
    AL_OPT_ANALYSIS_OCI_MEMORY_MB,
    AL_OPT_ANALYSIS_OCI_CPUS,
    AL_OPT_ANALYSIS_WASM_NODE,
    AL_OPT_ANALYSIS_WASM_MEMORY_MB,
    AL_OPT_ANALYSIS_WASM_STARTUP_MS,
    AL_OPT_ANALYSIS_WASM_MAX_INPUT_BYTES,
    AL_OPT_ANALYSIS_LIMITS_TIMEOUT_MS,
    AL_OPT_ANALYSIS_LIMITS_MAX_FILES,
    AL_OPT_ANALYSIS_LIMITS_MAX_FILE_BYTES,
    AL_OPT_ANALYSIS_LIMITS_MAX_OUTPUT_BYTES,
    AL_OPT_ANALYSIS_LIMITS_MAX_LOG_BYTES,
    AL_OPT_ANALYSIS_LIMITS_MEMORY_MB,
    AL_OPT_ANALYSIS_LIMITS_PROCESSES,
    AL_OPT_ANALYSIS_LIMITS_MAX_WORK_BYTES,
    AL_OPT_ANALYSIS_LIMITS_MAX_WORK_FILES,
    AL_OPT_ANALYSIS_RETENTION_JOBS_DAYS,
    AL_OPT_ANALYSIS_RETENTION_INTERMEDIATE_DAYS,
    AL_OPT_ANALYSIS_RETENTION_ARTIFACTS_DAYS,
    AL_OPT_PROVIDER,
    AL_OPT_MODEL,
    AL_OPT_MAX_TURNS,
    AL_OPT_MAX_OUTPUT_TOKENS,
    AL_OPT_MAX_TOKENS, /* 0: by the window */
    AL_OPT_COMPACTION_THRESHOLD, /* hundredths */
    AL_OPT_COMPACTION_KEEP_TURNS,
    AL_OPT_CONTEXT_MAX_BYTES,
    AL_OPT_CONTEXT_CLAUDE_MD,
    AL_OPT_FILES_PROTECT, /* list of patterns: "name" adds, "!name" lifts */
    AL_OPT_FILES_SECRET,
    AL_OPT_COUNT,
};

enum al_layer {
    AL_LAYER_DEFAULT,
    AL_LAYER_USER,
    AL_LAYER_PROJECT,
    AL_LAYER_ENV,
    AL_LAYER_FLAG
};

struct al_config;
struct al_config_sources {
    const char *user_file;    /* <config home>/config.json; a missing file is fine; NULL: none */
    const char *project_file; /* <workspace>/.alisio/config.json or --config FILE; NULL: none */
    bool project_is_explicit; /* --config: missing is an error, and it counts as trusted */
    bool project_trusted;
    /* What project_file held when its hash was looked up: used instead of reading it again, by when it may be
     * another. NULL: it is read. */
    const struct al_str *project_bytes;
};
/* Never fails for a broken project file (it is ignored with a notice; one that --config names fails). A
 * broken user file fails with CONFIG_INVALID: file, line, the nearest key; *ret is then still made, from what
 * else there is, so that `alisio mcp` can start. */
int al_config_load(const struct al_config_sources *src, struct al_config **ret,
                   struct al_err *err) AL_MUST_CHECK;
/* The same from the files' bytes, without the environment: the project counts as trusted; empty is no file.
 */
int al_config_load_bytes(struct al_str user, struct al_str project, struct al_config **ret,
                         struct al_err *err) AL_MUST_CHECK;
void al_config_free(struct al_config *c);

bool al_config_bool(const struct al_config *c, enum al_opt o);
int64_t al_config_int(const struct al_config *c, enum al_opt o); /* of analysis.oci.cpus and compaction.threshold: hundredths of one */
const char *al_config_text(const struct al_config *c, enum al_opt o); /* NULL when unset */
size_t al_config_list(const struct al_config *c, enum al_opt o, const char *const **ret);
enum al_layer al_config_layer(const struct al_config *c, enum al_opt o);
const char *al_config_origin(const struct al_config *c,
                             enum al_opt o); /* file path or variable; NULL for defaults */
/* mcp.servers of the user's file. */
struct al_servers;
const struct al_servers *al_config_servers(const struct al_config *c);
/* providers of the user's file (config/providers.h), without those that are only known beforehand. */
struct al_providers;
const struct al_providers *al_config_providers(const struct al_config *c);
const char *al_opt_name(enum al_opt o);      /* "forge.javascript.timeoutMs" */
const char *al_opt_help(enum al_opt o);      /* one sentence */
/* INVALID_INPUT naming the nearest key. */
int al_opt_find(struct al_str name, enum al_opt *ret, struct al_err *err) AL_MUST_CHECK;
/* Is this a container image by its digest, as analysis.oci.image must be: NAME@sha256:64 hexadecimal digits, NAME without
 * a tag? */
bool al_config_is_image(struct al_str s);
/* The value as JSON. */
void al_config_value_json(const struct al_config *c, enum al_opt o, struct al_buf *out);
/* Notices: ignored project keys, ignored project files. */
size_t al_config_notices(const struct al_config *c, const char *const **ret);
/* `alisio config set KEY VALUE`: checks, edits the user file in place keeping what else is in it, atomic,
 * 0600. The value is JSON, or plain text for a string; null takes the key out. */
int al_config_edit(struct al_str old, struct al_str key, struct al_str value, struct al_buf *out,
                   struct al_err *err) AL_MUST_CHECK; /* the same on bytes; old may be empty */
int al_config_set(const char *user_file, struct al_str key, struct al_str value,
                  struct al_err *err) AL_MUST_CHECK;

/* Any other edit of it, in the same way, alone among processes: edit gets the bytes (empty: there is no file) and gives
 * the new ones; the same bytes are not written. */
int al_config_user_edit(const char *user_file,
                        int (*edit)(void *ud, struct al_str old, struct al_buf *out, struct al_err *err), void *ud,
                        struct al_err *err) AL_MUST_CHECK;

/* Folders: ALISIO_CONFIG_HOME, else XDG_CONFIG_HOME/alisio, else ~/.config/alisio; the same for state.
 * Malloc'ed. */
char *al_config_home(void);
char *al_state_home(void);

#endif
