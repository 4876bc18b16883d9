#include "test.h"

#include "core_world.h"

#include "base/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void direct_work_shares_the_default_session(void **state)
{
    struct core_world *t = *state;
    core_world_start(t, NULL);
    char first[AL_ID_MAX];
    memcpy(first, al_core_session(t->core)->id, sizeof(first));
    assert_string_equal(al_core_session(t->core)->workspace, t->ws);
    core_world_stop(t);
    core_world_start(t, NULL);
    assert_string_equal(al_core_session(t->core)->id, first);
    core_world_stop(t);
    t->opts.session = "new";
    core_world_start(t, NULL);
    assert_string_not_equal(al_core_session(t->core)->id, first);
    core_world_stop(t);
    t->opts.session = first;
    core_world_start(t, NULL);
    assert_string_equal(al_core_session(t->core)->id, first);
}

static void a_session_that_is_not_of_this_workspace_is_not_found(void **state)
{
    struct core_world *t = *state;
    struct al_err err;
    core_world_start(t, NULL);
    char id[AL_ID_MAX];
    memcpy(id, al_core_session(t->core)->id, sizeof(id));
    core_world_stop(t);
    t->opts.session = "ses_01JDZ0000000000000000000A1";
    assert_int_equal(core_world_try(t, NULL, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    core_world_stop(t);
    autofree char *other = core_world_path(t->top, "other");
    assert_int_equal(mkdir(other, 0700), 0);
    t->opts.session = id;
    t->opts.cwd = other;
    assert_int_equal(core_world_try(t, NULL, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    assert_null(strstr(err.msg, t->top));
    assert_null(strstr(err.hint, t->top));
}

static void the_scratchpad_is_made_when_a_path_needs_it(void **state)
{
    struct core_world *t = *state;
    core_world_start(t, NULL);
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 16);
    struct al_place p;
    struct al_err err;
    const char *path = al_scratch_path(al_core_scratch(t->core));
    struct stat st;
    assert_int_equal(stat(path, &st), -1);
    assert_int_equal(al_workspace_resolve(al_core_workspace(t->core), AL_STR("scratch:x"), AL_WANT_WRITE,
                                          false, &a, &p, &err),
                     0);
    assert_int_equal(stat(al_scratch_path(al_core_scratch(t->core)), &st), 0);
    core_world_stop(t);
    core_world_start(t, "{\"forge\":{\"scratch\":{\"enabled\":false}}}");
    assert_null(al_core_scratch(t->core));
    assert_int_equal(al_workspace_resolve(al_core_workspace(t->core), AL_STR("scratch:x"), AL_WANT_WRITE,
                                          false, &a, &p, &err),
                     -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
}

static void users_patterns_reach_the_workspace(void **state)
{
    struct core_world *t = *state;
    core_world_start(t, "{\"files\":{\"secret\":[\"!id_*\",\"hush\"],\"protect\":[\"!AGENTS.md\"]}}");
    assert_true(al_workspace_is_secret(al_core_workspace(t->core), "hush"));
    assert_false(al_workspace_is_secret(al_core_workspace(t->core), "id_x"));
    assert_false(al_workspace_is_protected(al_core_workspace(t->core), "AGENTS.md"));
}

static void make_program(const char *dir, const char *name)
{
    autofree char *path = core_world_path(dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    assert_true(fd >= 0);
    close(fd);
}

static void a_program_of_the_workspace_is_never_used(void **state)
{
    struct core_world *t = *state;
    autofree char *bin = core_world_path(t->top, "bin"), *ws_bin = core_world_path(t->ws, "bin");
    autofree char *old = getenv("PATH") ? al_xstrdup(getenv("PATH")) : NULL;
    assert_int_equal(mkdir(bin, 0755), 0);
    assert_int_equal(mkdir(ws_bin, 0755), 0);
    make_program(bin, "al-test-one");
    make_program(ws_bin, "al-test-one");
    make_program(ws_bin, "al-test-two");
    autofree char *path = NULL;
    assert_true(asprintf(&path, "%s:%s", ws_bin, bin) > 0);
    setenv("PATH", path, 1);
    core_world_start(t, NULL);
    autofree char *want = core_world_path(bin, "al-test-one");
    const char *found = al_core_program(t->core, "al-test-one");
    assert_non_null(found);
    assert_string_equal(found, want);
    assert_ptr_equal(al_core_program(t->core, "al-test-one"), found); /* looked up once */
    assert_null(al_core_program(t->core, "al-test-two"));
    old ? setenv("PATH", old, 1) : unsetenv("PATH");
}

/* A run that ended so many days ago. */
static void old_run(struct core_world *t, const char *id, int days)
{
    struct al_err err;
    int64_t at = al_wall_ms() - (int64_t)days * 24 * 3600 * 1000;
    char kind[] = "tool", source[] = "cli", status[] = "running", done[] = "completed", json[] = "{}";
    struct al_run r = {.kind = kind,
                       .source = source,
                       .status = status,
                       .engine = json,
                       .limits = json,
                       .created_ms = at,
                       .started_ms = at};
    snprintf(r.id, sizeof(r.id), "%s", id);
    memcpy(r.session, al_core_session(t->core)->id, sizeof(r.session));
    if (al_store_run_begin(t->store, &r, (struct al_str){NULL, 0}, &err) < 0)
        fail_msg("%s", err.msg);
    r.status = done;
    r.ended_ms = at;
    if (al_store_run_end(t->store, &r, &err) < 0)
        fail_msg("%s", err.msg);
}

static bool has_run(struct core_world *t, const char *id)
{
    struct al_run r;
    struct al_err err;
    if (al_store_run_get(t->store, id, &r, &err) < 0)
        return false;
    al_run_fini(&r);
    return true;
}

static void old_runs_go_once_a_day(void **state)
{
    struct core_world *t = *state;
    const char *const old = "exec_01JDZ0000000000000000000A1", *const young =
                                                                   "exec_01JDZ0000000000000000000A2";
    core_world_start(t, NULL);
    old_run(t, old, 91);
    old_run(t, young, 89);
    core_world_stop(t);
    core_world_start(t, NULL); /* it was done today: by the start before */
    assert_true(has_run(t, old));
    core_world_stop(t);
    autofree char *marker = core_world_path(t->state, ".last-purge");
    struct timespec at[2] = {{.tv_sec = al_wall_ms() / 1000 - 25 * 3600}, {0}};
    at[1] = at[0];
    assert_int_equal(utimensat(AT_FDCWD, marker, at, 0), 0);
    core_world_start(t, NULL);
    assert_false(has_run(t, old));
    assert_true(has_run(t, young));
}

static void what_was_handed_in_is_handed_out(void **state)
{
    struct core_world *t = *state;
    t->opts.policy = (struct al_policy){.allow_write = true};
    t->opts.source = "mcp";
    core_world_start(t, NULL);
    assert_ptr_equal(al_core_loop(t->core), t->loop);
    assert_ptr_equal(al_core_config(t->core), t->config);
    assert_ptr_equal(al_core_store(t->core), t->store);
    assert_true(al_core_policy(t->core)->allow_write);
    assert_string_equal(al_core_source(t->core), "mcp");
    assert_non_null(al_core_engine(t->core));
    assert_ptr_equal(al_core_engine(t->core), al_core_engine(t->core));
    al_core_free(NULL);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, core_world_set_up, core_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(direct_work_shares_the_default_session),
        CASE(a_session_that_is_not_of_this_workspace_is_not_found),
        CASE(the_scratchpad_is_made_when_a_path_needs_it),
        CASE(users_patterns_reach_the_workspace),
        CASE(a_program_of_the_workspace_is_never_used),
        CASE(old_runs_go_once_a_day),
        CASE(what_was_handed_in_is_handed_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
