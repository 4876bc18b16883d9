#include "test.h"

#include "base/ident.h"
#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"
#include "pyrun/pyrun_int.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char dir[] = "/tmp/alisio-test-py-XXXXXX";
static char state[128], bin[128], path_before[4096];
static struct al_config *config;

static int remove_tree(const char *folder, const char *name)
{
    autofd int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return al_path_remove_tree(fd, name);
}

static int setup(void **unused)
{
    (void)unused;
    struct al_config_sources none = {0};
    struct al_err err;
    assert_non_null(mkdtemp(dir));
    snprintf(state, sizeof(state), "%s/state", dir);
    snprintf(bin, sizeof(bin), "%s/bin", dir);
    assert_int_equal(mkdir(state, 0700), 0);
    assert_int_equal(mkdir(bin, 0755), 0);
    snprintf(path_before, sizeof(path_before), "%s", getenv("PATH"));
    return al_config_load(&none, &config, &err);
}

static int teardown(void **unused)
{
    (void)unused;
    al_config_free(config);
    return remove_tree("/tmp", dir + 5);
}

/* Nothing is remembered from the test before. */
static int fresh(void **unused)
{
    (void)unused;
    char cache[256];
    snprintf(cache, sizeof(cache), "%s/runtimes/python/discovery.json", state);
    unlink(cache);
    assert_int_equal(remove_tree(dir, "bin"), 0);
    assert_int_equal(mkdir(bin, 0755), 0);
    setenv("PATH", path_before, 1);
    return 0;
}

static struct al_pyrun *make(const char *python, const char *const *avoid)
{
    struct al_pyrun_opts o = {.config = config, .state_dir = state, .python = python, .avoid = avoid};
    return al_pyrun_new(&o);
}

static void script(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", bin, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(chmod(path, 0755), 0);
}

static int find(struct al_pyrun *p, struct al_py_interpreter *i, struct al_err *err)
{
    *i = (struct al_py_interpreter){0};
    *err = (struct al_err){0};
    return al_py_interpreter_find(p, i, err);
}

static void need_python(void)
{
    if (access("/usr/bin/python3", X_OK) < 0)
        skip();
}

static void finds_the_real_executable(void **unused)
{
    (void)unused;
    need_python();
    struct al_pyrun *p = make(NULL, NULL);
    struct al_py_interpreter i;
    struct al_err err;
    assert_int_equal(find(p, &i, &err), 0);
    autofree char *real = realpath(i.path, NULL);
    assert_string_equal(real, i.path);
    assert_null(strstr(i.path, "shims"));
    assert_int_equal(i.major, 3);
    assert_true(i.minor >= 10);
    assert_true(strncmp(i.version, "3.", 2) == 0);
    al_py_interpreter_fini(&i);
    al_pyrun_free(p);
}

static void a_wrapper_script_is_not_the_interpreter(void **unused)
{
    (void)unused;
    need_python();
    script("python3", "#!/bin/sh\necho 'a word of the shim'\nexec /usr/bin/python3 \"$@\"\n");
    setenv("PATH", bin, 1);
    struct al_pyrun *p = make(NULL, NULL);
    struct al_py_interpreter i;
    struct al_err err;
    autofree char *real = realpath("/usr/bin/python3", NULL);
    assert_int_equal(find(p, &i, &err), 0);
    assert_string_equal(i.path, real);
    assert_string_equal(i.source, "PATH");
    assert_null(i.roots[0]); /* all of it lies beneath /usr */
    al_py_interpreter_fini(&i);
    al_pyrun_free(p);
}

static void an_old_python_is_refused_by_its_version(void **unused)
{
    (void)unused;
    script("python3", "#!/bin/sh\necho '{\"version\":[3,9,2],\"executable\":\"/bin/sh\",\"prefix\":\"/usr\","
                      "\"execPrefix\":\"/usr\"}'\n");
    setenv("PATH", bin, 1);
    struct al_pyrun *p = make(NULL, NULL);
    struct al_py_interpreter i;
    struct al_err err;
    assert_int_equal(find(p, &i, &err), -1);
    assert_int_equal(err.code, AL_RUNTIME_UNAVAILABLE);
    assert_non_null(strstr(err.msg, "3.9.2"));
    assert_non_null(strstr(err.hint, "--python"));
    al_pyrun_free(p);
}

static void without_any_python_the_hint_says_how_to_install_one(void **unused)
{
    (void)unused;
    setenv("PATH", bin, 1);
    struct al_pyrun *p = make(NULL, NULL);
    struct al_py_interpreter i;
    struct al_err err;
    assert_int_equal(find(p, &i, &err), -1);
    assert_int_equal(err.code, AL_RUNTIME_UNAVAILABLE);
    assert_non_null(strstr(err.hint, "Install it"));
    /* And one that is installed meanwhile is found without a restart. */
    if (access("/usr/bin/python3", X_OK) == 0) {
        script("python", "#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n");
        assert_int_equal(find(p, &i, &err), 0);
        al_py_interpreter_fini(&i);
    }
    al_pyrun_free(p);
}

