/* Which back end a run gets. Pure: from what is wanted, what is allowed and what is known. */
#include "pyrun/pyrun.h"

#include "base/text.h"

#include <string.h>

#define WHY_MAX 200 /* bytes of one back end's reason in a longer sentence */

static const char *const policy_names[] = {
    [AL_PY_PREFERRED] = "preferred", [AL_PY_REQUIRED] = "required", [AL_PY_STRICT] = "strict"};

struct choice {
    int wanted;
    enum al_py_policy policy;
    const struct al_py_probe *probes;
};

/* What `strict` misses in it, in words; NULL: nothing. */
static const char *not_denied(const struct al_py_probe *p)
{
    if (!p->denies_network)
        return "it does not keep scripts from the network here";
    if (!p->denies_files)
        return "it does not keep scripts from other files here";
    return p->denies_processes ? NULL : "it does not keep scripts from other processes here";
}

/* Whether the policy refuses it however ready it is. What has to be known first is: only managed is the same
 * everywhere. */
static const char *excluded(const struct choice *c, enum al_py_backend b)
{
    const struct al_py_probe *p = &c->probes[b];
    if (c->policy == AL_PY_PREFERRED)
        return NULL;
    if (b == AL_PY_MANAGED || (p->state == AL_PY_READY && p->isolation == AL_PY_NONE))
        return "it isolates nothing";
    if (p->state == AL_PY_READY && p->isolation == AL_PY_RESTRICTED_PROCESS)
        return "here it is a restricted process, which nothing of the system holds";
    return p->state == AL_PY_READY && c->policy == AL_PY_STRICT ? not_denied(p) : NULL;
}

/* A reason as a part of a sentence: one line, no point at its end. */
static void add_why(struct al_buf *out, const struct al_err *why)
{
    struct al_str s = al_utf8_cut(al_str_of(why->msg), WHY_MAX);
    while (s.n > 0 && (s.p[s.n - 1] == '.' || s.p[s.n - 1] == ' '))
        s.n--;
    if (s.n == 0)
        s = AL_STR("it is not known why");
    for (size_t i = 0; i < s.n; i++)
        al_buf_addc(out, s.p[i] == '\n' ? ' ' : s.p[i]);
}

/* "bwrap is not ready (bubblewrap is not installed)" */
static void add_missing(struct al_buf *out, const struct choice *c, enum al_py_backend b)
{
    const char *refused = excluded(c, b);
    al_buf_addf(out, "%s is ", al_py_backend_name(b));
    if (refused) {
        al_buf_addf(out, "not allowed by isolation \"%s\" (%s)", policy_names[c->policy], refused);
        return;
    }
    al_buf_adds(out, "not ready (");
    add_why(out, &c->probes[b].why);
    al_buf_addc(out, ')');
}

static bool same_reason(const struct choice *c, int a, int b)
{
    const struct al_py_probe *p = c->probes;
    return !excluded(c, (enum al_py_backend)a) && !excluded(c, (enum al_py_backend)b) &&
           strcmp(p[a].why.msg, p[b].why.msg) == 0;
}

/* What one thing keeps from being ready (no Python) is said once: "bwrap, landlock and managed are not ready
 * (…)". */
static void add_group(struct al_buf *out, const struct choice *c, int first, int end)
{
    int n = 0, left = 0;
    for (int b = first; b < end; b++)
        left += b == first || same_reason(c, first, b);
    if (left == 1) {
        add_missing(out, c, (enum al_py_backend)first);
        return;
    }
    for (int b = first; b < end; b++) {
        if (b != first && !same_reason(c, first, b))
            continue;
        al_buf_addf(out, "%s%s",
                    n == 0      ? ""
                    : left == 1 ? " and "
                                : ", ",
                    al_py_backend_name((enum al_py_backend)b));
        n++, left--;
    }
    al_buf_adds(out, " are not ready (");
    add_why(out, &c->probes[first].why);
    al_buf_addc(out, ')');
}

static bool was_said(const struct choice *c, int b)
{
    for (int before = 0; before < b; before++) {
        if (same_reason(c, before, b))
            return true;
    }
    return false;
}

