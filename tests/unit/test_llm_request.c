/* What goes out to a model: bodies of recorded conversations byte for byte, addresses, headers, and how they
 * go on. */
#include "test.h"

#include "unit/llm_request_world.h"

#include "base/mem.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* --- recorded requests --- */

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    struct al_buf b = AL_BUF_INIT(16 << 20);
    char part[4096];
    size_t n;
    while ((n = fread(part, 1, sizeof part, f)))
        al_buf_add(&b, part, n);
    fclose(f);
    return al_buf_take(&b);
}

/* AL_RECORD=1 writes what is made instead of comparing it: read the difference before it is kept. */
static void check_golden(const char *path, struct al_str body)
{
    if (getenv("AL_RECORD")) {
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        fprintf(f, "%.*s\n", AL_FMT(body));
        assert_int_equal(fclose(f), 0);
        return;
    }
    char *want = read_file(path);
    if (!want)
        fail_msg("there is no %s", path);
    if (!al_str_eq(al_str_trim(al_str_of(want)), body))
        fail_msg("%s: now it is\n%.*s\nand it was\n%s", path, AL_FMT(body), want);
    free(want);
}

static void check_one(const char *dir, const char *name, const char *api)
{
    char path[512];
    struct lw w;
    struct al_err err;
    autobuf struct al_buf body = AL_BUF_INIT(1 << 20), again = AL_BUF_INIT(1 << 20);
    snprintf(path, sizeof path, "%s/%s/%s.in.json", AL_REQUESTS, dir, name);
    char *in = read_file(path);
    assert_non_null(in);
    const char *wrong = lw_read(&w, al_str_of(in), api);
    if (wrong)
        fail_msg("%s: %s", path, wrong);
    if (lw_body(&w, w.n, &body, &err) < 0)
        fail_msg("%s as %s: %s", path, api, err.msg);
    assert_false(al_buf_failed(&body));
    assert_true(al_json_check(al_buf_str(&body), 64));
    snprintf(path, sizeof path, "%s/%s/%s%s.json", AL_REQUESTS, api, strcmp(dir, "all") == 0 ? "all_" : "",
             name);
    check_golden(path, al_buf_str(&body));
    assert_int_equal(lw_body(&w, w.n, &again, &err), 0);
    assert_true(al_str_eq(al_buf_str(&body), al_buf_str(&again)));
    lw_fini(&w);
    free(in);
}

static unsigned check_folder(const char *dir)
{
    unsigned n = 0;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", AL_REQUESTS, dir);
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        struct al_str s = al_str_of(e->d_name);
        if (!al_str_ends(s, ".in.json"))
            continue;
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)(s.n - strlen(".in.json")), s.p);
        for (int api = 0; api < AL_N_APIS; api++)
            if (strcmp(dir, "all") == 0 || strcmp(dir, al_api_name((enum al_api)api)) == 0) {
                check_one(dir, name, al_api_name((enum al_api)api));
                n++;
            }
    }
    closedir(d);
    return n;
}

static void recorded_conversations_give_recorded_requests(void **state)
{
    (void)state;
    unsigned n =
        check_folder("all") + check_folder("chat") + check_folder("responses") + check_folder("messages");
    assert_in_range(n, 60, 1000);
}

/* --- addresses --- */

