#include "test.h"

#include "config/config.h"
#include "config/providers.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct al_providers read_ok(const char *text)
{
    struct al_providers p = {0};
    struct al_err err = {0};
    if (al_providers_read(al_str_of(text), "the file", &p, &err) < 0)
        fail_msg("%s", err.msg);
    return p;
}

static void every_part_of_an_entry_is_read(void **state)
{
    (void)state;
    struct al_providers p =
        read_ok("{\"providers\":{\"local\":{\"api\":\"messages\",\"baseUrl\":\"https://h.example/v1/\","
                "\"model\":\"m\",\"keyEnv\":\"K_1\",\"auth\":\"bearer\",\"insecure\":true,"
                "\"anthropicVersion\":\"2023-06-01\",\"headers\":{\"X-Title\":\"a b\"},\"firstByteMs\":1000,"
                "\"idleMs\":86400000,\"contextWindow\":131072,\"maxOutputTokens\":4096,"
                "\"reasoningEffort\":\"high\",\"temperature\":0.25,\"models\":{\"m\":{\"contextWindow\":8192,"
                "\"maxOutputTokens\":10,\"price\":{\"input\":3,\"cachedInput\":0.3,\"cacheWrite\":3.75,"
                "\"output\":0.000001}},\"n\":null}}}}");
    assert_int_equal(p.n, 1);
    const struct al_provider *v = al_providers_find(&p, AL_STR("local"));
    assert_non_null(v);
    assert_int_equal(v->api, AL_API_MESSAGES);
    assert_string_equal(v->base_url, "https://h.example/v1");
    assert_string_equal(v->model, "m");
    assert_string_equal(v->key_env, "K_1");
    assert_int_equal(v->auth, AL_AUTH_BEARER);
    assert_true(v->insecure);
    assert_string_equal(v->anthropic_version, "2023-06-01");
    assert_string_equal(v->headers[0], "X-Title: a b");
    assert_null(v->headers[1]);
    assert_int_equal(v->first_byte_ms, 1000);
    assert_int_equal(v->idle_ms, 86400000);
    assert_int_equal(v->context_window, 131072);
    assert_int_equal(v->max_output_tokens, 4096);
    assert_string_equal(v->reasoning_effort, "high");
    assert_int_equal(v->temperature, 25);
    assert_int_equal(v->n_models, 2);
    assert_int_equal(al_provider_model(v, "m")->context_window, 8192);
    struct al_price price = al_provider_price(v, "m");
    assert_int_equal(price.input, 3000000);
    assert_int_equal(price.cached_input, 300000);
    assert_int_equal(price.cache_write, 3750000);
    assert_int_equal(price.output, 1);
    assert_int_equal(al_provider_price(v, "n").input, -1);
    assert_int_equal(al_provider_price(v, "other").output, -1);
    assert_null(al_provider_model(v, NULL));
    al_providers_free(&p);
}

static void an_entry_of_a_known_name_says_what_differs(void **state)
{
    (void)state;
    struct al_providers p =
        read_ok("{\"providers\":{\"anthropic\":{\"model\":\"m\"},\"ollama\":{},"
                "\"vllm\":{\"keyEnv\":\"VLLM_KEY\"},\"lmstudio\":{\"keyEnv\":\"K\",\"auth\":\"none\"}}}");
    const struct al_provider *a = al_providers_find(&p, AL_STR("anthropic"));
    assert_int_equal(a->api, AL_API_MESSAGES);
    assert_string_equal(a->base_url, "https://api.anthropic.com");
    assert_string_equal(a->key_env, "ANTHROPIC_API_KEY");
    assert_string_equal(a->origin, "the file");
    assert_false(a->preset);
    assert_int_equal(a->temperature, -1);
    assert_int_equal(al_providers_find(&p, AL_STR("ollama"))->auth, AL_AUTH_NONE);
    assert_int_equal(al_providers_find(&p, AL_STR("vllm"))->auth, AL_AUTH_DEFAULT);
    assert_int_equal(al_providers_find(&p, AL_STR("lmstudio"))->auth, AL_AUTH_NONE);
    al_providers_free(&p);
}