static void add_list(struct al_buf *out, const struct choice *c, enum al_py_backend end)
{
    int left = 0, n = 0;
    for (int b = 0; b < (int)end; b++)
        left += !was_said(c, b);
    for (int b = 0; b < (int)end; b++) {
        if (was_said(c, b))
            continue;
        al_buf_adds(out, n == 0 ? "" : left == 1 ? " and " : ", ");
        add_group(out, c, b, (int)end);
        n++, left--;
    }
}

static int take(const struct choice *c, enum al_py_backend b, enum al_py_backend *ret, struct al_buf *reason)
{
    const char *name = al_py_backend_name(b);
    *ret = b;
    if (c->wanted != AL_PY_N) {
        al_buf_addf(reason, "analysis.runtime=%s asks for it", name);
    } else if (b == 0) {
        al_buf_addf(reason, "analysis.runtime=auto: %s is ready, the strongest there is", name);
    } else {
        al_buf_adds(reason, "analysis.runtime=auto: ");
        add_list(reason, c, b);
        al_buf_addf(reason, ", so %s was taken", name);
    }
    if (c->probes[b].isolation == AL_PY_NONE)
        al_buf_adds(reason, ", which isolates nothing");
    else if (c->probes[b].isolation == AL_PY_RESTRICTED_PROCESS)
        al_buf_adds(reason, ", which nothing of the system holds");
    return 0;
}

static int refuse_wanted(const struct choice *c, enum al_py_backend b, struct al_err *err)
{
    const char *name = al_py_backend_name(b), *refused = excluded(c, b);
    if (refused) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "analysis.runtime=%s is not allowed by isolation \"%s\": %s",
                name, policy_names[c->policy], refused);
        return al_hint(err,
                       "Set analysis.runtime to auto, which takes the first that is ready and allowed%s.",
                       c->policy == AL_PY_STRICT ? ", or ask for isolation \"required\" alone" : "");
    }
    const struct al_err *why = &c->probes[b].why;
    autobuf struct al_buf words = AL_BUF_INIT(WHY_MAX);
    add_why(&words, why);
    al_fail(err, AL_RUNTIME_UNAVAILABLE, "analysis.runtime=%s is not ready: %.*s", name,
            AL_FMT(al_buf_str(&words)));
    return al_hint(err, "%s",
                   why->hint[0] ? why->hint
                                : "Set analysis.runtime to auto, or run `alisio analysis status`.");
}

/* The cure of the strongest that has one: it stands first. */
static int refuse_all(const struct choice *c, struct al_err *err)
{
    autobuf struct al_buf list = AL_BUF_INIT(4096);
    add_list(&list, c, AL_PY_N);
    if (c->policy == AL_PY_PREFERRED)
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "nothing here can run Python: %.*s", AL_FMT(al_buf_str(&list)));
    else
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "nothing here can run Python with isolation \"%s\": %.*s",
                policy_names[c->policy], AL_FMT(al_buf_str(&list)));
    for (int b = 0; b < AL_PY_N; b++) {
        if (!excluded(c, (enum al_py_backend)b) && c->probes[b].why.hint[0])
            return al_hint(err, "%s", c->probes[b].why.hint);
    }
    return al_hint(err, "`alisio analysis status` shows what each of them needs.");
}

int al_py_choose(int wanted, enum al_py_policy policy, const struct al_py_probe *probes,
                 enum al_py_backend *ret_backend, enum al_py_backend *ret_need, struct al_buf *reason,
                 struct al_err *err)
{
    const struct choice c = {wanted, policy, probes};
    bool one = wanted >= 0 && wanted < AL_PY_N;
    for (int i = one ? wanted : 0; i < (one ? wanted + 1 : AL_PY_N); i++) {
        enum al_py_backend b = (enum al_py_backend)i;
        if (probes[b].state == AL_PY_UNPROBED && !excluded(&c, b)) {
            *ret_need = b;
            return 1;
        }
        if (probes[b].state == AL_PY_READY && !excluded(&c, b))
            return take(&c, b, ret_backend, reason);
    }
    return one ? refuse_wanted(&c, (enum al_py_backend)wanted, err) : refuse_all(&c, err);
}
