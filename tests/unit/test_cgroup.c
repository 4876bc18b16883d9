#include "os_help.h"

#include "os/spawn.h"
#include "sandbox/cgroup_int.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* --- where groups can be made, in trees that look like those of real machines --- */

static void make_tree(struct tmp *t, const char *cgroup, const char *mountinfo)
{
    tmp_make(t);
    assert_int_equal(mkdirat(t->fd, "proc", 0755), 0);
    assert_int_equal(mkdirat(t->fd, "proc/self", 0755), 0);
    put_file(t->fd, "proc/self/cgroup", cgroup);
    put_file(t->fd, "proc/self/mountinfo", mountinfo);
}

static void make_folder(const struct tmp *t, const char *path)
{
    char part[512];
    for (const char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof(part), "%.*s", (int)(slash ? slash - path : (long)strlen(path)), path);
        if (mkdirat(t->fd, part, 0755) < 0)
            assert_int_equal(errno, EEXIST);
        if (!slash)
            return;
    }
}

/* A group of version 2 that hands these controllers to those beneath it. */
static void make_v2(const struct tmp *t, const char *path, const char *controllers)
{
    char name[512];
    make_folder(t, path);
    snprintf(name, sizeof(name), "%s/cgroup.subtree_control", path);
    put_file(t->fd, name, controllers);
    snprintf(name, sizeof(name), "%s/cgroup.procs", path);
    put_file(t->fd, name, "");
}

static void assert_place(const struct tmp *t, const char *dir, const char *beneath)
{
    assert_non_null(dir);
    assert_int_equal(strncmp(dir, t->path, strlen(t->path)), 0);
    assert_string_equal(dir + strlen(t->path), beneath);
}

#define V1_MOUNTS                                                                         \
    "25 30 0:23 / /sys/fs/cgroup/memory rw,relatime shared:7 - cgroup cgroup rw,memory\n" \
    "26 30 0:24 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"              \
    "27 30 0:25 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"

static void version_1_has_a_place_for_each_controller(void **state)
{
    (void)state;
    struct tmp t;
    struct al_cgroup_places p;
    struct al_err err;
    make_tree(&t, "9:name=systemd:/\n8:pids:/a/b\n4:memory:/a\n1:cpuacct,cpu:/\n0::/x\n", V1_MOUNTS);
    make_folder(&t, "sys/fs/cgroup/memory/a");
    make_folder(&t, "sys/fs/cgroup/pids/a/b");
    make_folder(&t, "sys/fs/cgroup/cpu,cpuacct");
    assert_int_equal(al_cgroup_find(t.path, &p, &err), 0);
    assert_false(p.v2);
    assert_place(&t, p.dirs[AL_CG_MEMORY], "/sys/fs/cgroup/memory/a");
    assert_place(&t, p.dirs[AL_CG_PIDS], "/sys/fs/cgroup/pids/a/b");
    assert_place(&t, p.dirs[AL_CG_CPU], "/sys/fs/cgroup/cpu,cpuacct");
    al_cgroup_places_fini(&p);
    tmp_remove(&t);
}

static void a_part_of_the_tree_that_is_mounted_is_named_from_its_own_root(void **state)
{
    (void)state;
    struct tmp t;
    struct al_cgroup_places p;
    struct al_err err;
    make_tree(&t, "8:pids:/docker/1\n4:memory:/docker/1/deeper\n",
              "25 30 0:23 /docker/1 /cg/memory rw - cgroup cgroup rw,memory\n"
              "26 30 0:24 /docker/1 /cg/pids rw - cgroup cgroup rw,pids\n");
    make_folder(&t, "cg/memory/deeper");
    make_folder(&t, "cg/pids");
    assert_int_equal(al_cgroup_find(t.path, &p, &err), 0);
    assert_place(&t, p.dirs[AL_CG_MEMORY], "/cg/memory/deeper");
    assert_place(&t, p.dirs[AL_CG_PIDS], "/cg/pids");
    assert_null(p.dirs[AL_CG_CPU]);
    al_cgroup_places_fini(&p);
    tmp_remove(&t);
}

