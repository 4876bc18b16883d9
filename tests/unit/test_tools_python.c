/* python_run without a script: what is said of a run, what is read of a traceback, what is hidden, what the
 * journal gets. */
#include "test.h"

#include "tools_world.h"

#include "base/mem.h"
#include "base/text.h"
#include "tools/python_int.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* A run as it is when its script has ended. */
struct rig {
    struct world w;
    struct al_call call;
    struct python_run r;
};

static void rig_make(struct rig *g, const char *config)
{
    memset(g, 0, sizeof *g);
    world_open(&g->w, &(struct world_opts){.config = config});
    g->call.core = g->w.core;
    struct python_run *r = &g->r;
    r->call = &g->call;
    r->core = g->w.core;
    r->chosen = r->ran = true;
    r->backend = AL_PY_BWRAP;
    r->probe.isolation = AL_PY_OS_SANDBOX;
    r->reason = "because";
    r->duration_ms = 1200;
    r->limits.timeout_ms = 5000;
    snprintf(r->id, sizeof r->id, "exec_01ARZ3NDEKTSV4RRFFQ69G5FAV");
    al_arena_init(&r->arena, PYTHON_ARENA);
    al_buf_init(&r->out, 8u << 20);
    al_buf_init(&r->errors, 8u << 20);
    al_buf_init(&r->warnings, 64u << 10);
}

static void rig_free(struct rig *g)
{
    al_buf_free(&g->r.out);
    al_buf_free(&g->r.errors);
    al_buf_free(&g->r.warnings);
    al_buf_free(&g->r.provenance);
    al_arena_free(&g->r.arena);
    world_close(&g->w);
}

/* --- tracebacks --- */

#define HEAD "Traceback (most recent call last):\n"
#define MAIN(n) "  File \"/job/script/main.py\", line " #n ", in <module>\n    x\n"

static void a_traceback_becomes_one_line_with_the_scripts_own_line(void **state)
{
    (void)state;
    static const struct {
        const char *errors, *message, *hint;
        enum al_code code;
    } cases[] = {
        {HEAD MAIN(3) "KeyError: 'region'\n", "KeyError: 'region' (main.py, line 3)", "mend line 3", 0},
        {HEAD MAIN(7) "  File \"/usr/lib/python3.11/json/decoder.py\", line 355, in raw_decode\n"
                      "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n",
         "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0) (main.py, line 7)",
         "line 7", 0},
        {"  File \"/job/script/main.py\", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n",
         "SyntaxError: invalid syntax (main.py, line 1)", "mend line 1", 0},
        {HEAD MAIN(
             1) "ZeroDivisionError: division by zero\n\nThe above exception was the direct cause of the "
                "following exception:\n\n" HEAD MAIN(4) "RuntimeError: multi\nline: two\n",
         "RuntimeError: multi (main.py, line 4)", "line 4", 0},
        {"  + Exception Group Traceback (most recent call last):\n  |   File \"/job/script/main.py\", line "
         "2, in "
         "<module>\n  |     raise x\n  | ExceptionGroup: eg (2 sub-exceptions)\n  +-+---------------- 1 "
         "----------------\n    | ValueError: 1\n    +------------------------------------\n",
         "ExceptionGroup: eg (2 sub-exceptions) (main.py, line 2)", "line 2", 0},
        {HEAD MAIN(1) "ModuleNotFoundError: No module named 'pandas'\n", NULL, "extras: [\"analysis\"]", 0},
        {HEAD MAIN(1) "ModuleNotFoundError: No module named 'scipy.stats'\n", NULL, "extras: [\"science\"]",
         0},
        {HEAD MAIN(1) "ModuleNotFoundError: No module named 'torch'\n", NULL, "do without", 0},
        {HEAD MAIN(1) "FileNotFoundError: [Errno 2] No such file or directory: 'there.csv'\n", NULL,
         "inputs: [{\"path\": \"there.csv\"}]", 0},
        {HEAD MAIN(1) "FileNotFoundError: [Errno 2] No such file or directory: '/data/x.csv'\n", NULL,
         "pass files of the workspace as inputs", 0},
        {HEAD MAIN(1) "FileNotFoundError: [Errno 2] No such file or directory: '/job/input/y'\n", NULL,
         "no input has that name", 0},
        {HEAD MAIN(1) "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure>\n", NULL,
         "there is no network", 0},
        {HEAD MAIN(1) "sqlite3.OperationalError: no such table: sales\n", NULL, "datasets.tables", 0},
        {HEAD MAIN(1) "MemoryError\n", "MemoryError (main.py, line 1)", "analysis.limits.memoryMb",
         AL_MEMORY_LIMIT},
        {HEAD MAIN(1) "OSError: [Errno 27] File too large\n", NULL, "analysis.limits.maxWorkBytes", 0},
        {HEAD MAIN(1) "RuntimeError: can't start new thread\n", NULL, "analysis.limits.processes", 0},
        {"Error: not a traceback\n", "the script ended with exit code 1", "ended itself", 0},
        {"", "the script ended with exit code 1", "ended itself", 0},
        {"Traceback (most recent call last):", "the script ended with exit code 1", "", 0},
    };
    struct rig g;
    rig_make(&g, NULL);
    put(&g.w, "there.csv", "a\n");
    g.r.memory = AL_PY_KEPT_CGROUP;
    g.r.exit_code = 1;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        al_buf_clear(&g.r.errors);
        al_err_clear(&g.r.err);
        al_buf_adds(&g.r.errors, cases[i].errors);
        python_explain(&g.r);
        assert_int_equal(g.r.err.code, cases[i].code ? cases[i].code : AL_PYTHON_FAILED);
        if (cases[i].message)
            assert_string_equal(g.r.err.msg, cases[i].message);
        assert_has(g.r.err.hint, cases[i].hint);
    }
    rig_free(&g);
}

