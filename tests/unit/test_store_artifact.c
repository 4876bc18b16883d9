/* Rows of artifacts: all of an execution or none, the quota, lists, ends, and what a dead host leaves. */
#include "store_test.h"

#include "base/ident.h"
#include "db/db.h"

#include <sys/wait.h>

#define PLENTY UINT64_MAX

/* Borrowed texts: never al_artifact_fini. */
static struct al_artifact make(const char *ses, const char *execution, const char *source)
{
    struct al_artifact a = {
        .workspace = (char *)"/w",
        .source_path = (char *)source,
        .title = (char *)"Sales",
        .file_name = (char *)source,
        .kind = (char *)"data",
        .mime = (char *)"application/json",
        .sha256 = (char *)"00",
        .rel_dir = (char *)"artifacts/w/s/x",
        .manifest = (char *)"{\"files\":[]}",
        .bytes = 100,
        .n_files = 1,
        .created_ms = 1000,
    };
    al_id_new(a.id, "art_");
    snprintf(a.session, sizeof a.session, "%s", ses);
    snprintf(a.execution, sizeof a.execution, "%s", execution);
    return a;
}

static bool count(void *ud, const struct al_artifact *a)
{
    assert_null(a->manifest);
    ++*(int *)ud;
    return true;
}

static int listed(struct al_store *s, struct al_artifact_filter f)
{
    int n = 0;
    struct al_err err = {0};
    OK(al_store_artifact_each(s, &f, count, &n, &err));
    return n;
}

