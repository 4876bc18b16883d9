/* The control socket: what it answers, whom it obeys, and what happens when a host does not answer. */
#include "test.h"

#include "jsrun_world.h"

#include "base/mem.h"
#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int connect_to(struct world *w)
{
    autofree char *path = al_store_socket_path(w->store, al_store_host_id(w->store));
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    assert_true(strlen(path) < sizeof a.sun_path);
    memcpy(a.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

/* Sends and gives the loop turns until a line, or the end, came; "" at the end. */
static char *exchange(struct world *w, int fd, const char *text)
{
    struct al_buf got = AL_BUF_INIT(64u << 10);
    size_t n = strlen(text);
    if (n)
        assert_int_equal(send(fd, text, n, MSG_NOSIGNAL), (ssize_t)n);
    uint64_t deadline = al_mono_ms() + 10000;
    bool never = false;
    while (al_mono_ms() < deadline) {
        char bytes[4096];
        al_loop_run_until(w->loop, &never, 5);
        ssize_t r = read(fd, bytes, sizeof bytes);
        if (r > 0)
            al_buf_add(&got, bytes, (size_t)r);
        if (r == 0 || (r < 0 && errno != EAGAIN) || memchr(got.p ? got.p : "", '\n', got.n))
            break;
    }
    return got.n ? al_buf_take(&got) : al_xstrdup("");
}

static void the_socket_answers_and_is_private(void **state)
{
    struct world *w = *state;
    autofree char *path = al_store_socket_path(w->store, al_store_host_id(w->store));
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    autofd int fd = connect_to(w);
    autofree char *pong = exchange(w, fd, "{\"op\":\"ping\"}\n");
    assert_string_equal(json_at(pong, "ok"), "true");
    autofree char *none = exchange(w, fd, "{\"op\":\"cancel\",\"run\":\"exec_none\"}\n");
    assert_string_equal(json_at(none, "error.code"), "\"NOT_FOUND\"");
    autofree char *odd = exchange(w, fd, "{\"op\":\"sing\"}\n");
    assert_string_equal(json_at(odd, "error.code"), "\"INVALID_INPUT\"");
    autofree char *broken = exchange(w, fd, "not json\n");
    assert_string_equal(json_at(broken, "ok"), "false");
}

static void a_long_line_ends_the_connection(void **state)
{
    struct world *w = *state;
    autofd int fd = connect_to(w);
    autofree char *line = al_xcalloc(1, 6001);
    memset(line, 'x', 6000);
    autofree char *got = exchange(w, fd, line);
    assert_string_equal(got, "");
    autofd int again = connect_to(w);
    autofree char *pong = exchange(w, again, "{\"op\":\"ping\"}\n");
    assert_string_equal(json_at(pong, "ok"), "true");
}

static void there_is_room_for_eight_and_others_are_sent_away(void **state)
{
    struct world *w = *state;
    int fds[9];
    for (int i = 0; i < 8; i++) {
        fds[i] = connect_to(w);
        autofree char *pong = exchange(w, fds[i], "{\"op\":\"ping\"}\n");
        assert_string_equal(json_at(pong, "ok"), "true");
    }
    fds[8] = connect_to(w);
    autofree char *got = exchange(w, fds[8], "");
    assert_string_equal(got, "");
    for (int i = 0; i < 9; i++)
        close(fds[i]);
    bool never = false;
    al_loop_run_until(w->loop, &never, 20);
    autofd int fd = connect_to(w);
    autofree char *pong = exchange(w, fd, "{\"op\":\"ping\"}\n");
    assert_string_equal(json_at(pong, "ok"), "true");
}

static void closing_removes_the_socket(void **state)
{
    struct world *w = *state;
    autofree char *path = al_store_socket_path(w->store, al_store_host_id(w->store));
    autofd int fd = connect_to(w);
    assert_true(fd >= 0);
    al_control_close(w->core);
    struct stat st;
    assert_int_equal(stat(path, &st), -1);
    al_control_close(w->core);
    struct al_err err = {0};
    assert_int_equal(al_control_listen(w->core, &err), 0);
}

/* --- from another process --- */

static void cancel_of_what_does_not_run_is_not_found(void **state)
{
    struct world *w = *state;
    struct al_err err = {0};
    assert_int_equal(al_control_cancel(w->store, "exec_01ARZ3NDEKTSV4RRFFQ69G5FAV", &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    struct outcome o = world_js(w, "return 1;", NULL);
    assert_int_equal(al_control_cancel(w->store, o.id, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    assert_non_null(strstr(err.msg, "has ended already (completed)"));
    outcome_fini(&o);
}

enum host_mood {
    OBEYS,
    HANGS
};

struct remote {
    pid_t pid;
    int from; /* "<run id>\n" once its script runs, then "<code>\n" of its end */
    char dir[1100];
};

static int host_pipe;
static bool told;

/* The number of the process may come after what it says first. */
static void tell(struct world *w, struct al_call *call)
{
    struct al_run run = {0};
    struct al_err err = {0};
    bool known = al_store_run_get(w->store, call->run_id, &run, &err) == 0 && run.pid > 1;
    al_run_fini(&run);
    if (!known)
        return;
    if (!told)
        dprintf(host_pipe, "%s\n", call->run_id);
    told = true;
    if (al_json_is_true(al_json_get(call->args, "hang")))
        raise(SIGSTOP);
}

/* A host of its own in a child process: opens the world, runs one script, and obeys or hangs. */
static void host_main(enum host_mood mood)
{
    struct world *w =
        world_new(&(struct world_opts){.config = "{\"forge\":{\"javascript\":{\"maxToolCalls\":500}}}"});
    struct al_err err = {0};
    struct outcome o;
    w->on_tool = tell;
    dprintf(host_pipe, "%s\n", w->dir);
    if (al_control_listen(w->core, &err) < 0)
        _exit(2);
    autofree char *args = world_js_args(
        mood == HANGS ? "for (;;) { await tools.hook({hang: true}); await tools.later({name: 'x'}); }"
                      : "for (let i = 0; i < 200; i++) { await tools.hook({}); await tools.later({name: 'x', "
                        "ms: 1}); } for (;;) {}",
        NULL);
    world_start(w, "js_run", args, &o);
    world_wait(w, &o);
    dprintf(host_pipe, "%s\n", al_code_name(o.code));
    outcome_fini(&o);
    world_free(w);
    _exit(0);
}

static void read_line(struct remote *r, char *line, size_t max)
{
    size_t n = 0;
    for (;;) {
        struct pollfd p = {.fd = r->from, .events = POLLIN};
        assert_int_equal(poll(&p, 1, 20000), 1);
        assert_int_equal(read(r->from, line + n, 1), 1);
        if (line[n] == '\n' || n + 2 > max)
            break;
        n++;
    }
    line[n] = '\0';
}

static struct remote remote_start(enum host_mood mood)
{
    struct remote r = {0};
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    r.pid = fork();
    assert_true(r.pid >= 0);
    if (r.pid == 0) {
        host_pipe = fds[1];
        host_main(mood);
    }
    close(fds[1]);
    r.from = fds[0];
    read_line(&r, r.dir, sizeof r.dir);
    return r;
}

static void a_host_cancels_its_run_for_another_process(void **state)
{
    (void)state;
    struct remote r = remote_start(OBEYS);
    char run[64], line[64], dir[1200];
    struct al_store *store;
    struct al_err err = {0};
    read_line(&r, run, sizeof run);
    snprintf(dir, sizeof dir, "%s/state", r.dir);
    assert_int_equal(al_store_open(dir, NULL, &store, &err), 0);
    if (al_control_cancel(store, run, &err) < 0)
        fail_msg("%s", err.msg);
    al_store_close(store);
    read_line(&r, line, sizeof line);
    assert_string_equal(line, "CANCELLED");
    int status;
    assert_int_equal(waitpid(r.pid, &status, 0), r.pid);
    assert_int_equal(status, 0);
    close(r.from);
}

/* The host is stopped in the middle of a run: its VM is killed past it, and the run is closed when the host
 * goes on. */
static void the_run_of_a_host_that_hangs_is_killed(void **state)
{
    (void)state;
    struct remote r = remote_start(HANGS);
    char run[64], line[64], dir[1200];
    struct al_store *store;
    struct al_err err = {0};
    int status;
    read_line(&r, run, sizeof run);
    assert_int_equal(waitpid(r.pid, &status, WUNTRACED), r.pid);
    assert_true(WIFSTOPPED(status));
    snprintf(dir, sizeof dir, "%s/state", r.dir);
    assert_int_equal(al_store_open(dir, NULL, &store, &err), 0);
    struct al_run row = {0};
    assert_int_equal(al_store_run_get(store, run, &row, &err), 0);
    assert_true(row.pid > 1);
    assert_int_equal(al_control_cancel(store, run, &err), -1);
    assert_int_equal(err.code, AL_TIMEOUT);
    assert_non_null(strstr(err.msg, "was stopped, but its host does not answer"));
    char path[64], stat[256] = "";
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)row.pid);
    FILE *f = fopen(path, "re");
    assert_non_null(f); /* a zombie: its parent is stopped */
    assert_non_null(fgets(stat, sizeof stat, f));
    fclose(f);
    assert_non_null(strstr(stat, ") Z "));
    al_run_fini(&row);
    al_store_close(store);
    assert_int_equal(kill(r.pid, SIGCONT), 0);
    read_line(&r, line, sizeof line);
    assert_string_equal(line, "ENGINE_CRASHED");
    assert_int_equal(waitpid(r.pid, &status, 0), r.pid);
    assert_int_equal(status, 0);
    close(r.from);
}

static void the_run_of_a_dead_host_is_interrupted(void **state)
{
    (void)state;
    struct remote r = remote_start(HANGS);
    char run[64], dir[1200];
    struct al_store *store;
    struct al_err err = {0};
    int status;
    read_line(&r, run, sizeof run);
    snprintf(dir, sizeof dir, "%s/state", r.dir);
    assert_int_equal(al_store_open(dir, NULL, &store, &err), 0);
    assert_int_equal(kill(r.pid, SIGKILL), 0);
    assert_int_equal(waitpid(r.pid, &status, 0), r.pid);
    assert_int_equal(al_control_cancel(store, run, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    assert_non_null(strstr(err.msg, "interrupted"));
    struct al_run row = {0};
    assert_int_equal(al_store_run_get(store, run, &row, &err), 0);
    assert_string_equal(row.status, "interrupted");
    al_run_fini(&row);
    al_store_close(store);
    world_remove(r.dir);
    close(r.from);
}

/* A state folder whose path is longer than a socket's address. */
static void a_long_path_is_no_obstacle(void **state)
{
    (void)state;
    char base[512];
    snprintf(base, sizeof base, "%s/alisio-%0*d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", 140,
             (int)getpid());
    assert_int_equal(mkdir(base, 0700), 0);
    autofree char *old = getenv("TMPDIR") ? al_xstrdup(getenv("TMPDIR")) : NULL;
    setenv("TMPDIR", base, 1);
    struct world *w = world_new(&(struct world_opts){0});
    struct al_err err = {0};
    if (al_control_listen(w->core, &err) < 0)
        fail_msg("%s", err.msg);
    autofree char *path = al_store_socket_path(w->store, al_store_host_id(w->store));
    struct stat st;
    assert_true(strlen(path) > sizeof((struct sockaddr_un *)0)->sun_path);
    assert_int_equal(stat(path, &st), 0);
    assert_true(S_ISSOCK(st.st_mode));
    world_free(w);
    assert_int_equal(rmdir(base), 0);
    if (old)
        setenv("TMPDIR", old, 1);
    else
        unsetenv("TMPDIR");
}

static int setup(void **state)
{
    struct world *w = world_new(&(struct world_opts){0});
    struct al_err err = {0};
    if (al_control_listen(w->core, &err) < 0)
        fail_msg("%s", err.msg);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    world_free(*state);
    return 0;
}

int main(int argc, char **argv)
{
    world_zygote(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_socket_answers_and_is_private, setup, teardown),
        cmocka_unit_test_setup_teardown(a_long_line_ends_the_connection, setup, teardown),
        cmocka_unit_test_setup_teardown(there_is_room_for_eight_and_others_are_sent_away, setup, teardown),
        cmocka_unit_test_setup_teardown(closing_removes_the_socket, setup, teardown),
        cmocka_unit_test_setup_teardown(cancel_of_what_does_not_run_is_not_found, setup, teardown),
        cmocka_unit_test(a_host_cancels_its_run_for_another_process),
        cmocka_unit_test(the_run_of_a_host_that_hangs_is_killed),
        cmocka_unit_test(the_run_of_a_dead_host_is_interrupted),
        cmocka_unit_test(a_long_path_is_no_obstacle),
    };
    return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
