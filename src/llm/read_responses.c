/* The stream of Responses: items by index, their deltas, the item as it was at its end, completed or not. */
#include "llm/llm_int.h"

#include "base/mem.h"

struct own {
    bool refused;
};

static void *open_own(struct al_llm_reader *r)
{
    (void)r;
    return al_xcalloc(1, sizeof(struct own));
}

static void close_own(void *own)
{
    free(own);
}

static void take_usage(struct al_llm_reader *r, const struct al_json *usage)
{
    struct al_llm_usage u = {0};
    if (!usage)
        return;
    bool in = al_llm_reader_tokens(r, usage, "input_tokens", &u.input);
    bool out = al_llm_reader_tokens(r, usage, "output_tokens", &u.output);
    const struct al_json *input = al_llm_reader_object(r, usage, "input_tokens_details");
    const struct al_json *output = al_llm_reader_object(r, usage, "output_tokens_details");
    (void)al_llm_reader_tokens(r, input, "cached_tokens", &u.cached_input);
    (void)al_llm_reader_tokens(r, input, "cache_write_tokens", &u.cache_write);
    (void)al_llm_reader_tokens(r, output, "reasoning_tokens", &u.reasoning);
    u.known = in || out;
    if (u.cached_input > u.input)
        u.cached_input = u.input;
    if (u.cache_write > u.input - u.cached_input)
        u.cache_write = u.input - u.cached_input;
    if (u.reasoning > u.output)
        u.reasoning = u.output;
    if (u.known)
        r->usage = u;
}

/* --- parts --- */

/* By the item's id where there is one, else by its place, else the last one that is open. */
static struct al_llm_draft_part *part_of(struct al_llm_reader *r, enum al_llm_part_kind kind,
                                         const struct al_json *v)
{
    struct al_llm_draft *d = &r->draft;
    struct al_str item = al_json_get_text(v, "item_id");
    int64_t key = -1;
    bool placed = al_json_int(al_json_get(v, "output_index"), 0, INT32_MAX, &key);
    struct al_llm_draft_part *p = placed ? al_llm_draft_find(d, kind, key) : NULL;
    if (p && (!item.n || !p->item.n || al_str_eq(al_buf_str(&p->item), item)))
        return p;
    /* Some servers give all items one place, or none. */
    struct al_llm_draft_part *last = NULL;
    size_t look = d->n < 64 ? d->n : 64;
    for (size_t i = 0; i < look; i++) {
        struct al_llm_draft_part *q = d->parts[d->n - 1 - i];
        if (q->kind != kind || q->closed)
            continue;
        if (item.n && al_str_eq(al_buf_str(&q->item), item))
            return q;
        last = last ? last : q;
    }
    return p ? p : placed ? NULL : last;
}

static struct al_llm_draft_part *open_part(struct al_llm_reader *r, enum al_llm_part_kind kind,
                                           const struct al_json *v, struct al_str item)
{
    int64_t key = -1;
    (void)al_json_int(al_json_get(v, "output_index"), 0, INT32_MAX, &key);
    struct al_llm_draft_part *p = al_llm_draft_open(r, kind, key);
    if (p)
        al_buf_add_str(&p->item, item);
    return p;
}

/* Text and reasoning may come before their item; arguments without a call are nobody's until the item ends.
 */
static struct al_llm_draft_part *part_for(struct al_llm_reader *r, enum al_llm_part_kind kind,
                                          const struct al_json *v)
{
    struct al_llm_draft_part *p = part_of(r, kind, v);
    if (p || kind != AL_LLM_CALL)
        return p ? p : open_part(r, kind, v, al_json_get_text(v, "item_id"));
    al_llm_reader_warn(r, "arguments of a call that was not opened");
    return NULL;
}

static void add_delta(struct al_llm_reader *r, enum al_llm_part_kind kind, const struct al_json *v)
{
    const struct al_json *delta = al_llm_reader_text(r, v, "delta");
    if (delta)
        al_llm_draft_string(r, part_for(r, kind, v), delta);
}

/* --- items --- */

static bool kind_of(const struct al_json *item, enum al_llm_part_kind *ret)
{
    static const struct {
        const char *type;
        enum al_llm_part_kind kind;
    } kinds[] = {{"message", AL_LLM_TEXT},
                 {"reasoning", AL_LLM_REASONING},
                 {"function_call", AL_LLM_CALL},
                 {"custom_tool_call", AL_LLM_CALL}};
    struct al_str type = al_json_get_text(item, "type");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (al_str_is(type, kinds[i].type)) {
            *ret = kinds[i].kind;
            return true;
        }
    }
    return false;
}

