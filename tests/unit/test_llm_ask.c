/* One answer over all its attempts: when it is asked again, after which time, and what is told meanwhile. */
#include "llm_rig.h"

#include "base/mem.h"

#include <stdio.h>

#define BASE "https://api.maker.example/v1"
#define COUNT(x) (sizeof(x) / sizeof(*(x)))

static void assert_log(struct rig *r, const char *expected)
{
    autofree char *got = strndup(r->log.p ? r->log.p : "", r->log.n);
    assert_string_equal(got, expected);
}

static void an_answer_is_told_once_in_each_api(void **state)
{
    (void)state;
    for (int api = 0; api < AL_N_APIS; api++) {
        struct rig r;
        rig_open(&r, (enum al_api)api, BASE, "sk-canary-0123456789");
        rig_ask(&r);
        rig_answer(&r, "Good day");
        assert_log(&r, "sending 1\ntext 1 Good day\nanswered stop Good day\n");
        assert_false(rig_is_open(&r));
        assert_int_equal(r.attempts, 1);
        assert_int_equal(r.unknown, 0);
        assert_int_equal(r.input, 5);
        assert_int_equal(r.output, 2);
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_told_once_in_each_api),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
