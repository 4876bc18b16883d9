/* What a script left becomes artifacts: which, under which rules, and what can be done with them. */
#include "artifact_world.h"

#include "base/json.h"
#include "base/text.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#define PLENTY UINT64_MAX

static struct al_publication published(struct world *w)
{
    struct al_publication p;
    struct al_err err = {0};
    OK(al_publish_build(&w->spec, &p, &err));
    assert_int_equal(al_publish_commit(&p, w->store, PLENTY, &err), 0);
    return p;
}

static void rejected(struct world *w, const char *path, const char *why)
{
    struct al_publication p;
    struct al_err err = {0};
    int before = count_entries(w, "artifacts");
    if (al_publish_build(&w->spec, &p, &err) == 0)
        fail_msg("published, not rejected for \"%s\"", why);
    if (err.code != AL_PUBLISH_REJECTED || !strstr(err.msg, path) || !strstr(err.msg, why) || !err.hint[0])
        fail_msg("%s: %s (%s), not \"%s\" … \"%s\"", al_code_name(err.code), err.msg, err.hint, path, why);
    int after = count_entries(w, "artifacts");
    /* Folders for artifacts may have been made, and are empty. */
    assert_true(after - before <= 3);
    assert_int_equal(count_entries(w, "artifacts/.building"), 0);
}

static void each_file_at_the_top_is_an_artifact(void **state)
{
    struct world *w = *state;
    put(w, "report.md", "# Report\n");
    put(w, "data.json", "[1]");
    put(w, "noise.bin", "\x01\x02");
    struct al_publication p = published(w);
    assert_int_equal(p.n, 3);
    assert_string_equal(p.list[0].file_name, "data.json");
    assert_string_equal(p.list[0].kind, "data");
    assert_string_equal(p.list[1].file_name, "noise.bin");
    assert_string_equal(p.list[1].kind, "file");
    assert_string_equal(p.list[2].source_path, "report.md");
    assert_string_equal(p.list[2].kind, "document");
    assert_string_equal(p.list[2].title, "report.md");
    assert_string_equal(p.list[2].mime, "text/markdown");
    assert_int_equal(p.list[2].bytes, 9);
    assert_int_equal(p.warnings.n, 0);
    assert_true(al_str_starts(al_str_of(p.dir), w->fix->dir));
    al_publication_fini(&p);
}

static void an_empty_folder_publishes_nothing(void **state)
{
    struct world *w = *state;
    struct al_publication p = published(w);
    assert_int_equal(p.n, 0);
    al_publication_fini(&p);
    put(w, "outputs.json", "{\"artifacts\":[]}");
    p = published(w);
    assert_int_equal(p.n, 0);
    al_publication_fini(&p);
}

static void a_folder_with_an_index_is_pages_and_any_other_an_archive(void **state)
{
    struct world *w = *state;
    put(w, "site/index.html", "<p>hello <img src=\"img/a.svg\"><a href='missing.html'>x</a>");
    put(w, "site/img/a.svg", "<svg viewBox=\"0 0 1 1\"></svg>");
    put(w, "site/.nojekyll", "");
    put(w, "raw/b.txt", "b");
    put(w, "raw/a/a.txt", "a");
    struct al_publication p = published(w);
    assert_int_equal(p.n, 2);
    assert_string_equal(p.list[0].file_name, "raw.zip");
    assert_string_equal(p.list[0].kind, "archive");
    assert_string_equal(p.list[0].title, "raw");
    assert_int_equal(p.list[0].n_files, 1);
    assert_null(p.list[0].entry);
    assert_string_equal(p.list[1].file_name, "site");
    assert_string_equal(p.list[1].kind, "dashboard");
    assert_string_equal(p.list[1].entry, "index.html");
    assert_int_equal(p.list[1].n_files, 3);
    al_buf_addc(&p.warnings, '\0');
    assert_non_null(strstr(p.warnings.p, "warning: site/index.html: refers to missing.html, not published"));
    assert_null(strstr(p.warnings.p, "a.svg"));
    al_publication_fini(&p);
}

static const struct al_json *member(const struct al_json *v, const char *key)
{
    const struct al_json *m = al_json_get(v, key);
    if (!m)
        fail_msg("no %s", key);
    return m;
}