static void take_call(struct al_llm_reader *r, struct al_llm_draft_part *p, const struct al_json *item)
{
    const struct al_json *id = al_llm_reader_text(r, item, "call_id"),
                         *name = al_llm_reader_text(r, item, "name");
    const struct al_json *args = al_llm_reader_text(r, item, "arguments");
    if (!args)
        args = al_llm_reader_text(r, item, "input");
    al_llm_draft_id(r, p, id ? id->str : AL_STR(""));
    if (name && !p->name.n)
        al_llm_draft_name(r, p, name->str);
    if (args)
        al_llm_draft_final(r, p, args->str);
}

static void join_texts(struct al_llm_reader *r, const struct al_json *list, const char *between,
                       struct al_buf *out)
{
    struct own *o = r->own;
    al_json_each(it, list)
    {
        struct al_str text = al_json_get_text(it, "text");
        if (al_str_is(al_json_get_text(it, "type"), "refusal")) {
            text = al_json_get_text(it, "refusal");
            o->refused = o->refused || text.n;
        }
        if (out->n && text.n)
            al_buf_adds(out, between);
        al_buf_add_str(out, text);
    }
}

static void take_message(struct al_llm_reader *r, struct al_llm_draft_part *p, const struct al_json *item)
{
    autobuf struct al_buf text = AL_BUF_INIT(AL_LLM_MAX_ANSWER);
    join_texts(r, al_llm_reader_array(r, item, "content"), "", &text);
    al_llm_draft_final(r, p, al_buf_str(&text));
    /* Without one its text says all. */
    if (text.n && al_json_get_text(item, "phase").n)
        al_llm_draft_value(r, p, item);
}

/* What can be read of it is for people: the item goes back as it is. */
static void take_reasoning(struct al_llm_reader *r, struct al_llm_draft_part *p, const struct al_json *item)
{
    autobuf struct al_buf text = AL_BUF_INIT(AL_LLM_MAX_ANSWER);
    join_texts(r, al_llm_reader_array(r, item, "summary"), "\n\n", &text);
    if (!text.n)
        join_texts(r, al_llm_reader_array(r, item, "content"), "\n\n", &text);
    if (!p->text.n)
        al_llm_draft_text(r, p, al_buf_str(&text));
    al_llm_draft_value(r, p, item);
}

static void item_added(struct al_llm_reader *r, const struct al_json *v)
{
    const struct al_json *item = al_llm_reader_object(r, v, "item");
    enum al_llm_part_kind kind;
    if (!item || !kind_of(item, &kind))
        return;
    struct al_llm_draft_part *p = open_part(r, kind, v, al_json_get_text(item, "id"));
    if (p && kind == AL_LLM_CALL)
        take_call(r, p, item);
}

static void item_done(struct al_llm_reader *r, const struct al_json *v, const struct al_json *item)
{
    enum al_llm_part_kind kind;
    if (!item || !kind_of(item, &kind))
        return;
    struct al_llm_draft_part *p = NULL;
    if (kind == AL_LLM_CALL)
        p = al_llm_draft_find_id(&r->draft, al_json_get_text(item, "call_id"));
    if (!p)
        p = part_of(r, kind, v);
    if (!p)
        p = open_part(r, kind, v, al_json_get_text(item, "id"));
    if (!p)
        return;
    if (kind == AL_LLM_CALL)
        take_call(r, p, item);
    else if (kind == AL_LLM_TEXT)
        take_message(r, p, item);
    else
        take_reasoning(r, p, item);
    p->closed = true;
}

/* --- the end --- */

/* Events that told of no item at all: a server that streams nothing but the end. */
static void take_output(struct al_llm_reader *r, const struct al_json *response)
{
    if (r->draft.n)
        return;
    al_json_each(item, al_llm_reader_array(r, response, "output"))
        item_done(r, NULL, item->type == AL_JSON_OBJECT ? item : NULL);
}

static void end_incomplete(struct al_llm_reader *r, const struct al_json *response)
{
    static const struct al_llm_end_word words[] = {
        {AL_S("max_output_tokens"), AL_LLM_END_LENGTH},
        {AL_S("max_messages"), AL_LLM_END_LENGTH},
        {AL_S("steered"), AL_LLM_END_LENGTH},
        {AL_S("content_filter"), AL_LLM_END_FILTER},
        {AL_S("model_context_window_exceeded"), AL_LLM_END_WINDOW},
        {AL_S("context_length_exceeded"), AL_LLM_END_WINDOW},
        {AL_S(""), AL_LLM_END_LENGTH},
    };
    const struct al_json *details = al_llm_reader_object(r, response, "incomplete_details");
    const struct al_json *reason = al_llm_reader_text(r, details, "reason");
    if (al_llm_reader_end_word(r, reason ? reason->str : AL_STR(""), words, sizeof words / sizeof *words)) {
        /* Whatever it is called, it is not whole. */
        if (r->end == AL_LLM_END_TURN)
            r->end = AL_LLM_END_LENGTH;
        r->state = AL_LLM_ENDED;
    }
}

