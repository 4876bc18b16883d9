/* The model makes the same call again and again, and has been told: a person is asked, or the run ends. */
#include "agent/turn_int.h"

#include "base/mem.h"

/* Outlives the run when the answer comes after it. */
struct al_agent_circling {
    struct al_agent *a; /* NULL: the run has ended */
    struct al_arena arena;
};

#define GO_ON "Go on"

static void end_circle(struct al_agent *a)
{
    struct al_agent_turn *t = a->turn;
    struct al_err err;
    struct al_jw w;
    al_fail(&err, AL_TURN_LIMIT,
            "the model made the same call of %.*s %u times in a row, always with the same result",
            AL_FMT(al_buf_str(&t->calls.loop)), a->repeat.n);
    al_hint(&err, "`alisio resume %s` with other words, or another model, may find a way out", a->session);
    al_buf_clear(&t->details);
    al_jw_init(&w, &t->details);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "reason", "LOOP");
    al_jw_kstr(&w, "tool", al_buf_str(&t->calls.loop));
    al_jw_kint(&w, "times", a->repeat.n);
    al_jw_end(&w);
    al_turn_finish(a, AL_AGENT_FAILED, &err);
}

static bool says_go_on(struct al_str json)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(1u << 20);
    const struct al_json *v = NULL;
    if (al_json_parse(&arena, json, &v, NULL) < 0)
        return false;
    const struct al_json *answers = al_json_get(v, "answers"), *first = answers ? answers->child : NULL;
    const struct al_json *selected = al_json_get(first, "selected");
    return selected && selected->child && al_str_is(selected->child->str, GO_ON);
}

static void on_answer(void *ud, struct al_str json, bool answered)
{
    struct al_agent_circling *c = ud;
    struct al_agent *a = c->a;
    bool go_on = answered && says_go_on(json);
    al_arena_free(&c->arena);
    free(c);
    if (!a)
        return;
    a->turn->circling = NULL;
    if (a->cancelled)
        return;
    if (go_on) {
        a->repeat = (struct al_repeat){.n = 0};
        al_turn_later(a, al_turn_next);
    } else {
        end_circle(a);
    }
}

void al_turn_circling_dropped(struct al_agent_turn *t)
{
    if (t->circling)
        t->circling->a = NULL;
    t->circling = NULL;
}

void al_turn_in_circles(struct al_agent *a)
{
    struct al_agent_turn *t = a->turn;
    const struct al_json *v = NULL;
    if (!a->ops.question) {
        end_circle(a);
        return;
    }
    struct al_agent_circling *c = al_xcalloc(1, sizeof(*c));
    c->a = a;
    al_arena_init(&c->arena, 1u << 20);
    char *json = al_arena_printf(
        &c->arena,
        "[{\"header\":\"Going in a circle\",\"question\":\"The model has made the same call of %.*s %u "
        "times in a row, always with the same result. Let it go on?\",\"options\":["
        "{\"label\":\"Stop\",\"recommended\":true},{\"label\":\"" GO_ON "\"}]}]",
        AL_FMT(al_buf_str(&t->calls.loop)), a->repeat.n);
    if (!json || al_json_parse(&c->arena, al_str_of(json), &v, NULL) < 0) {
        al_arena_free(&c->arena);
        free(c);
        end_circle(a);
        return;
    }
    struct al_agent_question question = {.questions = v, .answer = on_answer, .ud = c};
    t->circling = c;
    a->ops.question(a->ud, &question);
}
