/* What probes found out, kept beside the state as long as what they rest on stays the same. */
#include "pyrun/pyrun_int.h"

#include "base/json.h"
#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"
#include "os/spawn.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define FILE_NAME "probes.json"
#define FILE_MAX 65536
#define VALID_MS (INT64_C(24) * 60 * 60 * 1000)

static void add_stat(struct al_buf *out, const char *name, const struct stat *st)
{
    al_buf_addf(out, "%s %llu %llu %lld %lld.%09ld\n", name, (unsigned long long)st->st_dev,
                (unsigned long long)st->st_ino, (long long)st->st_size, (long long)st->st_mtim.tv_sec,
                (long)st->st_mtim.tv_nsec);
}

static void add_program(struct al_buf *out, struct al_pyrun *p, const char *name)
{
    const char *path = al_pyrun_program(p, name);
    struct stat st;
    if (path && stat(path, &st) == 0)
        add_stat(out, path, &st);
    else
        al_buf_addf(out, "%s: none\n", name);
}

static void add_setting(struct al_buf *out, const char *path)
{
    autobuf struct al_buf text = AL_BUF_INIT(256);
    al_py_small_file(path, &text);
    al_buf_addf(out, "%s=%.*s\n", path, AL_FMT(al_buf_str(&text)));
}

void al_py_fingerprint(struct al_pyrun *p, enum al_py_backend b, const struct al_py_interpreter *python,
                       char out[AL_SHA256_HEX])
{
    static const char *const settings[] = {
        "/proc/sys/kernel/random/boot_id",
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "/proc/sys/kernel/unprivileged_userns_clone",
        "/proc/sys/user/max_user_namespaces",
        "/sys/kernel/security/lsm",
        "/proc/self/attr/current",
        "/proc/self/cgroup",
    };
    static const char *const programs[] = {"bwrap", "podman", "docker", "node"};
    autobuf struct al_buf text = AL_BUF_INIT(FILE_MAX);
    struct utsname kernel;
    struct stat st;
    al_buf_addf(&text, "2 %s %u\n", al_py_backend_name(b), geteuid());
    if (uname(&kernel) == 0)
        al_buf_addf(&text, "%s %s %s\n", kernel.release, kernel.version, kernel.machine);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        add_setting(&text, settings[i]);
    if (al_self_fd() >= 0 && fstat(al_self_fd(), &st) == 0)
        add_stat(&text, "alisio", &st);
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        add_program(&text, p, programs[i]);
    if (python)
        al_buf_addf(&text, "%s %s %lld %lld %lld\n", python->path, python->version,
                    (long long)python->mtime_ns, (long long)python->size, (long long)python->inode);
    for (int o = AL_OPT_ANALYSIS_OCI_ENGINE; o <= AL_OPT_ANALYSIS_LIMITS_MAX_WORK_FILES; o++) {
        al_config_value_json(p->config, (enum al_opt)o, &text);
        al_buf_addc(&text, '\n');
    }
    al_sha256(al_buf_str(&text), out);
}

/* --- the file --- */

static void put_probe(struct al_jw *w, const char *fingerprint, const struct al_py_probe *p)
{
    al_jw_obj(w);
    al_jw_kstrz(w, "fingerprint", fingerprint);
    al_jw_kstrz(w, "isolation", al_py_isolation_name(p->isolation));
    al_jw_kstrz(w, "version", p->version);
    al_jw_kstrz(w, "python", p->python);
    al_jw_kstrz(w, "interpreter", p->interpreter);
    al_jw_kbool(w, "deniesNetwork", p->denies_network);
    al_jw_kbool(w, "deniesFiles", p->denies_files);
    al_jw_kbool(w, "deniesProcesses", p->denies_processes);
    al_jw_kint(w, "memory", p->memory);
    al_jw_kint(w, "pids", p->pids);
    al_jw_kint(w, "disk", p->disk);
    al_jw_kbool(w, "pidNamespace", p->pid_namespace);
    al_jw_kint(w, "atMs", p->at_ms);
    al_jw_end(w);
}

static void get_text(const struct al_json *v, const char *key, char *out, size_t max)
{
    struct al_str s = al_json_get_text(v, key);
    snprintf(out, max, "%.*s", (int)s.n, s.p ? s.p : "");
}

