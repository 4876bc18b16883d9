/* What providers say when they do not answer, in their own words: which kind it is, whether it is asked
 * again, what a person reads. */
#include "test.h"

#include "base/mem.h"
#include "llm/fault_int.h"

#include <stdio.h>
#include <strings.h>

#define COUNT(x) (sizeof(x) / sizeof(*(x)))
#define KEY "sk-proj-Canary0123456789abcdefXYZ"

struct headers {
    const char *v[16]; /* name, value, … */
};

static const char *header_of(void *ud, const char *name)
{
    const struct headers *h = ud;
    for (size_t i = 0; h && i < 16 && h->v[i]; i += 2)
        if (strcasecmp(h->v[i], name) == 0)
            return h->v[i + 1];
    return NULL;
}

static struct al_llm_fault answer_with(int status, const char *type, const char *body,
                                       const struct headers *h)
{
    struct al_llm_fault f;
    al_llm_fault_of_answer(status, al_str_of(type), al_str_of(body), header_of, (void *)h, KEY, &f);
    assert_true(strlen(f.message) < sizeof(f.message));
    assert_true(f.message[0]);
    return f;
}

static struct al_llm_fault answer(int status, const char *body)
{
    return answer_with(status, "application/json", body, NULL);
}

static struct al_llm_fault in_stream(const char *json)
{
    struct al_llm_fault f;
    autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
    const struct al_json *v = NULL;
    if (json)
        assert_int_equal(al_json_parse(&arena, al_str_of(json), &v, NULL), 0);
    al_llm_fault_of_error(v, KEY, &f);
    assert_true(f.message[0]);
    return f;
}

static void assert_kind(const struct al_llm_fault *f, enum al_llm_fault_kind kind, const char *about)
{
    if (f->kind != kind)
        fail_msg("%s instead of %s: %s", al_llm_fault_name(f->kind), al_llm_fault_name(kind), about);
}

#define OPENAI(message, type, code) \
    "{\"error\":{\"message\":\"" message "\",\"type\":\"" type "\",\"param\":null,\"code\":" code "}}"
#define ANTHROPIC(type, message)                                                  \
    "{\"type\":\"error\",\"error\":{\"type\":\"" type "\",\"message\":\"" message \
    "\"},\"request_id\":\"req_011\"}"

/* --- statuses and the makers' own errors --- */

struct row {
    int status;
    const char *body;
    enum al_llm_fault_kind kind;
    bool retry;
};

static void each_error_of_openai_has_its_kind(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {400, OPENAI("Invalid type for 'messages[0].content'", "invalid_request_error", "\"invalid_type\""),
         AL_LLM_FAULT_REJECTED, false},
        {400,
         OPENAI("This model's maximum context length is 128000 tokens. However, your messages resulted in "
                "131012 "
                "tokens. Please reduce the length of the messages.",
                "invalid_request_error", "\"context_length_exceeded\""),
         AL_LLM_FAULT_OVERFLOW, false},
        {400,
         OPENAI(
             "Your input exceeds the context window of this model. Please adjust your input and try again.",
             "invalid_request_error", "\"context_length_exceeded\""),
         AL_LLM_FAULT_OVERFLOW, false},
        {400,
         OPENAI("Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                "'max_completion_tokens' "
                "instead.",
                "invalid_request_error", "\"unsupported_parameter\""),
         AL_LLM_FAULT_REJECTED, false},
        {400,
         OPENAI("The encrypted content for item rs_1 could not be verified.", "invalid_request_error",
                "\"invalid_encrypted_content\""),
         AL_LLM_FAULT_REJECTED, false},
        {401,
         OPENAI("Incorrect API key provided: sk-proj-************XYZ. You can find your API key at ...",
                "invalid_request_error", "\"invalid_api_key\""),
         AL_LLM_FAULT_AUTH, false},
        {403,
         OPENAI("Country, region, or territory not supported", "request_forbidden",
                "\"unsupported_country_region_territory\""),
         AL_LLM_FAULT_AUTH, false},
        {404,
         OPENAI("The model `gpt-9` does not exist or you do not have access to it.", "invalid_request_error",
                "\"model_not_found\""),
         AL_LLM_FAULT_REJECTED, false},
        {409, OPENAI("Conflict", "conflict", "null"), AL_LLM_FAULT_SERVER, true},
        {422, OPENAI("Unprocessable", "unprocessable_entity", "null"), AL_LLM_FAULT_REJECTED, false},
        {429,
         OPENAI("Rate limit reached for gpt-5 in organization org-1 on tokens per min (TPM): Limit 30000",
                "tokens", "\"rate_limit_exceeded\""),
         AL_LLM_FAULT_RATE, true},
        {429,
         OPENAI("Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested 40012. The "
                "input or "
                "output tokens must be reduced in order to run successfully.",
                "tokens", "\"rate_limit_exceeded\""),
         AL_LLM_FAULT_RATE, true},
        {429,
         OPENAI("You exceeded your current quota, please check your plan and billing details.",
                "insufficient_quota", "\"insufficient_quota\""),
         AL_LLM_FAULT_QUOTA, false},
        {429, OPENAI("Stop.", "insufficient_quota", "\"credit_balance_exhausted\""), AL_LLM_FAULT_QUOTA,
         false},
        {429, OPENAI("Stop.", "x", "\"organization_spend_limit_exceeded\""), AL_LLM_FAULT_QUOTA, false},
        {429, OPENAI("Stop.", "x", "\"project_spend_limit_exceeded\""), AL_LLM_FAULT_QUOTA, false},
        {403, OPENAI("Stop.", "x", "\"organization_usage_limit_exceeded\""), AL_LLM_FAULT_QUOTA, false},
        {400, OPENAI("Stop.", "x", "\"contract_spend_limit_reached\""), AL_LLM_FAULT_QUOTA, false},
        {500,
         OPENAI("The server had an error while processing your request. Sorry about that!", "server_error",
                "null"),
         AL_LLM_FAULT_SERVER, true},
        {502, OPENAI("Bad gateway", "server_error", "null"), AL_LLM_FAULT_SERVER, true},
        {503, OPENAI("That model is currently overloaded with other requests.", "server_error", "null"),
         AL_LLM_FAULT_OVERLOADED, true},
        {503, OPENAI("Slow down", "server_error", "\"slow_down\""), AL_LLM_FAULT_OVERLOADED, true},
        {504, OPENAI("Gateway timeout", "server_error", "null"), AL_LLM_FAULT_SERVER, true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct al_llm_fault f = answer(rows[i].status, rows[i].body);
        assert_kind(&f, rows[i].kind, rows[i].body);
        assert_int_equal(f.retry, rows[i].retry);
        assert_int_equal(f.status, rows[i].status);
        assert_int_equal(f.retry_after_ms, -1);
    }
}