static void a_named_one_is_taken_or_refused(void **unused)
{
    (void)unused;
    need_python();
    struct al_py_interpreter i;
    struct al_err err;
    struct al_pyrun *p = make("/usr/bin/python3", NULL);
    assert_int_equal(find(p, &i, &err), 0);
    assert_string_equal(i.source, "--python");
    al_py_interpreter_fini(&i);
    al_pyrun_free(p);
    p = make("/bin/false", NULL);
    assert_int_equal(find(p, &i, &err), -1);
    assert_int_equal(err.code, AL_RUNTIME_UNAVAILABLE);
    assert_non_null(strstr(err.msg, "--python …/false:"));
    al_pyrun_free(p);
    p = make("/nowhere/python3", NULL);
    assert_int_equal(find(p, &i, &err), -1);
    assert_int_equal(err.code, AL_RUNTIME_UNAVAILABLE);
    al_pyrun_free(p);
}

/* What it was found by is asked once: the second time the wrapper would fail. */
static void what_was_found_is_remembered_while_the_file_stays(void **unused)
{
    (void)unused;
    need_python();
    char copy[256], told[512];
    struct al_py_interpreter i;
    struct al_err err;
    snprintf(copy, sizeof(copy), "%s/the-python", bin);
    snprintf(told, sizeof(told),
             "#!/bin/sh\necho '{\"version\":[3,12,1],\"executable\":\"%s\",\"prefix\":\"/opt/py\","
             "\"execPrefix\":\"/opt/py\",\"stdlib\":\"/opt/py/lib/python3.12\"}'\n",
             copy);
    script("the-python", "#!/bin/sh\n");
    script("python3", told);
    setenv("PATH", bin, 1);
    struct al_pyrun *p = make(NULL, NULL);
    assert_int_equal(find(p, &i, &err), 0);
    assert_string_equal(i.version, "3.12.1");
    assert_string_equal(i.roots[0], "/opt/py");
    assert_string_equal(i.roots[1], bin);
    assert_null(i.roots[2]);
    al_py_interpreter_fini(&i);
    al_pyrun_free(p);

    script("python3", "#!/bin/sh\nexit 1\n");
    p = make(NULL, NULL);
    assert_int_equal(find(p, &i, &err), 0);
    assert_string_equal(i.version, "3.12.1");
    assert_int_equal(i.minor, 12);
    assert_string_equal(i.roots[0], "/opt/py");
    al_py_interpreter_fini(&i);
    script("the-python", "#!/bin/sh\n# another\n");
    assert_int_equal(find(p, &i, &err), -1);
    al_pyrun_free(p);
}

static void one_in_the_workspace_is_passed_over(void **unused)
{
    (void)unused;
    char mark[256], text[512];
    struct al_py_interpreter i;
    struct al_err err;
    snprintf(mark, sizeof(mark), "%s/was-run", dir);
    snprintf(text, sizeof(text), "#!/bin/sh\necho > %s\n", mark);
    script("python3", text);
    script("uv", text);
    setenv("PATH", bin, 1);
    const char *avoid[] = {bin, NULL};
    struct al_pyrun *p = make(NULL, avoid);
    assert_int_equal(find(p, &i, &err), -1);
    assert_int_equal(access(mark, F_OK), -1);
    al_pyrun_free(p);
}

