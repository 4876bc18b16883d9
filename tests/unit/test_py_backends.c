/* What stands around a script in each back end, as the script itself sees it: as root, and as an ordinary
 * user. */
#include "test.h"

#include "pyrun_world.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/spawn.h"
#include "pyrun/walls.h"
#include "sandbox/landlock.h"

#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LONG_MS 60000
#define SOMEBODY 1000

static const enum al_py_backend own_python[] = {AL_PY_BWRAP, AL_PY_LANDLOCK, AL_PY_MANAGED};
#define N_OWN (sizeof(own_python) / sizeof(own_python[0]))

/* Each line that a script prints is something that is not as it should be. */
#define CHECKS                                        \
    "import os, sys, json\n"                          \
    "def bad(*words): print(*words)\n"                \
    "def refused(name, fn):\n"                        \
    "    try:\n"                                      \
    "        fn()\n"                                  \
    "    except Exception as e:\n"                    \
    "        return\n"                                \
    "    bad('not refused:', name)\n"                 \
    "def works(name, fn):\n"                          \
    "    try:\n"                                      \
    "        if fn() is False: bad('false:', name)\n" \
    "    except BaseException as e:\n"                \
    "        bad('does not work:', name, repr(e))\n"  \
    "status = {l.split(':')[0]: l.split(':')[1].strip() for l in open('/proc/self/status')}\n"

static void expect_silence(struct pyrun_world *t, enum al_py_backend b, const char *code)
{
    struct pyrun_answer a;
    pyrun_world_run(t, b, code, LONG_MS, &a, NULL);
    if (a.cause != AL_PY_EXITED || a.exit_code != 0 || a.out[0])
        fail_msg("%s: cause %d, status %d: %s%s%s", al_py_backend_name(b), a.cause, a.exit_code, a.out,
                 a.errors, a.err.msg);
    pyrun_answer_free(&a);
}

/* The distribution's own Python, which is asked the quickest. */
static void start(struct pyrun_world *t, const char *config)
{
    t->opts.python = "/usr/bin/python3";
    pyrun_world_start(t, config);
}

/* Each is looked at once for all tests. */
static bool has(struct pyrun_world *t, enum al_py_backend b)
{
    static int known[AL_PY_N];
    if (known[b] == 0)
        known[b] = pyrun_world_has(t, b) ? 1 : -1;
    return known[b] > 0;
}

static void need(struct pyrun_world *t, enum al_py_backend b)
{
    start(t, NULL);
    if (!has(t, b))
        skip();
}

static void bwrap_leaves_no_privilege(void **state)
{
    struct pyrun_world *t = *state;
    need(t, AL_PY_BWRAP);
    expect_silence(
        t, AL_PY_BWRAP,
        CHECKS "for cap in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'):\n"
               "    if int(status[cap], 16) != 0: bad(cap, status[cap])\n"
               "if os.getuid() == 0 or os.geteuid() == 0 or os.getgid() == 0: bad('root', os.getresuid())\n"
               "if status['NoNewPrivs'] != '1': bad('NoNewPrivs', status['NoNewPrivs'])\n"
               "if status['Seccomp'] != '2': bad('Seccomp', status['Seccomp'])\n"
               "refused('setuid', lambda: os.setuid(0))\n"
               "refused('mount', lambda: os.unlink('/usr/bin/env'))\n"
               "refused('ptrace', lambda: open('/proc/1/mem', 'rb+').read(1))\n"
               "refused('environment', lambda: open('/proc/1/environ').read() and 1 / 0)\n"
               "import pwd, getpass\n"
               "works('passwd', lambda: pwd.getpwuid(os.getuid()).pw_dir == '/job/work')\n"
               "if os.uname().nodename != 'alisio': bad('host name', os.uname().nodename)\n");
}

static void bwrap_has_no_network(void **state)
{
    struct pyrun_world *t = *state;
    need(t, AL_PY_BWRAP);
    expect_silence(t, AL_PY_BWRAP,
                   CHECKS "import socket\n"
                          "def to(address):\n"
                          "    s = socket.socket(); s.settimeout(3); s.connect(address)\n"
                          "refused('world', lambda: to(('1.1.1.1', 53)))\n"
                          "refused('metadata', lambda: to(('169.254.169.254', 80)))\n"
                          "refused('names', lambda: socket.getaddrinfo('example.com', 80))\n");
}