static void what_is_known_beforehand_is_whole(void **state)
{
    (void)state;
    static const char *const names[] = {"openai", "anthropic", "openrouter", "deepseek",
                                        "ollama", "llamacpp",  "vllm",       "lmstudio"};
    assert_int_equal(al_provider_n_presets(), sizeof names / sizeof *names);
    for (size_t i = 0; i < al_provider_n_presets(); i++) {
        struct al_provider p;
        assert_string_equal(al_provider_preset_at(i), names[i]);
        assert_true(al_provider_preset(al_str_of(names[i]), &p));
        assert_true(p.preset);
        assert_null(al_provider_url_fault(al_str_of(p.base_url)));
        bool local = strstr(p.base_url, "127.0.0.1") != NULL;
        assert_true(local == (p.auth == AL_AUTH_NONE));
        assert_true(local == (p.key_env == NULL));
        al_provider_fini(&p);
    }
    struct al_provider none;
    assert_false(al_provider_preset(AL_STR("openai2"), &none));
}

static void what_is_wrong_is_told_with_its_line_and_the_nearest_key(void **state)
{
    (void)state;
    static const char head[] = "{\n  \"providers\": {\n    \"x\": {\"baseUrl\": \"http://h/v1\",\n      ";
    static const struct {
        const char *text, *words;
        bool whole; /* text is all of it, not an entry's last key */
    } faults[] = {
        {"\"mdoel\": \"m\"", "line 4: there is no key providers.x.mdoel; the nearest is providers.x.model",
         false},
        {"\"apiKey\": \"sk-secret\"",
         "line 4: there is no key providers.x.apiKey, since a key does not belong here", false},
        {"\"api\": \"soap\"", "line 4: providers.x.api must be \"chat\", \"responses\" or \"messages\"",
         false},
        {"\"keyEnv\": \"sk-secret\"",
         "line 4: providers.x.keyEnv must be the name of an environment variable", false},
        {"\"keyEnv\": \"\"", "keyEnv must be the name", false},
        {"\"headers\": {\"Authorization\": \"Bearer sk-secret\"}", "headers may not hold the key", false},
        {"\"headers\": {\"X-API-Key\": \"sk-secret\"}", "headers may not hold the key", false},
        {"\"headers\": {\"Content-Length\": \"1\"}", "headers names a header that alisio sets by itself",
         false},
        {"\"headers\": {\"a b\": \"1\"}", "headers has a name that is no header's", false},
        {"\"headers\": {\"a\": \"1\\r\\nb: 2\"}", "headers has a value with a control character", false},
        {"\"temperature\": 0.255", "temperature must be a number from 0 to 2", false},
        {"\"temperature\": -0.1", "temperature must be a number", false},
        {"\"firstByteMs\": 999", "firstByteMs must be a whole number from 1000", false},
        {"\"contextWindow\": 0", "contextWindow must be a whole number from 1024", false},
        {"\"insecure\": 1", "insecure must be true or false", false},
        {"\"auth\": \"basic\"", "auth must be \"bearer\", \"x-api-key\" or \"none\"", false},
        {"\"model\": \"\"", "model must be a text", false},
        {"\"model\": \"a\\nb\"", "model holds a control character", false},
        {"\"reasoningEffort\": \"very high\"", "reasoningEffort must be a word", false},
        {"\"models\": {\"m\": {\"window\": 1}}", "there is no key providers.x.models.m.window", false},
        {"\"models\": {\"m\": {\"price\": {\"inptu\": 1}}}",
         "the nearest is providers.x.models.m.price.input", false},
        {"\"models\": {\"m\": {\"price\": {\"input\": -1}}}", "input must be dollars for a million tokens",
         false},
        {"\"models\": {\"m\": {}, \"m\": {}}", "providers.x.models.m is there twice", false},
        {"\"models\": {\"\": {}}", "is no id that a model can have", false},
        {"\"idleMs\": 1000, \"idleMs\": 1000", "idleMs is there twice", false},
        {"{\"providers\": []}", "line 1: providers must be an object", true},
        {"{\"providers\": {\"a b\": {}}}", "providers: a provider's name must have letters", true},
        {"{\"providers\": {\"\": {}}}", "a provider's name is empty", true},
        {"{\"providers\": {\"x\": 5}}", "providers.x must be an object", true},
        {"{\"providers\": {\"x\": {}}}", "providers.x has no baseUrl, and no provider is known by that name",
         true},
        {"{\"providers\": {\"ollama\": {}, \"ollama\": {}}}", "providers.ollama is there twice", true},
        {"{\"providers\": {", "the file, line 1", true},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct al_providers p = {0};
        struct al_err err = {0};
        char text[1024];
        snprintf(text, sizeof text, "%s%s%s", faults[i].whole ? "" : head, faults[i].text,
                 faults[i].whole ? "" : "}}}");
        assert_int_equal(al_providers_read(al_str_of(text), "the file", &p, &err), -1);
        assert_int_equal(err.code, AL_CONFIG_INVALID);
        if (!strstr(err.msg, faults[i].words))
            fail_msg("\"%s\" does not say \"%s\"", err.msg, faults[i].words);
        assert_null(strstr(err.msg, "secret"));
        al_providers_free(&p);
    }
}