static void the_manifest_says_all_and_no_path_of_the_machine(void **state)
{
    struct world *w = *state;
    put(w, "a.csv", "x\n1\n");
    w->spec.execution = "exec_1";
    w->spec.partial = true;
    w->spec.title = "Sales";
    w->spec.provenance = AL_STR("{\"runtime\":{\"mode\":\"bwrap\"},\"partial\":false,\"executionId\":\"x\"}");
    struct al_publication p = published(w);
    struct al_err err = {0};
    struct al_artifact a = {0};
    OK(al_store_artifact_get(w->store, p.list[0].id, "/w", &a, &err));
    assert_true(a.partial);
    assert_string_equal(a.title, "Sales");
    autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
    const struct al_json *m = NULL;
    OK(al_json_parse(&arena, al_str_of(a.manifest), &m, &err));
    assert_true(al_str_is(member(m, "schemaVersion")->raw, "1"));
    assert_true(al_str_is(al_json_get_text(m, "id"), a.id));
    assert_true(al_str_is(al_json_get_text(m, "kind"), "spreadsheet"));
    assert_true(al_str_is(al_json_get_text(member(m, "files")->child, "path"), "a.csv"));
    assert_true(al_str_is(al_json_get_text(m, "sha256"), a.sha256));
    const struct al_json *from = member(m, "provenance");
    assert_true(al_str_is(al_json_get_text(from, "executionId"), "exec_1"));
    assert_true(al_json_is_true(member(from, "partial")));
    assert_true(al_str_is(al_json_get_text(member(from, "runtime"), "mode"), "bwrap"));
    assert_null(strstr(a.manifest, w->fix->base));

    /* sha256("x\n1\n") and the hash of its one line. */
    char one[AL_SHA256_HEX], all[AL_SHA256_HEX];
    al_sha256(AL_STR("x\n1\n"), one);
    assert_true(al_str_is(al_json_get_text(member(m, "files")->child, "sha256"), one));
    autobuf struct al_buf line = AL_BUF_INIT(256);
    al_buf_addf(&line, "%s  a.csv\n", one);
    al_sha256(al_buf_str(&line), all);
    assert_string_equal(a.sha256, all);

    autofree char *dir = al_artifact_dir(w->store, &a);
    char path[4096];
    snprintf(path, sizeof path, "%s/manifest.json", dir);
    int fd = open(path, O_RDONLY);
    autobuf struct al_buf disk = AL_BUF_INIT(1 << 16), row = AL_BUF_INIT(1 << 16);
    assert_int_equal(al_fd_read_all(fd, &disk), 0);
    close(fd);
    al_buf_addf(&row, "%s\n", a.manifest);
    assert_true(al_str_eq(al_buf_str(&disk), al_buf_str(&row)));
    assert_non_null(strstr(dir, "/sales--art_"));
    al_artifact_fini(&a);
    al_publication_fini(&p);
}

static void outputs_json_chooses_names_titles_and_entries(void **state)
{
    struct world *w = *state;
    put(w, "b.md", "b");
    put(w, "deep/c.png", "\x89PNG\r\n\x1a\n");
    put(w, "pages/start.htm", "<p>");
    put(w, "pages/other.htm", "<p>");
    put(w, "undeclared.txt", "no");
    w->spec.title = "Of the call";
    put(w, "outputs.json",
        "\xef\xbb\xbf{\"artifacts\":[{\"path\":\"pages/\",\"entry\":\"./"
        "start.htm\",\"title\":\"Pages\",\"x\":1},"
        "{\"path\":\"./b.md\",\"title\":null},{\"path\":\"deep/c.png\",\"title\":\" Two\\nlines "
        "\"}],\"more\":2}");
    struct al_publication p = published(w);
    assert_int_equal(p.n, 3);
    assert_string_equal(p.list[0].title, "Pages");
    assert_string_equal(p.list[0].entry, "start.htm");
    assert_string_equal(p.list[0].kind, "dashboard");
    assert_int_equal(p.list[0].n_files, 2);
    assert_string_equal(p.list[1].title, "Of the call");
    assert_string_equal(p.list[2].title, "Two lines");
    assert_string_equal(p.list[2].file_name, "c.png");
    assert_string_equal(p.list[2].source_path, "deep/c.png");
    al_publication_fini(&p);
    fresh_out(w);
    put(w, "one.md", "1");
    put(w, "two.md", "2");
    p = published(w); /* two have no title: the call's is for neither */
    assert_string_equal(p.list[0].title, "one.md");
    assert_string_equal(p.list[1].title, "two.md");
    al_publication_fini(&p);
}

