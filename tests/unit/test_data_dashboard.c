/* The process of a dashboard, seen from the host: what it may say and do, until when, and how many there are.
 * The maker of the page is a fake that does what the request says. */
#include "data_fakes.h"
#include "data_rig.h"

#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/data_int.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* -- the sealed side */

static void stage(const char *name, uint64_t done, uint64_t total)
{
    struct al_data_stage_msg m = {.done = done, .total = total};
    memcpy(m.stage, name, strnlen(name, sizeof m.stage));
    fake_frame(AL_DATA_PROGRESS, &m, sizeof m);
}

static void fill(const char *byte, size_t n)
{
    static char chunk[AL_DATA_CHUNK_MAX];
    memset(chunk, *byte, sizeof chunk);
    for (; n; n -= n < sizeof chunk ? n : sizeof chunk)
        fake_frame(AL_DATA_CHUNK, chunk, n < sizeof chunk ? n : sizeof chunk);
}

static void said(uint32_t code)
{
    struct al_data_end_msg m = {.code = code};
    fake_frame(AL_DATA_END, &m, sizeof m);
}

static const char *const lies[] = {
    "no stage",   "long stage", "huge rows", "short progress", "no json",  "two jsons",    "bad json",
    "array json", "big chunk",  "no chunk",  "too much",       "bad page", "text",         "details",
    "a question", "silence",    "half",      "short end",      "flood",    "endless page", "big json",
};

static void lie_of_the_page(struct al_str which)
{
    static char big[AL_DASHBOARD_MAX_JSON + 2];
    memset(big, ' ', sizeof big);
    if (al_str_is(which, "big chunk"))
        fake_frame(AL_DATA_CHUNK, big, AL_DATA_CHUNK_MAX + 1);
    else if (al_str_is(which, "no chunk"))
        fake_frame(AL_DATA_CHUNK, "", 0);
    else if (al_str_is(which, "too much"))
        fill("x", AL_DASHBOARD_MAX_HTML + 1);
    else if (al_str_is(which, "endless page"))
        for (;;)
            fill("x", AL_DASHBOARD_MAX_HTML);
    else if (al_str_is(which, "bad page"))
        fill("\xff", 1), fake_frame(AL_DATA_JSON, "{}", 2), said(AL_OK);
    else if (al_str_is(which, "big json")) {
        big[0] = '{';
        big[sizeof big - 1] = '}';
        fake_frame(AL_DATA_JSON, big, sizeof big);
    }
}

static void lie(struct al_str which)
{
    static const char half[] = {100, 0, 0, 0, AL_DATA_JSON, AL_FRAME_VERSION, 0, 0, 'x'};
    char byte;
    if (al_str_is(which, "no stage"))
        stage("sleeping", 0, 1);
    else if (al_str_is(which, "long stage"))
        stage("analysing, planning, reading", 0, 1);
    else if (al_str_is(which, "huge rows"))
        stage("reading", 1, UINT64_MAX);
    else if (al_str_is(which, "short progress"))
        fake_frame(AL_DATA_PROGRESS, "12345678", 8);
    else if (al_str_is(which, "no json"))
        fill("x", 1), said(AL_OK);
    else if (al_str_is(which, "two jsons"))
        fake_frame(AL_DATA_JSON, "{}", 2), fake_frame(AL_DATA_JSON, "{}", 2);
    else if (al_str_is(which, "bad json"))
        fake_frame(AL_DATA_JSON, "{\"a\":}", 6);
    else if (al_str_is(which, "array json"))
        fake_frame(AL_DATA_JSON, "[]", 2);
    else if (al_str_is(which, "text"))
        fake_frame(AL_DATA_TEXT, "x", 1);
    else if (al_str_is(which, "details"))
        fake_frame(AL_DATA_DETAILS, "{}", 2);
    else if (al_str_is(which, "a question"))
        fake_frame(AL_DATA_DASHBOARD, "x", 1);
    else if (al_str_is(which, "short end"))
        fake_frame(AL_DATA_END, "x", 1);
    else if (al_str_is(which, "half"))
        fake_raw(half, sizeof half), _exit(0);
    else if (al_str_is(which, "silence"))
        _exit(0);
    else if (al_str_is(which, "flood"))
        for (;;)
            stage("reading", 1, 2);
    else
        lie_of_the_page(which);
    while (read(AL_DATA_FD, &byte, 1) > 0)
        ;
    _exit(0);
}