static void an_address_is_checked(void **state)
{
    (void)state;
    static const struct {
        const char *url, *fault; /* fault NULL: fine */
    } urls[] = {
        {"http://127.0.0.1:8080/v1", NULL},
        {"https://[::1]:8443", NULL},
        {"https://h.example/a/b/", NULL},
        {"ftp://h", "must begin with"},
        {"h.example", "must begin with"},
        {"http://", "names no host"},
        {"http:///v1", "names no host"},
        {"http://:80/", "names no host"},
        {"http://me:pw@h/", "holds a user"},
        {"http://me@h", "holds a user"},
        {"http://h/?key=1", "holds a query"},
        {"http://h/#a", "holds a query"},
        {"http://h /", "holds a character"},
        {"http://h\\@evil/", "holds a character"},
        {"http://h\xc3\xa9/", "holds a character"},
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        const char *why = al_provider_url_fault(al_str_of(urls[i].url));
        assert_true((why == NULL) == (urls[i].fault == NULL));
        assert_true(!why || strncmp(why, urls[i].fault, strlen(urls[i].fault)) == 0);
    }
    struct al_provider p = {0};
    al_provider_set_url(&p, AL_STR("http://h/v1///"));
    assert_string_equal(p.base_url, "http://h/v1");
    al_provider_fini(&p);
}

static void a_copy_stands_alone(void **state)
{
    (void)state;
    struct al_providers p = read_ok(
        "{\"providers\":{\"openai\":{\"model\":\"m\",\"headers\":{\"A\":\"b\"},\"models\":{\"m\":{}}}}}");
    struct al_provider copy;
    al_provider_copy(&copy, &p.v[0]);
    al_providers_free(&p);
    assert_string_equal(copy.model, "m");
    assert_string_equal(copy.headers[0], "A: b");
    assert_string_equal(copy.models[0].id, "m");
    al_provider_fini(&copy);
}

