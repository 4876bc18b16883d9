/* A run as a person reads it: the model's text on standard output, all else on standard error. */
#ifndef AL_CLI_AGENT_TEXT_H
#define AL_CLI_AGENT_TEXT_H

#include "agent/agent.h"
#include "cli/agent_out.h"
#include "cli/app.h"

struct al_agent_text {
    struct al_app *app;
    struct al_out *out;
    bool raw;         /* control characters go out as they came: a pipe, and asked for */
    bool mid_line;    /* standard output does not stand at the beginning of a line */
    struct al_buf held; /* text of the answer that is not whole yet, as it is shown */
    struct al_buf later; /* lines that came while a question stood on the terminal */
};
void al_agent_text_init(struct al_agent_text *t, struct al_app *app, struct al_out *out, bool raw);
void al_agent_text_fini(struct al_agent_text *t);
void al_agent_text_event(struct al_agent_text *t, const struct al_agent_event *e);
/* The model is asked, and nothing has come yet: a line that goes when something comes. */
void al_agent_text_waiting(struct al_agent_text *t);
/* What was held back, and a whole line. */
void al_agent_text_end(struct al_agent_text *t);

#endif
