/* The compiler of filters, against its own table: programs are run by a small interpreter, for every number.
 */
#include "test.h"

#include "base/mem.h"
#include "sandbox/filter.h"
#include "sandbox/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#ifdef __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

static uint32_t run(const struct sock_fprog *prog, const struct seccomp_data *d)
{
    uint32_t a = 0;
    for (unsigned i = 0; i < prog->len; i++) {
        const struct sock_filter *f = &prog->filter[i];
        if (f->code == (BPF_LD | BPF_W | BPF_ABS)) {
            assert_true(f->k % 4 == 0 && f->k < sizeof(*d));
            memcpy(&a, (const char *)d + f->k, 4);
        } else if (f->code == (BPF_ALU | BPF_AND | BPF_K)) {
            a &= f->k;
        } else if (f->code == (BPF_JMP | BPF_JEQ | BPF_K)) {
            i += a == f->k ? f->jt : f->jf;
        } else if (f->code == (BPF_JMP | BPF_JGE | BPF_K)) {
            i += a >= f->k ? f->jt : f->jf;
        } else if (f->code == (BPF_JMP | BPF_JA)) {
            i += f->k;
        } else if (f->code == (BPF_RET | BPF_K)) {
            return f->k;
        } else {
            fail_msg("instruction %u: %x", i, f->code);
        }
    }
    fail_msg("ran out of the program");
    return 0;
}

/* What the table says, by its own words. */
static uint32_t look_up(const struct al_filter_rule *rules, size_t n, const struct seccomp_data *d)
{
    const struct al_filter_rule *r = NULL;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < rules[i].n_calls; k++) {
            if (rules[i].calls[k] == d->nr && d->nr < AL_FILTER_CALLS)
                r = &rules[i];
        }
    }
    if (!r)
        return AL_FILTER_ERROR(ENOSYS);
    for (size_t i = 0; i < r->n_tests; i++) {
        const struct al_filter_test *t = &r->tests[i];
        uint32_t v = (uint32_t)(d->args[t->arg] >> (t->upper ? 32 : 0));
        if (((v & t->mask) == t->value) != t->other)
            return t->then;
    }
    return r->otherwise;
}

static uint64_t seed = 88172645463325252ull;

static uint32_t draw(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 20) % below;
}

#define RULES 20
#define CALLS 30
#define TESTS 5

static void programs_say_what_their_tables_say(void **state)
{
    (void)state;
    static int calls[RULES][CALLS];
    static struct al_filter_test tests[RULES][TESTS];
    for (int round = 0; round < 30; round++) {
        struct al_filter_rule rules[RULES];
        size_t n = draw(RULES + 1);
        for (size_t i = 0; i < n; i++) {
            rules[i] = (struct al_filter_rule){calls[i], draw(CALLS + 1), tests[i], draw(TESTS + 1),
                                               AL_FILTER_ERROR(i)};
            for (size_t k = 0; k < CALLS; k++)
                calls[i][k] = (int)draw(560) - 20; /* some are of no architecture, some too high */
            for (size_t k = 0; k < TESTS; k++)
                tests[i][k] = (struct al_filter_test){(uint8_t)draw(6), draw(2),
                                                      draw(2),          draw(2) ? UINT32_MAX : 3u,
                                                      draw(4),          AL_FILTER_ERROR(100 + i * TESTS + k)};
        }
        struct sock_fprog *prog = al_filter_build(rules, n);
        assert_non_null(prog);
        for (int nr = 0; nr < 600; nr++) {
            struct seccomp_data d = {.nr = nr, .arch = ARCH};
            for (size_t k = 0; k < 6; k++)
                d.args[k] = draw(5) | (uint64_t)draw(3) << 32;
            assert_int_equal(run(prog, &d), look_up(rules, n, &d));
        }
        free(prog);
    }
}

static void another_architecture_kills(void **state)
{
    (void)state;
    struct sock_fprog *prog = al_filter_build(NULL, 0);
    struct seccomp_data d = {.nr = 1, .arch = AUDIT_ARCH_I386};
    assert_int_equal(run(prog, &d), SECCOMP_RET_KILL_PROCESS);
    d.arch = ARCH;
    assert_int_equal(run(prog, &d), AL_FILTER_ERROR(ENOSYS));
    d.nr = -1; /* what a tracer leaves of a call that is not to be */
    assert_int_equal(run(prog, &d), AL_FILTER_ERROR(ENOSYS));
#ifdef __x86_64__
    d.nr = 0x40000001;
    assert_int_equal(run(prog, &d), SECCOMP_RET_KILL_PROCESS);
#endif
    free(prog);
}

static void a_table_that_is_too_big_is_none(void **state)
{
    (void)state;
    static struct al_filter_rule rules[AL_FILTER_RULES + 1];
    static struct al_filter_test tests[4096];
    const int one = 1;
    assert_null(al_filter_build(rules, AL_FILTER_RULES + 1));
    rules[0] = (struct al_filter_rule){&one, 1, tests, 4096, 0};
    assert_null(al_filter_build(rules, 1));
}

/* Odd upper halves, which the kernel does not look at, change nothing. */
static void an_argument_is_as_wide_as_the_kernel_takes_it(void **state)
{
    (void)state;
    struct sock_fprog *prog;
    struct al_err err;
    const uint64_t odd = 0xabcdull << 32;
    assert_int_equal(al_seal_build(AL_SEAL_GUEST, &prog, &err), 0);
    assert_true(prog->len < 2000);
    const struct {
        int nr;
        uint64_t args[3];
        uint32_t want;
    } table[] = {
        {SYS_ioctl, {0, odd | 0x5412, 0}, AL_FILTER_ERROR(EPERM)},
        {SYS_ioctl, {0, odd | 0x5401, 0}, SECCOMP_RET_ALLOW},
        {SYS_ioctl,
         {0, 0xffffffff80045430ull, 0},
         SECCOMP_RET_ALLOW}, /* with its sign, as some libraries do */
        {SYS_ioctl, {0, 0x40086602, 0}, AL_FILTER_ERROR(ENOTTY)},
        {SYS_socket, {odd | 16, 3, 0}, AL_FILTER_ERROR(EAFNOSUPPORT)},
        {SYS_socket, {odd | 2, 1, odd | 262}, AL_FILTER_ERROR(EPROTONOSUPPORT)},
        {SYS_clone, {odd | 0x10000000, 0, 0}, AL_FILTER_ERROR(EPERM)},
        {SYS_clone, {0x3d0f00, 0, 0}, SECCOMP_RET_ALLOW},
        {SYS_clone3, {0, 0, 0}, AL_FILTER_ERROR(ENOSYS)},
        {SYS_ptrace, {0, 0, 0}, AL_FILTER_ERROR(EPERM)},
        {SYS_read, {0, 0, 0}, SECCOMP_RET_ALLOW},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct seccomp_data d = {.nr = table[i].nr, .arch = ARCH};
        memcpy(d.args, table[i].args, sizeof(table[i].args));
        if (run(prog, &d) != table[i].want)
            fail_msg("row %zu: %x", i, run(prog, &d));
    }
    al_seal_free(prog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_say_what_their_tables_say),
        cmocka_unit_test(another_architecture_kills),
        cmocka_unit_test(a_table_that_is_too_big_is_none),
        cmocka_unit_test(an_argument_is_as_wide_as_the_kernel_takes_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
