#include "test.h"

#include "base/err.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

/* A copy of the contract, written out, so that a change of the table has to be made twice. */
static const struct {
    const char *name;
    int exit_status, http;
} contract[] = {
    {"OK", 0, 200},
    {"INVALID_INPUT", 2, 400},
    {"TOOL_INPUT_INVALID", 2, 400},
    {"CONFIG_INVALID", 2, 400},
    {"SYNTAX_ERROR", 1, 422},
    {"SCRIPT_ERROR", 1, 422},
    {"TOOL_ERROR", 1, 422},
    {"INVALID_RESULT", 1, 422},
    {"DEADLOCK", 1, 422},
    {"ENGINE_CRASHED", 1, 422},
    {"PYTHON_FAILED", 1, 422},
    {"PUBLISH_REJECTED", 1, 422},
    {"RERUN_REFUSED", 1, 422},
    {"QUERY_ERROR", 1, 422},
    {"INGEST_INVALID", 1, 422},
    {"NO_USABLE_COLUMNS", 1, 422},
    {"PLAN_FAILED", 1, 422},
    {"DATASET_UNSUPPORTED", 1, 415},
    {"QUERY_REJECTED", 1, 400},
    {"STATE_CONFLICT", 1, 409},
    {"APPROVAL_REQUIRED", 3, 403},
    {"PERMISSION_DENIED", 3, 403},
    {"PATH_OUTSIDE_WORKSPACE", 3, 403},
    {"PATH_PROTECTED", 3, 403},
    {"PATH_SECRET", 3, 403},
    {"UNTRUSTED_REPOSITORY", 3, 403},
    {"NOT_CALLABLE", 3, 403},
    {"AUTH_REQUIRED", 3, 403},
    {"NOT_FOUND", 4, 404},
    {"TOOL_NOT_FOUND", 4, 404},
    {"TIMEOUT", 5, 408},
    {"TOOL_TIMEOUT", 5, 408},
    {"QUERY_TIMEOUT", 5, 408},
    {"MEMORY_LIMIT", 5, 413},
    {"STACK_LIMIT", 5, 413},
    {"CALL_LIMIT", 5, 413},
    {"OUTPUT_LIMIT", 5, 413},
    {"STATE_LIMIT", 5, 413},
    {"INGEST_LIMIT", 5, 413},
    {"QUERY_LIMIT", 5, 413},
    {"RESULT_TOO_LARGE", 5, 413},
    {"QUOTA_EXCEEDED", 5, 413},
    {"CONTEXT_LIMIT", 5, 413},
    {"TURN_LIMIT", 5, 413},
    {"BUSY", 5, 429},
    {"RUNTIME_UNAVAILABLE", 6, 503},
    {"ENGINE_UNAVAILABLE", 6, 503},
    {"EXTRAS_NOT_INSTALLED", 6, 503},
    {"EXTRAS_INSTALL_FAILED", 6, 503},
    {"UPSTREAM_UNAVAILABLE", 6, 503},
    {"UPSTREAM_REJECTED", 6, 502},
    {"CANCELLED", 7, 409},
    {"INTERRUPTED", 7, 409},
    {"INTERNAL", 70, 500},
    {"STATE_TOO_NEW", 70, 500},
};

static void the_codes_are_those_of_the_contract(void **state)
{
    (void)state;
    size_t n = sizeof contract / sizeof contract[0];
    for (size_t i = 0; i < n; i++) {
        enum al_code code = (enum al_code)i;
        assert_string_equal(al_code_name(code), contract[i].name);
        assert_int_equal(al_code_exit(code), contract[i].exit_status);
        assert_int_equal(al_code_http(code), contract[i].http);
        assert_int_not_equal(al_code_exit(code), 77);
        if (i)
            assert_int_equal(al_code_find(contract[i].name, strlen(contract[i].name)), code);
    }
    assert_int_equal(n, (size_t)AL_STATE_TOO_NEW + 1);
}

