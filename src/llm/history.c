#include "llm/request_int.h"

#include "base/log.h"
#include "base/text.h"

#include <stdio.h>

/*
 * The conversation as an API takes it. The journal may hold anything: rows of another version, of a process
 * that died, of an endpoint with other ids. What comes out passes al_llm_history_check, whatever went in.
 * Each message depends only on those before it, so that a longer conversation begins with the bytes of a
 * shorter one (an endpoint's cache counts on it).
 */

static const struct al_str no_output = AL_S("(no output)");
static const struct al_str no_result = AL_S("no result was recorded: the call may not have run");
static const struct al_str no_beginning = AL_S("(The beginning of this conversation is not there.)");

struct out {
    const struct al_llm_wire *w;
    struct al_arena *arena;
    struct al_arena *scratch;
    struct al_llm_ids *ids, *items; /* of calls; of reasoning */
    struct al_llm_message *v;
    size_t n, cap;
    size_t parts_cap; /* of the last message */
    size_t made_up;   /* results that none had recorded, arguments that were no object */
    size_t bytes;     /* at most what the messages take in the body */
    size_t largest;   /* of one result */
    struct al_str largest_name;
    bool nine; /* ids have nine characters */
    bool over; /* the arena's limit */
};

static void *take(struct out *o, size_t count, size_t each)
{
    size_t bytes;
    void *p =
        __builtin_mul_overflow(count, each, &bytes) ? NULL : al_arena_alloc(o->arena, bytes ? bytes : 1);
    o->over |= !p;
    return p;
}

/* --- texts --- */

/* Bytes of a text as a JSON string in the body. */
static size_t quoted_size(struct al_str s)
{
    size_t n = s.n + 2;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '"' || c == '\\')
            n++;
        else if (c < 0x20 || c == 0x7f)
            n += 5;
        else if (c == 0xc2 || c == 0xe2) /* at most: some of their characters are escaped */
            n += 4;
    }
    return n;
}

/* Valid UTF-8 without NUL: the text itself where it is so. */
static struct al_str clean(struct out *o, struct al_str s)
{
    if (al_utf8_valid(s) && !(s.n && memchr(s.p, 0, s.n)))
        return s;
    autobuf struct al_buf b = AL_BUF_INIT(s.n * 3 + 1);
    while (s.n) {
        const char *zero = memchr(s.p, 0, s.n);
        struct al_str part = {s.p, zero ? (size_t)(zero - s.p) : s.n};
        al_utf8_clean(&b, part);
        if (zero)
            al_buf_adds(&b, "\xef\xbf\xbd");
        part.n += zero != NULL;
        s = (struct al_str){s.p + part.n, s.n - part.n};
    }
    char *p = al_arena_dup(o->arena, al_buf_str(&b));
    o->over |= !p;
    return p ? (struct al_str){p, b.n} : (struct al_str)AL_S("");
}

static struct al_str dup_buf(struct out *o, const struct al_buf *b)
{
    char *p = al_arena_dup(o->arena, al_buf_str(b));
    o->over |= !p;
    return p ? (struct al_str){p, b->n} : (struct al_str)AL_S("{}");
}

static struct al_str without_bad_escapes(struct out *o, struct al_str json)
{
    if (!al_llm_bad_escape(json))
        return json;
    char *p = al_arena_dup(o->arena, json);
    if (!p) {
        o->over = true;
        return (struct al_str)AL_S("{}");
    }
    al_llm_json_clean(p, json.n);
    return (struct al_str){p, json.n};
}

#define SHOWN_ARGUMENTS 4000

/* What goes back is an object whatever the model had sent: what was none stands within one, as far as it
 * helps. */
static struct al_str arguments_of(struct out *o, struct al_str text)
{
    struct al_str s = al_str_trim(text);
    if (s.n == 0 || al_str_is(s, "null"))
        return (struct al_str)AL_S("{}");
    if (s.p[0] == '{' && al_json_check(s, AL_LLM_MAX_NEST))
        return without_bad_escapes(o, s);
    autobuf struct al_buf b = AL_BUF_INIT(SHOWN_ARGUMENTS * 8);
    o->made_up++;
    struct al_jw j;
    struct al_str shown = clean(o, (struct al_str){s.p, s.n < SHOWN_ARGUMENTS ? s.n : SHOWN_ARGUMENTS});
    al_jw_init(&j, &b);
    al_jw_obj(&j);
    al_jw_kstr(&j, "not_a_json_object", shown);
    al_jw_end(&j);
    return dup_buf(o, &b);
}

