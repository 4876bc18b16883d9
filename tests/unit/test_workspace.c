#include "test.h"

#include "base/mem.h"
#include "core/workspace.h"
#include "os/fd.h"
#include "os/path.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder with a workspace "ws", a link to it "link", an added folder "more" and a home. */
struct world {
    char top[64];
    char *ws, *link, *more, *home, *state, *config;
    struct al_arena arena;
    struct al_workspace *w;
    char *old_home, *old_pwd;
};

static char *join(const char *a, const char *b)
{
    char *z = NULL;
    assert_true(asprintf(&z, "%s/%s", a, b) > 0);
    return z;
}

static void make_dir(const char *base, const char *name)
{
    autofree char *path = join(base, name);
    assert_int_equal(mkdir(path, 0755), 0);
}

static void make_file(const char *base, const char *name)
{
    autofree char *path = join(base, name);
    autofd int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
}

static void make_link(const char *target, const char *base, const char *name)
{
    autofree char *path = join(base, name);
    assert_int_equal(symlink(target, path), 0);
}

static int set_up(void **state)
{
    struct world *t = al_xcalloc(1, sizeof(*t));
    const char *tmp = getenv("TMPDIR");
    char name[] = "al-ws-XXXXXX";
    autofree char *pattern = join(tmp ? tmp : "/tmp", name);
    assert_non_null(mkdtemp(pattern));
    autofree char *real = realpath(pattern, NULL);
    assert_true(strlen(real) < sizeof(t->top));
    snprintf(t->top, sizeof(t->top), "%s", real);
    const char *const dirs[] = {"ws",         "ws/src", "ws/.git", "ws/.git/hooks",
                                "ws/.github", "more",   "home",    "state"};
    for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
        make_dir(t->top, dirs[i]);
    make_link("ws", t->top, "link");
    t->ws = join(t->top, "ws");
    t->link = join(t->top, "link");
    t->more = join(t->top, "more");
    t->home = join(t->top, "home");
    t->state = join(t->top, "state");
    t->config = join(t->home, ".config/alisio"); /* does not exist */
    al_arena_init(&t->arena, 1u << 20);
    t->old_home = getenv("HOME") ? al_xstrdup(getenv("HOME")) : NULL;
    t->old_pwd = getenv("PWD") ? al_xstrdup(getenv("PWD")) : NULL;
    setenv("HOME", t->home, 1);
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct world *t = *state;
    al_workspace_free(t->w);
    al_arena_free(&t->arena);
    t->old_home ? setenv("HOME", t->old_home, 1) : unsetenv("HOME");
    t->old_pwd ? setenv("PWD", t->old_pwd, 1) : unsetenv("PWD");
    char *slash = strrchr(t->top, '/');
    *slash = 0;
    autofd int parent = open(t->top[0] ? t->top : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(al_path_remove_tree(parent, slash + 1), 0);
    char *const all[] = {t->ws, t->link, t->more, t->home, t->state, t->config, t->old_home, t->old_pwd};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        free(all[i]);
    free(t);
    return 0;
}

static void open_with(struct world *t, const char *cwd, const char *const *add, const char *const *protect,
                      const char *const *secret)
{
    const char *forbidden[] = {t->state, t->config, NULL};
    struct al_workspace_opts o = {
        .cwd = cwd, .add_dirs = add, .forbidden = forbidden, .protect = protect, .secret = secret};
    struct al_err err = {.code = AL_OK};
    al_workspace_free(t->w);
    t->w = NULL;
    if (al_workspace_open(&o, &t->w, &err) < 0)
        fail_msg("%s", err.msg);
}

static enum al_code resolve(struct world *t, const char *path, enum al_want want, bool outside_ok,
                            struct al_place *place, struct al_err *err)
{
    struct al_err own;
    err = err ? err : &own;
    al_err_clear(err);
    int r = al_workspace_resolve(t->w, al_str_of(path), want, outside_ok, &t->arena, place, err);
    assert_int_equal(r, err->code == AL_OK ? 0 : -1);
    if (r < 0)
        assert_null(strstr(err->hint, t->top));
    return err->code;
}

/* --- places --- */

static void a_path_is_mapped_to_its_place(void **state)
{
    struct world *t = *state;
    const char *add[] = {t->more, NULL};
    open_with(t, t->ws, add, NULL, NULL);
    struct {
        const char *path;
        int kind;
        const char *rel, *shown;
    } cases[] = {
        {"src/a.c", AL_PLACE_WORKSPACE, "src/a.c", "src/a.c"},
        {"./src//a.c", AL_PLACE_WORKSPACE, "src/a.c", "src/a.c"},
        {"src/../b", AL_PLACE_WORKSPACE, "b", "b"},
        {"../ws/b", AL_PLACE_WORKSPACE, "b", "b"},
        {".", AL_PLACE_WORKSPACE, ".", "."},
        {"src/", AL_PLACE_WORKSPACE, "src", "src"},
        {"./scratch:x", AL_PLACE_WORKSPACE, "scratch:x", "./scratch:x"},
        {"src/scratch:x", AL_PLACE_WORKSPACE, "src/scratch:x", "src/scratch:x"},
        {"~/x", AL_PLACE_WORKSPACE, "~/x", "~/x"},
        {"../more/x", AL_PLACE_ADDED, "x", NULL},
    };
    struct al_place p;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        if (resolve(t, cases[i].path, AL_WANT_READ, false, &p, NULL) != AL_OK)
            fail_msg("%s", cases[i].path);
        assert_int_equal(p.kind, cases[i].kind);
        assert_string_equal(p.rel, cases[i].rel);
        if (cases[i].shown) {
            assert_string_equal(p.path, cases[i].shown);
            assert_string_equal(p.shown, cases[i].shown);
        }
    }
    assert_int_equal(resolve(t, "a\n\x1b[31mb", AL_WANT_READ, false, &p, NULL), AL_OK);
    assert_string_equal(p.path, "a\n\x1b[31mb");
    assert_null(strpbrk(p.shown, "\n\x1b"));
    autofree char *inside = join(t->ws, "src/./a.c"), *added = join(t->more, "sub/x");
    assert_int_equal(resolve(t, inside, AL_WANT_READ, false, &p, NULL), AL_OK);
    assert_int_equal(p.kind, AL_PLACE_WORKSPACE);
    assert_string_equal(p.rel, "src/a.c");
    assert_int_equal(p.dir_fd, al_workspace_fd(t->w));
    assert_int_equal(resolve(t, added, AL_WANT_WRITE, false, &p, NULL), AL_OK);
    assert_int_equal(p.kind, AL_PLACE_ADDED);
    assert_string_equal(p.rel, "sub/x");
    assert_string_equal(p.path, added);
    assert_int_equal(resolve(t, t->ws, AL_WANT_LIST, false, &p, NULL), AL_OK);
    assert_string_equal(p.rel, ".");
}

