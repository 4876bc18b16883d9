/* Which models an endpoint has, and where each server of this world writes how large their windows are. */
#include "llm_rig.h"

#include "base/mem.h"

#include <stdio.h>

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

struct got {
    unsigned n_done;
    struct al_err err;
    size_t n;
    char id[8][64], name[8][64], from[8][64];
    int64_t window[8], max_output[8];
};

static void on_done(void *ud, const struct al_llm_models *models, const struct al_err *err)
{
    struct got *g = ud;
    g->n_done++;
    assert_true(!models != !err);
    if (err) {
        g->err = *err;
        return;
    }
    g->n = models->n;
    for (size_t i = 0; i < models->n && i < 8; i++) {
        const struct al_llm_model *m = &models->v[i];
        snprintf(g->id[i], 64, "%.*s", AL_FMT(m->id));
        snprintf(g->name[i], 64, "%.*s", AL_FMT(m->name));
        snprintf(g->from[i], 64, "%.*s", AL_FMT(m->window_from));
        g->window[i] = m->window;
        g->max_output[i] = m->max_output;
    }
}

/* What the server answers to a URL; NULL: 404. */
struct page {
    const char *url, *body;
};

static void serve(struct rig *r, const struct page *pages, size_t n)
{
    while (rig_is_open(r)) {
        const char *body = NULL;
        for (size_t i = 0; i < n; i++)
            if (strcmp(rig_now(r)->url, pages[i].url) == 0)
                body = pages[i].body;
        rig_refuse(r, body ? 200 : 404, NULL, body ? body : "{\"error\":\"no such page\"}");
    }
}

static struct got list(enum al_api api, const char *name, const char *base, const char *only,
                       const struct page *pages, size_t n, unsigned *ret_requests)
{
    struct rig r;
    struct got g = {0};
    rig_open(&r, api, base, "sk-canary-0123456789");
    free(r.provider.name);
    r.provider.name = al_xstrdup(name);
    rig_facts(&r, NULL);
    al_llm_list(r.l, only, on_done, &g);
    assert_int_equal(g.n_done, 0);
    rig_advance(&r, 0);
    serve(&r, pages, n);
    assert_int_equal(g.n_done, 1);
    if (ret_requests)
        *ret_requests = (unsigned)r.n_http;
    rig_close(&r);
    return g;
}

static int64_t window_of(const struct got *g, const char *id)
{
    for (size_t i = 0; i < g->n; i++)
        if (strcmp(g->id[i], id) == 0)
            return g->window[i];
    return -1;
}

static void anthropic_says_max_input_tokens_on_each_page(void **state)
{
    (void)state;
    static const struct page pages[] = {
        {"https://api.maker.example/v1/models?limit=1000",
         "{\"data\":[{\"type\":\"model\",\"id\":\"claude-a\",\"display_name\":\"Claude "
         "A\",\"max_input_tokens\":200000,"
         "\"max_tokens\":64000}],\"has_more\":true,\"first_id\":\"claude-a\",\"last_id\":\"claude-a\"}"},
        {"https://api.maker.example/v1/models?limit=1000&after_id=claude-a",
         "{\"data\":[{\"id\":\"claude-b\",\"display_name\":\"Claude "
         "B\",\"max_input_tokens\":1000000,\"max_tokens\":128000}],"
         "\"has_more\":false,\"last_id\":\"claude-b\"}"},
        {"https://api.maker.example/v1/models/claude-a-latest",
         "{\"type\":\"model\",\"id\":\"claude-a\",\"display_name\":\"Claude "
         "A\",\"max_input_tokens\":200000,\"max_tokens\":"
         "64000}"},
    };
    unsigned n;
    struct got g =
        list(AL_API_MESSAGES, "anthropic", "https://api.maker.example", NULL, pages, COUNT(pages), &n);
    assert_int_equal(g.n, 2);
    assert_int_equal(n, 2);
    assert_string_equal(g.id[0], "claude-a");
    assert_string_equal(g.name[0], "Claude A");
    assert_string_equal(g.from[0], "max_input_tokens");
    assert_int_equal(g.window[0], 200000);
    assert_int_equal(g.max_output[0], 64000);
    assert_int_equal(window_of(&g, "claude-b"), 1000000);
    /* A name that the list does not have may be another one's. */
    g = list(AL_API_MESSAGES, "anthropic", "https://api.maker.example", "claude-a-latest", pages,
             COUNT(pages), &n);
    assert_int_equal(window_of(&g, "claude-a-latest"), 200000);
    assert_int_equal(n, 3);
    g = list(AL_API_MESSAGES, "anthropic", "https://api.maker.example", "claude-b", pages, COUNT(pages), &n);
    assert_int_equal(n, 2);
}