static void outputs_json_is_rejected_as_a_whole(void **state)
{
    static const struct {
        const char *json, *path, *why;
    } cases[] = {
        {"", "outputs.json", "is no JSON"},
        {"{\"artifacts\":[}", "outputs.json", "is no JSON: line 1"},
        {"[]", "outputs.json", "no list \"artifacts\""},
        {"{}", "outputs.json", "no list \"artifacts\""},
        {"{\"artifacts\":{}}", "outputs.json", "are no list"},
        {"{\"artifacts\":[\"a.md\"]}", "outputs.json", "is no object but string"},
        {"{\"artifacts\":[{}]}", "outputs.json", "without \"path\""},
        {"{\"artifacts\":[{\"path\":3}]}", "outputs.json", "\"path\" that is no text but number"},
        {"{\"artifacts\":[{\"path\":\"a.md\",\"title\":{}}]}", "outputs.json", "\"title\" that is no text"},
        {"{\"artifacts\":[{\"path\":\"a.md\"},{\"path\":\"no.md\"}]}", "no.md", "is not there"},
        {"{\"artifacts\":[{\"path\":\"../a.md\"}]}", "outputs.json", "with \"..\""},
        {"{\"artifacts\":[{\"path\":\"d/../a.md\"}]}", "outputs.json", "with \"..\""},
        {"{\"artifacts\":[{\"path\":\"/etc/passwd\"}]}", "outputs.json", "absolute path"},
        {"{\"artifacts\":[{\"path\":\"\"}]}", "outputs.json", "names no file"},
        {"{\"artifacts\":[{\"path\":\"./\"}]}", "outputs.json", "names no file"},
        {"{\"artifacts\":[{\"path\":\"a.md\\u0000\"}]}", "outputs.json", "names no file"},
        {"{\"artifacts\":[{\"path\":\"a.md\"},{\"path\":\"./a.md\"}]}", "a.md", "named twice"},
        {"{\"artifacts\":[{\"path\":\"d\"},{\"path\":\"d/e/x.md\"}]}", "d/e/x.md",
         "lies in the folder \"d\""},
        {"{\"artifacts\":[{\"path\":\"outputs.json\"}]}", "outputs.json", "never published"},
        {"{\"artifacts\":[{\"path\":\"d\",\"entry\":\"index.html\"}]}", "d", "no file \"index.html\""},
        {"{\"artifacts\":[{\"path\":\"d\",\"entry\":\"e\"}]}", "d", "no file \"e\""},
        {"{\"artifacts\":[{\"path\":\"d\",\"entry\":\"../a.md\"}]}", "outputs.json", "entry with \"..\""},
        {"{\"artifacts\":[{\"path\":\"a.md\",\"entry\":\"b\"}]}", "a.md", "is a file"},
    };
    struct world *w = *state;
    put(w, "a.md", "a");
    put(w, "d/e/x.md", "x");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put(w, "outputs.json", cases[i].json);
        rejected(w, cases[i].path, cases[i].why);
    }
    autofree char *large = al_xmalloc((1 << 20) + 2);
    memset(large, ' ', (1 << 20) + 1);
    large[(1 << 20) + 1] = '\0';
    put(w, "outputs.json", large);
    rejected(w, "outputs.json", "longer than 1 MB");
}