static void bwrap_shows_the_listed_files_only(void **state)
{
    struct pyrun_world *t = *state;
    need(t, AL_PY_BWRAP);
    expect_silence(
        t, AL_PY_BWRAP,
        CHECKS
        "top = set(os.listdir('/'))\n"
        "known = {'usr', 'etc', 'job', 'proc', 'dev', 'tmp', 'bin', 'sbin', 'lib', 'lib32', 'lib64', "
        "'libx32'}\n"
        "def only_prefix(name):\n" /* parents of the interpreter's own folder */
        "    return sys.base_prefix.startswith('/' + name + '/')\n"
        "for name in top - known:\n"
        "    if not only_prefix(name): bad('/' + name)\n"
        "etc = set(os.listdir('/etc')) - {'alternatives', 'ld.so.cache', 'fonts', 'localtime', 'mime.types', "
        "'ssl', 'passwd', 'group'}\n"
        "if etc: bad('etc', etc)\n"
        "for p in ('/etc/shadow', '/etc/resolv.conf', '/sys', '/run', '/home', '/var'):\n"
        "    if os.path.exists(p): bad('exists', p)\n"
        "for p in ('/usr/local/etc', '/usr/src'):\n"
        "    if os.path.isdir(p) and os.listdir(p): bad('not empty', p)\n"
        "pids = [p for p in os.listdir('/proc') if p.isdigit()]\n"
        "if len(pids) > 3: bad('processes', pids)\n"
        "if sorted(os.listdir('/job')) != ['input', 'out', 'script', 'work']: bad(os.listdir('/job'))\n");
}

static void bwrap_lets_a_script_write_where_it_may(void **state)
{
    struct pyrun_world *t = *state;
    need(t, AL_PY_BWRAP);
    expect_silence(
        t, AL_PY_BWRAP,
        CHECKS
        "def put(path):\n"
        "    with open(path, 'w') as f: f.write('x')\n"
        "for place in ('/job/work', '/job/out', '/tmp', '/dev/shm'):\n"
        "    works(place, lambda: put(place + '/a'))\n"
        "    works(place, lambda: os.mkdir(place + '/d'))\n"
        "    works(place, lambda: os.rename(place + '/a', place + '/d/b'))\n"
        "for place in ('/', '/job', '/job/script', '/job/input', '/usr', '/usr/local/etc', '/usr/src', "
        "'/etc', '/dev', '/proc', '/bin', sys.base_prefix, os.path.dirname(sys.base_prefix)):\n"
        "    refused(place, lambda: put(place + '/a'))\n"
        "refused('main.py', lambda: put('/job/script/main.py'))\n"
        "refused('passwd', lambda: put('/etc/passwd'))\n"
        "refused('chmod', lambda: os.chmod('/job/script/main.py', 0o777))\n"
        "refused('mknod', lambda: os.mknod('/job/work/dev', 0o20600, os.makedev(1, 3)))\n"
        "works('null', lambda: put('/dev/null'))\n"
        "works('random', lambda: len(os.urandom(8)) == 8)\n"
        "if os.getcwd() != '/job/work': bad(os.getcwd())\n");
}

static void python_is_whole_within_bwrap(void **state)
{
    struct pyrun_world *t = *state;
    need(t, AL_PY_BWRAP);
    expect_silence(
        t, AL_PY_BWRAP,
        CHECKS "import threading, subprocess, sqlite3, tempfile, ctypes, asyncio, hashlib, zlib\n"
               "import multiprocessing as mp\n"
               "from concurrent.futures import ThreadPoolExecutor, ProcessPoolExecutor\n"
               "def square(n): return n * n\n"
               "def threads():\n"
               "    with ThreadPoolExecutor(16) as p: return sum(p.map(square, range(100))) == 328350\n"
               "def processes():\n"
               "    with ProcessPoolExecutor(2) as p: return list(p.map(square, range(4))) == [0, 1, 4, 9]\n"
               "def database():\n"
               "    db = sqlite3.connect('a.db'); db.execute('create table t(a)'); db.commit(); return True\n"
               "async def child():\n"
               "    p = await asyncio.create_subprocess_exec('true'); return await p.wait()\n"
               "works('threads', threads)\n"
               "works('processes', processes)\n"
               "works('lock', lambda: mp.Lock().acquire())\n"
               "works('subprocess', lambda: subprocess.run(['sh', '-c', 'echo $((6 * 7))'], "
               "capture_output=True).stdout == b'42\\n')\n"
               "works('sqlite3', database)\n"
               "works('asyncio', lambda: asyncio.run(child()) == 0)\n"
               "works('tempfile', lambda: tempfile.mkdtemp().startswith('/job/work'))\n"
               "works('again', lambda: subprocess.run([sys.executable, '-c', 'import ssl, json']).returncode "
               "== 0)\n");
}