static void a_last_line_of_any_bytes_and_length_stays_one_short_line(void **state)
{
    (void)state;
    struct rig g;
    rig_make(&g, NULL);
    g.r.exit_code = 1;
    al_buf_adds(&g.r.errors, HEAD MAIN(99999999999) "ValueError: \x1b[31m");
    for (int i = 0; i < 100000; i++)
        al_buf_adds(&g.r.errors, "ñ");
    python_explain(&g.r);
    assert_true(strlen(g.r.err.msg) < sizeof g.r.err.msg);
    assert_true(al_utf8_valid(al_str_of(g.r.err.msg)));
    assert_null(strchr(g.r.err.msg, 0x1b));
    assert_has(g.r.err.msg, "…");
    rig_free(&g);
}

static void a_signal_is_named(void **state)
{
    (void)state;
    struct rig g;
    rig_make(&g, NULL);
    g.r.exit_code = -1;
    g.r.signal = SIGSEGV;
    python_explain(&g.r);
    assert_string_equal(g.r.err.msg, "the script was ended by SIGSEGV");
    rig_free(&g);
}

/* --- paths --- */

static void paths_of_this_machine_become_those_of_the_job(void **state)
{
    (void)state;
    struct rig g;
    rig_make(&g, NULL);
    char path[256], text[2048], want[2048];
    snprintf(path, sizeof path, "%s/analysis/jobs/key/ses/exec", g.w.state);
    g.r.job = (struct al_py_job){.path = path, .rel = path + strlen(g.w.state) + 1, .fd = -1};
    g.r.has_job = true;
    g.r.prefix = "/opt/py/3.11";
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"%J/script/main.py", "/job/script/main.py"},
        {"\"%J/staging\"", "\"/job/out\""},
        {"%J/work/%J/input/a", "/job/work//job/input/a"},
        {"%J/logs/x", "/job/logs/x"},
        {"%J", "/job"},
        {"%S/sessions.sqlite", "<state>/sessions.sqlite"},
        {"%S2/other", "%S2/other"},
        {"/opt/py/3.11/lib/python3.11/json/__init__.py", "<python>/lib/python3.11/json/__init__.py"},
        {"/opt/py/3.110", "/opt/py/3.110"},
        {"no/path\n/ //", "no/path\n/ //"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const both[] = {cases[i].from, cases[i].to};
        char *const outs[] = {text, want};
        for (int k = 0; k < 2; k++) {
            autobuf struct al_buf b = AL_BUF_INIT(2000);
            for (const char *c = both[k]; *c; c++) {
                bool sign = *c == '%';
                if (sign)
                    al_buf_adds(&b, *++c == 'J' ? path : g.w.state);
                else
                    al_buf_addc(&b, *c);
            }
            snprintf(outs[k], 2048, "%.*s", AL_FMT(al_buf_str(&b)));
        }
        autobuf struct al_buf out = AL_BUF_INIT(4096);
        python_hide_paths(&g.r, al_str_of(text), &out);
        al_buf_addc(&out, '\0');
        assert_string_equal(out.p, want);
    }
    g.r.has_job = false;
    rig_free(&g);
}

