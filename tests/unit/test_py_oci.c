#include "test.h"

#include "pyrun_world.h"

#include "base/mem.h"
#include "os/fd.h"
#include "pyrun/backend.h"
#include "pyrun/oci.h"
#include "pyrun/oci_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define DIGEST "f77ac9e44ae96ef2c90b8053ea08c31f8be030f824196b0ae4db6d462c84e51f"
#define MAKE_MS 60000

/* --- a computer with engines that are not there: what would be started --- */

static void put_program(struct pyrun_world *t, const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/bin", t->top);
    mkdir(path, 0755);
    snprintf(path, sizeof(path), "%s/bin/%s", t->top, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("#!/bin/sh\nexit 1\n", f);
    fclose(f);
    assert_int_equal(chmod(path, 0755), 0);
    snprintf(path, sizeof(path), "%s/bin", t->top);
    setenv("PATH", path, 1);
}

static int listen_at(struct pyrun_world *t, const char *name, char *path, size_t cap)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(path, cap, "%s/%s", t->top, name);
    assert_true(strlen(path) < sizeof(at.sun_path));
    memcpy(at.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(fd, 8), 0);
    return fd;
}

static const char *config(const char *engine, const char *more)
{
    static char text[1024];
    snprintf(text, sizeof(text),
             "{\"analysis\":{\"oci\":{%s%s%s\"image\":\"python@sha256:" DIGEST
             "\",\"memoryMb\":512,\"cpus\":1.5}%s}}",
             engine ? "\"engine\":\"" : "", engine ? engine : "", engine ? "\"," : "", more);
    return text;
}

/* The words of the engine, joined by spaces. */
static int words(struct pyrun_world *t, const char *scratch, struct al_buf *out, struct al_py_job *job,
                 struct al_py_command *c, struct al_arena *a, struct al_err *err)
{
    struct al_py_run_spec spec = {.job = job, .backend = AL_PY_OCI, .scratch = scratch};
    struct al_py_start start = {
        .pyrun = t->pyrun, .spec = &spec, .report_fd = AL_PY_REPORT_FD, .uid = 61200, .gid = 61201};
    *c = (struct al_py_command){.cwd_fd = -1, .fds = {-1, -1, -1, -1}};
    if (al_py_oci.command(&start, a, c, err) < 0)
        return -1;
    size_t i = 0;
    while (strcmp(c->argv[i], "--") != 0)
        i++;
    for (i++; c->argv[i]; i++)
        al_buf_addf(out, "%s%s", out->n ? " " : "", c->argv[i]);
    al_buf_addc(out, 0);
    al_close(&c->cwd_fd);
    assert_false(al_buf_failed(out));
    return 0;
}

static const char *env_of(const struct al_py_command *c, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; c->envp[i]; i++) {
        if (strncmp(c->envp[i], name, n) == 0 && c->envp[i][n] == '=')
            return c->envp[i] + n + 1;
    }
    return NULL;
}

