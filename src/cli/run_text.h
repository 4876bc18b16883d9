/* A run of the journal in JSON and in words; shared by the runs commands. */
#ifndef AL_CLI_RUN_TEXT_H
#define AL_CLI_RUN_TEXT_H

#include "base/json.h"
#include "cli/reply.h"
#include "store/store.h"

enum al_style al_run_style(const char *status);
bool al_run_live(const struct al_run *run);
/* One object, without record and code. */
void al_run_json(struct al_jw *w, const struct al_run *run);
/* "key": an ISO time, or null for 0. */
void al_jw_ktime(struct al_jw *w, const char *key, int64_t wall_ms);
/* The command line that runs the script again: `alisio js -e …`. record may be NULL. */
void al_run_command(struct al_buf *out, const struct al_run *run, struct al_str workspace, struct al_str code,
                    const struct al_json *record);

#endif