static void errors_of_the_layers_below_hide_them_too(void **state)
{
    (void)state;
    struct rig g;
    struct al_err err = {0};
    rig_make(&g, NULL);
    al_fail(&err, AL_INTERNAL, "cannot make %s/artifacts: no space", g.w.state);
    al_hint(&err, "make room in %s, or choose another", g.w.state);
    python_hide_in_error(&g.r, &err);
    assert_string_equal(err.msg, "cannot make <state>/artifacts: no space");
    assert_string_equal(err.hint, "make room in <state>, or choose another");
    rig_free(&g);
}

/* --- results --- */

static void fill(struct al_buf *b, const char *line, int times)
{
    for (int i = 0; i < times; i++)
        al_buf_addf(b, "%s %d\n", line, i);
}

static void the_text_has_a_head_warnings_and_the_ends_of_both_outputs(void **state)
{
    (void)state;
    struct rig g;
    rig_make(&g, NULL);
    g.r.exit_code = 1;
    al_fail(&g.r.err, AL_PYTHON_FAILED, "KeyError: 'x'");
    al_hint(&g.r.err, "mend it");
    al_buf_adds(&g.r.warnings, "a.html: draws by hand\n");
    fill(&g.r.out, "out", 5000);
    fill(&g.r.errors, "err", 5000);
    g.r.out_bytes = 1000000;
    g.r.errors_bytes = g.r.errors.n;
    autobuf struct al_buf text = AL_BUF_INIT(1u << 20), json = AL_BUF_INIT(8u << 20);
    python_result_text(&g.r, &text);
    al_buf_addc(&text, '\0');
    assert_has(text.p, "exit code 1, 1.2 s, bwrap (os-sandbox); nothing published: the script failed");
    assert_has(text.p,
               "\nPYTHON_FAILED: KeyError: 'x'\nhint: mend it\nwarning: a.html: draws by hand\n--- stdout "
               "---\n… (the last of ");
    assert_has(text.p, "\nout 4999\n--- stderr ---\n");
    assert_has(text.p, "\nerr 4999\n");
    assert_lacks(text.p, "\nout 4000\n");
    assert_true(text.n < 2 * PYTHON_TEXT_TAIL + 1000);
    python_result_json(&g.r, &json);
    assert_true(al_json_check(al_buf_str(&json), 16));
    rig_free(&g);
}