static void the_words_stand_in_the_documented_order(void **state)
{
    struct pyrun_world *t = *state;
    struct al_py_job job;
    struct al_py_command c;
    struct al_err err;
    char want[4096], user[32], pad[256], copy[512];
    autobuf struct al_buf got = AL_BUF_INIT(1 << 16);
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    put_program(t, "podman");
    pyrun_world_start(t, config(NULL, ""));
    pyrun_world_job(t, "1", &job);
    snprintf(pad, sizeof(pad), "%s/pad", t->top);
    assert_int_equal(mkdir(pad, 0700), 0);
    if (words(t, pad, &got, &job, &c, &a, &err) < 0)
        fail_msg("%s", err.msg);
    if (geteuid() == 0)
        snprintf(user, sizeof(user), "61200:61201");
    else
        snprintf(user, sizeof(user), "%u:%u", (unsigned)geteuid(), (unsigned)getegid());
    const char *j = job.path;
    snprintf(copy, sizeof(copy), "%s/scratch", j); /* for root's script, who is another user */
    snprintf(want, sizeof(want),
             "%s/bin/podman run --rm --name alisio-%s --network=none --read-only --cap-drop=ALL "
             "--security-opt=no-new-privileges --pids-limit=256 --memory=512m --cpus=1.50 --user %s "
             "-v %s/script:/job/script:ro -v %s/input:/job/input:ro -v %s/work:/job/work:rw -v "
             "%s/staging:/job/out:rw "
             "--tmpfs /tmp:size=256m --label alisio=analysis --memory-swap=512m --pull=never %s"
             "-v %s:/job/scratch:ro --workdir=/job/work --cidfile=%s/logs/container "
             "--security-opt=seccomp=%s/runtimes/container-calls.json -e ",
             t->top, job.id, user, j, j, j, j, geteuid() == 0 ? "" : "--userns=keep-id ",
             geteuid() == 0 ? copy : pad, j, t->state);
    if (strncmp(got.p, want, strlen(want)) != 0)
        fail_msg("%s\nis not\n%s", got.p, want);
    assert_non_null(strstr(got.p, " -e ALISIO_OUTPUT_DIR=/job/out "));
    assert_non_null(strstr(got.p, " -e HOME=/job/work "));
    assert_null(strstr(got.p, " -e PATH="));
    const char *tail = " python@sha256:" DIGEST " python -E -s -B -u -X utf8 /job/script/main.py";
    assert_string_equal(got.p + strlen(got.p) - strlen(tail), tail);
    assert_string_equal(c.stop_argv[1], "kill");
    assert_int_equal(strncmp(c.stop_argv[2], "alisio-exec_", 12), 0);
    al_py_job_close(&job);
}

static void a_client_gets_its_settings_and_no_key_or_proxy(void **state)
{
    struct pyrun_world *t = *state;
    struct al_py_job job;
    struct al_py_command c;
    struct al_err err;
    autobuf struct al_buf got = AL_BUF_INIT(1 << 16);
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    put_program(t, "podman");
    setenv("CONTAINERS_CONF", "/x/containers.conf", 1);
    setenv("https_proxy", "http://user:word@proxy", 1);
    setenv("SOME_API_KEY", "k", 1);
    pyrun_world_start(t, config("podman", ""));
    pyrun_world_job(t, "1", &job);
    assert_int_equal(words(t, NULL, &got, &job, &c, &a, &err), 0);
    assert_string_equal(env_of(&c, "CONTAINERS_CONF"), "/x/containers.conf");
    assert_null(env_of(&c, "https_proxy"));
    assert_null(env_of(&c, "SOME_API_KEY"));
    assert_null(strstr(got.p, "user:word"));
    unsetenv("https_proxy");
    unsetenv("SOME_API_KEY");
    unsetenv("CONTAINERS_CONF");
    al_py_job_close(&job);
}

static void refused(struct pyrun_world *t, const char *json, const char *scratch, const char *message,
                    const char *hint)
{
    struct al_py_job job;
    struct al_py_command c;
    struct al_err err = {0};
    autobuf struct al_buf got = AL_BUF_INIT(1 << 16);
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    pyrun_world_start(t, json);
    pyrun_world_job(t, "1", &job);
    assert_int_equal(words(t, scratch, &got, &job, &c, &a, &err), -1);
    assert_int_equal(err.code, AL_RUNTIME_UNAVAILABLE);
    if (!strstr(err.msg, message) || !strstr(err.hint, hint))
        fail_msg("%s / %s is not %s / %s", err.msg, err.hint, message, hint);
    al_py_job_close(&job);
}

