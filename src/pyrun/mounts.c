/* What a script within walls sees of this computer: a listed set of mounts, as words for bwrap. */
#include "pyrun/pyrun_int.h"
#include "pyrun/walls.h"

#include "base/mem.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)
#define TMPFS_MAX (256 * MIB)
#define NOFILE 1024
/* What libraries of numbers set aside for a thread on each processor, mostly untouched: a stack and a block.
 * RLIMIT_DATA counts it, memory as it is looked at does not. */
#define PER_THREAD (40 * MIB)
/* Of bubblewrap 0.x: what knows --size, and --disable-userns. 0: not known, so a new one. */
#define SIZED_MINOR 7
#define DISABLE_USERNS_MINOR 8

const char *const al_py_etc[] = {"/etc/alternatives", "/etc/ld.so.cache",     "/etc/fonts", "/etc/localtime",
                                 "/etc/mime.types",   "/etc/ssl/openssl.cnf", NULL};
const char *const al_py_lib_links[] = {"/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", NULL};

static bool beneath(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 && (path[n] == 0 || path[n] == '/' || folder[n - 1] == '/');
}

/* Where no Python is installed, and what is there is no script's business: what names its own folders may be
 * wrong, or lie. */
static bool never_python(const char *root)
{
    static const char *const never[] = {"/etc", "/proc", "/sys", "/dev", "/boot", "/run", "/var/run"};
    static const char *const wide[] = {"/var", "/var/lib", "/tmp", "/mnt", "/media", "/srv"};
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        if (beneath(root, never[i]))
            return true;
    }
    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
        if (strcmp(root, wide[i]) == 0)
            return true;
    }
    return false;
}

static bool holds_keys(const char *root, const char *home)
{
    static const char *const names[] = {".ssh",    ".gnupg",          ".aws",    ".azure", ".kube", ".docker",
                                        ".config", ".password-store", ".mozilla"};
    if (!home || !beneath(root, home))
        return false;
    const char *rest = root + strlen(home);
    rest += *rest == '/';
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (beneath(rest, names[i]))
            return true;
    }
    return false;
}

int al_py_root_allowed(struct al_pyrun *p, const char *root, struct al_err *err)
{
    struct passwd entry, *found = NULL;
    char text[4096];
    autofree char *state = realpath(p->state_dir, NULL);
    const char *home = getenv("HOME");
    const char *what = NULL;
    if (getpwuid_r(getuid(), &entry, text, sizeof(text), &found) != 0)
        found = NULL;
    autofree char *home_real = home ? realpath(home, NULL) : NULL;
    autofree char *other_real = found ? realpath(found->pw_dir, NULL) : NULL;
    if (strcmp(root, "/") == 0)
        what = "the whole file system";
    else if ((home_real && beneath(home_real, root)) || (other_real && beneath(other_real, root)))
        what = "the home folder";
    else if (!state || beneath(state, root))
        what = "the folder of alisio's own state";
    else if (beneath(root, state))
        return 0; /* what we have installed ourselves */
    else if (holds_keys(root, home_real) || holds_keys(root, other_real))
        what = "keys or settings of this user";
    else if (never_python(root))
        what = "files of the system";
    if (!what)
        return 0;
    al_fail(err, AL_RUNTIME_UNAVAILABLE,
            "this Python is installed in a folder that holds %s, which no script may see", what);
    al_detail(err, "%s", root);
    return al_hint(err,
                   "Name another Python with --python, one in a folder of its own or of the distribution.");
}

static uint64_t processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
    return (uint64_t)(n < 1 ? 1 : n);
}

void al_py_guest_limits(const struct al_py_start *start, const struct al_py_inside *in, struct al_guest *g)
{
    const struct al_config *c = al_pyrun_config(start->pyrun);
    uint64_t memory = (uint64_t)al_config_int(c, AL_OPT_ANALYSIS_LIMITS_MEMORY_MB) * MIB;
    g->nproc = (uint64_t)al_config_int(c, AL_OPT_ANALYSIS_LIMITS_PROCESSES);
    g->data = in->data ? in->data : memory + processors() * PER_THREAD;
    g->fsize = (uint64_t)al_config_int(c, AL_OPT_ANALYSIS_LIMITS_MAX_WORK_BYTES);
    g->nofile = NOFILE;
}

/* --- the words --- */

static void word(struct al_buf *out, const char *z)
{
    al_buf_add(out, z, strlen(z) + 1);
}

static void words(struct al_buf *out, const char *const *list)
{
    for (; *list; list++)
        word(out, *list);
}
#define WORDS(out, ...) words(out, (const char *const[]){__VA_ARGS__, NULL})

static void number(struct al_buf *out, uint64_t n)
{
    al_buf_addf(out, "%llu", (unsigned long long)n);
    al_buf_addc(out, 0);
}

/* Folders that bwrap makes on its own as root would be closed to whom the script is. */
static void parents(struct al_buf *out, const char *path)
{
    for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        WORDS(out, "--perms", "0755", "--dir");
        al_buf_add(out, path, (size_t)(at - path));
        al_buf_addc(out, 0);
    }
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void mask(struct al_buf *out, const char *path)
{
    if (is_folder(path))
        WORDS(out, "--perms", "0755", "--tmpfs", path, "--remount-ro", path);
}

