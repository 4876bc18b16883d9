/* The folder of a job: made, opened, removed, and our own files in it. */
#include "assets/assets.h"
#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"
#include "pyrun/job_int.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The script of a job that root runs is another user, below those that systems give away (65534 is nobody).
 */
#define FIRST_OWNER 61184
#define N_OWNERS (65520 - FIRST_OWNER)
#define NAME_TRIES 100
#define FOLDER_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
/* A janitor may take an empty folder away between our making it and our opening it. */
#define MAKE_TRIES 8

static const char *const parts[] = {"script", "input", "work", "staging", "logs"};

/* --- folders --- */

/* A name that comes from us: a workspace key, an id. */
static bool is_plain(const char *name)
{
    size_t n = name ? strlen(name) : 0;
    return n > 0 && n <= NAME_MAX && name[0] != '.' && !strchr(name, '/');
}

static int fail_folder(struct al_err *err, int eno, const char *path)
{
    enum al_code code = eno == ENOSPC || eno == EDQUOT ? AL_QUOTA_EXCEEDED : AL_INTERNAL;
    if (eno == ENOENT)
        code = AL_NOT_FOUND;
    if (eno == EACCES || eno == EPERM || eno == ELOOP || eno == ENOTDIR || eno == EROFS)
        code = AL_PERMISSION_DENIED;
    al_fail_errno(err, code, eno, "the folder of the job cannot be %s",
                  code == AL_NOT_FOUND ? "found" : "used");
    if (code == AL_PERMISSION_DENIED)
        al_hint(err, "The folder analysis in alisio's state folder has to be yours alone, and no link.");
    if (code == AL_QUOTA_EXCEEDED)
        al_hint(err, "Make room where alisio's state folder lies.");
    return al_detail(err, "%s", path);
}

/* One folder beneath another, made when asked for. Ours, and closed to others; no link. fd or -errno. */
static int enter(int at, const char *name, bool make)
{
    if (make && mkdirat(at, name, 0700) < 0 && errno != EEXIST)
        return -errno;
    autofd int fd = openat(at, name, FOLDER_FLAGS);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (st.st_uid != geteuid() || (st.st_mode & 077))
        return -EACCES;
    int r = fd;
    fd = -1;
    return r;
}

/* state/analysis/jobs/WORKSPACE/SESSION. */
static int enter_session(const char *state_dir, const char *const way[4], bool make)
{
    int at = open(state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; at >= 0 && i < 4; i++) {
        int next = enter(at, way[i], make);
        al_close(&at);
        if (next < 0)
            return next;
        at = next;
    }
    return at < 0 ? -errno : at;
}

static int open_session(const char *state_dir, const struct al_py_job *job, bool make)
{
    autofree char *copy = al_xstrdup(job->rel);
    const char *way[4];
    char *at = copy;
    for (int i = 0; i < 4; i++) {
        way[i] = at;
        at = strchr(at, '/');
        *at++ = 0;
    }
    int r = -ENOENT;
    for (int i = 0; r == -ENOENT && i < (make ? MAKE_TRIES : 1); i++)
        r = enter_session(state_dir, way, make);
    return r;
}

static int name_job(const char *state_dir, const char *workspace, const char *session, const char *exec_id,
                    struct al_py_job *ret, struct al_err *err)
{
    if (!is_plain(workspace) || !is_plain(session) || !is_plain(exec_id) ||
        strlen(exec_id) >= sizeof(ret->id))
        return al_fail(err, AL_INVALID_INPUT, "this is no id of a Python run");
    *ret = (struct al_py_job){.fd = -1};
    snprintf(ret->id, sizeof(ret->id), "%s", exec_id);
    if (asprintf(&ret->rel, "analysis/jobs/%s/%s/%s", workspace, session, exec_id) < 0 ||
        asprintf(&ret->path, "%s/%s", state_dir, ret->rel) < 0)
        abort();
    return 0;
}

/* Root's scripts are other users, who get these two mounted, or walk to them; what is above is closed to
 * them. */
static mode_t part_mode(const char *part)
{
    bool shown = strcmp(part, "script") == 0 || strcmp(part, "input") == 0;
    return shown && geteuid() == 0 ? 0755 : 0700;
}

static int make_parts(const struct al_py_job *j)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        mode_t mode = part_mode(parts[i]);
        if (mkdirat(j->fd, parts[i], mode) < 0 || (mode != 0700 && fchmodat(j->fd, parts[i], mode, 0) < 0))
            return -errno;
    }
    return 0;
}

int al_py_job_new(const char *state_dir, const char *workspace, const char *session, const char *exec_id,
                  struct al_py_job *ret, struct al_err *err)
{
    struct al_py_job j;
    if (name_job(state_dir, workspace, session, exec_id, &j, err) < 0)
        return -1;
    int r = -ENOENT;
    for (int i = 0; r == -ENOENT && i < MAKE_TRIES; i++) {
        autofd int at = open_session(state_dir, &j, true);
        r = at < 0 ? at : mkdirat(at, j.id, 0700) < 0 ? -errno : 0;
        if (r == 0)
            r = j.fd = openat(at, j.id, FOLDER_FLAGS);
    }
    if (r >= 0)
        r = make_parts(&j);
    if (r < 0) {
        if (r == -EEXIST)
            al_fail(err, AL_STATE_CONFLICT, "the job %s is there already", j.id);
        else
            fail_folder(err, -r, j.path);
        if (j.fd >= 0)
            al_py_job_remove(&j);
        al_py_job_close(&j);
        return -1;
    }
    *ret = j;
    return 0;
}