struct address {
    enum al_api api;
    const char *base, *path, *url;
};
static const struct address addresses[] = {
    {AL_API_CHAT, "https://api.openai.com/v1", "", "https://api.openai.com/v1/chat/completions"},
    {AL_API_CHAT, "https://api.openai.com", "", "https://api.openai.com/v1/chat/completions"},
    {AL_API_CHAT, "https://api.openai.com/", NULL, "https://api.openai.com/v1/chat/completions"},
    {AL_API_CHAT, "https://api.openai.com/v1/", "", "https://api.openai.com/v1/chat/completions"},
    {AL_API_CHAT, "https://api.openai.com/v1/chat/completions", "",
     "https://api.openai.com/v1/chat/completions"},
    {AL_API_CHAT, "https://api.openai.com/v1/chat/completions/", "models",
     "https://api.openai.com/v1/models"},
    {AL_API_CHAT, "http://127.0.0.1:11434", "", "http://127.0.0.1:11434/v1/chat/completions"},
    {AL_API_CHAT, "http://[::1]:8080/", "", "http://[::1]:8080/v1/chat/completions"},
    {AL_API_CHAT, "http://localhost:11434/v1", "/api/show", "http://localhost:11434/api/show"},
    {AL_API_CHAT, "http://localhost:8080", "/props", "http://localhost:8080/props"},
    {AL_API_CHAT, "https://api.deepseek.com", "", "https://api.deepseek.com/chat/completions"},
    {AL_API_CHAT, "https://api.deepseek.com/v1", "", "https://api.deepseek.com/v1/chat/completions"},
    {AL_API_CHAT, "https://openrouter.ai/api/v1", "models", "https://openrouter.ai/api/v1/models"},
    {AL_API_CHAT, "https://generativelanguage.googleapis.com/v1beta/openai/", "",
     "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions"},
    {AL_API_CHAT, "https://api.z.ai/api/coding/paas/v4", "",
     "https://api.z.ai/api/coding/paas/v4/chat/completions"},
    {AL_API_CHAT, "https://x.example/openai/v1?api-version=preview", "",
     "https://x.example/openai/v1/chat/completions?api-version=preview"},
    {AL_API_CHAT, " https://h.example/v1#frag ", "", "https://h.example/v1/chat/completions"},
    {AL_API_CHAT, "https://h.example//v1//", "", "https://h.example/v1/chat/completions"},
    {AL_API_CHAT, "https://openrouter.ai", "", "https://openrouter.ai/api/v1/chat/completions"},
    {AL_API_CHAT, "https://openrouter.ai/api/", "", "https://openrouter.ai/api/v1/chat/completions"},
    {AL_API_MESSAGES, "https://openrouter.ai/api", "", "https://openrouter.ai/api/v1/messages"},
    {AL_API_MESSAGES, "https://api.deepseek.com/anthropic/", "models",
     "https://api.deepseek.com/anthropic/v1/models"},
    {AL_API_CHAT, "https://h.example/proxy", "", "https://h.example/proxy/chat/completions"},
    {AL_API_RESPONSES, "https://api.openai.com/v1", "", "https://api.openai.com/v1/responses"},
    {AL_API_RESPONSES, "https://api.openai.com", "", "https://api.openai.com/v1/responses"},
    {AL_API_RESPONSES, "https://api.openai.com/v1/responses", "", "https://api.openai.com/v1/responses"},
    {AL_API_RESPONSES, "https://openrouter.ai/api/v1", "", "https://openrouter.ai/api/v1/responses"},
    {AL_API_MESSAGES, "https://api.anthropic.com", "", "https://api.anthropic.com/v1/messages"},
    {AL_API_MESSAGES, "https://api.anthropic.com/", "", "https://api.anthropic.com/v1/messages"},
    {AL_API_MESSAGES, "https://api.anthropic.com/v1", "", "https://api.anthropic.com/v1/messages"},
    {AL_API_MESSAGES, "https://api.anthropic.com/V1/", "", "https://api.anthropic.com/v1/messages"},
    {AL_API_MESSAGES, "https://api.anthropic.com/v1/messages", "models",
     "https://api.anthropic.com/v1/models"},
    {AL_API_MESSAGES, "https://api.deepseek.com/anthropic", "",
     "https://api.deepseek.com/anthropic/v1/messages"},
    {AL_API_MESSAGES, "https://openrouter.ai/api/v1", "", "https://openrouter.ai/api/v1/messages"},
    {AL_API_MESSAGES, "http://127.0.0.1:9/v1?beta=true", "messages/count_tokens",
     "http://127.0.0.1:9/v1/messages/count_tokens?beta=true"},
};

static void a_base_url_may_be_written_in_any_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        char base[128];
        snprintf(base, sizeof base, "%s", addresses[i].base);
        struct al_provider p = {.api = addresses[i].api, .base_url = base};
        char *url = al_llm_url(&p, addresses[i].path);
        assert_string_equal(url, addresses[i].url);
        free(url);
    }
}

/* --- headers --- */

static bool has(const char *const *headers, const char *want)
{
    for (size_t i = 0; headers[i]; i++)
        if (strcmp(headers[i], want) == 0)
            return true;
    return false;
}

static size_t count_starting(const char *const *headers, const char *with)
{
    size_t n = 0;
    for (size_t i = 0; headers[i]; i++)
        n += strncmp(headers[i], with, strlen(with)) == 0;
    return n;
}

