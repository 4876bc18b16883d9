/* timed PROGRAM ARG…: runs it and prints on descriptor 3, as JSON, what it took: wall and CPU seconds of the
 * whole tree, and the largest resident size of one process of it, in MB. */
#include "base/ident.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

int main(int argc, char **argv)
{
    struct rusage used;
    int status = 0;
    if (argc < 2)
        return 2;
    uint64_t began = al_mono_ns();
    pid_t pid = vfork();
    if (pid == 0) {
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
        return 2;
    double wall = (double)(al_mono_ns() - began) * 1e-9;
    dprintf(3, "{\"wall\":%.6f,\"cpu\":%.6f,\"mb\":%.1f}\n", wall,
            seconds(used.ru_utime) + seconds(used.ru_stime), (double)used.ru_maxrss / 1024);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
