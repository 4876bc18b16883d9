#include "test_jsvm_rig.h"

static void expressions_and_bodies(void **state)
{
    (void)state;
    rig_value("1+1", "2");
    rig_value("1+1;", "2");
    rig_value("return 42", "42");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(expressions_and_bodies),
};
RIG_MAIN(tests)
