#include "os/fd.h"
#include "sandbox/landlock.h"
#include "sandbox/landlock_int.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ_AND_RUN (FS_EXECUTE | FS_READ_FILE | FS_READ_DIR)
#define MAKE_AND_CHANGE                                                                          \
    (FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG | FS_MAKE_SOCK | \
     FS_MAKE_FIFO | FS_MAKE_SYM | FS_REFER | FS_TRUNCATE)

/* They do nothing to anybody; nearly every program wants one of them. */
static int allow_devices(int rules, int abi)
{
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                          "/dev/urandom"};
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        int r = al_landlock_allow(rules, abi, devices[i], FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE);
        if (r < 0 && r != -ENOENT)
            return r;
    }
    return 0;
}

unsigned al_landlock_gaps_of(int abi)
{
    return (abi < 3 ? AL_LANDLOCK_GAP_TRUNCATE : 0) | (abi < 4 ? AL_LANDLOCK_GAP_TCP : 0) |
           (abi < 5 ? AL_LANDLOCK_GAP_IOCTL : 0) |
           (abi < 6 ? AL_LANDLOCK_GAP_ABSTRACT | AL_LANDLOCK_GAP_SIGNALS : 0);
}

unsigned al_landlock_gaps(void)
{
    return al_landlock_gaps_of(al_landlock_abi());
}

int al_landlock_guest_rules(const struct al_guest_path *paths, size_t n, const char **ret_failed)
{
    int abi = al_landlock_abi();
    *ret_failed = "";
    if (abi == 0)
        return -ENOSYS;
    autofd int rules = al_landlock_make_rules(abi);
    if (rules < 0)
        return rules;
    int r = allow_devices(rules, abi);
    for (size_t i = 0; r == 0 && i < n; i++) {
        const struct al_guest_path *p = &paths[i];
        r = al_landlock_allow(rules, abi, p->path, READ_AND_RUN | (p->write ? MAKE_AND_CHANGE : 0));
        if (r < 0 && p->optional && (r == -ENOENT || r == -ENOTDIR || r == -EACCES))
            r = 0;
        if (r < 0)
            *ret_failed = p->path;
    }
    if (r < 0)
        return r;
    r = rules;
    rules = -1;
    return r;
}

int al_landlock_restrict(int rules)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    return syscall(SYS_landlock_restrict_self, rules, 0) < 0 ? -errno : 0;
}