struct heading {
    enum al_api api;
    enum al_auth auth;
    const char *key, *version;
    const char *want, *not ;
};
static const struct heading headings[] = {
    {AL_API_CHAT, AL_AUTH_DEFAULT, "sk-1", NULL, "Authorization: Bearer sk-1", "x-api-key"},
    {AL_API_CHAT, AL_AUTH_X_API_KEY, "sk-1", NULL, "x-api-key: sk-1", "Authorization"},
    {AL_API_CHAT, AL_AUTH_NONE, "sk-1", NULL, "Content-Type: application/json", "Authorization"},
    {AL_API_CHAT, AL_AUTH_DEFAULT, NULL, NULL, "Content-Type: application/json", "Authorization"},
    {AL_API_CHAT, AL_AUTH_DEFAULT, "a\r\nX: b", NULL, "Content-Type: application/json", "Authorization"},
    {AL_API_CHAT, AL_AUTH_DEFAULT, "sk-1", NULL, "Content-Type: application/json", "anthropic-version"},
    {AL_API_RESPONSES, AL_AUTH_DEFAULT, "sk-1", NULL, "Authorization: Bearer sk-1", "anthropic-version"},
    {AL_API_MESSAGES, AL_AUTH_DEFAULT, "sk-ant-api03-1", NULL, "x-api-key: sk-ant-api03-1", "Authorization"},
    {AL_API_MESSAGES, AL_AUTH_DEFAULT, "sk-ant-oat01-1", NULL, "Authorization: Bearer sk-ant-oat01-1",
     "x-api-key"},
    {AL_API_MESSAGES, AL_AUTH_BEARER, "k", NULL, "Authorization: Bearer k", "x-api-key"},
    {AL_API_MESSAGES, AL_AUTH_NONE, "k", NULL, "anthropic-version: 2023-06-01", "x-api-key"},
    {AL_API_MESSAGES, AL_AUTH_DEFAULT, "k", "2026-10-21", "anthropic-version: 2026-10-21", "Authorization"},
};

static void headers_carry_the_key_as_the_api_takes_it(void **state)
{
    (void)state;
    char *further[] = {(char *)"HTTP-Referer: https://a.example", NULL};
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        const struct heading *h = &headings[i];
        autoarena struct al_arena a = AL_ARENA_INIT(1 << 16);
        struct al_provider p = {
            .api = h->api, .auth = h->auth, .anthropic_version = (char *)h->version, .headers = further};
        struct al_llm_wire w = {.provider = &p, .model = "m", .key = h->key};
        const char *const *headers = al_llm_headers(&w, &a);
        assert_true(has(headers, h->want));
        assert_true(has(headers, "Content-Type: application/json"));
        assert_true(has(headers, further[0]));
        assert_int_equal(count_starting(headers, h->not ), 0);
        assert_int_equal(count_starting(headers, "anthropic-version"), h->api == AL_API_MESSAGES);
    }
}

/* --- how a conversation goes on --- */

#define TURNS 20
#define BASE "https://api.example.com/v1"

/* A text with a number in the place of its "#". */
static struct al_str made(struct lw *w, const char *text, size_t n)
{
    size_t at = strcspn(text, "#");
    if (!text[at])
        return al_str_of(text);
    return al_str_of(al_arena_printf(&w->arena, "%.*s%zu%s", (int)at, text, n, text + at + 1));
}

static struct al_llm_message *add(struct lw *w, enum al_llm_role role, size_t n_parts)
{
    struct al_llm_message *m = &w->messages[w->n++];
    *m = (struct al_llm_message){.role = role, .n_parts = n_parts};
    m->parts = al_arena_alloc(&w->arena, (n_parts + 1) * sizeof *m->parts);
    if (role == AL_LLM_ASSISTANT)
        m->from = (struct al_llm_from){AL_STR("here"), al_str_of(w->provider.base_url), AL_STR("m-1"),
                                       w->provider.api};
    return m;
}

static struct al_str sealed(struct lw *w, size_t turn)
{
    switch (w->provider.api) {
    case AL_API_CHAT:
        return made(w, "{\"reasoning_details\":[{\"data\":\"#\"}]}", turn);
    case AL_API_RESPONSES:
        return made(w,
                    "{\"id\":\"rs_#\",\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"gAAA\"}",
                    turn);
    case AL_API_MESSAGES:
        return made(w, "{\"type\":\"thinking\",\"thinking\":\"turn #\",\"signature\":\"c2ln\"}", turn);
    }
    return AL_STR("");
}

