#include "artifact/artifact.h"

int al_zip_write(int out_fd, int dir_fd, const char *const *paths, size_t n, struct al_err *err)
{
    (void)out_fd;
    (void)dir_fd;
    (void)paths;
    (void)n;
    return al_fail(err, AL_INTERNAL, "not yet");
}
