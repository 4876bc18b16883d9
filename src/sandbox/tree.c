#include "sandbox/tree.h"
#include "base/buf.h"
#include "base/mem.h"
#include "os/fd.h"
#include "os/spawn.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In one pass. A bigger tree takes more passes: what is killed makes room. */
#define MAX_PIDS 262144
#define MAX_LIST (4u << 20)
/* From us to the first process of a namespace: what makes it, and what joined a control group before. */
#define MAX_CHAIN 4

struct node {
    pid_t pid, parent;
};

struct facts {
    char state;
    long ppid, pgrp, threads;
};

static int read_file(const char *path, struct al_buf *out)
{
    autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    al_buf_clear(out);
    int r = al_fd_read_all(fd, out);
    if (r == 0)
        al_buf_addc(out, 0);
    return r;
}

/* /proc/PID/stat: "PID (any text, also with brackets) S ppid pgrp …", see proc(5). */
static bool read_facts(pid_t pid, struct facts *ret)
{
    char path[64];
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (read_file(path, &b) < 0)
        return false;
    char *p = strrchr(b.p, ')');
    if (!p || p[1] != ' ' || !p[2])
        return false;
    ret->state = p[2];
    p += 3;
    for (int field = 4; field <= 20; field++) {
        char *end;
        long v = strtol(p, &end, 10);
        if (end == p)
            return false;
        p = end;
        if (field == 4)
            ret->ppid = v;
        else if (field == 5)
            ret->pgrp = v;
        else if (field == 20)
            ret->threads = v;
    }
    return true;
}

static void add_nodes(struct al_buf *nodes, const char *list, pid_t parent)
{
    while (*list && nodes->n < MAX_PIDS * sizeof(struct node)) {
        char *end;
        long pid = strtol(list, &end, 10);
        if (end == list)
            return;
        struct node n = {.pid = (pid_t)pid, .parent = parent};
        al_buf_add(nodes, &n, sizeof(n));
        list = end;
        while (*list == ' ')
            list++;
    }
}

/* Each thread lists the children that it made. */
static int add_children(struct al_buf *nodes, pid_t pid)
{
    char path[96];
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    if (!d)
        return -errno;
    autobuf struct al_buf list = AL_BUF_INIT(MAX_LIST);
    int r = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", (int)pid, e->d_name);
        r = read_file(path, &list);
        if (r == 0)
            add_nodes(nodes, list.p, pid);
    }
    closedir(d);
    return r;
}

static void signal_node(const struct node *n, int signum, struct al_buf *nodes, struct al_tree_count *count)
{
    /* The descriptor first, then a look: a number that meanwhile names a stranger has another parent. */
    autofd int pidfd = al_pidfd_open(n->pid);
    struct facts f = {0};
    if (pidfd < 0 || !read_facts(n->pid, &f))
        return;
    if (f.ppid != n->parent && f.ppid != getpid())
        return;
    /* A leader that has ended while other threads of it run looks like a zombie, and is none. */
    bool zombie = (f.state == 'Z' || f.state == 'X') && f.threads <= 1;
    if (!zombie) {
        count->alive++;
        int r = al_pidfd_kill(pidfd, signum);
        if (r == -EPERM)
            count->refused++;
        else if (f.state != 'T' && f.state != 't')
            count->moving++;
        /* One call for a whole group: faster than what multiplies in it. No group reaches out of the tree,
         * since the program began in a session of its own. */
        if (r == 0 && (signum == SIGKILL || signum == SIGSTOP) && f.pgrp > 1 && f.pgrp != getpgrp())
            kill((pid_t)-f.pgrp, signum);
    }
    add_children(nodes, n->pid);
}

int al_tree_signal(int signum, struct al_tree_count *ret)
{
    autobuf struct al_buf nodes = AL_BUF_INIT((MAX_PIDS + 1) * sizeof(struct node));
    *ret = (struct al_tree_count){0};
    int r = add_children(&nodes, getpid());
    if (r < 0)
        return r;
    for (size_t at = 0; at + sizeof(struct node) <= nodes.n; at += sizeof(struct node)) {
        struct node n;
        memcpy(&n, nodes.p + at, sizeof(n));
        signal_node(&n, signum, &nodes, ret);
    }
    return 0;
}

/* "NSpid:  4711  1": its number here, and in each namespace further inside. */
static bool is_first(pid_t pid)
{
    char path[64];
    autobuf struct al_buf b = AL_BUF_INIT(16384);
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    if (read_file(path, &b) < 0)
        return false;
    const char *line = strstr(b.p, "\nNSpid:");
    size_t n = line ? strcspn(++line, "\n") : 0;
    const char *here = line ? memchr(line, '\t', n) : NULL, *last = line ? memrchr(line, '\t', n) : NULL;
    return here && last != here && line + n == last + 2 && last[1] == '1';
}

bool al_tree_kill_namespace(void)
{
    autobuf struct al_buf children = AL_BUF_INIT((MAX_PIDS + 1) * sizeof(struct node));
    pid_t at = getpid();
    for (int depth = 0; depth < MAX_CHAIN; depth++) {
        struct node n;
        struct facts f = {0};
        al_buf_clear(&children);
        if (add_children(&children, at) < 0 || children.n != sizeof(n))
            return false;
        memcpy(&n, children.p, sizeof(n));
        /* As above: the descriptor first. */
        autofd int pidfd = al_pidfd_open(n.pid);
        if (pidfd < 0 || !read_facts(n.pid, &f) || f.ppid != at)
            return false;
        if (is_first(n.pid))
            return al_pidfd_kill(pidfd, SIGKILL) == 0;
        at = n.pid;
    }
    return false;
}