/* A turn with reasoning, two calls and their results, an answer, and now and then a text of the host. */
static void add_turn(struct lw *w, size_t turn)
{
    add(w, AL_LLM_USER, 1)->parts[0] = (struct al_llm_part){.text = made(w, "question #", turn)};
    struct al_llm_message *m = add(w, AL_LLM_ASSISTANT, 4);
    m->parts[0] = (struct al_llm_part){
        .kind = AL_LLM_REASONING, .text = made(w, "thought #", turn), .raw = sealed(w, turn)};
    m->parts[1] = (struct al_llm_part){.kind = AL_LLM_TEXT, .text = made(w, "text #", turn)};
    for (size_t i = 0; i < 2; i++)
        m->parts[2 + i] =
            (struct al_llm_part){.kind = AL_LLM_CALL,
                                 .id = made(w, "call_#", turn * 2 + i),
                                 .provider_id = made(w, "call_#", i), /* the same in each turn */
                                 .name = AL_STR("read_file"),
                                 .text = made(w, "{\"path\": \"#\"}", turn)};
    for (size_t i = 0; i < 2; i++) {
        struct al_llm_message *r = add(w, AL_LLM_RESULT, 1);
        r->call_id = m->parts[2 + i].id;
        r->is_error = turn % 5 == 4;
        r->parts[0] = (struct al_llm_part){.text = made(w, turn % 7 == 6 ? "" : "result #", turn)};
    }
    if (turn % 3 == 2)
        add(w, AL_LLM_USER, 1)->parts[0] = (struct al_llm_part){.text = made(w, "meanwhile #", turn)};
    add(w, AL_LLM_ASSISTANT, 1)->parts[0] = (struct al_llm_part){.text = made(w, "answer #", turn)};
}

static void begin_conversation(struct lw *w, enum al_api api, const char *base)
{
    static const struct al_llm_tool tools[] = {
        {AL_S("read_file"), AL_S("Reads."), AL_S("{\"type\":\"object\",\"properties\":{}}")}};
    *w = (struct lw){.arena = AL_ARENA_INIT(1 << 24)};
    w->provider = (struct al_provider){.name = al_xstrdup("here"),
                                       .base_url = al_xstrdup(base),
                                       .api = api,
                                       .temperature = -1,
                                       .reasoning_effort = al_xstrdup("high")};
    w->facts.wants_reasoning = true;
    w->request = (struct al_llm_request){.system = AL_STR("You work here."),
                                         .tools = tools,
                                         .n_tools = 1,
                                         .cache_key = AL_STR("ses_1"),
                                         .max_output_tokens = 1000};
    w->wire = (struct al_llm_wire){
        .provider = &w->provider, .model = "m-1", .facts = &w->facts, .request = &w->request};
    w->messages = al_arena_alloc(&w->arena, (TURNS * 8 + 8) * sizeof *w->messages);
}

static void check_continuity(enum al_api api, const char *base)
{
    struct lw w;
    struct al_err err;
    autobuf struct al_buf last = AL_BUF_INIT(1 << 20);
    begin_conversation(&w, api, base);
    for (size_t turn = 0; turn < TURNS; turn++) {
        size_t from = w.n;
        add_turn(&w, turn);
        /* Requests go out after a question and after all results, and no answer is the last. */
        for (size_t n = from + 1; n <= w.n; n++) {
            bool asks = w.messages[n - 1].role != AL_LLM_ASSISTANT &&
                        (n == w.n || w.messages[n].role == AL_LLM_ASSISTANT);
            struct al_buf body = AL_BUF_INIT(1 << 20);
            if (!asks)
                continue;
            assert_int_equal(lw_body(&w, n, &body, &err), 0);
            assert_true(lw_continues(al_buf_str(&body), al_buf_str(&last)));
            assert_true(body.n > last.n);
            al_buf_free(&last);
            last = body;
        }
    }
    lw_fini(&w);
}

static void twenty_turns_begin_with_the_bytes_of_those_before(void **state)
{
    (void)state;
    for (int api = 0; api < AL_N_APIS; api++) {
        check_continuity((enum al_api)api, BASE);
        check_continuity((enum al_api)api, "https://api.openai.com/v1");
        check_continuity((enum al_api)api, "https://api.deepseek.com");
        check_continuity((enum al_api)api, "https://openrouter.ai/api/v1");
    }
}