static void make_link(struct world *w)
{
    put(w, "a", "a");
    assert_int_equal(symlinkat("a", w->out_fd, "link"), 0);
}
static void make_folder_link(struct world *w)
{
    put(w, "d/a", "a");
    assert_int_equal(symlinkat("/etc", w->out_fd, "d/link"), 0);
}
static void make_hard(struct world *w)
{
    put(w, "a", "a");
    assert_int_equal(linkat(w->out_fd, "a", w->out_fd, "b", 0), 0);
}
static void make_pipe(struct world *w)
{
    assert_int_equal(mkfifoat(w->out_fd, "pipe", 0600), 0);
}
static void make_socket(struct world *w)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%.90s/sock", w->out);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    close(fd);
}
static void make_device(struct world *w)
{
    if (mknodat(w->out_fd, "null", S_IFCHR | 0600, (1 << 8) | 3) < 0)
        make_pipe(w), assert_int_equal(renameat(w->out_fd, "pipe", w->out_fd, "null"), 0);
}
static void make_hidden(struct world *w)
{
    put(w, "ok/.secret/x", "x");
}
static void make_control(struct world *w)
{
    put(w, "a\nb", "x");
}
static void make_c1(struct world *w)
{
    put(w,
        "a\xc2\x85"
        "b",
        "x");
}
static void make_latin1(struct world *w)
{
    put(w, "caf\xe9.txt", "x");
}
static void make_deep(struct world *w)
{
    put(w, "1/2/3/4/5/6/7/8/9", "x");
}
static void make_empty(struct world *w)
{
    put(w, "d/x", "x");
    assert_int_equal(mkdirat(w->out_fd, "d/empty", 0700), 0);
}
static void make_twins(struct world *w)
{
    put(w, "d/caf\xc3\xa9.txt", "x");
    put(w, "d/cafe\xcc\x81.txt", "y");
}
static void make_hangul_twins(struct world *w)
{
    put(w, "\xea\xb0\x81", "x");
    put(w, "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8", "y");
}
static void make_ordered_twins(struct world *w)
{
    put(w, "a\xcc\xa3\xcc\x81", "x"); /* dot below and acute, in both orders */
    put(w, "a\xcc\x81\xcc\xa3", "y");
}
static void make_large(struct world *w)
{
    put(w, "a", "x");
    int fd = openat(w->out_fd, "sparse", O_WRONLY | O_CREAT, 0600);
    assert_int_equal(ftruncate(fd, (1 << 20) + 1), 0);
    close(fd);
}
static void make_total(struct world *w)
{
    for (int i = 0; i < 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        int fd = openat(w->out_fd, name, O_WRONLY | O_CREAT, 0600);
        assert_int_equal(ftruncate(fd, 1000000), 0);
        close(fd);
    }
}
static void make_many(struct world *w)
{
    for (int i = 0; i < 201; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%03d", i);
        put(w, name, "");
    }
}
static void make_lone_outputs_folder(struct world *w)
{
    put(w, "outputs.json/a", "x");
}

static void each_rule_rejects_all_with_path_and_reason(void **state)
{
    static const struct {
        void (*make)(struct world *);
        const char *path, *why;
    } cases[] = {
        {make_link, "\"link\"", "symbolic link"},
        {make_folder_link, "\"d/link\"", "symbolic link"},
        {make_hard, "\"a\"", "hard link"},
        {make_pipe, "\"pipe\"", "is a pipe"},
        {make_socket, "\"sock\"", "is a socket"},
        {make_device, "\"null\"", "is a "},
        {make_hidden, "\"ok/.secret\"", "is hidden"},
        {make_control, "a\\nb", "control character"},
        {make_c1, "\"a", "control character"},
        {make_latin1, "\"caf", "not UTF-8"},
        {make_deep, "\"1/2/3/4/5/6/7/8/9\"", "deep"},
        {make_empty, "\"d/empty\"", "empty folder"},
        {make_twins, "\"d/cafe", "is there twice"},
        {make_hangul_twins, "", "is there twice"},
        {make_ordered_twins, "", "is there twice"},
        {make_large, "\"sparse\"", "a file may have"},
        {make_total, "\"f4\"", "brings the output to"},
        {make_many, "\"f200\"", "at most 200"},
        {make_lone_outputs_folder, "outputs.json", "is a folder"},
    };
    struct world *w = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cases[i].make(w);
        rejected(w, cases[i].path, cases[i].why);
        fresh_out(w);
    }
}

static void names_at_their_limits_are_published(void **state)
{
    struct world *w = *state;
    char name[256], path[300];
    memset(name, 'n', 255);
    name[255] = '\0';
    put(w, name, "x");
    snprintf(path, sizeof path, "1/2/3/4/5/6/7/%s",
             "\xe2\x80\xae"
             "fdp.exe");
    put(w, path, "x");
    put(w, "CON", "x");
    put(w, "a\\..\\b", "x");
    struct al_publication p = published(w);
    assert_int_equal(p.n, 4);
    al_publication_fini(&p);
}

