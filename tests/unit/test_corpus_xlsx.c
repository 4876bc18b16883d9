/* Workbooks that nobody here wrote: each is read, or refused with a reason. */
#include "test.h"

#include "xlsx_make.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DIRS 64

static unsigned n_read, n_refused;

static bool ends(const char *s, const char *end)
{
    size_t a = strlen(s), b = strlen(end);
    return a >= b && strcmp(s + a - b, end) == 0;
}

static void read_one(const char *path)
{
    struct seen s;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    seen_init(&s);
    s.numbers_only = true;
    seen_read(&s, fd, NULL);
    const char *text = seen_text(&s);
    bool refused = strstr(text, "INGEST_") || strstr(text, "DATASET_");
    if (refused)
        print_message("%s: %s", path, text);
    if (strstr(text, "INTERNAL"))
        fail_msg("%s: %s", path, text);
    n_refused += refused;
    n_read += !refused;
    seen_free(&s);
}

static void every_workbook_is_read_or_refused_with_a_reason(void **state)
{
    (void)state;
    const char *corpus = getenv("ALISIO_CORPUS");
    static char dirs[MAX_DIRS][512];
    size_t n = 1;
    snprintf(dirs[0], sizeof dirs[0], "%.400s/xlsx", corpus ? corpus : AL_CORPUS);
    for (size_t i = 0; i < n; i++) {
        DIR *d = opendir(dirs[i]);
        if (!d && i == 0) {
            print_message("skipped: no corpus at %s\n", dirs[0]);
            skip();
        }
        for (struct dirent *e; d && (e = readdir(d));) {
            char path[1024];
            struct stat st;
            snprintf(path, sizeof path, "%s/%s", dirs[i], e->d_name);
            if (e->d_name[0] == '.' || stat(path, &st) < 0)
                continue;
            if (S_ISDIR(st.st_mode)) {
                assert_true(n < MAX_DIRS && strlen(path) < sizeof dirs[0]);
                memcpy(dirs[n++], path, strlen(path) + 1);
            } else if (ends(path, ".xlsx") || ends(path, ".xlsm")) {
                read_one(path);
            }
        }
        closedir(d);
    }
    print_message("corpus: workbooks | %u read, %u refused with a reason\n", n_read, n_refused);
    /* A damaged archive, an encrypted one, two that are no workbooks, one that is empty. */
    assert_true(n_read >= 205);
    assert_true(n_refused <= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_workbook_is_read_or_refused_with_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
