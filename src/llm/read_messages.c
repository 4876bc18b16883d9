/* The stream of Messages: blocks by index, deltas, the totals of usage, message_stop. */
#include "llm/llm_int.h"

#include "base/mem.h"

/* A block's start as it came, while nothing that is not understood was added to it. */
struct start {
    int64_t key;
    struct al_buf raw;
    bool touched;
};

struct own {
    struct al_buf input; /* of the tool_use block that was opened last: what its start had */
    int64_t input_key;
    struct start unknown; /* the unknown block that is open */
    bool has_end;
    int64_t fresh, created, read, output, thinking;
    bool has_usage;
};

static void *open_own(struct al_llm_reader *r)
{
    (void)r;
    struct own *o = al_xcalloc(1, sizeof *o);
    al_buf_init(&o->input, AL_LLM_MAX_EVENT);
    al_buf_init(&o->unknown.raw, AL_LLM_MAX_EVENT);
    o->input_key = o->unknown.key = -1;
    return o;
}

static void close_own(void *own)
{
    struct own *o = own;
    al_buf_free(&o->input);
    al_buf_free(&o->unknown.raw);
    free(o);
}

/* The numbers are totals of the message: what comes later overwrites. */
static void take_usage(struct al_llm_reader *r, const struct al_json *usage)
{
    struct own *o = r->own;
    if (!usage)
        return;
    bool in = al_llm_reader_tokens(r, usage, "input_tokens", &o->fresh);
    bool out = al_llm_reader_tokens(r, usage, "output_tokens", &o->output);
    (void)al_llm_reader_tokens(r, usage, "cache_creation_input_tokens", &o->created);
    (void)al_llm_reader_tokens(r, usage, "cache_read_input_tokens", &o->read);
    const struct al_json *details = al_llm_reader_object(r, usage, "output_tokens_details");
    (void)al_llm_reader_tokens(r, details, "thinking_tokens", &o->thinking);
    o->has_usage = o->has_usage || in || out;
    r->usage = (struct al_llm_usage){
        .known = o->has_usage,
        .input = o->fresh + o->created + o->read,
        .cached_input = o->read,
        .cache_write = o->created,
        .output = o->output,
        .reasoning = o->thinking < o->output ? o->thinking : o->output,
    };
}

static const struct al_llm_end_word ends[] = {
    {AL_S("end_turn"), AL_LLM_END_TURN},
    {AL_S("tool_use"), AL_LLM_END_TURN},
    {AL_S("stop_sequence"), AL_LLM_END_TURN},
    {AL_S("max_tokens"), AL_LLM_END_LENGTH},
    {AL_S("model_context_window_exceeded"), AL_LLM_END_WINDOW},
    {AL_S("pause_turn"), AL_LLM_END_PAUSE},
    {AL_S("refusal"), AL_LLM_END_REFUSAL},
    {AL_S("content_filter"), AL_LLM_END_FILTER},
};

static bool take_end(struct al_llm_reader *r, const struct al_json *v)
{
    struct own *o = r->own;
    const struct al_json *word = al_llm_reader_text(r, v, "stop_reason");
    if (!word || !word->str.n)
        return true;
    o->has_end = true;
    return al_llm_reader_end_word(r, word->str, ends, sizeof ends / sizeof *ends);
}

static void finish(struct al_llm_reader *r)
{
    struct own *o = r->own;
    if (r->state == AL_LLM_FAILED)
        return;
    /* Without a reason nobody knows whether it was cut. */
    if (!o->has_end && al_llm_draft_has_calls(&r->draft)) {
        al_llm_reader_fail(r, AL_LLM_FAULT_MALFORMED, "the answer ended without saying why");
        return;
    }
    if (!o->has_end)
        al_llm_reader_warn(r, "the answer ended without saying why");
    r->state = AL_LLM_ENDED;
}

/* --- blocks --- */

/* The arguments of a block whose start had them, where no delta came. */
static void settle_input(struct al_llm_reader *r)
{
    struct own *o = r->own;
    struct al_llm_draft_part *p = o->input.n ? al_llm_draft_find(&r->draft, AL_LLM_CALL, o->input_key) : NULL;
    if (p && !p->text.n)
        al_llm_draft_text(r, p, al_buf_str(&o->input));
    al_buf_free(&o->input);
    o->input_key = -1;
}

