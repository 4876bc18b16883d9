/* What the conversation*.c files share. */
#ifndef AL_STORE_CONVERSATION_INT_H
#define AL_STORE_CONVERSATION_INT_H

#include "store/conversation.h"
#include "store/store_int.h"

/* Numbers of messages that are ours are below it: one row of a strange hand shall not use up all that are
 * left. */
#define AL_SEQ_END "4611686018427387904"
#define AL_CALL_OUTPUT_MAX 4096 /* bytes of a running call's output that are kept */

/* The columns that al_model_call_take reads. */
#define AL_MODEL_CALL_COLS                                                                                  \
    "SELECT id, session, message, ord, name, arguments, effect, status, result, whole, output, execution, " \
    "is_error,"                                                                                             \
    " started_ms, ended_ms FROM model_calls "
void al_model_call_take(struct al_stmt *q, struct al_model_call *ret); /* owned */

/* Ends what is open: status, result, is_error and ended_ms of c get the words (one place for model and
 * person). */
int al_model_call_interrupt(struct al_store *s, struct al_model_call *c, struct al_err *err) AL_MUST_CHECK;

#define AL_MESSAGE_MAX (96u << 20) /* bytes of a body: an answer of 64 MiB with its escapes */
/* JSON that can be read again, before it is written. */
int al_message_check(struct al_str body, struct al_err *err) AL_MUST_CHECK;
/* When a call's end was told; 0: not yet, so that the next settling tells it. */
int al_model_call_told(struct al_store *s, const char *session, const char *id, int64_t at_ms,
                       struct al_err *err) AL_MUST_CHECK;
/* Ends what is open, within a transaction; the calls, owned, as they are now (also of a failure). */
int al_turn_settle_in_tx(struct al_store *s, const char *session, struct al_model_call **ret, size_t *ret_n,
                         struct al_err *err) AL_MUST_CHECK;

/* A message's row. Within a transaction. */
int al_message_insert(struct al_store *s, const char *session, const char *turn, struct al_str body,
                      int64_t *ret_seq, struct al_err *err) AL_MUST_CHECK;

/* Of a host that died: turns, requests and locks. Within a transaction. */
int al_turn_close_host(struct al_store *s, const char *host_id, int64_t now_ms,
                       struct al_err *err) AL_MUST_CHECK;
/* BUSY while a living host, this one included, holds the session, or one of the workspace (NULL: not asked).
 */
int al_turn_check_idle(struct al_store *s, const char *session, const char *workspace,
                       struct al_err *err) AL_MUST_CHECK;
/* Conversations that nobody went on with since, at most `limit`; their sessions, too, when nothing else is in
 * them. Count. */
int al_turn_purge(struct al_store *s, int64_t cutoff_ms, int limit, struct al_err *err) AL_MUST_CHECK;

/* Text as the journal keeps it: what is no UTF-8, and NUL, become U+FFFD. Malloc'ed; v.p NULL gives NULL. */
char *al_store_clean(struct al_str v);

#endif