static void openrouter_says_context_length_and_the_smaller_one_wins(void **state)
{
    (void)state;
    static const struct page pages[] = {
        {"https://openrouter.ai/api/v1/models", "{\"data\":[{\"id\":\"acme/big\",\"name\":\"Acme: "
                                                "Big\",\"context_length\":1000000,\"top_provider\":{"
                                                "\"context_length\":131072,\"max_completion_tokens\":32768}},"
                                                "{\"id\":\"acme/small\",\"name\":\"Small\","
                                                "\"context_length\":8192,\"top_provider\":{\"context_"
                                                "length\":null,\"max_completion_tokens\":null}}]}"},
    };
    unsigned n;
    struct got g =
        list(AL_API_CHAT, "openrouter", "https://openrouter.ai/api/v1", "acme/big", pages, COUNT(pages), &n);
    assert_int_equal(n, 1);
    assert_int_equal(window_of(&g, "acme/big"), 131072);
    assert_string_equal(g.from[0], "top_provider.context_length");
    assert_int_equal(g.max_output[0], 32768);
    assert_int_equal(window_of(&g, "acme/small"), 8192);
}

static void vllm_says_max_model_len(void **state)
{
    (void)state;
    static const struct page pages[] = {
        {"http://127.0.0.1:8000/v1/models", "{\"object\":\"list\",\"data\":[{\"id\":\"qwen\",\"object\":"
                                            "\"model\",\"owned_by\":\"vllm\",\"root\":\"qwen\","
                                            "\"max_model_len\":40960}]}"},
    };
    unsigned n;
    struct got g = list(AL_API_CHAT, "vllm", "http://127.0.0.1:8000/v1", "qwen", pages, COUNT(pages), &n);
    assert_int_equal(window_of(&g, "qwen"), 40960);
    assert_string_equal(g.from[0], "max_model_len");
    assert_int_equal(n, 1);
}

static void llama_cpp_serves_less_than_it_was_trained_for(void **state)
{
    (void)state;
    static const char models[] =
        "{\"models\":[{\"name\":\"m.gguf\"}],\"object\":\"list\",\"data\":[{\"id\":\"m.gguf\","
        "\"owned_by\":\"llamacpp\",\"meta\":{\"n_vocab\":1000,\"n_ctx_train\":131072}}]}";
    static const struct page pages[] = {
        {"http://127.0.0.1:8080/v1/models", models},
        {"http://127.0.0.1:8080/props", "{\"default_generation_settings\":{\"n_ctx\":4096,\"params\":{}},"
                                        "\"total_slots\":1,\"model_path\":\"m.gguf\"}"},
    };
    static const struct page alone[] = {{"http://127.0.0.1:8080/v1/models", models}};
    static const struct page newer[] = {{"http://127.0.0.1:8080/v1/models",
                                         "{\"data\":[{\"id\":\"m.gguf\",\"owned_by\":\"llamacpp\","
                                         "\"meta\":{\"n_ctx_train\":131072,\"n_ctx\":16384}}]}"}};
    struct got g = list(AL_API_CHAT, "here", "http://127.0.0.1:8080/v1", "m.gguf", pages, COUNT(pages), NULL);
    assert_int_equal(window_of(&g, "m.gguf"), 4096);
    assert_string_equal(g.from[0], "n_ctx");
    g = list(AL_API_CHAT, "llamacpp", "http://127.0.0.1:8080/v1", "m.gguf", alone, COUNT(alone), NULL);
    assert_int_equal(window_of(&g, "m.gguf"), 131072);
    g = list(AL_API_CHAT, "llamacpp", "http://127.0.0.1:8080/v1", "m.gguf", newer, COUNT(newer), NULL);
    assert_int_equal(window_of(&g, "m.gguf"), 16384);
    /* The list alone asks no further. */
    unsigned n;
    list(AL_API_CHAT, "llamacpp", "http://127.0.0.1:8080/v1", NULL, pages, COUNT(pages), &n);
    assert_int_equal(n, 1);
}

