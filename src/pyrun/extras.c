#include "pyrun/extras_int.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/lock.h"
#include "os/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

__asm__(".pushsection .rodata\n"
        ".global al_extras_analysis_lock\n"
        "al_extras_analysis_lock:\n"
        ".incbin \"" AL_EXTRAS_DIR "/analysis.lock\"\n"
        ".global al_extras_analysis_lock_end\n"
        "al_extras_analysis_lock_end:\n"
        ".global al_extras_science_lock\n"
        "al_extras_science_lock:\n"
        ".incbin \"" AL_EXTRAS_DIR "/science.lock\"\n"
        ".global al_extras_science_lock_end\n"
        "al_extras_science_lock_end:\n"
        ".byte 0\n"
        ".popsection\n");
extern const char al_extras_analysis_lock[], al_extras_analysis_lock_end[];
extern const char al_extras_science_lock[], al_extras_science_lock_end[];

/* The last has all of those before it. */
static const struct al_py_extras_set sets[] = {
    {"analysis", "pandas, numpy, matplotlib, openpyxl, python-docx, reportlab, plotly, jinja2", "75 MB"},
    {"science",
     "pandas, numpy, matplotlib, openpyxl, python-docx, reportlab, plotly, jinja2, scipy, statsmodels, "
     "scikit-learn",
     "140 MB"},
};
#define SETTLED_MS (3600 * INT64_C(1000))
#define N_SETS (sizeof sets / sizeof *sets)

const struct al_py_extras_set *al_py_extras_sets(size_t *ret_n)
{
    *ret_n = N_SETS;
    return sets;
}

const struct al_py_extras_set *al_py_extras_set(struct al_str name)
{
    for (size_t i = 0; i < N_SETS; i++) {
        if (al_str_is(name, sets[i].name))
            return &sets[i];
    }
    return NULL;
}

struct al_str al_extras_lock(const struct al_py_extras_set *set)
{
    if (set == &sets[0])
        return (struct al_str){al_extras_analysis_lock,
                               (size_t)(al_extras_analysis_lock_end - al_extras_analysis_lock)};
    return (struct al_str){al_extras_science_lock,
                           (size_t)(al_extras_science_lock_end - al_extras_science_lock)};
}

void al_extras_minor(const struct al_py_interpreter *python, char out[16])
{
    snprintf(out, 16, "%d.%d", python->major, python->minor);
}

void al_extras_version(struct al_str lock, const struct al_py_interpreter *python,
                       char out[AL_EXTRAS_VERSION_MAX])
{
    char sha[AL_SHA256_HEX];
    struct al_sha256 *h = al_sha256_new();
    al_sha256_add(h, lock.p, lock.n);
    al_sha256_add(h, python->version, strlen(python->version) + 1);
    al_sha256_add(h, python->path, strlen(python->path) + 1);
    al_sha256_end(h, sha);
    snprintf(out, AL_EXTRAS_VERSION_MAX, "%.16s", sha);
}

int al_extras_open(const char *state_dir, int *ret_fd, struct al_err *err)
{
    autofree char *path = NULL;
    if (asprintf(&path, "%s/" AL_EXTRAS_FOLDER, state_dir) < 0)
        abort();
    if (al_path_private_dir(path, err) < 0)
        return -1;
    *ret_fd = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*ret_fd < 0)
        return al_fail_errno(err, AL_EXTRAS_INSTALL_FAILED, errno,
                             "the folder of the extras cannot be opened");
    return 0;
}

/* --- which version a set has --- */

static const struct al_json *read_json(int dir_fd, const char *rel, struct al_arena *a, struct al_buf *text)
{
    const struct al_json *v = NULL;
    struct al_err ignored;
    autofd int fd = -1;
    if (al_path_open(dir_fd, rel, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0, rel, &fd, &ignored) < 0 ||
        al_fd_read_all(fd, text) < 0 || al_json_parse(a, al_buf_str(text), &v, &ignored) < 0)
        return NULL;
    return v;
}

static bool is_version(struct al_str s)
{
    if (s.n != 16)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (!strchr("0123456789abcdef", s.p[i]))
            return false;
    }
    return true;
}

/* "analysis-3.11" */
static void index_key(const char *set, const char *minor, char out[64])
{
    snprintf(out, 64, "%s-%s", set, minor);
}