static void start_call(struct al_llm_reader *r, int64_t key, const struct al_json *block)
{
    struct own *o = r->own;
    settle_input(r);
    struct al_llm_draft_part *p = al_llm_draft_open(r, AL_LLM_CALL, key);
    if (!p)
        return;
    const struct al_json *id = al_llm_reader_text(r, block, "id"),
                         *name = al_llm_reader_text(r, block, "name");
    al_llm_draft_id(r, p, id ? id->str : AL_STR(""));
    al_llm_draft_name(r, p, name ? name->str : AL_STR(""));
    const struct al_json *input = al_json_get(block, "input");
    bool some = input && input->type != AL_JSON_NULL && !(input->type == AL_JSON_OBJECT && !input->n);
    if (some) {
        struct al_jw w;
        al_jw_init(&w, &o->input);
        al_jw_value(&w, input);
        o->input_key = key;
    }
}

static void add_signature(struct al_llm_reader *r, struct al_llm_draft_part *p, const struct al_json *s)
{
    if (!p || !s || r->draft.bytes + s->str.n > AL_LLM_MAX_ANSWER)
        return;
    r->draft.bytes += s->str.n;
    al_buf_add_str(&p->id, s->str);
}

static void start_thinking(struct al_llm_reader *r, int64_t key, const struct al_json *block)
{
    struct al_llm_draft_part *p = al_llm_draft_open(r, AL_LLM_REASONING, key);
    al_llm_draft_string(r, p, al_llm_reader_text(r, block, "thinking"));
    add_signature(r, p, al_llm_reader_text(r, block, "signature"));
}

/* What nobody here reads may have to go back all the same, when it came whole. */
static void start_unknown(struct al_llm_reader *r, int64_t key, const struct al_json *block)
{
    struct own *o = r->own;
    al_buf_free(&o->unknown.raw);
    struct al_jw w;
    al_jw_init(&w, &o->unknown.raw);
    al_jw_value(&w, block);
    o->unknown.key = key;
    o->unknown.touched = false;
}

static void block_start(struct al_llm_reader *r, int64_t key, const struct al_json *block)
{
    struct al_str type = al_json_get_text(block, "type");
    if (!block)
        return;
    if (al_str_is(type, "text"))
        al_llm_draft_string(r, al_llm_draft_open(r, AL_LLM_TEXT, key), al_llm_reader_text(r, block, "text"));
    else if (al_str_is(type, "thinking"))
        start_thinking(r, key, block);
    else if (al_str_is(type, "tool_use"))
        start_call(r, key, block);
    else if (al_str_is(type, "redacted_thinking"))
        al_llm_draft_value(r, al_llm_draft_open(r, AL_LLM_REASONING, key), block);
    else
        start_unknown(r, key, block);
}

/* The block as it goes back: its text and its signature, nothing else is known of it. */
static void stop_thinking(struct al_llm_reader *r, struct al_llm_draft_part *p)
{
    if (p->raw.n) /* redacted */
        return;
    autobuf struct al_buf raw = AL_BUF_INIT(AL_LLM_MAX_ANSWER);
    struct al_jw w;
    al_jw_init(&w, &raw);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "type", "thinking");
    al_jw_kstr(&w, "thinking", al_buf_str(&p->text));
    if (p->id.n)
        al_jw_kstr(&w, "signature", al_buf_str(&p->id));
    al_jw_end(&w);
    if (!al_buf_failed(&raw) && (p->text.n || p->id.n))
        al_llm_draft_raw(r, p, al_buf_str(&raw));
}

static void block_stop(struct al_llm_reader *r, int64_t key)
{
    static const enum al_llm_part_kind kinds[] = {AL_LLM_TEXT, AL_LLM_REASONING, AL_LLM_CALL};
    struct own *o = r->own;
    if (key == o->input_key)
        settle_input(r);
    if (key == o->unknown.key) {
        if (!o->unknown.touched && o->unknown.raw.n)
            al_llm_draft_raw(r, al_llm_draft_open(r, AL_LLM_REASONING, key), al_buf_str(&o->unknown.raw));
        o->unknown.key = -1;
    }
    for (size_t i = 0; i < 3; i++) {
        struct al_llm_draft_part *p = al_llm_draft_find(&r->draft, kinds[i], key);
        if (!p)
            continue;
        if (p->kind == AL_LLM_REASONING)
            stop_thinking(r, p);
        p->closed = true;
    }
}