static void lm_studio_tells_the_loaded_window_beside_its_list(void **state)
{
    (void)state;
    static const struct page pages[] = {
        {"http://127.0.0.1:1234/v1/models", "{\"data\":[{\"id\":\"gemma\",\"object\":\"model\",\"owned_by\":"
                                            "\"organization_owner\"},{\"id\":\"other\",\"owned_by\":"
                                            "\"organization_owner\"}],\"object\":\"list\"}"},
        {"http://127.0.0.1:1234/api/v0/models",
         "{\"object\":\"list\",\"data\":[{\"id\":\"gemma\",\"state\":\"loaded\",\"max_context_length\":"
         "131072,"
         "\"loaded_context_length\":8192},{\"id\":\"other\",\"state\":\"not-loaded\",\"max_context_length\":"
         "131072},"
         "{\"id\":\"tiny\",\"state\":\"not-loaded\",\"max_context_length\":2048}]}"},
    };
    unsigned n;
    struct got g =
        list(AL_API_CHAT, "lmstudio", "http://127.0.0.1:1234/v1", "gemma", pages, COUNT(pages), &n);
    assert_int_equal(window_of(&g, "gemma"), 8192);
    assert_string_equal(g.from[0], "loaded_context_length");
    assert_int_equal(n, 2);
    g = list(AL_API_CHAT, "lmstudio", "http://127.0.0.1:1234/v1", "other", pages, COUNT(pages), NULL);
    assert_int_equal(window_of(&g, "other"), 0); /* unknown until it is loaded */
    g = list(AL_API_CHAT, "lmstudio", "http://127.0.0.1:1234/v1", "tiny", pages, COUNT(pages), NULL);
    assert_int_equal(window_of(&g, "tiny"), 2048); /* but never more than it could have */
}

#define OLLAMA_LIST                                                                \
    {                                                                              \
        "http://127.0.0.1:11434/v1/models",                                        \
            "{\"object\":\"list\",\"data\":[{\"id\":\"llama3:latest\",\"object\":" \
            "\"model\",\"owned_by\":\"library\"}]}"                                \
    }

static void ollama_serves_what_it_has_loaded_it_with(void **state)
{
    (void)state;
    static const struct page loaded[] = {
        OLLAMA_LIST,
        {"http://127.0.0.1:11434/api/ps",
         "{\"models\":[{\"name\":\"llama3:latest\",\"model\":\"llama3:latest\",\"context_length\":4096}]}"},
    };
    static const struct page set[] = {
        OLLAMA_LIST,
        {"http://127.0.0.1:11434/api/ps", "{\"models\":[]}"},
        {"http://127.0.0.1:11434/api/show",
         "{\"parameters\":\"stop    \\\"<|x|>\\\"\\nnum_ctx                        16384\","
         "\"model_info\":{\"llama.context_length\":131072}}"},
    };
    static const struct page unset[] = {
        OLLAMA_LIST,
        {"http://127.0.0.1:11434/api/ps", "{\"models\":[]}"},
        {"http://127.0.0.1:11434/api/show", "{\"model_info\":{\"llama.context_length\":131072}}"},
    };
    static const struct page small[] = {
        OLLAMA_LIST,
        {"http://127.0.0.1:11434/api/ps", "{\"models\":[]}"},
        {"http://127.0.0.1:11434/api/show",
         "{\"model_info\":{\"general.name\":\"x\",\"llama.context_length\":2048}}"},
    };
    struct got g =
        list(AL_API_CHAT, "ollama", "http://127.0.0.1:11434/v1", "llama3", loaded, COUNT(loaded), NULL);
    assert_int_equal(g.n, 1);
    assert_int_equal(g.window[0], 4096);
    assert_string_equal(g.from[0], "context_length");
    g = list(AL_API_CHAT, "here", "http://127.0.0.1:11434/v1", "llama3:latest", set, COUNT(set), NULL);
    assert_int_equal(g.window[0], 16384);
    assert_string_equal(g.from[0], "num_ctx");
    g = list(AL_API_CHAT, "ollama", "http://127.0.0.1:11434/v1", "llama3", unset, COUNT(unset), NULL);
    assert_int_equal(g.window[0], 0); /* what a model can is not what is served */
    g = list(AL_API_CHAT, "ollama", "http://127.0.0.1:11434/v1", "llama3", small, COUNT(small), NULL);
    assert_int_equal(g.window[0], 2048);
}

