/*
 * The control socket of a host: another process of the same user may ask whether it lives, and cancel one of
 * its runs. One JSON object a line each way: {"op":"ping"} and {"op":"cancel","run":"exec_…"}.
 */
#include "base/mem.h"
#include "core/control_int.h"
#include "core/core_int.h"
#include "loop/stream.h"
#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_CLIENTS 8
#define IDLE_MS 5000

struct client {
    struct al_control *control;
    struct al_stream *stream;
    struct al_timer *timer;
    struct al_buf line;
};

struct al_control {
    struct al_core *core;
    int fd;
    char *path;
    struct al_watch *watch;
    struct client *clients[MAX_CLIENTS];
};

int control_address(const char *path, struct sockaddr_un *addr, socklen_t *ret_len, int *ret_dir_fd,
                    struct al_err *err)
{
    memset(addr, 0, sizeof *addr);
    addr->sun_family = AF_UNIX;
    *ret_dir_fd = -1;
    *ret_len = sizeof *addr;
    size_t n = strlen(path);
    if (n < sizeof addr->sun_path) {
        memcpy(addr->sun_path, path, n + 1);
        return 0;
    }
    const char *name = strrchr(path, '/');
    if (!name)
        return al_fail(err, AL_INTERNAL, "the control socket has no folder");
    autofree char *dir = al_xdup(path, (size_t)(name - path));
    int fd = openat(AT_FDCWD, dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "the folder of the control socket");
    int len = snprintf(addr->sun_path, sizeof addr->sun_path, "/proc/self/fd/%d%s", fd, name);
    if (len < 0 || (size_t)len >= sizeof addr->sun_path) {
        close(fd);
        return al_fail(err, AL_INTERNAL, "the name of the control socket is too long");
    }
    *ret_dir_fd = fd;
    return 0;
}

int control_same_user(int fd)
{
    struct ucred who;
    socklen_t n = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 && who.uid == geteuid();
}

static void drop(struct client *c)
{
    struct al_control *control = c->control;
    for (size_t i = 0; i < MAX_CLIENTS; i++) {
        if (control->clients[i] == c)
            control->clients[i] = NULL;
    }
    al_timer_stop(c->timer);
    al_stream_free(c->stream);
    al_buf_free(&c->line);
    free(c);
}

static void write_error(struct al_jw *w, const struct al_err *err)
{
    al_jw_kbool(w, "ok", false);
    al_jw_key(w, "error");
    al_jw_obj(w);
    al_jw_kstrz(w, "code", al_code_name(err->code));
    al_jw_kstrz(w, "message", err->msg);
    al_jw_end(w);
}

static void obey(struct client *c, const struct al_json *request, struct al_jw *w)
{
    struct al_core *core = c->control->core;
    struct al_str op = al_json_get_text(request, "op"), run = al_json_get_text(request, "run");
    struct al_err err = {0};
    if (al_str_is(op, "ping")) {
        al_jw_kbool(w, "ok", true);
        al_jw_kstrz(w, "host", al_store_host_id(core->store));
        al_jw_kint(w, "runs", (int64_t)al_core_n_runs(core));
    } else if (!al_str_is(op, "cancel")) {
        al_fail(&err, AL_INVALID_INPUT, "ping and cancel are known");
        write_error(w, &err);
    } else if (al_core_cancel_run(core, run)) {
        al_jw_kbool(w, "ok", true);
    } else {
        al_fail(&err, AL_NOT_FOUND, "no such run goes on in this host");
        write_error(w, &err);
    }
}

/* False: the client is to go. */
static bool answer(struct client *c, struct al_str line)
{
    struct al_arena a = AL_ARENA_INIT(64u << 10);
    autobuf struct al_buf out = AL_BUF_INIT(8192);
    const struct al_json *request;
    struct al_err err = {0};
    struct al_jw w;
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    if (al_json_parse(&a, line, &request, &err) < 0)
        write_error(&w, &err);
    else
        obey(c, request, &w);
    al_jw_end(&w);
    al_buf_addc(&out, '\n');
    al_arena_free(&a);
    return al_stream_write(c->stream, al_buf_str(&out)) == 0;
}

static void on_data(void *ud, struct al_str bytes)
{
    struct client *c = ud;
    al_buf_add_str(&c->line, bytes);
    bool fine = !al_buf_failed(&c->line);
    while (fine) {
        struct al_str have = al_buf_str(&c->line);
        const char *end = memchr(have.p, '\n', have.n);
        if (!end)
            break;
        size_t n = (size_t)(end - have.p);
        fine = answer(c, (struct al_str){have.p, n});
        al_buf_drop(&c->line, n + 1);
    }
    if (!fine)
        drop(c);
}

static void on_end(void *ud, int error)
{
    (void)error;
    drop(ud);
}

static void on_idle(void *ud)
{
    struct client *c = ud;
    c->timer = NULL;
    drop(c);
}

static void add_client(struct al_control *control, int fd)
{
    static const struct al_stream_ops ops = {.data = on_data, .end = on_end};
    size_t i = 0;
    while (i < MAX_CLIENTS && control->clients[i])
        i++;
    struct client *c = al_xcalloc(1, sizeof *c);
    struct al_err ignored;
    c->control = control;
    al_buf_init(&c->line, CONTROL_MAX_LINE);
    if (i < MAX_CLIENTS && control_same_user(fd))
        c->stream = al_stream_new(control->core->loop, fd, fd, 64u << 10, &ops, c, &ignored);
    if (!c->stream) {
        al_close(&fd);
        free(c);
        return;
    }
    control->clients[i] = c;
    c->timer = al_timer_start(control->core->loop, IDLE_MS, on_idle, c);
}

static void on_connect(void *ud, int events)
{
    struct al_control *control = ud;
    (void)events;
    int fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
        add_client(control, fd);
}

static int bind_socket(struct al_control *control, struct al_err *err)
{
    struct sockaddr_un addr;
    socklen_t len;
    autofd int dir = -1;
    if (control_address(control->path, &addr, &len, &dir, err) < 0)
        return -1;
    control->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (control->fd < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "the control socket");
    unlink(control->path);
    /* bind(2) gives the file the mode of the socket: no moment in which others could connect. */
    if (fchmod(control->fd, 0600) < 0 || bind(control->fd, (struct sockaddr *)&addr, len) < 0 ||
        listen(control->fd, MAX_CLIENTS) < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "the control socket");
    return 0;
}

int al_control_listen(struct al_core *core, struct al_err *err)
{
    if (core->control)
        return 0;
    struct al_control *control = al_xcalloc(1, sizeof *control);
    control->core = core;
    control->fd = -1;
    control->path = al_store_socket_path(core->store, al_store_host_id(core->store));
    core->control = control;
    if (bind_socket(control, err) == 0) {
        control->watch = al_watch_start(core->loop, control->fd, AL_READABLE, on_connect, control, err);
        if (control->watch)
            return 0;
    }
    al_control_close(core);
    return -1;
}

void al_control_close(struct al_core *core)
{
    struct al_control *control = core->control;
    if (!control)
        return;
    core->control = NULL;
    for (size_t i = 0; i < MAX_CLIENTS; i++) {
        if (control->clients[i])
            drop(control->clients[i]);
    }
    al_watch_stop(control->watch);
    if (control->fd >= 0) {
        unlink(control->path);
        al_close(&control->fd);
    }
    free(control->path);
    free(control);
}
