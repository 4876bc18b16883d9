/* Random trees: what is published is exactly what lay there, and one fault anywhere publishes nothing. */
#include "artifact_world.h"

#include "base/text.h"
#include "table/zip.h"

#include <errno.h>

#define TREES 300
#define MAX_FILES 60
#define PLENTY UINT64_MAX

struct tree {
    uint64_t seed;
    struct {
        char path[1400];
        size_t n;
        char byte; /* its content: n of it */
    } file[MAX_FILES];
    size_t n_files, n_top;
    bool fault; /* one was made */
};

static uint64_t next(struct tree *t)
{
    t->seed ^= t->seed << 13;
    t->seed ^= t->seed >> 7;
    t->seed ^= t->seed << 17;
    return t->seed;
}

static unsigned below(struct tree *t, unsigned n)
{
    return (unsigned)(next(t) >> 20) % n;
}

static void make_name(struct tree *t, unsigned at, char *out, size_t room)
{
    static const char *const stems[] = {"a",
                                        "report",
                                        "año",
                                        "売上",
                                        "con",
                                        "x y",
                                        "a\\b",
                                        "q?*",
                                        "e\xcc\x81",
                                        "-rf",
                                        "%41",
                                        "a&b;",
                                        "'\"",
                                        "\xe2\x80\xae"
                                        "x",
                                        "nul.txt",
                                        "ſ",
                                        "🎉"};
    static const char *const exts[] = {"", ".md", ".csv", ".json", ".png", ".html", ".txt.zip", "."};
    snprintf(out, room, "%s%u%s", stems[below(t, sizeof stems / sizeof *stems)], at,
             exts[below(t, sizeof exts / sizeof *exts)]);
    if (below(t, 40) == 0) {
        memset(out, 'l', 250);
        snprintf(out + 250, room - 250, "%u", at);
    }
}

static void make_fault(struct tree *t, struct world *w, const char *dir)
{
    char path[4096], other[4096];
    snprintf(path, sizeof path, "%s%s", dir, "beside");
    put(w, path, "x"); /* and so the folder is there */
    snprintf(path, sizeof path, "%s%s", dir, "fault");
    snprintf(other, sizeof other, "%s%s", dir, "fault2");
    t->fault = true;
    switch (below(t, 8)) {
    case 0:
        assert_int_equal(symlinkat("report", w->out_fd, path), 0);
        break;
    case 1:
        put(w, path, "x");
        assert_int_equal(linkat(w->out_fd, path, w->out_fd, other, 0), 0);
        break;
    case 2:
        assert_int_equal(mkfifoat(w->out_fd, path, 0600), 0);
        break;
    case 3:
        snprintf(path, sizeof path, "%s.hidden", dir);
        put(w, path, "x");
        break;
    case 4:
        assert_int_equal(mkdirat(w->out_fd, path, 0700), 0);
        break;
    case 5:
        snprintf(path, sizeof path, "%sa\x1b[0m", dir);
        put(w, path, "x");
        break;
    case 6:
        snprintf(path, sizeof path, "%s\xff\xfe", dir);
        put(w, path, "x");
        break;
    case 7:
        snprintf(path, sizeof path, "%s\xc5\xb4", dir);
        put(w, path, "x");
        snprintf(path, sizeof path, "%sW\xcc\x82", dir);
        put(w, path, "x");
        break;
    }
}

static void make_file(struct tree *t, struct world *w, const char *path)
{
    char text[3001];
    size_t n = below(t, 4) == 0 ? 0 : below(t, sizeof text);
    char byte = (char)('a' + below(t, 26));
    memset(text, byte, n);
    text[n] = '\0';
    put(w, path, text);
    snprintf(t->file[t->n_files].path, sizeof t->file->path, "%s", path);
    t->file[t->n_files].n = n;
    t->file[t->n_files++].byte = byte;
}

/* dir: "" or "a/b/". At least one file is made beneath. */
static void make_folder(struct tree *t, struct world *w, const char *dir, unsigned depth, bool faulty)
{
    unsigned n = 1 + below(t, 4), fault_at = faulty ? below(t, n) : n;
    if (depth > 0 && below(t, 3) == 0) {
        char index[1500];
        snprintf(index, sizeof index, "%sindex.html", dir);
        make_file(t, w, index);
    }
    for (unsigned i = 0; i < n && t->n_files < MAX_FILES - 8; i++) {
        char name[300], path[1400];
        make_name(t, i, name, sizeof name);
        bool folder = depth < 5 && strlen(dir) < 800 && below(t, 3) == 0;
        snprintf(path, sizeof path, "%s%s%s", dir, name, folder ? "/" : "");
        if (i == fault_at && (!folder || below(t, 2))) {
            make_fault(t, w, dir);
            fault_at = n;
        }
        if (folder)
            make_folder(t, w, path, depth + 1, i == fault_at);
        else
            make_file(t, w, path);
        t->n_top += depth == 0;
    }
}

