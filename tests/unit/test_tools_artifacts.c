/* artifact_create, _list, _read and _export. Tables go through the data engine: tests/integration/artifacts
 * has them. */
#include "test.h"

#include "tools_world.h"

#include "artifact/artifact.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int set_up(void **state)
{
    struct world *w = al_xcalloc(1, sizeof *w);
    world_open(w, &(struct world_opts){.policy = {.allow_write = true}});
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    world_close(*state);
    free(*state);
    return 0;
}

static char *text_of(const struct reply *r, const char *path)
{
    const struct al_json *v = at(r, path);
    assert_true(al_json_is_string(v));
    return al_xdup(v->str.p, v->str.n);
}

/* Its id, malloc'ed. */
static char *create(struct world *w, const char *args)
{
    struct reply r = call_as(w, AL_ORIGIN_MCP, "artifact_create", args);
    assert_code(&r, AL_OK);
    char *id = text_of(&r, "id");
    reply_free(&r);
    return id;
}

/* A folder as an artifact, the way that a script leaves one. */
static char *publish(struct world *w, const char *const *files, const char *execution)
{
    char dir[128], path[256];
    char *id = NULL;
    snprintf(dir, sizeof dir, "%s/staging-%s", w->dir, execution);
    assert_int_equal(mkdir(dir, 0700), 0);
    for (size_t i = 0; files[i]; i += 2) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        for (char *s = path + strlen(dir) + 1; (s = strchr(s, '/')); s++) {
            *s = 0;
            assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
            *s = '/';
        }
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        assert_int_equal(al_fd_write_all(fd, al_str_of(files[i + 1])), 0);
        close(fd);
    }
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct al_publish_spec spec = {.state_dir = w->state,
                                   .workspace = al_workspace_root(al_core_workspace(w->core)),
                                   .session = al_core_session(w->core)->id,
                                   .execution = execution,
                                   .staging_fd = fd,
                                   .limits = {100, 1u << 20, 1u << 20},
                                   .provenance = AL_STR("{}")};
    struct al_publication p = {0};
    struct al_err err;
    if (al_publish_build(&spec, &p, &err) < 0 || al_publish_commit(&p, w->store, 1u << 30, &err) < 0)
        fail_msg("%s", err.msg);
    assert_true(p.n >= 1);
    id = al_xstrdup(p.list[0].id);
    al_publication_fini(&p);
    close(fd);
    return id;
}

static unsigned n_entries(const char *dir)
{
    unsigned n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

/* --- create and list --- */

static void text_becomes_an_artifact(void **state)
{
    struct world *w = *state;
    char staging[160];
    snprintf(staging, sizeof staging, "%s/analysis/staging", w->state);
    struct reply r = call_as(w, AL_ORIGIN_MCP, "artifact_create",
                             "{\"fileName\":\"report.md\",\"title\":\"Last week\",\"text\":\"# Hello\\n\"}");
    assert_code(&r, AL_OK);
    assert_text_at(&r, "title", "Last week");
    assert_text_at(&r, "fileName", "report.md");
    assert_text_at(&r, "kind", "document");
    assert_text_at(&r, "mimeType", "text/markdown");
    assert_int_equal(int_at(&r, "bytes"), 8);
    assert_int_equal(int_at(&r, "files"), 1);
    assert_has(r.text, "published report.md (document, 8 B, art_");
    reply_free(&r);
    assert_int_equal(n_entries(staging), 0);
    r = call_as(w, AL_ORIGIN_MCP, "artifact_create",
                "{\"fileName\":\"a.html\",\"text\":\"<html><script "
                "src='https://cdn.example/x.js'></script></html>\"}");
    assert_code(&r, AL_OK);
    assert_non_null(at(&r, "warnings.0"));
    assert_has(r.text, "warning:");
    reply_free(&r);
}

static void a_name_is_a_plain_one(void **state)
{
    struct world *w = *state;
    static const char *const bad[] = {"a/b.md", "..", ".hidden", "a\\\\b", "a\\nb", "\\u0000", "x\\u007f"};
    char args[256];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(args, sizeof args, "{\"fileName\":\"%s\",\"text\":\"x\"}", bad[i]);
        struct reply r = call_as(w, AL_ORIGIN_MCP, "artifact_create", args);
        assert_code(&r, AL_TOOL_INPUT_INVALID);
        assert_has(r.msg, "fileName");
        reply_free(&r);
    }
    autobuf struct al_buf long_name = AL_BUF_INIT(4096);
    al_buf_adds(&long_name, "{\"text\":\"x\",\"fileName\":\"");
    for (int i = 0; i < 100; i++) /* 200 characters fit, but not their bytes */
        al_buf_adds(&long_name, "\xe2\x82\xac\xe2\x82\xac");
    al_buf_adds(&long_name, "\"}");
    al_buf_addc(&long_name, 0);
    struct reply r = call_as(w, AL_ORIGIN_MCP, "artifact_create", long_name.p);
    assert_code(&r, AL_TOOL_INPUT_INVALID);
    reply_free(&r);
    r = call_as(w, AL_ORIGIN_MCP, "artifact_list", "{}");
    assert_code(&r, AL_OK);
    assert_has(r.text, "there are no artifacts yet");
    reply_free(&r);
}