static void a_group_outside_of_what_is_mounted_is_none(void **state)
{
    (void)state;
    static const char *const own[] = {"8:pids:/\n4:memory:/docker/10\n",
                                      "8:pids:/\n4:memory:/docker/1/../2\n",
                                      "8:pids:/\n",
                                      "4:memory:/docker/1\n",
                                      "",
                                      "rubbish\n::\n:\n\n4:memory"};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        struct tmp t;
        struct al_cgroup_places p;
        struct al_err err;
        make_tree(&t, own[i],
                  "25 30 0:23 /docker/1 /cg/memory rw - cgroup cgroup rw,memory\n"
                  "26 30 0:24 / /cg/pids rw - cgroup cgroup rw,pids\nrubbish\n\n1 2 3 - cgroup2\n");
        make_folder(&t, "cg/memory/deeper");
        make_folder(&t, "cg/pids");
        assert_int_equal(al_cgroup_find(t.path, &p, &err), 1);
        assert_int_equal(err.code, AL_RUNTIME_UNAVAILABLE);
        tmp_remove(&t);
    }
}

#define V2_MOUNTS "30 20 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"

static void version_2_takes_the_nearest_group_that_hands_down_memory_and_pids(void **state)
{
    (void)state;
    struct tmp t;
    struct al_cgroup_places p;
    struct al_err err;
    make_tree(&t, "0::/user.slice/app.slice/shell.scope/inner\n", V2_MOUNTS);
    make_v2(&t, "sys/fs/cgroup", "cpuset cpu io memory pids\n");
    make_v2(&t, "sys/fs/cgroup/user.slice", "memory pids\n");
    make_v2(&t, "sys/fs/cgroup/user.slice/app.slice", "cpu memory pids\n");
    make_v2(&t, "sys/fs/cgroup/user.slice/app.slice/shell.scope", "memory\n");
    make_v2(&t, "sys/fs/cgroup/user.slice/app.slice/shell.scope/inner", "\n");
    assert_int_equal(al_cgroup_find(t.path, &p, &err), 0);
    assert_true(p.v2);
    assert_place(&t, p.dirs[AL_CG_MEMORY], "/sys/fs/cgroup/user.slice/app.slice");
    assert_place(&t, p.dirs[AL_CG_CPU], "/sys/fs/cgroup/user.slice/app.slice");
    al_cgroup_places_fini(&p);
    put_file(t.fd, "sys/fs/cgroup/user.slice/app.slice/cgroup.subtree_control", "cpu memory\n");
    assert_int_equal(al_cgroup_find(t.path, &p, &err), 0);
    assert_place(&t, p.dirs[AL_CG_MEMORY], "/sys/fs/cgroup/user.slice");
    assert_null(p.dirs[AL_CG_CPU]);
    al_cgroup_places_fini(&p);
    tmp_remove(&t);
}

static void version_2_without_a_group_that_hands_down_has_no_place(void **state)
{
    (void)state;
    struct tmp t;
    struct al_cgroup_places p;
    struct al_err err;
    make_tree(&t, "0::/a/b\n", V2_MOUNTS);
    make_v2(&t, "sys/fs/cgroup", "memory\n");
    make_v2(&t, "sys/fs/cgroup/a", "pids\n");
    make_v2(&t, "sys/fs/cgroup/a/b", "memorypids\n");
    assert_int_equal(al_cgroup_find(t.path, &p, &err), 1);
    assert_true(err.hint[0]);
    tmp_remove(&t);
}

static void version_2_gets_its_limits_in_its_own_words(void **state)
{
    (void)state;
    static const struct {
        const char *file, *text;
    } want[] = {{"memory.max", "104857600"},
                {"memory.swap.max", "0"},
                {"pids.max", "64"},
                {"cpu.max", "150000 100000"}};
    const struct al_cgroup_limits limits = {.memory_bytes = 100 << 20, .pids = 64, .cpu_percent = 150};
    struct tmp t;
    struct al_cgroup *g;
    struct al_err err;
    char path[300];
    make_tree(&t, "0::/\n", V2_MOUNTS);
    make_v2(&t, "sys/fs/cgroup", "cpu memory pids\n");
    assert_int_equal(al_cgroup_make(t.path, "job", &limits, &g, &err), 0);
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        snprintf(path, sizeof(path), "sys/fs/cgroup/alisio-job/%s", want[i].file);
        autofree char *text = get_file(t.fd, path);
        assert_non_null(text);
        assert_string_equal(text, want[i].text);
    }
    assert_string_equal(al_cgroup_procs(g)[0] + strlen(t.path), "/sys/fs/cgroup/alisio-job/cgroup.procs");
    assert_null(al_cgroup_procs(g)[1]);
    put_file(t.fd, "sys/fs/cgroup/alisio-job/memory.events", "low 0\nmax 7\noom 1\noom_kill 0\n");
    assert_false(al_cgroup_was_oom(g));
    put_file(t.fd, "sys/fs/cgroup/alisio-job/memory.events",
             "low 0\nmax 7\noom 1\noom_kill 2\noom_group_kill 0\n");
    assert_true(al_cgroup_was_oom(g));
    put_file(t.fd, "sys/fs/cgroup/alisio-job/memory.current", "5000000\n");
    put_file(t.fd, "sys/fs/cgroup/alisio-job/memory.stat", "anon 5\ninactive_file 1000000\n");
    assert_int_equal(al_cgroup_memory(g), 4000000);
    tmp_remove(&t);
    al_cgroup_free(g);
}