static void each_error_of_anthropic_has_its_kind(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {400, ANTHROPIC("invalid_request_error", "messages: roles must alternate"), AL_LLM_FAULT_REJECTED,
         false},
        {400, ANTHROPIC("invalid_request_error", "prompt is too long: 210541 tokens > 200000 maximum"),
         AL_LLM_FAULT_OVERFLOW, false},
        {400,
         ANTHROPIC("invalid_request_error",
                   "input length and `max_tokens` exceed context limit: 188240 + 21333 > "
                   "200000, decrease input length or `max_tokens` and try again"),
         AL_LLM_FAULT_OVERFLOW, false},
        {400,
         ANTHROPIC("invalid_request_error",
                   "max_tokens: 64000 > 32000, which is the maximum allowed number of output "
                   "tokens for claude-x"),
         AL_LLM_FAULT_REJECTED, false},
        {400,
         ANTHROPIC("invalid_request_error",
                   "Your credit balance is too low to access the Anthropic API. Please go to "
                   "Plans & Billing to upgrade or purchase credits."),
         AL_LLM_FAULT_QUOTA, false},
        {400,
         ANTHROPIC("invalid_request_error",
                   "You have reached your specified API usage limits. You will regain access "
                   "on 2026-12-01 at 00:00 UTC."),
         AL_LLM_FAULT_QUOTA, false},
        {401, ANTHROPIC("authentication_error", "invalid x-api-key"), AL_LLM_FAULT_AUTH, false},
        {402, ANTHROPIC("billing_error", "Your account has a billing problem."), AL_LLM_FAULT_QUOTA, false},
        {403,
         ANTHROPIC("permission_error",
                   "Your API key does not have permission to use the specified resource."),
         AL_LLM_FAULT_AUTH, false},
        {404, ANTHROPIC("not_found_error", "model: claude-9"), AL_LLM_FAULT_REJECTED, false},
        {409, ANTHROPIC("conflict_error", "Conflict"), AL_LLM_FAULT_SERVER, true},
        {413, ANTHROPIC("request_too_large", "Request exceeds the maximum size"), AL_LLM_FAULT_OVERFLOW,
         false},
        {429, ANTHROPIC("rate_limit_error", "This request would exceed the rate limit for your organization"),
         AL_LLM_FAULT_RATE, true},
        {429,
         "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"Stop.\",\"details\":{"
         "\"error_code\":"
         "\"enforced_spend_limit_reached\"}},\"request_id\":\"req_2\"}",
         AL_LLM_FAULT_QUOTA, false},
        {429,
         "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"Slower.\",\"details\":{"
         "\"error_"
         "code\":\"ramp_limit_exceeded\"}},\"request_id\":\"req_2\"}",
         AL_LLM_FAULT_RATE, true},
        {500, ANTHROPIC("api_error", "Internal server error"), AL_LLM_FAULT_SERVER, true},
        {504, ANTHROPIC("timeout_error", "Request timed out"), AL_LLM_FAULT_SERVER, true},
        {529, ANTHROPIC("overloaded_error", "Overloaded"), AL_LLM_FAULT_OVERLOADED, true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct al_llm_fault f = answer(rows[i].status, rows[i].body);
        assert_kind(&f, rows[i].kind, rows[i].body);
        assert_int_equal(f.retry, rows[i].retry);
        assert_true(strncmp(f.request_id, "req_", 4) == 0);
    }
}

static void the_table_of_statuses_decides_about_another_attempt(void **state)
{
    (void)state;
    for (int status = 400; status < 600; status++) {
        bool expected = status == 408 || status == 409 || status == 425 || status == 429 || status == 500 ||
                        status == 502 || status == 503 || status == 504 || (status >= 520 && status <= 529);
        struct al_llm_fault f = answer_with(status, "text/plain", "no", NULL);
        if (f.retry != expected)
            fail_msg("status %d", status);
        if (status == 402)
            assert_kind(&f, AL_LLM_FAULT_QUOTA, "402");
    }
}

static void should_retry_overrides_the_table_but_not_money_and_windows(void **state)
{
    (void)state;
    static const struct headers yes = {{"X-Should-Retry", "true"}}, no = {{"x-should-retry", "false"}},
                                odd = {{"x-should-retry", "maybe"}};
    static const char other[] = "{\"error\":{\"message\":\"m\"}}";
    assert_true(answer_with(400, "application/json", other, &yes).retry);
    assert_true(answer_with(401, "application/json", other, &yes).retry);
    assert_true(answer_with(501, "application/json", other, &yes).retry);
    assert_false(answer_with(429, "application/json", other, &no).retry);
    assert_false(answer_with(500, "application/json", other, &no).retry);
    assert_false(answer_with(529, "application/json", other, &no).retry);
    assert_true(answer_with(500, "application/json", other, &odd).retry);
    assert_false(answer_with(402, "application/json", other, &yes).retry);
    assert_false(answer_with(413, "application/json", other, &yes).retry);
    assert_false(answer_with(429, "application/json", OPENAI("m", "insufficient_quota", "null"), &yes).retry);
}

static void other_makers_shapes_are_read(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *body, *message, *type, *code;
        enum al_llm_fault_kind kind;
    } rows[] = {
        {404, "{\"error\":\"model 'llama9' not found\"}", "model 'llama9' not found", "", "",
         AL_LLM_FAULT_REJECTED},
        {404,
         "{\"error\":{\"message\":\"model \\\"x\\\" not found, try pulling it first\",\"type\":\"api_error\","
         "\"param\":null,\"code\":null}}",
         "model \"x\" not found, try pulling it first", "api_error", "", AL_LLM_FAULT_REJECTED},
        {400,
         "{\"object\":\"error\",\"message\":\"Bad.\",\"type\":\"BadRequestError\",\"param\":null,\"code\":"
         "400}",
         "Bad.", "BadRequestError", "", AL_LLM_FAULT_REJECTED},
        {422,
         "{\"detail\":[{\"type\":\"extra_forbidden\",\"loc\":[\"body\",\"stream_options\"],\"msg\":\"Extra "
         "inputs are "
         "not permitted\",\"input\":{\"the context window\":1}}]}",
         "stream_options: Extra inputs are not permitted", "", "", AL_LLM_FAULT_REJECTED},
        {422,
         "{\"object\":\"error\",\"message\":{\"detail\":[{\"type\":\"missing\",\"loc\":[\"body\","
         "\"messages\",2,"
         "\"content\"],\"msg\":\"Field required\"}]},\"type\":\"invalid_request_error\",\"code\":null}",
         "messages.2.content: Field required", "invalid_request_error", "", AL_LLM_FAULT_REJECTED},
        {401, "{\"detail\":\"Unauthorized\"}", "Unauthorized", "", "", AL_LLM_FAULT_AUTH},
        {400,
         "[{\"error\":{\"code\":400,\"message\":\"API key not valid. Please pass a valid API "
         "key.\",\"status\":"
         "\"INVALID_ARGUMENT\"}}]",
         "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT", "", AL_LLM_FAULT_AUTH},
        {503,
         "[{\"error\":{\"code\":503,\"message\":\"The model is overloaded.\",\"status\":\"UNAVAILABLE\"}}]",
         "The model is overloaded.", "UNAVAILABLE", "", AL_LLM_FAULT_OVERLOADED},
        {429,
         "{\"error\":{\"message\":\"Provider returned error\",\"code\":429,\"metadata\":{\"raw\":\"acme/m is "
         "temporarily rate-limited upstream\",\"provider_name\":\"Acme\"}},\"user_id\":\"u\"}",
         "Provider returned error: acme/m is temporarily rate-limited upstream", "", "", AL_LLM_FAULT_RATE},
        {402,
         "{\"error\":{\"message\":\"This request requires more credits, or fewer "
         "max_tokens.\",\"code\":402}}",
         "This request requires more credits, or fewer max_tokens.", "", "", AL_LLM_FAULT_QUOTA},
        {402,
         "{\"error\":{\"message\":\"Insufficient "
         "Balance\",\"type\":\"unknown_error\",\"param\":null,\"code\":"
         "\"invalid_request_error\"}}",
         "Insufficient Balance", "unknown_error", "invalid_request_error", AL_LLM_FAULT_QUOTA},
        {503, "{\"error\":{\"code\":503,\"message\":\"Loading model\",\"type\":\"unavailable_error\"}}",
         "Loading model", "unavailable_error", "", AL_LLM_FAULT_SERVER},
        {429,
         "{\"error\":{\"message\":\"Your account is suspended, please check your plan and billing "
         "details\",\"type\":"
         "\"exceeded_current_quota_error\"}}",
         "Your account is suspended, please check your plan and billing details",
         "exceeded_current_quota_error", "", AL_LLM_FAULT_QUOTA},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct al_llm_fault f = answer(rows[i].status, rows[i].body);
        assert_kind(&f, rows[i].kind, rows[i].body);
        assert_string_equal(f.message, rows[i].message);
        assert_string_equal(f.type, rows[i].type);
        assert_string_equal(f.code, rows[i].code);
    }
}