static void what_cannot_be_is_refused_with_its_cure(void **state)
{
    struct pyrun_world *t = *state;
    put_program(t, "nothing");
    refused(t, config(NULL, ""), NULL, "neither Docker nor Podman is installed", "podman");
    refused(t, config("docker", ""), NULL, "docker is not installed", "install");
    refused(t, "{}", NULL, "none is configured", "alisio analysis setup --oci --image");
    put_program(t, "podman");
    refused(t, config(NULL, ""), "/a:b", "a colon", "without one");
    setenv("CONTAINER_HOST", "ssh://elsewhere", 1);
    refused(t, config(NULL, ""), NULL, "CONTAINER_HOST", "unset CONTAINER_HOST");
    unsetenv("CONTAINER_HOST");
}

static void another_computers_docker_is_refused(void **state)
{
    struct pyrun_world *t = *state;
    char path[128], text[512], hash[AL_SHA256_HEX];
    put_program(t, "docker");
    setenv("DOCKER_HOST", "tcp://10.0.0.1:2375", 1);
    refused(t, config(NULL, ""), NULL, "on another computer", "DOCKER_HOST");
    setenv("DOCKER_HOST", "ssh://u@h", 1);
    refused(t, config("docker", ""), NULL, "on another computer", "docker context");
    snprintf(text, sizeof(text), "unix://%s/none.sock", t->top);
    setenv("DOCKER_HOST", text, 1);
    refused(t, config("docker", ""), NULL, "daemon does not run", "systemctl");
    unsetenv("DOCKER_HOST");
    /* A context of that name, in the client's own settings. */
    setenv("DOCKER_CONFIG", t->top, 1);
    al_sha256(AL_STR("far"), hash);
    snprintf(text, sizeof(text),
             "cd '%s' && mkdir -p contexts/meta/%s && echo '{\"currentContext\":\"far\"}' > config.json && "
             "echo '{\"Endpoints\":{\"docker\":{\"Host\":\"ssh://far\"}}}' > contexts/meta/%s/meta.json",
             t->top, hash, hash);
    snprintf(path, sizeof(path), "/bin/sh");
    const char *argv[] = {path, "-c", text, NULL};
    char *env[] = {(char *)"PATH=/usr/bin:/bin", NULL};
    int status;
    struct al_err err;
    assert_int_equal(al_py_ask_in(argv, env, 5000, NULL, NULL, &status, &err), 0);
    assert_int_equal(status, 0);
    refused(t, config(NULL, ""), NULL, "on another computer", "docker context use default");
    unsetenv("DOCKER_CONFIG");
}

static void docker_is_spoken_to_over_the_socket_that_was_checked(void **state)
{
    struct pyrun_world *t = *state;
    struct al_py_job job;
    struct al_py_command c;
    struct al_err err;
    char path[128], host[160];
    autobuf struct al_buf got = AL_BUF_INIT(1 << 16);
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    put_program(t, "docker");
    put_program(t, "podman");
    autofd int fd = listen_at(t, "d.sock", path, sizeof(path));
    snprintf(host, sizeof(host), "unix://%s", path);
    setenv("DOCKER_HOST", host, 1);
    pyrun_world_start(t, config(NULL, ""));
    pyrun_world_job(t, "1", &job);
    if (words(t, NULL, &got, &job, &c, &a, &err) < 0)
        fail_msg("%s", err.msg);
    assert_non_null(strstr(got.p, "/bin/docker run --rm "));
    assert_string_equal(env_of(&c, "DOCKER_HOST"), host);
    /* A daemon of our own user is a rootless one, in which we are root. */
    assert_int_equal(strstr(got.p, " --user ") != NULL, geteuid() == 0);
    assert_null(strstr(got.p, "keep-id"));
    al_py_job_close(&job);
    /* Nobody chose Docker, and it does not run: Podman is taken. */
    al_close(&fd);
    unlink(path);
    al_buf_clear(&got);
    pyrun_world_job(t, "1", &job);
    assert_int_equal(words(t, NULL, &got, &job, &c, &a, &err), 0);
    assert_non_null(strstr(got.p, "/bin/podman run --rm "));
    al_py_job_close(&job);
    unsetenv("DOCKER_HOST");
}