static void a_name_that_could_lead_elsewhere_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"", "../x", "a/b", "a b", "a.b"};
    const struct al_cgroup_limits limits = {.pids = 5};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct al_cgroup *g;
        struct al_err err;
        assert_int_equal(al_cgroup_new(names[i], &limits, &g, &err), -1);
        assert_null(g);
    }
}

static void a_sweep_takes_what_dead_hosts_left_and_nothing_else(void **state)
{
    (void)state;
    const struct al_cgroup_limits limits = {0};
    struct tmp t;
    struct al_cgroup *g;
    struct al_err err;
    make_tree(&t, "8:pids:/\n4:memory:/\n", V1_MOUNTS);
    make_folder(&t, "sys/fs/cgroup/memory/alisio-left");
    make_folder(&t, "sys/fs/cgroup/pids/alisio-left");
    make_folder(&t, "sys/fs/cgroup/pids/alisio-half");
    make_folder(&t, "sys/fs/cgroup/memory/other");
    make_folder(&t, "sys/fs/cgroup/memory/alisio-used/inner"); /* as one with processes: not to be removed */
    assert_int_equal(al_cgroup_make(t.path, "mine", &limits, &g, &err), 0);
    al_cgroup_sweep_at(t.path);
    static const struct {
        const char *path;
        bool stays;
    } want[] = {{"sys/fs/cgroup/memory/alisio-left", false}, {"sys/fs/cgroup/pids/alisio-left", false},
                {"sys/fs/cgroup/pids/alisio-half", false},   {"sys/fs/cgroup/memory/other", true},
                {"sys/fs/cgroup/memory/alisio-used", true},  {"sys/fs/cgroup/memory/alisio-mine", true},
                {"sys/fs/cgroup/pids/alisio-mine", true}};
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        if ((faccessat(t.fd, want[i].path, F_OK, 0) == 0) != want[i].stays)
            fail_msg("%s", want[i].path);
    }
    al_cgroup_free(g);
    assert_int_equal(faccessat(t.fd, "sys/fs/cgroup/memory/alisio-mine", F_OK, 0), -1);
    tmp_remove(&t);
}

static void a_sweep_knows_a_host_in_a_neighbouring_group(void **state)
{
    (void)state;
    const struct al_cgroup_limits limits = {0};
    struct tmp t;
    struct al_cgroup *g;
    struct al_err err;
    make_tree(&t, "8:pids:/\n4:memory:/shell/1\n", V1_MOUNTS);
    make_folder(&t, "sys/fs/cgroup/pids");
    make_folder(&t, "sys/fs/cgroup/memory/shell/1");
    make_folder(&t, "sys/fs/cgroup/memory/shell/2");
    make_folder(&t, "sys/fs/cgroup/memory/shell/3/alisio-left");
    put_file(t.fd, "sys/fs/cgroup/memory/shell/cgroup.procs", "");
    assert_int_equal(al_cgroup_make(t.path, "mine", &limits, &g, &err), 0);
    put_file(t.fd, "proc/self/cgroup", "8:pids:/\n4:memory:/shell/2\n"); /* another host is somewhere else */
    al_cgroup_sweep_at(t.path);
    assert_int_equal(faccessat(t.fd, "sys/fs/cgroup/pids/alisio-mine", F_OK, 0), 0);
    assert_int_equal(faccessat(t.fd, "sys/fs/cgroup/memory/shell/1/alisio-mine", F_OK, 0), 0);
    assert_int_equal(faccessat(t.fd, "sys/fs/cgroup/memory/shell/3/alisio-left", F_OK, 0), -1);
    al_cgroup_free(g);
    tmp_remove(&t);
}

/* --- this machine's own --- */

#define MIB (1u << 20)

