/*
 * The calls of Chat Completions. Servers agree on little: some repeat the id in each chunk, some give no id,
 * no index, or the same of either to two calls. A chunk goes by its id, else by its index, else to the call
 * that was opened last; what is certainly another call opens one.
 */
#include "llm/read_chat.h"

struct piece {
    struct al_str id, name;
    const struct al_json *args; /* a string, or a value in place of one; NULL */
    const struct al_json *extra;
    int64_t index; /* -1: none */
};

static bool blank(struct al_str s)
{
    return al_str_trim(s).n == 0;
}

static bool has_args(const struct piece *x)
{
    return x->args && (x->args->type != AL_JSON_STRING || !blank(x->args->str));
}

static struct piece piece_of(struct al_llm_reader *r, const struct al_json *v)
{
    struct piece x = {.index = -1};
    const struct al_json *function = al_llm_reader_object(r, v, "function"), *args;
    const struct al_json *id = al_llm_reader_text(r, v, "id"), *index = al_json_get(v, "index");
    if (index && index->type != AL_JSON_NULL && !al_json_int(index, 0, INT32_MAX, &x.index)) {
        al_llm_reader_warn(r, "the \"index\" of a call is no index, and left out");
        x.index = -1;
    }
    if (!function)
        function = al_llm_reader_object(r, v, "custom");
    const struct al_json *name = al_llm_reader_text(r, function, "name");
    args = al_json_get(function, "arguments");
    if (!args)
        args = al_json_get(function, "input");
    x.args = args && args->type != AL_JSON_NULL ? args : NULL;
    x.id = id ? id->str : AL_STR("");
    x.name = name ? name->str : AL_STR("");
    x.extra = al_llm_reader_object(r, v, "extra_content");
    return x;
}

static struct al_llm_draft_part *last_call(struct al_llm_draft *d)
{
    for (size_t i = d->n; i-- > 0;) {
        if (d->parts[i]->kind == AL_LLM_CALL)
            return d->parts[i];
    }
    return NULL;
}

/* Does a piece that was routed to p by its index, or by nothing, belong to a call after it? */
static bool begins_anew(const struct al_llm_draft_part *p, const struct piece *x)
{
    struct al_str name = al_buf_str(&p->name);
    if (!x->name.n || !p->text.n)
        return false;
    if (!al_str_eq(name, x->name))
        return true; /* a second name behind arguments: were they cut, they fail by themselves */
    return al_llm_draft_args_whole(p) && has_args(x);
}

/* Two calls of one id: it names the tool again at a place where no call is, or behind arguments that were
 * whole. */
static bool repeats_id(struct al_llm_draft *d, const struct al_llm_draft_part *p, const struct piece *x)
{
    bool elsewhere = x->index >= 0 && p->key >= 0 && !al_llm_draft_find(d, AL_LLM_CALL, x->index);
    return x->name.n && (elsewhere || (al_llm_draft_args_whole(p) && has_args(x)));
}

/* The newest call of that id; where two have it, the one at the index. */
static struct al_llm_draft_part *call_of_id(struct al_llm_draft *d, const struct piece *x)
{
    struct al_llm_draft_part *p = al_llm_draft_find_id(d, x->id), *at;
    if (!p || x->index < 0 || p->key == x->index)
        return p;
    at = al_llm_draft_find(d, AL_LLM_CALL, x->index);
    return at && al_str_eq(al_buf_str(&at->id), x->id) ? at : p;
}

/* The call that is open and that the piece goes to; NULL: it opens one. */
static struct al_llm_draft_part *route(struct al_llm_reader *r, const struct piece *x)
{
    struct al_llm_draft *d = &r->draft;
    struct al_llm_draft_part *p = call_of_id(d, x);
    if (p)
        return repeats_id(d, p, x) ? NULL : p;
    p = x->index >= 0 ? al_llm_draft_find(d, AL_LLM_CALL, x->index) : last_call(d);
    if (!p || (x->id.n && p->id.n))
        return NULL;
    return begins_anew(p, x) ? NULL : p;
}

/* A name comes whole, whole again, or in parts. */
static void add_name(struct al_llm_reader *r, struct al_llm_draft_part *p, struct al_str name)
{
    if (name.n && !p->text.n && !al_str_eq(al_buf_str(&p->name), name))
        al_llm_draft_name(r, p, name);
}

static void add_piece(struct al_llm_reader *r, struct al_llm_draft_part *p, const struct piece *x)
{
    al_llm_draft_id(r, p, x->id);
    add_name(r, p, x->name);
    if (x->args && x->args->type == AL_JSON_STRING)
        al_llm_draft_string(r, p, x->args);
    else if (x->args)
        al_llm_draft_text(r, p, x->args->raw); /* an object in place of its text */
    if (x->extra) {
        autobuf struct al_buf raw = AL_BUF_INIT(AL_LLM_MAX_EVENT);
        struct al_jw w;
        al_jw_init(&w, &raw);
        al_jw_obj(&w);
        al_jw_key(&w, "extra_content");
        al_jw_value(&w, x->extra);
        al_jw_end(&w);
        al_llm_draft_raw(r, p, al_buf_str(&raw));
    }
}

void al_llm_chat_calls(struct al_llm_reader *r, const struct al_json *list, bool whole)
{
    /* Two entries of one list that say neither id nor index are two calls. */
    const struct al_llm_draft_part *before = NULL;
    al_json_each(it, list)
    {
        if (it->type != AL_JSON_OBJECT) {
            al_llm_reader_warn(r, "a call is of the type %s, and left out", al_json_type_name(it));
            continue;
        }
        struct piece x = piece_of(r, it);
        struct al_llm_draft_part *p = whole ? NULL : route(r, &x);
        if (p && p == before && !x.id.n && x.index < 0 && x.name.n)
            p = NULL;
        if (!p)
            p = al_llm_draft_open(r, AL_LLM_CALL, x.index);
        if (!p)
            return;
        add_piece(r, p, &x);
        before = p;
    }
}

void al_llm_chat_function(struct al_llm_reader *r, const struct al_json *function)
{
    struct piece x = {
        .index = 0, .args = al_json_get(function, "arguments"), .name = al_json_get_text(function, "name")};
    if (!function)
        return;
    if (x.args && x.args->type == AL_JSON_NULL)
        x.args = NULL;
    struct al_llm_draft_part *p = al_llm_draft_find(&r->draft, AL_LLM_CALL, 0);
    if (!p)
        p = al_llm_draft_open(r, AL_LLM_CALL, 0);
    if (p)
        add_piece(r, p, &x);
}