static void words_of_engines_are_told_from_a_scripts(void **state)
{
    (void)state;
    struct al_guest_report none = {.layer = -1};
    struct al_err err;
    assert_true(
        al_py_oci.explain(&none, 125, AL_STR("Error: localhost/x@sha256:1: image not known\n"), &err));
    assert_non_null(strstr(err.msg, "image not known"));
    assert_non_null(strstr(err.hint, "alisio analysis setup --oci"));
    assert_true(al_py_oci.explain(
        &none, 127, AL_STR("Error: runc: exec: \"python\": executable file not found in $PATH\n"), &err));
    assert_non_null(strstr(err.hint, "python on its PATH"));
    assert_true(al_py_oci.explain(&none, 125,
                                  AL_STR("docker: Error response from daemon: No such image: x\n"), &err));
    assert_false(al_py_oci.explain(&none, 125, AL_STR("Traceback (most recent call last):\n"), &err));
    assert_false(al_py_oci.explain(&none, 1, AL_STR("Error: it was me\n"), &err));
    none.layer = AL_GUEST_EXEC;
    none.error = AL_OCI_OTHER_IMAGE;
    assert_true(al_py_oci.explain(&none, 1, AL_STR(""), &err));
    assert_non_null(strstr(err.msg, "another image"));
}

/* --- Podman itself --- */

static char pinned[512], real_path[1024];

static bool has_podman(struct pyrun_world *t)
{
    static int there = -1;
    bool first = there < 0;
    char json[1024];
    setenv("PATH", real_path, 1);
    if (first) {
        const char *argv[] = {AL_OCI_IMAGE_TOOL, AL_OCI_IMAGE_DIR, NULL};
        autobuf struct al_buf out = AL_BUF_INIT(4096), errors = AL_BUF_INIT(65536);
        struct al_err err;
        int status = -1;
        if (al_py_ask_in(argv, environ, MAKE_MS, &out, &errors, &status, &err) < 0)
            fail_msg("%s", err.msg);
        there = status == 0;
        struct al_str said = al_str_trim(al_buf_str(there ? &out : &errors));
        if (!there)
            print_message("no image: %.*s\n", AL_FMT(said));
        snprintf(pinned, sizeof(pinned), "%.*s", AL_FMT(said));
    }
    if (!there)
        return false;
    setenv("CONTAINERS_CONF", AL_OCI_IMAGE_DIR "/containers.conf", 1);
    setenv("CONTAINERS_STORAGE_CONF", AL_OCI_IMAGE_DIR "/storage.conf", 1);
    snprintf(json, sizeof(json),
             "{\"analysis\":{\"runtime\":\"oci\",\"oci\":{\"engine\":\"podman\",\"image\":\"%s\","
             "\"memoryMb\":256,\"cpus\":1}}}",
             pinned);
    pyrun_world_start(t, json);
    if (first) { /* of a test that was killed */
        const char *argv[] = {"/bin/sh", "-c",
                              "podman ps -aq --filter label=" AL_OCI_LABEL " | xargs -r podman rm -f -t 0",
                              NULL};
        struct al_err err;
        int status;
        assert_int_equal(al_py_ask_in(argv, environ, MAKE_MS, NULL, NULL, &status, &err), 0);
    }
    return true;
}

#define NEED_PODMAN(t)      \
    do {                    \
        if (!has_podman(t)) \
            skip();         \
    } while (0)

static size_t containers(struct pyrun_world *t)
{
    struct al_oci_engine e;
    struct al_err err;
    const char *args[] = {"ps", "-aq", "--filter", "label=" AL_OCI_LABEL, NULL};
    autobuf struct al_buf out = AL_BUF_INIT(65536);
    int status;
    assert_int_equal(al_oci_engine_find(t->pyrun, false, &e, &err), 0);
    assert_int_equal(al_oci_ask(&e, args, 10000, &out, NULL, &status, &err), 0);
    assert_int_equal(status, 0);
    al_oci_engine_fini(&e);
    size_t n = 0;
    for (size_t i = 0; i < out.n; i++)
        n += out.p[i] == '\n';
    return n;
}

