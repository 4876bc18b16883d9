#include "sandbox/landlock.h"
#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"
#include "sandbox/landlock_int.h"
#include "sandbox/seccomp.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CREATE_VERSION 1u
#define RULE_PATH_BENEATH 1
#define NET_ALL 3ull   /* ABI 4: bind and connect of TCP */
#define SCOPE_ALL 3ull /* ABI 6: abstract sockets, signals */

#define FOLDERS_ABOVE 128

struct ruleset_attr {
    uint64_t fs, net, scoped;
};

struct path_attr {
    uint64_t allowed;
    int32_t parent_fd;
} __attribute__((packed));

int al_landlock_abi(void)
{
    long r = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);
    return r < 0 ? 0 : (int)r;
}

/* All that a kernel of this ABI can forbid. */
static size_t handled(int abi, struct ruleset_attr *a)
{
    a->fs = FS_ALL_ABI1 | (abi >= 2 ? FS_REFER : 0) | (abi >= 3 ? FS_TRUNCATE : 0) |
            (abi >= 5 ? FS_IOCTL_DEV : 0);
    a->net = abi >= 4 ? NET_ALL : 0;
    a->scoped = abi >= 6 ? SCOPE_ALL : 0;
    return abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
}

/* The kernel refuses what a file cannot have. */
#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

int al_landlock_allow_fd(int rules, int abi, int fd, uint64_t rights)
{
    struct ruleset_attr known;
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    handled(abi, &known);
    rights &= S_ISDIR(st.st_mode) ? known.fs : known.fs & FS_OF_FILES;
    struct path_attr p = {.allowed = rights, .parent_fd = fd};
    return syscall(SYS_landlock_add_rule, rules, RULE_PATH_BENEATH, &p, 0) < 0 ? -errno : 0;
}

int al_landlock_allow(int rules, int abi, const char *path, uint64_t rights)
{
    autofd int fd = open(path, O_PATH | O_CLOEXEC);
    return fd < 0 ? -errno : al_landlock_allow_fd(rules, abi, fd, rights);
}

/* What every ABI knows. */
static int allow_fd(int rules, int fd, uint64_t rights)
{
    return al_landlock_allow_fd(rules, 1, fd, rights);
}

static int allow(int rules, const char *path, uint64_t rights)
{
    return al_landlock_allow(rules, 1, path, rights);
}

/* The loader that the program names (PT_INTERP of ELF), the only other file that the kernel executes for it.
 */
static int read_interp(const char *program, char out[PATH_MAX])
{
    Elf64_Ehdr eh;
    autofd int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    if (pread(fd, &eh, sizeof(eh), 0) != sizeof(eh) || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
        eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_phentsize != sizeof(Elf64_Phdr) || eh.e_phoff > (1u << 20))
        return -ENOEXEC;
    for (unsigned i = 0; i < eh.e_phnum; i++) {
        Elf64_Phdr ph;
        if (pread(fd, &ph, sizeof(ph), (off_t)(eh.e_phoff + i * sizeof(ph))) != sizeof(ph))
            return -ENOEXEC;
        if (ph.p_type != PT_INTERP)
            continue;
        if (ph.p_filesz < 2 || ph.p_filesz >= PATH_MAX || ph.p_offset > INT32_MAX)
            return -ENOEXEC;
        if (pread(fd, out, ph.p_filesz, (off_t)ph.p_offset) != (ssize_t)ph.p_filesz)
            return -ENOEXEC;
        out[ph.p_filesz] = 0;
        return 0;
    }
    out[0] = 0; /* a static program needs none */
    return 0;
}

static int allow_null(int rules, int abi)
{
    return al_landlock_allow(rules, abi, "/dev/null", FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE);
}

/*
 * What Landlock leaves open. It knows TCP only, and neither git that reads nor a search needs a socket of any
 * kind. And the loader, which must be executable for git to start, runs any file that is named to it: a
 * repository would name the loader as its textconv. So execve is closed altogether; git itself starts by
 * execveat, which it never calls.
 */
static int close_the_rest(struct al_err *err)
{
    struct sock_fprog *prog = NULL;
    if (al_seal_build(AL_SEAL_GIT, &prog, err) < 0)
        return -1;
    int r = al_seal_load(prog);
    al_seal_free(prog);
    if (r < 0)
        return al_fail_errno(err, AL_RUNTIME_UNAVAILABLE, -r, "cannot filter system calls");
    return 0;
}

int al_landlock_make_rules(int abi)
{
    struct ruleset_attr attr;
    size_t size = handled(abi, &attr);
    long fd = syscall(SYS_landlock_create_ruleset, &attr, size, 0);
    return fd < 0 ? -errno : (int)fd;
}

static int apply(int rules, struct al_err *err)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_landlock_restrict_self, rules, 0) < 0)
        return al_fail_errno(err, AL_RUNTIME_UNAVAILABLE, errno, "cannot apply Landlock rules");
    return close_the_rest(err);
}

/* --- what both may read --- */

/* What is not there is not needed. */
static int allow_if_there(int rules, const char *path)
{
    int r = allow(rules, path, FS_READ_FILE | FS_READ_DIR);
    return r == -ENOENT || r == -ENOTDIR || r == -EACCES ? 0 : r;
}

/* Libraries: of the system, of package managers that keep their own, and beside the program ($ORIGIN/../lib).
 */
