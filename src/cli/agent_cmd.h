/* What the commands around models share: which endpoint and model a line means, and what goes with them. */
#ifndef AL_CLI_AGENT_CMD_H
#define AL_CLI_AGENT_CMD_H

#include "cli/app.h"
#include "http/client.h"
#include "llm/llm.h"
#include "store/conversation.h"

/* What a command line asks a model by. */
struct al_endpoint {
    struct al_provider provider;
    struct al_key key;
    char *model;              /* NULL: none is named */
    const char *model_from;   /* "--model", … ; static */
    struct al_http_client *http;
    struct al_llm *llm;
};
/* From the flags, the environment and the user's config; needs the config. INVALID_INPUT when there is none, with what to
 * do; AUTH_REQUIRED without a key that is needed. want_model: INVALID_INPUT without one. */
int al_endpoint_find(struct al_app *app, bool want_model, struct al_endpoint *ret, struct al_err *err) AL_MUST_CHECK;
/* For a line that goes on with a conversation: last is the session's last turn. Where no flag and no config says an endpoint, the
 * flags of app become those of that turn, as views of it. INVALID_INPUT where the config names another endpoint: what was said
 * to one is not sent to another unasked. */
int al_endpoint_resume(struct al_app *app, const struct al_turn *last, struct al_err *err) AL_MUST_CHECK;
/* The flags of this line that say which endpoint and model, as they are typed once more: " --provider ollama --model M".
 * other_model: with M in place of the model. */
void al_endpoint_flags(const struct al_app *app, bool other_model, struct al_buf *out);
/* The provider of that name: of the config, else known beforehand. A copy; INVALID_INPUT with the nearest name. */
int al_endpoint_provider(struct al_app *app, const char *name, struct al_provider *ret, struct al_err *err) AL_MUST_CHECK;
/* Connects nothing yet; what was learned about the model comes from the state. Needs the store. */
int al_endpoint_open(struct al_app *app, struct al_endpoint *e, struct al_err *err) AL_MUST_CHECK;
/* A window in which an agent has no room is asked for again where the server is on this machine: it is started anew with a
 * larger one, and what it served before would stand in the way for good. */
void al_endpoint_forget(const struct al_provider *p, struct al_llm_facts *facts);
void al_endpoint_close(struct al_endpoint *e);
/* An agent's session by its id, or "last": the newest of the workspace. Opens the store. */
int al_agent_session_find(struct al_app *app, const char *word, struct al_session *ret, struct al_err *err) AL_MUST_CHECK;
bool al_agent_session_newest(void *ud, const struct al_session *s); /* ud: char[AL_ID_MAX]; for al_store_session_each */
char *al_credentials_file(void); /* malloc'ed */
/* What the provider of the configuration is, without any key: "anthropic (messages, https://…), model X, key from …". w: also
 * the member "provider"; may be NULL. 1 it can be used, 0 there is none or no key for it, -1 with err. Needs the config. */
int al_endpoint_say(struct al_app *app, struct al_buf *out, struct al_jw *w, struct al_err *err) AL_MUST_CHECK;

#endif