static void a_body_that_is_no_error_object_is_shown_in_short(void **state)
{
    (void)state;
    struct al_llm_fault f = answer_with(502, "text/html",
                                        "<html><head><style>b{color:red}</style><script>x()</script></"
                                        "head>\n<body><h1>502\n Bad Gateway</h1></body>",
                                        NULL);
    assert_kind(&f, AL_LLM_FAULT_SERVER, "html");
    assert_string_equal(f.message, "status 502, text/html: 502 Bad Gateway");
    f = answer_with(200, "text/html", "<title>Log in</title>", NULL);
    assert_kind(&f, AL_LLM_FAULT_MALFORMED, "html");
    assert_true(f.retry);
    assert_true(f.answered);
    assert_string_equal(f.message, "status 200, text/html: Log in");
    f = answer_with(200, "text/event-stream", "", NULL);
    assert_kind(&f, AL_LLM_FAULT_MALFORMED, "empty");
    assert_string_equal(f.message, "status 200, text/event-stream, and nothing in it");
    char many[5000];
    memset(many, 'x', sizeof(many) - 1);
    many[sizeof(many) - 1] = 0;
    f = answer_with(500, "text/plain", many, NULL);
    assert_true(strlen(f.message) < 250);
    f = answer_with(200, "application/json", OPENAI("m", "server_error", "null"), NULL);
    assert_kind(&f, AL_LLM_FAULT_SERVER, "an error with status 200");
    assert_true(f.retry);
}

static void an_error_within_a_stream_is_classed_as_its_status_would_be(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        enum al_llm_fault_kind kind;
        bool retry;
    } rows[] = {
        {ANTHROPIC("overloaded_error", "Overloaded"), AL_LLM_FAULT_OVERLOADED, true},
        {ANTHROPIC("api_error", "Internal"), AL_LLM_FAULT_SERVER, true},
        {ANTHROPIC("rate_limit_error", "Slower"), AL_LLM_FAULT_RATE, true},
        {ANTHROPIC("timeout_error", "Late"), AL_LLM_FAULT_SERVER, true},
        {ANTHROPIC("invalid_request_error", "Wrong"), AL_LLM_FAULT_REJECTED, false},
        {ANTHROPIC("authentication_error", "Who"), AL_LLM_FAULT_AUTH, false},
        {ANTHROPIC("permission_error", "Not you"), AL_LLM_FAULT_AUTH, false},
        {ANTHROPIC("billing_error", "Money"), AL_LLM_FAULT_QUOTA, false},
        {ANTHROPIC("request_too_large", "Big"), AL_LLM_FAULT_OVERFLOW, false},
        {"{\"type\":\"error\",\"code\":\"server_error\",\"message\":\"m\",\"param\":null,\"sequence_number\":"
         "4}",
         AL_LLM_FAULT_SERVER, true},
        {"{\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"m\",\"param\":null}",
         AL_LLM_FAULT_RATE, true},
        {"{\"type\":\"error\",\"code\":\"context_length_exceeded\",\"message\":\"m\"}", AL_LLM_FAULT_OVERFLOW,
         false},
        {"{\"code\":\"invalid_prompt\",\"message\":\"m\"}", AL_LLM_FAULT_REJECTED, false},
        {"{\"code\":\"bio_policy\",\"message\":\"m\"}", AL_LLM_FAULT_REJECTED, false},
        {"{\"code\":\"misalignment_policy_violation\",\"message\":\"m\"}", AL_LLM_FAULT_REJECTED, false},
        {"{\"code\":\"image_content_policy_violation\",\"message\":\"m\"}", AL_LLM_FAULT_REJECTED, false},
        {"{\"error\":{\"message\":\"Upstream broke\",\"code\":502}}", AL_LLM_FAULT_SERVER, true},
        {"{\"error\":{\"message\":\"Not this\",\"code\":400}}", AL_LLM_FAULT_REJECTED, false},
        {"{\"error\":{\"message\":\"Pay\",\"code\":402}}", AL_LLM_FAULT_QUOTA, false},
        {"{\"error\":{\"message\":\"No\",\"code\":501}}", AL_LLM_FAULT_SERVER, false},
        {"{\"error\":{\"message\":\"Slow\",\"code\":429},\"finish_reason\":\"error\"}", AL_LLM_FAULT_RATE,
         true},
        {"{\"error\":\"an error was encountered while running the model\"}", AL_LLM_FAULT_SERVER, true},
        {"{\"message\":\"something\"}", AL_LLM_FAULT_SERVER, true},
        {"\"plain words\"", AL_LLM_FAULT_SERVER, true},
        {"{\"object\":\"error\",\"message\":\"m\",\"type\":\"BadRequestError\",\"code\":400}",
         AL_LLM_FAULT_REJECTED, false},
        {OPENAI("m", "insufficient_quota", "\"insufficient_quota\""), AL_LLM_FAULT_QUOTA, false},
        {"{\"error\":{}}", AL_LLM_FAULT_SERVER, true},
        {NULL, AL_LLM_FAULT_SERVER, true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct al_llm_fault f = in_stream(rows[i].json);
        assert_kind(&f, rows[i].kind, rows[i].json);
        assert_int_equal(f.retry, rows[i].retry);
        assert_true(f.answered);
        assert_int_equal(f.retry_after_ms, -1);
    }
}

