#include "test.h"

#include "base/arena.h"
#include "base/json.h"
#include "sandbox/seccomp.h"

#include <string.h>

static bool holds(const struct al_json *list, const char *name)
{
    al_json_each(it, list)
    {
        if (al_str_is(it->str, name))
            return true;
    }
    return false;
}

/* What the profile says of that call: "allow", "ask" (of its arguments), "refuse", or "" (the default). */
static const char *verdict(const struct al_json *profile, const char *name)
{
    const char *found = "";
    al_json_each(entry, al_json_get(profile, "syscalls"))
    {
        if (!holds(al_json_get(entry, "names"), name))
            continue;
        if (!al_str_is(al_json_get_text(entry, "action"), "SCMP_ACT_ALLOW"))
            found = "refuse";
        else
            found = al_json_get(entry, "args") ? "ask" : "allow";
    }
    return found;
}

static void a_container_engine_gets_the_guests_table(void **state)
{
    (void)state;
    static const struct {
        const char *name, *verdict;
    } cases[] = {
        {"read", "allow"},    {"execve", "allow"},   {"openat", "allow"},          {"clone", "ask"},
        {"socket", "ask"},    {"ioctl", "ask"},      {"unshare", "refuse"},        {"mount", "refuse"},
        {"ptrace", "refuse"}, {"keyctl", "refuse"},  {"io_uring_setup", "refuse"}, {"clone3", "refuse"},
        {"setns", "refuse"},  {"bpf", "refuse"},     {"memfd_create", "refuse"},   {"userfaultfd", "refuse"},
        {"uselib", ""},       {"create_module", ""},
    };
    struct al_err err;
    autobuf struct al_buf text = AL_BUF_INIT(64 * 1024);
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    assert_int_equal(al_seal_guest_profile(&text), 0);
    const struct al_json *profile;
    assert_int_equal(al_json_parse(&a, al_buf_str(&text), &profile, &err), 0);
    assert_true(al_str_is(al_json_get_text(profile, "defaultAction"), "SCMP_ACT_ERRNO"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strcmp(verdict(profile, cases[i].name), cases[i].verdict) != 0)
            fail_msg("%s: %s", cases[i].name, verdict(profile, cases[i].name));
    }
}

static void a_profile_that_does_not_fit_is_an_error(void **state)
{
    (void)state;
    autobuf struct al_buf text = AL_BUF_INIT(1024);
    assert_int_equal(al_seal_guest_profile(&text), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_container_engine_gets_the_guests_table),
        cmocka_unit_test(a_profile_that_does_not_fit_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