static void check_bytes(const struct tree *t, size_t i, const char *p, size_t n)
{
    assert_int_equal(n, t->file[i].n);
    for (size_t k = 0; k < n; k++)
        assert_int_equal(p[k], t->file[i].byte);
}

static size_t find(const struct tree *t, const char *path)
{
    for (size_t i = 0; i < t->n_files; i++) {
        if (strcmp(t->file[i].path, path) == 0)
            return i;
    }
    fail_msg("nobody made %s", path);
    return 0;
}

struct check {
    struct world *w;
    const struct tree *t;
    const struct al_artifact *a;
    size_t seen;
};

static bool check_file(void *ud, struct al_str path, int64_t bytes, struct al_str sha256)
{
    struct check *c = ud;
    autofree char *rel = al_xdup(path.p, path.n);
    char full[4096], sum[AL_SHA256_HEX];
    int fd;
    int64_t size;
    const char *mime;
    struct al_err err = {0};
    autobuf struct al_buf text = AL_BUF_INIT(1 << 20);
    OK(al_artifact_open(c->w->store, c->a, rel, &fd, NULL, &size, &mime, &err));
    assert_int_equal(al_fd_read_all(fd, &text), 0);
    close(fd);
    assert_int_equal(size, bytes);
    al_sha256(al_buf_str(&text), sum);
    assert_true(al_str_is(sha256, sum));
    snprintf(full, sizeof full, "%s%s%s", c->a->source_path, c->a->entry ? "/" : "", c->a->entry ? rel : "");
    check_bytes(c->t, find(c->t, full), text.p, text.n);
    c->seen++;
    return true;
}

/* Names change in an archive, so only how many there are and what they hold is compared. */
static void check_archive(struct check *c)
{
    int fd;
    int64_t size;
    const char *mime;
    struct al_zip *z;
    struct al_err err = {0};
    size_t inside = 0, skip = strlen(c->a->source_path), total = 0, unpacked = 0;
    OK(al_artifact_open(c->w->store, c->a, NULL, &fd, NULL, &size, &mime, &err));
    assert_string_equal(mime, "application/zip");
    OK(al_zip_open(fd, (uint64_t)size, 1 << 30, &z, &err));
    for (size_t i = 0; i < c->t->n_files; i++) {
        bool in =
            strncmp(c->t->file[i].path, c->a->source_path, skip) == 0 && c->t->file[i].path[skip] == '/';
        inside += in;
        total += in ? c->t->file[i].n : 0;
    }
    assert_int_equal(al_zip_count(z), inside);
    for (size_t i = 0; i < inside; i++) {
        struct al_unzip *u;
        char got[4096];
        size_t n = 1;
        OK(al_unzip_open(z, al_zip_at(z, i), &u, &err));
        while (n) {
            OK(al_unzip_next(u, got, sizeof got, &n, &err));
            unpacked += n;
        }
        al_unzip_free(u);
    }
    assert_int_equal(unpacked, total);
    c->seen += inside;
    al_zip_free(z);
    close(fd);
}

static void check_all(struct world *w, const struct tree *t, const struct al_publication *p)
{
    size_t seen = 0;
    assert_int_equal(p->n, t->n_top);
    for (size_t i = 0; i < p->n; i++) {
        struct al_artifact a = {0};
        struct al_err err = {0};
        OK(al_store_artifact_get(w->store, p->list[i].id, "/w", &a, &err));
        struct check c = {w, t, &a, 0};
        if (strcmp(a.kind, "archive") == 0 && strcmp(a.file_name, a.source_path) != 0)
            check_archive(&c);
        else
            OK(al_artifact_files(&a, check_file, &c, &err));
        seen += c.seen;
        al_artifact_fini(&a);
    }
    assert_int_equal(seen, t->n_files);
}

static void trees_are_published_whole_or_not_at_all(void **state)
{
    struct world *w = *state;
    unsigned rejected = 0;
    autofree struct tree *t = al_xcalloc(1, sizeof *t);
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        struct al_publication p;
        struct al_err err = {0};
        *t = (struct tree){.seed = seed * 0x9e3779b97f4a7c15u};
        make_folder(t, w, "", 0, below(t, 3) == 0);
        int r = al_publish_build(&w->spec, &p, &err);
        if (t->fault != (r < 0) || (r < 0 && err.code != AL_PUBLISH_REJECTED))
            fail_msg("seed %llu: fault %d, %d %s", (unsigned long long)seed, t->fault, r, err.msg);
        rejected += r < 0;
        if (r == 0) {
            assert_int_equal(al_publish_commit(&p, w->store, PLENTY, &err), 0);
            check_all(w, t, &p);
            al_publication_fini(&p);
        }
        OK(al_store_purge_workspace(w->store, "/w", &err));
        assert_int_equal(count_entries(w, "artifacts"), seed > 1 || r == 0); /* .building alone */
        session_of(w->store, "/w", w->ses);
        fresh_out(w);
    }
    assert_true(rejected > TREES / 6 && rejected < TREES / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(trees_are_published_whole_or_not_at_all, world_setup, world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
