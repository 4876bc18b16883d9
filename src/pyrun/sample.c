/* Memory of a tree of processes. */
#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "pyrun/run_int.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_PIDS 65536
#define MAX_LIST (1u << 20)
#define MAX_STATUS 16384

static bool read_proc(pid_t pid, const char *name, struct al_buf *out)
{
    char path[96];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    al_buf_clear(out);
    autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && al_fd_read_all(fd, out) == 0;
}

/* "Name:    123 kB" at the beginning of a line; 0 when it is not there. */
static uint64_t field(struct al_str text, const char *name)
{
    ptrdiff_t at = al_str_find(text, al_str_of(name));
    if (at < 0)
        return 0;
    struct al_str rest =
        al_str_trim((struct al_str){text.p + at + strlen(name), text.n - (size_t)at - strlen(name)});
    size_t digits = 0;
    while (digits < rest.n && isdigit((unsigned char)rest.p[digits]))
        digits++;
    int64_t kb = 0;
    (void)al_parse_int((struct al_str){rest.p, digits}, 0, INT64_MAX / 1024, &kb);
    return (uint64_t)kb * 1024;
}

/* What is its own, or shared with others that were cloned from it, without files: those can be dropped. */
static uint64_t memory_of(pid_t pid, struct al_buf *b)
{
    if (!read_proc(pid, "status", b))
        return 0;
    struct al_str s = al_buf_str(b);
    return field(s, "\nRssAnon:") + field(s, "\nRssShmem:") + field(s, "\nVmSwap:");
}

/* Its share, where each page is divided among those who have it. */
static uint64_t share_of(pid_t pid, struct al_buf *b)
{
    if (!read_proc(pid, "smaps_rollup", b))
        return memory_of(pid, b);
    struct al_str s = al_buf_str(b);
    return field(s, "\nPss_Anon:") + field(s, "\nPss_Shmem:") + field(s, "\nSwapPss:");
}

static void add_pids(struct al_buf *pids, struct al_str list)
{
    for (size_t i = 0; i < list.n;) {
        size_t end = i;
        while (end < list.n && list.p[end] != ' ')
            end++;
        int64_t n;
        if (al_parse_int((struct al_str){list.p + i, end - i}, 1, INT32_MAX, &n)) {
            pid_t pid = (pid_t)n;
            al_buf_add(pids, &pid, sizeof(pid));
        }
        i = end + 1;
    }
}

static void add_children(struct al_buf *pids, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    if (!d)
        return;
    autobuf struct al_buf list = AL_BUF_INIT(MAX_LIST);
    for (struct dirent *e; (e = readdir(d));) {
        char name[64];
        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        snprintf(name, sizeof(name), "task/%.20s/children", e->d_name);
        if (read_proc(pid, name, &list))
            add_pids(pids, al_buf_str(&list));
    }
    closedir(d);
}

static pid_t pid_at(const struct al_buf *pids, size_t i)
{
    pid_t pid;
    memcpy(&pid, pids->p + i * sizeof(pid), sizeof(pid));
    return pid;
}

uint64_t al_py_tree_memory(pid_t pid, uint64_t limit, const atomic_bool *stop)
{
    autobuf struct al_buf pids = AL_BUF_INIT(MAX_PIDS * sizeof(pid_t));
    autobuf struct al_buf text = AL_BUF_INIT(MAX_STATUS);
    uint64_t sum = 0, shares = 0;
    al_buf_add(&pids, &pid, sizeof(pid));
    for (size_t i = 0; i < pids.n / sizeof(pid) && !atomic_load(stop); i++) {
        sum += memory_of(pid_at(&pids, i), &text);
        add_children(&pids, pid_at(&pids, i));
    }
    if (sum <= limit)
        return sum;
    for (size_t i = 0; i < pids.n / sizeof(pid) && !atomic_load(stop); i++)
        shares += share_of(pid_at(&pids, i), &text);
    return shares;
}