static void the_environment_is_the_listed_one(void **state)
{
    struct pyrun_world *t = *state;
    setenv("OPENAI_API_KEY", "sk-secret", 1);
    setenv("ALISIO_LOG_LEVEL", "debug", 1);
    setenv("PYTHONSTARTUP", "/nowhere", 1);
    setenv("LD_LIBRARY_PATH", "/nowhere", 1);
    start(t, NULL);
    for (size_t i = 0; i < N_OWN; i++) {
        if (!has(t, own_python[i]))
            continue;
        expect_silence(t, own_python[i],
                       CHECKS "want = {'PATH', 'LANG', 'LC_ALL', 'HOME', 'USERPROFILE', 'TMPDIR', 'TEMP', "
                              "'TMP', 'ALISIO_WORK_DIR', "
                              "'ALISIO_INPUT_DIR', 'ALISIO_OUTPUT_DIR', 'ALISIO_EXECUTION_ID', "
                              "'ALISIO_PROGRESS_FILE', 'MPLBACKEND', "
                              "'PYTHONDONTWRITEBYTECODE', 'PYTHONUNBUFFERED', 'PYTHONNOUSERSITE', "
                              "'PYTHONIOENCODING', 'PWD', 'LC_CTYPE'}\n"
                              "extra = set(os.environ) - want\n"
                              "if extra: bad(extra)\n"
                              "missing = want - set(os.environ) - {'LANG', 'LC_ALL', 'PWD', 'LC_CTYPE'}\n"
                              "if missing: bad(missing)\n"
                              "f = sys.flags\n"
                              "if not (f.ignore_environment and f.no_user_site and f.dont_write_bytecode and "
                              "f.utf8_mode): bad(f)\n"
                              "if os.environ['HOME'] != os.getcwd(): bad(os.environ['HOME'], os.getcwd())\n"
                              "if sys.path[0] != os.path.dirname(os.path.abspath(__file__)): bad(sys.path)\n"
                              "works('runtime', lambda: __import__('alisio_runtime'))\n");
    }
    unsetenv("OPENAI_API_KEY");
    unsetenv("ALISIO_LOG_LEVEL");
    unsetenv("PYTHONSTARTUP");
    unsetenv("LD_LIBRARY_PATH");
}

