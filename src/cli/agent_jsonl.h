/* A run as lines of JSON on standard output: first run_started, last exactly one of run_completed, run_failed,
 * run_cancelled and run_turns_exceeded, whatever happens in between. docs/jsonl.md */
#ifndef AL_CLI_AGENT_JSONL_H
#define AL_CLI_AGENT_JSONL_H

#include "agent/agent.h"
#include "cli/agent_out.h"

#define AL_JSONL_LINE_MAX (1u << 20) /* bytes of a line, its line feed included */

struct al_jsonl {
    struct al_out *out;
    bool started, ended;
    int64_t seq; /* of the last line */
    char run_id[AL_ID_MAX], session_id[AL_ID_MAX];
};
void al_jsonl_init(struct al_jsonl *j, struct al_out *out);
void al_jsonl_event(struct al_jsonl *j, const struct al_agent_event *e);
/* What is missing of the frame: a run that could not begin, or whose end was not told. */
void al_jsonl_close(struct al_jsonl *j, const struct al_agent_end *end);
/* One line, with its line feed; also for what is exported. Too long a line loses the ends of its long texts, and says
 * "truncated": true in its data. */
void al_jsonl_line(const struct al_agent_event *e, struct al_buf *out);

#endif
