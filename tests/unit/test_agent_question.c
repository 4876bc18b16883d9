/* ask_user_question: who has it, what is refused, how an answer is read. */
#include "test.h"

#include "core_world.h"

#include "agent/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct person {
    struct core_answer answer; /* first: al_call_spec.ud */
    enum {
        SILENT,
        ANSWERS,
        REFUSES
    } mood;
    const char *json;
    bool asked, withdrawn;
    struct al_question_reply *reply;
    char params[4096];
};

static void on_withdrawn(void *asked)
{
    ((struct person *)asked)->withdrawn = true;
}

static void on_question(void *ud, struct al_str method, struct al_str params, struct al_question_reply *reply)
{
    struct person *p = ud;
    assert_true(al_str_is(method, AL_AGENT_QUESTION));
    p->asked = true;
    snprintf(p->params, sizeof(p->params), "%.*s", AL_FMT(params));
    if (p->mood == ANSWERS)
        al_question_answer(reply, al_str_of(p->json));
    else if (p->mood == REFUSES)
        al_question_refuse(reply, -32601, AL_STR("there is nobody to ask"));
    p->reply = p->mood == SILENT ? reply : NULL;
    if (p->reply) {
        reply->withdrawn = on_withdrawn;
        reply->asked = p;
    }
}

static struct al_call *make(struct core_world *t, struct person *p, const char *args)
{
    const struct al_call_spec spec = {
        .tool = AL_S("ask_user_question"),
        .args_json = al_str_of(args),
        .origin = AL_ORIGIN_AGENT,
        .question = on_question,
        .done = core_world_answer,
        .ud = p,
    };
    return al_core_call(t->core, &spec);
}

static void begin(struct core_world *t)
{
    t->opts.source = "agent";
    core_world_start(t, NULL);
    al_core_register(t->core, &al_tool_ask_user_question);
}

#define ONE(more)                                                                                        \
    "{\"questions\":[{\"header\":\"Format\",\"question\":\"Which?\",\"options\":[{\"label\":\"JSON\"},{" \
    "\"label\":\"CSV\"" more "}]}]}"

static void an_answer_is_text_for_the_model_and_a_value_for_faces(void **state)
{
    struct core_world *t = *state;
    struct person p = {
        .mood = ANSWERS,
        .json = "{\"answers\":[{\"header\":\"Format\",\"selected\":[\"CSV\",\"JSON\"],\"other\":\"and XML\"},"
                "{\"header\":\"Size\",\"selected\":[]}]}"};
    begin(t);
    make(t, &p, ONE(",\"recommended\":true"));
    core_world_wait(t, &p.answer.done);
    assert_int_equal(p.answer.code, AL_OK);
    assert_string_equal(p.answer.text, "Format: CSV, JSON; in their own words: and XML\nSize: no answer\n");
    assert_string_equal(p.answer.structured, p.json);
    assert_string_equal(p.params, ONE(",\"recommended\":true"));
}

static void nobody_there_is_an_error_at_once(void **state)
{
    struct core_world *t = *state;
    begin(t);
    struct core_answer a = core_world_ask(t, AL_ORIGIN_AGENT, "ask_user_question", ONE(""));
    assert_int_equal(a.code, AL_APPROVAL_REQUIRED);
    assert_non_null(strstr(a.msg, "nobody answered"));
    assert_non_null(strstr(a.hint, "say what you assumed"));
    struct person p = {.mood = REFUSES};
    make(t, &p, ONE(""));
    core_world_wait(t, &p.answer.done);
    assert_int_equal(p.answer.code, AL_APPROVAL_REQUIRED);
    assert_non_null(strstr(p.answer.msg, "there is nobody to ask"));
}

static void what_cannot_be_asked_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *args, *says;
    } cases[] = {
        {"{}", "questions"},
        {"{\"questions\":[]}", "/questions"},
        {ONE("},{\"label\":\"JSON\""), "/questions/0: two options have the label \"JSON\""},
        {ONE(",\"recommended\":true},{\"label\":\"XML\",\"recommended\":true"),
         "/questions/0: more than one option is recommended"},
        {ONE("},{\"label\":\" \""), "/questions/0: an option without a label"},
        {ONE("},{\"label\":\"a\"},{\"label\":\"b\"},{\"label\":\"c\""), "/questions/0/options"},
        {"{\"questions\":[{\"header\":\"A\",\"question\":\"?\",\"options\":[{\"label\":\"x\"}]}]}",
         "/questions/0/options"},
        {"{\"questions\":[{\"header\":\"12345678901234567890123456789012345678901\",\"question\":\"?\","
         "\"options\":[{\"label\":"
         "\"x\"},{\"label\":\"y\"}]}]}",
         "/questions/0/header"},
        {"{\"questions\":[{\"header\":\"A\",\"question\":\"?\",\"options\":[{\"label\":\"x\"},{\"label\":"
         "\"y\"}]},"
         "{\"header\":\"A\",\"question\":\"!\",\"options\":[{\"label\":\"x\"},{\"label\":\"y\"}]}]}",
         "two questions have the header \"A\""},
    };
    struct core_world *t = *state;
    begin(t);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct person p = {.mood = SILENT};
        make(t, &p, cases[i].args);
        core_world_wait(t, &p.answer.done);
        assert_int_equal(p.answer.code, AL_TOOL_INPUT_INVALID);
        assert_false(p.asked);
        if (!strstr(p.answer.msg, cases[i].says))
            fail_msg("case %zu: %s", i, p.answer.msg);
    }
}