/* Which wrapper names it does not matter; and what our own file says of it is held to the same rule. */
static void the_executable_is_held_to_the_rules_of_programs(void **unused)
{
    (void)unused;
    static const char *const places[] = {"open", "here"};
    char text[600], folder[256];
    struct al_py_interpreter i;
    struct al_err err;
    const char *avoid[] = {NULL, NULL};
    char here[256];
    snprintf(here, sizeof(here), "%s/here", bin);
    avoid[0] = here;
    setenv("PATH", bin, 1);
    for (size_t k = 0; k < 2; k++) {
        snprintf(folder, sizeof(folder), "%s/%s", bin, places[k]);
        assert_int_equal(mkdir(folder, 0755), 0);
        assert_int_equal(chmod(folder, k == 0 ? 0777 : 0755), 0);
        snprintf(text, sizeof(text), "%s/python3", places[k]);
        script(text, "#!/bin/sh\n");
        snprintf(
            text, sizeof(text),
            "#!/bin/sh\necho '{\"version\":[3,12,1],\"executable\":\"%s/python3\",\"prefix\":\"/opt/py\","
            "\"execPrefix\":\"/opt/py\",\"stdlib\":\"/opt/py/lib/python3.12\"}'\n",
            folder);
        script("python3", text);
        struct al_pyrun *p = make(NULL, avoid);
        assert_int_equal(find(p, &i, &err), -1);
        al_pyrun_free(p);
        /* As if it had been taken, and named by a person. */
        char cache[256], path[300];
        struct stat st;
        snprintf(path, sizeof(path), "%s/python3", folder);
        assert_int_equal(stat(path, &st), 0);
        snprintf(cache, sizeof(cache), "%s/runtimes/python/discovery.json", state);
        static const char *const sources[] = {"--python", "PATH", "uv"};
        for (size_t n = 0; n < 3; n++) {
            FILE *f = fopen(cache, "w");
            assert_non_null(f);
            fprintf(f,
                    "{\"executable\":\"%s\",\"prefix\":\"/opt/py\",\"execPrefix\":\"/opt/py\",\"roots\":[],"
                    "\"version\":\"3.12.1\",\"source\":\"%s\",\"asked\":null,\"mtimeNs\":%lld,\"size\":%lld,"
                    "\"inode\":%lld}",
                    path, sources[n], (long long)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
                    (long long)st.st_size, (long long)st.st_ino);
            fclose(f);
            p = make(NULL, avoid);
            assert_int_equal(find(p, &i, &err), -1);
            al_pyrun_free(p);
        }
    }
}

static void what_is_named_by_a_relative_path_is_no_interpreter(void **unused)
{
    (void)unused;
    struct al_py_interpreter i;
    struct al_err err;
    script("python3", "#!/bin/sh\necho '{\"version\":[3,12,1],\"executable\":\"bin/sh\",\"prefix\":\"/usr\","
                      "\"execPrefix\":\"/usr\"}'\n");
    char named[256];
    snprintf(named, sizeof(named), "%s/python3", bin);
    assert_int_equal(chdir("/"), 0);
    struct al_pyrun *p = make(named, NULL);
    assert_int_equal(find(p, &i, &err), -1);
    assert_non_null(strstr(err.msg, "does not answer as Python 3 does"));
    al_pyrun_free(p);
}

/* A folder, what is no Python, what talks without an end, what lies. */
static void odd_programs_are_refused_in_words(void **unused)
{
    (void)unused;
    static const char *const texts[] = {
        "#!/bin/sh\nexec yes 0123456789012345678901234567890123456789 2>/dev/null | head -c 20000000\n",
        "#!/bin/sh\necho '{\"version\":[3,12],\"executable\":\"/bin/sh\"}'\n",
        "#!/bin/sh\necho "
        "'{\"version\":{\"a\":1,\"b\":2,\"c\":3},\"executable\":\"/bin/sh\",\"prefix\":\"/\"}'\n",
        "#!/bin/sh\necho '{\"version\":[\"3\",\"12\",\"1\"],\"executable\":\"/bin/sh\",\"prefix\":\"/usr\","
        "\"execPrefix\":\"/usr\"}'\n",
        "#!/bin/sh\nkill -9 $$\n",
        "#!/nowhere/python\n",
        "",
    };
    struct al_py_interpreter i;
    struct al_err err;
    char named[256];
    snprintf(named, sizeof(named), "%s/odd", bin);
    for (size_t k = 0; k <= sizeof(texts) / sizeof(texts[0]); k++) {
        if (k > 0)
            script("odd", texts[k - 1]);
        struct al_pyrun *p = make(k == 0 ? bin : named, NULL);
        assert_int_equal(find(p, &i, &err), -1);
        assert_int_equal(err.code, AL_RUNTIME_UNAVAILABLE);
        assert_non_null(strstr(err.msg, "--python "));
        assert_true(err.hint[0] != 0);
        al_pyrun_free(p);
    }
}

/* Each back end asks in turn: what hung once is not waited for by all of them. */
static void what_was_late_is_not_asked_again_at_once(void **unused)
{
    (void)unused;
    need_python();
    struct al_pyrun *p = make("/usr/bin/python3", NULL);
    struct al_py_interpreter i;
    struct al_err err;
    al_fail(&p->late, AL_RUNTIME_UNAVAILABLE, "it did not answer");
    p->late_until_ms = al_mono_ms() + 600000;
    assert_int_equal(find(p, &i, &err), -1);
    assert_string_equal(err.msg, "it did not answer");
    p->late_until_ms = al_mono_ms();
    assert_int_equal(find(p, &i, &err), 0);
    al_py_interpreter_fini(&i);
    al_pyrun_free(p);
}

static void *close_soon(void *pyrun)
{
    struct al_pyrun *p = pyrun;
    usleep(100000);
    p->closing = true;
    return NULL;
}

