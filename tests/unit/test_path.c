#include "os_help.h"

#include <pthread.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

static struct tmp t;
static int ws; /* the workspace: a folder in t, so that there is an outside */

static int setup(void **state)
{
    (void)state;
    tmp_make(&t);
    mkdirat(t.fd, "ws", 0755);
    mkdirat(t.fd, "out", 0755);
    ws = openat(t.fd, "ws", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int out = openat(t.fd, "out", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    put_file(out, "secret", "SECRET");
    close(out);
    put_file(ws, "file", "inside");
    mkdirat(ws, "dir", 0755);
    mkdirat(ws, "dir/deep", 0755);
    put_file(ws, "dir/file", "in dir");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    close(ws);
    tmp_remove(&t);
    return 0;
}

static char *repeat(const char *z, size_t times)
{
    struct al_buf b = AL_BUF_INIT(1 << 20);
    for (size_t i = 0; i < times; i++)
        al_buf_adds(&b, z);
    return al_buf_take(&b);
}

static void normalize_table(void **state)
{
    (void)state;
    static const struct {
        struct al_str in;
        const char *out; /* NULL: fails with code */
        enum al_code code;
    } table[] = {
        {AL_S("a"), "a", AL_OK},
        {AL_S("a/b"), "a/b", AL_OK},
        {AL_S("./a//b/./c/"), "a/b/c", AL_OK},
        {AL_S("."), ".", AL_OK},
        {AL_S("./"), ".", AL_OK},
        {AL_S("a/.."), ".", AL_OK},
        {AL_S("a/../b"), "b", AL_OK},
        {AL_S("a/b/../../c"), "c", AL_OK},
        {AL_S("..."), "...", AL_OK},
        {AL_S("..a/.b"), "..a/.b", AL_OK},
        {AL_S(" a "), " a ", AL_OK},
        {AL_S("a\nb"), "a\nb", AL_OK},
        {AL_S("\xff\xfe"), "\xff\xfe", AL_OK},
        {AL_S(".."), NULL, AL_PATH_OUTSIDE_WORKSPACE},
        {AL_S("../a"), NULL, AL_PATH_OUTSIDE_WORKSPACE},
        {AL_S("a/../../b"), NULL, AL_PATH_OUTSIDE_WORKSPACE},
        {AL_S("../ws/file"), NULL, AL_PATH_OUTSIDE_WORKSPACE},
        {AL_S("/"), NULL, AL_PATH_OUTSIDE_WORKSPACE},
        {AL_S("/etc/passwd"), NULL, AL_PATH_OUTSIDE_WORKSPACE},
        {AL_S("//a"), NULL, AL_PATH_OUTSIDE_WORKSPACE},
        {AL_S(""), NULL, AL_INVALID_INPUT},
        {AL_S("a\0b"), NULL, AL_INVALID_INPUT},
        {AL_S("\0"), NULL, AL_INVALID_INPUT},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct al_buf b = AL_BUF_INIT(5000);
        struct al_err err;
        int r = al_path_normalize(table[i].in, &b, &err);
        if (table[i].out) {
            assert_int_equal(r, 0);
            assert_true(al_str_is(al_buf_str(&b), table[i].out));
        } else {
            assert_int_equal(r, -1);
            assert_int_equal(err.code, table[i].code);
        }
        al_buf_free(&b);
    }
}

static void normalize_limits(void **state)
{
    (void)state;
    struct al_buf b = AL_BUF_INIT(10000);
    struct al_err err;
    autofree char *n255 = repeat("x", 255), *n256 = repeat("x", 256);
    autofree char *p4094 = repeat("x/", 2047), *p4096 = repeat("x/", 2048);
    assert_int_equal(al_path_normalize(al_str_of(n255), &b, &err), 0);
    assert_int_equal(al_path_normalize(al_str_of(n256), &b, &err), -1);
    assert_int_equal(err.code, AL_INVALID_INPUT);
    assert_int_equal(al_path_normalize(al_str_of(p4094), &b, &err), 0);
    assert_int_equal(b.n, 4093);
    assert_int_equal(al_path_normalize(al_str_of(p4096), &b, &err), -1);
    assert_int_equal(err.code, AL_INVALID_INPUT);
    al_buf_free(&b);
    struct al_buf small = AL_BUF_INIT(3);
    assert_int_equal(al_path_normalize(AL_STR("abcd"), &small, &err), -1);
    al_buf_free(&small);
}

static void make_special(void)
{
    assert_int_equal(mkfifoat(ws, "fifo", 0644), 0);
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/sock", ws);
    assert_int_equal(bind(s, (struct sockaddr *)&a, sizeof(a)), 0);
    close(s);
}

static void open_table(void **state)
{
    (void)state;
    char abs_in[400], abs_out[400];
    snprintf(abs_in, sizeof(abs_in), "%s/ws/file", t.path);
    snprintf(abs_out, sizeof(abs_out), "%s/out/secret", t.path);
    put_link("file", ws, "rel");
    put_link("../file", ws, "dir/up");
    put_link("rel", ws, "chain");
    put_link("dir", ws, "todir");
    put_link("../out/secret", ws, "leave");
    put_link("../../out", ws, "dir/leavedir");
    put_link("../ws/file", ws, "back");
    put_link(abs_in, ws, "absin");
    put_link(abs_out, ws, "absout");
    put_link("absout", ws, "indirect");
    put_link("loop2", ws, "loop1");
    put_link("loop1", ws, "loop2");
    put_link("nowhere", ws, "dangling");
    put_link("/proc/self/root", ws, "magic");
    make_special();
    autofree char *long_name = repeat("n", 256);
    const struct {
        const char *rel;
        int flags;
        enum al_code code;
        const char *says; /* in the message */
    } table[] = {
        {"file", O_RDONLY, AL_OK, NULL},
        {"dir/../file", O_RDONLY, AL_OK, NULL},
        {"rel", O_RDONLY, AL_OK, NULL},
        {"dir/up", O_RDONLY, AL_OK, NULL},
        {"chain", O_RDONLY, AL_OK, NULL},
        {"todir/file", O_RDONLY, AL_OK, NULL},
        {"dir", O_RDONLY | O_DIRECTORY, AL_OK, NULL},
        {".", O_RDONLY | O_DIRECTORY, AL_OK, NULL},
        {"fifo", O_PATH, AL_OK, NULL},
        {"dir", O_PATH, AL_OK, NULL},
        {"missing", O_RDONLY, AL_NOT_FOUND, "SHOWN"},
        {"missing/x", O_RDONLY, AL_NOT_FOUND, "SHOWN"},
        {"dangling", O_RDONLY, AL_NOT_FOUND, "SHOWN"},
        {"dir", O_RDONLY, AL_INVALID_INPUT, "is a folder"},
        {"dir", O_WRONLY, AL_INVALID_INPUT, "is a folder"},
        {"file/x", O_RDONLY, AL_INVALID_INPUT, "no folder"},
        {"file", O_RDONLY | O_DIRECTORY, AL_INVALID_INPUT, "no folder"},
        {"rel", O_RDONLY | O_NOFOLLOW, AL_INVALID_INPUT, "link"},
        {"loop1", O_RDONLY, AL_INVALID_INPUT, "link"},
        {"fifo", O_RDONLY, AL_INVALID_INPUT, "special"},
        {"fifo", O_WRONLY, AL_INVALID_INPUT, "special"},
        {"sock", O_RDONLY, AL_INVALID_INPUT, "special"},
        {long_name, O_RDONLY, AL_INVALID_INPUT, "too long"},
        {"file", O_RDWR | O_CREAT | O_EXCL, AL_STATE_CONFLICT, "exists"},
        {"..", O_RDONLY | O_DIRECTORY, AL_PATH_OUTSIDE_WORKSPACE, "SHOWN"},
        {"../out/secret", O_RDONLY, AL_PATH_OUTSIDE_WORKSPACE, "SHOWN"},
        {"/etc/passwd", O_RDONLY, AL_PATH_OUTSIDE_WORKSPACE, "SHOWN"},
        {"leave", O_RDONLY, AL_PATH_OUTSIDE_WORKSPACE, "\"leave\""},
        {"dir/leavedir/secret", O_RDONLY, AL_PATH_OUTSIDE_WORKSPACE, "\"dir/leavedir\""},
        {"todir/leavedir/secret", O_RDONLY, AL_PATH_OUTSIDE_WORKSPACE, "\"todir/leavedir\""},
        {"back", O_RDONLY, AL_PATH_OUTSIDE_WORKSPACE, "\"back\""},
        {"absin", O_RDONLY, AL_PATH_OUTSIDE_WORKSPACE, "\"absin\""},
        {"absout", O_RDONLY, AL_PATH_OUTSIDE_WORKSPACE, "\"absout\""},
        {"indirect", O_RDONLY, AL_PATH_OUTSIDE_WORKSPACE, "\"indirect\""},
        {"magic/etc/passwd", O_RDONLY, AL_PATH_OUTSIDE_WORKSPACE, "\"magic\""},
        {"leave", O_WRONLY | O_CREAT | O_TRUNC, AL_PATH_OUTSIDE_WORKSPACE, "\"leave\""},
    };
    unsigned fds = count_fds();
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct al_err err;
        int fd = -7;
        int r = al_path_open(ws, table[i].rel, table[i].flags, 0644, "SHOWN", &fd, &err);
        if (table[i].code == AL_OK) {
            if (r != 0)
                fail_msg("%s: %s", table[i].rel, err.msg);
            assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
            close(fd);
            continue;
        }
        if (r != -1 || err.code != table[i].code)
            fail_msg("%s: r %d code %s, %s", table[i].rel, r, al_code_name(err.code), err.msg);
        assert_int_equal(fd, -7);
        assert_non_null(strstr(err.msg, "SHOWN"));
        if (!strstr(err.msg, table[i].says))
            fail_msg("%s: \"%s\" lacks \"%s\"", table[i].rel, err.msg, table[i].says);
        assert_null(strstr(err.msg, t.path));
        assert_null(strstr(err.msg, "secret"));
    }
    assert_int_equal(count_fds(), fds);
}

/* 0 when each attempt was refused as it should be, else the number of the first that was not. */
static int try_without_permission(void)
{
    struct al_err err;
    int fd;
    if (geteuid() == 0 && setresuid(54321, 54321, 54321) < 0)
        return 9;
    if (al_path_open(ws, "file", O_RDONLY, 0, "file", &fd, &err) != -1 || err.code != AL_PERMISSION_DENIED)
        return 1;
    if (al_path_open(ws, "shut/file", O_RDONLY, 0, "file", &fd, &err) != -1 ||
        err.code != AL_PERMISSION_DENIED)
        return 2;
    if (al_path_write_atomic(ws, "file", AL_STR("x"), 0644, "file", &err) != -1 ||
        err.code != AL_PERMISSION_DENIED)
        return 3;
    int dir = openat(ws, "dir", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (al_path_write_atomic(dir, "new", AL_STR("x"), 0644, "new", &err) != -1 ||
        err.code != AL_PERMISSION_DENIED)
        return 4;
    return 0;
}

static void permissions_are_told(void **state)
{
    (void)state;
    int st;
    mkdirat(ws, "shut", 0755);
    put_file(ws, "shut/file", "x");
    set_mode(ws, "shut", 0);
    set_mode(ws, "file", 0);
    set_mode(ws, "dir", 0555);
    pid_t pid = fork(); /* as root, as another user */
    if (pid == 0)
        _exit(try_without_permission());
    assert_int_equal(waitpid(pid, &st, 0), pid);
    assert_int_equal(st, 0);
    set_mode(ws, "dir", 0755);
}

static int race_stop;

static void *flip(void *arg)
{
    int n = 0;
    (void)arg;
    while (!__atomic_load_n(&race_stop, __ATOMIC_RELAXED)) {
        /* A folder, a link out, a link in: by rename, so that the name is there all the time. */
        unlinkat(ws, "spare", 0);
        (void)!symlinkat(n % 2 ? "../out" : "dir", ws, "spare");
        renameat(ws, "spare", ws, "flip");
        n++;
    }
    return NULL;
}

static void a_link_that_flips_never_leads_outside(void **state)
{
    (void)state;
    pthread_t thread;
    put_file(ws, "dir/secret", "harmless");
    put_link("dir", ws, "flip");
    race_stop = 0;
    assert_int_equal(pthread_create(&thread, NULL, flip, NULL), 0);
    unsigned inside = 0, refused = 0;
    for (int i = 0; i < 20000; i++) {
        struct al_err err;
        int fd = -1;
        if (al_path_open(ws, "flip/secret", O_RDONLY, 0, "flip/secret", &fd, &err) == 0) {
            char b[16] = "";
            (void)!read(fd, b, sizeof(b) - 1);
            close(fd);
            assert_string_equal(b, "harmless");
            inside++;
        } else {
            assert_true(err.code == AL_PATH_OUTSIDE_WORKSPACE || err.code == AL_NOT_FOUND);
            assert_null(strstr(err.msg, t.path));
            refused++;
        }
    }
    __atomic_store_n(&race_stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    assert_true(inside > 0);
    assert_true(refused > 0);
}

static void open_parent_creates_beneath_only(void **state)
{
    (void)state;
    struct al_err err;
    const char *name;
    int fd = -1;
    struct stat st;
    assert_int_equal(al_path_open_parent(ws, "a/b/c/d.txt", false, "S", &fd, &name, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    assert_int_equal(al_path_open_parent(ws, "a/b/c/d.txt", true, "S", &fd, &name, &err), 0);
    assert_string_equal(name, "d.txt");
    put_file(fd, name, "made");
    al_close(&fd);
    autofree char *made = get_file(ws, "a/b/c/d.txt");
    assert_string_equal(made, "made");
    assert_int_equal(al_path_open_parent(ws, "top", true, "S", &fd, &name, &err), 0);
    assert_string_equal(name, "top");
    al_close(&fd);
    put_link("../dir", ws, "a/inside");
    assert_int_equal(al_path_open_parent(ws, "a/inside/new/f", true, "S", &fd, &name, &err), 0);
    al_close(&fd);
    assert_int_equal(fstatat(ws, "dir/new", &st, 0), 0);
    put_link("../out", ws, "leave");
    assert_int_equal(al_path_open_parent(ws, "leave/new/f", true, "S", &fd, &name, &err), -1);
    assert_int_equal(err.code, AL_PATH_OUTSIDE_WORKSPACE);
    assert_non_null(strstr(err.msg, "\"leave\""));
    assert_int_equal(fstatat(t.fd, "out/new", &st, 0), -1);
    assert_int_equal(al_path_open_parent(ws, "file/x/y", true, "S", &fd, &name, &err), -1);
    assert_int_equal(err.code, AL_INVALID_INPUT);
    static const char *const none[] = {".", "..", "dir/", "dir/..", "dir/."};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        assert_int_equal(al_path_open_parent(ws, none[i], true, "S", &fd, &name, &err), -1);
        assert_int_equal(err.code, AL_INVALID_INPUT);
    }
}

static void write_atomic_keeps_mode_and_replaces_links(void **state)
{
    (void)state;
    struct al_err err;
    struct stat st, st2;
    mode_t mask = umask(022);
    assert_int_equal(al_path_write_atomic(ws, "new", AL_STR("one"), 0755, "new", &err), 0);
    assert_int_equal(fstatat(ws, "new", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    set_mode(ws, "new", 0640);
    assert_int_equal(al_path_write_atomic(ws, "new", AL_STR("two\0more"), 0777, "new", &err), 0);
    assert_int_equal(fstatat(ws, "new", &st2, 0), 0);
    assert_int_equal(st2.st_mode & 07777, 0640);
    assert_int_equal(st2.st_size, 8);
    assert_int_not_equal(st.st_ino, st2.st_ino);
    umask(mask);
    put_link("../out/secret", ws, "link");
    assert_int_equal(al_path_write_atomic(ws, "link", AL_STR("mine"), 0644, "link", &err), 0);
    autofree char *outside = get_file(t.fd, "out/secret"), *mine = get_file(ws, "link");
    assert_string_equal(outside, "SECRET");
    assert_string_equal(mine, "mine");
    assert_int_equal(al_path_write_atomic(ws, "empty", AL_STR(""), 0644, "empty", &err), 0);
    assert_int_equal(al_path_sweep_tmp(ws), 0);
}

static void write_atomic_refuses_what_is_no_file(void **state)
{
    (void)state;
    struct al_err err;
    make_special();
    static const char *const names[] = {"dir", "fifo", "sock", ".", "..", "", "a/b"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(al_path_write_atomic(ws, names[i], AL_STR("x"), 0644, "S", &err), -1);
        assert_int_equal(err.code, AL_INVALID_INPUT);
    }
    autofree char *n256 = repeat("x", 256);
    assert_int_equal(al_path_write_atomic(ws, n256, AL_STR("x"), 0644, "S", &err), -1);
    assert_int_equal(err.code, AL_INVALID_INPUT);
    DIR *d = opendir(t.path);
    closedir(d);
    assert_int_equal(al_path_sweep_tmp(ws), 0);
}

static void sweep_removes_what_dead_writers_left(void **state)
{
    (void)state;
    struct stat st;
    put_file(ws, ".alisio-tmp-0123456789abcdef", "dead");
    put_file(ws, ".alisio-tmp-00000000000000aa", "alive");
    put_file(ws, ".alisio-tmp-notes", "a user's own");
    put_link("file", ws, ".alisio-tmp-00000000000000bb");
    mkdirat(ws, ".alisio-tmp-00000000000000cc", 0755);
    int alive = openat(ws, ".alisio-tmp-00000000000000aa", O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(alive, LOCK_EX), 0);
    assert_int_equal(al_path_sweep_tmp(ws), 1);
    assert_int_equal(fstatat(ws, ".alisio-tmp-0123456789abcdef", &st, 0), -1);
    assert_int_equal(fstatat(ws, ".alisio-tmp-00000000000000aa", &st, 0), 0);
    assert_int_equal(fstatat(ws, ".alisio-tmp-notes", &st, 0), 0);
    assert_int_equal(fstatat(ws, "file", &st, 0), 0);
    close(alive);
    assert_int_equal(al_path_sweep_tmp(ws), 1);
}

static void *sweeper(void *arg)
{
    (void)arg;
    while (!__atomic_load_n(&race_stop, __ATOMIC_RELAXED))
        al_path_sweep_tmp(ws);
    return NULL;
}

static void a_sweeper_never_takes_a_live_write_away(void **state)
{
    (void)state;
    pthread_t thread;
    race_stop = 0;
    assert_int_equal(pthread_create(&thread, NULL, sweeper, NULL), 0);
    for (int i = 0; i < 100; i++) {
        struct al_err err;
        if (al_path_write_atomic(ws, "busy", AL_STR("text"), 0644, "busy", &err) != 0)
            fail_msg("%s", err.msg);
    }
    __atomic_store_n(&race_stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
}

static void private_dir_table(void **state)
{
    (void)state;
    struct al_err err;
    struct stat st;
    char path[600];
    snprintf(path, sizeof(path), "%s/p/q/r", t.path);
    assert_int_equal(al_path_private_dir(path, &err), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(al_path_private_dir(path, &err), 0);
    chmod(path, 0750);
    assert_int_equal(al_path_private_dir(path, &err), -1);
    assert_int_equal(err.code, AL_PERMISSION_DENIED);
    assert_null(strstr(err.msg, t.path));
    assert_non_null(strstr(err.detail, t.path));
    put_link("p/q", t.fd, "plink");
    snprintf(path, sizeof(path), "%s/plink", t.path);
    assert_int_equal(al_path_private_dir(path, &err), -1);
    snprintf(path, sizeof(path), "%s/plink/", t.path);
    assert_int_equal(al_path_private_dir(path, &err), -1);
    snprintf(path, sizeof(path), "%s/ws/file", t.path);
    assert_int_equal(al_path_private_dir(path, &err), -1);
    snprintf(path, sizeof(path), "%s/ws/file/x", t.path);
    assert_int_equal(al_path_private_dir(path, &err), -1);
    assert_int_equal(al_path_private_dir("", &err), -1);
    if (geteuid() == 0) {
        snprintf(path, sizeof(path), "%s/other", t.path);
        mkdir(path, 0700);
        assert_int_equal(chown(path, 12345, 12345), 0);
        assert_int_equal(al_path_private_dir(path, &err), -1);
        assert_non_null(strstr(err.msg, "another user"));
    }
}

/* As an ordinary user, whom permissions keep out of his own folders. */
static int removes_what_was_closed(int dir_fd)
{
    char path[256] = "closed";
    if (geteuid() == 0 && (setresgid(60123, 60123, 60123) < 0 || setresuid(60123, 60123, 60123) < 0))
        return 1;
    for (int i = 0; i < 100; i++, strcat(path, "/d")) {
        if (mkdirat(dir_fd, path, 0700) < 0)
            return 2;
    }
    for (int i = 0; i < 100; i++) {
        *strrchr(path, '/') = 0;
        if (fchmodat(dir_fd, path, i % 3 == 0 ? 0 : i % 3 == 1 ? 0555 : 0333, 0) < 0)
            return 3;
        if (!strchr(path, '/'))
            break;
    }
    return al_path_remove_tree(dir_fd, "closed") == 0 && faccessat(dir_fd, "closed", F_OK, 0) < 0 ? 0 : 4;
}

static void remove_tree_opens_up_what_is_closed(void **state)
{
    (void)state;
    int st = 0;
    assert_int_equal(mkdirat(t.fd, "ours", 0700), 0);
    autofd int ours = openat(t.fd, "ours", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (geteuid() == 0)
        assert_int_equal(fchown(ours, 60123, 60123), 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(removes_what_was_closed(ours));
    assert_int_equal(waitpid(pid, &st, 0), pid);
    assert_int_equal(st, 0);
}

static void remove_tree_is_deep_and_follows_no_link(void **state)
{
    (void)state;
    struct stat st;
    mkdirat(t.fd, "big", 0755);
    int at = openat(t.fd, "big", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 3000; i++) {
        assert_int_equal(mkdirat(at, "d", 0755), 0);
        put_file(at, "f", "x");
        put_link("/", at, "root");
        int next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(at);
        at = next;
    }
    mkdirat(at, "shut", 0755);
    int shut = openat(at, "shut", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    put_file(shut, "f", "x");
    fchmod(shut, 0);
    close(shut);
    close(at);
    unsigned fds = count_fds();
    put_link("../out", ws, "keep");
    assert_int_equal(al_path_remove_tree(t.fd, "big"), 0);
    assert_int_equal(fstatat(t.fd, "big", &st, 0), -1);
    assert_int_equal(al_path_remove_tree(ws, "keep"), 0);
    assert_int_equal(fstatat(t.fd, "out/secret", &st, 0), 0);
    assert_int_equal(al_path_remove_tree(ws, "none"), 0);
    assert_int_equal(al_path_remove_tree(ws, ".."), -EINVAL);
    assert_int_equal(al_path_remove_tree(ws, "a/b"), -EINVAL);
    assert_int_equal(count_fds(), fds);
}

static void tree_bytes_counts_files_once_and_no_links(void **state)
{
    (void)state;
    put_link("../out", ws, "out");
    put_link("file", ws, "rel");
    put_file(ws, "dir/deep/x", "1234567890");
    assert_int_equal(al_path_tree_bytes(ws), 6 + 6 + 10);
    assert_int_equal(al_path_tree_bytes(-1), 0);
}

static void real_table(void **state)
{
    (void)state;
    struct al_err err;
    char path[600];
    put_link("ws/dir", t.fd, "short");
    snprintf(path, sizeof(path), "%s/short/../dir/.", t.path);
    autofree char *real = al_path_real(path, &err), *want = realpath(path, NULL);
    assert_string_equal(real, want);
    assert_null(al_path_real("/no/such/folder", &err));
    assert_int_equal(err.code, AL_NOT_FOUND);
    snprintf(path, sizeof(path), "%s/ws/file", t.path);
    assert_null(al_path_real(path, &err));
    assert_int_equal(err.code, AL_INVALID_INPUT);
}

static void make_program(const char *dir, const char *name, mode_t dir_mode, mode_t mode)
{
    char path[700];
    mkdirat(t.fd, dir, 0755);
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    put_file(t.fd, path, "#!/bin/sh\n");
    set_mode(t.fd, path, mode);
    set_mode(t.fd, dir, dir_mode);
}

static void find_program_trusts_only_safe_places(void **state)
{
    (void)state;
    const char *old_path = getenv("PATH");
    autofree char *old = al_xstrdup(old_path ? old_path : "");
    autofree char *root = realpath(t.path, NULL);
    char avoid_dir[500], path[4000], want[600];
    make_program("open", "prog", 0777, 0755);
    make_program("loose", "prog", 0755, 0777);
    make_program("plain", "prog", 0755, 0644);
    make_program("avoided", "prog", 0755, 0755);
    make_program("good", "prog", 0755, 0755);
    mkdirat(t.fd, "linked", 0755);
    put_link("../open/prog", t.fd, "linked/prog");
    snprintf(avoid_dir, sizeof(avoid_dir), "%s/avoided", root);
    const char *const avoid[] = {avoid_dir, NULL};
    snprintf(path, sizeof(path), "good:.::%s/none:%s/open:%s/loose:%s/plain:%s/linked:%s/avoided:%s/good",
             root, root, root, root, root, root, root);
    assert_int_equal(chdir(t.path), 0);
    setenv("PATH", path, 1);
    autofree char *found = al_path_find_program("prog", avoid);
    snprintf(want, sizeof(want), "%s/good/prog", root);
    assert_non_null(found);
    assert_string_equal(found, want);
    snprintf(want, sizeof(want), "%s/avoided/prog", root);
    autofree char *other = al_path_find_program("prog", NULL);
    assert_string_equal(other, want);
    const char *const avoid_all[] = {"/", NULL};
    assert_null(al_path_find_program("prog", avoid_all));
    assert_null(al_path_find_program("nothing-of-this-name", NULL));
    assert_null(al_path_find_program("good/prog", NULL));
    assert_null(al_path_find_program("", NULL));
    unsetenv("PATH");
    assert_null(al_path_find_program("prog", NULL));
    setenv("PATH", old, 1);
    assert_int_equal(chdir("/"), 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(normalize_table),
        CASE(normalize_limits),
        CASE(open_table),
        CASE(permissions_are_told),
        CASE(a_link_that_flips_never_leads_outside),
        CASE(open_parent_creates_beneath_only),
        CASE(write_atomic_keeps_mode_and_replaces_links),
        CASE(write_atomic_refuses_what_is_no_file),
        CASE(sweep_removes_what_dead_writers_left),
        CASE(a_sweeper_never_takes_a_live_write_away),
        CASE(private_dir_table),
        CASE(remove_tree_is_deep_and_follows_no_link),
        CASE(remove_tree_opens_up_what_is_closed),
        CASE(tree_bytes_counts_files_once_and_no_links),
        CASE(real_table),
        CASE(find_program_trusts_only_safe_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
