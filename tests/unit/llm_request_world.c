#include "unit/llm_request_world.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>

static unsigned next(struct lw_chance *c)
{
    if (c->n) {
        c->n--;
        return *c->p++;
    }
    if (!c->seed)
        return 0;
    c->seed ^= c->seed << 13;
    c->seed ^= c->seed >> 7;
    c->seed ^= c->seed << 17;
    return (unsigned)(c->seed >> 32) & 0xff;
}

unsigned lw_below(struct lw_chance *c, unsigned n)
{
    return n < 2 ? 0 : n <= 256 ? next(c) % n : (next(c) << 8 | next(c)) % n;
}

void lw_fini(struct lw *w)
{
    al_provider_fini(&w->provider);
    al_arena_free(&w->arena);
}

/* --- by chance --- */

static struct al_str pick(struct lw_chance *c, const struct al_str *from, size_t n)
{
    return from[lw_below(c, (unsigned)n)];
}
#define PICK(c, list) pick(c, list, sizeof(list) / sizeof *(list))

static struct al_str any_bytes(struct lw *w, struct lw_chance *c, unsigned most)
{
    unsigned n = lw_below(c, most);
    char *p = al_arena_alloc(&w->arena, n + 1);
    for (unsigned i = 0; i < n; i++)
        p[i] = (char)next(c);
    return (struct al_str){p, n};
}

static struct al_str any_text(struct lw *w, struct lw_chance *c)
{
    static const struct al_str texts[] = {
        AL_S("hello"),
        AL_S(""),
        AL_S(" "),
        AL_S("\n\t\xc2\xa0\xe3\x80\x80"),
        AL_S("a\0b"),
        AL_S("\xff\xfe"),
        AL_S("\xed\xa0\xbd"),
        AL_S("ends in a blank \n"),
        AL_S("\"quoted\" \\ \x1b[31m \xe2\x80\xa8"),
        AL_S("\xf0\x9f\x98\x80 \xe4\xb8\xad\xe6\x96\x87"),
        AL_S("\\ud83d"),
        AL_S("{\"a\":1}"),
    };
    if (lw_below(c, 8) == 0)
        return any_bytes(w, c, 200);
    return PICK(c, texts);
}

static struct al_str any_id(struct lw *w, struct lw_chance *c)
{
    static const struct al_str ids[] = {
        AL_S("call_0"),
        AL_S("call_0"),
        AL_S("call_0_2"),
        AL_S("call_1"),
        AL_S(""),
        AL_S("call_x|fc_y"),
        AL_S("functions.read:0"),
        AL_S("toolu_01"),
        AL_S("a b"),
        AL_S("\xc3\xa9"),
        AL_S("0123456789012345678901234567890123456789012345678901234567890123"),
        AL_S("01234567890123456789012345678901234567890123456789012345678901234567890123456789"),
    };
    if (lw_below(c, 10) == 0)
        return any_bytes(w, c, 80);
    return PICK(c, ids);
}

static struct al_str any_arguments(struct lw *w, struct lw_chance *c)
{
    static const struct al_str arguments[] = {
        AL_S("{}"),
        AL_S(""),
        AL_S("null"),
        AL_S("{\"path\":\"a.txt\"}"),
        AL_S("[1]"),
        AL_S("\"x\""),
        AL_S("{\"a\":"),
        AL_S("{}{}"),
        AL_S(" {\"a\" : [1, 2]}\n"),
        AL_S("{\"a\":\"\\ud83d\"}"),
        AL_S("{\"a\":\"\\u0000\\\\ud83d\\ud83d\\ude00\"}"),
        AL_S("{\"a\":1,\"a\":2}"),
        AL_S("{\"\\ud800\":1}"),
        AL_S("\"{\\\"a\\\":1}\""),
        AL_S("{\"a\":\"\xff\"}"),
    };
    if (lw_below(c, 10) == 0)
        return any_bytes(w, c, 60);
    if (lw_below(c, 20) == 0) { /* deep */
        unsigned n = 90 + lw_below(c, 60);
        char *p = al_arena_alloc(&w->arena, 2 * n + 5);
        memcpy(p, "{\"a\":", 5);
        memset(p + 5, '[', n - 5);
        memset(p + n, ']', n - 5);
        p[2 * n - 5] = '}';
        return (struct al_str){p, 2 * n - 4};
    }
    return PICK(c, arguments);
}