static void an_absolute_path_through_the_link_of_the_cwd_is_inside(void **state)
{
    struct world *t = *state;
    autofree char *path = join(t->link, "src/a.c");
    struct al_place p;
    open_with(t, t->link, NULL, NULL, NULL);
    assert_string_equal(al_workspace_root(t->w), t->ws);
    assert_int_equal(resolve(t, path, AL_WANT_READ, false, &p, NULL), AL_OK);
    assert_string_equal(p.rel, "src/a.c");

    autofree char *was = getcwd(NULL, 0);
    assert_int_equal(chdir(t->link), 0);
    setenv("PWD", t->link, 1);
    open_with(t, NULL, NULL, NULL, NULL);
    assert_int_equal(resolve(t, path, AL_WANT_READ, false, &p, NULL), AL_OK);
    assert_string_equal(p.rel, "src/a.c");
    open_with(t, "src", NULL, NULL, NULL);
    assert_int_equal(resolve(t, path, AL_WANT_READ, false, &p, NULL), AL_OK);
    assert_string_equal(p.rel, "a.c");

    setenv("PWD", t->home, 1); /* a lie is not believed */
    open_with(t, NULL, NULL, NULL, NULL);
    autofree char *lie = join(t->home, "x");
    assert_int_equal(resolve(t, lie, AL_WANT_READ, false, &p, NULL), AL_PATH_OUTSIDE_WORKSPACE);
    assert_int_equal(chdir(was), 0);
}

