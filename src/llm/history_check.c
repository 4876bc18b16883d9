#include "llm/request_int.h"

#include "base/text.h"

/*
 * What the three APIs demand of a conversation, held against what is about to be sent: a provider's 400 about
 * our own history would come back with each further request, and end the session for good.
 */

#define ID_MAX 64
#define NAME_MAX_CHARS 64

/* What Python, behind most endpoints, strips: an answer of 400 awaits a text of nothing else. */
static bool is_space(uint32_t cp)
{
    return cp == ' ' || (cp >= 9 && cp <= 13) || (cp >= 0x1c && cp <= 0x1f) || cp == 0x85 || cp == 0xa0 ||
           cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 || cp == 0x2029 || cp == 0x202f ||
           cp == 0x205f || cp == 0x3000 || cp == 0xfeff;
}

bool al_llm_blank(struct al_str s)
{
    while (s.n) {
        uint32_t cp;
        unsigned n = al_utf8_decode(s, &cp);
        if (n == 0 || !is_space(cp))
            return false;
        s = (struct al_str){s.p + n, s.n - n};
    }
    return true;
}

static int hex4(const char *p)
{
    int v = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int d = c >= '0' && c <= '9'                 ? c - '0'
                : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                     : -1;
        if (d < 0)
            return -1;
        v = v * 16 + d;
    }
    return v;
}

bool al_llm_bad_escape(struct al_str json)
{
    for (size_t i = 0; i + 1 < json.n; i++) {
        if (json.p[i] != '\\')
            continue;
        if (json.p[i + 1] != 'u' || i + 6 > json.n) {
            i++;
            continue;
        }
        int v = hex4(json.p + i + 2);
        if (v == 0 || (v >= 0xdc00 && v <= 0xdfff))
            return true;
        if (v >= 0xd800 && v <= 0xdbff) {
            int low =
                i + 12 <= json.n && json.p[i + 6] == '\\' && json.p[i + 7] == 'u' ? hex4(json.p + i + 8) : -1;
            if (low < 0xdc00 || low > 0xdfff)
                return true;
            i += 6;
        }
        i += 5;
    }
    return false;
}

bool al_llm_object_ok(struct al_str json)
{
    struct al_str s = al_str_trim(json);
    return s.n && s.p[0] == '{' && al_json_check(s, AL_LLM_MAX_NEST) && !al_llm_bad_escape(s);
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool al_llm_name_ok(struct al_str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!is_word_char(name.p[i]))
            return false;
    return name.n && name.n <= NAME_MAX_CHARS;
}

/* Chat: some models are trained on ids with a meaning ("functions.name:0"), and do worse with others. */
bool al_llm_id_ok(enum al_api api, struct al_str id)
{
    bool chat = api == AL_API_CHAT;
    for (size_t i = 0; i < id.n; i++)
        if (!is_word_char(id.p[i]) && !(chat && (id.p[i] == '.' || id.p[i] == ':')))
            return false;
    return id.n && id.n <= ID_MAX;
}

bool al_llm_reasoning_ok(enum al_api api, struct al_str raw, bool signed_only)
{
    if (!al_llm_object_ok(raw))
        return false;
    autoarena struct al_arena a = AL_ARENA_INIT(AL_LLM_TREE(raw.n));
    const struct al_json *v;
    if (al_json_parse(&a, raw, &v, NULL) < 0)
        return false;
    struct al_str type = al_json_get_text(v, "type");
    switch (api) {
    case AL_API_MESSAGES:
        if (al_str_is(type, "redacted_thinking"))
            return al_json_get_text(v, "data").n > 0;
        return al_str_is(type, "thinking") && al_json_is_string(al_json_get(v, "thinking")) &&
               (!signed_only || al_json_get_text(v, "signature").n > 0);
    case AL_API_RESPONSES:
        return al_str_is(type, "reasoning") && al_json_get_text(v, "encrypted_content").n > 0 &&
               al_json_get(v, "summary") && al_json_get(v, "summary")->type == AL_JSON_ARRAY;
    case AL_API_CHAT: {
        const struct al_json *details = al_json_get(v, "reasoning_details");
        return details && details->type == AL_JSON_ARRAY;
    }
    }
    return false;
}

bool al_llm_reasoning_again(struct al_llm_ids *ids, struct al_arena *a, struct al_str raw)
{
    autoarena struct al_arena scratch = AL_ARENA_INIT(AL_LLM_TREE(raw.n));
    const struct al_json *v;
    if (al_json_parse(&scratch, raw, &v, NULL) < 0)
        return false;
    struct al_str id = al_json_get_text(v, "id");
    const char *kept = id.n ? al_arena_dup(a, id) : NULL;
    return kept && !al_llm_ids_add(ids, (struct al_str){kept, id.n});
}

/* --- the validator --- */

struct check {
    enum al_api api;
    struct al_arena *arena;
    struct al_llm_ids *ids, *items; /* of calls; of reasoning */
    size_t at;
    struct al_err *err;
};