/* --- ids and names --- */

static struct al_str name_of(struct out *o, struct al_str name)
{
    if (al_llm_name_ok(name))
        return name;
    size_t n = name.n < 64 ? name.n : 64;
    char *p = take(o, n + 1, 1);
    if (!p || n == 0)
        return (struct al_str)AL_S("unnamed");
    for (size_t i = 0; i < n; i++)
        p[i] = al_llm_name_ok((struct al_str){name.p + i, 1}) ? name.p[i] : '_';
    return (struct al_str){p, n};
}

/* The first one of an id keeps it; later ones get a number behind it that none has. */
static struct al_str unique_id(struct out *o, struct al_str id)
{
    bool fresh;
    uint32_t *count = al_llm_ids_count(o->ids, id, &fresh);
    if (fresh || !count)
        return id;
    for (uint32_t k = *count ? *count : 1;;) {
        char tail[16];
        size_t n = (size_t)snprintf(tail, sizeof tail, "_%u", ++k);
        size_t keep = id.n + n <= 64 ? id.n : 64 - n;
        char *p = take(o, keep + n + 1, 1);
        if (!p)
            return id;
        memcpy(p, id.p, keep);
        memcpy(p + keep, tail, n);
        *count = k;
        struct al_str made = {p, keep + n};
        if (al_llm_ids_add(o->ids, made))
            return made;
        /* Adding may have moved the numbers. */
        count = al_llm_ids_count(o->ids, id, &fresh);
        if (!count || o->over)
            return id;
    }
}

/* Mistral's own endpoint takes ids of nine letters and digits, and no others. */
static struct al_str nine_of(struct out *o, struct al_str id, struct al_str own)
{
    char *p = take(o, 10, 1);
    autobuf struct al_buf b = AL_BUF_INIT(own.n + 32);
    bool nine = id.n == 9 && al_llm_name_ok(id) && !memchr(id.p, '_', 9) && !memchr(id.p, '-', 9);
    if (nine && al_llm_ids_add(o->ids, id))
        return id;
    for (unsigned k = 0; p && k < AL_LLM_MAX_MESSAGES; k++) {
        char hex[AL_SHA256_HEX];
        al_buf_clear(&b);
        al_buf_addf(&b, "%u:", k);
        al_buf_add_str(&b, own);
        al_sha256(al_buf_str(&b), hex);
        memcpy(p, hex, 9);
        if (al_llm_ids_add(o->ids, (struct al_str){p, 9}))
            return (struct al_str){p, 9};
    }
    return own;
}

static struct al_str id_of(struct out *o, const struct al_llm_part *call, bool same)
{
    bool given = same && al_llm_id_ok(o->w->provider->api, call->provider_id);
    if (o->nine)
        return nine_of(o, given ? call->provider_id : call->id, call->id);
    if (given)
        return unique_id(o, call->provider_id);
    if (al_llm_name_ok(call->id)) /* of the same characters and length */
        return unique_id(o, call->id);
    return unique_id(o, call->id.n ? name_of(o, call->id) : (struct al_str)AL_S("call"));
}

/* --- messages --- */

static struct al_llm_message *push(struct out *o, enum al_llm_role role)
{
    if (o->n == o->cap) { /* cannot be: it was counted */
        o->over = true;
        return NULL;
    }
    o->parts_cap = 0;
    o->bytes += 120;
    o->v[o->n] = (struct al_llm_message){.role = role};
    return &o->v[o->n++];
}

static void add_part(struct out *o, struct al_llm_message *m, const struct al_llm_part *p)
{
    if (m->n_parts == o->parts_cap) {
        size_t cap = o->parts_cap ? o->parts_cap * 2 : 1;
        struct al_llm_part *more = take(o, cap, sizeof *more);
        if (!more)
            return;
        if (m->n_parts)
            memcpy(more, m->parts, m->n_parts * sizeof *more);
        m->parts = more;
        o->parts_cap = cap;
    }
    m->parts[m->n_parts++] = *p;
    /* Of a text's raw form a word is sent, if anything. */
    o->bytes +=
        250 + quoted_size(p->text) + (p->kind == AL_LLM_TEXT ? 0 : p->raw.n) + quoted_size(p->id) + p->name.n;
}

