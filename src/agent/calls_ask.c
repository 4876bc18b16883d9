/* What a person is asked about a call: whether it may run (told as events, too), and what the model wants to
 * know of them. */
#include "agent/turn_int.h"

#include "base/mem.h"

#include <stdio.h>

#define EVENT_MAX (1u << 20)
#define METHOD_NOT_FOUND -32601 /* JSON-RPC 2.0, section 5.1 */
#define REFUSED -32000

/* Outlives the call when the person answers after it has ended; freed by the answer, which comes once. */
struct al_agent_asking {
    struct al_agent_call *c; /* NULL: it has ended */
    struct al_agent_asking *next;
    char name[96], effect[16], capability[64];
    void (*answer)(void *ud, enum al_approval approval);
    void *ud;
};

static void put_about(struct al_jw *w, const struct al_agent_asking *asking)
{
    al_jw_kstrz(w, "id", asking->c->id);
    al_jw_kstrz(w, "name", asking->name);
    al_jw_kstrz(w, "effect", asking->effect[0] ? asking->effect : NULL);
    if (asking->capability[0])
        al_jw_kstrz(w, "capability", asking->capability);
}

static void tell(const struct al_agent_asking *asking, const char *type, const char *decision)
{
    autobuf struct al_buf data = AL_BUF_INIT(EVENT_MAX);
    struct al_jw w;
    al_jw_init(&w, &data);
    al_jw_obj(&w);
    put_about(&w, asking);
    if (decision)
        al_jw_kstrz(&w, "decision", decision);
    al_jw_end(&w);
    al_agent_event(asking->c->a, type, al_buf_str(&data));
}

/* Nobody answered: that is no, too. */
static const char *decision_name(enum al_approval approval)
{
    return approval == AL_APPROVAL_ONCE ? "once" : approval == AL_APPROVAL_SESSION ? "session" : "deny";
}

static void unlink_asking(struct al_agent_asking *asking)
{
    struct al_agent_asking **at = &asking->c->asking;
    while (*at && *at != asking)
        at = &(*at)->next;
    if (*at)
        *at = asking->next;
}

static void on_answer(void *ud, enum al_approval approval)
{
    struct al_agent_asking *asking = ud;
    void (*answer)(void *answer_ud, enum al_approval a) = asking->answer;
    void *answer_ud = asking->ud;
    if (asking->c) {
        tell(asking, "approval_resolved", decision_name(approval));
        unlink_asking(asking);
    }
    free(asking);
    answer(answer_ud, approval);
}

void al_call_ask_person(void *ud, const struct al_ask *ask)
{
    struct al_agent_call *c = ud;
    struct al_agent_asking *asking = al_xcalloc(1, sizeof(*asking));
    struct al_ask wrapped = *ask;
    asking->c = c;
    asking->answer = ask->answer;
    asking->ud = ask->ud;
    asking->next = c->asking;
    c->asking = asking;
    snprintf(asking->name, sizeof(asking->name), "%s", ask->tool ? ask->tool->name : c->name);
    if (ask->install)
        snprintf(asking->capability, sizeof(asking->capability), "%s", AL_CAP_ANALYSIS_INSTALL);
    else if (ask->tool && ask->tool->capability)
        snprintf(asking->capability, sizeof(asking->capability), "%s", ask->tool->capability);
    if (ask->install)
        snprintf(asking->effect, sizeof(asking->effect), "%s", al_effect_name(AL_EFFECT_EXTERNAL));
    else if (ask->tool || c->tool)
        snprintf(asking->effect, sizeof(asking->effect), "%s",
                 al_effect_name((ask->tool ? ask->tool : c->tool)->effect));
    tell(asking, "approval_requested", NULL);
    if (c->cancelling) {
        on_answer(asking, AL_APPROVAL_NONE);
        return;
    }
    wrapped.answer = on_answer;
    wrapped.ud = asking;
    c->a->ops.ask(c->a->ud, &wrapped);
}

void al_call_asking_dropped(struct al_agent_call *c)
{
    for (struct al_agent_asking *asking = c->asking; asking; asking = asking->next)
        asking->c = NULL;
    c->asking = NULL;
}

/* --- ask_user_question --- */

static void on_answers(void *ud, struct al_str json, bool answered)
{
    struct al_question_reply *reply = ud;
    if (answered)
        al_question_answer(reply, json);
    else
        al_question_refuse(reply, REFUSED, AL_STR("the person gave no answer"));
}

void al_call_ask_question(void *ud, struct al_str method, struct al_str params,
                          struct al_question_reply *reply)
{
    struct al_agent_call *c = ud;
    const struct al_json *v = NULL;
    char *copy = al_arena_dup(&c->arena, params);
    if (!al_str_is(method, AL_AGENT_QUESTION) || !c->a->ops.question || c->cancelling || !copy ||
        al_json_parse(&c->arena, (struct al_str){copy, params.n}, &v, NULL) < 0) {
        al_question_refuse(reply, METHOD_NOT_FOUND, AL_STR("there is nobody to ask"));
        return;
    }
    struct al_agent_question question = {
        .questions = al_json_get(v, "questions"),
        .answer = on_answers,
        .ud = reply,
    };
    c->a->ops.question(c->a->ud, &question);
}
