#include "test.h"

#include "base/mem.h"
#include "pyrun/pyrun.h"

#include <stdio.h>
#include <string.h>

/* One letter for each back end, in their order: what is known of it.
 *   -  not probed      n  not ready, with a cure      N  not ready, without one
 *   r  ready, denies all three      w  ready, lets scripts reach the network
 *   f  ready, lets them reach files      p  ready, lets them reach processes
 *   b  ready, a restricted process (bare wasm)      x  ready, isolates nothing */
static void fill(const char *letters, struct al_py_probe *probes)
{
    static const enum al_py_isolation own[AL_PY_N] = {AL_PY_OS_SANDBOX, AL_PY_OS_FILTER, AL_PY_CONTAINER,
                                                      AL_PY_OS_SANDBOX, AL_PY_NONE};
    memset(probes, 0, AL_PY_N * sizeof(*probes));
    assert_int_equal(strlen(letters), AL_PY_N);
    for (int b = 0; b < AL_PY_N; b++) {
        struct al_py_probe *p = &probes[b];
        char l = letters[b];
        p->isolation = own[b];
        p->state = l == '-' ? AL_PY_UNPROBED : l == 'n' || l == 'N' ? AL_PY_NOT_READY : AL_PY_READY;
        p->denies_network = p->denies_files = p->denies_processes = strchr("rb", l) != NULL;
        if (l == 'w')
            p->denies_files = p->denies_processes = true;
        if (l == 'f')
            p->denies_network = p->denies_processes = true;
        if (l == 'p')
            p->denies_network = p->denies_files = true;
        if (l == 'b')
            p->isolation = AL_PY_RESTRICTED_PROCESS;
        if (l == 'x')
            p->isolation = AL_PY_NONE;
        if (p->state == AL_PY_NOT_READY) {
            al_fail(&p->why, AL_RUNTIME_UNAVAILABLE, "%s is missing.",
                    al_py_backend_name((enum al_py_backend)b));
            if (l == 'n')
                al_hint(&p->why, "Install %s.", al_py_backend_name((enum al_py_backend)b));
        }
    }
}

enum {
    ERROR = -1,
    NEED = 100
}; /* NEED + b: b is to be probed */

static int choose(int wanted, enum al_py_policy policy, const char *letters, struct al_buf *reason,
                  struct al_err *err)
{
    struct al_py_probe probes[AL_PY_N];
    enum al_py_backend got = AL_PY_N, need = AL_PY_N;
    fill(letters, probes);
    int r = al_py_choose(wanted, policy, probes, &got, &need, reason, err);
    return r < 0 ? ERROR : r > 0 ? NEED + (int)need : (int)got;
}

/* wanted × policy × what is known -> choice. */
static const struct {
    int wanted;
    const char *known;
    int preferred, required, strict;
} table[] = {
    /* auto asks of one after the other, and no further than it must. */
    {AL_PY_N, "-----", NEED + 0, NEED + 0, NEED + 0},
    {AL_PY_N, "r----", 0, 0, 0},
    {AL_PY_N, "n----", NEED + 1, NEED + 1, NEED + 1},
    {AL_PY_N, "nr---", 1, 1, 1},
    {AL_PY_N, "np---", 1, 1, NEED + 2},
    {AL_PY_N, "nn---", NEED + 2, NEED + 2, NEED + 2},
    {AL_PY_N, "nnr--", 2, 2, 2},
    {AL_PY_N, "nnn--", NEED + 3, NEED + 3, NEED + 3},
    {AL_PY_N, "nnnr-", 3, 3, 3},
    {AL_PY_N, "nnnw-", 3, 3, ERROR},
    {AL_PY_N, "nnnb-", 3, ERROR, ERROR},
    {AL_PY_N, "nnnn-", NEED + 4, ERROR, ERROR},
    {AL_PY_N, "nnnnx", 4, ERROR, ERROR},
    {AL_PY_N, "nnnnn", ERROR, ERROR, ERROR},
    {AL_PY_N, "nnnNN", ERROR, ERROR, ERROR},
    /* The order is that of the table, whatever is known of later ones. */
    {AL_PY_N, "rrrrx", 0, 0, 0},
    {AL_PY_N, "-rrrx", NEED + 0, NEED + 0, NEED + 0},
    {AL_PY_N, "nrrrx", 1, 1, 1},
    {AL_PY_N, "w---x", 0, 0, NEED + 1},
    {AL_PY_N, "f---x", 0, 0, NEED + 1},
    {AL_PY_N, "p---x", 0, 0, NEED + 1},
    {AL_PY_N, "wfprx", 0, 0, 3},
    {AL_PY_N, "wfpbx", 0, 0, ERROR},
    {AL_PY_N, "nfnbx", 1, 1, ERROR},
    /* What is asked for by name is that, or an error. */
    {AL_PY_BWRAP, "-rrrx", NEED + 0, NEED + 0, NEED + 0},
    {AL_PY_BWRAP, "rrrrx", 0, 0, 0},
    {AL_PY_BWRAP, "nrrrx", ERROR, ERROR, ERROR},
    {AL_PY_BWRAP, "wrrrx", 0, 0, ERROR},
    {AL_PY_LANDLOCK, "r-rrx", NEED + 1, NEED + 1, NEED + 1},
    {AL_PY_LANDLOCK, "rrrrx", 1, 1, 1},
    {AL_PY_LANDLOCK, "rprrx", 1, 1, ERROR},
    {AL_PY_LANDLOCK, "rnrrx", ERROR, ERROR, ERROR},
    {AL_PY_OCI, "rr-rx", NEED + 2, NEED + 2, NEED + 2},
    {AL_PY_OCI, "rrrrx", 2, 2, 2},
    {AL_PY_OCI, "rrnrx", ERROR, ERROR, ERROR},
    {AL_PY_WASM, "rrr-x", NEED + 3, NEED + 3, NEED + 3},
    {AL_PY_WASM, "rrrrx", 3, 3, 3},
    {AL_PY_WASM, "rrrbx", 3, ERROR, ERROR},
    {AL_PY_WASM, "rrrnx", ERROR, ERROR, ERROR},
    {AL_PY_MANAGED, "rrrr-", NEED + 4, ERROR, ERROR},
    {AL_PY_MANAGED, "rrrrx", 4, ERROR, ERROR},
    {AL_PY_MANAGED, "rrrrn", ERROR, ERROR, ERROR},
};

