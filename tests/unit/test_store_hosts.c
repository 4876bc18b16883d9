/* Several processes on one state folder. */
#include "store_test.h"

#include "store/store_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#define HOSTS 8
#define RUNS 60

static int hammer(const struct fix *f, int me)
{
    struct al_store *s;
    struct al_err err = {0};
    if (al_store_open(f->dir, NULL, &s, &err) < 0)
        goto failed;
    char ses[AL_ID_MAX];
    struct al_session v;
    if (al_store_session_default(s, "/w", &v, &err) < 0)
        goto failed;
    memcpy(ses, v.id, sizeof ses);
    al_session_fini(&v);
    for (int i = 1; i <= RUNS; i++) {
        struct al_run r = make_run(ses, "queued");
        if (al_store_run_begin(s, &r, AL_STR("same"), &err) < 0 || al_store_run_started(s, r.id, 1, &err) < 0)
            goto failed;
        for (int k = 1; k <= 3; k++) {
            struct al_call_row c = {.seq = k, .tool = (char *)"t"};
            if (al_store_call_begin(s, r.id, &c, i % 20 == 0, &err) < 0)
                goto failed;
            c.status = (char *)"completed";
            if (al_store_call_end(s, r.id, &c, &err) < 0)
                goto failed;
        }
        autobuf struct al_buf before = AL_BUF_INIT(4096);
        char after[1024];
        size_t bytes;
        bool changed;
        /* Each host counts in a key of its own; what others wrote since is none of its business. */
        if (al_store_state_get(s, ses, &before, &err) < 0)
            goto failed;
        int n = snprintf(after, sizeof after, "[[\"h%d\",%d]", me, i);
        for (int k = 0; k < HOSTS; k++) {
            char key[8];
            snprintf(key, sizeof key, "\"h%d\":", k);
            al_buf_addc(&before, '\0');
            const char *at = k == me ? NULL : strstr(before.p, key);
            before.n--;
            if (at)
                n += snprintf(after + n, sizeof after - (size_t)n, ",[\"h%d\",%d]", k,
                              (int)strtol(at + strlen(key), NULL, 10));
        }
        snprintf(after + n, sizeof after - (size_t)n, "]");
        if (al_store_state_merge(s, ses, al_buf_str(&before), al_str_of(after), 4096, &bytes, &changed,
                                 &err) < 0)
            goto failed;
        r.status = (char *)"completed";
        if (al_store_run_end(s, &r, &err) < 0)
            goto failed;
    }
    al_store_close(s);
    return 0;
failed:
    fprintf(stderr, "host %d: %s %s %s\n", me, al_code_name(err.code), err.msg, err.detail);
    return 1;
}

static int64_t number(const struct fix *f, const char *literal)
{
    struct al_db *db;
    struct al_stmt *q;
    struct al_err err = {0};
    struct al_db_opts ro = {.read_only = true};
    OK(al_db_open(f->file, &ro, &db, &err));
    OK(al_db_prepare(db, literal, &q, &err));
    assert_int_equal(al_step(q, &err), 1);
    int64_t v = al_col_int(q, 0);
    al_stmt_reset(q);
    al_db_close(db);
    return v;
}

