/*
 * A publication that is killed between any two steps is finished or absent after the next start, never half;
 * and one whose files change meanwhile is rejected.
 */
#include "artifact_world.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#define PLENTY UINT64_MAX

void al_publish_step(const char *done); /* takes the place of the one in the library */

static int steps_left = -1; /* die at the step after so many; -1: never */
static void (*at_step)(const char *done);

void al_publish_step(const char *done)
{
    if (at_step)
        at_step(done);
    if (steps_left == 0)
        kill(getpid(), SIGKILL);
    steps_left -= steps_left > 0;
}

static void fill(struct world *w)
{
    put(w, "report.md", "# Report\n");
    put(w, "raw/b.txt", "b");
    put(w, "site/index.html", "<p>hello");
    put(w, "site/data/a.json", "[1]");
    w->spec.execution = "exec_1";
}

/* A host that publishes, and dies at its k-th step. 1 killed, 0 it came to its end. */
static int publish_and_die(struct world *w, int k)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct al_store *s = NULL;
        struct al_publication p;
        struct al_err err = {0};
        steps_left = k;
        if (al_store_open(w->fix->dir, NULL, &s, &err) < 0 || al_publish_build(&w->spec, &p, &err) < 0 ||
            al_publish_commit(&p, s, PLENTY, &err) != 0)
            _exit(1);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status))
        return 1;
    assert_int_equal(WEXITSTATUS(status), 0);
    return 0;
}

struct seen {
    struct world *w;
    int n;
};

/* Every file that the row names is there, whole. */
static bool look(void *ud, const struct al_artifact *listed)
{
    struct seen *s = ud;
    struct al_artifact a = {0};
    struct al_err err = {0};
    int fd;
    int64_t bytes;
    const char *mime;
    OK(al_store_artifact_get(s->w->store, listed->id, NULL, &a, &err));
    OK(al_artifact_open(s->w->store, &a, NULL, &fd, NULL, &bytes, &mime, &err));
    close(fd);
    al_artifact_fini(&a);
    s->n++;
    return true;
}

static char *session_dir(const struct world *w)
{
    char key[AL_WORKSPACE_KEY_MAX];
    struct al_buf b = AL_BUF_INIT(256);
    al_workspace_key(key, "/w");
    al_buf_addf(&b, "artifacts/%s/%s", key, w->ses);
    return al_buf_take(&b);
}

static void a_publication_killed_at_any_step_is_finished_or_absent(void **state)
{
    struct world *w = *state;
    int killed = 1, finished = 0, absent = 0;
    fill(w);
    autofree char *dir = session_dir(w);
    for (int k = 0; killed; k++) {
        struct seen s = {w, 0};
        struct al_err err = {0};
        assert_true(k < 100);
        killed = publish_and_die(w, k);
        al_artifact_recover(w->store);
        assert_int_equal(count_entries(w, "artifacts/.building"), 0);
        OK(al_store_artifact_each(w->store, &(struct al_artifact_filter){.all = true}, look, &s, &err));
        int on_disk = count_entries(w, dir);
        if (s.n == 0) {
            absent++;
            assert_int_equal(on_disk, 0);
        } else {
            finished++;
            assert_int_equal(s.n, 3);
            /* Folder, files/ and manifest.json of each, one file of two, two files in a folder of the third.
             */
            assert_int_equal(on_disk, 3 * 3 + 2 + 3);
        }
        assert_int_equal(al_artifact_recover(w->store), 0);
        assert_int_equal(count_entries(w, dir), on_disk);
        OK(al_store_purge_workspace(w->store, "/w", &err));
        session_of(w->store, "/w", w->ses);
        free(dir);
        dir = session_dir(w);
    }
    /* noted, 3 × (folder, files, manifest), built all, rows | 3 names | ready | the end */
    assert_int_equal(absent, 1 + 9 + 1 + 1 + 3);
    assert_int_equal(finished, 2);
}

static void the_folders_of_a_live_publication_are_left_alone(void **state)
{
    struct world *w = *state;
    struct al_publication p;
    struct al_err err = {0};
    fill(w);
    OK(al_publish_build(&w->spec, &p, &err));
    struct al_store *other = open_store(w->fix);
    assert_int_equal(al_artifact_recover(other), 0);
    al_store_close(other);
    assert_int_equal(al_publish_commit(&p, w->store, PLENTY, &err), 0);
    struct seen s = {w, 0};
    OK(al_store_artifact_each(w->store, &(struct al_artifact_filter){0}, look, &s, &err));
    assert_int_equal(s.n, 3);
    al_publication_fini(&p);
}