static void landlock_keeps_files_and_sockets_away(void **state)
{
    struct pyrun_world *t = *state;
    char code[8192], secret[512];
    need(t, AL_PY_LANDLOCK);
    snprintf(secret, sizeof(secret), "%s/secret", t->top);
    autofd int fd = open(secret, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(al_fd_write_all(fd, AL_STR("secret")), 0);
    snprintf(code, sizeof(code),
             CHECKS "import socket, subprocess, sqlite3, threading\n"
                    "secret, host = '%s', %d\n"
                    "refused('read', lambda: open(secret).read())\n"
                    "refused('write', lambda: open(secret + '2', 'w'))\n"
                    "refused('list', lambda: os.listdir(os.path.dirname(secret)))\n"
                    "refused('shadow', lambda: open('/etc/shadow').read())\n"
                    "refused('passwd', lambda: open('/etc/passwd').read())\n"
                    "refused('main.py', lambda: open(__file__, 'a'))\n"
                    "refused('tmp', lambda: open('/tmp/alisio-test-x', 'w'))\n"
                    "refused('proc', lambda: open('/proc/%%d/environ' %% host).read())\n"
                    "for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):\n"
                    "    refused(family, lambda: socket.socket(family, socket.SOCK_STREAM))\n"
                    "works('socketpair', lambda: socket.socketpair())\n"
                    "works('work', lambda: open('a', 'w').write('x'))\n"
                    "works('out', lambda: open(os.environ['ALISIO_OUTPUT_DIR'] + '/a', 'w').write('x'))\n"
                    "works('sqlite3', lambda: sqlite3.connect('a.db').execute('create table t(a)'))\n"
                    "works('subprocess', lambda: subprocess.run(['sh', '-c', 'exit 3']).returncode == 3)\n"
                    "th = threading.Thread(target=lambda: None); th.start(); th.join()\n"
                    "for cap in ('CapInh', 'CapPrm', 'CapEff', 'CapAmb'):\n"
                    "    if int(status[cap], 16) != 0: bad(cap, status[cap])\n"
                    "if status['NoNewPrivs'] != '1' or status['Seccomp'] != '2': bad('not sealed')\n",
             secret, getpid());
    expect_silence(t, AL_PY_LANDLOCK, code);
}

static void run_spec(struct pyrun_world *t, enum al_py_backend b, const char *code, const char *venv,
                     const char *scratch)
{
    struct al_py_job job;
    struct pyrun_answer a = {0};
    pyrun_world_job(t, code, &job);
    const struct al_py_run_spec spec = {.job = &job,
                                        .backend = b,
                                        .timeout_ms = LONG_MS,
                                        .venv = venv,
                                        .scratch = scratch,
                                        .max_head = 2048,
                                        .max_tail = 2048};
    pyrun_world_begin(t, &spec, &a);
    pyrun_world_wait(t, &a.done);
    if (a.cause != AL_PY_EXITED || a.exit_code != 0 || a.out[0])
        fail_msg("%s: cause %d, status %d: %s%s%s", al_py_backend_name(b), a.cause, a.exit_code, a.out,
                 a.errors, a.err.msg);
    pyrun_answer_free(&a);
    al_py_job_remove(&job);
    al_py_job_close(&job);
}

static void a_venv_serves_its_packages(void **state)
{
    struct pyrun_world *t = *state;
    char venv[512], file[1024];
    start(t, NULL);
    snprintf(venv, sizeof(venv), "%s/runtimes", t->state);
    assert_int_equal(mkdir(venv, 0700), 0);
    snprintf(venv, sizeof(venv), "%s/runtimes/venv", t->state);
    autobuf struct al_buf out = AL_BUF_INIT(4096);
    const char *argv[] = {"/usr/bin/python3", "-m", "venv", "--without-pip", venv, NULL};
    const char *where[] = {
        "/usr/bin/python3", "-c",
        "import sys; print('lib/python%d.%d/site-packages' % sys.version_info[:2], end='')", NULL};
    struct al_err err;
    int status = 1;
    if (al_py_ask(t->pyrun, argv, LONG_MS, NULL, NULL, &status, &err) < 0 || status != 0)
        skip(); /* Debian has venv in a package of its own */
    assert_int_equal(al_py_ask(t->pyrun, where, LONG_MS, &out, NULL, &status, &err), 0);
    snprintf(file, sizeof(file), "%s/%.*s/al_mark.py", venv, AL_FMT(al_buf_str(&out)));
    autofd int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_int_equal(al_fd_write_all(fd, AL_STR("value = 42\n")), 0);
    for (size_t i = 0; i < N_OWN; i++) {
        if (!has(t, own_python[i]))
            continue;
        run_spec(t, own_python[i],
                 "import al_mark, sys\n"
                 "if al_mark.value != 42 or sys.prefix == sys.base_prefix: print(sys.path)\n",
                 venv, NULL);
        if (own_python[i] != AL_PY_MANAGED)
            run_spec(t, own_python[i],
                     "import sys\n"
                     "try:\n"
                     "    open(sys.prefix + '/x', 'w')\n"
                     "    print('the venv can be written')\n"
                     "except OSError: pass\n",
                     venv, NULL);
    }
}

static void the_scratchpad_can_be_read_and_not_written(void **state)
{
    struct pyrun_world *t = *state;
    char scratch[512], file[1024];
    start(t, NULL);
    snprintf(scratch, sizeof(scratch), "%s/pad", t->top);
    snprintf(file, sizeof(file), "%s/pad/notes.txt", t->top);
    assert_int_equal(mkdir(scratch, 0700), 0);
    autofd int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(al_fd_write_all(fd, AL_STR("noted")), 0);
    for (size_t i = 0; i < N_OWN; i++) {
        if (!has(t, own_python[i]))
            continue;
        run_spec(t, own_python[i],
                 "import os\n"
                 "pad = os.environ['ALISIO_SCRATCH_DIR']\n"
                 "if open(pad + '/notes.txt').read() != 'noted': print('not read')\n",
                 NULL, scratch);
        if (own_python[i] != AL_PY_MANAGED)
            run_spec(t, own_python[i],
                     "import os\n"
                     "for name in ('notes.txt', 'new'):\n"
                     "    try:\n"
                     "        open(os.environ['ALISIO_SCRATCH_DIR'] + '/' + name, 'a')\n"
                     "        print('written')\n"
                     "    except OSError: pass\n",
                     NULL, scratch);
    }
}

/* pyenv's, where there is one: in a folder that only its owner may enter. */
static void an_interpreter_in_the_home_folder_works(void **state)
{
    static const char *const versions[] = {"3.13.0", "3.12.1", "3.11.7", "3.10.13"};
    struct pyrun_world *t = *state;
    char path[512] = "";
    for (size_t i = 0; i < 4 && (!path[0] || access(path, X_OK) < 0); i++)
        snprintf(path, sizeof(path), "%s/.pyenv/versions/%s/bin/python3", getenv("HOME"), versions[i]);
    if (access(path, X_OK) < 0)
        skip();
    t->opts.python = path;
    pyrun_world_start(t, NULL);
    for (size_t i = 0; i < N_OWN; i++) {
        if (has(t, own_python[i]))
            expect_silence(
                t, own_python[i],
                CHECKS
                "if '/.pyenv/versions/' not in sys.base_prefix: bad(sys.base_prefix)\n"
                "import sqlite3, ssl, ctypes, subprocess\n"
                "works('again', lambda: subprocess.run([sys.executable, '-c', 'import json']).returncode "
                "== 0)\n");
    }
}

/* --- the probe --- */

struct probed {
    bool done;
    unsigned times;
    struct al_py_probe probe;
};

static void got_probe(void *ud, const struct al_py_probe *probe)
{
    struct probed *p = ud;
    p->probe = *probe;
    p->times++;
    p->done = true;
}

static struct al_py_probe probe(struct pyrun_world *t, enum al_py_backend b, bool fresh)
{
    struct probed p = {0};
    al_pyrun_probe(t->pyrun, b, fresh, got_probe, &p);
    assert_false(p.done);
    pyrun_world_wait(t, &p.done);
    assert_int_equal(p.times, 1);
    if (p.probe.state == AL_PY_NOT_READY) {
        assert_int_equal(p.probe.why.code, AL_RUNTIME_UNAVAILABLE);
        print_message("%s: %s (%s)\n", al_py_backend_name(b), p.probe.why.msg, p.probe.why.detail);
    }
    return p.probe;
}

static int count_beneath(const char *top, const char *name)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", top, name);
    struct stat st;
    return stat(path, &st) == 0 ? (int)st.st_nlink - 2 : -1;
}