/* --- the window --- */

static void an_overflow_is_recognised_and_teaches_the_window(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *body;
        int64_t window;
    } rows[] = {
        /* the makers */
        {400,
         OPENAI("This model's maximum context length is 128000 tokens. However, your messages resulted in "
                "131012 "
                "tokens.",
                "invalid_request_error", "\"context_length_exceeded\""),
         128000},
        {400,
         OPENAI("Your input exceeds the context window of this model.", "invalid_request_error",
                "\"context_length_exceeded\""),
         0},
        {400, ANTHROPIC("invalid_request_error", "prompt is too long: 210541 tokens > 200000 maximum"),
         200000},
        {400,
         ANTHROPIC("invalid_request_error",
                   "input length and `max_tokens` exceed context limit: 188240 + 21333 > "
                   "200000, decrease input length"),
         200000},
        {413,
         ANTHROPIC("request_too_large", "Request exceeds the maximum allowed number of bytes of 33554432"),
         0},
        /* vLLM */
        {400,
         "{\"object\":\"error\",\"message\":\"This model's maximum context length is 8192 tokens. However, "
         "you "
         "requested 9216 tokens (8192 in the messages, 1024 in the completion). Please reduce the length of "
         "the "
         "messages or completion.\",\"type\":\"BadRequestError\",\"param\":null,\"code\":400}",
         8192},
        {400,
         "{\"error\":{\"message\":\"'max_tokens' or 'max_completion_tokens' is too large: 16384. This "
         "model's maximum "
         "context length is 16384 tokens and your request has 5012 input tokens (16384 > 16384 - 5012). "
         "None\","
         "\"type\":\"BadRequestError\",\"param\":null,\"code\":400}}",
         16384},
        {400,
         "{\"object\":\"error\",\"message\":\"The decoder prompt (length 9123) is longer than the maximum "
         "model length "
         "of 8192. Make sure that `max_model_len` is no smaller than the number of text tokens.\",\"type\":"
         "\"BadRequestError\",\"code\":400}",
         8192},
        /* SGLang */
        {400,
         "{\"object\":\"error\",\"message\":\"The input (40012 tokens) is longer than the model's context "
         "length (32768 "
         "tokens).\",\"type\":\"BadRequestError\",\"code\":400}",
         32768},
        {400,
         "{\"message\":\"Requested token count exceeds the model's maximum context length of 32768 tokens. "
         "You "
         "requested a total of 40000 tokens\"}",
         32768},
        /* llama.cpp, older and newer */
        {400,
         "{\"error\":{\"code\":400,\"message\":\"the request exceeds the available context size. try "
         "increasing the "
         "context size or enable context shift\",\"type\":\"invalid_request_error\"}}",
         0},
        {400,
         "{\"error\":{\"code\":400,\"message\":\"request (12012 tokens) exceeds the available context size "
         "(4096 "
         "tokens), try increasing "
         "it\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":12012,\"n_ctx\":4096}}",
         4096},
        {500,
         "{\"error\":{\"code\":500,\"message\":\"the request exceeds the available context "
         "size\",\"n_ctx\":2048}}",
         2048},
        /* LM Studio */
        {400,
         "{\"error\":\"Trying to keep the first 9212 tokens when context the overflows. However, the model "
         "is loaded "
         "with context length of only 4096 tokens, which is not enough. Try to load the model with a larger "
         "context "
         "length, or provide a shorter input\"}",
         4096},
        {400,
         "{\"error\":\"The number of tokens to keep from the initial prompt is greater than the context "
         "length.\"}",
         0},
        /* Ollama */
        {400,
         "{\"error\":{\"message\":\"prompt too long; exceeded max context length by 512 "
         "tokens\",\"type\":\"api_error\"}}",
         0},
        {500, "{\"error\":\"the input length exceeds the context length\"}", 0},
        /* OpenRouter, DeepSeek and others behind the same API */
        {400,
         "{\"error\":{\"message\":\"This endpoint's maximum context length is 131072 tokens. However, you "
         "requested "
         "about 140012 tokens (120012 of text input, 20000 in the output). Please reduce the length of "
         "either one.\","
         "\"code\":400,\"metadata\":{\"provider_name\":null}}}",
         131072},
        {400,
         "{\"error\":{\"message\":\"Provider returned "
         "error\",\"code\":400,\"metadata\":{\"raw\":\"{\\\"error\\\":{"
         "\\\"message\\\":\\\"This model's maximum prompt length is 131072 but the request contains 537812 "
         "tokens.\\\"}}\"}}}",
         131072},
        {400,
         OPENAI("This model's maximum context length is 65536 tokens. However, you requested 70012 tokens",
                "invalid_request_error", "\"invalid_request_error\""),
         65536},
        {400,
         OPENAI("The input token count (1200012) exceeds the maximum number of tokens allowed (1048576).",
                "x", "null"),
         1048576},
        {400,
         "{\"object\":\"error\",\"message\":\"Prompt contains 40012 tokens and 0 draft tokens, too large for "
         "model with "
         "32768 maximum context length\",\"type\":\"invalid_request_error\",\"code\":\"3051\"}",
         32768},
        {400,
         OPENAI("Invalid request: Your request exceeded model token limit: 262144 (requested: 300012)", "x",
                "null"),
         262144},
        {400, OPENAI("Range of input length should be [1, 30720]", "x", "null"), 30720},
        {422,
         "{\"error\":{\"message\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= "
         "8192. Given: "
         "9012 `inputs` tokens\"}}",
         8192},
        {400, OPENAI("too many tokens: total number of tokens in the prompt cannot exceed 4081", "x", "null"),
         4081},
        {400, OPENAI("maximum context length is 1,048,576 tokens", "x", "null"), 1048576},
        {400, OPENAI("the context window is 128k tokens", "x", "null"), 0},
        {400, OPENAI("the maximum context length is 12 tokens", "x", "null"), 0},
        {400, OPENAI("the maximum context length is 99999999999999999999 tokens", "x", "null"), 0},
        {400, "{\"error\":{\"message\":\"context size\",\"n_ctx\":-5}}", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct al_llm_fault f = answer(rows[i].status, rows[i].body);
        assert_kind(&f, AL_LLM_FAULT_OVERFLOW, rows[i].body);
        assert_false(f.retry);
        if (f.window != rows[i].window)
            fail_msg("%lld instead of %lld: %s", (long long)f.window, (long long)rows[i].window,
                     rows[i].body);
    }
}