static void what_a_killed_host_was_making_is_removed(void **state)
{
    struct world *w = *state;
    char staging[160], left[256], own[256];
    free(create(w, "{\"fileName\":\"a.md\",\"text\":\"x\"}"));
    snprintf(staging, sizeof staging, "%s/analysis/staging", w->state);
    snprintf(left, sizeof left, "%s/01JDZ0000000000000000000A1.new_x", staging);
    snprintf(own, sizeof own, "%s/%s.new_x", staging, al_store_host_id(w->store));
    assert_int_equal(mkdir(left, 0700), 0);
    assert_int_equal(mkdir(own, 0700), 0);
    free(create(w, "{\"fileName\":\"b.md\",\"text\":\"x\"}"));
    assert_int_equal(access(left, F_OK), -1);
    assert_int_equal(access(own, F_OK), 0);
}

static void the_list_is_bounded_and_newest_first(void **state)
{
    struct world *w = *state;
    autofree char *a = create(w, "{\"fileName\":\"a.md\",\"text\":\"1\"}");
    autofree char *b = create(w, "{\"fileName\":\"b.json\",\"text\":\"{}\"}");
    autofree char *c = create(w, "{\"fileName\":\"c.md\",\"title\":\"With\\u202e title\",\"text\":\"3\"}");
    struct reply r = call_as(w, AL_ORIGIN_SCRIPT, "artifact_list", "{\"limit\":2}");
    assert_text_at(&r, "artifacts.0.id", c);
    assert_text_at(&r, "artifacts.1.id", b);
    assert_text_at(&r, "artifacts.1.status", "ready");
    assert_null(at(&r, "artifacts.2"));
    assert_true(al_json_is_true(at(&r, "truncated")));
    assert_has(r.text, "With\\u202e title");
    assert_has(r.text, "older ones are not shown");
    reply_free(&r);
    r = call_as(w, AL_ORIGIN_SCRIPT, "artifact_list", "{\"kind\":\"document\"}");
    assert_text_at(&r, "artifacts.1.id", a);
    assert_null(at(&r, "artifacts.2"));
    reply_free(&r);
    r = call_as(w, AL_ORIGIN_SCRIPT, "artifact_list", "{\"limit\":101}");
    assert_code(&r, AL_TOOL_INPUT_INVALID);
    reply_free(&r);
}

static void read_only_takes_away_what_publishes(void **state)
{
    struct world *w = *state;
    autofree char *id = create(w, "{\"fileName\":\"a.md\",\"text\":\"1\"}");
    (void)id;
    struct world r = {0};
    world_open(&r, &(struct world_opts){.policy = {.read_only = true, .allow_write = true}});
    assert_null(al_core_tool(r.core, AL_STR("artifact_create")));
    assert_null(al_core_tool(r.core, AL_STR("artifact_export")));
    assert_non_null(al_core_tool(r.core, AL_STR("artifact_list")));
    assert_non_null(al_core_tool(r.core, AL_STR("artifact_read")));
    world_close(&r);
    world_open(&r, &(struct world_opts){.config = "{\"analysis\":{\"enabled\":false}}"});
    assert_null(al_core_tool(r.core, AL_STR("artifact_list")));
    world_close(&r);
}

/* --- read --- */

static void text_is_read_up_to_a_whole_character(void **state)
{
    struct world *w = *state;
    autofree char *id = create(w, "{\"fileName\":\"a.md\",\"text\":\"a\\u20ac\\u20acb\"}");
    struct reply r = call(w, "artifact_read", "{\"id\":\"%s\"}", id);
    assert_code(&r, AL_OK);
    assert_string_equal(r.text, "a\xe2\x82\xac\xe2\x82\xac"
                                "b");
    assert_false(al_json_is_true(at(&r, "truncated")));
    reply_free(&r);
    r = call(w, "artifact_read", "{\"id\":\"%s\",\"maxBytes\":6}", id);
    assert_text_at(&r, "text", "a\xe2\x82\xac");
    assert_int_equal(int_at(&r, "shownBytes"), 4);
    assert_int_equal(int_at(&r, "bytes"), 8);
    assert_true(al_json_is_true(at(&r, "truncated")));
    assert_has(r.text, "[cut here: 4 of 8 bytes are shown]");
    reply_free(&r);
    r = call(w, "artifact_read", "{\"id\":\"%s\",\"path\":\"none.txt\"}", id);
    assert_code(&r, AL_NOT_FOUND);
    assert_has(r.hint, "a.md");
    reply_free(&r);
    r = call(w, "artifact_read", "{\"id\":\"%s\",\"path\":\"../../../../sessions.sqlite\"}", id);
    assert_code(&r, AL_NOT_FOUND);
    reply_free(&r);
}