static void truth_table(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const int want[] = {table[i].preferred, table[i].required, table[i].strict};
        for (int policy = 0; policy < 3; policy++) {
            autobuf struct al_buf reason = AL_BUF_INIT(4096);
            struct al_err err = {0};
            int got = choose(table[i].wanted, (enum al_py_policy)policy, table[i].known, &reason, &err);
            if (got != want[policy])
                print_error("wanted %d, policy %d, known %s: %d\n", table[i].wanted, policy, table[i].known,
                            got);
            assert_int_equal(got, want[policy]);
            if (got == ERROR) {
                assert_int_equal(err.code, AL_RUNTIME_UNAVAILABLE);
                assert_true(err.hint[0] != 0);
            }
            /* A choice is never without its reason, and a reason is one sentence. */
            assert_int_equal(reason.n > 0, got >= 0 && got < NEED);
            if (reason.n)
                assert_null(memchr(reason.p, '\n', reason.n));
        }
    }
}

/* Whatever is known: nothing that the policy excludes is ever taken, and a stronger one that is fine never
 * passed over. */
static void no_silent_downgrade(void **unused)
{
    (void)unused;
    static const char letters[] = "-nrwfpbx";
    for (unsigned n = 0; n < 8 * 8 * 8 * 8 * 8; n++) {
        char known[AL_PY_N + 1] = {0};
        unsigned rest = n;
        for (int b = 0; b < AL_PY_N; b++, rest /= 8)
            known[b] = letters[rest % 8];
        for (int policy = 0; policy < 3; policy++) {
            autobuf struct al_buf reason = AL_BUF_INIT(4096);
            struct al_err err = {0};
            int got = choose(AL_PY_N, (enum al_py_policy)policy, known, &reason, &err);
            if (got == ERROR || got >= NEED)
                continue;
            assert_true(strchr("rwfpbx", known[got]) != NULL);
            if (policy == AL_PY_REQUIRED)
                assert_true(got != AL_PY_MANAGED && strchr("rwfp", known[got]));
            if (policy == AL_PY_STRICT)
                assert_true(got != AL_PY_MANAGED && known[got] == 'r');
            al_buf_addc(&reason, 0);
            for (int b = 0; b < got; b++) {
                assert_true(known[b] != '-');
                assert_true(policy != AL_PY_PREFERRED || known[b] == 'n');
                assert_true(known[b] != 'r');
                assert_non_null(strstr(reason.p, al_py_backend_name((enum al_py_backend)b)));
            }
        }
    }
}

static void assert_reason(int wanted, enum al_py_policy policy, const char *known, const char *words)
{
    autobuf struct al_buf reason = AL_BUF_INIT(4096);
    struct al_err err = {0};
    int got = choose(wanted, policy, known, &reason, &err);
    if (got == ERROR) {
        assert_string_equal(err.msg, words);
        return;
    }
    al_buf_addc(&reason, 0);
    assert_string_equal(reason.p, words);
}

