/*
 * ask_user_question: the model asks the person, with a few answers to choose from. Only our own agent has it;
 * the agent that makes the call takes the question through al_call_spec.question, by the method below, and
 * refuses it where nobody is.
 */
#include "agent/agent.h"

#include "base/mem.h"
#include "base/text.h"

#include <string.h>

#define MAX_SHOWN 60 /* characters of a model's text in a message */

struct asked {
    struct al_call *call;            /* NULL: it ended before the answer */
    struct al_question_reply *reply; /* until it is settled; NULL: not asked yet */
};

/* --- what the schema cannot say --- */

static int fail_at(struct al_call *call, size_t i, const char *what, struct al_str name)
{
    autobuf struct al_buf shown = AL_BUF_INIT(1024);
    al_text_visible(&shown, al_utf8_head(name, MAX_SHOWN), false);
    al_fail(&call->err, AL_TOOL_INPUT_INVALID, "/questions/%zu: %s%s%.*s%s", i, what, name.n ? " \"" : "",
            AL_FMT(al_buf_str(&shown)), name.n ? "\"" : "");
    return al_hint(&call->err, "correct it and ask again");
}

static int check_options(struct al_call *call, size_t i, const struct al_json *options)
{
    size_t recommended = 0;
    al_json_each(o, options)
    {
        struct al_str label = al_json_get_text(o, "label");
        if (al_str_trim(label).n == 0)
            return fail_at(call, i, "an option without a label", (struct al_str){"", 0});
        for (const struct al_json *other = o->next; other; other = other->next) {
            if (al_str_eq(label, al_json_get_text(other, "label")))
                return fail_at(call, i, "two options have the label", label);
        }
        recommended += al_json_is_true(al_json_get(o, "recommended"));
    }
    return recommended > 1 ? fail_at(call, i, "more than one option is recommended", (struct al_str){"", 0})
                           : 0;
}

/* Answers name the header: two alike could not be told apart. */
static int check(struct al_call *call, const struct al_json *questions)
{
    size_t i = 0;
    al_json_each(q, questions)
    {
        struct al_str header = al_json_get_text(q, "header");
        for (const struct al_json *other = q->next; other; other = other->next) {
            if (al_str_eq(header, al_json_get_text(other, "header")))
                return fail_at(call, i, "two questions have the header", header);
        }
        if (check_options(call, i++, al_json_get(q, "options")) < 0)
            return -1;
    }
    return 0;
}

/* --- the answer --- */

/* "Format: JSON, CSV" a line each, as a model reads it. */
static void write_text(const struct al_json *answers, struct al_buf *out)
{
    al_json_each(a, answers)
    {
        struct al_str other = al_json_get_text(a, "other");
        size_t n = 0;
        al_buf_addf(out, "%.*s: ", AL_FMT(al_json_get_text(a, "header")));
        al_json_each(label, al_json_get(a, "selected"))
            al_buf_addf(out, "%s%.*s", n++ ? ", " : "", AL_FMT(label->str));
        if (other.n)
            al_buf_addf(out, "%sin their own words: %.*s", n++ ? "; " : "", AL_FMT(other));
        al_buf_adds(out, n ? "\n" : "no answer\n");
    }
}

static void take_answer(struct al_call *call, struct al_str json)
{
    const struct al_json *v = NULL;
    if (al_json_parse(&call->arena, json, &v, &call->err) < 0)
        return;
    write_text(al_json_get(v, "answers"), &call->text);
    al_buf_add_str(&call->structured, json);
}

static void settled(void *ud, struct al_str result, int code, struct al_str message)
{
    struct asked *asked = ud;
    struct al_call *call = asked->call;
    free(asked);
    if (!call)
        return;
    call->impl = NULL;
    if (code == 0) {
        take_answer(call, result);
    } else {
        al_fail(&call->err, AL_APPROVAL_REQUIRED, "nobody answered: %.*s", AL_FMT(al_utf8_cut(message, 200)));
        al_hint(&call->err, "decide by yourself where that is safe, say what you assumed, and go on");
    }
    al_call_finish(call);
}

/* Not from within al_core_call, so that whoever made the call knows it. */
static void ask(void *ud)
{
    struct asked *asked = ud;
    struct al_call *call = asked->call;
    if (!call) {
        free(asked);
        return;
    }
    struct al_question_reply *reply = al_xcalloc(1, sizeof(*reply));
    *reply = (struct al_question_reply){.done = settled, .ud = asked};
    asked->reply = reply;
    al_call_question(call, AL_STR(AL_AGENT_QUESTION), call->args->raw, reply);
}

static void start(struct al_call *call)
{
    if (check(call, al_json_get(call->args, "questions")) < 0) {
        al_call_finish(call);
        return;
    }
    struct asked *asked = al_xcalloc(1, sizeof(*asked));
    asked->call = call;
    call->impl = asked;
    al_defer(al_core_loop(call->core), ask, asked);
}

/* Who asks answers all the same, then or later, and that leads nowhere. */
static void cancel(struct al_call *call)
{
    struct asked *asked = call->impl;
    if (!asked)
        return;
    call->impl = NULL;
    asked->call = NULL;
    if (asked->reply && asked->reply->withdrawn)
        asked->reply->withdrawn(asked->reply->asked);
    al_call_finish(call);
}

/* There is somebody to ask, or to refuse it, in an agent's core only. */
static bool registered(const struct al_core *core)
{
    return strcmp(al_core_source(core), "agent") == 0;
}

const struct al_tool al_tool_ask_user_question = {
    .name = "ask_user_question",
    .title = "Ask the person",
    .description = "Asks the person one to four questions and waits for the answers: each has two to four "
                   "options to choose "
                   "from, and they can always write an answer of their own. For decisions that are theirs "
                   "and that nothing "
                   "here tells; not for approvals, which are asked for by themselves, and not for what can "
                   "be found out. Put "
                   "the option that you would take first and mark it recommended (at most one). Structured "
                   "value: {answers: "
                   "[{header, selected: [labels], other?}]}.",
    .brief = "Asks the person 1 to 4 questions that are theirs to decide and that nothing here tells; they "
             "may answer in "
             "their own words. Not for approvals. At most one option of each is recommended.",
    .input_schema =
        "{\"type\":\"object\",\"required\":[\"questions\"],\"properties\":{\"questions\":{\"type\":\"array\","
        "\"minItems\":1,"
        "\"maxItems\":4,\"items\":{\"type\":\"object\",\"required\":[\"header\",\"question\",\"options\"],"
        "\"properties\":{"
        "\"header\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":40,\"description\":\"A word or two, "
        "at most 40 "
        "characters\"},"
        "\"question\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":1000},"
        "\"multiSelect\":{\"type\":\"boolean\",\"description\":\"Several may be chosen\"},"
        "\"options\":{\"type\":\"array\",\"minItems\":2,\"maxItems\":4,\"items\":{\"type\":\"object\","
        "\"required\":["
        "\"label\"],\"properties\":{\"label\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200},"
        "\"description\":{\"type\":\"string\",\"maxLength\":1000},"
        "\"recommended\":{\"type\":\"boolean\"}},\"additionalProperties\":false}}},\"additionalProperties\":"
        "false}}},"
        "\"additionalProperties\":false}",
    .effect = AL_EFFECT_READ,
    .not_callable = "a script cannot ask the person: call ask_user_question itself",
    .expose = "agent",
    .start = start,
    .cancel = cancel,
    .registered = registered,
};
