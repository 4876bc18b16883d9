#include "store_test.h"

#include <fcntl.h>

static void the_state_folder_is_private(void **state)
{
    struct fix *f = *state;
    struct al_store *s = open_store(f);
    struct stat st;
    assert_int_equal(stat(f->dir, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(stat(f->file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    char lock[256];
    snprintf(lock, sizeof lock, "%s/hosts/%s.lock", f->dir, al_store_host_id(s));
    assert_int_equal(stat(lock, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_true(al_store_host_alive(s, al_store_host_id(s)));
    autofree char *sock = al_store_socket_path(s, al_store_host_id(s));
    assert_non_null(strstr(sock, ".sock"));
    assert_true(al_store_lock_fd(s) > 2);
    al_store_close(s);
    assert_int_equal(stat(lock, &st), -1);
}

static void a_folder_open_to_others_or_a_link_is_refused(void **state)
{
    struct fix *f = *state;
    struct al_store *s = NULL;
    struct al_err err = {0};
    static const mode_t modes[] = {0770, 0720, 0755, 0701};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        mkdir(f->dir, 0700);
        assert_int_equal(chmod(f->dir, modes[i]), 0);
        assert_int_equal(al_store_open(f->dir, NULL, &s, &err), -1);
        assert_int_equal(err.code, AL_PERMISSION_DENIED);
        assert_null(strstr(err.msg, f->base));
    }
    assert_int_equal(chmod(f->dir, 0700), 0);
    char link[128];
    snprintf(link, sizeof link, "%s/link", f->base);
    assert_int_equal(symlink(f->dir, link), 0);
    assert_int_equal(al_store_open(link, NULL, &s, &err), -1);
    assert_int_equal(err.code, AL_PERMISSION_DENIED);
    /* The database as a link, and its hosts open to others. */
    snprintf(link, sizeof link, "%s/elsewhere", f->base);
    assert_int_equal(symlink(link, f->file), 0);
    assert_int_equal(al_store_open(f->dir, NULL, &s, &err), -1);
    assert_int_equal(err.code, AL_PERMISSION_DENIED);
    assert_int_equal(unlink(f->file), 0);
    snprintf(link, sizeof link, "%s/hosts", f->dir);
    assert_int_equal(chmod(link, 0777), 0);
    assert_int_equal(al_store_open(f->dir, NULL, &s, &err), -1);
    assert_int_equal(err.code, AL_PERMISSION_DENIED);
}

static void another_users_folder_is_refused(void **state)
{
    struct fix *f = *state;
    if (geteuid() != 0) {
        print_message("needs root to make a folder of another user\n");
        skip();
    }
    struct al_store *s = NULL;
    struct al_err err = {0};
    assert_int_equal(mkdir(f->dir, 0700), 0);
    assert_int_equal(chown(f->dir, 12345, 12345), 0);
    assert_int_equal(al_store_open(f->dir, NULL, &s, &err), -1);
    assert_int_equal(err.code, AL_PERMISSION_DENIED);
    assert_int_equal(chown(f->dir, 0, 0), 0);
    al_store_close(open_store(f));
    assert_int_equal(chown(f->file, 12345, 12345), 0);
    assert_int_equal(al_store_open(f->dir, NULL, &s, &err), -1);
    assert_int_equal(err.code, AL_PERMISSION_DENIED);
}

static bool count_session(void *ud, const struct al_session *v)
{
    assert_true(al_id_valid(al_str_of(v->id), "ses_"));
    return ++*(int *)ud < 100;
}

static void a_workspace_has_one_default_session(void **state)
{
    struct fix *f = *state;
    struct al_store *s = open_store(f), *other = open_store(f);
    char a[AL_ID_MAX], b[AL_ID_MAX], c[AL_ID_MAX];
    session_of(s, "/w/a", a);
    session_of(other, "/w/a", b);
    session_of(s, "/w/b", c);
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
    struct al_err err = {0};
    struct al_session v = {0};
    OK(al_store_session_new(s, "/w/a", &v, &err));
    assert_string_equal(v.kind, "named");
    assert_string_not_equal(v.id, a);
    al_session_fini(&v);
    OK(al_store_session_get(s, a, &v, &err));
    assert_string_equal(v.kind, "default");
    assert_string_equal(v.workspace, "/w/a");
    assert_null(v.title);
    al_session_fini(&v);
    assert_int_equal(al_store_session_get(s, "ses_none", &v, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    int n = 0;
    OK(al_store_session_each(s, "/w/a", count_session, &n, &err));
    assert_int_equal(n, 2);
    n = 0;
    OK(al_store_session_each(s, NULL, count_session, &n, &err));
    assert_int_equal(n, 3);
    al_store_close(other);
    al_store_close(s);
}

static void a_run_goes_from_queued_to_its_end_once(void **state)
{
    struct fix *f = *state;
    struct al_store *s = open_store(f);
    struct al_err err = {0};
    char ses[AL_ID_MAX];
    session_of(s, "/w", ses);
    struct al_run r = make_run(ses, "queued");
    r.title = (char *)"a title";
    r.limits = (char *)"{\"timeoutMs\":5}";
    OK(al_store_run_begin(s, &r, AL_STR("return 1\0x"), &err));
    struct al_run got;
    OK(al_store_run_get(s, r.id, &got, &err));
    assert_string_equal(got.status, "queued");
    assert_string_equal(got.host_id, al_store_host_id(s));
    assert_string_equal(got.title, "a title");
    assert_int_equal(strlen(got.code_sha256), 64);
    assert_true(got.created_ms > 0);
    assert_int_equal(got.started_ms, 0);
    assert_null(got.record);
    al_run_fini(&got);
    OK(al_store_run_started(s, r.id, 77, &err));
    struct al_call_row c = {.seq = 1, .tool = (char *)"read_file", .effect = (char *)"read"};
    OK(al_store_call_begin(s, r.id, &c, false, &err));
    r.status = (char *)"running";
    assert_int_equal(al_store_run_end(s, &r, &err), -1);
    r.status = (char *)"timed_out";
    r.error_code = (char *)"TIMEOUT";
    r.record = (char *)"{\"a\":1}";
    r.n_calls = 1, r.text_bytes = 2, r.tool_bytes = 3, r.cpu_ms = 4, r.heap_peak_bytes = 5;
    OK(al_store_run_end(s, &r, &err));
    r.status = (char *)"completed";
    r.record = (char *)"{\"a\":2}";
    OK(al_store_run_end(s, &r, &err));
    assert_int_equal(al_store_run_started(s, r.id, 78, &err), -1);
    OK(al_store_run_get(s, r.id, &got, &err));
    assert_string_equal(got.status, "timed_out");
    assert_string_equal(got.error_code, "TIMEOUT");
    assert_string_equal(got.record, "{\"a\":1}");
    assert_true(got.started_ms > 0 && got.ended_ms > 0);
    assert_int_equal(got.pid, 77);
    assert_int_equal(got.n_calls + 10 * got.text_bytes + 100 * got.tool_bytes + 1000 * got.cpu_ms, 4321);
    assert_int_equal(got.heap_peak_bytes, 5);
    al_run_fini(&got);
    autobuf struct al_buf code = AL_BUF_INIT(100);
    OK(al_store_run_code(s, r.id, &code, &err));
    assert_true(al_str_eq(al_buf_str(&code), AL_STR("return 1\0x")));
    snprintf(r.id, sizeof r.id, "exec_none");
    assert_int_equal(al_store_run_end(s, &r, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    assert_int_equal(al_store_run_get(s, r.id, &got, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    snprintf(r.session, sizeof r.session, "ses_none");
    r.status = (char *)"queued";
    assert_int_equal(al_store_run_begin(s, &r, AL_STR("x"), &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    al_store_close(s);
}

struct calls {
    int n;
    char status[8][24], code[8][24];
};

static bool take_call(void *ud, const struct al_call_row *c)
{
    struct calls *all = ud;
    assert_int_equal(c->seq, all->n + 1);
    snprintf(all->status[all->n], sizeof all->status[0], "%s", c->status);
    snprintf(all->code[all->n], sizeof all->code[0], "%s", c->code ? c->code : "");
    return ++all->n < 8;
}

static void calls_end_once_and_with_their_run(void **state)
{
    struct fix *f = *state;
    struct al_store *s = open_store(f);
    struct al_err err = {0};
    char ses[AL_ID_MAX];
    session_of(s, "/w", ses);
    struct al_run r = make_run(ses, "running");
    OK(al_store_run_begin(s, &r, AL_STR("x"), &err));
    for (int i = 1; i <= 3; i++) {
        struct al_call_row c = {.seq = i, .tool = (char *)"t", .args_preview = (char *)"{}"};
        OK(al_store_call_begin(s, r.id, &c, i == 2, &err));
        if (i == 3)
            continue;
        c.status = (char *)(i == 1 ? "completed" : "failed");
        c.code = i == 1 ? NULL : (char *)"TOOL_ERROR";
        OK(al_store_call_end(s, r.id, &c, &err));
        c.status = (char *)"cancelled";
        OK(al_store_call_end(s, r.id, &c, &err));
    }
    struct al_call_row refused = {
        .seq = 4, .tool = (char *)"w", .status = (char *)"refused", .code = (char *)"NOT_CALLABLE"};
    OK(al_store_call_begin(s, r.id, &refused, false, &err));
    /* The same place twice is a broken caller. */
    assert_int_equal(al_store_call_begin(s, r.id, &refused, false, &err), -1);
    assert_int_equal(al_store_call_begin(s, "exec_none", &refused, false, &err), -1);
    r.status = (char *)"cancelled";
    OK(al_store_run_end(s, &r, &err));
    struct calls all = {0};
    OK(al_store_call_each(s, r.id, take_call, &all, &err));
    assert_int_equal(all.n, 4);
    assert_string_equal(all.status[0], "completed");
    assert_string_equal(all.status[1], "failed");
    assert_string_equal(all.code[1], "TOOL_ERROR");
    assert_string_equal(all.status[2], "cancelled");
    assert_string_equal(all.status[3], "refused");
    al_store_close(s);
}

struct listed {
    int n;
    char ids[64][AL_ID_MAX];
};

static bool take_run(void *ud, const struct al_run *r)
{
    struct listed *l = ud;
    memcpy(l->ids[l->n], r->id, AL_ID_MAX);
    return ++l->n < 64;
}

static int count_runs(struct al_store *s, struct al_run_filter f)
{
    struct listed l = {0};
    struct al_err err = {0};
    OK(al_store_run_each(s, &f, take_run, &l, &err));
    for (int i = 1; i < l.n; i++)
        assert_true(strcmp(l.ids[i - 1], l.ids[i]) > 0); /* newest first: ids grow with time */
    return l.n;
}

static void lists_filter_by_place_status_and_number(void **state)
{
    struct fix *f = *state;
    struct al_store *s = open_store(f);
    struct al_err err = {0};
    char a[AL_ID_MAX], b[AL_ID_MAX];
    session_of(s, "/a", a);
    session_of(s, "/b", b);
    static const char *const ends[] = {"completed",   "failed", "timed_out", "cancelled",
                                       "interrupted", NULL,     NULL};
    for (int i = 0; i < 7; i++) {
        struct al_run r = make_run(i % 2 ? b : a, "queued");
        OK(al_store_run_begin(s, &r, AL_STR("same code"), &err));
        r.status = (char *)ends[i];
        if (r.status)
            OK(al_store_run_end(s, &r, &err));
    }
    assert_int_equal(count_runs(s, (struct al_run_filter){0}), 7);
    assert_int_equal(count_runs(s, (struct al_run_filter){.limit = 3}), 3);
    struct listed all = {0};
    OK(al_store_run_each(s, NULL, take_run, &all, &err));
    assert_int_equal(count_runs(s, (struct al_run_filter){.before = all.ids[2]}), 4);
    assert_int_equal(count_runs(s, (struct al_run_filter){.before = all.ids[6]}), 0);
    assert_int_equal(count_runs(s, (struct al_run_filter){.before = "exec_7zzzzzzzzzzzzzzzzzzzzzzzzz"}), 7);
    assert_int_equal(count_runs(s, (struct al_run_filter){.before = "exec_"}), 0);
    assert_int_equal(count_runs(s, (struct al_run_filter){.workspace = "/a"}), 4);
    assert_int_equal(count_runs(s, (struct al_run_filter){.workspace = "/none"}), 0);
    assert_int_equal(count_runs(s, (struct al_run_filter){.session = b}), 3);
    assert_int_equal(count_runs(s, (struct al_run_filter){.session = b, .workspace = "/a"}), 0);
    assert_int_equal(count_runs(s, (struct al_run_filter){.status = "cancelled"}), 1);
    assert_int_equal(count_runs(s, (struct al_run_filter){.failed_only = true}), 3);
    assert_int_equal(count_runs(s, (struct al_run_filter){.live_only = true}), 2);
    assert_int_equal(count_runs(s, (struct al_run_filter){.live_only = true, .session = a}), 1);
    assert_int_equal(count_runs(s, (struct al_run_filter){.live_only = true, .workspace = "/b"}), 1);
    struct al_session v = {0};
    OK(al_store_session_get(s, a, &v, &err));
    assert_int_equal(v.n_runs, 4);
    al_session_fini(&v);
    al_store_close(s);
}

struct events {
    int n;
    int64_t last;
};

static bool take_event(void *ud, int64_t seq, const char *type, struct al_str body, int64_t at_ms)
{
    struct events *e = ud;
    assert_true(seq > e->last && at_ms > 0);
    assert_string_equal(type, "print");
    assert_int_equal(body.n, e->n ? 3 : 0);
    e->last = seq;
    return ++e->n < 100;
}

static void events_come_in_order_and_from_a_place(void **state)
{
    struct fix *f = *state;
    struct al_store *s = open_store(f);
    struct al_err err = {0};
    char ses[AL_ID_MAX];
    session_of(s, "/w", ses);
    struct al_run r = make_run(ses, "running");
    OK(al_store_run_begin(s, &r, (struct al_str){NULL, 0}, &err));
    OK(al_store_event_add(s, r.id, "print", AL_STR(""), &err));
    OK(al_store_event_add(s, r.id, "print", AL_STR("a\0b"), &err));
    OK(al_store_event_add(s, r.id, "print", AL_STR("abc"), &err));
    struct events e = {0};
    OK(al_store_event_each(s, r.id, 0, take_event, &e, &err));
    assert_int_equal(e.n, 3);
    int64_t last = e.last;
    e.n = 1;
    e.last = 0;
    OK(al_store_event_each(s, r.id, last - 1, take_event, &e, &err));
    assert_int_equal(e.n, 2);
    autobuf struct al_buf code = AL_BUF_INIT(100);
    assert_int_equal(al_store_run_code(s, r.id, &code, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    al_store_close(s);
}

static void assert_state(struct al_store *s, const char *ses, const char *want)
{
    autobuf struct al_buf b = AL_BUF_INIT(65536);
    struct al_err err = {0};
    OK(al_store_state_get(s, ses, &b, &err));
    al_buf_addc(&b, '\0');
    assert_string_equal(b.p, want);
}

static void state_merges_by_key(void **state)
{
    struct fix *f = *state;
    struct al_store *s = open_store(f);
    struct al_err err = {0};
    static const struct {
        const char *stored;         /* as pairs, from nothing */
        const char *before, *after; /* what the run saw and left */
        size_t max;
        enum al_code code;
        bool changed;
        const char *want;
    } cases[] = {
        {"[]", "{}", "[]", 100, AL_OK, false, "{}"},
        {"[]", "", "[[\"a\",1]]", 100, AL_OK, true, "{\"a\":1}"},
        {"[[\"a\",1]]", "{\"a\":1}", "[[\"a\",1]]", 100, AL_OK, false, "{\"a\":1}"},
        {"[[\"b\",1],[\"a\",2]]", "{\"b\":1,\"a\":2}", "[[\"b\",3],[\"a\",2],[\"0\",null]]", 100, AL_OK, true,
         "{\"b\":3,\"a\":2,\"0\":null}"},
        {"[[\"a\",1],[\"b\",2]]", "{\"a\":1,\"b\":2}", "[[\"b\",2]]", 100, AL_OK, true, "{\"b\":2}"},
        /* Another run wrote meanwhile: other keys merge. */
        {"[[\"a\",1],[\"b\",2]]", "{\"a\":1}", "[[\"a\",5]]", 100, AL_OK, true, "{\"a\":5,\"b\":2}"},
        {"[[\"b\",2]]", "{\"a\":1}", "[[\"a\",1],[\"c\",3]]", 100, AL_OK, true, "{\"b\":2,\"c\":3}"},
        /* Both came to the same value: two that count up would lose one. Both deleted: that is the same
           thing. */
        {"[[\"a\",5]]", "{\"a\":1}", "[[\"a\",5]]", 100, AL_STATE_CONFLICT, false, "{\"a\":5}"},
        {"[[\"a\",1]]", "{}", "[[\"a\",1]]", 100, AL_STATE_CONFLICT, false, "{\"a\":1}"},
        {"[]", "{\"a\":1}", "[]", 100, AL_OK, false, "{}"},
        /* Both changed one key: changed and changed, deleted and changed, changed and deleted, made and made.
         */
        {"[[\"a\",2]]", "{\"a\":1}", "[[\"a\",3]]", 100, AL_STATE_CONFLICT, false, "{\"a\":2}"},
        {"[]", "{\"a\":1}", "[[\"a\",3]]", 100, AL_STATE_CONFLICT, false, "{}"},
        {"[[\"a\",2]]", "{\"a\":1}", "[]", 100, AL_STATE_CONFLICT, false, "{\"a\":2}"},
        {"[[\"a\",2]]", "{}", "[[\"a\",3]]", 100, AL_STATE_CONFLICT, false, "{\"a\":2}"},
        /* All or nothing: the good key of a conflicting run is not written either. */
        {"[[\"z\",2]]", "{\"z\":1}", "[[\"z\",3],[\"a\",1]]", 100, AL_STATE_CONFLICT, false, "{\"z\":2}"},
        /* Exactly the limit, and one over it. */
        {"[]", "{}", "[[\"a\",\"1234567890\"]]", 18, AL_OK, true, "{\"a\":\"1234567890\"}"},
        {"[[\"k\",1]]", "{\"k\":1}", "[[\"k\",1],[\"a\",\"12345\"]]", 18, AL_STATE_LIMIT, false, "{\"k\":1}"},
        /* Over a lowered limit, smaller is allowed and larger is not. */
        {"[[\"a\",123456],[\"b\",2]]", "{\"a\":123456,\"b\":2}", "[[\"a\",123456]]", 5, AL_OK, true,
         "{\"a\":123456}"},
        {"[[\"a\",123456]]", "{\"a\":123456}", "[[\"a\",1234567]]", 5, AL_STATE_LIMIT, false,
         "{\"a\":123456}"},
        {"[[\"a\",123456]]", "{\"a\":123456}", "[[\"a\",123456]]", 5, AL_OK, false, "{\"a\":123456}"},
        /* Keys with quotes, of any script, and the empty one. */
        {"[]", "{}", "[[\"\",{\"x\":[1,2]}],[\"a\\\"b\\u00e9\",true]]", 100, AL_OK, true,
         "{\"\":{\"x\":[1,2]},\"a\\\"b\xc3\xa9\":true}"},
        /* What is no state is refused as a whole. */
        {"[[\"a\",1]]", "{\"a\":1}", "{\"a\":2}", 100, AL_INTERNAL, false, "{\"a\":1}"},
        {"[[\"a\",1]]", "{\"a\":1}", "[[\"a\",2],[\"b\"]]", 100, AL_INTERNAL, false, "{\"a\":1}"},
        {"[[\"a\",1]]", "{\"a\":1}", "[[\"a\",2", 100, AL_INTERNAL, false, "{\"a\":1}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct al_session v = {0};
        size_t bytes = 0;
        bool changed = false;
        OK(al_store_session_new(s, "/w", &v, &err));
        OK(al_store_state_merge(s, v.id, AL_STR("{}"), al_str_of(cases[i].stored), 1000, &bytes, &changed,
                                &err));
        int r = al_store_state_merge(s, v.id, al_str_of(cases[i].before), al_str_of(cases[i].after),
                                     cases[i].max, &bytes, &changed, &err);
        if ((r == 0) != (cases[i].code == AL_OK) || (r < 0 && err.code != cases[i].code))
            fail_msg("case %zu: %d %s", i, r, err.msg);
        assert_state(s, v.id, cases[i].want);
        if (r == 0) {
            assert_int_equal(bytes, strlen(cases[i].want));
            assert_int_equal(changed, cases[i].changed);
        }
        al_session_fini(&v);
    }
    al_store_close(s);
}

static void a_conflict_names_its_key(void **state)
{
    struct fix *f = *state;
    struct al_store *s = open_store(f);
    struct al_err err = {0};
    char ses[AL_ID_MAX];
    size_t bytes;
    bool changed;
    session_of(s, "/w", ses);
    OK(al_store_state_merge(s, ses, AL_STR("{}"), AL_STR("[[\"co\\u001bunt\",1]]"), 100, &bytes, &changed,
                            &err));
    assert_int_equal(al_store_state_merge(s, ses, AL_STR("{}"), AL_STR("[[\"co\\u001bunt\",2]]"), 100, &bytes,
                                          &changed, &err),
                     -1);
    assert_non_null(strstr(err.msg, "unt"));
    assert_null(strchr(err.msg, 0x1b));
    al_store_close(s);
}

static bool count_grant(void *ud, const struct al_grant *g)
{
    assert_non_null(g->capability);
    return ++*(int *)ud < 100;
}

static void grants_hold_until_revoked_or_expired(void **state)
{
    struct fix *f = *state;
    struct al_store *s = open_store(f);
    struct al_err err = {0};
    char def[AL_ID_MAX];
    session_of(s, "/w", def);
    struct al_session named = {0};
    OK(al_store_session_new(s, "/w", &named, &err));
    int64_t now = al_wall_ms();
    static const struct {
        bool in_default;
        int64_t created_ago, lasts; /* lasts 0: no end */
        bool valid;
    } cases[] = {
        {false, 0, 0, true},
        {false, 365LL * 86400000, 0, true},
        {false, 1000, 500, false},
        {false, 1000, 3600000, true},
        {true, 0, 0, true},
        {true, 13LL * 3600000, 0, false},
        {true, 11LL * 3600000, 0, true},
        {true, 13LL * 3600000, 20LL * 3600000, false},
        {false, -3600000, 7200000, false}, /* the clock was set back */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char cap[16];
        snprintf(cap, sizeof cap, "tool%zu", i);
        struct al_grant g = {
            .capability = cap, .source = (char *)"cli", .created_ms = now - cases[i].created_ago};
        g.expires_ms = cases[i].lasts ? g.created_ms + cases[i].lasts : 0;
        const char *ses = cases[i].in_default ? def : named.id;
        snprintf(g.session, sizeof g.session, "%s", ses);
        OK(al_store_grant_add(s, &g, &err));
        assert_true(al_id_valid(al_str_of(g.id), "grant_"));
        assert_int_equal(al_store_grant_valid(s, ses, cap, NULL), cases[i].valid);
        assert_false(al_store_grant_valid(s, cases[i].in_default ? named.id : def, cap, NULL));
        assert_false(al_store_grant_valid(s, ses, "tool", NULL));
        OK(al_store_grant_revoke(s, g.id, &err));
        assert_false(al_store_grant_valid(s, ses, cap, NULL));
        assert_int_equal(al_store_grant_revoke(s, g.id, &err), -1);
        assert_int_equal(err.code, AL_NOT_FOUND);
    }
    int n = 0;
    OK(al_store_grant_each(s, def, count_grant, &n, &err));
    assert_int_equal(n, 4);
    n = 0;
    OK(al_store_grant_each(s, NULL, count_grant, &n, &err));
    assert_int_equal(n, 9);
    al_session_fini(&named);
    al_store_close(s);
}

static bool take_decision(void *ud, const struct al_decision *d)
{
    snprintf(ud, 32, "%s", d->tool);
    return false;
}

static bool take_trust(void *ud, const char *dir, const char *sha256, int64_t at_ms)
{
    (void)sha256;
    assert_true(at_ms > 0);
    snprintf(ud, 64, "%s", dir);
    return true;
}

static void decisions_and_trust_are_kept(void **state)
{
    struct fix *f = *state;
    struct al_store *s = open_store(f);
    struct al_err err = {0};
    char text[64] = "";
    for (int i = 0; i < 3; i++) {
        char tool[8];
        snprintf(tool, sizeof tool, "t%d", i);
        struct al_decision d = {
            .session = (char *)(i == 2 ? "ses_b" : "ses_a"), .tool = tool, .decision = (char *)"allowed"};
        OK(al_store_decision_add(s, &d, &err));
    }
    OK(al_store_decision_each(s, "ses_a", 10, take_decision, text, &err));
    assert_string_equal(text, "t1");
    OK(al_store_decision_each(s, NULL, 10, take_decision, text, &err));
    assert_string_equal(text, "t2");

    OK(al_store_trust_add(s, "/w", "aa", &err));
    assert_true(al_store_trusted(s, "/w", "aa"));
    assert_false(al_store_trusted(s, "/w", "bb"));
    assert_false(al_store_trusted(s, "/w", NULL));
    assert_false(al_store_trusted(s, "/w/sub", "aa"));
    OK(al_store_trust_add(s, "/w", "bb", &err));
    assert_false(al_store_trusted(s, "/w", "aa"));
    OK(al_store_trust_each(s, take_trust, text, &err));
    assert_string_equal(text, "/w");
    OK(al_store_trust_revoke(s, "/w", &err));
    assert_false(al_store_trusted(s, "/w", "bb"));
    assert_int_equal(al_store_trust_revoke(s, "/w", &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    al_store_close(s);
}

static void what_is_live_is_not_deleted_and_the_rest_leaves_no_row(void **state)
{
    struct fix *f = *state;
    struct al_store *s = open_store(f);
    struct al_err err = {0};
    char a[AL_ID_MAX], b[AL_ID_MAX];
    session_of(s, "/a", a);
    session_of(s, "/b", b);
    struct al_run live = make_run(a, "running"), done = make_run(a, "running"),
                  other = make_run(b, "running");
    OK(al_store_run_begin(s, &live, AL_STR("code of a"), &err));
    OK(al_store_run_begin(s, &done, AL_STR("code of a"), &err));
    OK(al_store_run_begin(s, &other, AL_STR("code of b"), &err));
    done.status = other.status = (char *)"completed";
    OK(al_store_run_end(s, &done, &err));
    OK(al_store_run_end(s, &other, &err));
    assert_int_equal(al_store_run_delete(s, live.id, &err), -1);
    assert_int_equal(err.code, AL_BUSY);
    assert_int_equal(al_store_session_delete(s, a, &err), -1);
    assert_int_equal(err.code, AL_BUSY);
    assert_int_equal(al_store_purge_workspace(s, "/a", &err), -1);
    assert_int_equal(err.code, AL_BUSY);
    OK(al_store_run_delete(s, done.id, &err));
    assert_int_equal(al_store_run_delete(s, done.id, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    autobuf struct al_buf code = AL_BUF_INIT(100);
    OK(al_store_run_code(s, live.id, &code, &err));
    live.status = (char *)"completed";
    OK(al_store_run_end(s, &live, &err));
    OK(al_store_session_delete(s, a, &err));
    assert_int_equal(al_store_session_delete(s, a, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    assert_int_equal(count_runs(s, (struct al_run_filter){0}), 1);
    assert_int_equal(al_store_purge_workspace(s, "/b", &err), 1);
    assert_int_equal(count_runs(s, (struct al_run_filter){0}), 0);
    assert_int_equal(al_store_purge_workspace(s, "/b", &err), 0);
    al_store_close(s);
}

static void old_runs_go_and_their_code_with_the_last_of_them(void **state)
{
    struct fix *f = *state;
    struct al_store *s = open_store(f);
    struct al_err err = {0};
    char ses[AL_ID_MAX];
    session_of(s, "/w", ses);
    for (int i = 0; i < 55; i++) {
        struct al_run r = make_run(ses, "running");
        OK(al_store_run_begin(s, &r, AL_STR("shared"), &err));
        r.status = (char *)"completed";
        r.ended_ms = 1000 + i;
        if (i < 54)
            OK(al_store_run_end(s, &r, &err));
    }
    assert_int_equal(al_store_purge_before(s, 1000, &err), 0);
    assert_int_equal(al_store_purge_before(s, 1045, &err), 45);
    assert_int_equal(al_store_purge_before(s, INT64_MAX, &err), 9);
    struct listed l = {0};
    OK(al_store_run_each(s, NULL, take_run, &l, &err));
    assert_int_equal(l.n, 1); /* the live one */
    autobuf struct al_buf code = AL_BUF_INIT(100);
    OK(al_store_run_code(s, l.ids[0], &code, &err));
    al_store_checkpoint(s);
    al_store_close(s);
}

static void secrets_are_redacted_by_key(void **state)
{
    (void)state;
    static const struct {
        const char *in, *want;
    } cases[] = {
        {"{\"token\":\"x\"}", "{\"token\":\"‹redacted›\"}"},
        {"{ \"a\" : 1, \"GitHub_Token\" : {\"x\":[1]} , \"b\":2}",
         "{ \"a\" : 1, \"GitHub_Token\" : \"‹redacted›\" , \"b\":2}"},
        {"{\"clientSecret\":null,\"PASSWORD\":5}",
         "{\"clientSecret\":\"‹redacted›\",\"PASSWORD\":\"‹redacted›\"}"},
        {"{\"headers\":{\"Authorization\":\"Bearer q\"}}",
         "{\"headers\":{\"Authorization\":\"‹redacted›\"}}"},
        {"[{\"apikey\":1},{\"api_key\":1},{\"API-Key\":1},{\"x-api key\":1}]",
         "[{\"apikey\":\"‹redacted›\"},{\"api_key\":\"‹redacted›\"},{\"API-Key\":\"‹redacted›\"},{\"x-api "
         "key\":\"‹redacted›\"}]"},
        {"{\"api\xc3\xa9key\":1}", "{\"api\xc3\xa9key\":\"‹redacted›\"}"},
        {"{\"api__key\":1,\"ap\":2,\"api\":3,\"key\":4,\"apike\":5}",
         "{\"api__key\":1,\"ap\":2,\"api\":3,\"key\":4,\"apike\":5}"},
        {"{\"tok\\u0065n\":1}", "{\"tok\\u0065n\":\"‹redacted›\"}"},
        {"{\"path\":\"token\",\"q\":[\"secret\"]}", "{\"path\":\"token\",\"q\":[\"secret\"]}"},
        {"[[[{\"secret\":[{\"token\":1}]}, 2]]]", "[[[{\"secret\":\"‹redacted›\"}, 2]]]"},
        {"no json: token=5", "no json: token=5"},
        {"{\"token\":", "{\"token\":"},
        {"", ""},
        {"5", "5"},
        {"{}", "{}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        autobuf struct al_buf out = AL_BUF_INIT(4096);
        al_redact_json(al_str_of(cases[i].in), &out);
        al_buf_addc(&out, '\0');
        assert_string_equal(out.p, cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_state_folder_is_private, setup, teardown),
        cmocka_unit_test_setup_teardown(a_folder_open_to_others_or_a_link_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(another_users_folder_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_workspace_has_one_default_session, setup, teardown),
        cmocka_unit_test_setup_teardown(a_run_goes_from_queued_to_its_end_once, setup, teardown),
        cmocka_unit_test_setup_teardown(calls_end_once_and_with_their_run, setup, teardown),
        cmocka_unit_test_setup_teardown(lists_filter_by_place_status_and_number, setup, teardown),
        cmocka_unit_test_setup_teardown(events_come_in_order_and_from_a_place, setup, teardown),
        cmocka_unit_test_setup_teardown(state_merges_by_key, setup, teardown),
        cmocka_unit_test_setup_teardown(a_conflict_names_its_key, setup, teardown),
        cmocka_unit_test_setup_teardown(grants_hold_until_revoked_or_expired, setup, teardown),
        cmocka_unit_test_setup_teardown(decisions_and_trust_are_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_live_is_not_deleted_and_the_rest_leaves_no_row, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(old_runs_go_and_their_code_with_the_last_of_them, setup, teardown),
        cmocka_unit_test(secrets_are_redacted_by_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