/* --- deltas --- */

/* The block of that kind under the index. One that was never opened is opened by its text; of a call, its
 * name is lost. */
static struct al_llm_draft_part *block_of(struct al_llm_reader *r, enum al_llm_part_kind kind, int64_t key)
{
    struct al_llm_draft_part *p = al_llm_draft_find(&r->draft, kind, key);
    if (p || kind != AL_LLM_CALL)
        return p ? p : al_llm_draft_open(r, kind, key);
    al_llm_reader_fail(r, AL_LLM_FAULT_MALFORMED, "arguments came for block %lld, which is no call",
                       (long long)key);
    return NULL;
}

static void take_delta(struct al_llm_reader *r, int64_t key, const struct al_json *delta)
{
    struct own *o = r->own;
    struct al_str type = al_json_get_text(delta, "type");
    const struct al_json *s;
    if (al_str_is(type, "text_delta")) {
        if ((s = al_llm_reader_text(r, delta, "text")))
            al_llm_draft_string(r, block_of(r, AL_LLM_TEXT, key), s);
    } else if (al_str_is(type, "thinking_delta")) {
        if ((s = al_llm_reader_text(r, delta, "thinking")))
            al_llm_draft_string(r, block_of(r, AL_LLM_REASONING, key), s);
    } else if (al_str_is(type, "signature_delta")) {
        if ((s = al_llm_reader_text(r, delta, "signature")))
            add_signature(r, block_of(r, AL_LLM_REASONING, key), s);
    } else if (al_str_is(type, "input_json_delta")) {
        if (key == o->unknown.key)
            o->unknown.touched = true;
        else if ((s = al_llm_reader_text(r, delta, "partial_json")))
            al_llm_draft_string(r, block_of(r, AL_LLM_CALL, key), s);
    } else if (key == o->unknown.key) {
        o->unknown.touched = true;
    }
}

/* --- events --- */

static void event(struct al_llm_reader *r, struct al_str line, const struct al_json *v)
{
    struct al_str type = al_json_get_text(v, "type");
    int64_t key = 0;
    if (!type.n)
        type = line;
    bool block = al_str_starts(type, "content_block_");
    if (block && !al_json_int(al_json_get(v, "index"), 0, INT32_MAX, &key)) {
        al_llm_reader_fail(r, AL_LLM_FAULT_MALFORMED, "a block of the answer has no index");
        return;
    }
    if (al_str_is(type, "content_block_delta")) {
        take_delta(r, key, al_llm_reader_object(r, v, "delta"));
    } else if (al_str_is(type, "content_block_start")) {
        block_start(r, key, al_llm_reader_object(r, v, "content_block"));
    } else if (al_str_is(type, "content_block_stop")) {
        block_stop(r, key);
    } else if (al_str_is(type, "message_start")) {
        take_usage(r, al_llm_reader_object(r, al_llm_reader_object(r, v, "message"), "usage"));
    } else if (al_str_is(type, "message_delta")) {
        take_usage(r, al_llm_reader_object(r, v, "usage"));
        (void)take_end(r, al_llm_reader_object(r, v, "delta"));
    } else if (al_str_is(type, "message_stop")) {
        settle_input(r);
        finish(r);
    }
}

static void whole(struct al_llm_reader *r, const struct al_json *v)
{
    int64_t key = 0;
    if (!al_str_is(al_json_get_text(v, "type"), "message") && !al_json_get(v, "content"))
        return;
    al_json_each(block, al_llm_reader_array(r, v, "content"))
    {
        if (block->type == AL_JSON_OBJECT) {
            block_start(r, key, block);
            block_stop(r, key++);
        }
    }
    take_usage(r, al_llm_reader_object(r, v, "usage"));
    if (take_end(r, v))
        finish(r);
}

const struct al_llm_reader_ops al_llm_read_messages = {
    .open = open_own,
    .event = event,
    .whole = whole,
    .close = close_own,
};