static void an_edit_leaves_the_rest_of_the_file(void **state)
{
    (void)state;
    static const char old[] = "// mine\n{\n    \"maxTurns\": 7,   \n    \"providers\": {\n        \"b\": "
                              "{\"baseUrl\": \"http://b\"}\n    }\n}\n";
    struct al_buf out = AL_BUF_INIT(1 << 20);
    struct al_err err = {0};
    struct al_provider p;
    assert_true(al_provider_preset(AL_STR("ollama"), &p));
    p.model = al_xstrdup("qwen3");
    /* The reader of our own file is strict JSON: a comment was never in it. */
    assert_int_equal(al_providers_edit_put(al_str_of(old + 8), &p, true, &out, &err), 0);
    al_buf_addc(&out, 0);
    assert_non_null(strstr(out.p, "    \"maxTurns\": 7,   \n"));
    assert_non_null(strstr(out.p, "\"b\": {\"baseUrl\": \"http://b\"}"));
    assert_non_null(strstr(out.p, "\"provider\": \"ollama\""));
    struct al_providers all = read_ok(out.p);
    assert_int_equal(all.n, 2);
    assert_string_equal(al_providers_find(&all, AL_STR("ollama"))->model, "qwen3");
    al_providers_free(&all);
    al_buf_free(&out);
    al_provider_fini(&p);
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"providers\":{\"x\":{\"api\":\"responses\",\"baseUrl\":\"http://h/"
        "v1\",\"model\":\"m\",\"keyEnv\":\"K\",\"auth\":\"x-api-key\","
        "\"insecure\":true,\"anthropicVersion\":\"2023-06-01\",\"headers\":{\"A\":\"b: "
        "c\"},\"firstByteMs\":1000,\"idleMs\":2000,"
        "\"contextWindow\":4096,\"maxOutputTokens\":5,\"reasoningEffort\":\"low\",\"temperature\":1.5,"
        "\"models\":{\"m\":"
        "{\"contextWindow\":2048,\"maxOutputTokens\":6,\"price\":{\"input\":0.25,\"output\":1.125}}}}}}",
        "{\"providers\":{\"anthropic\":{\"api\":\"chat\",\"baseUrl\":\"http://proxy/"
        "v1\",\"auth\":\"none\"}}}",
        "{\"providers\":{\"ollama\":{\"keyEnv\":\"K\"}}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct al_providers first = read_ok(texts[i]), second = {0};
        struct al_buf a = AL_BUF_INIT(1 << 16), b = AL_BUF_INIT(1 << 16), file = AL_BUF_INIT(1 << 16);
        struct al_err err = {0};
        struct al_jw w;
        al_jw_init(&w, &a);
        al_provider_write(&w, &first.v[0]);
        if (al_providers_edit_put(AL_STR(""), &first.v[0], false, &file, &err) < 0)
            fail_msg("%s", err.msg);
        assert_int_equal(al_providers_read(al_buf_str(&file), "the file", &second, &err), 0);
        al_jw_init(&w, &b);
        al_provider_write(&w, &second.v[0]);
        assert_true(al_str_eq(al_buf_str(&a), al_buf_str(&b)));
        assert_int_equal(first.v[0].auth, second.v[0].auth);
        al_providers_free(&first);
        al_providers_free(&second);
        al_buf_free(&a);
        al_buf_free(&b);
        al_buf_free(&file);
    }
}

static void a_project_may_not_name_providers(void **state)
{
    (void)state;
    struct al_config *c;
    struct al_err err = {0};
    assert_int_equal(
        al_config_load_bytes(
            AL_STR("{\"providers\":{\"ollama\":{}}}"),
            AL_STR("{\"providers\":{\"evil\":{\"baseUrl\":\"http://evil\"}},\"provider\":\"evil\"}"), &c,
            &err),
        0);
    assert_int_equal(al_config_providers(c)->n, 1);
    assert_null(al_config_text(c, AL_OPT_PROVIDER));
    const char *const *notices;
    assert_int_equal(al_config_notices(c, &notices), 2);
    assert_non_null(
        strstr(notices[0], "line 1 is ignored: providers: only the user's own configuration may name them"));
    al_config_free(c);
    assert_int_equal(al_config_load_bytes(AL_STR("{\"providrs\":{}}"), AL_STR(""), &c, &err), -1);
    assert_non_null(strstr(err.msg, "the nearest is providers"));
    al_config_free(c);
}

/* --- keys --- */

static char dir[] = "/tmp/alisio-keys-XXXXXX";
static char file[sizeof dir + 32];

static int make_dir(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    snprintf(file, sizeof file, "%s/credentials.json", dir);
    unsetenv("TEST_KEY");
    unsetenv("OTHER_KEY");
    return 0;
}

static int drop_dir(void **state)
{
    (void)state;
    unlink(file);
    rmdir(dir);
    memcpy(dir + sizeof dir - 7, "XXXXXX", 6);
    return 0;
}

static void put(const char *text, mode_t mode)
{
    unlink(file);
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(chmod(file, mode), 0);
}

static struct al_provider keyed(void)
{
    static char name[] = "p", variable[] = "TEST_KEY";
    return (struct al_provider){.name = name, .key_env = variable};
}

