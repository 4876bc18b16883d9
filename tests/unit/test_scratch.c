#include "test.h"

#include "base/ident.h"
#include "base/mem.h"
#include "core/scratch.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAY_S (24 * 3600)

struct world {
    char *top, *base, *state;
    char session[AL_ID_MAX];
    struct al_scratch *s;
};

static char *join(const char *a, const char *b)
{
    char *z = NULL;
    assert_true(asprintf(&z, "%s/%s", a, b) > 0);
    return z;
}

static int set_up(void **state)
{
    struct world *t = al_xcalloc(1, sizeof(*t));
    const char *tmp = getenv("TMPDIR");
    autofree char *pattern = join(tmp ? tmp : "/tmp", "al-scratch-XXXXXX");
    assert_non_null(mkdtemp(pattern));
    t->top = realpath(pattern, NULL);
    t->base = join(t->top, "tmp");
    t->state = join(t->top, "state");
    assert_int_equal(mkdir(t->base, 0700), 0);
    assert_int_equal(mkdir(t->state, 0700), 0);
    al_id_new(t->session, "ses");
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct world *t = *state;
    al_scratch_free(t->s);
    autofree char *parent = al_xstrdup(t->top);
    char *slash = strrchr(parent, '/');
    *slash = 0;
    autofd int fd = open(parent[0] ? parent : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(al_path_remove_tree(fd, slash + 1), 0);
    free(t->top);
    free(t->base);
    free(t->state);
    free(t);
    return 0;
}

static struct al_scratch *make(struct world *t, const char *session, uint64_t max)
{
    struct al_scratch_opts o = {.base = t->base,
                                .state_dir = t->state,
                                .workspace = "/some/where",
                                .session = session,
                                .max_bytes = max};
    struct al_scratch *s = NULL;
    struct al_err err = {.code = AL_OK};
    if (al_scratch_new(&o, &s, &err) < 0)
        fail_msg("%s", err.msg);
    return s;
}

static int fd_of(struct al_scratch *s)
{
    struct al_err err = {.code = AL_OK};
    int fd = al_scratch_fd(s, &err);
    if (fd < 0)
        fail_msg("%s", err.msg);
    return fd;
}

static char *root_of(struct world *t)
{
    char name[32];
    snprintf(name, sizeof(name), "alisio-%u", (unsigned)geteuid());
    return join(t->base, name);
}

static bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static void the_folder_is_made_on_first_use_and_private(void **state)
{
    struct world *t = *state;
    t->s = make(t, t->session, 1000);
    autofree char *root = root_of(t);
    assert_false(exists(root));
    fd_of(t->s);
    assert_null(al_scratch_note(t->s));
    char key[AL_WORKSPACE_KEY_MAX];
    al_workspace_key(key, "/some/where");
    autofree char *of_key = join(root, key), *of_session = join(of_key, t->session);
    autofree char *whole = join(of_session, "scratchpad");
    assert_string_equal(al_scratch_path(t->s), whole);
    const char *const all[] = {root, of_key, of_session, whole};
    for (size_t i = 0; i < 4; i++) {
        struct stat st;
        assert_int_equal(lstat(all[i], &st), 0);
        assert_true(S_ISDIR(st.st_mode));
        assert_int_equal(st.st_mode & 0777, 0700);
        assert_int_equal(st.st_uid, geteuid());
    }
    assert_int_equal(fd_of(t->s), fd_of(t->s));
}

static void check_fallback(struct world *t, const char *why)
{
    al_scratch_free(t->s);
    t->s = make(t, t->session, 1000);
    fd_of(t->s);
    if (!al_scratch_note(t->s) || strncmp(al_scratch_path(t->s), t->state, strlen(t->state)) != 0)
        fail_msg("%s: the shared folder was used", why);
}

static void a_shared_folder_that_is_not_private_is_not_used(void **state)
{
    struct world *t = *state;
    autofree char *root = root_of(t), *elsewhere = join(t->top, "elsewhere");
    assert_int_equal(mkdir(root, 0755), 0);
    check_fallback(t, "open to others");
    assert_int_equal(rmdir(root), 0);
    assert_int_equal(mkdir(elsewhere, 0700), 0);
    assert_int_equal(symlink(elsewhere, root), 0);
    check_fallback(t, "a link");
    autofd int planted = open(elsewhere, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(al_path_tree_bytes(planted), 0);
    assert_int_equal(unlink(root), 0);
    int fd = open(root, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    close(fd);
    check_fallback(t, "a file");
    assert_int_equal(unlink(root), 0);
    assert_int_equal(chmod(t->base, 0777), 0);
    check_fallback(t, "a base that others can change");
    assert_int_equal(chmod(t->base, 01777), 0);
    al_scratch_free(t->s);
    t->s = make(t, t->session, 1000);
    fd_of(t->s);
    assert_null(al_scratch_note(t->s));
}

static void a_planted_link_within_is_refused(void **state)
{
    struct world *t = *state;
    autofree char *root = root_of(t), *elsewhere = join(t->top, "elsewhere");
    char key[AL_WORKSPACE_KEY_MAX];
    al_workspace_key(key, "/some/where");
    autofree char *of_key = join(root, key);
    assert_int_equal(mkdir(root, 0700), 0);
    assert_int_equal(mkdir(elsewhere, 0700), 0);
    assert_int_equal(symlink(elsewhere, of_key), 0);
    check_fallback(t, "a link at the workspace's folder");
}

static void another_users_folder_is_not_used(void **state)
{
    struct world *t = *state;
    if (geteuid() != 0)
        skip();
    autofree char *root = root_of(t);
    assert_int_equal(mkdir(root, 0700), 0);
    assert_int_equal(chown(root, 12345, 12345), 0);
    check_fallback(t, "another user's");
    assert_int_equal(chown(root, 0, 0), 0);
    assert_int_equal(chown(t->base, 12345, 12345), 0);
    check_fallback(t, "another user's base");
}

static void without_a_fallback_the_reason_is_told(void **state)
{
    struct world *t = *state;
    autofree char *root = root_of(t);
    assert_int_equal(mkdir(root, 0755), 0);
    struct al_scratch_opts o = {.base = t->base, .workspace = "/x", .session = t->session, .max_bytes = 1};
    struct al_err err = {.code = AL_OK};
    assert_int_equal(al_scratch_new(&o, &t->s, &err), 0);
    assert_int_equal(al_scratch_fd(t->s, &err), -1);
    assert_int_equal(err.code, AL_PERMISSION_DENIED);
    assert_int_equal(al_scratch_write(t->s, "a", AL_STR("x"), &err), -1);
}

static void options_are_checked(void **state)
{
    struct world *t = *state;
    struct al_scratch_opts o = {.base = "relative", .workspace = "/x", .session = t->session, .max_bytes = 1};
    struct al_err err = {.code = AL_OK};
    assert_int_equal(al_scratch_new(&o, &t->s, &err), -1);
    assert_int_equal(err.code, AL_INVALID_INPUT);
    o.base = t->base;
    o.session = "../../x";
    assert_int_equal(al_scratch_new(&o, &t->s, &err), -1);
    assert_int_equal(err.code, AL_INTERNAL);
}

/* --- writing and quota --- */

static void a_write_makes_parents_and_replaces(void **state)
{
    struct world *t = *state;
    t->s = make(t, t->session, 1000);
    struct al_err err = {.code = AL_OK};
    assert_int_equal(al_scratch_write(t->s, "out/deep/a.txt", AL_STR("one"), &err), 0);
    assert_int_equal(al_scratch_write(t->s, "out/deep/a.txt", AL_STR("three"), &err), 0);
    autofd int fd = -1;
    assert_int_equal(al_path_open(fd_of(t->s), "out/deep/a.txt", O_RDONLY, 0, "a", &fd, &err), 0);
    autobuf struct al_buf b = AL_BUF_INIT(100);
    assert_int_equal(al_fd_read_all(fd, &b), 0);
    assert_true(al_str_is(al_buf_str(&b), "three"));
    assert_int_equal(al_scratch_bytes(t->s), 5);
    const char *const bad[] = {"", "..", "../x", "a/../../x", "/etc/x", "."};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(al_scratch_write(t->s, bad[i], AL_STR("x"), &err), -1);
    assert_int_equal(symlinkat("/etc", fd_of(t->s), "etc"), 0);
    assert_int_equal(al_scratch_write(t->s, "etc/x", AL_STR("x"), &err), -1);
    assert_int_equal(err.code, AL_PATH_OUTSIDE_WORKSPACE);
}

static void what_would_pass_the_quota_is_denied_and_nothing_is_lost(void **state)
{
    struct world *t = *state;
    t->s = make(t, t->session, 10);
    struct al_err err = {.code = AL_OK};
    assert_int_equal(al_scratch_write(t->s, "a", AL_STR("123456"), &err), 0);
    assert_int_equal(al_scratch_write(t->s, "b", AL_STR("12345"), &err), -1);
    assert_int_equal(err.code, AL_QUOTA_EXCEEDED);
    assert_non_null(strstr(err.hint, "forge.scratch.maxBytes"));
    assert_int_equal(al_scratch_bytes(t->s), 6);
    assert_int_equal(al_scratch_write(t->s, "b", AL_STR("1234"), &err), 0);
    assert_int_equal(al_scratch_write(t->s, "a", AL_STR("654321"), &err),
                     0); /* takes the place of what it replaces */
    assert_int_equal(al_scratch_write(t->s, "a", AL_STR("7654321"), &err), -1);
    assert_int_equal(al_scratch_reserve(t->s, 1, &err), -1);
    assert_int_equal(al_scratch_reserve(t->s, UINT64_MAX, &err), -1);
    assert_int_equal(al_scratch_reserve(t->s, 0, &err), 0);
}

static void a_reservation_counts_until_it_is_released(void **state)
{
    struct world *t = *state;
    t->s = make(t, t->session, 10);
    struct al_err err = {.code = AL_OK};
    assert_int_equal(al_scratch_reserve(t->s, 6, &err), 0);
    assert_int_equal(al_scratch_reserve(t->s, 6, &err), -1);
    assert_int_equal(err.code, AL_QUOTA_EXCEEDED);
    assert_int_equal(al_scratch_write(t->s, "a", AL_STR("12345"), &err), -1);
    al_scratch_release(t->s, 6);
    assert_int_equal(al_scratch_write(t->s, "a", AL_STR("12345"), &err), 0);
}

struct racer {
    pthread_t thread;
    struct al_scratch *s;
    int id, written, reserved;
};

static void *race(void *ud)
{
    struct racer *r = ud;
    for (int i = 0; i < 20; i++) {
        char name[32];
        struct al_err err;
        snprintf(name, sizeof(name), "f%d-%d", r->id, i);
        if (i % 2)
            r->reserved += al_scratch_reserve(r->s, 10, &err) == 0;
        else
            r->written += al_scratch_write(r->s, name, AL_STR("0123456789"), &err) == 0;
    }
    return NULL;
}

static void threads_together_never_pass_the_quota(void **state)
{
    struct world *t = *state;
    t->s = make(t, t->session, 305);
    struct racer r[4] = {0};
    int sum = 0, written = 0;
    for (int i = 0; i < 4; i++) {
        r[i].s = t->s;
        r[i].id = i;
        assert_int_equal(pthread_create(&r[i].thread, NULL, race, &r[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(r[i].thread, NULL), 0);
        written += r[i].written;
        sum += r[i].written + r[i].reserved;
    }
    assert_true(al_scratch_bytes(t->s) == written * 10 && written * 10 <= 305);
    assert_true(sum >= 30); /* 80 wished for 10 bytes each; reservations may run out on a slow machine */
}

static void emptying_removes_everything_but_the_folder(void **state)
{
    struct world *t = *state;
    t->s = make(t, t->session, 1000);
    struct al_err err = {.code = AL_OK};
    autofree char *outside = join(t->top, "keep");
    int fd = open(outside, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    close(fd);
    assert_int_equal(al_scratch_write(t->s, "a/b/c", AL_STR("x"), &err), 0);
    assert_int_equal(al_scratch_write(t->s, ".hidden", AL_STR("x"), &err), 0);
    assert_int_equal(symlinkat(t->top, fd_of(t->s), "up"), 0);
    assert_int_equal(al_scratch_empty(t->s, &err), 0);
    assert_int_equal(al_scratch_bytes(t->s), 0);
    assert_true(exists(outside));
    assert_true(exists(al_scratch_path(t->s)));
    assert_int_equal(al_scratch_write(t->s, "a", AL_STR("x"), &err), 0);
}

static void a_removed_folder_is_made_again_under_the_same_descriptor(void **state)
{
    struct world *t = *state;
    t->s = make(t, t->session, 1000);
    struct al_err err = {.code = AL_OK};
    int fd = fd_of(t->s);
    char name[32];
    snprintf(name, sizeof(name), "alisio-%u", (unsigned)geteuid());
    autofd int base = open(t->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(al_path_remove_tree(base, name), 0);
    assert_int_equal(fd_of(t->s), fd);
    assert_int_equal(al_scratch_write(t->s, "a", AL_STR("x"), &err), 0);
    assert_int_equal(al_scratch_bytes(t->s), 1);
}

/* --- the sweep --- */

static void set_age(const char *path, int days)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct timespec at[2] = {{.tv_sec = now.tv_sec - (time_t)days * DAY_S - 60}, {0}};
    at[1] = at[0];
    assert_int_equal(utimensat(AT_FDCWD, path, at, AT_SYMLINK_NOFOLLOW), 0);
}

static char *folder_of_session(struct al_scratch *s)
{
    char *z = al_xstrdup(al_scratch_path(s));
    *strrchr(z, '/') = 0;
    return z;
}

/* A scratchpad with one file, without activity for so long. Its folder. */
static char *old_one(struct world *t, int days)
{
    char id[AL_ID_MAX];
    al_id_new(id, "ses");
    struct al_scratch *s = make(t, id, 1000);
    struct al_err err = {.code = AL_OK};
    assert_int_equal(al_scratch_write(s, "a", AL_STR("x"), &err), 0);
    char *folder = folder_of_session(s);
    al_scratch_free(s);
    set_age(folder, days);
    return folder;
}

static void the_sweep_takes_what_is_old_and_only_that(void **state)
{
    struct world *t = *state;
    t->s = make(t, t->session, 1000);
    fd_of(t->s);
    autofree char *own = folder_of_session(t->s), *root = root_of(t);
    autofree char *old = old_one(t, 8), *older = old_one(t, 100), *young = old_one(t, 6);
    autofree char *stranger = join(root, "notes"), *in_stranger = join(stranger, "mine");
    autofree char *file = join(own, "../not-a-session");
    assert_int_equal(mkdir(stranger, 0700), 0);
    assert_int_equal(mkdir(in_stranger, 0700), 0);
    assert_int_equal(mkdir(file, 0700), 0);
    set_age(in_stranger, 100);
    set_age(file, 100);
    set_age(own, 100); /* the session that sweeps is at work */
    assert_int_equal(al_scratch_sweep(t->s, 7), 2);
    assert_false(exists(old));
    assert_false(exists(older));
    assert_true(exists(young));
    assert_true(exists(own));
    assert_true(exists(in_stranger));
    assert_true(exists(file));
}

static void the_sweep_comes_once_a_day(void **state)
{
    struct world *t = *state;
    t->s = make(t, t->session, 1000);
    fd_of(t->s);
    autofree char *first = old_one(t, 8);
    assert_int_equal(al_scratch_sweep(t->s, 0), 0); /* never */
    assert_int_equal(al_scratch_sweep(t->s, 7), 1);
    autofree char *second = old_one(t, 8), *root = root_of(t), *marker = join(root, ".last-sweep");
    assert_int_equal(al_scratch_sweep(t->s, 7), 0);
    assert_true(exists(second));
    set_age(marker, 1);
    assert_int_equal(al_scratch_sweep(t->s, 7), 1);
    assert_false(exists(second));
    autofree char *third = old_one(t, 8);
    set_age(marker, -3); /* a clock that was wrong must not stop it for ever */
    assert_int_equal(al_scratch_sweep(t->s, 7), 1);
    assert_false(exists(third));
}

static void the_sweep_follows_no_link_and_leaves_the_root(void **state)
{
    struct world *t = *state;
    t->s = make(t, t->session, 1000);
    fd_of(t->s);
    char id[AL_ID_MAX];
    al_id_new(id, "ses");
    autofree char *root = root_of(t), *outside = join(t->top, "outside"), *victim = join(outside, id);
    autofree char *kept = join(victim, "kept"), *key_link = join(root, "evil-0123456789ab");
    assert_int_equal(mkdir(outside, 0700), 0);
    assert_int_equal(mkdir(victim, 0700), 0);
    assert_int_equal(mkdir(kept, 0700), 0);
    set_age(victim, 100);
    assert_int_equal(symlink(outside, key_link), 0); /* a link in the place of a workspace's folder */
    autofree char *own = folder_of_session(t->s);
    char other[AL_ID_MAX];
    al_id_new(other, "ses");
    autofree char *up = join(own, ".."), *session_link = join(up, other);
    assert_int_equal(symlink(victim, session_link), 0); /* and one in that of a session's */
    set_age(session_link, 100);
    assert_int_equal(al_scratch_sweep(t->s, 7), 0);
    assert_true(exists(kept));

    autofree char *old = old_one(t, 8), *marker = join(root, ".last-sweep");
    assert_int_equal(unlink(marker), 0);
    assert_int_equal(chmod(root, 0755), 0); /* no longer private: not touched */
    assert_int_equal(al_scratch_sweep(t->s, 7), 0);
    assert_true(exists(old));
}

static void writing_is_activity(void **state)
{
    struct world *t = *state;
    t->s = make(t, t->session, 1000);
    fd_of(t->s);
    autofree char *own = folder_of_session(t->s);
    set_age(own, 100);
    struct al_err err;
    assert_int_equal(al_scratch_reserve(t->s, 1, &err), 0);
    struct stat st;
    assert_int_equal(stat(own, &st), 0);
    assert_true(al_wall_ms() / 1000 - st.st_mtim.tv_sec < DAY_S);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_folder_is_made_on_first_use_and_private),
        CASE(a_shared_folder_that_is_not_private_is_not_used),
        CASE(a_planted_link_within_is_refused),
        CASE(another_users_folder_is_not_used),
        CASE(without_a_fallback_the_reason_is_told),
        CASE(options_are_checked),
        CASE(a_write_makes_parents_and_replaces),
        CASE(what_would_pass_the_quota_is_denied_and_nothing_is_lost),
        CASE(a_reservation_counts_until_it_is_released),
        CASE(threads_together_never_pass_the_quota),
        CASE(emptying_removes_everything_but_the_folder),
        CASE(a_removed_folder_is_made_again_under_the_same_descriptor),
        CASE(the_sweep_takes_what_is_old_and_only_that),
        CASE(the_sweep_comes_once_a_day),
        CASE(the_sweep_follows_no_link_and_leaves_the_root),
        CASE(writing_is_activity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
