#include "test.h"

#include "llm/llm.h"

static int64_t known(const char *base_url, const char *model)
{
    struct al_provider p = {.base_url = (char *)base_url};
    return al_llm_known_window(&p, model);
}

static void silent_endpoints_have_windows_by_family(void **state)
{
    (void)state;
    assert_int_equal(known("https://api.openai.com/v1", "gpt-4o-mini"), 128000);
    assert_int_equal(known("https://api.openai.com/v1", "gpt-4.1-nano"), 1000000);
    assert_int_equal(known("https://api.openai.com/v1", "gpt-4"), 8192);
    assert_int_equal(known("https://api.openai.com/v1", "gpt-5.2-codex"), 272000);
    assert_int_equal(known("https://api.openai.com/v1", "gpt-5-chat-latest"), 128000);
    assert_int_equal(known("https://api.openai.com/v1", "o3"), 200000);
    assert_int_equal(known("https://api.openai.com", "one-of-tomorrow"), 128000);
    assert_int_equal(known("https://api.deepseek.com", "deepseek-chat"), 128000);
}

static void other_endpoints_are_asked(void **state)
{
    (void)state;
    assert_int_equal(known("https://api.openai.com.example.org/v1", "gpt-5"), 0);
    assert_int_equal(known("http://127.0.0.1:11434/v1", "gpt-oss:20b"), 0);
    assert_int_equal(known("https://openrouter.ai/api/v1", "openai/gpt-5"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silent_endpoints_have_windows_by_family),
        cmocka_unit_test(other_endpoints_are_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
