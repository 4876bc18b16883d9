/* The stream of Chat Completions and of all that calls itself compatible: deltas of choice 0, its finish
 * reason, usage. */
#include "llm/read_chat.h"

#include "base/mem.h"

#define MAX_SPACE 64 /* before a <think> */

enum think {
    THINK_START, /* nothing but white space has come */
    THINK_IN,
    THINK_AFTER, /* white space behind </think> */
    THINK_OFF,
};

struct own {
    enum think think;
    bool refused;
    uint16_t half_text, half_reasoning;
    struct al_llm_details *details;
    bool more_details; /* than the part has */
};

static void *open_own(struct al_llm_reader *r)
{
    (void)r;
    return al_xcalloc(1, sizeof(struct own));
}

static void close_own(void *own)
{
    struct own *o = own;
    if (o)
        al_llm_details_free(o->details);
    free(o);
}

/* --- text and reasoning: one part of each --- */

static void add(struct al_llm_reader *r, enum al_llm_part_kind kind, struct al_str text)
{
    if (!text.n)
        return;
    struct al_llm_draft_part *p = al_llm_draft_find(&r->draft, kind, -1);
    al_llm_draft_text(r, p ? p : al_llm_draft_open(r, kind, -1), text);
}

static struct al_str trim_start(struct al_str s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\n' || s.p[0] == '\r' || s.p[0] == '\t'))
        s = (struct al_str){s.p + 1, s.n - 1};
    return s;
}

/* Bytes at the end of s that may be the beginning of the mark. */
static size_t half_mark(struct al_str s, struct al_str mark)
{
    for (size_t n = mark.n - 1 < s.n ? mark.n - 1 : s.n; n > 0; n--) {
        if (memcmp(s.p + s.n - n, mark.p, n) == 0)
            return n;
    }
    return 0;
}

/* Old local servers give reasoning as <think>…</think> at the beginning of the text. One step over what is
 * held; false: more has to come. */
static bool think_step(struct al_llm_reader *r, struct own *o)
{
    static const struct al_str open = AL_S("<think>"), close = AL_S("</think>");
    struct al_str held = al_buf_str(&r->held_text), s = trim_start(held);
    if (!held.n)
        return false;
    if (o->think == THINK_START) {
        if (s.n >= open.n && memcmp(s.p, open.p, open.n) == 0) {
            al_buf_drop(&r->held_text, held.n - s.n + open.n);
            o->think = THINK_IN;
            return true;
        }
        if (s.n < open.n && memcmp(s.p, open.p, s.n) == 0 && held.n <= MAX_SPACE)
            return false;
        o->think = THINK_OFF;
        return true;
    }
    if (o->think == THINK_IN) {
        ptrdiff_t at = al_str_find(held, close);
        size_t n = at >= 0 ? (size_t)at : held.n - half_mark(held, close);
        add(r, AL_LLM_REASONING, (struct al_str){held.p, n});
        al_buf_drop(&r->held_text, at >= 0 ? n + close.n : n);
        if (at >= 0)
            o->think = THINK_AFTER;
        return at >= 0;
    }
    if (o->think == THINK_AFTER) {
        al_buf_drop(&r->held_text, held.n - s.n);
        o->think = s.n ? THINK_OFF : THINK_AFTER;
        return s.n > 0;
    }
    add(r, AL_LLM_TEXT, held);
    al_buf_clear(&r->held_text);
    return false;
}

static void add_content(struct al_llm_reader *r, const struct al_json *v)
{
    struct own *o = r->own;
    struct al_str text = al_llm_reader_string(r, &o->half_text, v);
    if (o->think == THINK_OFF) {
        add(r, AL_LLM_TEXT, text);
        return;
    }
    al_buf_add_str(&r->held_text, text);
    while (think_step(r, o))
        ;
}

static void add_reasoning(struct al_llm_reader *r, const struct al_json *v)
{
    struct own *o = r->own;
    add(r, AL_LLM_REASONING, al_llm_reader_string(r, &o->half_reasoning, v));
}

/* What was held back for more that did not come. */
static void settle(struct al_llm_reader *r)
{
    struct own *o = r->own;
    if (r->held_text.n)
        add(r, o->think == THINK_IN ? AL_LLM_REASONING : AL_LLM_TEXT, al_buf_str(&r->held_text));
    al_buf_clear(&r->held_text);
    if (o->half_text)
        add(r, AL_LLM_TEXT, AL_STR("\xef\xbf\xbd"));
    if (o->half_reasoning)
        add(r, AL_LLM_REASONING, AL_STR("\xef\xbf\xbd"));
    o->half_text = o->half_reasoning = 0;
    if (o->think != THINK_IN)
        o->think = THINK_OFF;
    if (!o->more_details)
        return;
    o->more_details = false;
    autobuf struct al_buf raw = AL_BUF_INIT(AL_LLM_MAX_ANSWER);
    al_llm_details_write(o->details, &raw);
    if (!raw.n)
        return;
    struct al_llm_draft_part *p = al_llm_draft_find(&r->draft, AL_LLM_REASONING, -1);
    al_llm_draft_raw(r, p ? p : al_llm_draft_open(r, AL_LLM_REASONING, -1), al_buf_str(&raw));
}