static void eat(void)
{
    for (;;) {
        volatile char *p = al_xmalloc(1 << 20);
        p[1 << 19] = 1;
    }
}

/* Each must be the end of the process. */
static void refused(struct al_str which)
{
    if (al_str_is(which, "open"))
        syscall(SYS_openat, AT_FDCWD, "/etc/hostname", O_RDONLY);
    else if (al_str_is(which, "socket"))
        syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
    else if (al_str_is(which, "execve"))
        syscall(SYS_execve, "/bin/true", NULL, NULL);
    else if (al_str_is(which, "fork"))
        syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    else if (al_str_is(which, "kill"))
        syscall(SYS_kill, getppid(), SIGTERM);
}

/* What there is: its channel, the dataset to read, a spill file. */
static void show_files(void)
{
    static char byte;
    long can_read = pread(AL_DATA_QUERY_FD, &byte, 1, 0), can_write = pwrite(AL_DATA_QUERY_FD, "x", 1, 0);
    if (pwrite(AL_DATA_DASHBOARD_SPILL_FD, "x", 1, 0) != 1 || byte != 'd')
        fake_say("no files", 0, 0);
    fake_say("read, write", can_read, can_write);
}

void fake_deed(struct al_str what, bool ingest)
{
    char byte;
    struct al_str rest = {what.p, what.n};
    for (const char *space = memchr(what.p, ' ', what.n); space;) {
        rest = (struct al_str){space + 1, (size_t)(what.p + what.n - space - 1)};
        break;
    }
    (void)ingest;
    if (al_str_starts(what, "lie "))
        lie(rest);
    if (al_str_starts(what, "refused "))
        refused(rest);
    if (al_str_starts(what, "code ")) {
        struct al_err err = {.code = al_code_find(rest.p, rest.n)};
        snprintf(err.msg, sizeof err.msg, "said");
        al_sealed_end(&err, 0, 0, NULL);
    }
    if (al_str_is(what, "files"))
        show_files();
    if (al_str_is(what, "die"))
        __builtin_trap();
    if (al_str_is(what, "malloc"))
        eat();
    if (al_str_is(what, "spin"))
        for (volatile int i = 0;; i++)
            ;
    if (al_str_is(what, "hang"))
        while (read(AL_DATA_FD, &byte, 1) > 0)
            ;
    if (al_str_is(what, "whole page")) {
        fill("x", AL_DASHBOARD_MAX_HTML);
        fake_frame(AL_DATA_JSON, "{}", 2);
        said(AL_OK);
    }
    if (al_str_is(what, "stages")) {
        stage("planning", 0, 9);
        stage("reading", 4, 9);
        stage("reading", 8, 9); /* too soon after */
        stage("reading", 10, 9);
        stage("writing", 9, 9);
    }
}

void fake_thread_deed(struct al_str what)
{
    (void)what;
}

/* -- the host's side */

struct rig_dashboard {
    bool done;
    unsigned ends;
    struct al_err err;
    struct al_buf html, json, told; /* told: "stage done/total," */
    struct al_dashboard_job *job;
};

static void on_progress(void *ud, const char *name, uint64_t done, uint64_t total)
{
    struct rig_dashboard *r = ud;
    al_buf_addf(&r->told, "%s %d/%d,", name, (int)done, (int)total);
}

static void on_end(void *ud, const struct al_dashboard_end *end)
{
    struct rig_dashboard *r = ud;
    r->done = true;
    r->ends++;
    r->job = NULL;
    r->err = end->err;
    al_buf_add_str(&r->html, end->html);
    al_buf_add_str(&r->json, end->json);
}