static void lib_links(struct al_buf *out)
{
    for (const char *const *at = al_py_lib_links; *at; at++) {
        char target[PATH_MAX];
        ssize_t n = readlink(*at, target, sizeof(target) - 1);
        if (n > 0) {
            target[n] = 0;
            WORDS(out, "--symlink", target, *at);
        } else if (is_folder(*at)) {
            WORDS(out, "--ro-bind", *at, *at);
        }
    }
}

static void system_files(struct al_buf *out)
{
    WORDS(out, "--ro-bind", "/usr", "/usr");
    mask(out, "/usr/local/etc");
    mask(out, "/usr/src");
    lib_links(out);
    WORDS(out, "--perms", "0755", "--dir", "/etc", "--perms", "0755", "--dir", "/etc/ssl");
    for (const char *const *at = al_py_etc; *at; at++) {
        if (access(*at, R_OK) == 0)
            WORDS(out, "--ro-bind", *at, *at);
    }
}

static void accounts(struct al_buf *out, const struct al_py_bwrap_fds *fds)
{
    WORDS(out, "--perms", "0644", "--ro-bind-data");
    number(out, (uint64_t)fds->passwd);
    WORDS(out, "/etc/passwd", "--perms", "0644", "--ro-bind-data");
    number(out, (uint64_t)fds->group);
    word(out, "/etc/group");
}

static void bind_job(struct al_buf *out, const char *how, const char *job, const char *part,
                     const char *place)
{
    word(out, how);
    al_buf_addf(out, "%s/%s", job, part);
    al_buf_addc(out, 0);
    word(out, place);
}

bool al_py_tmp_in_memory(const struct al_py_start *start)
{
    unsigned minor = start->pyrun->bwrap_minor;
    return (minor == 0 || minor >= SIZED_MINOR) && start->cgroup && al_cgroup_limits_memory(start->cgroup);
}

/* Files in memory belong to no process. Where no control group counts them and their inodes, they are on the
 * disk, in the job's own folder, which is looked at. */
static void temporary(struct al_buf *out, const struct al_py_start *start)
{
    static const struct {
        const char *place, *on_disk;
    } all[] = {{"/tmp", "work/" AL_PY_TMP_FOLDER}, {"/dev/shm", "work/" AL_PY_SHM_FOLDER}};
    uint64_t memory =
        (uint64_t)al_config_int(al_pyrun_config(start->pyrun), AL_OPT_ANALYSIS_LIMITS_MEMORY_MB) * MIB / 4;
    for (size_t i = 0; i < 2; i++) {
        if (!al_py_tmp_in_memory(start)) {
            bind_job(out, "--bind", start->spec->job->path, all[i].on_disk, all[i].place);
            continue;
        }
        WORDS(out, "--perms", "1777", "--size");
        number(out, memory < TMPFS_MAX ? memory : TMPFS_MAX);
        WORDS(out, "--tmpfs", all[i].place);
    }
}

static void job(struct al_buf *out, const struct al_py_start *start)
{
    const char *path = start->spec->job->path;
    WORDS(out, "--perms", "0755", "--dir", "/job");
    bind_job(out, "--ro-bind", path, "script", "/job/script");
    bind_job(out, "--ro-bind", path, "input", "/job/input");
    bind_job(out, "--bind", path, "work", "/job/work");
    bind_job(out, "--bind", path, "staging", "/job/out");
    if (start->spec->scratch)
        WORDS(out, "--ro-bind", start->spec->scratch, "/job/scratch");
}

static void namespaces(struct al_buf *out, unsigned minor)
{
    if (geteuid() != 0) {
        word(out, "--unshare-user");
        if (minor == 0 || minor >= DISABLE_USERNS_MINOR)
            word(out, "--disable-userns");
    } else {
        /* Without a user namespace, so that our own folders can be entered; what is left is for becoming
         * another user, and goes then. */
        WORDS(out, "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add",
              "CAP_SETPCAP");
    }
    WORDS(out, "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
          "--hostname", "alisio", "--die-with-parent", "--new-session");
}

int al_py_bwrap_options(const struct al_py_start *start, const struct al_py_inside *in,
                        const struct al_py_bwrap_fds *fds, struct al_buf *out, struct al_err *err)
{
    namespaces(out, start->pyrun->bwrap_minor);
    system_files(out);
    accounts(out, fds);
    WORDS(out, "--proc", "/proc", "--dev", "/dev");
    temporary(out, start);
    for (size_t i = 0; in->roots && in->roots[i]; i++) {
        if (al_py_root_allowed(start->pyrun, in->roots[i], err) < 0)
            return -1;
        parents(out, in->roots[i]);
        WORDS(out, "--ro-bind", in->roots[i], in->roots[i]);
    }
    job(out, start);
    /* What bwrap made itself is memory, too, and its owner could fill it. */
    WORDS(out, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/job/work");
    return al_buf_failed(out) ? al_fail(err, AL_INTERNAL, "the command of a script is too long") : 0;
}