static int broken(const struct check *c, const char *rule)
{
    return al_fail(c->err, AL_INTERNAL, "message %zu of the conversation breaks a rule of the %s API: %s",
                   c->at + 1, al_api_name(c->api), rule);
}

static bool text_ok(struct al_str s)
{
    return al_utf8_valid(s) && !(s.n && memchr(s.p, 0, s.n));
}

static int check_text(const struct check *c, struct al_str s)
{
    if (!text_ok(s))
        return broken(c, "its text is not valid UTF-8");
    if (al_llm_blank(s))
        return broken(c, "a text is empty");
    return 0;
}

static int check_user(const struct check *c, const struct al_llm_message *m)
{
    if (m->n_parts == 0)
        return broken(c, "it has no text");
    for (size_t i = 0; i < m->n_parts; i++) {
        if (m->parts[i].kind != AL_LLM_TEXT)
            return broken(c, "a user's message has something else than text");
        if (check_text(c, m->parts[i].text) < 0)
            return -1;
    }
    return 0;
}

static int check_call(const struct check *c, const struct al_llm_part *p)
{
    if (!al_llm_id_ok(c->api, p->id))
        return broken(c, "a call's id has characters that it may not have, or is too long");
    if (!al_llm_ids_add(c->ids, p->id))
        return broken(c, "two calls have the same id");
    if (!al_llm_name_ok(p->name))
        return broken(c, "a called tool's name has characters that it may not have, or is too long");
    if (!al_llm_object_ok(p->text))
        return broken(c, "a call's arguments are no JSON object");
    return 0;
}

static int check_reasoning(const struct check *c, const struct al_llm_part *p)
{
    if (p->raw.n ? !al_llm_reasoning_ok(c->api, p->raw, false) : c->api != AL_API_CHAT || p->text.n == 0)
        return broken(c, "reasoning is not of the form that goes back");
    if (c->api == AL_API_RESPONSES && al_llm_reasoning_again(c->items, c->arena, p->raw))
        return broken(c, "an item of reasoning is there twice");
    return text_ok(p->text) ? 0 : broken(c, "its reasoning is not valid UTF-8");
}

static int check_assistant(const struct check *c, const struct al_llm_message *m, size_t *ret_calls)
{
    size_t calls = 0;
    if (m->n_parts == 0)
        return broken(c, "it has nothing in it");
    if (m->parts[m->n_parts - 1].kind == AL_LLM_REASONING)
        return broken(c, "reasoning is not followed by what it led to");
    for (size_t i = 0; i < m->n_parts; i++) {
        const struct al_llm_part *p = &m->parts[i];
        int r = p->kind == AL_LLM_TEXT   ? check_text(c, p->text)
                : p->kind == AL_LLM_CALL ? check_call(c, p)
                                         : check_reasoning(c, p);
        if (r < 0)
            return r;
        calls += p->kind == AL_LLM_CALL;
    }
    *ret_calls = calls;
    return 0;
}

/* The results behind an assistant's message: one for each call, in their order, and nothing between. */
static int check_results(struct check *c, const struct al_llm_message *messages, size_t n, size_t calls)
{
    const struct al_llm_message *from = &messages[c->at];
    size_t at = c->at;
    for (size_t i = 0; i < from->n_parts && calls; i++) {
        if (from->parts[i].kind != AL_LLM_CALL)
            continue;
        calls--;
        if (++at == n || messages[at].role != AL_LLM_RESULT)
            return broken(c, "a call has no result behind it");
        c->at = at;
        if (!al_str_eq(messages[at].call_id, from->parts[i].id))
            return broken(c, "a result stands where that of another call belongs");
        if (messages[at].n_parts != 1 || messages[at].parts[0].kind != AL_LLM_TEXT)
            return broken(c, "a result is not one text");
        if (check_text(c, messages[at].parts[0].text) < 0)
            return -1;
    }
    return 0;
}

int al_llm_history_check(enum al_api api, const struct al_llm_message *messages, size_t n, struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(SIZE_MAX / 4);
    struct check c = {
        .api = api, .arena = &a, .ids = al_llm_ids_new(&a), .items = al_llm_ids_new(&a), .err = err};
    if (n == 0 || messages[0].role != AL_LLM_USER)
        return broken(&c, "the first message is not the user's");
    if (n > AL_LLM_MAX_MESSAGES)
        return broken(&c, "there are more than 100,000 messages");
    for (c.at = 0; c.at < n; c.at++) {
        const struct al_llm_message *m = &messages[c.at];
        size_t calls = 0;
        switch (m->role) {
        case AL_LLM_USER:
            if (check_user(&c, m) < 0)
                return -1;
            break;
        case AL_LLM_ASSISTANT:
            if (check_assistant(&c, m, &calls) < 0 || check_results(&c, messages, n, calls) < 0)
                return -1;
            break;
        case AL_LLM_RESULT:
            return broken(&c, "a result has no call before it");
        }
    }
    return 0;
}