static void a_script_has_its_job_and_nothing_else(void **state)
{
    static const char code[] =
        "import os, sys, socket, pathlib\n"
        "def tried(f, *a):\n"
        "    try: f(*a); return 'yes'\n"
        "    except OSError: return 'no'\n"
        "print(os.getcwd(), os.environ['HOME'], os.environ['ALISIO_OUTPUT_DIR'])\n"
        "print(tried(socket.create_connection, ('1.1.1.1', 53), 1), tried(open, '/etc/x', 'w'),\n"
        "      tried(open, '/job/script/main.py', 'a'), tried(open, '/job/input/x', 'w'), "
        "os.path.exists('/work'))\n"
        "pathlib.Path(os.environ['ALISIO_OUTPUT_DIR'], 'a.txt').write_text('hello')\n"
        "import alisio_runtime\n"
        "print(os.getuid() != 0, open('/proc/self/status').read().count('CapEff:\\t0000000000000000'))\n"
        "sys.exit(3)\n";
    struct pyrun_world *t = *state;
    struct pyrun_answer a = {0};
    struct al_py_job job;
    struct stat st;
    NEED_PODMAN(t);
    pyrun_world_run(t, AL_PY_OCI, code, 20000, &a, &job);
    if (a.cause != AL_PY_EXITED || a.exit_code != 3)
        fail_msg("%d %d %s %s %s", a.cause, a.exit_code, a.err.msg, a.err.hint, a.errors);
    assert_string_equal(a.out, "/job/work /job/work /job/out\nno no no no False\nTrue 1\n");
    assert_int_equal(fstatat(job.fd, "staging/a.txt", &st, 0), 0);
    assert_int_equal(st.st_size, 5);
    if (geteuid() != 0)
        assert_int_equal(st.st_uid, geteuid());
    assert_int_equal(containers(t), 0);
    assert_int_not_equal(faccessat(job.fd, "logs/container", F_OK, 0), 0);
    pyrun_answer_free(&a);
    al_py_job_remove(&job);
    al_py_job_close(&job);
}

static void a_probe_says_what_is_kept(void **state)
{
    struct pyrun_world *t = *state;
    struct al_py_probe probe = {0};
    struct al_err err = {0};
    NEED_PODMAN(t);
    if (al_py_oci.check(t->pyrun, &probe, &err) < 0)
        fail_msg("%s %s", err.msg, err.hint);
    assert_int_equal(strncmp(probe.version, "podman ", 7), 0);
    assert_int_equal(probe.disk, AL_PY_KEPT_SAMPLED);
    pyrun_world_start(
        t, "{\"analysis\":{\"oci\":{\"engine\":\"podman\",\"image\":\"localhost/none@sha256:" DIGEST "\"}}}");
    assert_int_equal(al_py_oci.check(t->pyrun, &probe, &err), -1);
    assert_int_equal(err.code, AL_RUNTIME_UNAVAILABLE);
    assert_non_null(strstr(err.hint, "alisio analysis setup --oci"));
}

static void a_stop_or_a_deadline_leaves_no_container(void **state)
{
    static const char code[] =
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('here')\ntime.sleep(60)\n";
    struct pyrun_world *t = *state;
    struct al_py_job job;
    NEED_PODMAN(t);
    for (int late = 0; late < 2; late++) {
        struct pyrun_answer a = {.until = "here"};
        pyrun_world_job(t, code, &job);
        struct al_py_run_spec spec = {.job = &job,
                                      .backend = AL_PY_OCI,
                                      .timeout_ms = late ? 1500 : 60000,
                                      .max_head = 1000,
                                      .max_tail = 1000};
        struct al_py_run *r = pyrun_world_begin(t, &spec, &a);
        pyrun_world_wait(t, &a.heard);
        if (!late)
            al_py_run_cancel(r);
        pyrun_world_wait(t, &a.done);
        assert_int_equal(a.cause, late ? AL_PY_TIMED_OUT : AL_PY_STOPPED);
        assert_int_equal(containers(t), 0);
        pyrun_answer_free(&a);
        al_py_job_remove(&job);
        al_py_job_close(&job);
    }
}