static void an_id_is_that_of_an_artifact_here(void **state)
{
    struct world *w = *state;
    static const char *const ids[] = {"x", "art_01JDZ0000000000000000000A1", "ds_01JDZ0000000000000000000A1",
                                      "../x"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct reply r = call(w, "artifact_read", "{\"id\":\"%s\"}", ids[i]);
        assert_code(&r, AL_NOT_FOUND);
        assert_has(r.msg, ids[i]);
        assert_has(r.hint, "artifact_list");
        reply_free(&r);
    }
}

static void an_image_is_its_size_and_other_files_are_told(void **state)
{
    struct world *w = *state;
    static const unsigned char png[] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0,   13, 'I', 'H',
                                        'D',  'R', 0,   0,   1,  0,  0,  0,  0, 2, 8,   6,  0,   0,
                                        0,    1,   2,   3,   4,  0,  0,  0,  0, 0, 'I', 'D'};
    char dir[128], path[160];
    snprintf(dir, sizeof dir, "%s/images", w->dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    snprintf(path, sizeof path, "%s/p.png", dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(al_fd_write_all(fd, (struct al_str){(const char *)png, sizeof png}), 0);
    close(fd);
    snprintf(path, sizeof path, "%s/z.bin", dir);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(al_fd_write_all(fd, (struct al_str){"a\0b", 3}), 0);
    close(fd);
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct al_publish_spec spec = {.state_dir = w->state,
                                   .workspace = al_workspace_root(al_core_workspace(w->core)),
                                   .session = al_core_session(w->core)->id,
                                   .staging_fd = fd,
                                   .limits = {100, 1u << 20, 1u << 20},
                                   .provenance = AL_STR("{}")};
    struct al_publication p = {0};
    struct al_err err;
    if (al_publish_build(&spec, &p, &err) < 0 || al_publish_commit(&p, w->store, 1u << 30, &err) < 0)
        fail_msg("%s", err.msg);
    close(fd);
    assert_int_equal(p.n, 2);
    bool first = strcmp(p.list[0].file_name, "p.png") == 0;
    struct reply r = call(w, "artifact_read", "{\"id\":\"%s\"}", p.list[first ? 0 : 1].id);
    assert_code(&r, AL_OK);
    assert_int_equal(int_at(&r, "width"), 256);
    assert_int_equal(int_at(&r, "height"), 2);
    assert_has(r.text, "p.png: image/png, 256 \xc3\x97 2 pixels, ");
    reply_free(&r);
    r = call(w, "artifact_read", "{\"id\":\"%s\"}", p.list[first ? 1 : 0].id);
    assert_code(&r, AL_TOOL_ERROR);
    assert_has(r.msg, "z.bin is not a text file");
    assert_has(r.hint, "artifact_export");
    reply_free(&r);
    al_publication_fini(&p);
}

/* --- export --- */

static const char *const site[] = {
    "site/index.html", "<html>1</html>", "site/js/app.js", "let a", "site/a.css", "b{}", NULL};

static void a_file_and_a_folder_are_copied(void **state)
{
    struct world *w = *state;
    autofree char *one = create(w, "{\"fileName\":\"a.md\",\"text\":\"one\"}");
    autofree char *many = publish(w, site, "exec_01JDZ0000000000000000000A1");
    struct reply r = call(w, "artifact_export", "{\"id\":\"%s\",\"target\":\"out\\\\deep\"}", one);
    assert_code(&r, AL_OK);
    assert_text_at(&r, "files.0", "out/deep/a.md");
    assert_has(r.text, "\nout/deep/a.md\n");
    reply_free(&r);
    autofree char *copied = get(w, "out/deep/a.md");
    assert_string_equal(copied, "one");
    r = call(w, "artifact_export", "{\"id\":\"%s\",\"target\":\".\"}", many);
    assert_code(&r, AL_OK);
    assert_true(there(w, "site/index.html") && there(w, "site/js/app.js") && there(w, "site/a.css"));
    assert_int_equal(int_at(&r, "bytes"), 22);
    reply_free(&r);
    char path[256];
    struct stat st;
    snprintf(path, sizeof path, "%s/site/index.html", w->work);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
}

static void everything_is_checked_before_the_first_copy(void **state)
{
    struct world *w = *state;
    autofree char *many = publish(w, site, "exec_01JDZ0000000000000000000A1");
    put(w, "site/js/app.js", "mine");
    struct reply r = call(w, "artifact_export", "{\"id\":\"%s\",\"target\":\".\"}", many);
    assert_code(&r, AL_TOOL_ERROR);
    assert_has(r.msg, "site/js/app.js: is there already; nothing was copied");
    assert_has(r.hint, "overwrite");
    assert_false(there(w, "site/index.html"));
    reply_free(&r);
    r = call(w, "artifact_export", "{\"id\":\"%s\",\"target\":\".\",\"overwrite\":true}", many);
    assert_code(&r, AL_OK);
    reply_free(&r);
    autofree char *replaced = get(w, "site/js/app.js");
    assert_string_equal(replaced, "let a");
}

static void destinations_are_confined(void **state)
{
    struct world *w = *state;
    autofree char *id = create(w, "{\"fileName\":\"a.md\",\"text\":\"one\"}");
    autofree char *agents = create(w, "{\"fileName\":\"AGENTS.md\",\"text\":\"obey\"}");
    sh(w, "ln -s /tmp outside; ln -s a.txt a.md; mkdir sub; ln -s ../.git sub/x; mkdir sub/a.md");
    static const struct {
        const char *target;
        enum al_code code;
    } cases[] = {
        {"..", AL_PATH_OUTSIDE_WORKSPACE},
        {"/tmp", AL_PATH_OUTSIDE_WORKSPACE},
        {"outside", AL_PATH_OUTSIDE_WORKSPACE},
        {".git/hooks", AL_PATH_PROTECTED},
        {".github/workflows", AL_PATH_PROTECTED},
        {".claude", AL_PATH_PROTECTED},
        {"sub", AL_TOOL_ERROR},
        {".", AL_TOOL_ERROR},
        {"scratch:x", AL_INVALID_INPUT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reply r = call(w, "artifact_export", "{\"id\":\"%s\",\"target\":\"%s\",\"overwrite\":true}",
                              id, cases[i].target);
        if (r.code != cases[i].code)
            fail_msg("%s: %s: %s", cases[i].target, al_code_name(r.code), r.msg);
        reply_free(&r);
    }
    struct reply r = call(w, "artifact_export", "{\"id\":\"%s\",\"target\":\".\"}", agents);
    assert_code(&r, AL_PATH_PROTECTED);
    reply_free(&r);
    assert_false(there(w, "AGENTS.md"));
    assert_int_equal(access("/tmp/a.md", F_OK), -1);
}

/* Files that each are fine, and together a repository that git would obey. */
static void a_repository_is_not_made_of_parts(void **state)
{
    struct world *w = *state;
    static const char *const bare[] = {"site/index.html", "x",      "site/HEAD",   "ref: refs/heads/main\n",
                                       "site/objects/x",  "x",      "site/refs/x", "x",
                                       "site/config",     "[core]", NULL};
    autofree char *id = publish(w, bare, "exec_01JDZ0000000000000000000A1");
    struct reply r = call(w, "artifact_export", "{\"id\":\"%s\",\"target\":\".\"}", id);
    assert_code(&r, AL_PATH_PROTECTED);
    reply_free(&r);
    assert_false(there(w, "site/HEAD") && there(w, "site/objects/x") && there(w, "site/refs/x"));
    assert_false(there(w, "site/index.html")); /* what had been copied was taken back */
}

static void the_gate_is_that_of_a_write(void **state)
{
    (void)state;
    struct world w = {0};
    world_open(&w, &(struct world_opts){.source = "mcp"});
    autofree char *id = create(&w, "{\"fileName\":\"a.md\",\"text\":\"one\"}");
    char args[128];
    snprintf(args, sizeof args, "{\"id\":\"%s\",\"target\":\".\"}", id);
    struct reply r = call_plain(&w, AL_ORIGIN_SCRIPT, "artifact_export", args);
    assert_code(&r, AL_APPROVAL_REQUIRED);
    assert_has(r.hint, "--allow-write");
    reply_free(&r);
    r = call_plain(&w, AL_ORIGIN_CLI, "artifact_export", args);
    assert_code(&r, AL_OK);
    reply_free(&r);
    world_close(&w);
}

int main(int argc, char **argv)
{
    world_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(text_becomes_an_artifact, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_name_is_a_plain_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_killed_host_was_making_is_removed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_list_is_bounded_and_newest_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(read_only_takes_away_what_publishes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(text_is_read_up_to_a_whole_character, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_id_is_that_of_an_artifact_here, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_image_is_its_size_and_other_files_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_and_a_folder_are_copied, set_up, tear_down),
        cmocka_unit_test_setup_teardown(everything_is_checked_before_the_first_copy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(destinations_are_confined, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_repository_is_not_made_of_parts, set_up, tear_down),
        cmocka_unit_test(the_gate_is_that_of_a_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