static void keys_are_looked_for_in_order(void **state)
{
    (void)state;
    struct al_provider p = {.name = al_xstrdup("p"), .key_env = al_xstrdup("TEST_KEY")};
    struct al_key k;
    struct al_err err = {0};
    assert_int_equal(al_key_find(&p, NULL, file, &k, &err), 0);
    assert_null(k.value);
    put("{\"providers\":{\"p\":{\"key\":\" from-file\\n\"},\"q\":{\"key\":\"other\"}}}", 0600);
    assert_int_equal(al_key_find(&p, NULL, file, &k, &err), 0);
    assert_string_equal(k.value, "from-file");
    assert_string_equal(k.source, "the credentials file");
    al_key_free(&k);
    assert_null(k.value);
    setenv("TEST_KEY", "from-env\n", 1);
    assert_int_equal(al_key_find(&p, NULL, file, &k, &err), 0);
    assert_string_equal(k.value, "from-env");
    assert_string_equal(k.name, "TEST_KEY");
    al_key_free(&k);
    setenv("OTHER_KEY", "from-flag", 1);
    assert_int_equal(al_key_find(&p, "OTHER_KEY", file, &k, &err), 0);
    assert_string_equal(k.value, "from-flag");
    assert_string_equal(k.source, "--key-env");
    al_key_free(&k);
    p.auth = AL_AUTH_NONE;
    assert_int_equal(al_key_find(&p, NULL, file, &k, &err), 0);
    assert_null(k.value);
    unsetenv("OTHER_KEY");
    assert_int_equal(al_key_find(&p, "OTHER_KEY", file, &k, &err), -1);
    assert_int_equal(err.code, AL_AUTH_REQUIRED);
    assert_int_equal(al_key_find(&p, "sk-secret-key", file, &k, &err), -1);
    assert_int_equal(err.code, AL_INVALID_INPUT);
    assert_null(strstr(err.msg, "secret"));
    al_provider_fini(&p);
}

static void refused(const char *words)
{
    struct al_provider p = keyed();
    struct al_key k;
    struct al_err err = {0};
    assert_int_equal(al_key_find(&p, NULL, file, &k, &err), -1);
    assert_int_equal(err.code, AL_CONFIG_INVALID);
    if (!strstr(err.msg, words))
        fail_msg("\"%s\" does not say \"%s\"", err.msg, words);
    assert_true(err.hint[0] || strstr(words, "blank"));
    assert_null(strstr(err.msg, "s3cret"));
    assert_null(strstr(err.hint, "s3cret"));
}

static void a_hidden_key_is_in_no_environment(void **state)
{
    (void)state;
    struct al_providers p =
        read_ok("{\"providers\":{\"x\":{\"baseUrl\":\"http://h\",\"keyEnv\":\"HIDDEN_A\"}}}");
    struct al_key k;
    struct al_err err = {0};
    setenv("HIDDEN_A", "one", 1);
    setenv("HIDDEN_B", "two", 1);
    setenv("OPENAI_API_KEY", "three", 1);
    const char *bytes = getenv("HIDDEN_A");
    al_keys_hide(&p, "HIDDEN_B");
    al_keys_hide(&p, "HIDDEN_B");
    assert_int_equal(bytes[0] | bytes[1] | bytes[2], 0);
    assert_null(getenv("HIDDEN_A"));
    assert_null(getenv("HIDDEN_B"));
    assert_null(getenv("OPENAI_API_KEY"));
    assert_string_equal(al_key_variable("HIDDEN_A"), "one");
    assert_null(al_key_variable("HIDDEN_C"));
    assert_int_equal(al_key_find(&p.v[0], NULL, file, &k, &err), 0);
    assert_string_equal(k.value, "one");
    al_key_free(&k);
    assert_int_equal(al_key_find(&p.v[0], "HIDDEN_B", file, &k, &err), 0);
    assert_string_equal(k.value, "two");
    al_key_free(&k);
    al_providers_free(&p);
}