static void what_lies_outside_is_refused_and_a_person_may_name_it(void **state)
{
    struct world *t = *state;
    open_with(t, t->ws, NULL, NULL, NULL);
    autofree char *sibling = join(t->top, "ws2/x"), *home = join(t->home, "x"),
                  *through = join(t->ws, "../home/x");
    const char *const outside[] = {"../x",  "src/../../x", "/",     "/etc/passwd",
                                   sibling, home,          through, "../../../../.."};
    struct al_place p;
    struct al_err err;
    for (size_t i = 0; i < sizeof(outside) / sizeof(*outside); i++) {
        assert_int_equal(resolve(t, outside[i], AL_WANT_READ, false, &p, &err), AL_PATH_OUTSIDE_WORKSPACE);
        assert_non_null(strstr(err.hint, "--add-dir"));
        assert_int_equal(resolve(t, outside[i], AL_WANT_READ, true, &p, &err), AL_OK);
        assert_int_equal(p.kind, AL_PLACE_OUTSIDE);
    }
    assert_int_equal(resolve(t, "/etc/passwd", AL_WANT_READ, true, &p, NULL), AL_OK);
    assert_string_equal(p.rel, "etc/passwd");
    assert_string_equal(p.shown, "/etc/passwd");
    autofd int fd = -1;
    assert_int_equal(al_path_open(p.dir_fd, p.rel, O_RDONLY, 0, p.shown, &fd, &err), 0);
    assert_int_equal(al_workspace_check_fd(t->w, &p, fd, AL_WANT_READ, &err), 0);
}

static void links_on_the_way_to_a_typed_path_are_followed(void **state)
{
    struct world *t = *state;
    make_link(t->more, t->home, "there"); /* absolute */
    make_file(t->more, "x");
    open_with(t, t->ws, NULL, NULL, NULL);
    autofree char *path = join(t->home, "there/x"), *fresh = join(t->home, "there/sub/new");
    struct al_place p;
    assert_int_equal(resolve(t, path, AL_WANT_READ, true, &p, NULL), AL_OK);
    autofd int fd = -1;
    struct al_err err;
    assert_int_equal(al_path_open(p.dir_fd, p.rel, O_RDONLY, 0, p.shown, &fd, &err), 0);
    assert_string_equal(p.shown, path);
    assert_int_equal(resolve(t, fresh, AL_WANT_WRITE, true, &p, NULL), AL_OK);
    autofree char *want = join(t->more, "sub/new");
    assert_string_equal(p.rel, want + 1);
}

static void a_broken_path_is_invalid_input(void **state)
{
    struct world *t = *state;
    open_with(t, t->ws, NULL, NULL, NULL);
    struct al_place p;
    struct al_err err;
    char long_name[300], long_path[5000];
    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = 0;
    for (size_t i = 0; i < sizeof(long_path); i++)
        long_path[i] = i % 2 ? '/' : 'x';
    long_path[sizeof(long_path) - 1] = 0;
    assert_int_equal(resolve(t, "", AL_WANT_READ, true, &p, NULL), AL_INVALID_INPUT);
    assert_int_equal(resolve(t, long_name, AL_WANT_READ, true, &p, NULL), AL_INVALID_INPUT);
    assert_int_equal(resolve(t, long_path, AL_WANT_READ, true, &p, NULL), AL_INVALID_INPUT);
    assert_int_equal(al_workspace_resolve(t->w, AL_STR("a\0b"), AL_WANT_READ, true, &t->arena, &p, &err), -1);
    assert_int_equal(err.code, AL_INVALID_INPUT);
    autoarena struct al_arena tiny = AL_ARENA_INIT(2);
    assert_int_equal(al_workspace_resolve(t->w, AL_STR("abcdef"), AL_WANT_READ, true, &tiny, &p, &err), -1);
    assert_int_equal(err.code, AL_INVALID_INPUT);
}

