/*
 * Between the supervisor and the engine's client. The container is not the client's child: whoever stops the
 * client has not stopped it. This process stays until the container is gone, and says of which image it was
 * made.
 */
#include "pyrun/oci.h"
#include "pyrun/oci_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define LOOK_MS 5 /* for the file that says that there is a container */
#define REMOVE_MS 10000
#define STRANGE 125

struct keeper {
    int report_fd;
    const char *image, *container, *cid, *lock;
    char id[65];
    bool docker;
    char **client; /* argv */
    int pidfd, signal_fd;
    bool told;
    /* The look at the container, beside the script. */
    int look_pidfd, look_out;
    bool looked;
    struct al_buf seen;
};

static const char *option(const char *arg, const char *name)
{
    size_t n = strlen(name);
    return strncmp(arg, name, n) == 0 ? arg + n : NULL;
}

static bool parse(int argc, char **argv, struct keeper *k)
{
    int64_t fd = -1;
    const char *id = NULL, *engine = NULL, *report = NULL;
    int i = 2;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *v;
        if ((v = option(argv[i], "--report=")))
            report = v;
        else if ((v = option(argv[i], "--image=")))
            k->image = v;
        else if ((v = option(argv[i], "--id=")))
            id = v;
        else if ((v = option(argv[i], "--engine=")))
            engine = v;
        else if ((v = option(argv[i], "--container=")))
            k->container = v;
        else if ((v = option(argv[i], "--cid=")))
            k->cid = v;
        else if ((v = option(argv[i], "--lock=")))
            k->lock = v;
        else
            return false;
    }
    if (i + 1 >= argc || !report || !k->image || !id || !engine || !k->container || !k->cid || !k->lock)
        return false;
    if (!al_parse_int(al_str_of(report), -1, 1024, &fd))
        return false;
    k->report_fd = (int)fd;
    k->docker = strcmp(engine, "docker") == 0;
    snprintf(k->id, sizeof(k->id), "%s", id);
    k->client = argv + i + 1;
    return fd < 0 || al_fd_cloexec((int)fd) == 0;
}

static void tell(struct keeper *k, int layer, int error)
{
    struct al_guest_report r = {.layer = layer, .error = error, .pid_ns = 1};
    if (!k->told && k->report_fd >= 0)
        (void)al_fd_write_all(k->report_fd, (struct al_str){(const char *)&r, sizeof(r)});
    k->told = true;
}

static int start(char *const *argv, const struct al_fd_map *fds, size_t n_fds, int *pidfd)
{
    struct al_err err;
    pid_t pid;
    struct al_spawn how = {.path = argv[0],
                           .exec_fd = -1,
                           .argv = argv,
                           .envp = environ,
                           .cwd_fd = -1,
                           .fds = fds,
                           .n_fds = n_fds,
                           .death_signal = SIGKILL};
    return al_spawn(&how, &pid, pidfd, &err);
}

/* At once, whatever state it is in; none is fine. */
static void remove_container(struct keeper *k)
{
    const char *podman[] = {k->client[0], "rm", "-f", "-t", "0", "--ignore", k->container, NULL};
    const char *docker[] = {k->client[0], "rm", "-f", k->container, NULL};
    int status;
    if (k->docker)
        al_oci_kill_now(k->container);
    if (al_py_ask_in(k->docker ? docker : podman, environ, REMOVE_MS, NULL, NULL, &status, NULL) < 0)
        return; /* what is left is swept */
}

/* Asks which image the container has. It answers when the container has started, which holds it locked till
 * then. */
static void look(struct keeper *k)
{
    int out[2];
    const char *argv[] = {k->client[0], "container", "inspect", "--format", "{{.Image}}", k->container, NULL};
    if (pipe2(out, O_CLOEXEC) < 0)
        return;
    const struct al_fd_map fds[] = {{out[1], 1}};
    k->looked = true;
    if (start((char *const *)argv, fds, 1, &k->look_pidfd) == 0) {
        k->look_out = out[0];
        out[0] = -1;
    }
    al_close(&out[0]);
    al_close(&out[1]);
}