static void who_is_closed_waits_for_no_answer(void **unused)
{
    (void)unused;
    static const char *const slow[] = {"/bin/sleep", "1000", NULL};
    struct al_pyrun *p = make(NULL, NULL);
    struct al_err err;
    pthread_t thread;
    int status;
    assert_int_equal(pthread_create(&thread, NULL, close_soon, p), 0);
    assert_int_equal(al_py_ask(p, slow, 100000, NULL, NULL, &status, &err), -1);
    pthread_join(thread, NULL);
    al_pyrun_free(p);
}

static void uv_is_asked_first(void **unused)
{
    (void)unused;
    need_python();
    char text[512];
    struct al_py_interpreter i;
    struct al_err err;
    autofree char *real = realpath("/usr/bin/python3", NULL);
    snprintf(text, sizeof(text), "#!/bin/sh\n[ \"$1 $2\" = 'python find' ] && echo %s\n", real);
    script("uv", text);
    script("python3", "#!/bin/sh\nexit 1\n");
    setenv("PATH", bin, 1);
    struct al_pyrun *p = make(NULL, NULL);
    assert_int_equal(find(p, &i, &err), 0);
    assert_string_equal(i.source, "uv");
    assert_string_equal(i.path, real);
    al_py_interpreter_fini(&i);
    al_pyrun_free(p);
}

static void a_program_that_does_not_answer_is_late_and_killed(void **unused)
{
    (void)unused;
    struct al_pyrun *p = make(NULL, NULL);
    autobuf struct al_buf out = AL_BUF_INIT(16);
    const char *slow[] = {"/bin/sh", "-c", "echo 123456789012345678901234567890; sleep 1000 & sleep 1000",
                          NULL};
    const char *quick[] = {"/bin/sh", "-c", "echo yes; echo no >&2; sleep 1000 & exit 3", NULL};
    struct al_err err;
    int status = 0;
    assert_int_equal(al_py_ask(p, slow, 300, &out, NULL, &status, &err), -1);
    assert_int_equal(err.code, AL_RUNTIME_UNAVAILABLE);
    assert_int_equal(out.n, 16);
    al_buf_clear(&out);
    autobuf struct al_buf errors = AL_BUF_INIT(16);
    assert_int_equal(al_py_ask(p, quick, 10000, &out, &errors, &status, &err), 0);
    assert_int_equal(status, 3);
    assert_memory_equal(out.p, "yes\n", 4);
    assert_memory_equal(errors.p, "no\n", 3);
    al_pyrun_free(p);
}

static void each_distribution_has_its_words(void **unused)
{
    (void)unused;
    static const struct {
        const char *release, *package, *words;
    } cases[] = {
        {"NAME=x\nID=debian\n", "bubblewrap", "sudo apt install bubblewrap"},
        {"ID_LIKE=\"ubuntu debian\"\nID=linuxmint\n", "python3", "sudo apt install python3"},
        {"ID=\"fedora\"\n", "python3", "sudo dnf install python3"},
        {"ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "python3", "sudo dnf install python3.12"},
        {"ID=arch\n", "python3", "sudo pacman -S python"},
        {"ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n", "python3", "sudo zypper install python312"},
        {"ID=alpine", "bubblewrap", "sudo apk add bubblewrap"},
        {"ID=mine\n", "bubblewrap", "your package manager: bubblewrap"},
        {"", "bubblewrap", "your package manager: bubblewrap"},
        {"ID", "bubblewrap", "your package manager: bubblewrap"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        autobuf struct al_buf out = AL_BUF_INIT(256);
        al_py_install_for(al_str_of(cases[i].release), cases[i].package, &out);
        al_buf_addc(&out, 0);
        assert_string_equal(out.p, cases[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(finds_the_real_executable, fresh),
        cmocka_unit_test_setup(a_wrapper_script_is_not_the_interpreter, fresh),
        cmocka_unit_test_setup(an_old_python_is_refused_by_its_version, fresh),
        cmocka_unit_test_setup(without_any_python_the_hint_says_how_to_install_one, fresh),
        cmocka_unit_test_setup(a_named_one_is_taken_or_refused, fresh),
        cmocka_unit_test_setup(what_was_found_is_remembered_while_the_file_stays, fresh),
        cmocka_unit_test_setup(one_in_the_workspace_is_passed_over, fresh),
        cmocka_unit_test_setup(the_executable_is_held_to_the_rules_of_programs, fresh),
        cmocka_unit_test_setup(what_is_named_by_a_relative_path_is_no_interpreter, fresh),
        cmocka_unit_test_setup(odd_programs_are_refused_in_words, fresh),
        cmocka_unit_test_setup(what_was_late_is_not_asked_again_at_once, fresh),
        cmocka_unit_test_setup(who_is_closed_waits_for_no_answer, fresh),
        cmocka_unit_test_setup(uv_is_asked_first, fresh),
        cmocka_unit_test_setup(a_program_that_does_not_answer_is_late_and_killed, fresh),
        cmocka_unit_test(each_distribution_has_its_words),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