static int allow_libraries(int rules, const char *real)
{
    static const char *const paths[] = {
        "/lib",
        "/lib32",
        "/lib64",
        "/usr/lib",
        "/usr/lib32",
        "/usr/lib64",
        "/nix/store",
        "/usr/local/lib",
        "/etc/ld.so.preload",
        "/etc/ld.so.cache",
        "/gnu/store",
        "/dev/null",
        "/etc/ld-musl-x86_64.path",
        "/home/linuxbrew/.linuxbrew",
    };
    char beside[PATH_MAX];
    int n = snprintf(beside, sizeof(beside), "%.*s/../lib", (int)(strrchr(real, '/') - real), real);
    int r = n < (int)sizeof(beside) ? allow_if_there(rules, beside) : 0;
    for (size_t i = 0; r == 0 && i < sizeof(paths) / sizeof(paths[0]); i++)
        r = allow_if_there(rules, paths[i]);
    return r;
}

/* Regular files only, and no link: whoever can write there could have it lead anywhere. */
static int allow_files(int rules, int dir, const char *const *names)
{
    for (size_t i = 0; names[i]; i++) {
        struct stat st;
        struct al_err unused;
        autofd int fd = -1;
        if (al_path_open(dir, names[i], O_PATH | O_NOFOLLOW, 0, names[i], &fd, &unused) < 0 ||
            fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
            continue;
        int r = allow_fd(rules, fd, FS_READ_FILE);
        if (r < 0)
            return r;
    }
    return 0;
}

/* What holds for a folder is also said in those above it. */
static int allow_files_above(int rules, int dir_fd, const char *const *names)
{
    autofd int at = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);
    struct stat here, up;
    if (at < 0 || fstat(at, &here) < 0)
        return -errno;
    for (int depth = 0; depth < FOLDERS_ABOVE; depth++) {
        int parent = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (parent < 0)
            return 0; /* not ours to look into */
        close(at);
        at = parent;
        if (fstat(at, &up) < 0 || (up.st_dev == here.st_dev && up.st_ino == here.st_ino))
            return 0; /* the root is above itself */
        here = up;
        int r = allow_files(rules, at, names);
        if (r < 0)
            return r;
    }
    return 0;
}

/* name: a file of the user's own that git and searches read for every folder. */
static int allow_own_git_file(int rules, const char *name)
{
    char path[PATH_MAX];
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int n = 0;
    if (config && config[0] == '/')
        n = snprintf(path, sizeof(path), "%s/git/%s", config, name);
    else if (home && home[0] == '/')
        n = snprintf(path, sizeof(path), "%s/.config/git/%s", home, name);
    return n > 0 && n < (int)sizeof(path) ? allow_if_there(rules, path) : 0;
}

/* The program, its loader and its libraries. */
static int allow_program(int rules, const char *real, int abi)
{
    char interp[PATH_MAX];
    int r = read_interp(real, interp);
    if (r == 0)
        r = allow(rules, real, FS_EXECUTE | FS_READ_FILE);
    if (r == 0 && interp[0])
        r = allow(rules, interp, FS_EXECUTE | FS_READ_FILE);
    if (r == 0)
        r = allow_libraries(rules, real);
    return r < 0 ? r : allow_null(rules, abi);
}

/* --- git --- */

static int add_git_rules(int rules, const char *git_path, const int *dirs, size_t n, int abi)
{
    static const char *const above[] = {".git", ".gitignore", ".gitattributes", NULL};
    autofree char *real = realpath(git_path, NULL);
    if (!real)
        return -errno;
    int r = allow_program(rules, real, abi);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = allow_fd(rules, dirs[i], FS_READ_FILE | FS_READ_DIR);
    if (r == 0 && n > 0)
        r = allow_files_above(rules, dirs[0], above);
    if (r == 0)
        r = allow_own_git_file(rules, "ignore");
    return r < 0 ? r : allow_own_git_file(rules, "attributes");
}

int al_landlock_seal_git(const char *git_path, const int *dirs, size_t n_dirs, struct al_err *err)
{
    int abi = al_landlock_abi();
    if (abi == 0) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "Landlock is missing or switched off in this kernel");
        return al_hint(err, "Linux 5.13 or newer with landlock among its active security modules is needed.");
    }
    autofd int rules = al_landlock_make_rules(abi);
    if (rules < 0)
        return al_fail_errno(err, AL_RUNTIME_UNAVAILABLE, -rules, "cannot make Landlock rules");
    int r = add_git_rules(rules, git_path, dirs, n_dirs, abi);
    if (r < 0)
        return al_fail_errno(err, AL_RUNTIME_UNAVAILABLE, -r, "cannot make Landlock rules for git");
    return apply(rules, err);
}

/* --- search --- */

static int add_search_rules(int rules, const char *program, int dir_fd, int abi)
{
    static const char *const above[] = {".gitignore", ".ignore", ".rgignore", ".git/info/exclude", NULL};
    autofree char *real = realpath(program, NULL);
    if (!real)
        return -errno;
    /* A launcher has many names (snap's do), and starts what we do not know: that needs all that is closed
     * here. */
    if (strcmp(basename(real), basename(program)) != 0)
        return -ENOEXEC;
    int r = allow_program(rules, real, abi);
    if (r == 0 && dir_fd >= 0)
        r = allow_fd(rules, dir_fd, FS_READ_FILE | FS_READ_DIR);
    if (r == 0 && dir_fd >= 0)
        r = allow_files_above(rules, dir_fd, above);
    return r < 0 ? r : allow_own_git_file(rules, "ignore");
}

int al_landlock_seal_search(const char *program, int dir_fd, struct al_err *err)
{
    int abi = al_landlock_abi();
    if (abi == 0)
        return 1;
    autofd int rules = al_landlock_make_rules(abi);
    /* A file system that takes no rules, say: the search goes on without. */
    if (rules < 0 || add_search_rules(rules, program, dir_fd, abi) < 0)
        return 1;
    return apply(rules, err);
}
