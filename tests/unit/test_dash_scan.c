/* The one scan says what each widget's statement says. ALISIO_DASH_ROUNDS: how many random datasets. */
#include "test.h"

#include "dash_world.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>

static void the_scan_says_what_each_statement_says(void **state)
{
    (void)state;
    const char *rounds = getenv("ALISIO_DASH_ROUNDS");
    int64_t n = 150;
    if (rounds)
        assert_true(al_parse_int(al_str_of(rounds), 1, 10000000, &n));
    for (int64_t i = 0; i < n; i++) {
        struct dash_world w;
        dash_open(&w, (uint64_t)i + 1, i % 10 == 9 ? 0 : i % 10 == 8 ? 1500 : 20 + (unsigned)i % 150);
        for (int k = 0; k < 4; k++) {
            dash_random_plan(&w);
            dash_scan(&w);
            dash_check(&w);
            dash_check_cube(&w);
        }
        dash_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_scan_says_what_each_statement_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
