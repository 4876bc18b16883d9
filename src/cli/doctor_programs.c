#include "cli/doctor.h"

#include "base/mem.h"
#include "os/path.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool inside(const char *path, const char *root)
{
    size_t n = strlen(root);
    if (n == 1)
        return false;
    return strncmp(path, root, n) == 0 && (path[n] == '/' || path[n] == 0);
}

static bool open_to_others(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return true;
    return (st.st_uid != 0 && st.st_uid != geteuid()) || (st.st_mode & 022);
}

/* Why the program in that folder of PATH was passed over; NULL when nothing of that name is there. */
static const char *why_skipped(const char *dir, const char *file, const char *workspace)
{
    char real[PATH_MAX], real_dir[PATH_MAX];
    if (access(file, X_OK) < 0)
        return NULL;
    if (dir[0] != '/')
        return "its folder stands in PATH as a relative path";
    if (!realpath(file, real) || !realpath(dir, real_dir))
        return "it cannot be looked at";
    if (workspace && (inside(real, workspace) || inside(real_dir, workspace)))
        return "it is inside the workspace";
    if (open_to_others(dir) || open_to_others(file))
        return "others than you and root may change it";
    return "the folder that it links to may be changed by others";
}

/* Every program of that name in PATH before the one that was taken. */
static void say_skipped(struct al_doctor *d, const char *name, const char *taken)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t n = strcspn(path, ":");
        autobuf struct al_buf dir = AL_BUF_INIT(PATH_MAX), file = AL_BUF_INIT(2 * PATH_MAX);
        if (n == 0)
            al_buf_addc(&dir, '.');
        al_buf_add(&dir, path, n);
        al_buf_addc(&dir, 0);
        path += n + (path[n] == ':');
        if (al_buf_failed(&dir))
            continue;
        al_buf_addf(&file, "%s/%s", dir.p, name);
        al_buf_addc(&file, 0);
        if (taken && strcmp(file.p, taken) == 0)
            return;
        const char *why = why_skipped(dir.p, file.p, d->app->workspace);
        if (why)
            al_doctor_say(d, AL_MARK_WARN, name, "%s is not used: %s", file.p, why);
    }
}

void al_doctor_programs(struct al_doctor *d)
{
    static const struct {
        const char *name, *without;
    } programs[] = {
        {"git", "git_status and git_diff cannot work"},
        {"rg", "search_text cannot work; install ripgrep"},
    };
    const char *avoid[] = {d->app->workspace, NULL};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const char *name = programs[i].name;
        autofree char *own = d->app->core ? NULL : al_path_find_program(name, avoid);
        const char *path = d->app->core ? al_core_program(d->app->core, name) : own;
        if (path)
            al_doctor_say(d, AL_MARK_OK, name, "%s", path);
        else
            al_doctor_say(d, AL_MARK_WARN, name, "not there: %s", programs[i].without);
        say_skipped(d, name, path);
    }
}
