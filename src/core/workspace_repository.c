/*
 * Git repositories without a .git folder. Git takes any folder with HEAD, objects and refs for a repository
 * (or with HEAD and a commondir that leads to the other two), and whoever runs git in it runs what its config
 * and hooks name. So no file tool puts such a folder together, in whatever order, or changes what steers it.
 */
#include "base/mem.h"
#include "core/names.h"
#include "core/workspace.h"
#include "core/workspace_int.h"
#include "os/fd.h"
#include "os/path.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum {
    HEAD = 1,
    OBJECTS = 2,
    REFS = 4,
    COMMONDIR = 8,
    STEERS = 16, /* git reads it, and may do what it says */
    FOLDER = 32, /* a folder: what lies in it counts */
};

static const struct {
    const char *name; /* folded */
    unsigned part;
} parts[] = {
    {"head", HEAD | STEERS}, {"objects", OBJECTS | FOLDER},
    {"refs", REFS | FOLDER}, {"commondir", COMMONDIR | STEERS},
    {"config", STEERS},      {"config.worktree", STEERS},
    {"packed-refs", STEERS}, {"hooks", STEERS | FOLDER},
};

static unsigned part_of(const char *name, size_t n)
{
    char folded[NAME_MAX + 1];
    if (n > NAME_MAX)
        return 0;
    struct al_str s = {folded, al_name_rules_fold(name, n, folded)};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (al_str_is(s, parts[i].name))
            return parts[i].part;
    return 0;
}

/* What of HEAD, objects, refs and commondir the folder has, in any case. */
static unsigned parts_in(int fd)
{
    unsigned have = 0;
    int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = own >= 0 ? fdopendir(own) : NULL;
    if (d) {
        for (struct dirent *e; (e = readdir(d));)
            have |= part_of(e->d_name, strlen(e->d_name));
        closedir(d);
        return have;
    }
    al_close(&own);
    /* A folder that may be entered but not listed. */
    static const char *const names[] = {"HEAD", "objects", "refs", "commondir"};
    struct stat st;
    for (unsigned i = 0; i < 4; i++)
        if (fstatat(fd, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
            have |= 1u << i;
    return have;
}

static bool is_repository(unsigned have)
{
    return (have & HEAD) && ((have & COMMONDIR) || ((have & OBJECTS) && (have & REFS)));
}

static bool is_nearly_one(unsigned have)
{
    return !!(have & HEAD) + !!(have & OBJECTS) + !!(have & REFS) >= 2;
}

/* Would a write of this part into a folder that has those make a repository, or change one? */
static bool is_refused(unsigned have, unsigned part)
{
    bool becomes = is_repository(have | part);
    if (part & STEERS)
        return becomes || is_nearly_one(have);
    return becomes && !is_repository(have);
}

int al_workspace_check_repository(int dir_fd, const char *path, const char *shown, struct al_err *err)
{
    for (const char *name = path; *name;) {
        const char *slash = strchrnul(name, '/');
        unsigned part = part_of(name, (size_t)(slash - name));
        autofree char *folder = name == path ? al_xstrdup(".") : al_xdup(path, (size_t)(name - path) - 1);
        autofd int fd = -1;
        struct al_err gone;
        if (part && (part & FOLDER || !*slash) &&
            al_path_open(dir_fd, folder, O_PATH | O_DIRECTORY, 0, shown, &fd, &gone) == 0 &&
            is_refused(parts_in(fd), part)) {
            al_fail(err, AL_PATH_PROTECTED,
                    "%s: its folder is a git repository, or would become one, and is not written", shown);
            return al_hint(
                err, "what HEAD, config and hooks say there would run with the next git command; a person "
                     "can make repositories with git");
        }
        name = *slash ? slash + 1 : slash;
    }
    return 0;
}

bool al_workspace_names_repository(const char *rel)
{
    for (const char *name = rel; *name;) {
        const char *slash = strchrnul(name, '/');
        if (part_of(name, (size_t)(slash - name)))
            return true;
        name = *slash ? slash + 1 : slash;
    }
    return false;
}