static bool start(struct rig_dashboard *r, const char *request, uint32_t timeout_ms, struct al_err *err)
{
    static const struct al_dashboard_ops ops = {.progress = on_progress, .end = on_end};
    int dataset = rig_text("dataset");
    struct al_dashboard_spec spec = {
        .dataset_fd = dataset, .request = al_str_of(request), .timeout_ms = timeout_ms};
    *r = (struct rig_dashboard){0};
    al_buf_init(&r->html, (size_t)8 << 20);
    al_buf_init(&r->json, (size_t)2 << 20);
    al_buf_init(&r->told, 4096);
    r->job = al_dashboard_start(rig_data, &spec, &ops, r, err);
    close(dataset);
    assert_int_equal(r->ends, 0);
    return r->job != NULL;
}

static void wait_for(struct rig_dashboard *r)
{
    if (!al_loop_run_until(rig_loop, &r->done, 60000))
        fail_msg("no end after 60 s");
    assert_int_equal(r->ends, 1);
}

static void release(struct rig_dashboard *r)
{
    al_buf_free(&r->html);
    al_buf_free(&r->json);
    al_buf_free(&r->told);
}

/* The one result, freed by the next call. */
static struct rig_dashboard *dashboard(const char *request)
{
    static struct rig_dashboard r;
    struct al_err err = {0};
    release(&r);
    if (!start(&r, request, 20000, &err))
        fail_msg("al_dashboard_start: %s", err.msg);
    wait_for(&r);
    return &r;
}

static void one_is_well(void)
{
    struct rig_dashboard *r = dashboard("fine");
    if (r->err.code != AL_OK)
        fail_msg("%s: %s", al_code_name(r->err.code), r->err.msg);
    assert_true(al_str_is(al_buf_str(&r->html), "a page"));
    assert_true(al_str_is(al_buf_str(&r->json), "{\"request\":4}"));
}

static void a_page_and_what_is_said_of_it_come_out(void **state)
{
    (void)state;
    one_is_well();
    rig_rest();
}

static void its_stages_are_told_each_once(void **state)
{
    (void)state;
    struct rig_dashboard *r = dashboard("stages");
    assert_int_equal(r->err.code, AL_OK);
    al_buf_addc(&r->told, '\0');
    assert_string_equal(r->told.p, "analysing 0/9,planning 0/9,reading 4/9,writing 9/9,");
}

static void it_reads_the_dataset_and_writes_only_its_spill_file(void **state)
{
    (void)state;
    struct rig_dashboard *r = dashboard("files");
    assert_int_equal(r->err.code, AL_INVALID_INPUT);
    assert_string_equal(r->err.msg, "read, write 1 -1");
}

static void the_largest_page_is_taken(void **state)
{
    (void)state;
    struct rig_dashboard *r = dashboard("whole page");
    assert_int_equal(r->err.code, AL_OK);
    assert_int_equal(r->html.n, AL_DASHBOARD_MAX_HTML);
}

static void lies_end_the_worker_and_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        char what[60];
        snprintf(what, sizeof what, "lie %s", lies[i]);
        struct rig_dashboard *r = dashboard(what);
        if (r->err.code != AL_ENGINE_CRASHED || r->html.n || r->json.n)
            fail_msg("%s: %s: %s", what, al_code_name(r->err.code), r->err.msg);
    }
    one_is_well();
    rig_rest();
}