static void the_text_keeps_to_what_a_model_may_read_and_keeps_the_traceback(void **state)
{
    (void)state;
    static const int limits[] = {256, 400, 1000, 5000, 48000};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        char config[100];
        struct rig g;
        snprintf(config, sizeof config, "{\"forge\":{\"javascript\":{\"maxOutputChars\":%d}}}", limits[i]);
        rig_make(&g, config);
        al_fail(&g.r.err, AL_PYTHON_FAILED, "x");
        g.r.exit_code = 1;
        fill(&g.r.out, "ñandú", 3000);
        fill(&g.r.errors, "err", 3000);
        autobuf struct al_buf text = AL_BUF_INIT(1u << 20);
        python_result_text(&g.r, &text);
        size_t n = al_utf8_count(al_buf_str(&text));
        if (n > (size_t)limits[i])
            fail_msg("%zu characters of %d", n, limits[i]);
        assert_true(al_utf8_valid(al_buf_str(&text)));
        al_buf_addc(&text, '\0');
        if (limits[i] >= 400)
            assert_has(text.p, "err 2999\n");
        rig_free(&g);
    }
}

static void what_was_published_is_named_with_kind_size_and_id(void **state)
{
    (void)state;
    struct rig g;
    rig_make(&g, NULL);
    struct al_artifact list[2] = {
        {.title = al_xstrdup("A"),
         .file_name = al_xstrdup("a\x1b.html"),
         .kind = al_xstrdup("dashboard"),
         .bytes = 2048,
         .n_files = 3},
        {.title = al_xstrdup("B"),
         .file_name = al_xstrdup("b.csv"),
         .kind = al_xstrdup("spreadsheet"),
         .bytes = 7,
         .n_files = 1,
         .partial = true},
    };
    snprintf(list[0].id, sizeof list[0].id, "art_A");
    snprintf(list[1].id, sizeof list[1].id, "art_B");
    g.r.published = true;
    g.r.publication.list = list;
    g.r.publication.n = 2;
    autobuf struct al_buf text = AL_BUF_INIT(1u << 20), json = AL_BUF_INIT(1u << 20);
    python_result_text(&g.r, &text);
    al_buf_addc(&text, '\0');
    assert_has(text.p,
               "; published 2: a\\x1b.html (dashboard, 2 KB, 3 files, art_A), b.csv (spreadsheet, 7 B, "
               "partial, art_B)\n");
    python_result_json(&g.r, &json);
    assert_true(al_json_check(al_buf_str(&json), 16));
    for (int i = 0; i < 2; i++)
        al_artifact_fini(&list[i]);
    rig_free(&g);
}

/* --- the journal --- */

static bool collect(void *ud, int64_t seq, const char *type, struct al_str body, int64_t at_ms)
{
    (void)seq;
    (void)at_ms;
    if (strcmp(type, "print") == 0)
        al_buf_add_str(ud, body);
    return true;
}

static void begin_journal(struct rig *g)
{
    struct al_err err = {0};
    g->r.created_ms = al_wall_ms();
    g->call.code = AL_STR("print(1)");
    al_sha256(g->call.code, g->r.sha256);
    if (python_journal_begin(&g->r, &err) < 0)
        fail_msg("%s", err.msg);
}

static void events_of(struct rig *g, struct al_buf *out)
{
    struct al_err err = {0};
    al_runlog_flush(&g->r.log);
    assert_int_equal(al_store_event_each(g->w.store, g->r.id, 0, collect, out, &err), 0);
    al_buf_addc(out, '\0');
}

static void characters_that_reads_cut_are_whole_in_the_journal(void **state)
{
    (void)state;
    static const char text[] = "añ€😀 b\xff\xe2\x82z\n";
    static const char want[] = "añ€😀 b\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\n";
    struct rig g;
    rig_make(&g, NULL);
    for (size_t piece = 1; piece < sizeof text; piece++) {
        al_id_new(g.r.id, "exec_");
        g.r.n_events = 0;
        memset(g.r.streams, 0, sizeof g.r.streams);
        begin_journal(&g);
        for (size_t at = 0; at < sizeof text - 1; at += piece) {
            size_t n = sizeof text - 1 - at < piece ? sizeof text - 1 - at : piece;
            python_journal_output(&g.r, false, (struct al_str){text + at, n});
        }
        autobuf struct al_buf out = AL_BUF_INIT(4096);
        events_of(&g, &out);
        assert_string_equal(out.p, want);
        al_runlog_free(&g.r.log);
    }
    rig_free(&g);
}

