/* What call.c asks of call_rows.c: the traces that a call leaves in the store. */
#ifndef AL_CORE_CALL_INT_H
#define AL_CORE_CALL_INT_H

#include "core/core_int.h"

/* A row for every refusal by the gate, and for every direct call with an effect, before it starts. With err,
 * a row that cannot be written is a failure; a refusal stands without one. */
int al_call_audit(struct al_call_core *c, struct al_err *err) AL_MUST_CHECK;
/* A direct call with an effect is a run of kind "tool" with one call. On the disk before a write or external
 * effect. */
int al_call_row_begin(struct al_call_core *c, struct al_err *err) AL_MUST_CHECK;
void al_call_row_end(struct al_call_core *c);

/* call_ask.c: whether the person may be asked about a call that was not admitted, and asking: then the call goes on by
 * al_call_decided. dropped: it ends without an answer. */
bool al_call_may_ask(const struct al_call_core *c);
void al_call_ask(struct al_call_core *c);
void al_call_ask_dropped(struct al_call_core *c);
void al_call_install_dropped(struct al_call_core *c);
/* call_gate.c: 0: let in; -1: refused, with err; 1: what it would run behind has to be known first, and al_call_choose_wall
 * finds it out and goes on by al_call_settle. dropped: the call ends meanwhile. */
int al_call_ask_gate(struct al_call_core *c) AL_MUST_CHECK;
void al_call_choose_wall(struct al_call_core *c);
void al_call_choosing_dropped(struct al_call_core *c);
/* call.c: goes on with what the gate said (or with -1: something else refused it), which may be a question. */
void al_call_settle(struct al_call_core *c, int admitted);
/* call.c: the decision is there. It is written down; then the call begins, waits for its turn, or ends. */
void al_call_decided(struct al_call_core *c, bool admitted);

#endif