static void a_probe_says_what_holds(void **state)
{
    struct pyrun_world *t = *state;
    start(t, NULL);
    assert_int_equal(al_pyrun_known(t->pyrun, AL_PY_BWRAP)->state, AL_PY_UNPROBED);
    struct al_py_probe p = probe(t, AL_PY_MANAGED, false);
    assert_int_equal(p.state, AL_PY_READY);
    assert_int_equal(p.isolation, AL_PY_NONE);
    assert_false(p.denies_network || p.denies_files || p.denies_processes);
    assert_true(strncmp(p.python, "3.", 2) == 0);
    assert_true(p.interpreter[0] == '/');
    assert_int_equal(count_beneath(t->state, "analysis"), 0); /* nothing is left of it */

    p = probe(t, AL_PY_BWRAP, false);
    if (p.state == AL_PY_READY) {
        assert_int_equal(p.isolation, AL_PY_OS_SANDBOX);
        assert_true(p.denies_network && p.denies_files && p.denies_processes);
        assert_true(strncmp(p.version, "bubblewrap ", 11) == 0);
        assert_true(p.pid_namespace);
    }
    p = probe(t, AL_PY_LANDLOCK, false);
    if (p.state == AL_PY_READY) {
        assert_int_equal(p.isolation, AL_PY_OS_FILTER);
        assert_true(p.denies_network && p.denies_files);
        if (p.pid_namespace || al_landlock_abi() >= 6)
            assert_true(p.denies_processes);
    }
    assert_int_equal(count_beneath(t->state, "analysis"), 0);
}

static void probes_at_once_are_one(void **state)
{
    struct pyrun_world *t = *state;
    struct probed all[3] = {{0}};
    start(t, NULL);
    for (size_t i = 0; i < 3; i++)
        al_pyrun_probe(t->pyrun, AL_PY_MANAGED, false, got_probe, &all[i]);
    for (size_t i = 0; i < 3; i++)
        pyrun_world_wait(t, &all[i].done);
    assert_int_equal(all[0].probe.at_ms, all[1].probe.at_ms);
    assert_int_equal(all[0].probe.at_ms, all[2].probe.at_ms);
    assert_int_equal(all[0].times + all[1].times + all[2].times, 3);
}

static void a_probe_is_remembered_while_all_stays_the_same(void **state)
{
    struct pyrun_world *t = *state;
    start(t, NULL);
    struct al_py_probe first = probe(t, AL_PY_MANAGED, false);
    assert_int_equal(probe(t, AL_PY_MANAGED, false).at_ms, first.at_ms);
    /* By another process, too; not under another configuration. */
    start(t, NULL);
    assert_int_equal(al_pyrun_known(t->pyrun, AL_PY_MANAGED)->state, AL_PY_UNPROBED);
    struct al_py_probe second = probe(t, AL_PY_MANAGED, false);
    assert_int_equal(second.at_ms, first.at_ms);
    assert_string_equal(second.python, first.python);
    assert_int_equal(second.isolation, AL_PY_NONE);
    start(t, "{\"analysis\":{\"limits\":{\"processes\":99}}}");
    struct al_py_probe third = probe(t, AL_PY_MANAGED, false);
    assert_true(third.at_ms > first.at_ms);
    /* What is forgotten, or asked for afresh, is probed anew. */
    struct al_py_probe fourth = probe(t, AL_PY_MANAGED, true);
    assert_true(fourth.at_ms > third.at_ms);
    al_pyrun_forget(t->pyrun, AL_PY_MANAGED);
    assert_int_equal(al_pyrun_known(t->pyrun, AL_PY_MANAGED)->state, AL_PY_UNPROBED);
    assert_true(probe(t, AL_PY_MANAGED, false).at_ms > fourth.at_ms);
}

