/* What a lock file may say, and what an installer hears of our environment. */
#include "test.h"

#include "pyrun/extras_int.h"

#define SHA "--hash=sha256:03d07803992c6c7bbc976327f34b18b6160327fc81cb82c9d504720ac0be3b62"

static bool fits(const char *lock)
{
    struct al_err err = {0};
    int r = al_extras_lock_check(al_str_of(lock), &err);
    assert_true(r == 0 || err.code == AL_INVALID_INPUT);
    return r == 0;
}

static void the_shipped_lock_files_pass(void **state)
{
    (void)state;
    size_t n;
    const struct al_py_extras_set *sets = al_py_extras_sets(&n);
    struct al_err err = {0};
    for (size_t i = 0; i < n; i++)
        assert_int_equal(al_extras_lock_check(al_extras_lock(&sets[i]), &err), 0);
}

static void packages_with_hashes_pass(void **state)
{
    (void)state;
    assert_true(fits(""));
    assert_true(fits("# made by hand, from https://example.org \\\n\n"));
    assert_true(fits("tidewords==1.0 " SHA));
    assert_true(fits("tide-words[all]==1.0 ; python_version < \"3.11\" \\\r\n    " SHA " \\\r\n\t" SHA
                     "  # via -r x\r\n"));
}

static void options_and_addresses_do_not(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "--index-url http://evil.example/simple\n",
        "tidewords==1.0 " SHA "\n--extra-index-url=http://evil.example/simple",
        "-i http://evil.example",
        "-e .",
        "-r other.txt",
        "-rother.txt",
        "-c constraints.txt",
        "--no-binary :all:",
        "--no-binary=:all:",
        "--find-links /tmp",
        "--pre",
        "--trusted-host evil.example",
        "tidewords==1.0 --global-option=x " SHA,
        "tidewords==1.0 --hash=md5:1234",
        "tidewords==1.0 --hash=sha256:12",
        "tidewords @ file:///tmp/x.whl " SHA,
        "./tidewords.whl " SHA,
        "https://evil.example/tidewords-1.0-py3-none-any.whl " SHA,
        "${INDEX}==1.0 " SHA,
        /* Lines that only Python ends. */
        "# a comment\f--index-url http://evil.example",
        "# a comment\v--index-url http://evil.example",
        "# a comment\x1c--index-url http://evil.example",
        "# a comment\r--index-url http://evil.example",
        "# a comment\xc2\x85--index-url http://evil.example",
        "# a comment\xe2\x80\xa8--index-url http://evil.example",
        "tidewords==1.0 \\\n--index-url http://evil.example",
        "# a comment \\\n--index-url http://evil.example",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (fits(bad[i]))
            fail_msg("passed: %s", bad[i]);
    }
}

static void the_line_is_named(void **state)
{
    (void)state;
    struct al_err err = {0};
    assert_int_equal(al_extras_lock_check(AL_STR("# one\r\na==1 " SHA "\n\n-e ./x\n"), &err), -1);
    assert_non_null(strstr(err.msg, "line 4"));
    assert_non_null(strstr(err.msg, "-e"));
}

static void variables_say_where_from_and_nothing_else(void **state)
{
    (void)state;
    static const char *const pass[] = {"PIP_INDEX_URL=https://x", "PIP_CERT=/x",
                                       "PIP_TRUSTED_HOST=x",      "UV_INDEX_URL=https://x",
                                       "UV_DEFAULT_INDEX=x",      "UV_INDEX_INNER_PASSWORD=x",
                                       "PIP_RETRIES=0",           "PIP_CONFIG_FILE=/x"};
    static const char *const stop[] = {"PIP_TARGET=/x",
                                       "PIP_PREFIX=/x",
                                       "PIP_USER=1",
                                       "PIP_ROOT=/x",
                                       "PIP_NO_BINARY=:all:",
                                       "PIP_REQUIREMENT=x",
                                       "PIP_CONSTRAINT=x",
                                       "PIP_EDITABLE=.",
                                       "PIP_DRY_RUN=1",
                                       "PIP_PYTHON=/x",
                                       "PIP_NO_DEPS=1",
                                       "PIP_LOG=/x",
                                       "PIP_REPORT=/x",
                                       "PIP_REQUIRE_HASHES=0",
                                       "PIP_ONLY_BINARY=:none:",
                                       "UV_NO_VERIFY_HASHES=1",
                                       "UV_TARGET=/x",
                                       "UV_PYTHON=/x",
                                       "UV_NO_BINARY=1",
                                       "UV_CONSTRAINT=x",
                                       "UV_OVERRIDE=x",
                                       "UV_INDEX_PASSWORD",
                                       "PIP_",
                                       "PIPX=1",
                                       "PYTHONPATH=/x",
                                       ""};
    for (size_t i = 0; i < sizeof pass / sizeof *pass; i++) {
        if (!al_extras_env_passes(al_str_of(pass[i])))
            fail_msg("stopped: %s", pass[i]);
    }
    for (size_t i = 0; i < sizeof stop / sizeof *stop; i++) {
        if (al_extras_env_passes(al_str_of(stop[i])))
            fail_msg("passed: %s", stop[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shipped_lock_files_pass),
        cmocka_unit_test(packages_with_hashes_pass),
        cmocka_unit_test(options_and_addresses_do_not),
        cmocka_unit_test(the_line_is_named),
        cmocka_unit_test(variables_say_where_from_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
