#include "base/buf.h"
#include "base/mem.h"
#include "os/fd.h"
#include "sandbox/cgroup_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FILE (4u << 20) /* a machine with many containers has many mounts */

static const char *const names[AL_CG_N] = {
    [AL_CG_MEMORY] = "memory", [AL_CG_PIDS] = "pids", [AL_CG_CPU] = "cpu"};

void al_cgroup_places_fini(struct al_cgroup_places *p)
{
    for (int i = 0; i < AL_CG_N; i++) {
        free(p->dirs[i]);
        p->dirs[i] = NULL;
    }
}

static bool read_at(const char *root, const char *path, struct al_buf *out)
{
    char whole[PATH_MAX];
    if (snprintf(whole, sizeof(whole), "%s%s", root, path) >= (int)sizeof(whole))
        return false;
    autofd int fd = open(whole, O_RDONLY | O_CLOEXEC);
    al_buf_clear(out);
    return fd >= 0 && al_fd_read_all(fd, out) == 0;
}

/* The next piece up to the separator; false at the end. */
static bool next(struct al_str *rest, char separator, struct al_str *ret)
{
    if (!rest->p)
        return false;
    const char *end = rest->n ? memchr(rest->p, separator, rest->n) : NULL;
    *ret = (struct al_str){rest->p, end ? (size_t)(end - rest->p) : rest->n};
    *rest = end ? (struct al_str){end + 1, rest->n - ret->n - 1} : (struct al_str){NULL, 0};
    return true;
}

static bool has_word(struct al_str list, char separator, const char *word)
{
    struct al_str w;
    while (next(&list, separator, &w)) {
        if (al_str_is(al_str_trim(w), word))
            return true;
    }
    return false;
}

/* A line of /proc/PID/cgroup is ID:CONTROLLERS:PATH; version 2's has no controllers. */
static struct al_str own_path(struct al_str text, const char *controller)
{
    struct al_str line, id, controllers;
    while (next(&text, '\n', &line)) {
        if (!next(&line, ':', &id) || !next(&line, ':', &controllers))
            continue;
        if (controller ? has_word(controllers, ',', controller) : controllers.n == 0 && al_str_is(id, "0"))
            return line;
    }
    return (struct al_str){NULL, 0};
}

struct mount {
    struct al_str root, point; /* the group that is mounted, and where */
};

/* A line of mountinfo, see proc(5): ID PARENT DEV ROOT POINT OPTIONS … - TYPE SOURCE SUPER. */
static bool parse_mount(struct al_str line, const char *controller, struct mount *ret)
{
    struct al_str word, type, source;
    for (int i = 0; i < 5; i++) {
        if (!next(&line, ' ', &word))
            return false;
        if (i == 3)
            ret->root = word;
        else if (i == 4)
            ret->point = word;
    }
    while (next(&line, ' ', &word) && !al_str_is(word, "-"))
        ;
    if (!next(&line, ' ', &type) || !next(&line, ' ', &source))
        return false;
    return controller ? al_str_is(type, "cgroup") && has_word(line, ',', controller)
                      : al_str_is(type, "cgroup2");
}

static bool find_mount(struct al_str text, const char *controller, struct mount *ret)
{
    struct al_str line;
    while (next(&text, '\n', &line)) {
        if (parse_mount(line, controller, ret))
            return true;
    }
    return false;
}

/* The folder of a group in a mount that may show a part of the tree only. NULL: it lies outside of that part.
 */
static char *folder_of(const char *root, const struct mount *m, struct al_str path)
{
    char whole[PATH_MAX];
    struct al_str beneath = path;
    if (!path.p || al_str_find(path, AL_STR("..")) >= 0)
        return NULL;
    if (!al_str_is(m->root, "/")) {
        if (path.n < m->root.n || memcmp(path.p, m->root.p, m->root.n) != 0 ||
            (path.n > m->root.n && path.p[m->root.n] != '/'))
            return NULL;
        beneath = (struct al_str){path.p + m->root.n, path.n - m->root.n};
    }
    if (al_str_is(beneath, "/"))
        beneath.n = 0;
    int n = snprintf(whole, sizeof(whole), "%s%.*s%.*s", root, AL_FMT(m->point), AL_FMT(beneath));
    return n < (int)sizeof(whole) ? al_xstrdup(whole) : NULL;
}