static void what_is_under_way_ends_with_the_object(void **state)
{
    struct pyrun_world *t = *state;
    struct probed p = {0};
    for (int turns = 0; turns < 40; turns += 8) {
        start(t, NULL);
        al_pyrun_probe(t->pyrun, AL_PY_MANAGED, true, got_probe, &p);
        bool never = false;
        al_loop_run_until(t->loop, &never, (uint64_t)turns + 1);
        al_pyrun_free(t->pyrun);
        t->pyrun = NULL;
        if (!p.done)
            assert_int_equal(p.times, 0);
        p = (struct probed){0};
    }
    assert_true(count_beneath(t->state, "analysis") <= 0); /* -1: no probe came that far */
}

static void without_a_python_nothing_is_ready_and_the_reason_says_so(void **state)
{
    struct pyrun_world *t = *state;
    t->opts.python = "/bin/false";
    pyrun_world_start(t, NULL);
    for (int b = 0; b < AL_PY_N; b++) {
        const struct al_py_backend_ops *ops = al_py_backend_ops((enum al_py_backend)b);
        assert_int_equal(ops->id, b);
        if (!ops->needs_python)
            continue;
        struct al_py_probe p = probe(t, (enum al_py_backend)b, false);
        assert_int_equal(p.state, AL_PY_NOT_READY);
        assert_non_null(strstr(p.why.msg, "/false")); /* its folder is for people of this machine */
    }
}

struct chosen {
    bool done;
    enum al_py_backend b;
    char reason[2048];
    struct al_err err;
    struct al_py_probe probe;
};

static void got_choice(void *ud, const struct al_py_probe *probe_of, enum al_py_backend b,
                       struct al_str reason, const struct al_err *err)
{
    struct chosen *c = ud;
    c->b = b;
    snprintf(c->reason, sizeof(c->reason), "%.*s", AL_FMT(reason));
    if (err)
        c->err = *err;
    if (probe_of)
        c->probe = *probe_of;
    c->done = true;
}

static struct chosen choose(struct pyrun_world *t)
{
    struct chosen c = {0};
    al_pyrun_choose(t->pyrun, got_choice, &c);
    assert_false(c.done);
    pyrun_world_wait(t, &c.done);
    return c;
}

static void never_chosen(void *ud, const struct al_py_probe *probe, enum al_py_backend b, struct al_str reason,
                         const struct al_err *err)
{
    (void)probe;
    (void)b;
    (void)reason;
    (void)err;
    *(bool *)ud = true;
}

/* Whoever was to be told is gone; the program that hangs is not waited for, neither then nor at the end. */
static void a_choice_that_nobody_waits_for_tells_nobody(void **state)
{
    struct pyrun_world *t = *state;
    char *hangs = NULL;
    bool came = false, never = false;
    struct timespec from, to;
    assert_true(asprintf(&hangs, "%s/hangs", t->top) > 0);
    FILE *f = fopen(hangs, "w");
    assert_non_null(f);
    fputs("#!/bin/sh\nexec sleep 1000\n", f);
    fclose(f);
    assert_int_equal(chmod(hangs, 0755), 0);
    t->opts.python = hangs;
    pyrun_world_start(t, NULL);
    al_pyrun_choose(t->pyrun, never_chosen, &came);
    al_pyrun_choose(t->pyrun, never_chosen, &never);
    al_loop_run_until(t->loop, &never, 50);
    al_pyrun_unchoose(t->pyrun, &came);
    al_loop_run_until(t->loop, &never, 50);
    clock_gettime(CLOCK_MONOTONIC, &from);
    al_pyrun_free(t->pyrun);
    t->pyrun = NULL;
    clock_gettime(CLOCK_MONOTONIC, &to);
    assert_true(to.tv_sec - from.tv_sec < 8);
    assert_false(came || never);
    t->opts.python = NULL;
    free(hangs);
}