/* NULL, said and skipped, where we may not make one. */
static struct al_cgroup *real_group(const struct al_cgroup_limits *limits)
{
    struct al_cgroup *g;
    struct al_err err;
    char name[64];
    snprintf(name, sizeof(name), "test-%d", (int)getpid());
    int r = al_cgroup_new(name, limits, &g, &err);
    assert_true(r >= 0);
    if (r == 1) {
        print_message("skipped: %s\n", err.msg);
        skip();
    }
    return g;
}

/* In the group; says "in" and does what it is told to. */
static pid_t start_in(const struct al_cgroup *g, void (*what)(void))
{
    int ready[2];
    char c;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        for (const char *const *p = al_cgroup_procs(g); *p; p++) {
            int fd = open(*p, O_WRONLY | O_CLOEXEC);
            if (fd < 0 || write(fd, "0", 1) != 1)
                _exit(90);
            close(fd);
        }
        (void)!write(ready[1], "x", 1);
        what();
        _exit(0);
    }
    assert_true(pid > 0);
    close(ready[1]);
    assert_int_equal(read(ready[0], &c, 1), 1);
    close(ready[0]);
    return pid;
}

static void take_memory(void)
{
    for (int i = 0; i < 256; i++) {
        char *p = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            _exit(91);
        memset(p, 1, MIB);
    }
}

static void sleep_for_good(void)
{
    signal(SIGTERM, SIG_IGN);
    for (;;)
        pause();
}

static void multiply(void)
{
    for (int i = 0; i < 40; i++) {
        pid_t pid = fork();
        if (pid == 0)
            sleep_for_good();
        if (pid < 0)
            _exit(i < 16 && errno == EAGAIN ? 50 : 51);
    }
}

static void who_takes_more_memory_is_killed_and_it_is_said(void **state)
{
    (void)state;
    struct al_cgroup *g = real_group(&(struct al_cgroup_limits){.memory_bytes = 32 * MIB, .pids = 20});
    int st;
    assert_true(al_cgroup_limits_memory(g));
    assert_false(al_cgroup_was_oom(g));
    pid_t pid = start_in(g, take_memory);
    assert_int_equal(waitpid(pid, &st, 0), pid);
    assert_true(WIFSIGNALED(st) && WTERMSIG(st) == SIGKILL);
    assert_true(al_cgroup_was_oom(g));
    assert_true(al_cgroup_memory(g) <= 32 * MIB);
    al_cgroup_free(g);
}

static void processes_are_counted_and_killed_at_the_end(void **state)
{
    (void)state;
    struct al_cgroup *g = real_group(&(struct al_cgroup_limits){.pids = 16, .cpu_percent = 100});
    int st;
    pid_t pid = start_in(g, multiply);
    assert_int_equal(waitpid(pid, &st, 0), pid);
    assert_true(WIFEXITED(st));
    assert_int_equal(WEXITSTATUS(st), 50);
    autofree char *dir = strdup(al_cgroup_procs(g)[0]);
    *strrchr(dir, '/') = 0;
    uint64_t start = al_mono_ms();
    al_cgroup_free(g);
    assert_true(al_mono_ms() - start < 20000);
    assert_int_equal(access(dir, F_OK), -1);
}

static void a_sweep_leaves_a_living_host_its_empty_group(void **state)
{
    (void)state;
    struct al_cgroup *g = real_group(&(struct al_cgroup_limits){.memory_bytes = 32 * MIB, .pids = 16});
    al_cgroup_sweep();
    int st;
    pid_t pid = start_in(g, sleep_for_good); /* it is still there */
    al_cgroup_sweep();
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &st, 0), pid);
    assert_true(WIFSIGNALED(st));
    al_cgroup_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_1_has_a_place_for_each_controller),
        cmocka_unit_test(a_part_of_the_tree_that_is_mounted_is_named_from_its_own_root),
        cmocka_unit_test(a_group_outside_of_what_is_mounted_is_none),
        cmocka_unit_test(version_2_takes_the_nearest_group_that_hands_down_memory_and_pids),
        cmocka_unit_test(version_2_without_a_group_that_hands_down_has_no_place),
        cmocka_unit_test(version_2_gets_its_limits_in_its_own_words),
        cmocka_unit_test(a_name_that_could_lead_elsewhere_is_refused),
        cmocka_unit_test(a_sweep_takes_what_dead_hosts_left_and_nothing_else),
        cmocka_unit_test(a_sweep_knows_a_host_in_a_neighbouring_group),
        cmocka_unit_test(who_takes_more_memory_is_killed_and_it_is_said),
        cmocka_unit_test(processes_are_counted_and_killed_at_the_end),
        cmocka_unit_test(a_sweep_leaves_a_living_host_its_empty_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