static bool may_write(const char *dir, const char *name)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof(path), "%s%s%s", dir, name ? "/" : "", name ? name : "");
    return n < (int)sizeof(path) && faccessat(AT_FDCWD, path, W_OK | (name ? 0 : X_OK), AT_EACCESS) == 0;
}

/* --- version 2 --- */

static bool hands_down(const char *dir, const char *controller)
{
    autobuf struct al_buf list = AL_BUF_INIT(4096);
    return read_at(dir, "/cgroup.subtree_control", &list) && has_word(al_buf_str(&list), ' ', controller);
}

/* A process goes from one group to another only for who may write into both, and into what they have in
 * common. */
static bool is_ours(const char *dir)
{
    return may_write(dir, NULL) && may_write(dir, "cgroup.procs") && hands_down(dir, "memory") &&
           hands_down(dir, "pids");
}

static bool find_v2(const char *root, struct al_str groups, struct al_str mounts,
                    struct al_cgroup_places *ret)
{
    struct mount m;
    if (!find_mount(mounts, NULL, &m))
        return false;
    autofree char *dir = folder_of(root, &m, own_path(groups, NULL));
    size_t top = strlen(root) + m.point.n;
    while (dir && strlen(dir) >= top && !is_ours(dir)) {
        char *slash = strrchr(dir, '/');
        if (strlen(dir) == top || !slash)
            return false;
        *slash = 0;
    }
    if (!dir || strlen(dir) < top)
        return false;
    ret->v2 = true;
    ret->dirs[AL_CG_MEMORY] = al_xstrdup(dir);
    ret->dirs[AL_CG_PIDS] = al_xstrdup(dir);
    if (hands_down(dir, "cpu"))
        ret->dirs[AL_CG_CPU] = al_xstrdup(dir);
    return true;
}

/* --- version 1 --- */

static bool find_v1(const char *root, struct al_str groups, struct al_str mounts,
                    struct al_cgroup_places *ret)
{
    for (int i = 0; i < AL_CG_N; i++) {
        struct mount m;
        if (!find_mount(mounts, names[i], &m))
            continue;
        char *dir = folder_of(root, &m, own_path(groups, names[i]));
        if (dir && may_write(dir, NULL))
            ret->dirs[i] = dir;
        else
            free(dir);
    }
    return ret->dirs[AL_CG_MEMORY] && ret->dirs[AL_CG_PIDS];
}

int al_cgroup_find(const char *root, struct al_cgroup_places *ret, struct al_err *err)
{
    autobuf struct al_buf groups = AL_BUF_INIT(64 << 10), mounts = AL_BUF_INIT(MAX_FILE);
    *ret = (struct al_cgroup_places){0};
    if (!read_at(root, "/proc/self/cgroup", &groups) || !read_at(root, "/proc/self/mountinfo", &mounts)) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "this system tells nothing of control groups");
        return 1;
    }
    if (find_v1(root, al_buf_str(&groups), al_buf_str(&mounts), ret))
        return 0;
    al_cgroup_places_fini(ret);
    if (find_v2(root, al_buf_str(&groups), al_buf_str(&mounts), ret))
        return 0;
    al_cgroup_places_fini(ret);
    al_fail(err, AL_RUNTIME_UNAVAILABLE, "no control group for memory and processes is ours to divide");
    al_hint(
        err,
        "Limits are sampled instead. For the kernel to keep them: on systemd, start us from a session of the "
        "user manager (systemd-run --user --scope), or as root.");
    return 1;
}