static void only_what_a_worker_can_come_to_is_believed(void **state)
{
    static const struct {
        const char *code;
        enum al_code want;
    } all[] = {
        {"NO_USABLE_COLUMNS", AL_NO_USABLE_COLUMNS},
        {"PLAN_FAILED", AL_PLAN_FAILED},
        {"NOT_FOUND", AL_NOT_FOUND},
        {"INVALID_INPUT", AL_INVALID_INPUT},
        {"QUERY_ERROR", AL_QUERY_ERROR},
        {"QUERY_LIMIT", AL_QUERY_LIMIT},
        {"INGEST_LIMIT", AL_ENGINE_CRASHED},
        {"CANCELLED", AL_ENGINE_CRASHED},
        {"APPROVAL_REQUIRED", AL_ENGINE_CRASHED},
        {"STATE_TOO_NEW", AL_ENGINE_CRASHED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char what[60];
        snprintf(what, sizeof what, "code %s", all[i].code);
        struct rig_dashboard *r = dashboard(what);
        assert_int_equal(r->err.code, all[i].want);
        assert_string_equal(r->err.msg, "said");
    }
}

static void a_refused_system_call_ends_it(void **state)
{
    static const char *const calls[] = {"refused open", "refused socket", "refused execve", "refused fork",
                                        "refused kill"};
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct rig_dashboard *r = dashboard(calls[i]);
        assert_int_equal(r->err.code, AL_ENGINE_CRASHED);
        assert_non_null(strstr(r->err.detail, "security"));
    }
    rig_data->probe = true;
    struct rig_dashboard *r = dashboard("fine");
    rig_data->probe = false;
    assert_int_equal(r->err.code, AL_ENGINE_CRASHED);
    one_is_well();
}

static void a_death_is_told(void **state)
{
    (void)state;
    struct rig_dashboard *r = dashboard("die");
    assert_int_equal(r->err.code, AL_ENGINE_CRASHED);
    assert_non_null(strstr(r->err.msg, "the process of the dashboard"));
    one_is_well();
}

#ifndef AL_ASAN /* whose allocator ends the process in words of its own */
static void memory_has_a_limit(void **state)
{
    (void)state;
    struct rig_dashboard *r = dashboard("malloc");
    assert_int_equal(r->err.code, AL_MEMORY_LIMIT);
    assert_true(r->err.hint[0]);
}
#endif

static void what_never_ends_is_killed_at_its_deadline(void **state)
{
    static const char *const ways[] = {"spin", "hang"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct rig_dashboard r;
        struct al_err err = {0};
        assert_true(start(&r, ways[i], 100, &err));
        wait_for(&r);
        assert_int_equal(r.err.code, AL_QUERY_TIMEOUT);
        assert_true(r.err.hint[0]);
        release(&r);
    }
    rig_rest();
}

static pid_t its_process(const struct rig_dashboard *r)
{
    return ((const struct al_job *)(const void *)r->job)->w.pid;
}

static void one_that_is_killed_from_outside_is_told(void **state)
{
    struct rig_dashboard r;
    struct al_err err = {0};
    (void)state;
    assert_true(start(&r, "hang", 20000, &err));
    assert_int_equal(kill(its_process(&r), SIGKILL), 0);
    wait_for(&r);
    assert_int_equal(r.err.code, AL_ENGINE_CRASHED);
    assert_non_null(strstr(r.err.msg, "signal 9"));
    release(&r);
    rig_rest();
}

static void two_run_and_sixty_four_wait_and_each_can_be_cancelled(void **state)
{
    enum {
        N = AL_DATA_DASHBOARDS_MAX + AL_DATA_WAITING_MAX
    };
    static struct rig_dashboard all[N], more;
    struct al_err err = {0};
    (void)state;
    unsigned fds = rig_fds(), children = rig_children();
    for (size_t i = 0; i < N; i++)
        assert_true(start(&all[i], "hang", 20000, &err));
    assert_int_equal(rig_children(), children + AL_DATA_DASHBOARDS_MAX);
    assert_false(start(&more, "fine", 20000, &err));
    assert_int_equal(err.code, AL_BUSY);
    release(&more);
    for (size_t i = N; i-- > 0;) {
        al_dashboard_cancel(all[i].job);
        al_dashboard_cancel(all[i].job); /* the second does nothing */
    }
    for (size_t i = 0; i < N; i++) {
        wait_for(&all[i]);
        assert_int_equal(all[i].err.code, AL_CANCELLED);
        assert_string_equal(all[i].err.msg, "the dashboard was cancelled");
        release(&all[i]);
    }
    al_dashboard_cancel(NULL);
    rig_rest();
    assert_int_equal(rig_fds(), fds);
    one_is_well();
}