static void a_choice_probes_what_it_needs(void **state)
{
    struct pyrun_world *t = *state;
    start(t, NULL);
    struct chosen c = choose(t);
    assert_int_equal(c.err.code, AL_OK);
    assert_int_equal(c.probe.state, AL_PY_READY);
    assert_true(c.reason[0]);
    bool bwrap = al_pyrun_known(t->pyrun, AL_PY_BWRAP)->state == AL_PY_READY;
    assert_int_equal(c.b == AL_PY_BWRAP, bwrap);
    if (bwrap)
        assert_int_equal(al_pyrun_known(t->pyrun, AL_PY_MANAGED)->state, AL_PY_UNPROBED);

    t->opts.floor = AL_PY_REQUIRED;
    pyrun_world_start(t, "{\"analysis\":{\"runtime\":\"managed\"}}");
    c = choose(t);
    assert_int_equal(c.err.code, AL_RUNTIME_UNAVAILABLE);
    assert_non_null(strstr(c.err.msg, "managed is not allowed"));
    t->opts.floor = AL_PY_PREFERRED;
    pyrun_world_start(t, "{\"analysis\":{\"runtime\":\"managed\"}}");
    c = choose(t);
    assert_int_equal(c.b, AL_PY_MANAGED);
    assert_string_equal(c.reason, "analysis.runtime=managed asks for it, which isolates nothing");
}

/* --- what bwrap says --- */