static void ten_thousand_entries_are_too_many(void **state)
{
    struct world *w = *state;
    put(w, "d/first", "x");
    for (int i = 0; i <= 10000; i++) { /* links: they are counted before they are looked at */
        char name[32];
        snprintf(name, sizeof name, "d/%d", i);
        assert_int_equal(linkat(w->out_fd, "d/first", w->out_fd, name, 0), 0);
    }
    rejected(w, "\"d\"", "more than 10000");
}

static void an_execution_publishes_once(void **state)
{
    struct world *w = *state;
    struct al_err err = {0};
    w->spec.execution = "exec_1";
    put(w, "a", "x");
    struct al_publication p = published(w), again;
    int before = count_entries(w, "artifacts");
    OK(al_publish_build(&w->spec, &again, &err));
    assert_int_equal(al_publish_commit(&again, w->store, PLENTY, &err), 1);
    al_publication_fini(&again);
    al_publication_fini(&p);
    assert_int_equal(count_entries(w, "artifacts"), before);
}

static void what_is_not_committed_leaves_nothing(void **state)
{
    struct world *w = *state;
    struct al_err err = {0};
    put(w, "a", "x");
    put(w, "d/b", "x");
    struct al_publication p;
    OK(al_publish_build(&w->spec, &p, &err));
    assert_int_equal(al_artifact_recover(w->store), 0); /* it is alive */
    assert_int_equal(al_publish_commit(&p, w->store, 1, &err), -1);
    assert_int_equal(err.code, AL_QUOTA_EXCEEDED);
    al_publication_fini(&p);
    assert_int_equal(count_entries(w, "artifacts"), 3); /* .building, workspace, session */
}

struct listing {
    char text[512];
};

static bool list_file(void *ud, struct al_str path, int64_t bytes, struct al_str sha256)
{
    struct listing *l = ud;
    size_t n = strlen(l->text);
    assert_int_equal(sha256.n, 64);
    snprintf(l->text + n, sizeof l->text - n, "%.*s:%lld ", AL_FMT(path), (long long)bytes);
    return true;
}