static struct al_llm_message *last(struct out *o, enum al_llm_role role)
{
    return o->n && o->v[o->n - 1].role == role ? &o->v[o->n - 1] : NULL;
}

static void add_filler(struct out *o)
{
    struct al_llm_message *m = push(o, AL_LLM_USER);
    if (!m)
        return;
    m->by = AL_LLM_HOST;
    add_part(o, m, &(struct al_llm_part){.kind = AL_LLM_TEXT, .text = no_beginning});
}

/* What one person or several say after each other is one message: many models know only that. */
static void add_user(struct out *o, const struct al_llm_message *m)
{
    struct al_llm_message *to = last(o, AL_LLM_USER);
    for (size_t i = 0; i < m->n_parts; i++) {
        if (m->parts[i].kind != AL_LLM_TEXT || al_llm_blank(m->parts[i].text))
            continue;
        if (!to) {
            to = push(o, AL_LLM_USER);
            if (!to)
                return;
            to->by = m->by;
            to->seq = m->seq;
        }
        add_part(o, to, &(struct al_llm_part){.kind = AL_LLM_TEXT, .text = clean(o, m->parts[i].text)});
    }
}

static void add_result(struct out *o, struct al_str call_id, struct al_str name,
                       const struct al_llm_message *m)
{
    struct al_str text = no_result;
    bool is_error = true;
    o->made_up += !m;
    if (m) {
        text = no_output;
        is_error = m->is_error;
        for (size_t i = 0; i < m->n_parts; i++)
            if (m->parts[i].kind == AL_LLM_TEXT && !al_llm_blank(m->parts[i].text)) {
                text = clean(o, m->parts[i].text);
                break;
            }
    }
    struct al_llm_message *to = push(o, AL_LLM_RESULT);
    if (!to)
        return;
    to->call_id = call_id;
    to->is_error = is_error;
    to->seq = m ? m->seq : 0;
    o->bytes += call_id.n;
    add_part(o, to, &(struct al_llm_part){.kind = AL_LLM_TEXT, .text = text});
    if (text.n > o->largest) {
        o->largest = text.n;
        o->largest_name = name;
    }
}

static bool same_origin(const struct al_llm_wire *w, const struct al_llm_from *f)
{
    return f->api == w->provider->api && al_str_is(f->provider, w->provider->name ? w->provider->name : "") &&
           al_str_is(f->base_url, w->provider->base_url ? w->provider->base_url : "") &&
           al_str_is(f->model, w->model ? w->model : "");
}

static bool has_calls(const struct al_llm_message *m)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == AL_LLM_CALL)
            return true;
    return false;
}

/* Whether reasoning of the same origin goes back; p becomes what is sent of it. */
static bool reasoning_goes(struct out *o, struct al_llm_part *p, bool calls)
{
    const struct al_llm_wire *w = o->w;
    enum al_api api = w->provider->api;
    if (w->no_reasoning)
        return false;
    if (api != AL_API_CHAT) {
        p->text = (struct al_str){NULL, 0};
        return al_llm_reasoning_ok(api, p->raw, !(w->facts && w->facts->wants_reasoning)) &&
               !(api == AL_API_RESPONSES && al_llm_reasoning_again(o->items, o->scratch, p->raw));
    }
    if (!calls)
        return false;
    if (!al_llm_wants_details(w) || !al_llm_reasoning_ok(api, p->raw, false))
        p->raw = (struct al_str){NULL, 0};
    p->text = al_llm_wants_reasoning(w) ? clean(o, p->text) : (struct al_str){NULL, 0};
    return p->raw.n || p->text.n;
}

/* The part as it is sent; false: it is not. */
static bool make_part(struct out *o, const struct al_llm_part *from, bool same, bool calls,
                      struct al_llm_part *ret)
{
    *ret = (struct al_llm_part){.kind = from->kind};
    bool raw_ok = same && from->raw.n && al_llm_object_ok(from->raw);
    switch (from->kind) {
    case AL_LLM_TEXT:
        ret->text = clean(o, from->text);
        ret->raw = raw_ok && o->w->provider->api == AL_API_RESPONSES ? from->raw : ret->raw;
        return !al_llm_blank(from->text);
    case AL_LLM_REASONING:
        ret->text = from->text;
        ret->raw = from->raw;
        return same && reasoning_goes(o, ret, calls);
    case AL_LLM_CALL:
        ret->id = id_of(o, from, same);
        ret->provider_id = ret->id;
        ret->name = name_of(o, from->name);
        ret->text = arguments_of(o, from->text);
        ret->raw = raw_ok && o->w->provider->api == AL_API_CHAT ? from->raw : ret->raw;
        return true;
    }
    return false;
}

