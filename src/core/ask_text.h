/* The words of a question to a person: what they read before they decide. */
#ifndef AL_CORE_ASK_TEXT_H
#define AL_CORE_ASK_TEXT_H

#include "core/tool.h"

/* What is to happen, in our words; what a model, a script or a server wrote is quoted or set in, and holds nothing that
 * is not seen. whole: all is shown of a script, and of the arguments of a call, up to 1 MiB; else, and of what is longer, the
 * heads and the ends, with how much was left out between them. Where out has failed, nobody may be asked by it. */
void al_ask_text(const struct al_ask *ask, bool whole, struct al_buf *out);
/* What "for this session" grants, where it is offered. */
void al_ask_session_text(const struct al_ask *ask, struct al_buf *out);
/* The question itself, where it is answered by a line: "Install them?". Static. */
const char *al_ask_prompt(const struct al_ask *ask);

#endif
