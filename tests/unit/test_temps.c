#include "test.h"

#include "os/fd.h"
#include "os/path.h"
#include "os/temps.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEFT ".alisio-tmp-0123456789abcdef"

static char base[64], notes[128], folder[128];

static int make_place(void **state)
{
    (void)state;
    snprintf(base, sizeof base, "/tmp/alisio-temps-XXXXXX");
    assert_non_null(mkdtemp(base));
    snprintf(notes, sizeof notes, "%s/notes", base);
    snprintf(folder, sizeof folder, "%s/a\nfolder", base); /* a line end in a path is no end of a note */
    return mkdir(folder, 0700);
}

static int remove_place(void **state)
{
    (void)state;
    autofd int root = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return al_path_remove_tree(root, base + 5);
}

static void put(int dir, const char *name)
{
    autofd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
}

static void what_a_killed_writer_left_is_found_by_its_notes(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        al_temps_begin(notes);
        if (al_temps_enter(dir) < 0)
            _exit(1);
        put(dir, LEFT);
        put(dir, "kept.txt");
        _exit(0); /* as if killed: no leave, no end */
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(access(notes, F_OK), 0);

    al_temps_recover(notes);
    autofd int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_not_equal(faccessat(dir, LEFT, F_OK, 0), 0);
    assert_int_equal(faccessat(dir, "kept.txt", F_OK, 0), 0);
    assert_int_not_equal(access(notes, F_OK), 0);
}

static void notes_do_not_grow_and_go_at_the_end(void **state)
{
    (void)state;
    struct stat st;
    struct al_err err;
    al_temps_begin(notes);
    autofd int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 50; i++)
        assert_int_equal(al_path_write_atomic(dir, "x", AL_STR("text"), 0600, "x", &err), 0);
    assert_int_equal(stat(notes, &st), 0);
    assert_int_equal(st.st_size, 0);
    al_temps_end("another");
    assert_int_equal(access(notes, F_OK), 0);
    al_temps_end(notes);
    assert_int_not_equal(access(notes, F_OK), 0);
}

static void strange_notes_harm_nothing(void **state)
{
    (void)state;
    static const char *const table[] = {"", "no zero at the end", "/nonexistent", "relative/path", "/proc/self/mem"};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        autofd int fd = open(notes, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        assert_int_equal(al_fd_write_all(fd, (struct al_str){table[i], strlen(table[i]) + (i > 1)}), 0);
        al_temps_recover(notes);
        assert_int_not_equal(access(notes, F_OK), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_a_killed_writer_left_is_found_by_its_notes, make_place, remove_place),
        cmocka_unit_test_setup_teardown(notes_do_not_grow_and_go_at_the_end, make_place, remove_place),
        cmocka_unit_test_setup_teardown(strange_notes_harm_nothing, make_place, remove_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