static void four_questions_with_four_options_are_asked(void **state)
{
    struct core_world *t = *state;
    struct person p = {.mood = ANSWERS, .json = "{\"answers\":[]}"};
    autobuf struct al_buf args = AL_BUF_INIT(8192);
    begin(t);
    al_buf_adds(&args, "{\"questions\":[");
    for (int i = 0; i < 4; i++)
        al_buf_addf(
            &args,
            "%s{\"header\":\"Header %d of forty characters, no "
            "less…\",\"question\":\"?\",\"multiSelect\":true,"
            "\"options\":[{\"label\":\"a\"},{\"label\":\"b\"},{\"label\":\"c\",\"description\":\"of c\","
            "\"recommended\":true},{\"label\":\"d\"}]}",
            i ? "," : "", i);
    al_buf_adds(&args, "]}");
    al_buf_addc(&args, 0);
    make(t, &p, args.p);
    core_world_wait(t, &p.answer.done);
    assert_int_equal(p.answer.code, AL_OK);
}

static void a_cancelled_question_is_withdrawn_and_its_late_answer_leads_nowhere(void **state)
{
    struct core_world *t = *state;
    struct person p = {.mood = SILENT};
    begin(t);
    struct al_call *call = make(t, &p, ONE(""));
    core_world_wait(t, &p.asked);
    al_call_cancel(call);
    assert_true(p.withdrawn);
    core_world_wait(t, &p.answer.done);
    assert_int_equal(p.answer.code, AL_CANCELLED);
    al_question_answer(p.reply, AL_STR("{\"answers\":[]}"));
    struct person q = {.mood = SILENT}; /* and one that was not even asked yet */
    call = make(t, &q, ONE(""));
    al_call_cancel(call);
    core_world_wait(t, &q.answer.done);
    assert_int_equal(q.answer.code, AL_CANCELLED);
    assert_false(q.asked);
}

static void an_answer_that_is_no_json_fails_the_call(void **state)
{
    struct core_world *t = *state;
    struct person p = {.mood = ANSWERS, .json = "yes"};
    begin(t);
    make(t, &p, ONE(""));
    core_world_wait(t, &p.answer.done);
    assert_int_not_equal(p.answer.code, AL_OK);
}

static void only_the_agent_has_it(void **state)
{
    struct core_world *t = *state;
    begin(t);
    assert_non_null(al_core_tool(t->core, AL_STR("ask_user_question")));
    struct core_answer a = core_world_ask(t, AL_ORIGIN_SCRIPT, "ask_user_question", ONE(""));
    assert_int_equal(a.code, AL_NOT_CALLABLE);
    core_world_stop(t);
    static const char *const sources[] = {"cli", "mcp"};
    for (size_t i = 0; i < 2; i++) {
        t->opts.source = sources[i];
        core_world_start(t, NULL);
        al_core_register(t->core, &al_tool_ask_user_question);
        assert_null(al_core_tool(t->core, AL_STR("ask_user_question")));
        a = core_world_ask(t, AL_ORIGIN_CLI, "ask_user_question", ONE(""));
        assert_int_equal(a.code, AL_TOOL_NOT_FOUND);
        core_world_stop(t);
    }
}

int main(void)
{
#define world(f) cmocka_unit_test_setup_teardown(f, core_world_set_up, core_world_tear_down)
    const struct CMUnitTest tests[] = {
        world(an_answer_is_text_for_the_model_and_a_value_for_faces),
        world(nobody_there_is_an_error_at_once),
        world(what_cannot_be_asked_is_refused_with_its_place),
        world(four_questions_with_four_options_are_asked),
        world(a_cancelled_question_is_withdrawn_and_its_late_answer_leads_nowhere),
        world(an_answer_that_is_no_json_fails_the_call),
        world(only_the_agent_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
