/* Where a helper program lies, and whether it may be trusted to be that program. */
#include "base/buf.h"
#include "base/mem.h"
#include "os/path.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bool only_ours(const struct stat *st)
{
    return (st->st_uid == 0 || st->st_uid == geteuid()) && !(st->st_mode & 022);
}

static bool is_inside(const char *real, const char *root)
{
    size_t n = strlen(root);
    while (n > 1 && root[n - 1] == '/')
        n--;
    if (n == 1 && root[0] == '/')
        return true;
    return strncmp(real, root, n) == 0 && (real[n] == '/' || real[n] == 0);
}

static bool avoided(const char *real, const char *const *avoid)
{
    for (size_t i = 0; avoid && avoid[i]; i++) {
        if (is_inside(real, avoid[i]))
            return true;
    }
    return false;
}

static bool folder_trusted(const char *dir, const char *const *avoid)
{
    struct stat st;
    autofree char *real = realpath(dir, NULL);
    return real && stat(real, &st) == 0 && S_ISDIR(st.st_mode) && only_ours(&st) && !avoided(real, avoid);
}

/* The file behind the links, and the folder that it lies in, are held to the same rule. */
static bool program_trusted(const char *file, const char *const *avoid)
{
    struct stat st;
    autofree char *real = realpath(file, NULL);
    if (!real || stat(real, &st) < 0 || !S_ISREG(st.st_mode) || !only_ours(&st))
        return false;
    if (faccessat(AT_FDCWD, real, X_OK, AT_EACCESS) < 0)
        return false;
    char *slash = strrchr(real, '/');
    slash[slash == real] = 0;
    return folder_trusted(real, avoid);
}

char *al_path_find_program(const char *name, const char *const *avoid)
{
    return al_path_find_program_in(getenv("PATH"), name, avoid);
}

char *al_path_find_program_in(const char *path, const char *name, const char *const *avoid)
{
    if (!*name || strchr(name, '/') || !path)
        return NULL;
    while (*path) {
        size_t n = strcspn(path, ":");
        if (n > 0 && n < 4096 && path[0] == '/') {
            autofree char *dir = al_xdup(path, n);
            size_t size = n + strlen(name) + 2;
            char *file = al_xmalloc(size);
            memcpy(file, dir, n);
            file[n] = '/';
            memcpy(file + n + 1, name, size - n - 1);
            if (folder_trusted(dir, avoid) && program_trusted(file, avoid))
                return file;
            free(file);
        }
        path += n + (path[n] == ':');
    }
    return NULL;
}

static bool may_search(const char *dir, const char *const *avoid)
{
    autofree char *real = realpath(dir, NULL);
    return dir[0] == '/' && !avoided(dir, avoid) && !(real && avoided(real, avoid));
}

char *al_path_for_child(const char *path, const char *const *avoid)
{
    autobuf struct al_buf out = AL_BUF_INIT(strlen(path) + 1);
    while (*path) {
        size_t n = strcspn(path, ":");
        autofree char *dir = al_xdup(path, n);
        if (may_search(dir, avoid)) {
            if (out.n)
                al_buf_addc(&out, ':');
            al_buf_adds(&out, dir);
        }
        path += n + (path[n] == ':');
    }
    /* An empty PATH is the current folder to those who search it. */
    return out.n ? al_buf_take(&out) : al_xstrdup("/usr/local/bin:/usr/bin:/bin");
}