static void a_file_that_others_can_read_gives_no_key(void **state)
{
    (void)state;
    static const char text[] = "{\"providers\":{\"p\":{\"key\":\"s3cret\"}}}";
    for (mode_t mode = 0; mode < 0100; mode++) {
        if (!mode)
            continue;
        put(text, 0600 | mode);
        refused("is open to other users");
    }
    unlink(file);
    assert_int_equal(mkdir(file, 0700), 0);
    refused("is no regular file");
    rmdir(file);
    assert_int_equal(symlink("/dev/null", file), 0);
    refused("is a link");
}

static void a_file_of_another_form_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } files[] = {
        {"{\"providers\":{\"p\":{\"key\":\"s3cret\"}", "line 1"},
        {"[]", "it must be a JSON object"},
        {"{\"keys\":{}}", "there is no key keys"},
        {"{\"providers\":[]}", "\"providers\" must be an object"},
        {"{\"providers\":{\"p\":\"s3cret\"}}", "an entry of \"providers\" must be an object"},
        {"{\"providers\":{\"q\":{\"token\":\"s3cret\"}}}", "there is no key token"},
        {"{\"providers\":{\"p\":{\"key\":5}}}", "the key is no text of the provider p"},
        {"{\"providers\":{\"p\":{\"key\":\"s3cret\"},\"p\":{\"key\":\"x\"}}}", "there is twice p"},
        {"{\"providers\":{\"p\":{\"key\":\"s3cret with blanks\"}}}", "holds a blank"},
        {"{\"providers\":{\"p\":{\"key\":\"s3cret\\r\\nX: y\"}}}", "holds a blank"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        put(files[i].text, 0600);
        refused(files[i].words);
    }
    setenv("TEST_KEY", "s3cret\x01", 1);
    refused("the key in the variable TEST_KEY holds a blank");
    unsetenv("TEST_KEY");
}

static void a_key_is_stored_for_its_owner_alone(void **state)
{
    (void)state;
    struct al_provider p = keyed();
    struct al_key k;
    struct al_err err = {0};
    struct stat st;
    umask(0);
    assert_int_equal(al_key_store(file, AL_STR("p"), "one", &err), 0);
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(al_key_store(file, AL_STR("q"), "other", &err), 0);
    assert_int_equal(al_key_store(file, AL_STR("p"), "two\"\\", &err), 0);
    assert_int_equal(al_key_find(&p, NULL, file, &k, &err), 0);
    assert_string_equal(k.value, "two\"\\");
    al_key_free(&k);
    assert_int_equal(al_key_store(file, AL_STR("p"), NULL, &err), 0);
    assert_int_equal(al_key_find(&p, NULL, file, &k, &err), 0);
    assert_null(k.value);
    char other[] = "q";
    p.name = other;
    assert_int_equal(al_key_find(&p, NULL, file, &k, &err), 0);
    assert_string_equal(k.value, "other");
    al_key_free(&k);
    assert_int_equal(al_key_store(file, AL_STR("p"), "two words", &err), -1);
    assert_int_equal(al_key_store(file, AL_STR(""), "k", &err), -1);
    put("{\"providers\":{}}", 0644);
    assert_int_equal(al_key_store(file, AL_STR("p"), "k", &err), -1);
    assert_non_null(strstr(err.hint, "chmod 600"));
}

#define WITH_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, drop_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_of_an_entry_is_read),
        cmocka_unit_test(an_entry_of_a_known_name_says_what_differs),
        cmocka_unit_test(what_is_known_beforehand_is_whole),
        cmocka_unit_test(what_is_wrong_is_told_with_its_line_and_the_nearest_key),
        cmocka_unit_test(an_address_is_checked),
        cmocka_unit_test(a_copy_stands_alone),
        cmocka_unit_test(an_edit_leaves_the_rest_of_the_file),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(a_project_may_not_name_providers),
        WITH_DIR(keys_are_looked_for_in_order),
        WITH_DIR(a_hidden_key_is_in_no_environment),
        WITH_DIR(a_file_that_others_can_read_gives_no_key),
        WITH_DIR(a_file_of_another_form_is_refused),
        WITH_DIR(a_key_is_stored_for_its_owner_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