/* Where the last part is that reasoning may stand before: reasoning that led to nothing is refused. */
static size_t sent_parts(const struct al_llm_message *m)
{
    size_t n = m->n_parts;
    while (n && (m->parts[n - 1].kind == AL_LLM_REASONING ||
                 (m->parts[n - 1].kind == AL_LLM_TEXT && al_llm_blank(m->parts[n - 1].text))))
        n--;
    return n;
}

/* The message, or NULL when nothing of it can be sent. */
static struct al_llm_message *add_assistant(struct out *o, const struct al_llm_message *m)
{
    size_t n = sent_parts(m);
    bool same = same_origin(o->w, &m->from), calls = has_calls(m);
    if (n == 0)
        return NULL;
    if (o->n == 0)
        add_filler(o);
    struct al_llm_message *to = push(o, AL_LLM_ASSISTANT);
    if (!to)
        return NULL;
    to->from = m->from;
    to->seq = m->seq;
    for (size_t i = 0; i < n; i++) {
        struct al_llm_part p;
        if (make_part(o, &m->parts[i], same, calls, &p))
            add_part(o, to, &p);
    }
    return to;
}

/* The results of a message's calls out of those that stand before the next answer, in the order of the calls.
 * How many of them were of none. */
static size_t add_results(struct out *o, const struct al_llm_message *from, const struct al_llm_message *sent,
                          const struct al_llm_message *behind, size_t n)
{
    autoarena struct al_arena scratch = AL_ARENA_INIT(SIZE_MAX / 4);
    struct al_llm_ids *by_id = al_llm_ids_new(&scratch);
    uint32_t *next = al_arena_alloc(
        &scratch, (n + 1) * sizeof *next); /* of the same id, one more than its place; 0: none */
    size_t left = 0, call = 0;
    bool fresh;
    for (size_t i = n; i-- > 0;) {
        if (behind[i].role != AL_LLM_RESULT)
            continue;
        uint32_t *first = al_llm_ids_count(by_id, behind[i].call_id, &fresh);
        next[i] = *first;
        *first = (uint32_t)i + 1;
        left++;
    }
    for (size_t i = 0; i < from->n_parts; i++) {
        if (from->parts[i].kind != AL_LLM_CALL)
            continue;
        while (sent->parts[call].kind != AL_LLM_CALL)
            call++;
        uint32_t *first = al_llm_ids_count(by_id, from->parts[i].id, &fresh);
        const struct al_llm_message *found = *first ? &behind[*first - 1] : NULL;
        if (found) {
            *first = next[*first - 1];
            left--;
        }
        add_result(o, sent->parts[call].id, sent->parts[call].name, found);
        call++;
    }
    return left;
}

/* --- sizes --- */

static int too_large(const struct out *o, size_t limit, size_t head, struct al_err *err)
{
    autobuf struct al_buf sizes = AL_BUF_INIT(1024);
    const struct al_llm_request *r = o->w->request;
    size_t tools = head - (r ? r->system.n : 0);
    al_text_bytes(&sizes, head + o->bytes);
    al_buf_adds(&sizes, " (system prompt ");
    al_text_bytes(&sizes, r ? r->system.n : 0);
    al_buf_adds(&sizes, ", tools ");
    al_text_bytes(&sizes, tools);
    al_buf_adds(&sizes, ", messages ");
    al_text_bytes(&sizes, o->bytes);
    al_buf_adds(&sizes, ", the largest result ");
    al_text_bytes(&sizes, o->largest);
    al_buf_addf(&sizes, "), and one of this API may have %zu MB", limit / 1000000);
    if (o->largest > limit / 2) {
        al_fail(err, AL_RESULT_TOO_LARGE, "a result of %.*s is too large for one request: %.*s",
                AL_FMT(o->largest_name), AL_FMT(al_buf_str(&sizes)));
        return al_hint(err, "Call the tool again for a part of it.");
    }
    al_fail(err, AL_CONTEXT_LIMIT, "the conversation is too large for one request: %.*s",
            AL_FMT(al_buf_str(&sizes)));
    return al_hint(err, "Begin a new session, or let older turns be summarised.");
}

