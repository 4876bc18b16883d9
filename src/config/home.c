#include "config/config.h"

#include "base/mem.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

static char *join(const char *dir, const char *rest)
{
    struct al_buf b = AL_BUF_INIT(64 * 1024);
    al_buf_adds(&b, dir);
    al_buf_adds(&b, rest);
    return al_buf_failed(&b) ? (al_buf_free(&b), al_xstrdup("/")) : al_buf_take(&b);
}

static char *user_home(void)
{
    const char *home = getenv("HOME");
    if (home && home[0] == '/')
        return al_xstrdup(home);
    const struct passwd *pw = getpwuid(geteuid());
    return al_xstrdup(pw && pw->pw_dir && pw->pw_dir[0] == '/' ? pw->pw_dir : "/");
}

/* Our own variable may be relative: it is what a person typed. The XDG ones are ignored then, as their rules
 * say. */
static char *folder(const char *own, const char *xdg, const char *below_home)
{
    const char *v = getenv(own);
    if (v && v[0] == '/')
        return al_xstrdup(v);
    if (v && v[0]) {
        char cwd[PATH_MAX];
        autofree char *rest = join("/", v);
        return join(getcwd(cwd, sizeof cwd) ? cwd : "", rest);
    }
    v = getenv(xdg);
    if (v && v[0] == '/')
        return join(v, "/alisio");
    autofree char *home = user_home();
    return join(home, below_home);
}

char *al_config_home(void)
{
    return folder("ALISIO_CONFIG_HOME", "XDG_CONFIG_HOME", "/.config/alisio");
}

char *al_state_home(void)
{
    return folder("ALISIO_STATE_HOME", "XDG_STATE_HOME", "/.local/state/alisio");
}
