/*
 * Which tools the model is offered, and how they are told: every request carries them, so that a tool has one
 * or two sentences, and its schema only what a model needs to make the first call right. The whole is in
 * forge_guide, and the checks are by the whole schema.
 */
#include "agent/offer.h"
#include "agent/agent_int.h"

#include "base/text.h"

#include <string.h>

#define MAX_DEPTH 16
#define OFFER_ARENA (4u << 20)

/* --- schemas --- */

/* The short words of a field; NULL: it keeps its own. */
static const char *words_of(const char *tool, struct al_str field)
{
    size_t n;
    const struct al_offer_words *words = al_offer_words(&n);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(words[i].tool, tool) == 0 && al_str_is(field, words[i].field))
            return words[i].text;
    }
    return NULL;
}

/* A limit that a model could come near; the far ones are told by an error. */
static bool is_near(const struct al_json *m)
{
    int64_t n;
    return al_json_int(m, 0, al_str_is(m->key, "maximum") ? 1000 : 20, &n);
}

/* A member of a schema, not of its properties, that a model can do without: what breaks it is told by the
 * error. */
static bool is_left_out(const struct al_json *m)
{
    static const char *const always[] = {
        "additionalProperties", "default", "minLength", "maxLength", "minimum", "minItems", "title"};
    for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++) {
        if (al_str_is(m->key, always[i]))
            return true;
    }
    bool limit = al_str_is(m->key, "maximum") || al_str_is(m->key, "maxItems");
    return limit && !is_near(m);
}

/* Iterative: what is open, from the outside in. */
struct open {
    const struct al_json *next; /* its next member */
    struct al_str field;        /* the property that it is the schema of; empty */
    bool names;                 /* its members are properties: their names are no keywords */
};

static void write_member(struct al_jw *w, const char *tool, const struct open *o, const struct al_json *m)
{
    const char *text = al_str_is(m->key, "description") && o->field.n ? words_of(tool, o->field) : NULL;
    if (text && !*text)
        return;
    al_jw_key_str(w, m->key);
    if (text)
        al_jw_strz(w, text);
    else
        al_jw_value(w, m);
}

static void write_schema(const char *tool, const struct al_json *schema, struct al_buf *out)
{
    struct open stack[MAX_DEPTH];
    size_t depth = 1;
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    stack[0] = (struct open){.next = schema->child};
    while (depth) {
        struct open *o = &stack[depth - 1];
        const struct al_json *m = o->next;
        if (!m) {
            al_jw_end(&w);
            depth--;
            continue;
        }
        o->next = m->next;
        if (!o->names && is_left_out(m))
            continue;
        bool properties = !o->names && al_str_is(m->key, "properties");
        bool within = m->type == AL_JSON_OBJECT && (o->names || properties || al_str_is(m->key, "items"));
        if (!within || depth == MAX_DEPTH) {
            write_member(&w, tool, o, m);
            continue;
        }
        al_jw_key_str(&w, m->key);
        al_jw_obj(&w);
        if (!properties && al_json_get(m, "enum") && !al_json_get(m, "type"))
            al_jw_kstrz(&w, "type", "string"); /* some endpoints take no enum without; ours are of texts */
        stack[depth++] = (struct open){
            .next = m->child, .names = properties, .field = o->names ? m->key : (struct al_str){"", 0}};
    }
}

/* --- which --- */

/* What a person can be asked about is offered; what nobody can let pass is not. What would hold a script is
 * found out with the call. */
static bool may_pass(const struct al_agent *a, const struct al_tool *tool)
{
    struct al_gate_query q = al_gate_query_of(tool, AL_ORIGIN_AGENT);
    struct al_err err = {.code = AL_OK};
    q.granted = al_store_grant_valid(a->store, al_core_session(a->core)->id,
                                     tool->capability ? tool->capability : tool->name, NULL);
    q.can_ask = q.can_ask_now = a->ops.ask != NULL;
    if (al_gate_decide(al_core_policy(a->core), &q, tool->name, &err) == 0)
        return true;
    return err.code == AL_APPROVAL_REQUIRED && a->ops.ask;
}

bool al_agent_offers(const struct al_agent *a, const struct al_tool *tool)
{
    if (!al_core_tool_registered(a->core, tool))
        return false;
    if (tool == &al_tool_ask_user_question)
        return a->ops.question != NULL;
    return may_pass(a, tool);
}

/* --- how they are told --- */

static int tell(struct al_agent *a, const struct al_tool *tool, struct al_llm_tool *ret, struct al_err *err)
{
    autoarena struct al_arena parsed = AL_ARENA_INIT(1u << 20);
    autobuf struct al_buf schema = AL_BUF_INIT(64u << 10);
    const struct al_json *v = NULL;
    if (al_json_parse(&parsed, al_str_of(tool->input_schema), &v, err) < 0)
        return -1;
    write_schema(tool->name, v, &schema);
    char *copy = al_arena_dup(&a->offered, al_buf_str(&schema));
    if (!copy || al_buf_failed(&schema))
        return al_fail(err, AL_INTERNAL, "the tools are too large to be offered");
    ret->name = al_str_of(tool->name);
    ret->description = tool->brief ? al_str_of(tool->brief) : al_tool_first_sentence(tool->description);
    ret->schema = (struct al_str){copy, schema.n};
    return 0;
}

/* Once a core, however many agents it has one after the other. */
static void register_own(struct al_core *core)
{
    for (size_t i = 0; i < al_core_n_tools(core); i++) {
        if (al_core_tool_at(core, i) == &al_tool_ask_user_question)
            return;
    }
    al_core_register(core, &al_tool_ask_user_question);
}

int al_agent_offer(struct al_agent *a, struct al_err *err)
{
    register_own(a->core);
    size_t n = al_core_n_tools(a->core);
    al_arena_free(&a->offered);
    al_arena_init(&a->offered, OFFER_ARENA);
    a->tools = NULL;
    a->n_tools = 0;
    struct al_llm_tool *tools = al_arena_alloc(&a->offered, (n + 1) * sizeof(*tools));
    if (!tools)
        return al_fail(err, AL_INTERNAL, "there are too many tools to be offered");
    for (size_t i = 0; i < n; i++) {
        const struct al_tool *tool = al_core_tool_at(a->core, i);
        if (!al_agent_offers(a, tool))
            continue;
        if (tell(a, tool, &tools[a->n_tools], err) < 0)
            return -1;
        a->n_tools++;
    }
    a->tools = tools;
    return 0;
}
