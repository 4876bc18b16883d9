/*
 * Asking a person, through the client's form, whether a call may happen. The words are core/ask_text.c's.
 * Whatever is no clear yes refuses the call.
 */
#include "mcp/mcp_int.h"

#include "base/mem.h"
#include "core/ask_text.h"

struct approval {
    struct al_mcp_request **request; /* the work's: ask.c may bring another one */
    bool offers_session;
    void (*answer)(void *ud, enum al_approval approval);
    void *ud;
};

static void put_message(const struct al_ask *ask, struct al_buf *out)
{
    al_ask_text(ask, false, out);
    if (!ask->offers_session)
        return;
    al_buf_addc(out, '\n');
    al_ask_session_text(ask, out);
}

/* A plain enum with names beside it: what every version of the protocol knows. No default: nobody says yes by
 * accident. */
static void put_decision(struct al_jw *w, bool session)
{
    al_jw_obj(w);
    al_jw_kstrz(w, "type", "string");
    al_jw_kstrz(w, "title", "Decision");
    al_jw_kraw(w, "enum",
               session ? AL_STR("[\"once\",\"session\",\"deny\"]") : AL_STR("[\"once\",\"deny\"]"));
    al_jw_kraw(w, "enumNames",
               session ? AL_STR("[\"Allow once\",\"Allow for this session\",\"Do not allow\"]")
                       : AL_STR("[\"Allow once\",\"Do not allow\"]"));
    al_jw_end(w);
}

static void put_params(const struct al_mcp_client *client, const struct al_ask *ask, struct al_buf *out)
{
    autobuf struct al_buf message = AL_BUF_INIT(256u << 10);
    /* Versions are dates: their order is that of their texts. */
    bool newer = strcmp(client->version, "2025-11-25") >= 0;
    struct al_jw w;
    put_message(ask, &message);
    al_jw_init(&w, out);
    al_jw_obj(&w);
    if (newer)
        al_jw_kstrz(&w, "mode", "form");
    al_jw_kstr(&w, "message", al_buf_str(&message));
    al_jw_key(&w, "requestedSchema");
    al_jw_obj(&w);
    al_jw_kstrz(&w, "type", "object");
    al_jw_key(&w, "properties");
    al_jw_obj(&w);
    al_jw_key(&w, "decision");
    put_decision(&w, ask->offers_session);
    al_jw_end(&w);
    al_jw_kraw(&w, "required", AL_STR("[\"decision\"]"));
    al_jw_end(&w);
    al_jw_end(&w);
}

/* A no is what the person said; a form that was closed, or an answer that is none, is no answer. */
static enum al_approval read_decision(const struct approval *a, const struct al_json *result)
{
    struct al_str action = al_json_get_text(result, "action");
    struct al_str decision = al_json_get_text(al_json_get(result, "content"), "decision");
    if (al_str_is(action, "decline"))
        return AL_APPROVAL_DENY;
    if (!al_str_is(action, "accept"))
        return AL_APPROVAL_NONE;
    if (al_str_is(decision, "once"))
        return AL_APPROVAL_ONCE;
    if (al_str_is(decision, "session") && a->offers_session)
        return AL_APPROVAL_SESSION;
    return al_str_is(decision, "deny") ? AL_APPROVAL_DENY : AL_APPROVAL_NONE;
}

static void on_answered(void *ud, struct al_mcp_request *current, const struct al_json *result,
                        const char *failure)
{
    struct approval *a = ud;
    enum al_approval decision = failure ? AL_APPROVAL_NONE : read_decision(a, result);
    void (*answer)(void *ud, enum al_approval approval) = a->answer;
    void *answer_ud = a->ud;
    if (current)
        *a->request = current;
    free(a);
    answer(answer_ud, decision);
}

void al_mcp_approve(struct al_mcp_request **request, const struct al_ask *ask)
{
    struct al_mcp_request *r = *request;
    autobuf struct al_buf params = AL_BUF_INIT(1u << 20);
    struct approval *a = al_xcalloc(1, sizeof *a);
    a->request = request;
    a->offers_session = ask->offers_session;
    a->answer = ask->answer;
    a->ud = ask->ud;
    put_params(&r->client, ask, &params);
    struct al_mcp_ask question = {
        .key = "approval",
        .method = "elicitation/create",
        .params = al_buf_str(&params),
        .answered = on_answered,
        .ud = a,
        .approval = true,
    };
    if (r->client.modern)
        *request = NULL; /* it is answered within, and the work has none until the client comes back */
    al_mcp_ask(r, &question);
}