int al_extras_index_get(int dir_fd, const char *set, const char *minor, char out[AL_EXTRAS_VERSION_MAX])
{
    autoarena struct al_arena a = AL_ARENA_INIT(4u << 20);
    autobuf struct al_buf text = AL_BUF_INIT(AL_EXTRAS_MAX_JSON);
    char key[64];
    index_key(set, minor, key);
    struct al_str version = al_json_get_text(read_json(dir_fd, AL_EXTRAS_INDEX, &a, &text), key);
    if (!is_version(version))
        return 0;
    snprintf(out, AL_EXTRAS_VERSION_MAX, "%.*s", AL_FMT(version));
    return 1;
}

int al_extras_index_put(int dir_fd, const char *set, const char *minor, const char *version,
                        struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(4u << 20);
    autobuf struct al_buf text = AL_BUF_INIT(AL_EXTRAS_MAX_JSON), out = AL_BUF_INIT(AL_EXTRAS_MAX_JSON);
    struct al_jw w;
    char key[64];
    index_key(set, minor, key);
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    const struct al_json *index = read_json(dir_fd, AL_EXTRAS_INDEX, &a, &text);
    al_json_each(member, index)
    {
        if (al_json_is_string(member) && !al_str_is(member->key, key)) {
            al_jw_key_str(&w, member->key);
            al_jw_str(&w, member->str);
        }
    }
    al_jw_kstrz(&w, key, version);
    al_jw_end(&w);
    return al_path_write_atomic(dir_fd, AL_EXTRAS_INDEX, al_buf_str(&out), 0600, AL_EXTRAS_INDEX, err);
}

/* --- finding --- */

static int not_installed(const char *set, struct al_err *err)
{
    al_fail(err, AL_EXTRAS_NOT_INSTALLED, "the packages of \"%s\" are not installed", set);
    return al_hint(err, "alisio analysis setup --extras %s", set);
}

static int changed(const char *set, struct al_err *err)
{
    al_fail(err, AL_EXTRAS_INSTALL_FAILED,
            "the packages of \"%s\" are not as they were when they were installed, so they are not used",
            set);
    return al_hint(err, "alisio analysis setup --extras %s installs them anew", set);
}

/* The record, with another digest of what stat says: a copy of the state folder is none of a change. */
static void renew_record(int dir_fd, const char *rel, const struct al_json *record, const char *digest)
{
    autobuf struct al_buf out = AL_BUF_INIT(AL_EXTRAS_MAX_JSON);
    struct al_err ignored;
    struct al_jw w;
    autofd int dir = -1;
    const char *name;
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    al_json_each(member, record)
    {
        if (al_str_is(member->key, "statSha256"))
            continue;
        al_jw_key_str(&w, member->key);
        al_jw_value(&w, member);
    }
    al_jw_kstrz(&w, "statSha256", digest);
    al_jw_end(&w);
    if (al_path_open_parent(dir_fd, rel, false, rel, &dir, &name, &ignored) < 0 ||
        al_path_write_atomic(dir, name, al_buf_str(&out), 0600, rel, &ignored) < 0)
        return; /* it is only slower the next time */
}

bool al_extras_intact(int dir_fd, const char *version)
{
    autoarena struct al_arena a = AL_ARENA_INIT(4u << 20);
    autobuf struct al_buf text = AL_BUF_INIT(AL_EXTRAS_MAX_JSON);
    char rel[64], digest[AL_SHA256_HEX], now[AL_SHA256_HEX];
    snprintf(rel, sizeof rel, "%s/runtime.json", version);
    const struct al_json *record = read_json(dir_fd, rel, &a, &text);
    if (!al_json_is_true(al_json_get(record, "ok")))
        return false;
    autofd int venv = -1;
    struct al_err ignored;
    if (al_path_open(dir_fd, version, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, version, &venv, &ignored) < 0 ||
        al_extras_digest(venv, "venv", false, now) < 0)
        return false;
    if (al_str_is(al_json_get_text(record, "statSha256"), now))
        return true;
    if (al_extras_digest(venv, "venv", true, digest) < 0 ||
        !al_str_is(al_json_get_text(record, "treeSha256"), digest))
        return false;
    renew_record(dir_fd, rel, record, now);
    return true;
}

/* The smallest set that has all of them. */
static int needed_set(const char *const *names, size_t n, size_t *ret, struct al_err *err)
{
    *ret = 0;
    for (size_t i = 0; i < n; i++) {
        const struct al_py_extras_set *set = al_py_extras_set(al_str_of(names[i]));
        if (!set) {
            al_fail(err, AL_INVALID_INPUT, "there are no extras called %.40s", names[i]);
            return al_hint(err, "analysis and science are known");
        }
        if ((size_t)(set - sets) > *ret)
            *ret = (size_t)(set - sets);
    }
    return 0;
}

