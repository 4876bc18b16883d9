/* JSON files that nobody here wrote: valid ones are rows, broken ones are refused with a place, none does
 * harm. */
#include "test.h"

#include "base/buf.h"
#include "base/mem.h"
#include "table/table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct counted {
    uint64_t rows, cells, notes;
    size_t width;
    unsigned sheets;
};

static int on_sheet(void *ud, struct al_str name, struct al_err *err)
{
    (void)name, (void)err;
    ((struct counted *)ud)->sheets++;
    return 0;
}

static int on_columns(void *ud, const struct al_str *labels, size_t n, struct al_err *err)
{
    (void)labels, (void)err;
    ((struct counted *)ud)->width = n;
    return 0;
}

static int on_late(void *ud, struct al_str label, struct al_err *err)
{
    (void)label, (void)err;
    ((struct counted *)ud)->width++;
    return 0;
}

static int on_row(void *ud, const struct al_cell *cells, size_t n, uint64_t line, struct al_err *err)
{
    struct counted *c = ud;
    (void)err, (void)line;
    assert_true(n <= c->width);
    c->rows++;
    for (size_t i = 0; i < n; i++)
        c->cells += cells[i].kind != AL_CELL_NULL;
    return 0;
}

__attribute__((format(printf, 4, 5))) static void on_note(void *ud, enum al_note kind, uint64_t line,
                                                          const char *fmt, ...)
{
    (void)kind, (void)line, (void)fmt;
    ((struct counted *)ud)->notes++;
}

static int on_progress(void *ud, uint64_t bytes, struct al_err *err)
{
    (void)ud, (void)bytes, (void)err;
    return 0;
}

static int read_file(const char *path, struct counted *c, struct al_err *err)
{
    const char *slash = strrchr(path, '/');
    struct al_table_sink sink = {on_sheet, on_columns, on_late, on_row, on_note, on_progress, c};
    struct al_table_opts opts = {.max_bytes = (uint64_t)1 << 30};
    struct al_table_found found = {0};
    char sha256[65] = "";
    memset(c, 0, sizeof *c);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    int r = al_table_read(fd, al_str_of(slash + 1), &opts, &sink, &found, sha256, err);
    close(fd);
    if (r == 0 && (strlen(sha256) != 64 || c->sheets != 1 || c->width == 0))
        fail_msg("%s: %u sheets, %zu columns, hash %s", path, c->sheets, c->width, sha256);
    if (r < 0 && (!err->msg[0] || !err->hint[0]))
        fail_msg("%s: without a reason: %s / %s", path, err->msg, err->hint);
    return r;
}

/* Every file below a folder, by name; links are not followed. Returns how many there were. */
static unsigned each_file(const char *dir, void (*check)(const char *path, const char *name))
{
    struct dirent **list = NULL;
    int n = scandir(dir, &list, NULL, alphasort);
    unsigned files = 0;
    for (int i = 0; i < n; i++) {
        autobuf struct al_buf path = AL_BUF_INIT(4096);
        struct stat st;
        al_buf_addf(&path, "%s/%s", dir, list[i]->d_name);
        al_buf_addc(&path, '\0');
        if (list[i]->d_name[0] != '.' && lstat(path.p, &st) == 0) {
            if (S_ISDIR(st.st_mode)) {
                files += each_file(path.p, check);
            } else if (S_ISREG(st.st_mode)) {
                check(path.p, list[i]->d_name);
                files++;
            }
        }
        free(list[i]);
    }
    free(list);
    return files;
}

static void in_corpus(const char *folder, void (*check)(const char *path, const char *name))
{
    const char *corpus = getenv("ALISIO_CORPUS");
    autobuf struct al_buf dir = AL_BUF_INIT(4096);
    al_buf_addf(&dir, "%s/%s", corpus ? corpus : AL_CORPUS, folder);
    al_buf_addc(&dir, '\0');
    size_t n = each_file(dir.p, check);
    if (n == 0)
        print_message("skipped: there is no corpus at %s\n", dir.p);
    al_buf_free(&dir); /* skip() does not come back */
    if (n == 0)
        skip();
}

static unsigned n_taken, n_refused, n_either_taken, n_either_refused;

static void check_suite(const char *path, const char *name)
{
    struct counted c;
    struct al_err err = {0};
    if (name[1] != '_')
        return;
    int r = read_file(path, &c, &err);
    if (name[0] == 'y' && r < 0)
        fail_msg("%s is valid: %s", name, err.msg);
    if (name[0] == 'n' && r == 0)
        fail_msg("%s is broken, and was taken", name);
    n_taken += name[0] == 'y';
    n_refused += name[0] == 'n';
    n_either_taken += name[0] == 'i' && r == 0;
    n_either_refused += name[0] == 'i' && r < 0;
    bool placed = strstr(err.msg, "line ") && strstr(err.msg, "column ");
    if (name[0] == 'n' && !placed && !strstr(err.msg, "is empty") && !strstr(err.msg, "white space only"))
        fail_msg("%s: the place is missing: %s", name, err.msg);
}

static void the_test_suite_is_told_apart(void **state)
{
    (void)state;
    in_corpus("json/JSONTestSuite", check_suite);
    print_message("corpus: JSONTestSuite | %u y_ accepted, %u n_ refused; i_: %u accepted, %u refused\n",
                  n_taken, n_refused, n_either_taken, n_either_refused);
}

static void check_valid(const char *path, const char *name)
{
    struct counted c;
    struct al_err err = {0};
    size_t n = strlen(name);
    if (n < 5 || strcmp(name + n - 5, ".json") != 0)
        return;
    if (read_file(path, &c, &err) < 0 && err.code != AL_INGEST_LIMIT)
        fail_msg("%s: %s", name, err.msg);
}

static void public_data_sets_are_read(void **state)
{
    (void)state;
    in_corpus("vega-datasets", check_valid);
}

static void check_any(const char *path, const char *name)
{
    struct counted c;
    struct al_err err = {0};
    int r = read_file(path, &c, &err);
    if (getenv("AL_CORPUS_SHOW"))
        print_message("%s: %s\n", name, r < 0 ? err.msg : "read");
    if (r < 0 && err.code != AL_INGEST_INVALID && err.code != AL_INGEST_LIMIT &&
        err.code != AL_DATASET_UNSUPPORTED)
        fail_msg("%s: %s %s", name, al_code_name(err.code), err.msg);
}

static void odd_files_do_no_harm(void **state)
{
    (void)state;
    in_corpus("json/duckdb", check_any);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_test_suite_is_told_apart),
        cmocka_unit_test(public_data_sets_are_read),
        cmocka_unit_test(odd_files_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