static void a_foreign_note_removes_nothing(void **state)
{
    static const char *const notes[] = {
        "",
        "x",
        "hosts\nart_01ARZ3NDEKTSV4RRFFQ69G5FAV\n",
        "artifacts/../hosts\nart_01ARZ3NDEKTSV4RRFFQ69G5FAV\n",
        "artifacts/a/b/c\nart_01ARZ3NDEKTSV4RRFFQ69G5FAV\n",
        "artifacts/a/b\n../../../hosts\n\n..\nart_x",
    };
    struct world *w = *state;
    char path[256];
    fill(w);
    assert_int_equal(publish_and_die(w, -1), 0);
    int before = count_entries(w, "artifacts");
    snprintf(path, sizeof path, "%s/artifacts/.building/01ARZ3NDEKTSV4RRFFQ69G5FAV", w->fix->dir);
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        int fd = open(path, O_WRONLY | O_CREAT, 0600);
        assert_int_equal(write(fd, notes[i], strlen(notes[i])), strlen(notes[i]));
        close(fd);
        assert_int_equal(al_artifact_recover(w->store), 1);
        assert_int_equal(count_entries(w, "artifacts"), before);
        assert_true(count_entries(w, "hosts") > 0);
    }
}

/* --- changes while it is read --- */

static struct world *changing;
static int change;
static bool changed;

static void append(const char *name)
{
    int fd = openat(changing->out_fd, name, O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
}

static void replace(const char *name, const char *text)
{
    assert_int_equal(unlinkat(changing->out_fd, name, 0), 0);
    put(changing, name, text);
}

/* After the first of two artifacts was copied. */
static void change_once(const char *done)
{
    struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    if (changed || strcmp(done, "copied its files") != 0)
        return;
    changed = true;
    switch (change) {
    case 0:
        append("b.txt");
        break;
    case 1:
        replace("b.txt", "B");
        break;
    case 2:
        assert_int_equal(unlinkat(changing->out_fd, "b.txt", 0), 0);
        assert_int_equal(symlinkat("/etc/passwd", changing->out_fd, "b.txt"), 0);
        break;
    case 3:
        assert_int_equal(unlinkat(changing->out_fd, "b.txt", 0), 0);
        break;
    case 4:
        assert_int_equal(linkat(changing->out_fd, "b.txt", changing->out_fd, "c.txt", 0), 0);
        break;
    case 5:
        put(changing, "late.txt", "x");
        break;
    case 6:
        put(changing, "c/late.txt", "x");
        break;
    case 7:
        assert_int_equal(utimensat(changing->out_fd, "b.txt", old, 0), 0);
        break;
    case 8:
        assert_int_equal(renameat(changing->out_fd, "c", changing->out_fd, "d"), 0);
        assert_int_equal(symlinkat("d", changing->out_fd, "c"), 0);
        break;
    case 9:
        assert_int_equal(unlinkat(changing->out_fd, "b.txt", 0), 0);
        assert_int_equal(mkfifoat(changing->out_fd, "b.txt", 0600), 0);
        break;
    }
}

static void what_changes_while_it_is_published_rejects_all(void **state)
{
    struct world *w = *state;
    changing = w;
    for (change = 0; change <= 9; change++) {
        struct al_publication p;
        struct al_err err = {0};
        put(w, "a.txt", "a");
        put(w, "b.txt", "b");
        put(w, "c/c.txt", "c");
        changed = false;
        at_step = change_once;
        int r = al_publish_build(&w->spec, &p, &err);
        at_step = NULL;
        if (r == 0 || err.code != AL_PUBLISH_REJECTED || !strstr(err.msg, "changed while it was published"))
            fail_msg("change %d: %d %s", change, r, err.msg);
        assert_true(changed);
        assert_int_equal(count_entries(w, "artifacts"), 3); /* .building, workspace, session */
        fresh_out(w);
    }
}

static void purge_now(const char *done)
{
    struct al_err err = {0};
    if (strcmp(done, "wrote the rows") != 0)
        return;
    struct al_store *other = open_store(changing->fix);
    OK(al_store_purge_workspace(other, "/w", &err));
    al_store_close(other);
}

static void a_purge_in_the_middle_wins(void **state)
{
    struct world *w = *state;
    struct al_publication p;
    struct al_err err = {0};
    int64_t n, bytes;
    changing = w;
    fill(w);
    OK(al_publish_build(&w->spec, &p, &err));
    at_step = purge_now;
    int r = al_publish_commit(&p, w->store, PLENTY, &err);
    at_step = NULL;
    assert_int_equal(r, -1);
    al_publication_fini(&p);
    assert_int_equal(count_entries(w, "artifacts"), 1); /* .building */
    OK(al_store_artifact_usage(w->store, NULL, &n, &bytes, &err));
    assert_int_equal(n, 0);
}

int main(void)
{
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_publication_killed_at_any_step_is_finished_or_absent),
        CASE(the_folders_of_a_live_publication_are_left_alone),
        CASE(a_foreign_note_removes_nothing),
        CASE(a_purge_in_the_middle_wins),
        CASE(what_changes_while_it_is_published_rejects_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
