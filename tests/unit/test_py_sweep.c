/* Retention of job folders: random trees and clocks, and what must never be touched. */
#include "test.h"

#include "base/ident.h"
#include "base/mem.h"
#include "os/path.h"
#include "pyrun/sweep.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAY INT64_C(86400000)
#define NOW INT64_C(1800000000000)
#define ROUNDS 60
#define JOBS 12

static char root[64];

static int setup(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/alisio-sweep-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    int parent = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = al_path_remove_tree(parent, strrchr(root, '/') + 1);
    close(parent);
    return r;
}

/* An id of that age, as al_id_new would have made it then. */
static void id_at(char out[AL_ID_MAX], const char *prefix, int64_t ms)
{
    static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    al_id_new(out, prefix);
    char *ulid = out + strlen(prefix) + 1;
    for (int i = 9; i >= 0; i--, ms >>= 5)
        ulid[i] = digits[ms & 31];
}

#define PATH 1024

/* dir/name, where it surely fits. */
static void join(char out[PATH], const char *dir, const char *name)
{
    assert_true(strlen(dir) + strlen(name) + 2 < PATH);
    stpcpy(stpcpy(stpcpy(out, dir), "/"), name);
}

static void put(const char *dir, const char *name)
{
    char path[PATH];
    join(path, dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "0123456789", 10), 10);
    close(fd);
}

static bool exists(const char *dir, const char *name)
{
    char path[PATH];
    struct stat st;
    join(path, dir, name);
    return lstat(path, &st) == 0;
}

struct job {
    char id[AL_ID_MAX], dir[PATH];
    int64_t age_ms;
    bool live, kept;
};

struct world {
    struct job jobs[JOBS];
    char outside[PATH]; /* a folder that links point to */
    char session[PATH];
};

static uint32_t random_below(uint32_t n)
{
    uint32_t v;
    al_random(&v, sizeof v);
    return v % n;
}

static void make_job(struct world *w, struct job *j)
{
    static const char *const parts[] = {"work", "logs", "staging", "script", "input"};
    j->age_ms = (int64_t)random_below(80) * DAY + random_below(86400000);
    j->live = random_below(4) == 0;
    j->kept = random_below(3) == 0;
    id_at(j->id, "exec", NOW - j->age_ms);
    join(j->dir, w->session, j->id);
    assert_int_equal(mkdir(j->dir, 0700), 0);
    for (size_t i = 0; i < 5; i++) {
        char path[PATH], link[PATH];
        join(path, j->dir, parts[i]);
        /* A script that was not contained may leave a link in the place of a folder. */
        if (random_below(8) == 0) {
            assert_int_equal(symlink(w->outside, path), 0);
            continue;
        }
        assert_int_equal(mkdir(path, 0700), 0);
        put(path, "file");
        join(link, path, "link");
        assert_int_equal(symlink(w->outside, link), 0);
        if (random_below(3) == 0)
            assert_int_equal(chmod(path, 0), 0); /* and one that keeps us out */
    }
    put(j->dir, "job.json");
}

static void make_world(struct world *w, unsigned round)
{
    static const char *const folders[] = {"analysis", "jobs", "ws-0123456789ab"};
    char session[AL_ID_MAX], path[PATH], next[PATH];
    join(w->outside, root, "outside");
    if (mkdir(w->outside, 0700) == 0)
        put(w->outside, "precious");
    snprintf(path, sizeof path, "%s/state%u", root, round);
    assert_int_equal(mkdir(path, 0700), 0);
    for (size_t i = 0; i < 3; i++) {
        join(next, path, folders[i]);
        assert_int_equal(mkdir(next, 0700), 0);
        memcpy(path, next, sizeof path);
    }
    al_id_new(session, "ses");
    join(w->session, path, session);
    assert_int_equal(mkdir(w->session, 0700), 0);
    for (size_t i = 0; i < JOBS; i++)
        make_job(w, &w->jobs[i]);
    put(w->session, "not-a-run");
    join(path, w->session, "exec_short");
    assert_int_equal(mkdir(path, 0700), 0);
}

static const struct job *find(const struct world *w, const char *id)
{
    for (size_t i = 0; i < JOBS; i++) {
        if (strcmp(w->jobs[i].id, id) == 0)
            return &w->jobs[i];
    }
    return NULL;
}

static bool is_live(void *ud, const char *id)
{
    const struct job *j = find(ud, id);
    return !j || j->live;
}

static bool is_kept(void *ud, const char *id)
{
    const struct job *j = find(ud, id);
    return !j || j->kept;
}

