#include "tools/tools_int.h"

#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

bool al_tool_is_scratch(struct al_str path)
{
    return al_str_starts(path, "scratch:");
}

bool al_tool_path_is_scratch(const struct al_json *args)
{
    return al_tool_is_scratch(al_json_get_text(args, "path"));
}

int al_tool_place(struct al_call *call, struct al_str path, enum al_want want, struct al_place *ret,
                  struct al_err *err)
{
    struct al_workspace *w = al_core_workspace(call->core);
    return al_workspace_resolve(w, path, want, call->origin == AL_ORIGIN_CLI, &call->arena, ret, err);
}

static int refuse_kind(mode_t mode, const char *shown, struct al_err *err)
{
    if (S_ISDIR(mode)) {
        al_fail(err, AL_INVALID_INPUT, "%s: is a folder", shown);
        return al_hint(err, "list_files shows what is in it");
    }
    const char *kind = S_ISFIFO(mode)                   ? "a named pipe"
                       : S_ISSOCK(mode)                 ? "a socket"
                       : S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
                                                        : "no regular file";
    return al_fail(err, AL_TOOL_ERROR, "%s: is %s, not a file", shown, kind);
}

int al_tool_open_regular(const struct al_place *place, int *ret_fd, struct stat *ret_st, struct al_err *err)
{
    /* Looked at before it is opened: opening a device can already have an effect. Looked at again after,
     * since the name may mean another file by then; O_NONBLOCK keeps a FIFO from holding us. */
    autofd int look = -1, fd = -1;
    struct stat st;
    if (al_path_open(place->dir_fd, place->rel, O_PATH, 0, place->shown, &look, err) < 0)
        return -1;
    if (fstat(look, &st) == 0 && !S_ISREG(st.st_mode))
        return refuse_kind(st.st_mode, place->shown, err);
    if (al_path_open(place->dir_fd, place->rel, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, place->shown, &fd, err) <
        0)
        return -1;
    if (fstat(fd, ret_st) < 0)
        return al_fail_errno(err, AL_TOOL_ERROR, errno, "%s", place->shown);
    if (!S_ISREG(ret_st->st_mode))
        return refuse_kind(ret_st->st_mode, place->shown, err);
    *ret_fd = fd;
    fd = -1;
    return 0;
}

int al_tool_open_file(struct al_call *call, const struct al_place *place, int *ret_fd, struct stat *ret_st,
                      struct al_err *err)
{
    autofd int fd = -1;
    if (al_tool_open_regular(place, &fd, ret_st, err) < 0 ||
        al_workspace_check_fd(al_core_workspace(call->core), place, fd, AL_WANT_READ, err) < 0)
        return -1;
    *ret_fd = fd;
    fd = -1;
    return 0;
}

int al_tool_open_folder(struct al_call *call, const struct al_place *place, int *ret_fd, struct al_err *err)
{
    autofd int fd = -1;
    if (al_path_open(place->dir_fd, place->rel, O_RDONLY | O_DIRECTORY, 0, place->shown, &fd, err) < 0)
        return -1;
    if (al_workspace_check_fd(al_core_workspace(call->core), place, fd, AL_WANT_LIST, err) < 0)
        return -1;
    *ret_fd = fd;
    fd = -1;
    return 0;
}

void al_tool_place_prefix(const struct al_place *place, struct al_str name, struct al_buf *out)
{
    bool root = strcmp(place->rel, ".") == 0;
    if (root && place->kind == AL_PLACE_SCRATCH) {
        al_buf_adds(out, "scratch:");
    } else if (root && place->kind == AL_PLACE_WORKSPACE) {
        if (al_tool_is_scratch(name))
            al_buf_adds(out, "./");
    } else {
        al_buf_adds(out, place->path);
        if (!al_str_ends(al_buf_str(out), "/"))
            al_buf_addc(out, '/');
    }
}

bool al_tool_is_left_out(const char *left_out, struct al_str name)
{
    size_t n = left_out ? strlen(left_out) : 0;
    return n > 0 && al_str_starts(name, left_out) && (name.n == n || name.p[n] == '/');
}

const char *al_tool_left_out_glob(const char *left_out, struct al_arena *a)
{
    if (!left_out)
        return NULL;
    autobuf struct al_buf b = AL_BUF_INIT(2 * PATH_MAX + 16);
    al_buf_adds(&b, "--glob=!/");
    for (const char *c = left_out; *c; c++) {
        if (strchr("*?[]{}\\!", *c))
            al_buf_addc(&b, '\\');
        al_buf_addc(&b, *c);
    }
    return al_buf_failed(&b) ? NULL : al_arena_dup(a, al_buf_str(&b));
}

const char *al_tool_program(struct al_call *call, const char *name, const char *install, struct al_err *err)
{
    const char *path = al_core_program(call->core, name);
    if (path)
        return path;
    al_fail(err, AL_RUNTIME_UNAVAILABLE, "%s is needed for this tool and was not found in PATH", name);
    al_hint(err, "install it: %s", install);
    return NULL;
}