/* "sha256:…" or without. */
static bool is_id(struct al_str said, const char *id)
{
    struct al_str s = al_str_trim(said);
    if (al_str_starts(s, "sha256:"))
        s = (struct al_str){s.p + 7, s.n - 7};
    return al_str_is(s, id);
}

/* The look has ended. */
static void seen(struct keeper *k)
{
    struct al_exit end = {0};
    (void)al_fd_read_all(k->look_out, &k->seen);
    (void)al_reap(k->look_pidfd, true, &end);
    al_close(&k->look_pidfd);
    al_close(&k->look_out);
    if (!end.exited || end.status != 0)
        return; /* it has gone already: the store is asked when all is over */
    if (is_id(al_buf_str(&k->seen), k->id)) {
        tell(k, AL_GUEST_STARTED, 0);
        return;
    }
    tell(k, AL_GUEST_EXEC, AL_OCI_OTHER_IMAGE);
    remove_container(k);
}

/* Until the client has ended. */
static struct al_exit wait_for_client(struct keeper *k)
{
    struct al_exit end = {0};
    bool stopping = false;
    while (al_reap(k->pidfd, false, &end) == 0) {
        struct pollfd p[] = {{k->pidfd, POLLIN, 0}, {k->signal_fd, POLLIN, 0}, {k->look_pidfd, POLLIN, 0}};
        (void)poll(p, 3, k->looked || stopping ? -1 : LOOK_MS);
        if (!k->looked && !stopping && access(k->cid, F_OK) == 0)
            look(k);
        if (k->look_pidfd >= 0 && p[2].fd >= 0 && p[2].revents)
            seen(k);
        struct signalfd_siginfo si;
        if (p[1].revents && read(k->signal_fd, &si, sizeof(si)) == sizeof(si)) {
            stopping = true;
            remove_container(k);
            (void)al_pidfd_kill(k->pidfd, SIGKILL);
        }
    }
    return end;
}

/* A short script may be over before anybody could look at its container. What the name means is then still
 * the same as before, or else nobody knows. */
static void verify_late(struct keeper *k, const struct al_exit *end)
{
    char now[65] = "";
    if (k->told || !end->exited || (end->status >= 125 && end->status <= 127))
        return;
    if (al_oci_image_id(k->client[0], environ, k->image, now, NULL) == 0 && strcmp(now, k->id) == 0)
        tell(k, AL_GUEST_STARTED, 0);
    else
        tell(k, AL_GUEST_EXEC, AL_OCI_OTHER_IMAGE);
}

static int take_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int keep(struct keeper *k)
{
    static const struct al_fd_map std[] = {{0, 0}, {1, 1}, {2, 2}};
    k->signal_fd = take_signals();
    int lock = al_oci_lock(k->lock); /* held until the end of this process; without it there is no sweep */
    if (!k->id[0] && al_oci_image_id(k->client[0], environ, k->image, k->id, NULL) != 0) {
        tell(k, AL_GUEST_EXEC, AL_OCI_NO_IMAGE);
        return STRANGE;
    }
    if (start(k->client, std, 3, &k->pidfd) < 0) {
        tell(k, AL_GUEST_EXEC, errno);
        return STRANGE;
    }
    struct al_exit end = wait_for_client(k);
    if (k->look_pidfd >= 0)
        seen(k);
    verify_late(k, &end);
    if (!end.exited)
        remove_container(k);
    (void)unlink(k->cid);
    if (lock >= 0)
        (void)unlink(k->lock);
    return end.exited ? end.status : 128 + end.signal;
}

int al_oci_main(int argc, char **argv)
{
    struct keeper k = {.report_fd = -1,
                       .pidfd = -1,
                       .signal_fd = -1,
                       .look_pidfd = -1,
                       .look_out = -1,
                       .seen = AL_BUF_INIT(4096)};
    prctl(PR_SET_NAME, "alisio-oci", 0, 0, 0);
    int status = parse(argc, argv, &k) ? keep(&k) : STRANGE;
    al_buf_free(&k.seen);
    return status;
}