static void check_job(const struct job *j, int64_t intermediate, int64_t days)
{
    bool old_work = intermediate > 0 && j->age_ms > intermediate * DAY && !j->live;
    bool old = days > 0 && j->age_ms > days * DAY && !j->live;
    assert_int_equal(exists(j->dir, "work"), !(old_work));
    assert_int_equal(exists(j->dir, "logs"), !old);
    assert_int_equal(exists(j->dir, "staging"), !old);
    assert_int_equal(exists(j->dir, "script"), !(old && !j->kept));
    assert_int_equal(exists(j->dir, "input"), !(old && !j->kept));
    assert_int_equal(exists(j->dir, "job.json"), !(old && !j->kept));
}

static void only_what_is_due_goes(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct world w = {0};
        struct al_py_swept swept, again;
        struct al_err err = {0};
        char dir[PATH];
        make_world(&w, round);
        snprintf(dir, sizeof dir, "%s/state%u", root, round);
        int64_t days = random_below(4) == 0 ? 0 : 1 + random_below(60);
        int64_t intermediate = random_below(4) == 0 ? 0 : 1 + random_below(days ? (uint32_t)days : 60);
        struct al_py_sweep_spec spec = {.state_dir = dir,
                                        .now_ms = NOW,
                                        .intermediate_days = intermediate,
                                        .jobs_days = days,
                                        .live = is_live,
                                        .kept = is_kept,
                                        .ud = &w};
        assert_int_equal(al_py_sweep(&spec, &swept, NULL, &err), 0);
        for (size_t i = 0; i < JOBS; i++)
            check_job(&w.jobs[i], intermediate, days);
        assert_true(exists(w.outside, "precious"));
        assert_true(exists(w.session, "not-a-run"));
        assert_true(exists(w.session, "exec_short"));
        assert_int_equal(al_py_sweep(&spec, &again, NULL, &err), 0);
        assert_int_equal(again.work + again.logs + again.scripts + again.jobs, 0);
        int parent = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_int_equal(al_path_remove_tree(parent, strrchr(dir, '/') + 1), 0);
        close(parent);
    }
}

static void a_state_folder_without_jobs_is_fine(void **state)
{
    (void)state;
    struct al_py_swept swept;
    struct al_err err = {0};
    char dir[PATH];
    join(dir, root, "empty");
    assert_int_equal(mkdir(dir, 0700), 0);
    struct al_py_sweep_spec spec = {
        .state_dir = dir, .now_ms = NOW, .jobs_days = 1, .live = is_live, .kept = is_kept};
    assert_int_equal(al_py_sweep(&spec, &swept, NULL, &err), 0);
}

static void a_link_in_the_place_of_the_jobs_is_refused(void **state)
{
    (void)state;
    struct world w = {0};
    struct al_py_swept swept;
    struct al_err err = {0};
    char dir[PATH], path[PATH], target[PATH];
    make_world(&w, 9999);
    join(dir, root, "linked");
    assert_int_equal(mkdir(dir, 0700), 0);
    join(path, dir, "analysis");
    assert_int_equal(mkdir(path, 0700), 0);
    join(target, root, "state9999/analysis/jobs");
    join(path, dir, "analysis/jobs");
    assert_int_equal(symlink(target, path), 0);
    for (size_t i = 0; i < JOBS; i++)
        w.jobs[i].live = w.jobs[i].kept = false;
    struct al_py_sweep_spec spec = {.state_dir = dir,
                                    .now_ms = NOW + 1000 * DAY,
                                    .intermediate_days = 1,
                                    .jobs_days = 1,
                                    .live = is_live,
                                    .kept = is_kept,
                                    .ud = &w};
    assert_int_equal(al_py_sweep(&spec, &swept, NULL, &err), -1);
    for (size_t i = 0; i < JOBS; i++)
        assert_true(exists(w.jobs[i].dir, "job.json"));
}

static void an_id_tells_when_it_was_made(void **state)
{
    (void)state;
    char id[AL_ID_MAX];
    id_at(id, "exec", NOW);
    assert_int_equal(al_id_time_ms(al_str_of(id)), NOW);
    assert_int_equal(al_id_time_ms(AL_STR("exec_nothing")), -1);
    al_id_new(id, "exec");
    assert_true(al_wall_ms() - al_id_time_ms(al_str_of(id)) < 60000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_due_goes),
        cmocka_unit_test(a_state_folder_without_jobs_is_fine),
        cmocka_unit_test(a_link_in_the_place_of_the_jobs_is_refused),
        cmocka_unit_test(an_id_tells_when_it_was_made),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