static struct al_str any_raw(struct lw *w, struct lw_chance *c)
{
    static const struct al_str raws[] = {
        AL_S(""),
        AL_S("{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"c2ln\"}"),
        AL_S("{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"\"}"),
        AL_S("{\"type\":\"thinking\",\"thinking\":\"\\udc00\",\"signature\":\"c2ln\"}"),
        AL_S("{\"type\":\"redacted_thinking\",\"data\":\"AAAA\"}"),
        AL_S("{\"type\":\"redacted_thinking\",\"data\":7}"),
        AL_S("{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[],\"encrypted_content\":\"gAAA\"}"),
        AL_S("{\"type\":\"reasoning\",\"id\":\"rs_2\",\"summary\":[]}"),
        AL_S("{\"type\":\"reasoning\",\"id\":\"rs_3\",\"summary\":[],\"encrypted_content\":null}"),
        AL_S("{\"type\":\"message\",\"id\":\"msg_a\",\"phase\":\"commentary\",\"content\":[]}"),
        AL_S("{\"type\":\"message\",\"phase\":[1]}"),
        AL_S("{\"type\":\"tool_use\",\"id\":\"x\",\"name\":\"y\",\"input\":{}}"),
        AL_S("{\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"hm\"}]}"),
        AL_S("{\"extra_content\":{\"google\":{\"thought_signature\":\"AA\"}}}"),
        AL_S("[1]"),
        AL_S("{\"type\":\"thinking\""),
        AL_S("{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"c2ln\"} {}"),
    };
    if (lw_below(c, 12) == 0)
        return any_bytes(w, c, 60);
    return PICK(c, raws);
}

static void any_part(struct lw *w, struct lw_chance *c, struct al_llm_part *p)
{
    static const struct al_str names[] = {
        AL_S("read_file"), AL_S("js_run"),
        AL_S(""),          AL_S("a.b c"),
        AL_S("\xff"),      AL_S("0123456789012345678901234567890123456789012345678901234567890123456789"),
    };
    *p = (struct al_llm_part){.kind = (enum al_llm_part_kind)lw_below(c, 3)};
    p->raw = any_raw(w, c);
    if (p->kind == AL_LLM_CALL) {
        p->id = any_id(w, c);
        p->provider_id = any_id(w, c);
        p->name = PICK(c, names);
        p->text = any_arguments(w, c);
    } else {
        p->text = any_text(w, c);
    }
}

/* Mostly of a call that was made before. */
static struct al_str any_call_id(struct lw *w, struct lw_chance *c)
{
    for (size_t i = w->n; i-- > 0 && i + 4 > w->n;) {
        const struct al_llm_message *m = &w->messages[i];
        if (m->n_parts && lw_below(c, 3)) {
            const struct al_llm_part *p = &m->parts[lw_below(c, (unsigned)m->n_parts)];
            if (p->kind == AL_LLM_CALL)
                return p->id;
        }
    }
    return any_id(w, c);
}