static void reasons_are_sentences(void **unused)
{
    (void)unused;
    assert_reason(AL_PY_N, AL_PY_PREFERRED, "r----",
                  "analysis.runtime=auto: bwrap is ready, the strongest there is");
    assert_reason(AL_PY_N, AL_PY_PREFERRED, "nr---",
                  "analysis.runtime=auto: bwrap is not ready (bwrap is missing), so landlock was taken");
    assert_reason(
        AL_PY_N, AL_PY_PREFERRED, "nnnnx",
        "analysis.runtime=auto: bwrap is not ready (bwrap is missing), landlock is not ready (landlock is "
        "missing), oci is not ready (oci is missing) and wasm is not ready (wasm is missing), so managed was "
        "taken, which isolates nothing");
    assert_reason(AL_PY_N, AL_PY_STRICT, "npr--",
                  "analysis.runtime=auto: bwrap is not ready (bwrap is missing) and landlock is not allowed "
                  "by isolation "
                  "\"strict\" (it does not keep scripts from other processes here), so oci was taken");
    assert_reason(AL_PY_MANAGED, AL_PY_PREFERRED, "rrrrx",
                  "analysis.runtime=managed asks for it, which isolates nothing");
    assert_reason(AL_PY_OCI, AL_PY_PREFERRED, "rrnrx", "analysis.runtime=oci is not ready: oci is missing");
    assert_reason(AL_PY_MANAGED, AL_PY_REQUIRED, "rrrrx",
                  "analysis.runtime=managed is not allowed by isolation \"required\": it isolates nothing");
    assert_reason(
        AL_PY_WASM, AL_PY_STRICT, "rrrwx",
        "analysis.runtime=wasm is not allowed by isolation \"strict\": it does not keep scripts from the "
        "network here");
    assert_reason(
        AL_PY_N, AL_PY_REQUIRED, "nnnnx",
        "nothing here can run Python with isolation \"required\": bwrap is not ready (bwrap is missing), "
        "landlock is not ready (landlock is missing), oci is not ready (oci is missing), wasm is not ready "
        "(wasm is missing) and managed is not allowed by isolation \"required\" (it isolates nothing)");
}

/* No Python at all keeps three of them from running. */
static void what_several_lack_is_said_once(void **unused)
{
    (void)unused;
    struct al_py_probe probes[AL_PY_N] = {0};
    enum al_py_backend backend, need;
    autobuf struct al_buf reason = AL_BUF_INIT(4096);
    struct al_err err = {0};
    for (int b = 0; b < AL_PY_N; b++) {
        probes[b].state = AL_PY_NOT_READY;
        al_fail(&probes[b].why, AL_RUNTIME_UNAVAILABLE, "%s",
                b == AL_PY_OCI    ? "no image"
                : b == AL_PY_WASM ? "no Pyodide"
                                  : "there is no Python 3.10.");
    }
    assert_int_equal(al_py_choose(AL_PY_N, AL_PY_PREFERRED, probes, &backend, &need, &reason, &err), -1);
    assert_string_equal(err.msg,
                        "nothing here can run Python: bwrap, landlock and managed are not ready (there is "
                        "no Python 3.10), oci is not ready (no image) and wasm is not ready (no Pyodide)");
}

static void the_cure_is_the_nearest_ones(void **unused)
{
    (void)unused;
    autobuf struct al_buf reason = AL_BUF_INIT(4096);
    struct al_err err = {0};
    assert_int_equal(choose(AL_PY_N, AL_PY_REQUIRED, "nnnn-", &reason, &err), ERROR);
    assert_string_equal(err.hint, "Install bwrap.");
    assert_int_equal(choose(AL_PY_N, AL_PY_REQUIRED, "NnNNx", &reason, &err), ERROR);
    assert_string_equal(err.hint, "Install landlock.");
    assert_int_equal(choose(AL_PY_OCI, AL_PY_REQUIRED, "rrnrx", &reason, &err), ERROR);
    assert_string_equal(err.hint, "Install oci.");
}

static void a_grant_covers_the_same_or_stronger(void **unused)
{
    (void)unused;
    for (int granted = AL_PY_OS_SANDBOX; granted <= AL_PY_NONE; granted++) {
        for (int now = AL_PY_OS_SANDBOX; now <= AL_PY_NONE; now++)
            assert_int_equal(al_py_isolation_covers((enum al_py_isolation)granted, (enum al_py_isolation)now),
                             now <= granted);
        assert_int_equal(al_py_isolation_find(al_py_isolation_name((enum al_py_isolation)granted)), granted);
    }
    assert_int_equal(al_py_isolation_find("bwrap"), -1);
    assert_int_equal(al_py_backend_find("auto"), AL_PY_N);
    assert_int_equal(al_py_backend_find("wasm"), AL_PY_WASM);
    assert_int_equal(al_py_backend_find("docker"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truth_table),
        cmocka_unit_test(no_silent_downgrade),
        cmocka_unit_test(reasons_are_sentences),
        cmocka_unit_test(what_several_lack_is_said_once),
        cmocka_unit_test(the_cure_is_the_nearest_ones),
        cmocka_unit_test(a_grant_covers_the_same_or_stronger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