static void what_bwrap_says_becomes_a_layer_and_a_cure(void **unused)
{
    (void)unused;
    static const struct {
        const char *said;
        struct al_py_kernel kernel;
        const char *msg, *hint;
    } cases[] = {
        {"bwrap: setting up uid map: Permission denied\n",
         {.apparmor_userns = AL_S("1")},
         "AppArmor",
         "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
        {"bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted\n",
         {.apparmor_userns = AL_S("1"), .max_userns = AL_S("63000")},
         "AppArmor",
         "bwrap-userns-restrict"},
        {"bwrap: No permissions to create new namespace, likely because the kernel does not allow "
         "non-privileged user "
         "namespaces.\n",
         {.userns_clone = AL_S("0")},
         "kernel.unprivileged_userns_clone is 0",
         "sudo sysctl -w kernel.unprivileged_userns_clone=1"},
        {"bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded "
         "(ENOSPC)\n",
         {.max_userns = AL_S("0")},
         "user.max_user_namespaces is 0",
         "sudo sysctl -w user.max_user_namespaces"},
        {"bwrap: Can't mount proc on /newroot/proc: Operation not permitted\n",
         {.root = false},
         "container",
         "systempaths=unconfined"},
        {"bwrap: Creating new namespace failed: Operation not permitted\n",
         {.container = true},
         "container",
         "seccomp="},
        {"bwrap: Creating new namespace failed: Operation not permitted\n",
         {.root = true},
         "Operation not permitted",
         "CAP_SYS_ADMIN"},
        {"bwrap: Can't find source path /x/y: No such file or directory\n",
         {.root = false},
         "could not build the sandbox",
         ""},
        {"", {.root = false}, "before the script began (exit status 1)", ""},
        {"Traceback: the uid map", {.root = false}, "refuses", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct al_err err;
        al_py_bwrap_explain(al_str_of(cases[i].said), &cases[i].kernel, 1, &err);
        assert_int_equal(err.code, AL_RUNTIME_UNAVAILABLE);
        if (!strstr(err.msg, cases[i].msg) || !strstr(err.hint, cases[i].hint))
            fail_msg("%s -> %s | %s", cases[i].said, err.msg, err.hint);
        assert_null(strstr(err.msg, "/x/y"));
    }
}

/* Bubblewrap of before 0.7 knows no size: nothing in memory is without a limit then. */
static void an_older_bwrap_gets_what_it_knows(void **state)
{
    struct pyrun_world *t = *state;
    need(t, AL_PY_BWRAP);
    probe(t, AL_PY_BWRAP, true);
    al_pyrun_pretend_bwrap(t->pyrun, 5);
    expect_silence(t, AL_PY_BWRAP,
                   CHECKS
                   "open('/tmp/a', 'w').write('x')\n"
                   "if not os.path.exists('/job/work/.tmp/a'): bad('tmp is not counted')\n"
                   "import multiprocessing as mp\n"
                   "works('lock', lambda: mp.Lock().acquire())\n"
                   "for l in open('/proc/self/mounts'):\n"
                   "    w = l.split()\n"
                   "    if w[2] == 'tmpfs' and w[3].split(',')[0] == 'rw' and not w[1].startswith('/dev/'): "
                   "bad(l)\n");
}

static void every_tmpfs_of_bwrap_has_a_size_or_is_read_only(void **state)
{
    struct pyrun_world *t = *state;
    need(t, AL_PY_BWRAP);
    expect_silence(
        t, AL_PY_BWRAP,
        CHECKS
        "devices = ('/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom', '/dev/tty')\n"
        "for l in open('/proc/self/mounts'):\n"
        "    w = l.split()\n"
        "    if w[2] == 'tmpfs' and w[3].split(',')[0] == 'rw' and 'size=' not in w[3] and w[1] not in "
        "devices: bad(l)\n");
}

static void folders_that_hold_us_are_not_shown(void **state)
{
    struct pyrun_world *t = *state;
    struct al_err err;
    start(t, NULL);
    autofree char *home = realpath(getenv("HOME"), NULL);
    autofree char *beneath = NULL;
    assert_int_equal(al_py_root_allowed(t->pyrun, "/", &err), -1);
    assert_int_equal(al_py_root_allowed(t->pyrun, home, &err), -1);
    assert_non_null(strstr(err.msg, "home"));
    assert_null(strstr(err.msg, home));
    assert_int_equal(al_py_root_allowed(t->pyrun, t->top, &err), -1);
    assert_int_equal(al_py_root_allowed(t->pyrun, t->state, &err), -1);
    assert_true(asprintf(&beneath, "%s/runtimes/python/x/venv", t->state) > 0);
    assert_int_equal(al_py_root_allowed(t->pyrun, beneath, &err), 0);
    assert_int_equal(al_py_root_allowed(t->pyrun, "/opt/python", &err), 0);
    /* An interpreter names its folders itself; it may be wrong, or lie. */
    static const char *const never[] = {"/etc", "/etc/ssl", "/proc/1", "/run/secrets", "/var", "/tmp"};
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        assert_int_equal(al_py_root_allowed(t->pyrun, never[i], &err), -1);
        assert_non_null(strstr(err.msg, "no script may see"));
    }
    static const char *const keys[] = {".ssh", ".config/something", ".gnupg"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        autofree char *path = NULL;
        assert_true(asprintf(&path, "%s/%s", home, keys[i]) > 0);
        assert_int_equal(al_py_root_allowed(t->pyrun, path, &err), -1);
    }
    autofree char *pyenv = NULL, *near = NULL;
    assert_true(asprintf(&pyenv, "%s/.pyenv/versions/3.12.1", home) > 0);
    assert_true(asprintf(&near, "%s/.sshx", home) > 0);
    assert_int_equal(al_py_root_allowed(t->pyrun, pyenv, &err), 0);
    assert_int_equal(al_py_root_allowed(t->pyrun, near, &err), 0);
}

#define WORLD(fn) cmocka_unit_test_setup_teardown(fn, pyrun_world_set_up, pyrun_world_tear_down)

static int run_all(void)
{
    const struct CMUnitTest tests[] = {
        WORLD(bwrap_leaves_no_privilege),
        WORLD(bwrap_has_no_network),
        WORLD(bwrap_shows_the_listed_files_only),
        WORLD(bwrap_lets_a_script_write_where_it_may),
        WORLD(python_is_whole_within_bwrap),
        WORLD(every_tmpfs_of_bwrap_has_a_size_or_is_read_only),
        WORLD(an_older_bwrap_gets_what_it_knows),
        WORLD(landlock_keeps_files_and_sockets_away),
        WORLD(the_environment_is_the_listed_one),
        WORLD(a_venv_serves_its_packages),
        WORLD(the_scratchpad_can_be_read_and_not_written),
        WORLD(an_interpreter_in_the_home_folder_works),
        WORLD(a_probe_says_what_holds),
        WORLD(probes_at_once_are_one),
        WORLD(a_probe_is_remembered_while_all_stays_the_same),
        WORLD(what_is_under_way_ends_with_the_object),
        WORLD(without_a_python_nothing_is_ready_and_the_reason_says_so),
        WORLD(a_choice_probes_what_it_needs),
        WORLD(a_choice_that_nobody_waits_for_tells_nobody),
        WORLD(folders_that_hold_us_are_not_shown),
        cmocka_unit_test(what_bwrap_says_becomes_a_layer_and_a_cure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#ifndef AL_ASAN /* once is enough for faults of ours */
/* The same as somebody without rights, in a process of its own. */
static int run_as_somebody(void)
{
    pid_t pid = al_fork(0);
    if (pid < 0)
        return 1;
    if (pid == 0) {
        gid_t none[1];
        if (setgroups(0, none) < 0 || setresgid(SOMEBODY, SOMEBODY, SOMEBODY) < 0 ||
            setresuid(SOMEBODY, SOMEBODY, SOMEBODY) < 0)
            _exit(1);
        setenv("HOME", "/tmp", 1);
        print_message("--- as user %d\n", SOMEBODY);
        exit(run_all());
    }
    int st = 0;
    return waitpid(pid, &st, 0) == pid && WIFEXITED(st) ? WEXITSTATUS(st) : 1;
}

#endif

int main(int argc, char **argv)
{
    pyrun_world_enter(argc, argv);
    int failed = 0;
#ifndef AL_ASAN
    if (geteuid() == 0)
        failed = run_as_somebody();
#endif
    return run_all() + failed;
}