static void too_much_memory_is_told(void **state)
{
    struct pyrun_world *t = *state;
    struct pyrun_answer a = {0};
    struct al_py_probe probe = {0};
    struct al_err err;
    NEED_PODMAN(t);
    if (al_py_oci.check(t->pyrun, &probe, &err) < 0 || probe.memory != AL_PY_KEPT_ENGINE) {
        print_message("the engine limits no memory here\n");
        skip();
    }
    pyrun_world_run(t, AL_PY_OCI, "b = bytearray(600 << 20)\nprint(len(b))\n", 20000, &a, NULL);
    if (a.cause != AL_PY_MEMORY)
        fail_msg("%d %d %d %s", a.cause, a.exit_code, a.signal, a.errors);
    assert_int_equal(a.err.code, AL_MEMORY_LIMIT);
    assert_int_not_equal(access("oom", F_OK), 0); /* of Podman's monitor: not where we stand */
    assert_int_equal(containers(t), 0);
    pyrun_answer_free(&a);
}

static void a_container_of_another_image_is_ended(void **state)
{
    struct pyrun_world *t = *state;
    struct pyrun_answer a = {0};
    NEED_PODMAN(t);
    al_oci_remember_id(al_pyrun_program(t->pyrun, "podman"), pinned, DIGEST);
    pyrun_world_run(t, AL_PY_OCI, "import time\ntime.sleep(60)\n", 50000, &a, NULL);
    assert_int_equal(a.cause, AL_PY_NOT_STARTED);
    assert_int_equal(a.err.code, AL_RUNTIME_UNAVAILABLE);
    assert_non_null(strstr(a.err.msg, "another image"));
    assert_true(a.duration_ms < 20000);
    assert_int_equal(containers(t), 0);
    pyrun_answer_free(&a);
    pyrun_world_run(t, AL_PY_OCI, "pass\n", 50000, &a, NULL);
    assert_int_equal(a.cause, AL_PY_NOT_STARTED);
    pyrun_answer_free(&a);
    al_oci_remember_id("", "", "");
}

static void an_image_that_is_not_there_is_never_pulled(void **state)
{
    struct pyrun_world *t = *state;
    struct pyrun_answer a = {0};
    NEED_PODMAN(t);
    pyrun_world_start(
        t, "{\"analysis\":{\"oci\":{\"engine\":\"podman\",\"image\":\"localhost/none@sha256:" DIGEST "\"}}}");
    pyrun_world_run(t, AL_PY_OCI, "pass\n", 20000, &a, NULL);
    assert_int_equal(a.cause, AL_PY_NOT_STARTED);
    assert_non_null(strstr(a.err.hint, "alisio analysis setup --oci"));
    pyrun_answer_free(&a);
}

static void set_up_says_the_digest_of_what_is_there(void **state)
{
    struct pyrun_world *t = *state;
    struct al_oci_image image;
    struct al_err err = {0};
    NEED_PODMAN(t);
    if (al_oci_setup(t->pyrun, NULL, 20000, NULL, NULL, &image, &err) < 0)
        fail_msg("%s %s", err.msg, err.hint);
    assert_string_equal(image.pinned, pinned);
    assert_int_equal(strncmp(image.python, "3.", 2), 0);
    assert_int_equal(strlen(image.id), 64);
    assert_int_equal(al_oci_setup(t->pyrun, "--privileged", 20000, NULL, NULL, &image, &err), -1);
    assert_int_equal(err.code, AL_INVALID_INPUT);
    pyrun_world_start(t, "{}");
    assert_int_equal(al_oci_setup(t->pyrun, NULL, 20000, NULL, NULL, &image, &err), -1);
    assert_int_equal(err.code, AL_CONFIG_INVALID);
}