static bool get_keeper(const struct al_json *v, const char *key, enum al_py_keeper *ret)
{
    int64_t n;
    if (!al_json_int(al_json_get(v, key), AL_PY_KEPT_NOT, AL_PY_KEPT_RLIMIT, &n))
        return false;
    *ret = (enum al_py_keeper)n;
    return true;
}

static bool get_probe(const struct al_json *v, const char *fingerprint, struct al_py_probe *p)
{
    char isolation[32];
    get_text(v, "isolation", isolation, sizeof(isolation));
    int i = al_py_isolation_find(isolation);
    int64_t now = al_wall_ms();
    if (i < 0 || !al_str_is(al_json_get_text(v, "fingerprint"), fingerprint) ||
        !al_json_int(al_json_get(v, "atMs"), now - VALID_MS, now, &p->at_ms) ||
        !get_keeper(v, "memory", &p->memory) || !get_keeper(v, "pids", &p->pids) ||
        !get_keeper(v, "disk", &p->disk))
        return false;
    p->state = AL_PY_READY;
    p->isolation = (enum al_py_isolation)i;
    get_text(v, "version", p->version, sizeof(p->version));
    get_text(v, "python", p->python, sizeof(p->python));
    get_text(v, "interpreter", p->interpreter, sizeof(p->interpreter));
    p->denies_network = al_json_is_true(al_json_get(v, "deniesNetwork"));
    p->denies_files = al_json_is_true(al_json_get(v, "deniesFiles"));
    p->denies_processes = al_json_is_true(al_json_get(v, "deniesProcesses"));
    p->pid_namespace = al_json_is_true(al_json_get(v, "pidNamespace"));
    return true;
}

static const struct al_json *read_file(int dir, struct al_buf *text, struct al_arena *a)
{
    const struct al_json *v = NULL;
    autofd int fd = dir >= 0 ? openat(dir, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0 || al_fd_read_all(fd, text) < 0 || al_json_parse(a, al_buf_str(text), &v, NULL) < 0)
        return NULL;
    return v;
}

bool al_py_probe_recall(struct al_pyrun *p, enum al_py_backend b, const char *fingerprint,
                        struct al_py_probe *ret)
{
    autofd int dir = al_py_runtimes_open(p);
    autobuf struct al_buf text = AL_BUF_INIT(FILE_MAX);
    autoarena struct al_arena a = AL_ARENA_INIT(4 * FILE_MAX);
    const struct al_json *v = al_json_get(read_file(dir, &text, &a), al_py_backend_name(b));
    struct al_py_probe found = {0};
    if (!v || !get_probe(v, fingerprint, &found))
        return false;
    *ret = found;
    return true;
}

static void write_all(int dir, const struct al_json *old, enum al_py_backend b, const char *fingerprint,
                      const struct al_py_probe *probe)
{
    autobuf struct al_buf out = AL_BUF_INIT(FILE_MAX);
    struct al_jw w;
    struct al_err unused; /* it only saves time */
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    for (int i = 0; i < AL_PY_N; i++) {
        const char *name = al_py_backend_name((enum al_py_backend)i);
        const struct al_json *kept = al_json_get(old, name);
        if (i != (int)b && !kept)
            continue;
        al_jw_key(&w, name);
        if (i != (int)b)
            al_jw_value(&w, kept);
        else
            put_probe(&w, fingerprint, probe);
    }
    al_jw_end(&w);
    al_buf_addc(&out, '\n');
    if (!al_buf_failed(&out) &&
        al_path_write_atomic(dir, FILE_NAME, al_buf_str(&out), 0600, FILE_NAME, &unused) < 0)
        return;
}

void al_py_probe_remember(struct al_pyrun *p, enum al_py_backend b, const char *fingerprint,
                          const struct al_py_probe *probe)
{
    autofd int dir = al_py_runtimes_open(p);
    autobuf struct al_buf text = AL_BUF_INIT(FILE_MAX);
    autoarena struct al_arena a = AL_ARENA_INIT(4 * FILE_MAX);
    if (dir < 0)
        return;
    pthread_mutex_lock(&p->find_lock);
    write_all(dir, read_file(dir, &text, &a), b, fingerprint, probe);
    pthread_mutex_unlock(&p->find_lock);
}
