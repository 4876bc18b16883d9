#include "sandbox/guest_int.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROOT_GIVES_NOTHING                                                                           \
    (SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED | \
     SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

/* Never above what there is: only some may raise a limit. */
static int limit(int what, uint64_t value)
{
    struct rlimit r;
    if (getrlimit((__rlimit_resource_t)what, &r) < 0)
        return -errno;
    if (r.rlim_max == RLIM_INFINITY || value < r.rlim_max)
        r.rlim_max = value;
    r.rlim_cur = r.rlim_max;
    return setrlimit((__rlimit_resource_t)what, &r) < 0 ? -errno : 0;
}

int al_guest_limits(const struct al_guest *g)
{
    const struct {
        int what;
        uint64_t value;
    } all[] = {{RLIMIT_NPROC, g->nproc},
               {RLIMIT_DATA, g->data},
               {RLIMIT_FSIZE, g->fsize},
               {RLIMIT_NOFILE, g->nofile}};
    int r = limit(RLIMIT_CORE, 0);
    for (size_t i = 0; r == 0 && i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i].value > 0)
            r = limit(all[i].what, all[i].value);
    }
    return r;
}

int al_guest_user(const struct al_guest *g)
{
    if (g->uid == 0)
        return 0;
    if (setgroups(0, NULL) < 0 || setresgid(g->gid, g->gid, g->gid) < 0 ||
        setresuid(g->uid, g->uid, g->uid) < 0)
        return -errno;
    return 0;
}

/* The newest kernel may know more of them than our headers. */
int al_guest_drop_bounding(void)
{
    int left = 0;
    prctl(PR_SET_SECUREBITS, ROOT_GIVES_NOTHING, 0, 0, 0); /* a second lock, where we may */
    for (unsigned cap = 0; cap < 64 && prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++) {
        if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) > 0 && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
            left = errno;
    }
    /* An ordinary user may not, and need not: under no_new_privs nothing but being root brings capabilities.
     */
    bool noroot = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) & SECBIT_NOROOT;
    return left && (getuid() == 0 || geteuid() == 0) && !noroot ? -left : 0;
}

int al_guest_drop_caps(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];
    memset(none, 0, sizeof(none));
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 && errno != EINVAL)
        return -errno;
    if (syscall(SYS_capset, &head, none) < 0)
        return -errno;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}