static void any_message(struct lw *w, struct lw_chance *c)
{
    struct al_llm_message m = {.role = (enum al_llm_role)lw_below(c, 3),
                               .by = (enum al_llm_by)lw_below(c, 4)};
    m.n_parts = m.role == AL_LLM_RESULT ? lw_below(c, 8) != 0 : lw_below(c, 6);
    m.parts = al_arena_alloc(&w->arena, (m.n_parts + 1) * sizeof *m.parts);
    for (size_t i = 0; i < m.n_parts; i++)
        any_part(w, c, &m.parts[i]);
    for (size_t i = 0; m.role != AL_LLM_ASSISTANT && i < m.n_parts; i++)
        m.parts[i] = (struct al_llm_part){.kind = lw_below(c, 30) ? AL_LLM_TEXT : AL_LLM_REASONING,
                                          .text = m.parts[i].text};
    if (m.role == AL_LLM_RESULT) {
        m.call_id = any_call_id(w, c);
        m.is_error = lw_below(c, 2);
    }
    if (m.role == AL_LLM_ASSISTANT) {
        bool other = lw_below(c, 4) == 0;
        m.from = (struct al_llm_from){al_str_of(w->provider.name), al_str_of(w->provider.base_url),
                                      al_str_of(w->wire.model), w->provider.api};
        if (other && lw_below(c, 2))
            m.from.model = (struct al_str)AL_S("other");
        else if (other)
            m.from.api = (enum al_api)lw_below(c, AL_N_APIS);
    }
    w->messages[w->n++] = m;
}

static void any_provider(struct lw *w, struct lw_chance *c)
{
    static const char *const urls[] = {"https://api.example.com/v1", "https://api.openai.com/v1",
                                       "https://api.anthropic.com",  "https://api.deepseek.com",
                                       "https://openrouter.ai/api",  "http://127.0.0.1:8080",
                                       "https://api.mistral.ai/v1"};
    w->provider.name = al_xstrdup("here");
    w->provider.api = (enum al_api)lw_below(c, AL_N_APIS);
    w->provider.base_url = al_xstrdup(urls[lw_below(c, sizeof urls / sizeof *urls)]);
    w->provider.temperature = lw_below(c, 4) ? -1 : (int64_t)lw_below(c, 200);
    w->provider.reasoning_effort = lw_below(c, 3) ? NULL : al_xstrdup("high");
    if (lw_below(c, 4) == 0)
        w->facts.without = (uint32_t)next(c) << 8 | next(c);
    w->facts.wants_reasoning = lw_below(c, 4) == 0;
    w->wire = (struct al_llm_wire){.provider = &w->provider,
                                   .model = "m-1",
                                   .facts = &w->facts,
                                   .no_reasoning = lw_below(c, 6) == 0,
                                   .request = &w->request};
}

void lw_random(struct lw *w, struct lw_chance *c, unsigned max_messages)
{
    static const struct al_llm_tool tools[] = {
        {AL_S("js_run"), AL_S("Runs a script."),
         AL_S("{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\"}}}")},
        {AL_S("read_file"), AL_S("Reads a file."),
         AL_S("{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"}}}")},
    };
    *w = (struct lw){.arena = AL_ARENA_INIT(64 << 20)};
    any_provider(w, c);
    w->request = (struct al_llm_request){.tools = tools, .n_tools = lw_below(c, 5) ? 2 : 0};
    w->request.no_calls = lw_below(c, 6) == 0;
    w->request.system = lw_below(c, 5) ? AL_STR("You are here.") : AL_STR("");
    w->request.cache_key = lw_below(c, 2) ? AL_STR("ses_1") : AL_STR("");
    w->request.max_output_tokens = lw_below(c, 3) ? 0 : 1 + lw_below(c, 4000);
    unsigned n = lw_below(c, max_messages + 1);
    w->messages = al_arena_alloc(&w->arena, (n + 1) * sizeof *w->messages);
    while (w->n < n)
        any_message(w, c);
}

/* --- of a file --- */

static struct al_str keep(struct lw *w, struct al_str s)
{
    return (struct al_str){al_arena_dup(&w->arena, s), s.n};
}

static struct al_str with_api(struct lw *w, struct al_str text, const char *api)
{
    autobuf struct al_buf b = AL_BUF_INIT(16 << 20);
    for (size_t i = 0; i < text.n;) {
        if (text.n - i >= 4 && memcmp(text.p + i, "$API", 4) == 0) {
            al_buf_adds(&b, api);
            i += 4;
        } else {
            al_buf_addc(&b, text.p[i++]);
        }
    }
    return keep(w, al_buf_str(&b));
}

