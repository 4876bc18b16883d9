#include "test.h"

#include "tools_world.h"

#include "base/mem.h"
#include "base/text.h"
#include "sandbox/landlock.h"
#include "tools/git_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct world world;

#ifdef AL_ASAN /* a start of the sanitizers costs more than all else: one call for each way, with Landlock \
                  and without */
#define FIRST_CALL(i) ((i) % 3)
#define EACH_CALL 3
#define MANY_REFS "3000"
#else
#define FIRST_CALL(i) 0
#define EACH_CALL 1
#define MANY_REFS "30000"
#endif

#define GIT "git -c user.name=n -c user.email=e@x -c init.defaultBranch=main -c protocol.file.allow=always "

static int make_world(void **state)
{
    *state = &world;
    world_make(&world);
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
    setenv("HOME", world.dir, 1);
    return 0;
}

static int close_world(void **state)
{
    world_close(*state);
    return 0;
}

static void open_here(struct world *w, const char *sub)
{
    world_open(w, &(struct world_opts){.sub = sub});
}

/* --- pure parts --- */

static void status_is_taken_apart(void **state)
{
    (void)state;
    static const char in[] =
        "# branch.oid 25cd\0# branch.head ma in\0# branch.upstream o/main\0# branch.ab +2 -13\0"
        "1 .M N... 100644 100644 100644 45b9 45b9 sub/a b\0"
        "2 R. N... 100644 100644 100644 45b9 45b9 R100 sub/new\0sub/old\nname\0"
        "u UU N... 100644 100644 100644 100644 1 2 3 sub/c\0"
        "? sub/dir/\0! x\0";
    autobuf struct al_buf json = AL_BUF_INIT(1 << 20), text = AL_BUF_INIT(1 << 20);
    struct al_err err;
    assert_int_equal(
        al_git_status_json((struct al_str){in, sizeof in - 1}, AL_STR("sub/"), &json, &text, &err), 0);
    al_buf_addc(&json, 0);
    assert_string_equal(json.p,
                        "{\"branch\":\"ma in\",\"ahead\":2,\"behind\":13,\"entries\":["
                        "{\"path\":\"a b\",\"index\":\".\",\"worktree\":\"M\"},"
                        "{\"path\":\"new\",\"index\":\"R\",\"worktree\":\".\",\"from\":\"old\\nname\"},"
                        "{\"path\":\"c\",\"index\":\"U\",\"worktree\":\"U\"},"
                        "{\"path\":\"dir/\",\"index\":\"?\",\"worktree\":\"?\"}]}");
}

static void a_hostile_branch_name_is_shown_as_text(void **state)
{
    (void)state;
    static const char in[] = "# branch.head \xff\x1b[31m\xe2\x80\xae\0";
    autobuf struct al_buf json = AL_BUF_INIT(10000), text = AL_BUF_INIT(10000);
    struct al_err err;
    assert_int_equal(al_git_status_json((struct al_str){in, sizeof in - 1}, AL_STR(""), &json, &text, &err),
                     0);
    assert_true(al_utf8_valid(al_buf_str(&text)));
    assert_true(al_str_find(al_buf_str(&text), AL_STR("\x1b")) < 0);
    assert_true(al_str_find(al_buf_str(&text), AL_STR("\\x1b[31m\\u202e")) > 0);
}

static void counts_that_are_cut_are_unknown(void **state)
{
    (void)state;
    static const char *const heads[] = {"+", "+1", "+1 ", "+1 -", "+ -", "+ -1", "+1 2", "+1 -2x", "+x -1"};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        char in[64];
        int n = snprintf(in, sizeof in, "# branch.ab %s", heads[i]);
        char *exact = memcpy(malloc((size_t)n), in, (size_t)n); /* so that a read beyond the end is seen */
        autobuf struct al_buf json = AL_BUF_INIT(10000), text = AL_BUF_INIT(10000);
        struct al_err err;
        assert_int_equal(
            al_git_status_json((struct al_str){exact, (size_t)n}, AL_STR(""), &json, &text, &err), 0);
        if (al_str_find(al_buf_str(&json), AL_STR("\"ahead\":null,\"behind\":null")) < 0)
            fail_msg("%s: %.*s", heads[i], AL_FMT(al_buf_str(&json)));
        free(exact);
    }
}

static void numstat_is_taken_apart(void **state)
{
    (void)state;
    static const char in[] = "3\t1\ta\tb\0-\t-\tbin\0bad\0";
    struct al_str rest = {in, sizeof in - 1};
    struct al_git_numstat f;
    assert_true(al_git_numstat_next(&rest, &f));
    assert_int_equal(f.added, 3);
    assert_int_equal(f.removed, 1);
    assert_true(al_str_is(f.path, "a\tb"));
    assert_true(al_git_numstat_next(&rest, &f));
    assert_int_equal(f.added, -1);
    assert_false(al_git_numstat_next(&rest, &f));
}