static void a_far_server_of_an_unknown_make_is_asked_for_its_list_alone(void **state)
{
    (void)state;
    static const struct page pages[] = {
        {"https://api.openai.com/v1/models",
         "{\"object\":\"list\",\"data\":[{\"id\":\"gpt-5\",\"object\":\"model\",\"created\":1,"
         "\"owned_by\":\"system\"}]}"}};
    unsigned n;
    struct got g =
        list(AL_API_RESPONSES, "openai", "https://api.openai.com/v1", "gpt-5", pages, COUNT(pages), &n);
    assert_int_equal(n, 1);
    assert_int_equal(window_of(&g, "gpt-5"), 0);
    /* A neighbour of an unknown make is asked for whatever it may know. */
    static const struct page near[] = {
        {"http://10.0.0.5/v1/models", "{\"data\":[{\"id\":\"m\"}]}"},
        {"http://10.0.0.5/props", "{\"default_generation_settings\":{\"n_ctx\":2048}}"}};
    g = list(AL_API_CHAT, "x", "http://10.0.0.5/v1", "m", near, COUNT(near), NULL);
    assert_int_equal(window_of(&g, "m"), 2048);
}

static void what_is_no_list_is_an_error_and_oddities_are_left_out(void **state)
{
    (void)state;
    static const char *const bad[] = {"<html>login</html>", "{\"a\":", "{\"hello\":1}",
                                      "{\"data\":{}}",      "5",       ""};
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct page pages[] = {{"https://api.maker.example/v1/models", bad[i]}};
        struct got g = list(AL_API_CHAT, "maker", "https://api.maker.example/v1", NULL, pages, 1, NULL);
        assert_int_equal(g.err.code, AL_UPSTREAM_UNAVAILABLE);
        assert_non_null(strstr(g.err.msg, "maker (api.maker.example)"));
    }
    struct page none[] = {{"https://api.maker.example/v1/models", NULL}};
    struct got g = list(AL_API_CHAT, "maker", "https://api.maker.example/v1", NULL, none, 1, NULL);
    assert_int_equal(g.err.code, AL_UPSTREAM_REJECTED);
    struct page odd[] = {{"https://api.maker.example/v1/models",
                          "{\"data\":[null,5,\"x\",{},{\"id\":7},{\"id\":\"\"},{\"id\":\"ok\",\"context_"
                          "length\":\"8192\",\"max_model_len\":-1,"
                          "\"meta\":5,\"top_provider\":[]},{\"id\":\"fine\",\"context_length\":1e4},"
                          "{\"id\":\"tiny\",\"context_length\":5,\"max_output_tokens\":1}]}"}};
    g = list(AL_API_CHAT, "maker", "https://api.maker.example/v1", NULL, odd, 1, NULL);
    assert_int_equal(g.n, 3);
    assert_int_equal(window_of(&g, "tiny"), 0);
    assert_int_equal(window_of(&g, "ok"), 0);
    assert_int_equal(window_of(&g, "fine"), 10000);
    struct page list_of_null[] = {
        {"https://api.maker.example/v1/models", "{\"object\":\"list\",\"data\":null}"}};
    g = list(AL_API_CHAT, "maker", "https://api.maker.example/v1", NULL, list_of_null, 1, NULL);
    assert_int_equal(g.err.code, AL_OK);
    assert_int_equal(g.n, 0);
}

static void pages_that_never_end_are_left(void **state)
{
    (void)state;
    static const char page[] = "{\"data\":[{\"id\":\"a\"}],\"has_more\":true,\"last_id\":\"a\"}";
    static const struct page pages[] = {{"https://api.maker.example/v1/models?limit=1000", page},
                                        {"https://api.maker.example/v1/models?limit=1000&after_id=a", page}};
    unsigned n;
    struct got g = list(AL_API_MESSAGES, "maker", "https://api.maker.example", NULL, pages, COUNT(pages), &n);
    assert_int_equal(g.err.code, AL_OK);
    assert_in_range(n, 2, 30);
}