static const char *read_provider(struct lw *w, const struct al_json *v, struct al_err *err)
{
    struct al_providers all = {0};
    const struct al_json *list = al_json_get(v, "providers");
    if (!list || list->n != 1)
        return "not one provider";
    autobuf struct al_buf text = AL_BUF_INIT(1 << 20);
    al_buf_adds(&text, "{\"providers\":");
    al_buf_add_str(&text, list->raw);
    al_buf_addc(&text, '}');
    if (al_providers_read(al_buf_str(&text), "the test", &all, err) < 0) {
        al_providers_free(&all);
        return "the provider is refused";
    }
    const struct al_provider *p = al_providers_find(&all, list->child->key);
    if (p)
        al_provider_copy(&w->provider, p);
    al_providers_free(&all);
    return p ? NULL : "no provider was read";
}

static void read_tools(struct lw *w, const struct al_json *list)
{
    struct al_llm_tool *tools = al_arena_alloc(&w->arena, (list ? list->n + 1 : 1) * sizeof *tools);
    al_json_each(it, list)
    {
        tools[w->request.n_tools++] = (struct al_llm_tool){keep(w, al_json_get_text(it, "name")),
                                                           keep(w, al_json_get_text(it, "description")),
                                                           keep(w, al_json_get(it, "schema")->raw)};
    }
    w->request.tools = tools;
}

static const char *read_messages(struct lw *w, const struct al_json *list, struct al_err *err)
{
    w->messages = al_arena_alloc(&w->arena, (list ? list->n + 1 : 1) * sizeof *w->messages);
    al_json_each(it, list)
    {
        if (al_llm_message_read(&w->arena, it, &w->messages[w->n], err) < 0)
            return "a message is refused";
        w->n++;
    }
    return NULL;
}

const char *lw_read(struct lw *w, struct al_str text, const char *api)
{
    static struct al_err err;
    static char why[1200];
    *w = (struct lw){.arena = AL_ARENA_INIT(64 << 20)};
    const struct al_json *v = NULL;
    const char *wrong = NULL;
    int64_t n = 0;
    if (al_json_parse(&w->arena, with_api(w, text, api), &v, &err) < 0)
        wrong = "no JSON";
    else if (!(wrong = read_provider(w, v, &err)))
        wrong = read_messages(w, al_json_get(v, "messages"), &err);
    if (wrong) {
        snprintf(why, sizeof why, "%s: %s", wrong, err.msg);
        return why;
    }
    read_tools(w, al_json_get(v, "tools"));
    al_llm_facts_read(al_json_get(v, "facts"), &w->facts);
    w->request.system = keep(w, al_json_get_text(v, "system"));
    w->request.cache_key = keep(w, al_json_get_text(v, "cacheKey"));
    w->request.no_calls = al_json_is_true(al_json_get(v, "noCalls"));
    if (al_json_int(al_json_get(v, "maxOutputTokens"), 1, 1 << 30, &n))
        w->request.max_output_tokens = n;
    w->wire = (struct al_llm_wire){.provider = &w->provider,
                                   .model = keep(w, al_json_get_text(v, "model")).p,
                                   .key = "sk-test",
                                   .facts = &w->facts,
                                   .no_reasoning = al_json_is_true(al_json_get(v, "noReasoning")),
                                   .request = &w->request};
    return NULL;
}

/* --- bodies --- */

int lw_body(struct lw *w, size_t n, struct al_buf *out, struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(256 << 20);
    struct al_llm_request r = w->request;
    struct al_llm_wire wire = w->wire;
    wire.request = &r;
    if (al_llm_history(&a, &wire, w->messages, n, &r.messages, &r.n_messages, err) < 0)
        return -1;
    if (al_llm_history_check(w->provider.api, r.messages, r.n_messages, err) < 0)
        return -2;
    al_llm_body(&wire, out);
    return 0;
}

bool lw_continues(struct al_str longer, struct al_str shorter)
{
    while (shorter.n && strchr("\"}]", shorter.p[shorter.n - 1]))
        shorter.n--;
    return longer.n >= shorter.n && memcmp(longer.p, shorter.p, shorter.n) == 0;
}