static void what_only_repeats_the_users_words_is_no_overflow(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {422,
         "{\"detail\":[{\"loc\":[\"body\",\"messages\",0],\"msg\":\"Field required\",\"input\":\"the context "
         "length and "
         "the context window: prompt is too long\"}]}",
         AL_LLM_FAULT_REJECTED, false},
        {400,
         "{\"error\":{\"message\":\"Bad\",\"type\":\"invalid_request_error\"},\"echo\":\"maximum context "
         "length is 4096 "
         "tokens\"}",
         AL_LLM_FAULT_REJECTED, false},
        {400,
         OPENAI("Unsupported value: 'context length' is not supported", "invalid_request_error",
                "\"unsupported_value\""),
         AL_LLM_FAULT_REJECTED, false},
        {401, OPENAI("the context window", "x", "null"), AL_LLM_FAULT_AUTH, false},
        {429, OPENAI("Too many tokens per day, context window", "x", "null"), AL_LLM_FAULT_RATE, true},
        {400,
         OPENAI("max_tokens is too large: 100000. This model supports at most 16384 completion tokens, "
                "whereas you "
                "provided 100000.",
                "invalid_request_error", "\"invalid_value\""),
         AL_LLM_FAULT_REJECTED, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct al_llm_fault f = answer(rows[i].status, rows[i].body);
        assert_kind(&f, rows[i].kind, rows[i].body);
        assert_int_equal(f.window, 0);
        assert_int_equal(f.retry, rows[i].retry);
    }
}

/* --- how long to wait --- */

