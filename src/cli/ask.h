/* Questions to the person at the terminal: shown on standard error, answered by a line of standard input. One at a time, in
 * the order that they came. What was typed before a question stood there answers nothing; the end of input is no answer, to
 * this question and all later ones. */
#ifndef AL_CLI_ASK_H
#define AL_CLI_ASK_H

#include "agent/agent.h"

struct al_app;

/* Whether a call may run. sessions: a grant for the session can be given where the question offers it. Everything that is
 * shown is made now; ask itself is not needed later. Its answer comes later, never from within. */
void al_ask_approval(struct al_app *app, const struct al_ask *ask, bool sessions);
/* The questions of ask_user_question, one after the other. */
void al_ask_questions(struct al_app *app, const struct al_agent_question *q);
/* Whether one stands on the terminal: nothing else is to be shown there before its answer. */
bool al_ask_open(const struct al_app *app);
/* Ends all that stand open, unanswered. */
void al_ask_end(struct al_app *app);

#endif