int al_py_extras_find(struct al_pyrun *p, const struct al_py_interpreter *python, const char *const *names,
                      size_t n, char **ret_venv, struct al_err *err)
{
    char minor[16], version[AL_EXTRAS_VERSION_MAX];
    size_t need;
    autofd int dir = -1;
    if (needed_set(names, n, &need, err) < 0 || al_extras_open(al_pyrun_state_dir(p), &dir, err) < 0)
        return -1;
    al_extras_minor(python, minor);
    bool found = false;
    for (size_t i = need; i < N_SETS; i++) {
        if (al_extras_index_get(dir, sets[i].name, minor, version) != 1)
            continue;
        found = true;
        if (!al_extras_intact(dir, version))
            continue;
        if (asprintf(ret_venv, "%s/" AL_EXTRAS_FOLDER "/%s/venv", al_pyrun_state_dir(p), version) < 0)
            abort();
        return 0;
    }
    return found ? changed(sets[need].name, err) : not_installed(sets[need].name, err);
}

void al_py_extras_json(struct al_pyrun *p, struct al_jw *w)
{
    autoarena struct al_arena a = AL_ARENA_INIT(4u << 20);
    autobuf struct al_buf text = AL_BUF_INIT(AL_EXTRAS_MAX_JSON);
    struct al_err ignored;
    autofd int dir = -1;
    const struct al_json *index = NULL;
    if (al_extras_open(al_pyrun_state_dir(p), &dir, &ignored) == 0)
        index = read_json(dir, AL_EXTRAS_INDEX, &a, &text);
    al_jw_obj(w);
    for (size_t i = 0; i < N_SETS; i++) {
        al_jw_key(w, sets[i].name);
        al_jw_arr(w);
        al_json_each(member, index)
        {
            char key[64];
            index_key(sets[i].name, "", key);
            if (al_str_starts(member->key, key) && al_json_is_string(member)) {
                al_jw_obj(w);
                al_jw_kstr(w, "python",
                           (struct al_str){member->key.p + strlen(key), member->key.n - strlen(key)});
                al_jw_kstr(w, "version", member->str);
                al_jw_end(w);
            }
        }
        al_jw_end(w);
    }
    al_jw_end(w);
}

/* --- sweeping --- */

static bool is_named(const struct al_json *index, const char *name)
{
    al_json_each(member, index)
    {
        if (al_str_is(member->str, name))
            return true;
    }
    return false;
}

/* An installation that goes on holds the lock in its folder. */
static bool is_alive(const char *state_dir, const char *name)
{
    autofree char *path = NULL;
    if (asprintf(&path, "%s/" AL_EXTRAS_FOLDER "/%s/lock", state_dir, name) < 0)
        abort();
    return al_lock_is_free(path) == 0 && access(path, F_OK) == 0;
}

int al_py_extras_sweep(const char *state_dir)
{
    autoarena struct al_arena a = AL_ARENA_INIT(4u << 20);
    autobuf struct al_buf text = AL_BUF_INIT(AL_EXTRAS_MAX_JSON);
    struct al_err ignored;
    autofd int dir = -1;
    int n = 0;
    if (al_extras_open(state_dir, &dir, &ignored) < 0)
        return 0;
    const struct al_json *index = read_json(dir, AL_EXTRAS_INDEX, &a, &text);
    /* A job that began before the last change may still use what the index no longer names. */
    struct stat st;
    bool settled = fstatat(dir, AL_EXTRAS_INDEX, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
                   al_wall_ms() - (int64_t)st.st_mtim.tv_sec * 1000 > SETTLED_MS;
    int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = again < 0 ? NULL : fdopendir(again);
    if (!d) {
        al_close(&again);
        return 0;
    }
    for (struct dirent *e; (e = readdir(d));) {
        bool left = al_str_starts(al_str_of(e->d_name), AL_EXTRAS_TMP);
        bool unnamed = settled && is_version(al_str_of(e->d_name)) && !is_named(index, e->d_name);
        if ((left || unnamed) && !is_alive(state_dir, e->d_name) && al_path_remove_tree(dir, e->d_name) == 0)
            n++;
    }
    closedir(d);
    return n;
}