int al_py_job_open(const char *state_dir, const char *workspace, const char *session, const char *exec_id,
                   struct al_py_job *ret, struct al_err *err)
{
    struct al_py_job j;
    if (name_job(state_dir, workspace, session, exec_id, &j, err) < 0)
        return -1;
    autofd int at = open_session(state_dir, &j, false);
    j.fd = at < 0 ? at : enter(at, j.id, false);
    if (j.fd < 0) {
        if (j.fd == -ENOENT) {
            al_fail(err, AL_NOT_FOUND, "the files of the run %s are not there", j.id);
            al_hint(err, "They are removed after analysis.retention.jobsDays days.");
        } else {
            fail_folder(err, -j.fd, j.path);
        }
        j.fd = -1;
        al_py_job_close(&j);
        return -1;
    }
    *ret = j;
    return 0;
}

void al_py_job_owner(const struct al_py_job *j, uid_t *ret_uid, gid_t *ret_gid)
{
    uint32_t h = 2166136261u; /* FNV-1a: neighbours in time get different users */
    for (const char *p = j->id; *p; p++)
        h = (h ^ (unsigned char)*p) * 16777619u;
    *ret_uid = FIRST_OWNER + h % N_OWNERS;
    *ret_gid = (gid_t)*ret_uid;
}

void al_py_job_close(struct al_py_job *j)
{
    al_close(&j->fd);
    free(j->rel);
    free(j->path);
    *j = (struct al_py_job){.fd = -1};
}

void al_py_job_remove(struct al_py_job *j)
{
    autofree char *above = al_xdup(j->path, strlen(j->path) - strlen(j->rel));
    autofd int at = open_session(above, j, false);
    if (at >= 0)
        (void)al_path_remove_tree(at, j->id);
}

int al_py_job_part(const struct al_py_job *j, const char *rel, int *ret_fd, struct al_err *err)
{
    int fd = openat(j->fd, rel, FOLDER_FLAGS);
    if (fd < 0)
        return fail_folder(err, errno, j->path);
    *ret_fd = fd;
    return 0;
}

/* --- our own files --- */

int al_py_put_file(int dir_fd, const char *name, struct al_str bytes, mode_t mode)
{
    autofd int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    int r = al_fd_write_all(fd, bytes);
    if (r == 0 && fchmod(fd, mode) < 0)
        r = -errno;
    return r;
}

/* Not flushed to the disk: what a power cut leaves of a job that ran is not taken up again. */
int al_py_job_write(const struct al_py_job *j, const char *rel, struct al_str bytes, struct al_err *err)
{
    autofd int dir = -1;
    const char *name;
    if (al_path_open_parent(j->fd, rel, false, rel, &dir, &name, err) < 0)
        return -1;
    /* What stands beneath input/ is for the script. */
    mode_t mode = strchr(rel, '/') && geteuid() == 0 ? 0644 : 0600;
    char tmp[64];
    int r = -EEXIST;
    for (int i = 0; r == -EEXIST && i < NAME_TRIES; i++) {
        uint64_t random;
        al_random(&random, sizeof(random));
        snprintf(tmp, sizeof(tmp), ".alisio-new-%016llx", (unsigned long long)random);
        r = al_py_put_file(dir, tmp, bytes, mode);
    }
    if (r == 0 && renameat(dir, tmp, dir, name) < 0)
        r = -errno;
    if (r == 0)
        return 0;
    unlinkat(dir, tmp, 0);
    al_fail_errno(err, r == -ENOSPC || r == -EDQUOT ? AL_QUOTA_EXCEEDED : AL_INTERNAL, -r,
                  "cannot write %s of the job", name);
    return al_detail(err, "%s/%s", j->path, rel);
}

int al_py_job_read(const struct al_py_job *j, const char *rel, size_t max, struct al_buf *out,
                   struct al_err *err)
{
    autofd int fd = -1;
    if (al_path_open(j->fd, rel, O_RDONLY | O_NOFOLLOW, 0, rel, &fd, err) < 0)
        return al_wrap(err, "run %s", j->id);
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return al_fail(err, AL_INVALID_INPUT, "%s of the run %s is no file", rel, j->id);
    struct al_buf b = AL_BUF_INIT(max);
    int r = al_fd_read_all(fd, &b);
    if (r == 0)
        al_buf_add_str(out, al_buf_str(&b));
    bool fits = r == 0 && !al_buf_failed(out);
    al_buf_free(&b);
    if (fits)
        return 0;
    if (r == 0 || r == -EFBIG)
        return al_fail(err, AL_INVALID_INPUT, "%s of the run %s is larger than %zu bytes", rel, j->id, max);
    return al_fail_errno(err, AL_INTERNAL, -r, "cannot read %s of the run %s", rel, j->id);
}

static int put_runtime(int script, mode_t file_mode)
{
    if (mkdirat(script, "alisio_runtime", 0700) < 0)
        return -errno;
    autofd int dir = openat(script, "alisio_runtime", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return -errno;
    const struct al_asset *files;
    size_t n = al_assets_runtime(&files);
    for (size_t i = 0; i < n; i++) {
        struct al_str bytes = {files[i].start, (size_t)(files[i].end - files[i].start)};
        int r = al_py_put_file(dir, files[i].name, bytes, file_mode);
        if (r < 0)
            return r;
    }
    return geteuid() == 0 && fchmod(dir, 0755) < 0 ? -errno : 0;
}

int al_py_job_script(const struct al_py_job *j, struct al_str code, struct al_err *err)
{
    autofd int script = -1;
    if (al_py_job_part(j, "script", &script, err) < 0)
        return -1;
    mode_t mode = geteuid() == 0 ? 0444 : 0400;
    int r = al_py_put_file(script, "main.py", code, mode);
    if (r == 0)
        r = put_runtime(script, mode);
    return r == 0 ? 0 : fail_folder(err, -r, j->path);
}