static void wait_fine(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void eight_hosts_lose_nothing_and_never_see_busy(void **state)
{
    struct fix *f = *state;
    pid_t pids[HOSTS];
    for (int i = 0; i < HOSTS; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            _exit(hammer(f, i));
    }
    for (int i = 0; i < HOSTS; i++)
        wait_fine(pids[i]);
    assert_int_equal(number(f, "SELECT count(*) FROM sessions"), 1);
    assert_int_equal(number(f, "SELECT count(*) FROM runs WHERE status='completed'"), HOSTS * RUNS);
    assert_int_equal(number(f, "SELECT count(*) FROM runs"), HOSTS * RUNS);
    assert_int_equal(number(f, "SELECT count(*) FROM calls WHERE status='completed'"), 3 * HOSTS * RUNS);
    assert_int_equal(number(f, "SELECT sum(CAST(value AS INTEGER)) FROM state"), HOSTS * RUNS);
    assert_int_equal(number(f, "SELECT count(*) FROM scripts"), 1);
    assert_int_equal(number(f, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check<>'ok'"), 0);
}

/* A host that opens, has live runs with open calls, tells so and stays until it is killed. */
static pid_t start_host(const struct fix *f, int n_runs, char id[AL_ID_MAX])
{
    int p[2];
    assert_int_equal(pipe(p), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct al_store *s = open_store(f);
        struct al_err err = {0};
        char ses[AL_ID_MAX];
        session_of(s, "/w", ses);
        for (int i = 0; i < n_runs; i++) {
            struct al_run r = make_run(ses, i % 2 ? "running" : "queued");
            struct al_call_row c = {.seq = 1, .tool = (char *)"t"};
            if (al_store_run_begin(s, &r, AL_STR("x"), &err) < 0 ||
                al_store_call_begin(s, r.id, &c, false, &err) < 0)
                _exit(1);
        }
        autofree char *sock = al_store_socket_path(s, al_store_host_id(s));
        FILE *stand_in = fopen(sock, "w");
        if (stand_in)
            fclose(stand_in);
        if (write(p[1], al_store_host_id(s), AL_ID_MAX) != AL_ID_MAX)
            _exit(1);
        for (;;)
            pause();
    }
    close(p[1]);
    size_t got = 0;
    for (ssize_t r; got < AL_ID_MAX && (r = read(p[0], id + got, AL_ID_MAX - got)) > 0;)
        got += (size_t)r;
    assert_int_equal(got, AL_ID_MAX);
    close(p[0]);
    return pid;
}

static void end_host(pid_t pid)
{
    int status;
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

static int count_files(const struct fix *f, const char *part)
{
    char hosts[128];
    snprintf(hosts, sizeof hosts, "%s/hosts", f->dir);
    DIR *dir = opendir(hosts);
    assert_non_null(dir);
    int n = 0;
    for (struct dirent *e; (e = readdir(dir));)
        n += strstr(e->d_name, part) != NULL;
    closedir(dir);
    return n;
}

static void a_living_host_keeps_its_runs_and_a_dead_one_loses_them(void **state)
{
    struct fix *f = *state;
    struct al_err err = {0};
    char live_id[AL_ID_MAX], dead_id[AL_ID_MAX];
    pid_t live = start_host(f, 3, live_id), dead = start_host(f, 5, dead_id);
    struct al_store *s = open_store(f);
    assert_true(al_store_host_alive(s, live_id));
    assert_true(al_store_host_alive(s, dead_id));
    assert_false(al_store_host_alive(s, "../../etc/passwd"));
    assert_false(al_store_host_alive(s, "01ARZ3NDEKTSV4RRFFQ69G5FAV"));
    assert_int_equal(al_store_recover(s, &err), 0);
    end_host(dead);
    assert_false(al_store_host_alive(s, dead_id));
    assert_int_equal(al_store_recover(s, &err), 5);
    assert_int_equal(al_store_recover(s, &err), 0);
    char file[256];
    snprintf(file, sizeof file, "%s/hosts/%s.lock", f->dir, dead_id);
    assert_int_equal(access(file, F_OK), -1);
    snprintf(file, sizeof file, "%s/hosts/%s.sock", f->dir, dead_id);
    assert_int_equal(access(file, F_OK), -1);
    assert_int_equal(count_files(f, ".sock"), 1);
    assert_int_equal(
        number(f, "SELECT count(*) FROM runs WHERE status='interrupted' AND error_code='INTERRUPTED' "
                  "AND ended_ms>0"),
        5);
    assert_int_equal(number(f, "SELECT count(*) FROM calls WHERE status='interrupted' AND ended_ms>0"), 5);
    assert_int_equal(number(f, "SELECT count(*) FROM calls WHERE status='running'"), 3);
    /* Without its lock file, too. */
    end_host(live);
    snprintf(file, sizeof file, "%s/hosts/%s.lock", f->dir, live_id);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(al_store_recover(s, &err), 3);
    assert_int_equal(count_files(f, ".sock"), 0);
    al_store_close(s);
    assert_int_equal(count_files(f, ".lock"), 1); /* start.lock */
}

static void many_that_recover_at_once_close_each_run_once(void **state)
{
    struct fix *f = *state;
    char id[AL_ID_MAX];
    for (int i = 0; i < 4; i++)
        end_host(start_host(f, 10, id));
    /* These four live at the same time, so that none is recovered by the start of another. */
    pid_t keep[4];
    for (int i = 0; i < 4; i++)
        keep[i] = start_host(f, 10, id);
    for (int i = 0; i < 4; i++)
        end_host(keep[i]);
    int p[2];
    assert_int_equal(pipe(p), 0);
    pid_t pids[HOSTS];
    for (int i = 0; i < HOSTS; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            close(p[1]);
            char c;
            ssize_t r = read(p[0], &c, 1); /* until all are there */
            struct al_store *s = NULL;
            struct al_err err = {0};
            if (r < 0 || al_store_open(f->dir, NULL, &s, &err) < 0) {
                fprintf(stderr, "%s %s\n", err.msg, err.detail);
                _exit(1);
            }
            al_store_close(s);
            _exit(0);
        }
    }
    close(p[0]);
    close(p[1]);
    for (int i = 0; i < HOSTS; i++)
        wait_fine(pids[i]);
    assert_int_equal(number(f, "SELECT count(*) FROM runs WHERE status='interrupted'"), 80);
    assert_int_equal(number(f, "SELECT count(*) FROM runs"), 80);
    assert_int_equal(count_files(f, ".sock"), 0);
    assert_int_equal(count_files(f, ".lock"), 1);
}

static void a_closed_store_leaves_no_run_open(void **state)
{
    struct fix *f = *state;
    struct al_err err = {0};
    struct al_store *s = open_store(f);
    char ses[AL_ID_MAX];
    session_of(s, "/w", ses);
    struct al_run r = make_run(ses, "running");
    OK(al_store_run_begin(s, &r, AL_STR("x"), &err));
    al_store_close(s);
    assert_int_equal(number(f, "SELECT count(*) FROM runs WHERE status='interrupted'"), 1);
}

static void set_version(const struct fix *f, const char *sql)
{
    struct al_db *db;
    struct al_err err = {0};
    OK(al_db_open(f->file, NULL, &db, &err));
    OK(al_db_exec(db, sql, &err));
    al_db_close(db);
}

static void hash_file(const char *path, char out[AL_SHA256_HEX])
{
    autobuf struct al_buf b = AL_BUF_INIT(8 << 20);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;)
        al_buf_add(&b, part, n);
    fclose(file);
    al_sha256(al_buf_str(&b), out);
}

static void a_newer_state_is_refused_and_left_alone(void **state)
{
    struct fix *f = *state;
    struct al_err err = {0};
    struct al_store *s = NULL;
    al_store_close(open_store(f));
    set_version(f, "UPDATE schema_version SET version=999");
    char before[AL_SHA256_HEX], after[AL_SHA256_HEX];
    hash_file(f->file, before);
    assert_int_equal(al_store_open(f->dir, NULL, &s, &err), -1);
    assert_int_equal(err.code, AL_STATE_TOO_NEW);
    assert_null(strstr(err.msg, f->base));
    hash_file(f->file, after);
    assert_string_equal(before, after);
    assert_int_equal(count_files(f, ".lock"), 1);
}

static void a_migration_waits_until_other_hosts_are_gone(void **state)
{
    struct fix *f = *state;
    struct al_err err = {0};
    const int n = al_store_n_migrations + 1;
    const char *next[16];
    char id[AL_ID_MAX];
    int v;
    assert_true(n <= 16);
    for (int i = 0; i < n; i++)
        next[i] = i + 1 < n ? "" : "CREATE TABLE later(x)";
    pid_t other = start_host(f, 0, id);
    struct al_store *s = open_store(f);
    assert_int_equal(al_store_migrate(s, next, n, &err), -1);
    assert_int_equal(err.code, AL_BUSY);
    assert_non_null(strstr(err.hint, "alisio mcp"));
    OK(al_db_version(s->db, &v, &err));
    assert_int_equal(v, al_store_n_migrations);
    end_host(other);
    OK(al_store_migrate(s, next, n, &err));
    OK(al_db_version(s->db, &v, &err));
    assert_int_equal(v, n);
    al_store_close(s);
    char bak[160];
    snprintf(bak, sizeof bak, "%s.v%d.bak", f->file, n - 1);
    assert_int_equal(access(bak, F_OK), 0);
    assert_int_equal(al_store_open(f->dir, NULL, &s, &err), -1);
    assert_int_equal(err.code, AL_STATE_TOO_NEW);
}

static void another_place_for_the_database(void **state)
{
    struct fix *f = *state;
    struct al_err err = {0};
    struct al_store *s = NULL;
    char path[128];
    snprintf(path, sizeof path, "%s/mine.sqlite", f->base);
    OK(al_store_open(f->dir, path, &s, &err));
    assert_string_equal(al_store_dir(s), f->dir);
    al_store_close(s);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(access(f->file, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(eight_hosts_lose_nothing_and_never_see_busy, setup, teardown),
        cmocka_unit_test_setup_teardown(a_living_host_keeps_its_runs_and_a_dead_one_loses_them, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(many_that_recover_at_once_close_each_run_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_closed_store_leaves_no_run_open, setup, teardown),
        cmocka_unit_test_setup_teardown(a_newer_state_is_refused_and_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(a_migration_waits_until_other_hosts_are_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(another_place_for_the_database, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