static void an_execution_publishes_once_and_all_at_once(void **state)
{
    struct al_store *s = open_store(*state);
    struct al_err err = {0};
    char ses[AL_ID_MAX];
    session_of(s, "/w", ses);
    struct al_artifact two[] = {make(ses, "exec_1", "a.json"), make(ses, "exec_1", "b.json")};
    struct al_artifact got = {0};
    assert_int_equal(al_store_artifact_begin(s, two, 2, PLENTY, &err), 0);
    assert_int_equal(listed(s, (struct al_artifact_filter){.all = true}), 0);
    assert_int_equal(al_store_artifact_get(s, two[0].id, NULL, &got, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    OK(al_store_artifact_ready(s, two, 2, &err));
    assert_int_equal(listed(s, (struct al_artifact_filter){.execution = "exec_1"}), 2);
    struct al_artifact again = make(ses, "exec_1", "c.json");
    assert_int_equal(al_store_artifact_begin(s, &again, 1, PLENTY, &err), 1);
    assert_int_equal(listed(s, (struct al_artifact_filter){0}), 2);

    struct al_artifact twice[] = {make(ses, "exec_2", "a.json"), make(ses, "exec_2", "a.json")};
    assert_int_equal(al_store_artifact_begin(s, twice, 2, PLENTY, &err), -1);
    struct al_artifact alone[] = {make(ses, "", "a.json"), make(ses, "", "a.json")};
    assert_int_equal(al_store_artifact_begin(s, alone, 2, PLENTY, &err), 0);
    OK(al_store_artifact_ready(s, alone, 2, &err));

    OK(al_store_artifact_get(s, two[1].id, "/w", &got, &err));
    assert_string_equal(got.source_path, "b.json");
    assert_string_equal(got.status, "ready");
    assert_string_equal(got.execution, "exec_1");
    assert_string_equal(got.manifest, "{\"files\":[]}");
    assert_null(got.entry);
    assert_false(got.partial);
    al_artifact_fini(&got);
    assert_int_equal(al_store_artifact_get(s, two[1].id, "/elsewhere", &got, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    al_store_close(s);
}

static void what_was_begun_can_be_taken_back(void **state)
{
    struct al_store *s = open_store(*state);
    struct al_err err = {0};
    char ses[AL_ID_MAX];
    int64_t n, bytes;
    session_of(s, "/w", ses);
    struct al_artifact two[] = {make(ses, "exec_1", "a.json"), make(ses, "exec_1", "b.json")};
    assert_int_equal(al_store_artifact_begin(s, two, 2, PLENTY, &err), 0);
    OK(al_store_artifact_usage(s, NULL, &n, &bytes, &err));
    assert_int_equal(n, 2);
    OK(al_store_artifact_abandon(s, two, 2, &err));
    OK(al_store_artifact_usage(s, NULL, &n, &bytes, &err));
    assert_int_equal(n, 0);
    assert_int_equal(al_store_artifact_ready(s, two, 2, &err), -1);
    assert_int_equal(al_store_artifact_begin(s, two, 2, PLENTY, &err), 0);
    OK(al_store_artifact_ready(s, two, 2, &err));
    OK(al_store_artifact_abandon(s, two, 2, &err)); /* what is ready stays */
    assert_int_equal(listed(s, (struct al_artifact_filter){0}), 2);
    al_store_close(s);
}

static void more_than_the_quota_is_refused(void **state)
{
    struct al_store *s = open_store(*state);
    struct al_err err = {0};
    char ses[AL_ID_MAX];
    session_of(s, "/w", ses);
    struct al_artifact two[] = {make(ses, "exec_1", "a"), make(ses, "exec_1", "b")};
    assert_int_equal(al_store_artifact_begin(s, two, 2, 199, &err), -1);
    assert_int_equal(err.code, AL_QUOTA_EXCEEDED);
    assert_int_equal(al_store_artifact_begin(s, two, 2, 200, &err), 0);
    struct al_artifact more = make(ses, "exec_2", "a");
    assert_int_equal(al_store_artifact_begin(s, &more, 1, 299, &err), -1);
    OK(al_store_artifact_ready(s, two, 2, &err));
    OK(al_store_artifact_end(s, two[0].id, "expired", &err));
    assert_int_equal(al_store_artifact_begin(s, &more, 1, 200, &err), 0);
    al_store_close(s);
}

static void an_end_is_final_and_lists_know_it(void **state)
{
    struct al_store *s = open_store(*state);
    struct al_err err = {0};
    char ses[AL_ID_MAX];
    session_of(s, "/w", ses);
    struct al_artifact a[] = {make(ses, "exec_1", "a"), make(ses, "exec_1", "b"), make(ses, "exec_1", "c")};
    a[2].kind = (char *)"image";
    a[2].created_ms = 2000;
    struct al_artifact got = {0};
    assert_int_equal(al_store_artifact_begin(s, a, 3, PLENTY, &err), 0);
    assert_int_equal(al_store_artifact_end(s, a[0].id, "expired", &err), -1);
    OK(al_store_artifact_ready(s, a, 3, &err));
    OK(al_store_artifact_end(s, a[0].id, "expired", &err));
    assert_int_equal(al_store_artifact_end(s, a[0].id, "expired", &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    assert_int_equal(listed(s, (struct al_artifact_filter){0}), 2);
    assert_int_equal(listed(s, (struct al_artifact_filter){.all = true}), 3);
    assert_int_equal(listed(s, (struct al_artifact_filter){.kind = "image"}), 1);
    assert_int_equal(listed(s, (struct al_artifact_filter){.created_before_ms = 2000}), 1);
    assert_int_equal(listed(s, (struct al_artifact_filter){.all = true, .limit = 2}), 2);
    assert_int_equal(listed(s, (struct al_artifact_filter){.all = true, .before = a[1].id}), 1);
    assert_int_equal(listed(s, (struct al_artifact_filter){.session = "ses_x"}), 0);
    OK(al_store_artifact_end(s, a[0].id, "deleted", &err));
    OK(al_store_artifact_end(s, a[1].id, "deleted", &err));
    assert_int_equal(al_store_artifact_end(s, a[1].id, "expired", &err), -1);
    assert_int_equal(listed(s, (struct al_artifact_filter){.all = true}), 1);
    OK(al_store_artifact_get(s, a[1].id, "/w", &got, &err));
    assert_string_equal(got.status, "deleted");
    assert_true(got.ended_ms > 0);
    al_artifact_fini(&got);
    al_store_close(s);
}

static void take(void *ud, const struct al_artifact *a)
{
    assert_string_equal(a->rel_dir, "artifacts/w/s/x");
    ++*(int *)ud;
}

static void what_a_dead_host_was_publishing_is_taken_back_and_a_live_ones_is_not(void **state)
{
    struct fix *f = *state;
    struct al_err err = {0};
    char ses[AL_ID_MAX];
    pid_t pid = fork();
    if (pid == 0) {
        struct al_store *dying = NULL;
        if (al_store_open(f->dir, NULL, &dying, &err) < 0)
            _exit(1);
        session_of(dying, "/w", ses);
        struct al_artifact two[] = {make(ses, "exec_1", "a"), make(ses, "exec_1", "b")};
        _exit(al_store_artifact_begin(dying, two, 2, PLENTY, &err) == 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);

    struct al_store *s = open_store(f), *other = open_store(f);
    session_of(s, "/w", ses);
    struct al_artifact live = make(ses, "exec_2", "c");
    assert_int_equal(al_store_artifact_begin(other, &live, 1, PLENTY, &err), 0);
    int n = 0;
    assert_int_equal(al_store_artifact_recover(s, take, &n, &err), 2);
    assert_int_equal(n, 2);
    assert_int_equal(al_store_artifact_recover(s, take, &n, &err), 0);
    OK(al_store_artifact_ready(other, &live, 1, &err));
    al_store_close(other);
    assert_int_equal(listed(s, (struct al_artifact_filter){0}), 1);
    al_store_close(s);
}

static void artifacts_outlive_their_session_but_not_the_purge_of_their_workspace(void **state)
{
    struct fix *f = *state;
    struct al_store *s = open_store(f);
    struct al_err err = {0};
    char ses[AL_ID_MAX], key[AL_WORKSPACE_KEY_MAX], path[512];
    session_of(s, "/w", ses);
    struct al_artifact a = make(ses, "", "a");
    assert_int_equal(al_store_artifact_begin(s, &a, 1, PLENTY, &err), 0);
    OK(al_store_artifact_ready(s, &a, 1, &err));
    al_workspace_key(key, "/w");
    const char *const parts[] = {"artifacts", "analysis", "analysis/jobs"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", f->dir, parts[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    for (size_t i = 0; i < 3; i += 2) {
        snprintf(path, sizeof path, "%s/%s/%s", f->dir, parts[i], key);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    snprintf(path, sizeof path, "%s/analysis/jobs/%s/%s", f->dir, key, ses);
    assert_int_equal(mkdir(path, 0700), 0);
    OK(al_store_session_delete(s, ses, &err));
    assert_int_not_equal(access(path, F_OK), 0); /* its jobs go with it */
    assert_int_equal(listed(s, (struct al_artifact_filter){.workspace = "/w"}), 1);
    OK(al_store_purge_workspace(s, "/w", &err));
    assert_int_equal(listed(s, (struct al_artifact_filter){.all = true}), 0);
    for (size_t i = 0; i < 3; i += 2) {
        snprintf(path, sizeof path, "%s/%s/%s", f->dir, parts[i], key);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    assert_int_equal(al_store_artifact_get(s, a.id, NULL, &a, &err), -1);
    al_store_close(s);
}

static void a_grant_covers_the_isolation_it_names_and_stronger_ones(void **state)
{
    static const char *const strong_to_weak[] = {"os-sandbox", "os-filter", "container", "restricted-process",
                                                 "none"};
    struct al_store *s = open_store(*state);
    struct al_err err = {0};
    char ses[AL_ID_MAX], cap[32];
    session_of(s, "/w", ses);
    for (int given = 0; given < 5; given++) {
        snprintf(cap, sizeof cap, "analysis.%d", given);
        struct al_grant g = {
            .capability = cap, .isolation = (char *)strong_to_weak[given], .source = (char *)"cli"};
        memcpy(g.session, ses, sizeof g.session);
        OK(al_store_grant_add(s, &g, &err));
        for (int now = 0; now < 5; now++)
            assert_int_equal(al_store_grant_valid(s, ses, cap, strong_to_weak[now]), now <= given);
        assert_true(al_store_grant_valid(s, ses, cap, NULL));
        assert_false(al_store_grant_valid(s, ses, cap, "moon"));
    }
    struct al_grant any = {.capability = (char *)"any", .source = (char *)"cli"};
    struct al_grant odd = {.capability = (char *)"odd", .isolation = (char *)"moon", .source = (char *)"cli"};
    memcpy(any.session, ses, sizeof any.session);
    memcpy(odd.session, ses, sizeof odd.session);
    OK(al_store_grant_add(s, &any, &err));
    OK(al_store_grant_add(s, &odd, &err));
    assert_true(al_store_grant_valid(s, ses, "any", "none"));
    assert_false(al_store_grant_valid(s, ses, "odd", "os-sandbox"));
    /* A second, weaker one helps. */
    struct al_grant both = {
        .capability = (char *)"analysis.0", .isolation = (char *)"none", .source = (char *)"cli"};
    memcpy(both.session, ses, sizeof both.session);
    OK(al_store_grant_add(s, &both, &err));
    assert_true(al_store_grant_valid(s, ses, "analysis.0", "container"));
    al_store_close(s);
}

struct page {
    char last[AL_ID_MAX];
    int n;
};

static bool turn(void *ud, const struct al_artifact *a)
{
    struct page *p = ud;
    snprintf(p->last, sizeof p->last, "%s", a->id);
    p->n++;
    return true;
}

/* Of each scope, which has an index of its own; and when the one that a page ended with is no longer there.
 */
static void pages_are_the_list(void **state)
{
    struct al_store *s = open_store(*state);
    struct al_err err = {0};
    char ses[AL_ID_MAX];
    session_of(s, "/w", ses);
    for (int i = 0; i < 20; i++) {
        struct al_artifact a = make(ses, "", "a.json");
        OK(al_store_artifact_begin(s, &a, 1, PLENTY, &err));
        OK(al_store_artifact_ready(s, &a, 1, &err));
    }
    const struct al_artifact_filter scopes[] = {
        {.limit = 7}, {.limit = 7, .workspace = "/w"}, {.limit = 7, .session = ses, .workspace = "/w"}};
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        struct page p = {.n = 0};
        struct al_artifact_filter f = scopes[i];
        for (int before = -1; p.n != before;) {
            before = p.n;
            OK(al_store_artifact_each(s, &f, turn, &p, &err));
            f.before = p.last;
        }
        assert_int_equal(p.n, 20);
    }
    al_store_close(s);
}

int main(void)
{
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(an_execution_publishes_once_and_all_at_once),
        CASE(what_was_begun_can_be_taken_back),
        CASE(more_than_the_quota_is_refused),
        CASE(pages_are_the_list),
        CASE(an_end_is_final_and_lists_know_it),
        CASE(what_a_dead_host_was_publishing_is_taken_back_and_a_live_ones_is_not),
        CASE(artifacts_outlive_their_session_but_not_the_purge_of_their_workspace),
        CASE(a_grant_covers_the_isolation_it_names_and_stronger_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