static void unknown_names_and_numbers_are_handled(void **state)
{
    (void)state;
    static const char *const names[] = {"", "OK", "TIMEOU", "TIMEOUTS", "timeout", "77"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(al_code_find(names[i], strlen(names[i])), AL_OK);
    assert_int_equal(al_code_find("TIMEOUT and more", 7), AL_TIMEOUT);
    assert_string_equal(al_code_name((enum al_code)9999), "INTERNAL");
    assert_int_equal(al_code_exit((enum al_code)9999), 70);
}

static void fail_sets_code_and_message_and_clears_the_rest(void **state)
{
    (void)state;
    struct al_err err = {.hint = "old", .detail = "old"};
    assert_int_equal(al_fail(&err, AL_TIMEOUT, "after %d ms", 5), -1);
    assert_int_equal(err.code, AL_TIMEOUT);
    assert_string_equal(err.msg, "after 5 ms");
    assert_string_equal(err.hint, "");
    assert_string_equal(err.detail, "");
    assert_int_equal(al_hint(&err, "try %s", "again"), -1);
    assert_int_equal(al_detail(&err, "fd %d", 3), -1);
    assert_string_equal(err.hint, "try again");
    assert_string_equal(err.detail, "fd 3");
    al_err_clear(&err);
    assert_int_equal(err.code, AL_OK);
    assert_string_equal(err.msg, "");
    assert_string_equal(err.hint, "");
    assert_string_equal(err.detail, "");
}

static void every_function_takes_a_null_error(void **state)
{
    (void)state;
    assert_int_equal(al_fail(NULL, AL_TIMEOUT, "x"), -1);
    assert_int_equal(al_fail_errno(NULL, AL_TIMEOUT, ENOENT, "x"), -1);
    assert_int_equal(al_wrap(NULL, "x"), -1);
    assert_int_equal(al_hint(NULL, "x"), -1);
    assert_int_equal(al_detail(NULL, "x"), -1);
    al_err_clear(NULL);
}

static void errno_is_named_after_the_message(void **state)
{
    (void)state;
    struct al_err err;
    al_fail_errno(&err, AL_NOT_FOUND, ENOENT, "a.txt");
    assert_string_equal(err.msg, "a.txt: No such file or directory");
    al_fail_errno(&err, AL_INTERNAL, 987654, "a.txt");
    assert_string_equal(err.msg, "a.txt: error 987654");
}

static void wrap_puts_the_context_in_front_and_keeps_code_and_hint(void **state)
{
    (void)state;
    struct al_err err;
    al_fail(&err, AL_NOT_FOUND, "no file");
    al_hint(&err, "make one");
    assert_int_equal(al_wrap(&err, "job %d", 7), -1);
    al_wrap(&err, "run");
    assert_string_equal(err.msg, "run: job 7: no file");
    assert_string_equal(err.hint, "make one");
    assert_int_equal(err.code, AL_NOT_FOUND);
}

static void arguments_may_point_into_the_error_itself(void **state)
{
    (void)state;
    struct al_err err;
    al_fail(&err, AL_TIMEOUT, "inner");
    al_fail(&err, AL_INTERNAL, "outer (%s)", err.msg);
    assert_string_equal(err.msg, "outer (inner)");
    al_wrap(&err, "%s", err.msg);
    assert_string_equal(err.msg, "outer (inner): outer (inner)");
    al_hint(&err, "%s", err.msg);
    assert_string_equal(err.hint, err.msg);
}

static void long_texts_are_cut_at_a_character(void **state)
{
    (void)state;
    char text[3001];
    for (unsigned shift = 0; shift < 4; shift++) {
        struct al_err err;
        memset(text, 'x', shift);
        for (size_t i = shift; i + 4 < sizeof text; i += 4)
            memcpy(text + i, "\xf0\x9f\x98\x80", 4);
        text[2996 + shift] = '\0';
        al_fail(&err, AL_INTERNAL, "%s", text);
        al_hint(&err, "%s", text);
        al_detail(&err, "%s", text);
        assert_true(al_utf8_valid(al_str_of(err.msg)));
        assert_true(al_utf8_valid(al_str_of(err.hint)));
        assert_true(al_utf8_valid(al_str_of(err.detail)));
        assert_in_range(strlen(err.msg), sizeof err.msg - 4, sizeof err.msg - 1);
        assert_in_range(strlen(err.hint), sizeof err.hint - 4, sizeof err.hint - 1);
        assert_in_range(strlen(err.detail), sizeof err.detail - 4, sizeof err.detail - 1);
        al_wrap(&err, "y");
        assert_true(al_utf8_valid(al_str_of(err.msg)));
        assert_in_range(strlen(err.msg), sizeof err.msg - 4, sizeof err.msg - 1);
        assert_memory_equal(err.msg, "y: ", 3);
        al_wrap(&err, "%s", text);
        assert_true(al_utf8_valid(al_str_of(err.msg)));
    }
}

static void what_fits_exactly_is_not_cut(void **state)
{
    (void)state;
    struct al_err err;
    char text[sizeof err.msg];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    al_fail(&err, AL_INTERNAL, "%s", text);
    assert_string_equal(err.msg, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_codes_are_those_of_the_contract),
        cmocka_unit_test(unknown_names_and_numbers_are_handled),
        cmocka_unit_test(fail_sets_code_and_message_and_clears_the_rest),
        cmocka_unit_test(every_function_takes_a_null_error),
        cmocka_unit_test(errno_is_named_after_the_message),
        cmocka_unit_test(wrap_puts_the_context_in_front_and_keeps_code_and_hint),
        cmocka_unit_test(arguments_may_point_into_the_error_itself),
        cmocka_unit_test(long_texts_are_cut_at_a_character),
        cmocka_unit_test(what_fits_exactly_is_not_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
