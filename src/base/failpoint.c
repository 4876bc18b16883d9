#include "base/failpoint.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void al_failpoint(const char *name)
{
    static unsigned long passed;
    const char *wanted = getenv("ALISIO_FAILPOINT");
    size_t n = strlen(name);
    if (!wanted || strncmp(wanted, name, n) != 0 || (wanted[n] && wanted[n] != ':'))
        return;
    unsigned long nth = wanted[n] ? strtoul(wanted + n + 1, NULL, 10) : 1;
    if (++passed >= nth)
        kill(getpid(), SIGKILL);
}