static void a_list_has_its_time_and_what_is_beside_it_may_be_silent(void **state)
{
    (void)state;
    struct rig r;
    struct got g = {0};
    rig_open(&r, AL_API_CHAT, "http://127.0.0.1:8080/v1", NULL);
    al_llm_list(r.l, "m", on_done, &g);
    rig_advance(&r, 29999);
    assert_int_equal(g.n_done, 0);
    rig_advance(&r, 1);
    assert_int_equal(g.n_done, 1);
    assert_int_equal(g.err.code, AL_TIMEOUT);
    assert_false(rig_is_open(&r));

    g = (struct got){0};
    al_llm_list(r.l, "m", on_done, &g);
    rig_advance(&r, 0);
    rig_refuse(&r, 200, NULL, "{\"data\":[{\"id\":\"m\"}]}");
    rig_advance(&r, 15000); /* three questions that nobody answers */
    assert_int_equal(g.n_done, 1);
    assert_int_equal(g.err.code, AL_OK);
    assert_int_equal(g.window[0], 0);
    rig_close(&r);
}

static void an_answer_is_not_asked_to_be_longer_than_the_list_says(void **state)
{
    (void)state;
    struct rig r;
    struct got g = {0};
    rig_open(&r, AL_API_MESSAGES, "https://api.maker.example", NULL);
    al_llm_list(r.l, "model-1", on_done, &g);
    rig_advance(&r, 0);
    rig_refuse(&r, 200, NULL,
               "{\"data\":[{\"id\":\"model-1\",\"max_input_tokens\":200000,\"max_tokens\":8000}]}");
    assert_int_equal(g.max_output[0], 8000);
    rig_ask(&r);
    assert_non_null(strstr(rig_now(&r)->body, "\"max_tokens\":8000"));
    rig_answer(&r, "Yes");
    rig_close(&r);
}

static void a_cancelled_list_tells_nothing(void **state)
{
    (void)state;
    for (int at = 0; at < 3; at++) {
        struct rig r;
        struct got g = {0};
        rig_open(&r, AL_API_CHAT, "http://127.0.0.1:8080/v1", NULL);
        struct al_llm_listing *x = al_llm_list(r.l, "m", on_done, &g);
        if (at)
            rig_advance(&r, 0);
        if (at == 2)
            rig_refuse(&r, 200, NULL, "{\"data\":[{\"id\":\"m\"}]}");
        al_llm_list_cancel(x);
        rig_advance(&r, 100000);
        assert_int_equal(g.n_done, 0);
        rig_close(&r);
    }
}

static void the_key_goes_with_each_question_and_nowhere_in_the_clear(void **state)
{
    (void)state;
    struct rig r;
    struct got g = {0};
    rig_open(&r, AL_API_CHAT, "http://127.0.0.1:8080/v1", "sk-canary-0123456789");
    al_llm_list(r.l, "m", on_done, &g);
    rig_advance(&r, 0);
    bool with = false;
    for (char **p = rig_now(&r)->headers; *p; p++)
        with = with || strcmp(*p, "Authorization: Bearer sk-canary-0123456789") == 0;
    assert_true(with);
    rig_refuse(&r, 401, NULL, "{\"error\":{\"message\":\"bad sk-canary-0123456789\"}}");
    assert_int_equal(g.err.code, AL_AUTH_REQUIRED);
    assert_null(strstr(g.err.msg, "canary"));
    rig_close(&r);

    rig_open(&r, AL_API_CHAT, "http://8.8.8.8/v1", "sk-canary-0123456789");
    g = (struct got){0};
    al_llm_list(r.l, NULL, on_done, &g);
    rig_advance(&r, 0);
    assert_int_equal(g.err.code, AL_PERMISSION_DENIED);
    assert_int_equal(r.n_http, 0);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anthropic_says_max_input_tokens_on_each_page),
        cmocka_unit_test(openrouter_says_context_length_and_the_smaller_one_wins),
        cmocka_unit_test(vllm_says_max_model_len),
        cmocka_unit_test(llama_cpp_serves_less_than_it_was_trained_for),
        cmocka_unit_test(lm_studio_tells_the_loaded_window_beside_its_list),
        cmocka_unit_test(ollama_serves_what_it_has_loaded_it_with),
        cmocka_unit_test(a_far_server_of_an_unknown_make_is_asked_for_its_list_alone),
        cmocka_unit_test(what_is_no_list_is_an_error_and_oddities_are_left_out),
        cmocka_unit_test(pages_that_never_end_are_left),
        cmocka_unit_test(a_list_has_its_time_and_what_is_beside_it_may_be_silent),
        cmocka_unit_test(an_answer_is_not_asked_to_be_longer_than_the_list_says),
        cmocka_unit_test(a_cancelled_list_tells_nothing),
        cmocka_unit_test(the_key_goes_with_each_question_and_nowhere_in_the_clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