static void a_summary_begins_with_the_bytes_of_the_request_before(void **state)
{
    (void)state;
    for (int api = 0; api < AL_N_APIS; api++) {
        struct lw w;
        struct al_err err;
        autobuf struct al_buf before = AL_BUF_INIT(1 << 20), summary = AL_BUF_INIT(1 << 20);
        begin_conversation(&w, (enum al_api)api, BASE);
        add_turn(&w, 0);
        assert_int_equal(lw_body(&w, w.n - 1, &before, &err), 0);
        w.n--;
        add(&w, AL_LLM_USER, 1)->parts[0] = (struct al_llm_part){.text = AL_STR("Summarise.")};
        w.request.no_calls = true;
        assert_int_equal(lw_body(&w, w.n, &summary, &err), 0);
        assert_true(lw_continues(al_buf_str(&summary), al_buf_str(&before)));
        assert_true(al_str_find(al_buf_str(&summary), AL_STR("\"tool_choice\":")) > 0);
        lw_fini(&w);
    }
}

/* --- sizes --- */

static int body_of_size(enum al_api api, size_t text, bool in_result, size_t *ret_size, struct al_err *err)
{
    struct lw w;
    autobuf struct al_buf body = AL_BUF_INIT(256u << 20);
    begin_conversation(&w, api, BASE);
    al_arena_free(&w.arena);
    al_arena_init(&w.arena, 256u << 20);
    w.messages = al_arena_alloc(&w.arena, 100 * sizeof *w.messages);
    char *p = al_arena_alloc(&w.arena, text + 1);
    memset(p, 'x', text);
    add_turn(&w, 0);
    w.n--;
    w.messages[in_result ? 2 : 0].parts[0].text = (struct al_str){p, text};
    int r = lw_body(&w, w.n, &body, err);
    *ret_size = body.n;
    lw_fini(&w);
    return r;
}

static void a_body_over_the_limit_is_told_before_it_is_sent(void **state)
{
    (void)state;
    struct al_err err;
    size_t n;
    assert_int_equal(body_of_size(AL_API_MESSAGES, 31990000, false, &n, &err), 0);
    assert_in_range(n, 31990000, 32000000);
    assert_int_equal(body_of_size(AL_API_MESSAGES, 32000000, false, &n, &err), -1);
    assert_int_equal(err.code, AL_CONTEXT_LIMIT);
    assert_non_null(strstr(err.msg, "MB"));
    assert_int_equal(body_of_size(AL_API_MESSAGES, 33000000, true, &n, &err), -1);
    assert_int_equal(err.code, AL_RESULT_TOO_LARGE);
    assert_non_null(strstr(err.msg, "read_file"));
    assert_int_equal(body_of_size(AL_API_CHAT, 33000000, true, &n, &err), -1);
    assert_int_equal(err.code, AL_RESULT_TOO_LARGE);
}

static void the_output_limit_is_the_least_that_is_known(void **state)
{
    (void)state;
    struct al_model_entry entry = {.id = (char *)"m-1", .max_output_tokens = 777};
    struct al_provider p = {.base_url = (char *)BASE};
    struct al_llm_facts facts = {0};
    assert_int_equal(al_llm_max_output(&p, "m-1", NULL), 16384);
    facts.window = 8192;
    assert_int_equal(al_llm_max_output(&p, "m-1", &facts), 2048);
    facts.max_output = 1000;
    assert_int_equal(al_llm_max_output(&p, "m-1", &facts), 1000);
    p.context_window = 2000;
    assert_int_equal(al_llm_max_output(&p, "m-1", &facts), 500);
    p.max_output_tokens = 50000;
    assert_int_equal(al_llm_max_output(&p, "m-1", &facts), 50000);
    p.models = &entry;
    p.n_models = 1;
    assert_int_equal(al_llm_max_output(&p, "m-1", &facts), 777);
    assert_int_equal(al_llm_max_output(&p, "m-2", &facts), 50000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_conversations_give_recorded_requests),
        cmocka_unit_test(a_base_url_may_be_written_in_any_form),
        cmocka_unit_test(headers_carry_the_key_as_the_api_takes_it),
        cmocka_unit_test(twenty_turns_begin_with_the_bytes_of_those_before),
        cmocka_unit_test(a_summary_begins_with_the_bytes_of_the_request_before),
        cmocka_unit_test(a_body_over_the_limit_is_told_before_it_is_sent),
        cmocka_unit_test(the_output_limit_is_the_least_that_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