static void a_wait_is_read_in_each_form(void **state)
{
    (void)state;
    int64_t now = INT64_C(784111777000); /* Sun, 06 Nov 1994 08:49:37 GMT */
    static const struct {
        const char *ms, *after;
        int64_t wait;
    } rows[] = {
        {NULL, NULL, -1},
        {NULL, "30", 30000},
        {NULL, " 30 ", 30000},
        {NULL, "0", 0},
        {NULL, "1.5", 1500},
        {NULL, "0.0001", 1},
        {NULL, "86400", 86400000},
        {NULL, "-1", -1},
        {NULL, "+1", -1},
        {NULL, "1e3", -1},
        {NULL, "0x10", -1},
        {NULL, "soon", -1},
        {NULL, "30 seconds", -1},
        {NULL, "", -1},
        {NULL, ".", -1},
        {NULL, "5.", -1},
        {NULL, "NaN", -1},
        {NULL, "Infinity", -1},
        {"250", NULL, 250},
        {"250", "30", 250},
        {"250.2", "30", 251},
        {"-250", "30", 30000},
        {"text", "30", 30000},
        {"", "30", 30000},
        {NULL, "Sun, 06 Nov 1994 08:49:37 GMT", 0},
        {NULL, "Sun, 06 Nov 1994 08:49:47 GMT", 10000},
        {NULL, "Sunday, 06-Nov-94 08:49:47 GMT", 10000},
        {NULL, "Sun Nov  6 08:49:47 1994", 10000},
        {NULL, "Mon, 07 Nov 1994 08:49:37 GMT", 86400000},
        {NULL, "Sun, 06 Nov 1994 08:49:07 GMT", 0},
        {NULL, "Thu, 01 Jan 1970 00:00:00 GMT", 0},
        {NULL, "Sun, 31 Feb 1994 08:49 GMT", -1},
        {NULL, "Sun, 06 Now 1994 08:49:37 GMT", -1},
        {NULL, "06 Nov 1994 08:49:37", -1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t wait = al_llm_retry_after(rows[i].ms, rows[i].after, now);
        if (wait != rows[i].wait)
            fail_msg("%lld instead of %lld: %s, %s", (long long)wait, (long long)rows[i].wait,
                     rows[i].ms ? rows[i].ms : "-", rows[i].after ? rows[i].after : "-");
    }
    assert_true(al_llm_retry_after(NULL, "99999999999999999999999999", now) > INT64_C(86400000));
    assert_true(al_llm_retry_after("99999999999999999999999999", NULL, now) > INT64_C(86400000));
    assert_true(al_llm_retry_after(NULL, "Fri, 31 Dec 9999 23:59:59 GMT", now) > INT64_C(86400000));
}

static void a_date_counts_from_the_servers_clock(void **state)
{
    (void)state;
    static const struct headers h = {
        {"Date", "Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After", "Sun, 06 Nov 1994 08:49:57 GMT"}};
    assert_int_equal(
        answer_with(429, "application/json", "{\"error\":{\"message\":\"m\"}}", &h).retry_after_ms, 20000);
}

/* --- what a refusal is about --- */

static void a_refused_field_is_found_by_its_param_or_its_name(void **state)
{
    (void)state;
#define PARAM(message, param)                                                                       \
    "{\"error\":{\"message\":\"" message "\",\"type\":\"invalid_request_error\",\"param\":\"" param \
    "\",\"code\":"                                                                                  \
    "\"unsupported_parameter\"}}"
#define SAYS(message) "{\"error\":{\"message\":\"" message "\",\"type\":\"invalid_request_error\"}}"
    static const char body[] =
        "{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":true},\"max_tokens\":9,"
        "\"temperature\":1,"
        "\"parallel_tool_calls\":true,\"reasoning_effort\":\"low\",\"reasoning\":{\"effort\":\"low\"},"
        "\"thinking\":{},"
        "\"output_config\":{\"effort\":\"low\"},\"store\":false,"
        "\"include\":[],\"prompt_cache_key\":\"k\",\"cache_control\":{},\"tools\":[{\"strict\":true}],"
        "\"messages\":[{\"role\":\"developer\"}]}";
    static const struct {
        const char *body;
        int field;
    } rows[] = {
        {PARAM("Unsupported parameter: 'max_tokens' is not supported with this model. Use "
               "'max_completion_tokens' instead.",
               "max_tokens"),
         AL_LLM_MAX_TOKENS},
        {SAYS("Use 'max_completion_tokens' instead of the unsupported 'max_tokens'"), AL_LLM_MAX_TOKENS},
        {PARAM("Unknown", "stream_options"), AL_LLM_STREAM_OPTIONS},
        {PARAM("Unknown", "stream_options.include_usage"), AL_LLM_STREAM_OPTIONS},
        {SAYS("Unrecognized request argument supplied: stream_options"), AL_LLM_STREAM_OPTIONS},
        {SAYS("stream_options: Extra inputs are not permitted"), AL_LLM_STREAM_OPTIONS},
        {"{\"detail\":[{\"loc\":[\"body\",\"stream_options\"],\"msg\":\"Extra inputs are not permitted\"}]}",
         AL_LLM_STREAM_OPTIONS},
        {PARAM("x", "tools[0].function.strict"), AL_LLM_STRICT},
        {SAYS("tools.0.custom.strict: Extra inputs are not permitted"), AL_LLM_STRICT},
        {PARAM("'parallel_tool_calls' is not supported with this model.", "parallel_tool_calls"),
         AL_LLM_PARALLEL},
        {SAYS("Unsupported value: 'reasoning_effort' does not support 'low' with this model."),
         AL_LLM_EFFORT},
        {PARAM("x", "reasoning.effort"), AL_LLM_EFFORT},
        {SAYS("output_config.effort: not supported by this model"), AL_LLM_EFFORT},
        {SAYS("adaptive thinking is not supported on this model"), AL_LLM_EFFORT},
        {SAYS("This model does not support the effort parameter."), AL_LLM_EFFORT},
        {SAYS("thinking about it, something else is wrong"), -1},
        {SAYS("thinking.type: adaptive is not supported on this model"), AL_LLM_EFFORT},
        {SAYS("`temperature` is deprecated for this model."), AL_LLM_TEMPERATURE},
        {PARAM("Unsupported value: 'temperature' does not support 0.2 with this model.", "temperature"),
         AL_LLM_TEMPERATURE},
        {SAYS("Unknown parameter: 'store'."), AL_LLM_STORE},
        {SAYS("we have no such thing in store, which is not supported"), -1},
        {PARAM("Encrypted content is not supported with this model.", "include"), AL_LLM_INCLUDE},
        {PARAM("x", "prompt_cache_key"), AL_LLM_CACHE_KEY},
        {SAYS("cache_control: Extra inputs are not permitted"), AL_LLM_CACHE_CONTROL},
        {PARAM("Invalid value: 'developer'. Supported values are: 'system', 'assistant', 'user'.",
               "messages[0].role"),
         AL_LLM_DEVELOPER},
        {SAYS("Only user, assistant and tool roles are supported, got developer."), AL_LLM_DEVELOPER},
        {SAYS("Unsupported parameter: 'top_p'"), -1},
        {SAYS("max_tokens was fine"), -1},
        {SAYS("messages.1.content.0: Invalid `signature` in `thinking` block"), -1},
        {PARAM("x", "messages[2].reasoning"), -1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct al_llm_fault f = answer(400, rows[i].body);
        int field = al_llm_fault_about_field(&f, AL_STR(body));
        if (field != rows[i].field)
            fail_msg("%d instead of %d: %s", field, rows[i].field, rows[i].body);
        assert_int_equal(al_llm_fault_about_field(&f, AL_STR("{\"model\":\"m\"}")), -1);
    }
    struct al_llm_fault f = answer(401, PARAM("x", "store"));
    assert_int_equal(al_llm_fault_about_field(&f, AL_STR(body)), -1);
}

static void a_refusal_of_earlier_reasoning_is_recognised(void **state)
{
    (void)state;
    static const char *const rows[] = {
        SAYS("messages.1.content.0: Invalid `signature` in `thinking` block"),
        SAYS("messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. "
             "When `thinking` "
             "is enabled, a final `assistant` message must start with a thinking block"),
        SAYS("`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."),
        SAYS("messages.1.content.0.thinking.signature: Field required"),
        OPENAI("The encrypted content gAAA could not be verified.", "invalid_request_error",
               "\"invalid_encrypted_content\""),
        SAYS("Item 'rs_1' of type 'reasoning' was provided without its required following item."),
        SAYS("Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: "
             "'rs_1'."),
        SAYS("Function call is missing a thought_signature in functionCall parts."),
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct al_llm_fault f = answer(400, rows[i]);
        if (!al_llm_fault_about_reasoning(&f) || al_llm_fault_wants_reasoning(&f))
            fail_msg("%s", rows[i]);
    }
    struct al_llm_fault f =
        answer(404, SAYS("Item with id 'rs_1' not found. Items are not persisted when `store` is false."));
    assert_true(al_llm_fault_about_reasoning(&f));
    f = answer(400, SAYS("The `reasoning_content` in the thinking mode must be passed back to the API."));
    assert_true(al_llm_fault_wants_reasoning(&f));
    f = answer(400, SAYS("thinking is enabled but reasoning_content is missing in assistant tool call "
                         "message at index 2"));
    assert_true(al_llm_fault_wants_reasoning(&f));
    f = answer(400, SAYS("tools: something else"));
    assert_false(al_llm_fault_about_reasoning(&f) || al_llm_fault_wants_reasoning(&f));
}

static void a_limit_of_answers_is_learned_from_its_refusal(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int64_t n;
    } rows[] = {
        {SAYS("max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens for claude-x"),
         32000},
        {SAYS("max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas "
              "you provided "
              "100000."),
         16384},
        {SAYS("`max_tokens` must be less than or equal to `32768`, the maximum value for `max_tokens` is "
              "less than the "
              "`context_window` for this model"),
         32768},
        {SAYS("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"), 8192},
        {SAYS("Range of max_tokens should be [1, 8192]"), 8192},
        {SAYS("Unsupported parameter: 'max_tokens'"), 0},
        {SAYS("at most 4096 images"), 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct al_llm_fault f = answer(400, rows[i].body);
        if (al_llm_fault_max_output(&f) != rows[i].n)
            fail_msg("%lld: %s", (long long)al_llm_fault_max_output(&f), rows[i].body);
    }
}

/* --- keys --- */

static void assert_scrubbed(const char *text, const char *key, const char *expected)
{
    autobuf struct al_buf out = AL_BUF_INIT(1 << 16);
    al_llm_scrub(al_str_of(text), key, 500, &out);
    autofree char *z = strndup(out.p ? out.p : "", out.n);
    assert_string_equal(z, expected);
}

static void a_key_is_replaced_however_it_is_written(void **state)
{
    (void)state;
    static const char *const forms[][2] = {
        {KEY, "‹redacted›"},
        {"Incorrect API key provided: " KEY ".", "Incorrect API key provided: ‹redacted›."},
        {"a" KEY "b", "a‹redacted›b"},
        {"sk%2Dproj%2DCanary0123456789abcdefXYZ", "‹redacted›"},
        {"%73%6b%2D%70roj-Canary0123456789abcdefXYZ!", "‹redacted›!"},
        {"sk\\u002dproj\\u002DCanary0123456789abcdefXYZ", "‹redacted›"},
        {"\\u0073k-proj-Canary01234\\u00356789abcdefXYZ", "‹redacted›"},
        {"SK-PROJ-CANARY0123456789ABCDEFXYZ", "‹redacted›"},
        {"sk-proj-Canary0123456", "‹redacted›"},
        {"Canary0123456789abc was it", "‹redacted› was it"},
        {"sk-proj-************XYZ", "‹redacted›"},
        {"key=sk-other-0123456789 in task-force and risk-taking",
         "key=‹redacted› in task-force and risk-taking"},
        {"Authorization: Bearer abcdef0123456789", "Authorization: Bearer ‹redacted›"},
        {"Authorization:Bearer\tabcdef0123456789.", "Authorization:Bearer ‹redacted›."},
        {"use Bearer authentication", "use Bearer authentication"},
        {"\"x-api-key\": \"abcdef0123456789\"", "\"x-api-key\": \"‹redacted›\""},
        {"api_key=abcdef0123456789&x=1", "api_key=‹redacted›&x=1"},
        {"AIzaSyA1234567890abcdefghijk", "‹redacted›"},
        {"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.x", "‹redacted›"},
        {"nothing here", "nothing here"},
    };
    for (size_t i = 0; i < COUNT(forms); i++)
        assert_scrubbed(forms[i][0], KEY, forms[i][1]);
    assert_scrubbed("the word ollama is the key, ollamas are not", "ollama",
                    "the word ‹redacted› is the key, ollamas are not");
    assert_scrubbed("a/b%2Fc\\/d", "a/b/c/d-0123456789", "a/b%2Fc\\/d");
    assert_scrubbed("x a\\/b\\/c\\/d-0123456789 y", "a/b/c/d-0123456789", "x ‹redacted› y");
    assert_scrubbed("100%41 50%zz \\", "100%41-50%zz-0123456789", "100%41 50%zz \\");
    assert_scrubbed("k=100%41-50%zz-0123456789", "100%41-50%zz-0123456789", "k=‹redacted›");
    assert_scrubbed("", KEY, "");
    assert_scrubbed("x", NULL, "x");
}

static void a_text_is_harmless_on_a_terminal_and_short(void **state)
{
    (void)state;
    assert_scrubbed("a\x1b[31mb\r\n\tc\xe2\x80\xae"
                    "d\x07",
                    NULL, "a\\x1b[31mb c\\u202ed\\x07");
    assert_scrubbed("\xff\xfe ok", NULL, "\xef\xbf\xbd\xef\xbf\xbd ok");
    autobuf struct al_buf out = AL_BUF_INIT(1 << 16);
    al_llm_scrub(AL_STR("0123456789"), NULL, 4, &out);
    assert_int_equal(out.n, 4 + strlen("…"));
    /* Cut so that a key straddles the limit: none of it is left. */
    for (size_t max = 1; max < 60; max++) {
        al_buf_clear(&out);
        al_llm_scrub(AL_STR("the key is " KEY " and no other"), KEY, max, &out);
        autofree char *z = strndup(out.p, out.n);
        assert_null(strstr(z, "sk-"));
        assert_null(strstr(z, "Canary"));
    }
}

static void no_field_of_a_fault_has_the_key(void **state)
{
    (void)state;
    static const char echo[] =
        "{\"error\":{\"message\":\"no " KEY "\",\"type\":\"t " KEY "\",\"code\":\"c " KEY
        "\",\"param\":\"p " KEY "\"},\"request_id\":\"r " KEY "\"}";
    struct al_llm_fault f = answer(401, echo), g = in_stream(echo);
    static const struct headers h = {
        {"x-request-id", "x " KEY, "location", "https://u:" KEY "@other.example/v1?k=" KEY}};
    struct al_llm_fault r = answer_with(307, "text/html", "see " KEY, &h),
                        b = answer_with(500, "text/" KEY, "see " KEY, NULL);
    struct al_llm_fault *all[] = {&f, &g, &r, &b};
    for (size_t i = 0; i < COUNT(all); i++)
        for (size_t k = 0; k + 8 < sizeof(f); k++)
            assert_memory_not_equal((char *)all[i] + k, "Canary01", 8);
    assert_string_equal(r.message, "status 307 redirects to https://other.example/v1");
}

/* --- redirects, transport, words for people --- */

static void a_redirect_names_its_target(void **state)
{
    (void)state;
    static const int statuses[] = {301, 302, 303, 307, 308};
    static const struct headers h = {{"Location", "http://elsewhere.example:8080/v1/chat?token=secret#x"}},
                                none = {{NULL}};
    for (size_t i = 0; i < COUNT(statuses); i++) {
        struct al_llm_fault f = answer_with(statuses[i], "text/html", "moved", &h);
        assert_kind(&f, AL_LLM_FAULT_REDIRECT, "redirect");
        assert_false(f.retry);
        assert_non_null(strstr(f.message, "http://elsewhere.example:8080/v1/chat"));
        assert_null(strstr(f.message, "secret"));
    }
    struct al_llm_fault f = answer_with(302, "text/html", "moved", &none);
    assert_kind(&f, AL_LLM_FAULT_REDIRECT, "redirect");
    assert_string_equal(f.message, "status 302 redirects to no place that it names");
}

static void what_the_client_says_has_its_kind(void **state)
{
    (void)state;
    static const struct {
        enum al_code code;
        const char *detail;
        bool any_byte;
        enum al_llm_fault_kind kind;
        bool retry;
    } rows[] = {
        {AL_UPSTREAM_UNAVAILABLE, "", false, AL_LLM_FAULT_CONNECT, true},
        {AL_UPSTREAM_UNAVAILABLE, "", true, AL_LLM_FAULT_CUT, true},
        {AL_UPSTREAM_UNAVAILABLE, AL_HTTP_UNTRUSTED, false, AL_LLM_FAULT_TLS, false},
        {AL_TIMEOUT, "", false, AL_LLM_FAULT_TIMEOUT, true},
        {AL_RESULT_TOO_LARGE, "", false, AL_LLM_FAULT_TOO_LARGE, false},
        {AL_RUNTIME_UNAVAILABLE, "", false, AL_LLM_FAULT_LOCAL, false},
        {AL_INVALID_INPUT, "", false, AL_LLM_FAULT_LOCAL, false},
        {AL_PERMISSION_DENIED, "", false, AL_LLM_FAULT_LOCAL, false},
        {AL_CANCELLED, "", false, AL_LLM_FAULT_CANCELLED, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct al_err err;
        struct al_llm_fault f;
        al_fail(&err, rows[i].code, "words");
        al_hint(&err, "what to do");
        al_detail(&err, "%s", rows[i].detail);
        al_llm_fault_of_transport(&err, rows[i].any_byte, &f);
        assert_kind(&f, rows[i].kind, "transport");
        assert_int_equal(f.retry, rows[i].retry);
        /* What is not allowed gets a hint of the provider's. */
        assert_string_equal(f.message, rows[i].code == AL_PERMISSION_DENIED ? "words" : "words (what to do)");
    }
}

static void a_person_reads_who_said_what_and_what_to_do(void **state)
{
    (void)state;
    struct al_provider p = {.name = (char *)"maker",
                            .base_url = (char *)"https://user:pw@api.maker.example:8443/v1",
                            .key_env = (char *)"MAKER_API_KEY"};
    static const struct {
        int status;
        const char *body;
        enum al_code code;
        const char *msg, *hint;
    } rows[] = {
        {401, OPENAI("Incorrect API key provided", "x", "\"invalid_api_key\""), AL_AUTH_REQUIRED,
         "maker (api.maker.example) does not accept the key: Incorrect API key provided (status 401)",
         "MAKER_API_KEY"},
        {403, OPENAI("Country not supported", "x", "null"), AL_UPSTREAM_REJECTED,
         "maker (api.maker.example) does not permit this: Country not supported (status 403)", "account"},
        {404, OPENAI("The model `m` does not exist", "x", "\"model_not_found\""), AL_UPSTREAM_REJECTED,
         "maker (api.maker.example) refuses the request: The model `m` does not exist (status 404)",
         "alisio models"},
        {429, OPENAI("quota", "insufficient_quota", "null"), AL_UPSTREAM_REJECTED, "no means left",
         "balance"},
        {429, OPENAI("slow", "x", "null"), AL_UPSTREAM_UNAVAILABLE, "limits how often", "in a while"},
        {529, ANTHROPIC("overloaded_error", "Overloaded"), AL_UPSTREAM_UNAVAILABLE,
         "is overloaded: Overloaded (status 529)", "--model"},
        {500, "{}", AL_UPSTREAM_UNAVAILABLE, "status 500", "again"},
        {400, ANTHROPIC("x", "prompt is too long: 3000 tokens > 2000 maximum"), AL_CONTEXT_LIMIT,
         "does not fit into the context window of m1", "session"},
        {400, OPENAI("no such thing", "x", "null"), AL_UPSTREAM_REJECTED,
         "refuses the request: no such thing", "m1"},
        {200, "hello", AL_UPSTREAM_UNAVAILABLE, "no answer of a model: status 200", "base URL"},
        {308, "", AL_UPSTREAM_UNAVAILABLE, "redirects to", "base URL"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct al_llm_fault f = answer(rows[i].status, rows[i].body);
        struct al_err err = {0};
        al_llm_fault_err(&f, &p, "m1", &err);
        if (err.code != rows[i].code || !strstr(err.msg, rows[i].msg) || !strstr(err.hint, rows[i].hint))
            fail_msg("%s: %s / %s", al_code_name(err.code), err.msg, err.hint);
        assert_null(strstr(err.msg, "pw@"));
        assert_null(strstr(err.hint, "pw@"));
    }
}

static void a_server_that_takes_no_tools_is_not_asked_again(void **state)
{
    (void)state;
    struct al_provider p = {.name = (char *)"here", .base_url = (char *)"http://127.0.0.1:8080/v1"};
    static const struct {
        int status;
        const char *body, *hint;
    } rows[] = {
        {400,
         "{\"error\":{\"message\":\"registry.ollama.ai/library/x does not support "
         "tools\",\"type\":\"api_error\"}}",
         "can call tools"},
        {500,
         "{\"error\":{\"code\":500,\"message\":\"tools param requires --jinja "
         "flag\",\"type\":\"server_error\"}}",
         "start the server"},
        {400,
         "{\"object\":\"error\",\"message\":\"\\\"auto\\\" tool choice requires --enable-auto-tool-choice "
         "and "
         "--tool-call-parser to be set\",\"type\":\"BadRequestError\",\"code\":400}",
         "start the server"},
        {404, "{\"error\":{\"message\":\"No endpoints found that support tool use.\",\"code\":404}}",
         "can call tools"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct al_llm_fault f = answer(rows[i].status, rows[i].body);
        struct al_err err = {0};
        assert_kind(&f, AL_LLM_FAULT_REJECTED, rows[i].body);
        assert_false(f.retry);
        al_llm_fault_err(&f, &p, "x", &err);
        assert_int_equal(err.code, AL_UPSTREAM_REJECTED);
        if (!strstr(err.hint, rows[i].hint))
            fail_msg("%s", err.hint);
    }
}

static void a_long_wait_says_until_when(void **state)
{
    (void)state;
    static const struct headers h = {{"retry-after", "86400"}};
    struct al_provider p = {.name = (char *)"maker", .base_url = (char *)"https://api.maker.example"};
    struct al_llm_fault f = answer_with(429, "application/json", OPENAI("slow", "x", "null"), &h);
    struct al_err err = {0};
    al_llm_fault_err(&f, &p, "m1", &err);
    assert_non_null(strstr(err.hint, "1 d"));
    assert_non_null(strstr(err.hint, "until 20"));
}

static void assert_same_facts(const struct al_llm_facts *a, const struct al_llm_facts *b)
{
    assert_int_equal(a->without, b->without);
    assert_int_equal(a->wants_reasoning, b->wants_reasoning);
    assert_int_equal(a->window, b->window);
    assert_int_equal(a->max_output, b->max_output);
}

static void what_was_learned_survives_the_state(void **state)
{
    (void)state;
    struct al_llm_facts f = {.without = 0xfff, .wants_reasoning = true, .window = 8192, .max_output = 1000},
                        g;
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    struct al_jw w;
    autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
    const struct al_json *v;
    al_jw_init(&w, &b);
    al_llm_facts_write(&w, &f);
    assert_int_equal(al_json_parse(&arena, al_buf_str(&b), &v, NULL), 0);
    al_llm_facts_read(v, &g);
    assert_same_facts(&f, &g);
    static const char *const odd[] = {
        "{}",
        "[]",
        "null",
        "{\"without\":{\"a\":1},\"window\":-4,\"maxOutput\":\"x\"}",
        "{\"without\":[1,null,\"nothing\"],\"wantsReasoning\":1,\"window\":1e300}",
        "{\"window\":1,\"maxOutput\":1}", /* that would stop every run from now on */
        "{\"window\":255,\"maxOutput\":255}"};
    for (size_t i = 0; i < COUNT(odd); i++) {
        struct al_llm_facts none = {0};
        assert_int_equal(al_json_parse(&arena, al_str_of(odd[i]), &v, NULL), 0);
        al_llm_facts_read(v, &g);
        assert_same_facts(&g, &none);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_error_of_openai_has_its_kind),
        cmocka_unit_test(each_error_of_anthropic_has_its_kind),
        cmocka_unit_test(the_table_of_statuses_decides_about_another_attempt),
        cmocka_unit_test(should_retry_overrides_the_table_but_not_money_and_windows),
        cmocka_unit_test(other_makers_shapes_are_read),
        cmocka_unit_test(a_body_that_is_no_error_object_is_shown_in_short),
        cmocka_unit_test(an_error_within_a_stream_is_classed_as_its_status_would_be),
        cmocka_unit_test(an_overflow_is_recognised_and_teaches_the_window),
        cmocka_unit_test(what_only_repeats_the_users_words_is_no_overflow),
        cmocka_unit_test(a_wait_is_read_in_each_form),
        cmocka_unit_test(a_date_counts_from_the_servers_clock),
        cmocka_unit_test(a_refused_field_is_found_by_its_param_or_its_name),
        cmocka_unit_test(a_refusal_of_earlier_reasoning_is_recognised),
        cmocka_unit_test(a_limit_of_answers_is_learned_from_its_refusal),
        cmocka_unit_test(a_key_is_replaced_however_it_is_written),
        cmocka_unit_test(a_text_is_harmless_on_a_terminal_and_short),
        cmocka_unit_test(no_field_of_a_fault_has_the_key),
        cmocka_unit_test(a_redirect_names_its_target),
        cmocka_unit_test(what_the_client_says_has_its_kind),
        cmocka_unit_test(a_person_reads_who_said_what_and_what_to_do),
        cmocka_unit_test(a_server_that_takes_no_tools_is_not_asked_again),
        cmocka_unit_test(a_long_wait_says_until_when),
        cmocka_unit_test(what_was_learned_survives_the_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