/* The process that started the client of that run: at once and without a word. */
static void kill_keeper(const char *id)
{
    DIR *proc = opendir("/proc");
    for (struct dirent *e; (e = readdir(proc));) {
        char path[300], container[64];
        autobuf struct al_buf words = AL_BUF_INIT(1 << 16);
        snprintf(path, sizeof(path), "/proc/%s/cmdline", e->d_name);
        snprintf(container, sizeof(container), "--container=" AL_OCI_NAME_PREFIX "%s", id);
        autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || al_fd_read_all(fd, &words) < 0 || !al_str_starts(al_buf_str(&words), "alisio") ||
            al_str_find(al_buf_str(&words), al_str_of(container)) < 0)
            continue;
        assert_int_equal(kill(atoi(e->d_name), SIGKILL), 0);
        closedir(proc);
        return;
    }
    fail_msg("there is no keeper");
}

static void what_a_dead_host_left_is_swept(void **state)
{
    struct pyrun_world *t = *state;
    struct pyrun_answer a = {.until = "here"};
    struct al_py_job job;
    char path[512];
    NEED_PODMAN(t);
    assert_int_equal(al_oci_sweep(t->pyrun), 0);
    pyrun_world_job(t, "import time\nprint('here')\ntime.sleep(60)\n", &job);
    struct al_py_run_spec spec = {
        .job = &job, .backend = AL_PY_OCI, .timeout_ms = 60000, .max_head = 1000, .max_tail = 1000};
    pyrun_world_begin(t, &spec, &a);
    pyrun_world_wait(t, &a.heard);
    assert_int_equal(al_oci_sweep(t->pyrun), 0); /* it is alive */
    snprintf(path, sizeof(path), "%s/runtimes/oci/%s", t->state, job.id);
    assert_int_equal(access(path, F_OK), 0);
    kill_keeper(job.id);
    pyrun_world_wait(t, &a.done);
    assert_int_equal(al_oci_sweep(t->pyrun), 1);
    assert_int_equal(containers(t), 0);
    assert_int_not_equal(access(path, F_OK), 0);
    pyrun_answer_free(&a);
    al_py_job_remove(&job);
    al_py_job_close(&job);
}

#define T(name) cmocka_unit_test_setup_teardown(name, pyrun_world_set_up, pyrun_world_tear_down)
int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], AL_OCI_VERB) == 0)
        return al_oci_main(argc, argv);
    pyrun_world_enter(argc, argv);
    snprintf(real_path, sizeof(real_path), "%s", getenv("PATH"));
    static const char *const not_ours[] = {"DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST",
                                           "CONTAINER_CONNECTION"};
    for (size_t i = 0; i < sizeof(not_ours) / sizeof(not_ours[0]); i++)
        unsetenv(not_ours[i]);
    const struct CMUnitTest tests[] = {
        T(the_words_stand_in_the_documented_order),
        T(a_client_gets_its_settings_and_no_key_or_proxy),
        T(what_cannot_be_is_refused_with_its_cure),
        T(another_computers_docker_is_refused),
        T(docker_is_spoken_to_over_the_socket_that_was_checked),
        T(words_of_engines_are_told_from_a_scripts),
        T(a_script_has_its_job_and_nothing_else),
        T(a_probe_says_what_is_kept),
        T(a_stop_or_a_deadline_leaves_no_container),
        T(too_much_memory_is_told),
        T(a_container_of_another_image_is_ended),
        T(an_image_that_is_not_there_is_never_pulled),
        T(set_up_says_the_digest_of_what_is_there),
        T(what_a_dead_host_left_is_swept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