/* Content as parts: text, and reasoning as {"type":"thinking","thinking":[{"text"}]}. */
static void add_parts(struct al_llm_reader *r, const struct al_json *list)
{
    al_json_each(it, list)
    {
        const struct al_json *thinking = al_json_get(it, "thinking"), *text = al_json_get(it, "text");
        if (al_json_is_string(text))
            add_content(r, text);
        if (al_json_is_string(thinking))
            add_reasoning(r, thinking);
        if (!thinking || thinking->type != AL_JSON_ARRAY)
            continue;
        al_json_each(part, thinking)
        {
            if (al_json_is_string(al_json_get(part, "text")))
                add_reasoning(r, al_json_get(part, "text"));
        }
    }
}

/* Under three names; when two of them come, they say the same. */
static void take_reasoning(struct al_llm_reader *r, const struct al_json *delta)
{
    static const char *const names[] = {"reasoning_content", "reasoning"};
    struct own *o = r->own;
    const struct al_json *details = al_llm_reader_array(r, delta, "reasoning_details");
    bool told = false;
    for (size_t i = 0; i < 2 && !told; i++) {
        const struct al_json *v = al_llm_reader_text(r, delta, names[i]);
        if (v && v->str.n) {
            add_reasoning(r, v);
            told = true;
        }
    }
    al_json_each(it, told ? NULL : details)
    {
        const struct al_json *text = al_json_get(it, "text"), *summary = al_json_get(it, "summary");
        if (al_json_is_string(text))
            add_reasoning(r, text);
        else if (al_json_is_string(summary))
            add_reasoning(r, summary);
    }
    al_llm_details_add(&o->details, r, details);
    o->more_details = o->more_details || details;
}

static void take_delta(struct al_llm_reader *r, const struct al_json *delta, bool whole)
{
    struct own *o = r->own;
    const struct al_json *content = al_json_get(delta, "content");
    take_reasoning(r, delta);
    if (content && content->type == AL_JSON_ARRAY)
        add_parts(r, content);
    else if ((content = al_llm_reader_text(r, delta, "content")))
        add_content(r, content);
    const struct al_json *refusal = al_llm_reader_text(r, delta, "refusal");
    if (refusal && refusal->str.n) {
        o->refused = true;
        add_content(r, refusal);
    }
    al_llm_chat_calls(r, al_llm_reader_array(r, delta, "tool_calls"), whole);
    al_llm_chat_function(r, al_llm_reader_object(r, delta, "function_call"));
}

/* --- usage: in its place, in x_groq, on any chunk; the last that says something --- */

static void take_usage(struct al_llm_reader *r, const struct al_json *v)
{
    const struct al_json *usage = al_llm_reader_object(r, v, "usage");
    struct al_llm_usage u = {0};
    if (!usage)
        usage = al_llm_reader_object(r, al_llm_reader_object(r, v, "x_groq"), "usage");
    if (!usage)
        return;
    bool in = al_llm_reader_tokens(r, usage, "prompt_tokens", &u.input);
    bool out = al_llm_reader_tokens(r, usage, "completion_tokens", &u.output);
    const struct al_json *input = al_llm_reader_object(r, usage, "prompt_tokens_details");
    const struct al_json *output = al_llm_reader_object(r, usage, "completion_tokens_details");
    if (!al_llm_reader_tokens(r, input, "cached_tokens", &u.cached_input) &&
        !al_llm_reader_tokens(r, usage, "prompt_cache_hit_tokens", &u.cached_input))
        (void)al_llm_reader_tokens(r, usage, "cached_tokens", &u.cached_input);
    (void)al_llm_reader_tokens(r, input, "cache_write_tokens", &u.cache_write);
    if (!al_llm_reader_tokens(r, output, "reasoning_tokens", &u.reasoning))
        (void)al_llm_reader_tokens(r, usage, "reasoning_tokens", &u.reasoning);
    if (!in && !out)
        return;
    u.known = true;
    if (u.cached_input > u.input)
        u.cached_input = u.input;
    if (u.cache_write > u.input - u.cached_input)
        u.cache_write = u.input - u.cached_input;
    if (u.reasoning > u.output)
        u.reasoning = u.output;
    r->usage = u;
}