static void end_failed(struct al_llm_reader *r, const struct al_json *response, const char *status)
{
    const struct al_json *error = al_llm_reader_object(r, response, "error");
    if (error)
        al_llm_reader_error(r, error);
    else
        al_llm_reader_fail(r, AL_LLM_FAULT_SERVER, "the provider ended the answer as %s, without a reason",
                           status);
}

static void end_completed(struct al_llm_reader *r)
{
    struct own *o = r->own;
    r->end = o->refused ? AL_LLM_END_REFUSAL : AL_LLM_END_TURN;
    memcpy(r->end_word, "completed", sizeof "completed");
    r->state = AL_LLM_ENDED;
}

/* word: the status that the event says; the response's own wins. */
static void end(struct al_llm_reader *r, const struct al_json *response, const char *word)
{
    struct al_str status = al_json_get_text(response, "status");
    take_output(r, response);
    take_usage(r, al_llm_reader_object(r, response, "usage"));
    if (r->state == AL_LLM_FAILED)
        return;
    if (!status.n || al_str_is(status, "in_progress") || al_str_is(status, "queued"))
        status = al_str_of(word);
    if (al_str_is(status, "completed"))
        end_completed(r);
    else if (al_str_is(status, "incomplete"))
        end_incomplete(r, response);
    else
        end_failed(r, response, al_str_is(status, "cancelled") ? "cancelled" : "failed");
}

/* --- events --- */

static void summary_part(struct al_llm_reader *r, const struct al_json *v)
{
    struct al_llm_draft_part *p = part_for(r, AL_LLM_REASONING, v);
    if (p && p->text.n)
        al_llm_draft_text(r, p, AL_STR("\n\n"));
}

static void arguments_done(struct al_llm_reader *r, const struct al_json *v, const char *key)
{
    const struct al_json *text = al_llm_reader_text(r, v, key);
    struct al_llm_draft_part *p = text ? part_of(r, AL_LLM_CALL, v) : NULL;
    if (p)
        al_llm_draft_final(r, p, text->str);
}

/* Of a server that gives no deltas, or no end of the item. */
static void text_done(struct al_llm_reader *r, const struct al_json *v)
{
    const struct al_json *text = al_llm_reader_text(r, v, "text");
    struct al_llm_draft_part *p = text && text->str.n ? part_for(r, AL_LLM_TEXT, v) : NULL;
    if (p && !p->text.n)
        al_llm_draft_string(r, p, text);
}

static void event(struct al_llm_reader *r, struct al_str line, const struct al_json *v)
{
    struct own *o = r->own;
    struct al_str type = al_json_get_text(v, "type");
    if (!type.n)
        type = line;
    if (!al_str_starts(type, "response."))
        return;
    type = (struct al_str){type.p + 9, type.n - 9};
    if (al_str_is(type, "output_text.delta")) {
        add_delta(r, AL_LLM_TEXT, v);
    } else if (al_str_is(type, "output_text.done")) {
        text_done(r, v);
    } else if (al_str_is(type, "refusal.delta")) {
        o->refused = true;
        add_delta(r, AL_LLM_TEXT, v);
    } else if (al_str_is(type, "reasoning_summary_text.delta") || al_str_is(type, "reasoning_text.delta")) {
        add_delta(r, AL_LLM_REASONING, v);
    } else if (al_str_is(type, "reasoning_summary_part.added")) {
        summary_part(r, v);
    } else if (al_str_is(type, "function_call_arguments.delta") ||
               al_str_is(type, "custom_tool_call_input.delta")) {
        add_delta(r, AL_LLM_CALL, v);
    } else if (al_str_is(type, "function_call_arguments.done")) {
        arguments_done(r, v, "arguments");
    } else if (al_str_is(type, "custom_tool_call_input.done")) {
        arguments_done(r, v, "input");
    } else if (al_str_is(type, "output_item.added")) {
        item_added(r, v);
    } else if (al_str_is(type, "output_item.done")) {
        item_done(r, v, al_llm_reader_object(r, v, "item"));
    } else if (al_str_is(type, "completed") || al_str_is(type, "done")) {
        end(r, al_llm_reader_object(r, v, "response"), "completed");
    } else if (al_str_is(type, "incomplete")) {
        end(r, al_llm_reader_object(r, v, "response"), "incomplete");
    } else if (al_str_is(type, "failed") || al_str_is(type, "cancelled")) {
        end(r, al_llm_reader_object(r, v, "response"), "failed");
    }
}

static void whole(struct al_llm_reader *r, const struct al_json *v)
{
    if (al_json_get(v, "output") || al_str_is(al_json_get_text(v, "object"), "response"))
        end(r, v, "completed");
}

const struct al_llm_reader_ops al_llm_read_responses = {
    .open = open_own,
    .event = event,
    .whole = whole,
    .close = close_own,
};
