/* The guests' table of system calls in the words of container engines (seccomp.json of the OCI runtime
 * specification), for guests that an engine starts. */
#include "base/json.h"
#include "sandbox/filter.h"
#include "sandbox/seccomp_guest.h"

#include <errno.h>
#include <seccomp.h>
#include <stdlib.h>

#if defined(__x86_64__)
#define ARCH "SCMP_ARCH_X86_64"
#elif defined(__aarch64__)
#define ARCH "SCMP_ARCH_AARCH64"
#endif

/* What is asked of arguments at the same time; of their lower halves alone. */
#define MAX_TESTS 4
struct asked {
    const struct al_filter_test *tests[MAX_TESTS];
    size_t n;
};

static void put_asked(struct al_jw *w, const struct asked *asked)
{
    al_jw_key(w, "args");
    al_jw_arr(w);
    for (size_t i = 0; i < asked->n; i++) {
        const struct al_filter_test *t = asked->tests[i];
        al_jw_obj(w);
        al_jw_kint(w, "index", t->arg);
        al_jw_kint(w, "value", t->mask);
        al_jw_kint(w, "valueTwo", t->value);
        al_jw_kstrz(w, "op", "SCMP_CMP_MASKED_EQ");
        al_jw_end(w);
    }
    al_jw_end(w);
}

/* The calls of that rule, of which no later one speaks. A name that this libseccomp does not know is left
 * out, and so does not exist for the guest. */
static void put_names(struct al_jw *w, const struct al_filter_rule *rules, size_t n, size_t of)
{
    al_jw_key(w, "names");
    al_jw_arr(w);
    for (size_t i = 0; i < rules[of].n_calls; i++) {
        int nr = rules[of].calls[i];
        bool later = nr < 0;
        for (size_t r = of + 1; r < n; r++) {
            for (size_t k = 0; k < rules[r].n_calls; k++)
                later |= rules[r].calls[k] == nr;
        }
        char *name = later ? NULL : seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);
        if (name)
            al_jw_strz(w, name);
        free(name);
    }
    al_jw_end(w);
}

static void put_entry(struct al_jw *w, const struct al_filter_rule *rules, size_t n, size_t of, uint32_t what,
                      const struct asked *asked)
{
    al_jw_obj(w);
    put_names(w, rules, n, of);
    al_jw_kstrz(w, "action", what == SECCOMP_RET_ALLOW ? "SCMP_ACT_ALLOW" : "SCMP_ACT_ERRNO");
    if (what != SECCOMP_RET_ALLOW)
        al_jw_kint(w, "errnoRet", what & SECCOMP_RET_DATA);
    if (asked->n)
        put_asked(w, asked);
    al_jw_end(w);
}

/* One entry for each way through the tests that allows the call; every other way comes to the default. */
static bool put_rule(struct al_jw *w, const struct al_filter_rule *rules, size_t n, size_t of)
{
    const struct al_filter_rule *r = &rules[of];
    struct asked asked = {.n = 0};
    bool refused_before = false;
    for (size_t i = 0; i < r->n_tests; i++) {
        const struct al_filter_test *t = &r->tests[i];
        if (asked.n + 1 > MAX_TESTS || t->upper)
            return false;
        asked.tests[asked.n] = t;
        if (t->other) {
            asked.n++; /* what comes after holds only where they are equal */
            if (t->then == SECCOMP_RET_ALLOW)
                return false;
        } else if (t->then == SECCOMP_RET_ALLOW) {
            struct asked and = asked;
            and.n++;
            put_entry(w, rules, n, of, SECCOMP_RET_ALLOW, &and);
        } else {
            refused_before = true;
        }
    }
    if (r->n_tests == 0 || (r->otherwise == SECCOMP_RET_ALLOW && !refused_before))
        put_entry(w, rules, n, of, r->otherwise, &asked);
    return r->n_tests == 0 || r->otherwise != SECCOMP_RET_ALLOW || !refused_before;
}

int al_seal_guest_profile(struct al_buf *out)
{
    const struct al_filter_rule *rules;
    size_t n = al_seal_guest_rules(&rules);
    struct al_jw w;
    bool ok = true;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "defaultAction", "SCMP_ACT_ERRNO");
    al_jw_kint(&w, "defaultErrnoRet", ENOSYS);
    al_jw_key(&w, "architectures");
    al_jw_arr(&w);
    al_jw_strz(&w, ARCH);
    al_jw_end(&w);
    al_jw_key(&w, "syscalls");
    al_jw_arr(&w);
    for (size_t i = 0; ok && i < n; i++)
        ok = put_rule(&w, rules, n, i);
    al_jw_end(&w);
    al_jw_end(&w);
    return ok && !al_buf_failed(out) ? 0 : -1;
}