static void the_journal_takes_a_bounded_part_of_a_great_output(void **state)
{
    (void)state;
    struct rig g;
    rig_make(&g, NULL);
    begin_journal(&g);
    autofree char *block = al_xcalloc(1, 65536);
    memset(block, 'x', 65536);
    for (int i = 0; i < 100; i++)
        python_journal_output(&g.r, i & 1, (struct al_str){block, 65536});
    autobuf struct al_buf out = AL_BUF_INIT(16u << 20);
    events_of(&g, &out);
    assert_true(out.n <= PYTHON_MAX_EVENTS + 100);
    assert_has(out.p + out.n - 60, "more is in the log files");
    al_runlog_free(&g.r.log);
    rig_free(&g);
}

/* --- places among the runs of a host --- */

struct placed {
    struct al_run_slot slot;
    bool went;
};

static void note_go(void *ud)
{
    ((struct placed *)ud)->went = true;
}

static void note_cancel(void *ud)
{
    (void)ud;
}

static void a_run_of_a_script_does_not_wait_for_the_scripts_places(void **state)
{
    (void)state;
    struct rig g;
    rig_make(&g, NULL);
    struct placed p[AL_HOST_MAX_RUNS + 2] = {0};
    struct al_err err = {0};
    for (int i = 0; i < AL_HOST_MAX_RUNS + 2; i++) {
        p[i].slot = (struct al_run_slot){.id = "x", .go = note_go, .cancel = note_cancel, .ud = &p[i]};
        p[i].slot.nested = i == AL_HOST_MAX_RUNS + 1;
        assert_int_equal(al_runs_admit(g.w.core, &p[i].slot, &err), 0);
        al_runs_wait(g.w.core, &p[i].slot);
    }
    assert_true(al_loop_run_until(g.w.loop, &p[AL_HOST_MAX_RUNS + 1].went, 5000));
    assert_true(p[AL_HOST_MAX_RUNS - 1].went);
    assert_false(p[AL_HOST_MAX_RUNS].went);
    al_runs_leave(g.w.core, &p[AL_HOST_MAX_RUNS + 1].slot);
    assert_int_equal(al_core_n_runs(g.w.core), AL_HOST_MAX_RUNS + 1);
    al_runs_leave(g.w.core, &p[0].slot);
    assert_true(al_loop_run_until(g.w.loop, &p[AL_HOST_MAX_RUNS].went, 5000));
    for (int i = 1; i <= AL_HOST_MAX_RUNS; i++)
        al_runs_leave(g.w.core, &p[i].slot);
    assert_int_equal(al_core_n_runs(g.w.core), 0);
    rig_free(&g);
}

int main(int argc, char **argv)
{
    world_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_traceback_becomes_one_line_with_the_scripts_own_line),
        cmocka_unit_test(a_last_line_of_any_bytes_and_length_stays_one_short_line),
        cmocka_unit_test(a_signal_is_named),
        cmocka_unit_test(paths_of_this_machine_become_those_of_the_job),
        cmocka_unit_test(errors_of_the_layers_below_hide_them_too),
        cmocka_unit_test(the_text_has_a_head_warnings_and_the_ends_of_both_outputs),
        cmocka_unit_test(the_text_keeps_to_what_a_model_may_read_and_keeps_the_traceback),
        cmocka_unit_test(what_was_published_is_named_with_kind_size_and_id),
        cmocka_unit_test(characters_that_reads_cut_are_whole_in_the_journal),
        cmocka_unit_test(the_journal_takes_a_bounded_part_of_a_great_output),
        cmocka_unit_test(a_run_of_a_script_does_not_wait_for_the_scripts_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