/* --- the end --- */

static const struct al_llm_end_word ends[] = {
    {AL_S("stop"), AL_LLM_END_TURN},
    {AL_S("tool_calls"), AL_LLM_END_TURN},
    {AL_S("function_call"), AL_LLM_END_TURN},
    {AL_S("length"), AL_LLM_END_LENGTH},
    {AL_S("content_filter"), AL_LLM_END_FILTER},
    /* of compatible servers and of gateways before other APIs */
    {AL_S("STOP"), AL_LLM_END_TURN},
    {AL_S("eos"), AL_LLM_END_TURN},
    {AL_S("eos_token"), AL_LLM_END_TURN},
    {AL_S("stop_sequence"), AL_LLM_END_TURN},
    {AL_S("end_turn"), AL_LLM_END_TURN},
    {AL_S("tool_use"), AL_LLM_END_TURN},
    {AL_S("tool_call"), AL_LLM_END_TURN},
    {AL_S("max_tokens"), AL_LLM_END_LENGTH},
    {AL_S("MAX_TOKENS"), AL_LLM_END_LENGTH},
    {AL_S("max_output_tokens"), AL_LLM_END_LENGTH},
    {AL_S("model_length"), AL_LLM_END_WINDOW},
    {AL_S("model_context_window_exceeded"), AL_LLM_END_WINDOW},
    {AL_S("SAFETY"), AL_LLM_END_FILTER},
    {AL_S("sensitive"), AL_LLM_END_FILTER},
    {AL_S("refusal"), AL_LLM_END_REFUSAL},
};

static void take_finish(struct al_llm_reader *r, const struct al_json *choice)
{
    struct own *o = r->own;
    const struct al_json *word = al_llm_reader_text(r, choice, "finish_reason");
    if (!word || !word->str.n || r->state != AL_LLM_READING)
        return;
    if (al_str_is(word->str, "error") || al_str_is(word->str, "abort")) {
        al_llm_reader_fail(r, AL_LLM_FAULT_SERVER, "the provider gave the answer up, without a reason");
    } else if (al_str_is(word->str, "insufficient_system_resource")) {
        al_llm_reader_fail(r, AL_LLM_FAULT_OVERLOADED,
                           "the provider had no resources left to end the answer");
    } else if (al_llm_reader_end_word(r, word->str, ends, sizeof ends / sizeof *ends)) {
        if (o->refused && r->end == AL_LLM_END_TURN)
            r->end = AL_LLM_END_REFUSAL;
        r->state = AL_LLM_ENDING;
    }
}

static void take_choice(struct al_llm_reader *r, const struct al_json *choice)
{
    const struct al_json *index = al_json_get(choice, "index"), *delta;
    int64_t at = 0;
    if (choice->type != AL_JSON_OBJECT || (al_json_int(index, INT32_MIN, INT32_MAX, &at) && at != 0))
        return;
    const struct al_json *error = al_json_get(choice, "error");
    if (error && error->n) {
        al_llm_reader_error(r, choice);
        return;
    }
    /* Some give beside each delta what has come so far. */
    delta = al_llm_reader_object(r, choice, "delta");
    if ((delta && delta->n) || r->draft.n || r->held_text.n)
        take_delta(r, delta, false);
    else
        take_delta(r, al_llm_reader_object(r, choice, "message"), true);
    take_finish(r, choice);
}

static void event(struct al_llm_reader *r, struct al_str type, const struct al_json *v)
{
    (void)type;
    al_json_each(choice, al_llm_reader_array(r, v, "choices"))
    {
        if (r->state != AL_LLM_FAILED)
            take_choice(r, choice);
    }
    if (r->state == AL_LLM_FAILED)
        return;
    take_usage(r, v);
    if (r->state != AL_LLM_ENDING)
        return;
    settle(r);
    /* Nothing can be missing any more. */
    const struct al_json *usage = al_json_get(v, "usage");
    if (r->usage.known && usage && usage->type == AL_JSON_OBJECT && r->state == AL_LLM_ENDING)
        r->state = AL_LLM_ENDED;
}

static void whole(struct al_llm_reader *r, const struct al_json *v)
{
    if (!al_json_get(v, "choices"))
        return;
    event(r, AL_STR(""), v);
    if (r->state == AL_LLM_READING)
        al_llm_reader_fail(r, AL_LLM_FAULT_CUT, "the answer has no finish reason");
    else if (r->state == AL_LLM_ENDING)
        r->state = AL_LLM_ENDED;
}

const struct al_llm_reader_ops al_llm_read_chat = {
    .open = open_own,
    .event = event,
    .whole = whole,
    .close = close_own,
};