static void programs_in_the_configuration_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *entry;
        const char *program; /* NULL: nothing that runs */
        const char *filter;
    } cases[] = {
        {"core.bare\nfalse", NULL, NULL},
        {"core.fsmonitor\ntrue", "core.fsmonitor", NULL},
        {"core.fsmonitor\n./x", "core.fsmonitor", NULL},
        {"core.fsmonitor\nfalse", NULL, NULL},
        {"core.fsmonitor", "core.fsmonitor", NULL},
        {"core.hookspath\n.husky", "core.hookspath", NULL},
        {"diff.external\nx", "diff.external", NULL},
        {"diff.pdf.textconv\nx", "diff.pdf.textconv", NULL},
        {"diff.pdf.command\nx", "diff.pdf.command", NULL},
        {"diff.renames\ntrue", NULL, NULL},
        {"filter.a.b=c.clean\nx", "filter.a.b=c.clean", "a.b=c"},
        {"filter.lfs.process\ngit-lfs", "filter.lfs.process", "lfs"},
        {"filter.x.required\ntrue", NULL, "x"},
        {"filter..clean\nx", "filter..clean", ""},
        {"remote.origin.promisor\ntrue", "remote.origin.promisor", NULL},
        {"alias.x\n!touch y", NULL, NULL},
        {"core.pager\nless", NULL, NULL},
        {"core.sshcommand\nssh -i key", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct al_buf filters[2] = {0};
        size_t n = 0;
        autobuf struct al_buf programs = AL_BUF_INIT(200);
        autobuf struct al_buf in = AL_BUF_INIT(500);
        al_buf_add(&in, "local", 6);
        al_buf_add(&in, cases[i].entry, strlen(cases[i].entry) + 1);
        struct al_str list = al_buf_str(&in);
        assert_int_equal(al_git_config_scan(list, filters, 2, &n, &programs), 0);
        if (!al_str_is(al_buf_str(&programs), cases[i].program ? cases[i].program : ""))
            fail_msg("%s: %.*s", cases[i].entry, AL_FMT(al_buf_str(&programs)));
        assert_int_equal(n, cases[i].filter ? 1 : 0);
        if (n > 0)
            assert_true(al_str_is(al_buf_str(&filters[0]), cases[i].filter));
        al_buf_free(&filters[0]);
        al_buf_free(&filters[1]);
    }
    struct al_buf filters[2] = {0};
    size_t n = 0;
    autobuf struct al_buf programs = AL_BUF_INIT(200);
    static const char ours[] = "command\0core.hookspath\n/dev/null\0command\0filter.x.clean\n";
    assert_int_equal(al_git_config_scan((struct al_str){ours, sizeof ours}, filters, 2, &n, &programs), 0);
    assert_int_equal(n + programs.n, 0);
    static const char three[] =
        "local\0filter.a.clean\nx\0worktree\0filter.b.clean\nx\0local\0filter.c.clean\nx";
    assert_int_equal(al_git_config_scan((struct al_str){three, sizeof three}, filters, 2, &n, &programs), -1);
    al_buf_free(&filters[0]);
    al_buf_free(&filters[1]);
}

static void plain_paths_are_told_from_others(void **state)
{
    (void)state;
    static const char *const plain[] = {"a",   "a/b", "a/",  ".gitignore", "a/.github/x",
                                        "..a", "a..", "...", " "};
    static const char *const strange[] = {"",     "/",           "/etc/shadow", "..",     "../a",  "a/../b",
                                          "a/..", ".",           "a/./b",       "a//b",   "a//",   ".git",
                                          ".GiT", ".git/config", "a/.GIT/x",    "a/.git", ".git/", "./a"};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (!al_git_path_is_plain(al_str_of(plain[i])))
            fail_msg("%s", plain[i]);
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        if (al_git_path_is_plain(al_str_of(strange[i])))
            fail_msg("%s", strange[i]);
        autobuf struct al_buf in = AL_BUF_INIT(500), json = AL_BUF_INIT(10000), text = AL_BUF_INIT(10000);
        struct al_err err = {0};
        al_buf_adds(&in, "1 .M N... 100644 100644 100644 45b9 45b9 ");
        al_buf_add(&in, strange[i], strlen(strange[i]) + 1);
        assert_int_equal(al_git_status_json(al_buf_str(&in), AL_STR(""), &json, &text, &err), -1);
        assert_int_equal(err.code, AL_UNTRUSTED_REPOSITORY);
        assert_int_equal(json.n + text.n, 0);
    }
}

static void a_patch_is_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *part, *name;
    } parts[] = {
        {"warning\n", ""},
        {"diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-diff --git a/y b/y\n+diff\n \n\n",
         "x"},
        {"diff --git a/sub dir/b/ b b/sub dir/b/ b\n", "sub dir/b/ b"},
        {"diff --git a/c b/c b/c b/c\n", "c b/c"},
        {"diff --git \"a/q\\\"\\\\\\t\\303\\244\\n\" \"b/q\\\"\\\\\\t\\303\\244\\n\"\n+x\n",
         "q\"\\\t\303\244\n"},
        {"diff --git a/old b/new\n+x\n", ""},
        {"diff --git a/ol b/new\n", ""},
        {"diff --git \"a/q\" b/q\n", ""},
        {"diff --git \"a/\\q\" \"b/\\q\"\n", ""},
        {"diff --git \"a/\\40\" \"b/\\40\"\n", ""},
        {"diff --git \"a/x\" \"b/x\n", ""},
        {"diff --git \"a/x\n", ""},
        {"diff --git c/x d/x\n", ""},
        {"diff --cc sub/.env\nindex 1,2..0\n--- a/x\n", "sub/.env"},
        {"diff --cc \"a\\tb\"\n@@@ -1,1 -1,1 +1,5 @@@\n++<<<\n", "a\tb"},
        {"diff --combined x\r\n", "x\r"},
        {"* Unmerged path y\n", "y"},
        {"diff --git a/z b/z", "z"},
    };
    autobuf struct al_buf all = AL_BUF_INIT(10000), name = AL_BUF_INIT(1000);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        al_buf_adds(&all, parts[i].part);
    struct al_str part, rest = al_buf_str(&all);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        assert_true(al_git_patch_next(&rest, &part, &name));
        if (!al_str_is(part, parts[i].part) || !al_str_is(al_buf_str(&name), parts[i].name))
            fail_msg("%zu: %.*s (%.*s)", i, AL_FMT(part), AL_FMT(al_buf_str(&name)));
    }
    assert_false(al_git_patch_next(&rest, &part, &name));
    /* Wherever it is cut, no part is lost and nothing beyond the end is read. */
    for (size_t n = 0; n < all.n; n++) {
        char *exact = memcpy(malloc(n + 1), all.p, n);
        size_t sum = 0;
        rest = (struct al_str){exact, n};
        while (al_git_patch_next(&rest, &part, &name))
            sum += part.n;
        assert_int_equal(sum, n);
        free(exact);
    }
}