static void files_of_an_artifact_open_by_name(void **state)
{
    struct world *w = *state;
    struct al_err err = {0};
    put(w, "site/index.html", "<p>x");
    put(w, "site/a/b.json", "{}");
    w->spec.execution = "exec_1";
    struct al_publication p = published(w);
    struct al_artifact a = {0};
    OK(al_store_artifact_get(w->store, p.list[0].id, NULL, &a, &err));
    al_publication_fini(&p);
    struct listing l = {""};
    OK(al_artifact_files(&a, list_file, &l, &err));
    assert_string_equal(l.text, "a/b.json:2 index.html:4 ");

    int fd;
    int64_t bytes;
    const char *mime;
    autobuf struct al_buf path = AL_BUF_INIT(4096), text = AL_BUF_INIT(4096);
    OK(al_artifact_open(w->store, &a, NULL, &fd, &path, &bytes, &mime, &err));
    assert_true(al_str_is(al_buf_str(&path), "index.html"));
    assert_int_equal(bytes, 4);
    assert_string_equal(mime, "text/html");
    assert_int_equal(al_fd_read_all(fd, &text), 0);
    assert_true(al_str_is(al_buf_str(&text), "<p>x"));
    close(fd);
    OK(al_artifact_open(w->store, &a, "a/b.json", &fd, &path, &bytes, &mime, &err));
    assert_string_equal(mime, "application/json");
    close(fd);
    static const char *const wrong[] = {"../manifest.json", "a",           "/etc/passwd", "",
                                        "index.html/",      "./index.html"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(al_artifact_open(w->store, &a, wrong[i], &fd, &path, &bytes, &mime, &err), -1);
        assert_int_equal(err.code, AL_NOT_FOUND);
        assert_string_equal(err.hint, "it has: a/b.json, index.html");
    }

    /* A script without a sandbox planted a link. */
    autofree char *dir = al_artifact_dir(w->store, &a);
    char full[4096];
    snprintf(full, sizeof full, "%s/files/index.html", dir);
    assert_int_equal(unlink(full), 0);
    assert_int_equal(symlink("/etc/passwd", full), 0);
    assert_int_equal(al_artifact_open(w->store, &a, NULL, &fd, &path, &bytes, &mime, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);

    OK(al_artifact_end(w->store, &a, "expired", &err));
    assert_int_not_equal(access(dir, F_OK), 0);
    al_artifact_fini(&a);
    struct al_artifact_filter all = {.all = true};
    (void)all;
    char id[AL_ID_MAX];
    snprintf(id, sizeof id, "%s", strrchr(dir, '/') + strlen("/site--"));
    OK(al_store_artifact_get(w->store, id, NULL, &a, &err));
    assert_int_equal(al_artifact_open(w->store, &a, NULL, &fd, &path, &bytes, &mime, &err), -1);
    assert_non_null(strstr(err.msg, "has expired"));
    assert_non_null(strstr(err.hint, "alisio artifacts rerun art_"));
    OK(al_artifact_end(w->store, &a, "deleted", &err));
    al_artifact_fini(&a);
}

static void age(const char *dir, const char *name, char out[4096])
{
    struct timespec old[2] = {{.tv_sec = time(NULL) - 7200}, {.tv_sec = time(NULL) - 7200}};
    snprintf(out, 4096, "%s/%s", dir, name);
    assert_true(mkdir(out, 0700) == 0 || errno == EEXIST);
    assert_int_equal(utimensat(AT_FDCWD, out, old, 0), 0);
}

static void a_sweep_takes_old_folders_that_no_ready_artifact_has(void **state)
{
    struct world *w = *state;
    struct al_err err = {0};
    char young[4096], orphan[4096], build[4096], foreign[4096], ready[4096], ended[4096];
    put(w, "a", "x");
    put(w, "b", "x");
    struct al_publication p = published(w);
    snprintf(young, sizeof young, "%s/old--art_01ARZ3NDEKTSV4RRFFQ69G5FAV", p.dir);
    assert_int_equal(mkdir(young, 0700), 0);
    age(p.dir, "old--art_01ARZ3NDEKTSV4RRFFQ69G5FAW", orphan);
    age(p.dir, ".tmp-art_01ARZ3NDEKTSV4RRFFQ69G5FAX", build);
    age(p.dir, "notes", foreign);
    age(p.dir, strrchr(p.list[0].rel_dir, '/') + 1, ready);
    age(p.dir, strrchr(p.list[1].rel_dir, '/') + 1, ended);
    OK(al_store_artifact_end(w->store, p.list[1].id, "expired", &err)); /* and then the process died */
    assert_int_equal(al_artifact_sweep(w->store), 3);
    assert_int_equal(access(young, F_OK), 0);
    assert_int_not_equal(access(orphan, F_OK), 0);
    assert_int_not_equal(access(build, F_OK), 0);
    assert_int_equal(access(foreign, F_OK), 0);
    assert_int_equal(access(ready, F_OK), 0);
    assert_int_not_equal(access(ended, F_OK), 0);
    assert_int_equal(al_artifact_sweep(w->store), 0);
    al_publication_fini(&p);
}

static void an_unreadable_file_is_told_to_an_ordinary_user(void **state)
{
    struct world *w = *state;
    if (geteuid() == 0)
        skip(); /* root reads everything */
    put(w, "a", "x");
    assert_int_equal(fchmodat(w->out_fd, "a", 0, 0), 0);
    rejected(w, "\"a\"", "cannot be read");
}

int main(void)
{
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(each_file_at_the_top_is_an_artifact),
        CASE(an_empty_folder_publishes_nothing),
        CASE(a_folder_with_an_index_is_pages_and_any_other_an_archive),
        CASE(the_manifest_says_all_and_no_path_of_the_machine),
        CASE(outputs_json_chooses_names_titles_and_entries),
        CASE(outputs_json_is_rejected_as_a_whole),
        CASE(each_rule_rejects_all_with_path_and_reason),
        CASE(names_at_their_limits_are_published),
        CASE(ten_thousand_entries_are_too_many),
        CASE(an_execution_publishes_once),
        CASE(what_is_not_committed_leaves_nothing),
        CASE(files_of_an_artifact_open_by_name),
        CASE(a_sweep_takes_old_folders_that_no_ready_artifact_has),
        CASE(an_unreadable_file_is_told_to_an_ordinary_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