static int fd_of_scratch(void *ud, struct al_err *err)
{
    int *fd = ud;
    return *fd >= 0 ? *fd : al_fail(err, AL_QUOTA_EXCEEDED, "no scratchpad today");
}

static void scratch_paths_stay_in_the_scratchpad(void **state)
{
    struct world *t = *state;
    open_with(t, t->ws, NULL, NULL, NULL);
    struct al_place p;
    struct al_err err;
    assert_int_equal(resolve(t, "scratch:x", AL_WANT_READ, false, &p, &err), AL_NOT_FOUND);
    assert_non_null(strstr(err.hint, "forge.scratch.enabled"));
    autofd int fd = open(t->more, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    al_workspace_set_scratch(t->w, fd);
    assert_int_equal(resolve(t, "scratch:out//./plan.js", AL_WANT_WRITE, false, &p, NULL), AL_OK);
    assert_int_equal(p.kind, AL_PLACE_SCRATCH);
    assert_int_equal(p.dir_fd, fd);
    assert_string_equal(p.rel, "out/plan.js");
    assert_string_equal(p.shown, "scratch:out/plan.js");
    assert_int_equal(resolve(t, "scratch:", AL_WANT_LIST, false, &p, NULL), AL_OK);
    assert_string_equal(p.rel, ".");
    assert_int_equal(resolve(t, "scratch:..x/y..", AL_WANT_LIST, false, &p, NULL), AL_OK);
    assert_int_equal(resolve(t, "scratch:AGENTS.md", AL_WANT_WRITE, false, &p, NULL), AL_OK);
    const char *const bad[] = {"scratch:..", "scratch:../x", "scratch:a/../b", "scratch:a/..", "scratch:/x"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(resolve(t, bad[i], AL_WANT_READ, true, &p, NULL), AL_INVALID_INPUT);
    int source = -1;
    al_workspace_set_scratch(t->w, -1);
    al_workspace_set_scratch_source(t->w, fd_of_scratch, &source);
    assert_int_equal(resolve(t, "scratch:x", AL_WANT_READ, false, &p, NULL), AL_QUOTA_EXCEEDED);
    source = fd;
    assert_int_equal(resolve(t, "scratch:x", AL_WANT_READ, false, &p, NULL), AL_OK);
    assert_int_equal(p.dir_fd, fd);
}

/* --- roots --- */

static void check_refused(struct world *t, const char *cwd)
{
    open_with(t, cwd, NULL, NULL, NULL);
    struct al_err err = {.code = AL_OK};
    struct al_place p;
    if (!al_workspace_refused(t->w, &err))
        fail_msg("%s is a workspace", cwd);
    assert_int_equal(err.code, AL_PERMISSION_DENIED);
    assert_non_null(strstr(err.hint, "--cwd DIR"));
    assert_int_equal(al_workspace_fd(t->w), -1);
    assert_int_equal(resolve(t, "x", AL_WANT_READ, true, &p, NULL), AL_PERMISSION_DENIED);
    assert_int_equal(resolve(t, "/etc/passwd", AL_WANT_READ, true, &p, NULL), AL_OK);
}

static void some_folders_are_no_workspace(void **state)
{
    struct world *t = *state;
    autofree char *in_state = join(t->state, "scratch");
    make_dir(t->state, "scratch");
    make_dir(t->home, ".config");
    check_refused(t, "/");
    check_refused(t, t->home);
    check_refused(t, t->top);   /* holds the state folder */
    check_refused(t, t->state); /* is it */
    check_refused(t, in_state); /* is a part of it */
    autofree char *config =
        join(t->home, ".config"); /* would hold the config folder, which is not made yet */
    check_refused(t, config);
    open_with(t, t->ws, NULL, NULL, NULL);
    assert_false(al_workspace_refused(t->w, NULL));
}

static void a_scratchpad_works_in_a_refused_folder(void **state)
{
    struct world *t = *state;
    open_with(t, t->home, NULL, NULL, NULL);
    al_workspace_set_scratch(t->w, 0);
    struct al_place p;
    assert_int_equal(resolve(t, "scratch:x", AL_WANT_READ, false, &p, NULL), AL_OK);
}

static void an_added_folder_must_be_one_that_may_be_touched(void **state)
{
    struct world *t = *state;
    const char *const bad[] = {"/", t->home, t->state, "/does/not/exist"};
    const char *forbidden[] = {t->state, t->config, NULL};
    for (size_t i = 0; i < 4; i++) {
        const char *add[] = {bad[i], NULL};
        struct al_workspace_opts o = {.cwd = t->ws, .add_dirs = add, .forbidden = forbidden};
        struct al_workspace *w = NULL;
        struct al_err err = {.code = AL_OK};
        assert_int_equal(al_workspace_open(&o, &w, &err), -1);
        assert_null(w);
        assert_int_equal(err.code, i < 3 ? AL_PERMISSION_DENIED : AL_NOT_FOUND);
        assert_non_null(strstr(err.msg, "--add-dir"));
    }
    struct al_workspace_opts o = {.cwd = "/does/not/exist"};
    struct al_workspace *w = NULL;
    struct al_err err = {.code = AL_OK};
    assert_int_equal(al_workspace_open(&o, &w, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
}

/* --- names --- */

static const struct {
    const char *rel;
    bool secret, protected;
} names[] = {
    {".", false, false},
    {"src/a.c", false, false},
    {".env", true, false},
    {".env.local", true, false},
    {"deploy/.ENV.production", true, false},
    {".env.example", false, false},
    {"a/.env.example", false, false},
    {".environment", true, false},
    {"env", false, false},
    {"x.env", false, false},
    {"certs/server.pem", true, false},
    {"server.PEM", true, false},
    {"server.pem.txt", false, false},
    {"tls.key", true, false},
    {"tls.\xe2\x84\xaa"
     "ey",
     true, false}, /* the Kelvin sign */
    {"keyboard.c", false, false},
    {"id_rsa", true, false},
    {"home/.ssh/id_ed25519", true, false},
    {"grid_x", false, false},
    {".npmrc", true, false},
    {".netrc", true, false},
    {".pypirc", true, false},
    {"a.kdbx", true, false},
    {".git/config", true, true},
    {".GIT/Config", true, true},
    {"sub/.git/config", true, true},
    {".git/config.worktree", true, true},
    {".git/modules/lib/config", true, true},
    {".git/modules/a/modules/b/Config", true, true},
    {".git/worktrees/w/config.worktree", true, true},
    {"sub/.git/modules/lib/config", true, true},
    {"git~1/modules/lib/config", true, true},
    {".git/modules/lib/config.lock", false, true},
    {"modules/lib/config", false, false},
    {"config", false, false},
    {".git-credentials", true, false},
    {".git/HEAD", false, true},
    {".git", false, true},
    {"GIT~1/hooks/x", false, true},
    {".gitignore", false, false},
    {"sub/.git/hooks/pre-commit", false, true},
    {".github", false, false},
    {".github/workflows", false, true},
    {".github/workflows/ci.yml", false, true},
    {".GitHub/Workflows/ci.yml", false, true},
    {"a/.github/workflows/ci.yml", false, true},
    {".github/actions/workflows", false, false},
    {"github/workflows/ci.yml", false, false},
    {"workflows/.github", false, false},
    {".alisio/config.json", false, true},
    {".mcp.json", false, true},
    {".claude/settings.json", false, true},
    {".codex/x", false, true},
    {".cursor/x", false, true},
    {".gemini/x", false, true},
    {".vscode/tasks.json", false, true},
    {".v\xc5\xbf"
     "code/tasks.json",
     false, true}, /* long s */
    {".idea/x", false, true},
    {".husky/x", false, true},
    {".envrc", true, true},
    {"AGENTS.md", false, true},
    {"docs/agents.MD", false, true},
    {"CLAUDE.md", false, true},
    {"CLAUDE.md.bak", false, false},
};

static void names_are_secret_or_protected_at_any_depth_in_any_case(void **state)
{
    struct world *t = *state;
    open_with(t, t->ws, NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct al_place p;
        if (al_workspace_is_secret(t->w, names[i].rel) != names[i].secret)
            fail_msg("%s: secret", names[i].rel);
        if (al_workspace_is_protected(t->w, names[i].rel) != names[i].protected)
            fail_msg("%s: protected", names[i].rel);
        assert_int_equal(resolve(t, names[i].rel, AL_WANT_READ, false, &p, NULL),
                         names[i].secret ? AL_PATH_SECRET : AL_OK);
        assert_int_equal(resolve(t, names[i].rel, AL_WANT_WRITE, false, &p, NULL),
                         names[i].protected ? AL_PATH_PROTECTED : AL_OK);
        assert_int_equal(resolve(t, names[i].rel, AL_WANT_LIST, false, &p, NULL), AL_OK);
    }
    struct al_place p;
    assert_int_equal(resolve(t, "/nowhere/.env", AL_WANT_READ, true, &p, NULL), AL_PATH_SECRET);
    assert_int_equal(resolve(t, "/nowhere/.git/hooks/x", AL_WANT_WRITE, true, &p, NULL), AL_PATH_PROTECTED);
    assert_int_equal(resolve(t, "src/../.git/./config", AL_WANT_READ, false, &p, NULL), AL_PATH_SECRET);
}

static void the_user_adds_and_lifts_names(void **state)
{
    struct world *t = *state;
    const char *const secret[] = {
        "!id_*", "!.env.test", "secrets.y*ml", "conf/prod", "*/deeper", ".env.example",
        "",      "!",          "a/**/b/*.tok", "**/x.cert", "vault/**", NULL};
    const char *const protect[] = {"!agents.md", "/deploy/", "!.github/workflows", NULL};
    open_with(t, t->ws, NULL, protect, secret);
    assert_false(al_workspace_is_secret(t->w, "id_rsa"));
    assert_false(al_workspace_is_secret(t->w, ".env.test"));
    assert_true(al_workspace_is_secret(t->w, ".env"));
    assert_true(al_workspace_is_secret(t->w, "a/Secrets.yaml"));
    assert_true(al_workspace_is_secret(t->w, "conf/prod/x"));
    assert_false(al_workspace_is_secret(t->w, "conf/x/prod"));
    assert_true(al_workspace_is_secret(t->w, ".env.example"));
    assert_true(al_workspace_is_secret(t->w, "a/deeper"));
    assert_false(al_workspace_is_secret(t->w, "deeper"));
    assert_true(al_workspace_is_secret(t->w, "a/b/1.tok"));
    assert_true(al_workspace_is_secret(t->w, "z/a/b/c/d/b/1.tok"));
    assert_true(al_workspace_is_secret(t->w, "a/b/b/1.tok"));
    assert_false(al_workspace_is_secret(t->w, "b/1.tok"));
    assert_false(al_workspace_is_secret(t->w, "a/b/c/1.tok"));
    assert_true(al_workspace_is_secret(t->w, "x.cert"));
    assert_true(al_workspace_is_secret(t->w, "y/x.cert"));
    assert_true(al_workspace_is_secret(t->w, "vault/y"));
    assert_true(al_workspace_is_secret(t->w, "vault"));
    assert_false(al_workspace_is_protected(t->w, "AGENTS.md"));
    assert_true(al_workspace_is_protected(t->w, "deploy/x"));
    assert_false(al_workspace_is_protected(t->w, ".github/workflows/ci.yml"));
    assert_true(al_workspace_is_protected(t->w, "CLAUDE.md"));
}

/* --- links --- */

static enum al_code open_and_check(struct world *t, const char *path, enum al_want want)
{
    struct al_place p;
    struct al_err err = {.code = AL_OK};
    if (resolve(t, path, want, false, &p, &err) != AL_OK)
        return err.code;
    autofd int fd = -1;
    const char *name = NULL;
    int r = want == AL_WANT_WRITE ? al_path_open_parent(p.dir_fd, p.rel, false, p.shown, &fd, &name, &err)
                                  : al_path_open(p.dir_fd, p.rel, O_RDONLY, 0, p.shown, &fd, &err);
    if (r == 0 && al_workspace_check_fd(t->w, &p, fd, want, &err) < 0)
        assert_non_null(strstr(err.msg, path));
    return err.code;
}

static void a_link_to_a_secret_or_protected_place_is_found_out(void **state)
{
    struct world *t = *state;
    make_file(t->ws, ".env");
    make_file(t->ws, "plain.txt");
    make_file(t->ws, ".git/config");
    make_link(".env", t->ws, "notes.txt");
    make_link("plain.txt", t->ws, "fine.txt");
    make_link(".git", t->ws, "docs");
    make_link(".github", t->ws, "hub");
    make_dir(t->ws, ".github/workflows");
    open_with(t, t->ws, NULL, NULL, NULL);
    assert_int_equal(open_and_check(t, "notes.txt", AL_WANT_READ), AL_PATH_SECRET);
    assert_int_equal(open_and_check(t, "fine.txt", AL_WANT_READ), AL_OK);
    assert_int_equal(open_and_check(t, "docs/config", AL_WANT_READ), AL_PATH_SECRET);
    assert_int_equal(open_and_check(t, "docs/hooks/pre-commit", AL_WANT_WRITE), AL_PATH_PROTECTED);
    assert_int_equal(open_and_check(t, "docs/new", AL_WANT_WRITE), AL_PATH_PROTECTED);
    assert_int_equal(open_and_check(t, "hub/workflows/ci.yml", AL_WANT_WRITE), AL_PATH_PROTECTED);
    assert_int_equal(open_and_check(t, "hub/workflows", AL_WANT_WRITE), AL_PATH_PROTECTED);
    assert_int_equal(open_and_check(t, "hub/other", AL_WANT_WRITE), AL_OK);
    assert_int_equal(open_and_check(t, "src/new.c", AL_WANT_WRITE), AL_OK);
}

static void a_file_that_moved_out_meanwhile_is_outside(void **state)
{
    struct world *t = *state;
    make_file(t->ws, "plain.txt");
    open_with(t, t->ws, NULL, NULL, NULL);
    struct al_place p;
    struct al_err err = {.code = AL_OK};
    assert_int_equal(resolve(t, "plain.txt", AL_WANT_READ, false, &p, NULL), AL_OK);
    autofd int fd = -1;
    assert_int_equal(al_path_open(p.dir_fd, p.rel, O_RDONLY, 0, p.shown, &fd, &err), 0);
    autofree char *from = join(t->ws, "plain.txt"), *to = join(t->more, "plain.txt");
    assert_int_equal(rename(from, to), 0);
    assert_int_equal(al_workspace_check_fd(t->w, &p, fd, AL_WANT_READ, &err), -1);
    assert_int_equal(err.code, AL_PATH_OUTSIDE_WORKSPACE);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_path_is_mapped_to_its_place),
        CASE(an_absolute_path_through_the_link_of_the_cwd_is_inside),
        CASE(what_lies_outside_is_refused_and_a_person_may_name_it),
        CASE(links_on_the_way_to_a_typed_path_are_followed),
        CASE(a_broken_path_is_invalid_input),
        CASE(scratch_paths_stay_in_the_scratchpad),
        CASE(some_folders_are_no_workspace),
        CASE(a_scratchpad_works_in_a_refused_folder),
        CASE(an_added_folder_must_be_one_that_may_be_touched),
        CASE(names_are_secret_or_protected_at_any_depth_in_any_case),
        CASE(the_user_adds_and_lifts_names),
        CASE(a_link_to_a_secret_or_protected_place_is_found_out),
        CASE(a_file_that_moved_out_meanwhile_is_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