/* --- reading --- */

static void status_and_diff_show_what_changed(void **state)
{
    struct world *w = *state;
    put(w, "a.txt", "one\ntwo\n");
    put(w, "old.txt", "a long enough text\nto be found again\nafter the move\n");
    put(w, "bin", "x");
    sh(w, GIT "init -q .; " GIT "add .; " GIT
              "commit -qm first; git mv old.txt new.txt; printf 'one\\n2\\nthree\\n' > "
              "a.txt; printf 'a\\0b' > bin; echo u > untracked");
    open_here(w, NULL);
    struct reply r = call(w, "git_status", "{}");
    assert_code(&r, AL_OK);
    assert_text_at(&r, "branch", "main");
    assert_int_equal(at(&r, "ahead")->type, AL_JSON_NULL);
    assert_int_equal(at(&r, "entries")->n, 4);
    assert_text_at(&r, "entries.0.path", "a.txt");
    assert_text_at(&r, "entries.0.worktree", "M");
    assert_text_at(&r, "entries.2.from", "old.txt");
    assert_text_at(&r, "entries.3.path", "untracked");
    assert_has(r.text, "branch main\n.M a.txt\n");
    assert_lacks(r.text, "were not run");
    reply_free(&r);
    r = call(w, "git_diff", "{}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "files")->n, 2);
    assert_text_at(&r, "files.0.path", "a.txt");
    assert_int_equal(int_at(&r, "files.0.added"), 2);
    assert_int_equal(int_at(&r, "files.0.removed"), 1);
    assert_int_equal(at(&r, "files.1.added")->type, AL_JSON_NULL);
    assert_has(r.text, "-two\n+2\n+three\n");
    reply_free(&r);
    r = call(w, "git_diff", "{\"staged\":true}");
    assert_int_equal(at(&r, "files")->n, 2); /* renames are both of their halves */
    assert_text_at(&r, "files.0.path", "new.txt");
    assert_has(r.text, "deleted file");
    reply_free(&r);
    r = call(w, "git_diff", "{\"path\":\"bin\"}");
    assert_int_equal(at(&r, "files")->n, 1);
    reply_free(&r);
    r = call(w, "git_diff", "{\"path\":\"new.txt\"}");
    assert_has(r.text, "no unstaged changes in new.txt");
    reply_free(&r);
    r = call(w, "git_diff", "{\"path\":\"../x\"}");
    assert_code(&r, AL_PATH_OUTSIDE_WORKSPACE);
    reply_free(&r);
}

static void no_repository_is_not_found(void **state)
{
    struct world *w = *state;
    open_here(w, NULL);
    static const char *const tools[] = {"git_status", "git_diff"};
    for (size_t i = 0; i < 2; i++) {
        struct reply r = call(w, tools[i], "{}");
        assert_code(&r, AL_NOT_FOUND);
        assert_has(r.msg, "not in a git repository");
        reply_free(&r);
    }
}

static void an_empty_repository_has_a_status(void **state)
{
    struct world *w = *state;
    sh(w, GIT "init -q .; echo x > a; git add a");
    open_here(w, NULL);
    struct reply r = call(w, "git_status", "{}");
    assert_code(&r, AL_OK);
    assert_text_at(&r, "entries.0.index", "A");
    reply_free(&r);
    r = call(w, "git_diff", "{\"staged\":true}");
    assert_code(&r, AL_OK);
    assert_has(r.text, "+x\n");
    reply_free(&r);
}

static void only_the_workspaces_part_is_shown(void **state)
{
    struct world *w = *state;
    put(w, "top.txt", "top\n");
    put(w, "in/a.txt", "a\n");
    sh(w, GIT "init -q .; " GIT "add .; " GIT
              "commit -qm x; echo more >> top.txt; echo more >> in/a.txt; echo n > "
              "in/new; echo n > outside-new");
    open_here(w, "in");
    struct reply r = call(w, "git_status", "{}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "entries")->n, 2);
    assert_text_at(&r, "entries.0.path", "a.txt");
    assert_text_at(&r, "entries.1.path", "new");
    reply_free(&r);
    r = call(w, "git_diff", "{}");
    assert_int_equal(at(&r, "files")->n, 1);
    assert_text_at(&r, "files.0.path", "a.txt");
    assert_has(r.text, "--- a/a.txt");
    assert_lacks(r.text, "top");
    reply_free(&r);
}

static void secrets_are_left_out_of_a_diff(void **state)
{
    struct world *w = *state;
    put(w, ".env", "KEY=old\n");
    put(w, "sub/x.pem", "old\n");
    put(w, "a", "old\n");
    sh(w, GIT "init -q .; " GIT "add -f .; " GIT
              "commit -qm x; echo hunter2 >> .env; echo hunter2 >> sub/x.pem; echo "
              "fine >> a");
    open_here(w, NULL);
    struct reply r = call(w, "git_diff", "{}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "files")->n, 3);
    assert_lacks(r.structured, "hunter2");
    assert_lacks(r.text, "hunter2");
    assert_has(r.text, "+fine");
    assert_has(r.text, "2 changed files that may hold secrets");
    reply_free(&r);
    r = call(w, "git_diff", "{\"path\":\".env\"}");
    assert_code(&r, AL_PATH_SECRET);
    reply_free(&r);
    r = call(w, "git_diff", "{\"path\":\"sub\"}");
    assert_lacks(r.structured, "hunter2");
    reply_free(&r);
}

static void a_repository_of_another_user_can_be_read(void **state)
{
    struct world *w = *state;
    put(w, "a", "x\n");
    sh(w, GIT "init -q .; " GIT "add .; " GIT "commit -qm x; echo y >> a");
    if (geteuid() == 0)
        sh(w, "chown -R 12345 .");
    open_here(w, NULL);
    struct reply r = call(w, "git_status", "{}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "entries")->n, 1);
    reply_free(&r);
}

static void nothing_of_the_repository_is_written(void **state)
{
    struct world *w = *state;
    put(w, "a", "x\n");
    sh(w, GIT "init -q .; " GIT "add .; " GIT
              "commit -qm x; sha256sum .git/index > ../sum; touch -d '2001-01-01' a");
    open_here(w, NULL);
    struct reply r = call(w, "git_status", "{}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "entries")->n, 0);
    reply_free(&r);
    sh(w, "sha256sum -c --quiet ../sum; test ! -e .git/index.lock");
}

static void a_large_diff_is_cut(void **state)
{
    struct world *w = *state;
    sh(w, GIT "init -q .; : > big; " GIT "add .; " GIT "commit -qm x; seq -f %0100.0f 1 100000 > big");
    open_here(w, NULL);
    struct reply r = call(w, "git_diff", "{}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_TRUE);
    assert_int_equal(int_at(&r, "files.0.added"), 100000);
    assert_true(strlen(r.text) < 29000);
    assert_has(r.text, "[cut; path narrows it");
    reply_free(&r);
}

/* --- hostile repositories --- */

/* Every program that a repository can name leaves a file when it runs. */
static void make_trap(struct world *w)
{
    char line[4096];
    snprintf(
        line, sizeof line,
        GIT "init -q .; printf 'a filter=f diff=d\\nb filter=g diff=e\\n' > .gitattributes; echo one > a; "
            "echo one > b; " GIT "add .; " GIT "commit -qm x; echo two > a; echo two > b; "
            "for d in . ; do cat >> .git/config <<'END'\n"
            "[filter \"f\"]\n clean = \"touch %1$s/canary-clean; cat\"\n smudge = \"touch "
            "%1$s/canary-smudge; cat\"\n"
            " process = \"touch %1$s/canary-process\"\n required = true\n"
            "[filter \"g\"]\n clean = \"touch %1$s/canary-clean; cat\"\n smudge = cat\n required = true\n"
            "[core]\n fsmonitor = \"touch %1$s/canary-fsmonitor;\"\n hooksPath = hooks\n"
            " sshCommand = \"touch %1$s/canary-ssh;\"\n pager = \"touch %1$s/canary-pager;\"\n"
            " editor = \"touch %1$s/canary-editor;\"\n askPass = %1$s/run\n untrackedCache = true\n"
            "[diff]\n external = \"touch %1$s/canary-external;\"\n"
            "[diff \"d\"]\n command = \"touch %1$s/canary-command;\"\n textconv = \"touch "
            "%1$s/canary-textconv;\"\n"
            "[alias]\n status = \"!touch %1$s/canary-alias\"\n diff = \"!touch %1$s/canary-alias\"\n"
            "[credential]\n helper = \"!touch %1$s/canary-credential;\"\n"
            "[pager]\n status = \"touch %1$s/canary-pager;\"\n diff = \"touch %1$s/canary-pager;\"\n"
            "[gpg]\n program = %1$s/run\n"
            "[remote \"o\"]\n url = \"ext::touch %1$s/canary-remote\"\n promisor = true\n"
            " uploadpack = \"touch %1$s/canary-pack;\"\n"
            "[extensions]\n partialClone = o\n"
            "END\n done; "
            "mkdir hooks; for h in post-index-change pre-commit fsmonitor-watchman reference-transaction; do "
            "printf '#!/bin/sh\\ntouch %1$s/canary-hook\\n' > hooks/$h; chmod +x hooks/$h; "
            "cp hooks/$h .git/hooks/$h; done; "
            "printf '#!/bin/sh\\ntouch %1$s/canary-run\\n' > ../run; chmod +x ../run",
        w->dir);
    sh(w, line);
}

static void assert_no_canary(struct world *w)
{
    sh(w, "for f in ../canary*; do if [ -e \"$f\" ]; then echo \"$f\" >&2; exit 1; fi; done");
}

/* The trap works: what is tested below would be seen. */
static void the_trap_springs_without_us(void **state)
{
    struct world *w = *state;
    make_trap(w);
    sh(w, GIT "status >/dev/null 2>&1 || true; sed -i /process/d .git/config; " GIT
              "diff -- a >/dev/null 2>&1 || true; " GIT "diff -- b >/dev/null 2>&1 || true; " GIT
              "diff --no-ext-diff >/dev/null 2>&1 || true; "
              "for c in fsmonitor process clean command external textconv; do "
              "[ -e ../canary-$c ] || { echo no $c >&2; exit 1; }; done");
    open_here(w, NULL);
}

static void no_program_of_a_repository_is_run(void **state)
{
    struct world *w = *state;
    make_trap(w);
    open_here(w, NULL);
    static const char *const calls[][2] = {{"git_status", "{}"},
                                           {"git_diff", "{}"},
                                           {"git_diff", "{\"staged\":true}"},
                                           {"git_diff", "{\"path\":\"a\"}"}};
    for (size_t i = 0; i < 4; i++) {
        struct reply r = call(w, calls[i][0], "%s", calls[i][1]);
        if (al_landlock_abi() > 0) {
            assert_code(&r, AL_OK);
            assert_has(r.text, "were not run: ");
        } else {
            assert_code(&r, AL_UNTRUSTED_REPOSITORY);
            assert_has(r.msg, "core.fsmonitor");
        }
        reply_free(&r);
        assert_no_canary(w);
    }
    if (al_landlock_abi() == 0)
        return;
    struct reply r = call(w, "git_diff", "{}");
    assert_has(r.text, "+two");
    reply_free(&r);
}

static void without_landlock_a_trap_is_refused(void **state)
{
    struct world *w = *state;
    make_trap(w);
    open_here(w, NULL);
    al_git_no_landlock = true;
    struct reply r = call(w, "git_status", "{}"), d = call(w, "git_diff", "{}");
    al_git_no_landlock = false;
    assert_code(&r, AL_UNTRUSTED_REPOSITORY);
    assert_has(r.msg, "filter.f.clean");
    assert_has(r.msg, "core.fsmonitor");
    assert_has(r.hint, "Landlock");
    assert_code(&d, AL_UNTRUSTED_REPOSITORY);
    reply_free(&r);
    reply_free(&d);
    assert_no_canary(w);
}

static void without_landlock_a_plain_repository_works(void **state)
{
    struct world *w = *state;
    put(w, "a", "x\n");
    sh(w, GIT "init -q .; " GIT "add .; " GIT "commit -qm x; echo y >> a");
    open_here(w, NULL);
    al_git_no_landlock = true;
    struct reply r = call(w, "git_diff", "{}");
    al_git_no_landlock = false;
    assert_code(&r, AL_OK);
    assert_has(r.text, "+y");
    reply_free(&r);
}

static void missing_objects_are_not_fetched(void **state)
{
    struct world *w = *state;
    make_trap(w);
    sh(w, "rm -f $(git ls-files -s a 2>/dev/null | awk '{print \".git/objects/\" substr($2,1,2) \"/\" "
          "substr($2,3)}'); "
          "rm -f "
          "../canary*");
    open_here(w, NULL);
    struct reply r = call(w, "git_diff", "{}");
    assert_true(r.code == AL_TOOL_ERROR || r.code == AL_UNTRUSTED_REPOSITORY);
    reply_free(&r);
    assert_no_canary(w);
}

static void programs_of_submodules_are_not_run(void **state)
{
    struct world *w = *state;
    char line[2048];
    snprintf(line, sizeof line,
             "mkdir ../lib; (cd ../lib; " GIT
             "init -q .; printf '* filter=f\\n' > .gitattributes; echo x > x; " GIT "add .; " GIT
             "commit -qm x); " GIT "init -q .; " GIT "submodule --quiet add ../../lib lib 2>/dev/null || " GIT
             "submodule --quiet add %1$s/lib lib; " GIT "commit -qm sub; echo y >> lib/x; "
             "git -C lib config filter.f.clean 'touch %1$s/canary-sub; cat'; "
             "git -C lib config core.fsmonitor 'touch %1$s/canary-subfs;'",
             w->dir);
    sh(w, line);
    open_here(w, NULL);
    struct reply r = call(w, "git_status", "{}");
    assert_code(&r, AL_OK);
    reply_free(&r);
    r = call(w, "git_diff", "{}");
    assert_code(&r, AL_OK);
    reply_free(&r);
    assert_no_canary(w);
}

static void the_status_within_a_submodule_works(void **state)
{
    struct world *w = *state;
    char line[1024];
    snprintf(line, sizeof line,
             "mkdir ../lib; (cd ../lib; " GIT "init -q .; echo x > x; " GIT "add .; " GIT
             "commit -qm x); " GIT "init -q .; " GIT "submodule --quiet add %1$s/lib lib; echo y >> lib/x",
             w->dir);
    sh(w, line);
    open_here(w, "lib");
    struct reply r = call(w, "git_status", "{}");
    assert_code(&r, AL_OK);
    assert_text_at(&r, "entries.0.path", "x");
    reply_free(&r);
}

static void a_linked_work_tree_works(void **state)
{
    struct world *w = *state;
    sh(w, "mkdir ../main; cd ../main; " GIT "init -q .; echo x > x; " GIT "add .; " GIT
          "commit -qm x; rmdir ../work; git worktree add -q ../work; echo y >> ../work/x");
    open_here(w, NULL);
    struct reply r = call(w, "git_status", "{}");
    assert_code(&r, AL_OK);
    assert_text_at(&r, "branch", "work");
    assert_text_at(&r, "entries.0.path", "x");
    reply_free(&r);
}

/* A private repository of the same user lies beside the workspace; none of these ways may show it. */
static void another_repository_cannot_be_looked_into(void **state)
{
    static const struct {
        const char *name, *setup;
    } ways[] = {
        {".git file", "echo \"gitdir: ../private/.git\" > .git"},
        {".git link", "ln -s ../private/.git .git"},
        {"core.worktree", GIT "init -q .; git config core.worktree ../../private"},
        {"commondir",
         "cp -r ../private/.git .git; rm -rf .git/objects .git/refs .git/config .git/packed-refs .git/index; "
         "echo ../../private/.git > .git/commondir"},
        {"index link",
         GIT "init -q .; rm -rf .git/objects; ln -s ../../private/.git/objects .git/objects; ln -s "
             "../../private/.git/index .git/index"},
        {"commondir of all",
         "cp -r ../private/.git .git; rm -rf .git/objects .git/refs .git/config; echo ../.. > "
         ".git/commondir; mkdir ../objects ../refs"},
        {"gitdir of a linked work tree", "(cd ../private; git worktree add -q ../other); echo \"gitdir: "
                                         "../private/.git/worktrees/other\" > .git"},
        {"work tree of all",
         GIT "init -q .; git config core.worktree /; rm -rf .git/objects; ln -s "
             "../../private/.git/objects .git/objects; ln -s ../../private/.git/index .git/index"},
        {"refs link",
         GIT "init -q .; printf '%s\\n' $PWD/../private/.git/objects > .git/objects/info/alternates; ln -s "
             "../../../../private/.git/refs/heads/main .git/refs/heads/main"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct world *w = *state;
        if (i > 0)
            world_make(w);
        sh(w, "mkdir ../private; cd ../private; " GIT "init -q .; echo hunter2 > plan; " GIT "add .; " GIT
              "commit -qm hunter2");
        sh(w, ways[i].setup);
        open_here(w, NULL);
        static const char *const calls[][2] = {
            {"git_status", "{}"}, {"git_diff", "{}"}, {"git_diff", "{\"staged\":true}"}};
        for (size_t k = FIRST_CALL(i); k < 6; k += EACH_CALL) {
            al_git_no_landlock = k >= 3;
            struct reply r = call(w, calls[k % 3][0], "%s", calls[k % 3][1]);
            al_git_no_landlock = false;
            if (r.code != AL_UNTRUSTED_REPOSITORY && r.code != AL_NOT_FOUND)
                fail_msg("%s, %s %s: %s (%s) %s", ways[i].name, calls[k % 3][0], calls[k % 3][1],
                         al_code_name(r.code), r.msg, r.text);
            assert_lacks(r.text, "hunter2");
            reply_free(&r);
        }
        if (i + 1 < sizeof ways / sizeof ways[0])
            world_close(w);
    }
}

/* An index of the same length, with another name. git checks no sum of what it reads. */
static void rename_in_index(struct world *w, const char *from, const char *to)
{
    char line[600];
    assert_int_equal(strlen(from), strlen(to));
    snprintf(line, sizeof line,
             "git update-index --add --cacheinfo 100644,$(git hash-object -w --stdin </dev/null),%s && "
             "LC_ALL=C sed -i 's|%s|%s|' .git/index",
             from, from, to);
    sh(w, line);
}

static void an_index_that_leads_out_of_the_work_tree_is_refused(void **state)
{
    static const char *const ways[][3] = {
        {"aa/outside/notes.txt", "../outside/notes.txt", NULL},
        {"sub/aa/bb/outside/notes.txt", "sub/../../outside/notes.txt", NULL},
        {"sub/aa/top.txt", "sub/../top.txt", "sub"},
        {"xetc/passwd", "/etc/passwd", NULL},
        {"xgit/config", ".git/config", NULL},
        {"xGIT/config", ".GIT/config", NULL},
        {"sub/xgit/config", "sub/.git/config", NULL},
        {"x/top.txt", "./top.txt", NULL},
    };
    struct world *w = *state;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (i > 0)
            world_make(w);
        put(w, "top.txt", "hunter2\n");
        put(w, "sub/.git/config", "hunter2\n");
        put(w, "sub/x", "x\n");
        sh(w, "mkdir ../outside; echo hunter2 > ../outside/notes.txt; " GIT
              "init -q .; git config a.b hunter2; git add top.txt sub/x; " GIT "commit -qm x");
        rename_in_index(w, ways[i][0], ways[i][1]);
        open_here(w, ways[i][2]);
        static const char *const calls[][2] = {
            {"git_status", "{}"}, {"git_diff", "{}"}, {"git_diff", "{\"staged\":true}"}};
        for (size_t k = FIRST_CALL(i); k < 6; k += EACH_CALL) {
            al_git_no_landlock = k >= 3;
            struct reply r = call(w, calls[k % 3][0], "%s", calls[k % 3][1]);
            al_git_no_landlock = false;
            if (r.code != AL_UNTRUSTED_REPOSITORY)
                fail_msg("%s, %s %s: %s (%s) %s", ways[i][1], calls[k % 3][0], calls[k % 3][1],
                         al_code_name(r.code), r.msg, r.text);
            assert_lacks(r.text, "hunter2");
            assert_lacks(r.structured, "hunter2");
            assert_lacks(r.msg, "hunter2");
            reply_free(&r);
        }
        if (i + 1 < sizeof ways / sizeof ways[0])
            world_close(w);
    }
}

static void a_renamed_secret_is_not_shown(void **state)
{
    struct world *w = *state;
    put(w, ".env", "KEY=hunter2\nsome more\nlines that\nare the same\n");
    put(w, "a", "x\n");
    sh(w,
       GIT "init -q .; git config diff.renames copies; git config status.renames copies; git add -f .; " GIT
           "commit -qm x; sed 's/hunter2/new/' .env > copy.txt; git rm -q -f .env; git add copy.txt");
    open_here(w, NULL);
    struct reply r = call(w, "git_diff", "{\"staged\":true}");
    assert_code(&r, AL_OK);
    assert_has(r.text, "KEY=new");
    assert_lacks(r.text, "hunter2");
    assert_lacks(r.structured, "hunter2");
    assert_has(r.text, "1 changed file that may hold secrets");
    reply_free(&r);
    r = call(w, "git_status", "{}");
    assert_code(&r, AL_OK);
    reply_free(&r);
}

static void a_conflict_is_shown_but_for_secrets(void **state)
{
    struct world *w = *state;
    sh(w, GIT "init -q .; echo a > a; echo a > .env; git add -f .; " GIT "commit -qm x; git checkout -qb o; "
              "echo b > a; echo hunter2 > .env; " GIT "commit -qam y; git checkout -q main; echo c > a; echo "
              "hunter3 > .env; " GIT "commit -qam z; " GIT "merge o >/dev/null || true");
    open_here(w, NULL);
    struct reply r = call(w, "git_diff", "{}");
    assert_code(&r, AL_OK);
    assert_has(r.text, "diff --cc a\n");
    assert_has(r.text, "++=======\n");
    assert_lacks(r.structured, "hunter");
    assert_has(r.text, "may hold secrets");
    reply_free(&r);
    r = call(w, "git_status", "{}");
    assert_text_at(&r, "entries.0.index", "U");
    reply_free(&r);
}

/* A gitlink whose .git file leads to a private repository: what that one has checked out is not told. */
static void the_commit_of_a_foreign_submodule_is_not_shown(void **state)
{
    struct world *w = *state;
    sh(w,
       "mkdir ../private; (cd ../private; " GIT "init -q .; " GIT "commit -q --allow-empty -m hunter2; git "
       "rev-parse HEAD > ../head); mkdir sub; (cd sub; " GIT "init -q .; " GIT
       "commit -q --allow-empty -m one; echo x > x); " GIT "init -q .; echo y > y; git -c "
       "advice.addEmbeddedRepo=false add .; " GIT "commit -qm x; rm -rf sub/.git; echo \"gitdir: "
       "../../private/.git\" > sub/.git");
    open_here(w, NULL);
    static const char *const calls[] = {"git_status", "git_diff"};
    for (size_t k = 0; k < 4; k++) {
        al_git_no_landlock = k >= 2;
        struct reply r = call(w, calls[k % 2], "{}");
        al_git_no_landlock = false;
        assert_code(&r, AL_OK);
        char *head = get(w, "../head");
        head[10] = 0;
        assert_lacks(r.structured, "Subproject");
        assert_lacks(r.structured, head);
        free(head);
        reply_free(&r);
    }
}

static void the_commit_of_a_submodule_is_shown(void **state)
{
    struct world *w = *state;
    if (al_landlock_abi() == 0)
        skip();
    sh(w, "mkdir sub; (cd sub; " GIT "init -q .; " GIT "commit -q --allow-empty -m one); " GIT
          "init -q .; git -c advice.addEmbeddedRepo=false add .; " GIT "commit -qm x; cd sub; " GIT
          "commit -q --allow-empty -m two");
    open_here(w, NULL);
    struct reply r = call(w, "git_diff", "{}");
    assert_code(&r, AL_OK);
    assert_has(r.text, "+Subproject commit ");
    reply_free(&r);
}

/* What a configuration of the repository may name: nothing of it is read, and the rest works. */
static void files_that_the_configuration_names_are_not_read(void **state)
{
    struct world *w = *state;
    sh(w,
       "mkdir ../home; printf 'hunter2\n' > ../home/list; " GIT "init -q .; echo a > a; git add a; " GIT
       "commit -qm x; echo b >> a; : > hunter2; git config core.excludesFile $PWD/../home/list; git config "
       "core.attributesFile ../home/list; git config diff.orderFile $PWD/../home/list");
    open_here(w, NULL);
    for (size_t k = 0; k < 2; k++) {
        al_git_no_landlock = k > 0;
        struct reply r = call(w, "git_status", "{}"), d = call(w, "git_diff", "{}");
        al_git_no_landlock = false;
        assert_code(&r, AL_OK);
        assert_int_equal(at(&r, "entries")->n, 2); /* hunter2 is not ignored */
        assert_code(&d, AL_OK);
        assert_has(d.text, "+b\n");
        reply_free(&r);
        reply_free(&d);
    }
}

static void an_included_configuration_is_refused(void **state)
{
    struct world *w = *state;
    sh(w, "mkdir ../home; printf '[filter \"hunter2\"]\nclean = hunter2\n' > ../home/c; " GIT
          "init -q .; echo a > a; git config include.path $PWD/../home/c");
    open_here(w, NULL);
    for (size_t k = 0; k < 2; k++) {
        al_git_no_landlock = k > 0;
        struct reply r = call(w, "git_status", "{}");
        al_git_no_landlock = false;
        if (al_landlock_abi() == 0 || k > 0)
            assert_code(&r, AL_UNTRUSTED_REPOSITORY);
        else
            assert_code(&r, AL_PERMISSION_DENIED);
        assert_lacks(r.msg, "hunter2");
        reply_free(&r);
    }
}

static void the_users_own_ignore_file_counts(void **state)
{
    struct world *w = *state;
    sh(w,
       "mkdir -p ../.config/git; echo '*.mine' > ../.config/git/ignore; " GIT "init -q .; : > a.mine; : > b");
    unsetenv("XDG_CONFIG_HOME");
    open_here(w, NULL);
    struct reply r = call(w, "git_status", "{}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "entries")->n, 1);
    assert_text_at(&r, "entries.0.path", "b");
    reply_free(&r);
}

static void borrowed_objects_are_refused(void **state)
{
    struct world *w = *state;
    sh(w, "mkdir ../lender; (cd ../lender; " GIT "init -q .; echo x > x; " GIT "add .; " GIT
          "commit -qm x); git clone -q --shared ../lender . ");
    open_here(w, NULL);
    struct reply r = call(w, "git_status", "{}");
    assert_code(&r, AL_UNTRUSTED_REPOSITORY);
    assert_has(r.msg, "borrows objects");
    reply_free(&r);
    sh(w, "git repack -a -d -q; rm .git/objects/info/alternates");
    r = call(w, "git_status", "{}");
    assert_code(&r, AL_OK);
    reply_free(&r);
}

static void many_refs_take_no_time_of_the_loop(void **state)
{
    struct world *w = *state;
    sh(w,
       GIT "init -q .; echo x > x; " GIT "add .; " GIT
           "commit -qm x; h=$(git rev-parse HEAD); mkdir .git/refs/many; cd .git/refs/many; seq 1 " MANY_REFS
           " | "
           "split -l 1 -a 4 - r; echo $h > ra");
    open_here(w, NULL);
    for (size_t k = 0; k < 2; k++) {
        al_git_no_landlock = k > 0;
        struct reply r = call(w, "git_status", "{}");
        al_git_no_landlock = false;
        assert_code(&r, AL_OK);
        reply_free(&r);
    }
    sh(w, "ln -s ../../../../private .git/refs/many/link; mkdir ../private");
    al_git_no_landlock = true;
    struct reply r = call(w, "git_status", "{}");
    al_git_no_landlock = false;
    assert_code(&r, AL_UNTRUSTED_REPOSITORY);
    reply_free(&r);
}

static void a_cancelled_git_ends(void **state)
{
    struct world *w = *state;
    sh(w, GIT "init -q .");
    open_here(w, NULL);
    struct reply r;
    start(w, AL_ORIGIN_SCRIPT, "git_status", "{}", &r);
    al_call_cancel(r.call);
    finish(w, &r);
    assert_code(&r, AL_CANCELLED);
    reply_free(&r);
}

int main(int argc, char **argv)
{
    world_main(argc, argv);
#define IN_WORLD(f) cmocka_unit_test_setup_teardown(f, make_world, close_world)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_is_taken_apart),
        cmocka_unit_test(a_hostile_branch_name_is_shown_as_text),
        cmocka_unit_test(counts_that_are_cut_are_unknown),
        cmocka_unit_test(numstat_is_taken_apart),
        cmocka_unit_test(programs_in_the_configuration_are_found),
        cmocka_unit_test(plain_paths_are_told_from_others),
        cmocka_unit_test(a_patch_is_taken_apart),
        IN_WORLD(status_and_diff_show_what_changed),
        IN_WORLD(no_repository_is_not_found),
        IN_WORLD(an_empty_repository_has_a_status),
        IN_WORLD(only_the_workspaces_part_is_shown),
        IN_WORLD(secrets_are_left_out_of_a_diff),
        IN_WORLD(a_repository_of_another_user_can_be_read),
        IN_WORLD(nothing_of_the_repository_is_written),
        IN_WORLD(a_large_diff_is_cut),
        IN_WORLD(the_trap_springs_without_us),
        IN_WORLD(no_program_of_a_repository_is_run),
        IN_WORLD(without_landlock_a_trap_is_refused),
        IN_WORLD(without_landlock_a_plain_repository_works),
        IN_WORLD(missing_objects_are_not_fetched),
        IN_WORLD(programs_of_submodules_are_not_run),
        IN_WORLD(the_status_within_a_submodule_works),
        IN_WORLD(a_linked_work_tree_works),
        IN_WORLD(another_repository_cannot_be_looked_into),
        IN_WORLD(an_index_that_leads_out_of_the_work_tree_is_refused),
        IN_WORLD(a_renamed_secret_is_not_shown),
        IN_WORLD(a_conflict_is_shown_but_for_secrets),
        IN_WORLD(the_commit_of_a_foreign_submodule_is_not_shown),
        IN_WORLD(the_commit_of_a_submodule_is_shown),
        IN_WORLD(files_that_the_configuration_names_are_not_read),
        IN_WORLD(an_included_configuration_is_refused),
        IN_WORLD(the_users_own_ignore_file_counts),
        IN_WORLD(borrowed_objects_are_refused),
        IN_WORLD(many_refs_take_no_time_of_the_loop),
        IN_WORLD(a_cancelled_git_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