static void one_that_waits_runs_when_another_ends(void **state)
{
    static struct rig_dashboard all[AL_DATA_DASHBOARDS_MAX + 1];
    struct al_err err = {0};
    struct rig_dashboard *last = &all[AL_DATA_DASHBOARDS_MAX];
    (void)state;
    for (size_t i = 0; i < AL_DATA_DASHBOARDS_MAX; i++)
        assert_true(start(&all[i], "hang", 20000, &err));
    assert_true(start(last, "fine", 100000, &err));
    al_dashboard_cancel(all[0].job);
    wait_for(last);
    assert_int_equal(last->err.code, AL_OK);
    for (size_t i = 0; i < AL_DATA_DASHBOARDS_MAX; i++) {
        al_dashboard_cancel(all[i].job);
        wait_for(&all[i]);
        release(&all[i]);
    }
    release(last);
    rig_rest();
}

static void a_request_over_its_limit_is_refused(void **state)
{
    struct rig_dashboard r;
    struct al_err err = {0};
    (void)state;
    char *big = al_xmalloc(AL_DASHBOARD_MAX_REQUEST + 2);
    memset(big, ' ', AL_DASHBOARD_MAX_REQUEST + 1);
    big[AL_DASHBOARD_MAX_REQUEST + 1] = '\0';
    assert_false(start(&r, big, 20000, &err));
    assert_int_equal(err.code, AL_INVALID_INPUT);
    release(&r);
    big[AL_DASHBOARD_MAX_REQUEST] = '\0';
    struct rig_dashboard *fits = dashboard(big);
    assert_int_equal(fits->err.code, AL_OK);
    assert_true(al_str_is(al_buf_str(&fits->json), "{\"request\":1048576}"));
    free(big);
}

static void what_runs_is_killed_with_the_engine(void **state)
{
    struct rig_dashboard r[AL_DATA_DASHBOARDS_MAX + 1];
    struct al_err err = {0};
    (void)state;
    for (size_t i = 0; i < AL_DATA_DASHBOARDS_MAX + 1; i++)
        assert_true(start(&r[i], "hang", 20000, &err));
    al_data_free(rig_data);
    rig_data = al_data_new(rig_loop);
    for (size_t i = 0; i < AL_DATA_DASHBOARDS_MAX + 1; i++) {
        assert_int_equal(r[i].ends, 0);
        release(&r[i]);
    }
    assert_int_equal(rig_children(), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_page_and_what_is_said_of_it_come_out),
    cmocka_unit_test(its_stages_are_told_each_once),
    cmocka_unit_test(it_reads_the_dataset_and_writes_only_its_spill_file),
    cmocka_unit_test(the_largest_page_is_taken),
    cmocka_unit_test(lies_end_the_worker_and_nothing_else),
    cmocka_unit_test(only_what_a_worker_can_come_to_is_believed),
    cmocka_unit_test(a_refused_system_call_ends_it),
    cmocka_unit_test(a_death_is_told),
#ifndef AL_ASAN
    cmocka_unit_test(memory_has_a_limit),
#endif
    cmocka_unit_test(what_never_ends_is_killed_at_its_deadline),
    cmocka_unit_test(one_that_is_killed_from_outside_is_told),
    cmocka_unit_test(two_run_and_sixty_four_wait_and_each_can_be_cancelled),
    cmocka_unit_test(one_that_waits_runs_when_another_ends),
    cmocka_unit_test(a_request_over_its_limit_is_refused),
    cmocka_unit_test(what_runs_is_killed_with_the_engine),
};

RIG_MAIN(tests)