static int check_sizes(const struct out *o, struct al_err *err)
{
    size_t limit = AL_LLM_MAX_BODY;
    const struct al_llm_request *r = o->w->request;
    size_t head = 2000;
    if (r) {
        head += quoted_size(r->system);
        for (size_t i = 0; i < r->n_tools; i++)
            head += 100 + quoted_size(r->tools[i].name) + quoted_size(r->tools[i].description) +
                    r->tools[i].schema.n;
    }
    if (o->bytes > limit || head > limit || head + o->bytes > limit)
        return too_large(o, limit, head, err);
    if (o->n > AL_LLM_MAX_MESSAGES) {
        al_fail(err, AL_CONTEXT_LIMIT, "the conversation has %zu messages, and a request may have %d", o->n,
                AL_LLM_MAX_MESSAGES);
        return al_hint(err, "Begin a new session, or let older turns be summarised.");
    }
    return 0;
}

/* --- all of it --- */

static size_t count_out(const struct al_llm_message *messages, size_t n)
{
    size_t count = n + 2;
    for (size_t i = 0; i < n; i++)
        if (messages[i].role == AL_LLM_ASSISTANT)
            count += messages[i].n_parts;
    return count;
}

/* A blank at the end of what is last: an endpoint would take it for the beginning of its own answer, and
 * refuses it. */
static void trim_end(struct out *o)
{
    struct al_llm_message *m = last(o, AL_LLM_ASSISTANT);
    if (!m || o->w->provider->api != AL_API_MESSAGES)
        return;
    struct al_llm_part *p = &m->parts[m->n_parts - 1];
    while (p->kind == AL_LLM_TEXT && p->text.n && strchr(" \t\r\n\f\v", p->text.p[p->text.n - 1]))
        p->text.n--;
}

static size_t add_all(struct out *o, const struct al_llm_message *messages, size_t n)
{
    size_t lost = 0;
    for (size_t i = 0; i < n && !o->over;) {
        const struct al_llm_message *m = &messages[i], *sent = NULL;
        if (m->role == AL_LLM_ASSISTANT) {
            sent = add_assistant(o, m);
            i++;
        }
        size_t end = i;
        while (end < n && messages[end].role != AL_LLM_ASSISTANT)
            end++;
        if (o->over)
            break;
        if (sent && has_calls(sent))
            lost += add_results(o, m, sent, messages + i, end - i);
        else
            for (size_t k = i; k < end; k++)
                lost += messages[k].role == AL_LLM_RESULT;
        for (; i < end; i++)
            if (messages[i].role == AL_LLM_USER)
                add_user(o, &messages[i]);
    }
    return lost;
}

int al_llm_history(struct al_arena *a, const struct al_llm_wire *w, const struct al_llm_message *messages,
                   size_t n, const struct al_llm_message **ret, size_t *ret_n, struct al_err *err)
{
    autoarena struct al_arena scratch = AL_ARENA_INIT(SIZE_MAX / 4);
    struct out o = {.w = w,
                    .arena = a,
                    .scratch = &scratch,
                    .ids = al_llm_ids_new(&scratch),
                    .items = al_llm_ids_new(&scratch),
                    .nine = al_llm_host_is(w->provider, "api.mistral.ai"),
                    .cap = count_out(messages, n)};
    o.v = take(&o, o.cap, sizeof *o.v);
    size_t lost = o.over ? 0 : add_all(&o, messages, n);
    if (!o.over && o.n == 0)
        add_filler(&o);
    if (o.over)
        return al_fail(err, AL_CONTEXT_LIMIT, "the conversation does not fit into the memory of one request");
    trim_end(&o);
    if (lost || o.made_up)
        al_log(AL_LOG_WARN, "llm",
               "the conversation was mended before it is sent: %zu results of no call left out, %zu parts "
               "made up",
               lost, o.made_up);
    if (check_sizes(&o, err) < 0)
        return -1;
    *ret = o.v;
    *ret_n = o.n;
    return 0;
}
