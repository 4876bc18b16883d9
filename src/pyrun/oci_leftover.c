/*
 * Containers whose keeper was killed. A keeper (oci_main.c) holds the lock of a file with the name of its run
 * as long as it lives, and takes the file away when its container is gone: what lies there and can be locked
 * was left.
 */
#include "pyrun/oci.h"
#include "pyrun/oci_int.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define MAX_SWEPT 100 /* at once; the next run goes on */
#define TALK_MS 200

char *al_oci_locks_folder(struct al_pyrun *p, struct al_err *err)
{
    autofree char *runtimes = NULL;
    char *path = NULL;
    if (asprintf(&runtimes, "%s/runtimes", al_pyrun_state_dir(p)) < 0 ||
        asprintf(&path, "%s/oci", runtimes) < 0)
        abort();
    if (al_path_private_dir(runtimes, err) == 0 && al_path_private_dir(path, err) == 0)
        return path;
    free(path);
    return NULL;
}

int al_oci_lock(const char *path)
{
    for (;;) {
        struct stat here, there;
        autofd int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
            return -errno;
        /* Who sweeps may have taken it for a left one before it was locked. */
        if (fstat(fd, &here) == 0 && lstat(path, &there) == 0 && here.st_ino == there.st_ino) {
            int mine = fd;
            fd = -1;
            return mine;
        }
    }
}

/* --- Docker's daemon, without its client: that one may take longer to start than a killed run has --- */

static void ask_daemon(const char *socket_path, const char *request)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (strlen(socket_path) >= sizeof(at.sun_path))
        return;
    memcpy(at.sun_path, socket_path, strlen(socket_path));
    autofd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
        al_fd_write_all(fd, al_str_of(request)) < 0)
        return;
    /* Its answer says that it was done; nothing of it is needed. */
    struct pollfd p = {fd, POLLIN, 0};
    char some[256];
    if (poll(&p, 1, TALK_MS) > 0 && read(fd, some, sizeof(some)) < 0)
        return;
}

void al_oci_kill_now(const char *container)
{
    const char *host = getenv("DOCKER_HOST");
    char request[256];
    if (!host || strncmp(host, "unix://", 7) != 0)
        return;
    snprintf(
        request, sizeof(request),
        "POST /containers/%s/kill HTTP/1.1\r\nHost: docker\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        container);
    ask_daemon(host + 7, request);
    snprintf(request, sizeof(request),
             "DELETE /containers/%s?force=1&v=1 HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n\r\n",
             container);
    ask_daemon(host + 7, request);
}

/* --- the sweep --- */

static bool remove_one(struct al_pyrun *p, struct al_oci_engine *e, const char *id)
{
    char container[AL_ID_MAX + sizeof(AL_OCI_NAME_PREFIX)];
    int status = -1;
    if (!e->program && al_oci_engine_find(p, false, e, NULL) < 0)
        return false;
    snprintf(container, sizeof(container), AL_OCI_NAME_PREFIX "%s", id);
    const char *podman[] = {"rm", "-f", "-t", "0", "--ignore", container, NULL};
    const char *docker[] = {"rm", "-f", container, NULL};
    autobuf struct al_buf errors = AL_BUF_INIT(4096);
    if (al_oci_ask(e, e->docker ? docker : podman, AL_OCI_ASK_MS, NULL, &errors, &status, NULL) < 0)
        return false;
    return status == 0 || al_str_find(al_buf_str(&errors), AL_STR("No such container")) >= 0;
}

int al_oci_sweep(struct al_pyrun *p)
{
    struct al_oci_engine e = {0};
    int removed = 0;
    autofree char *folder = al_oci_locks_folder(p, NULL);
    DIR *d = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; d && removed < MAX_SWEPT && (entry = readdir(d));) {
        if (!al_id_valid(al_str_of(entry->d_name), "exec_"))
            continue;
        autofd int fd = openat(dirfd(d), entry->d_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || !remove_one(p, &e, entry->d_name))
            continue;
        (void)unlinkat(dirfd(d), entry->d_name, 0);
        removed++;
    }
    if (d)
        closedir(d);
    al_oci_engine_fini(&e);
    return removed;
}
