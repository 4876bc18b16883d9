#include "base/mem.h"
#include "os/path.h"
#include "os/spawn.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a tool's child may know of our environment. Ours may hold keys: nothing passes that is not named here.
 */
static bool name_passes(const char *name, size_t n)
{
    static const char *const names[] = {
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "LANG",
        "TERM",
        "TMPDIR",
        "http_proxy",
        "https_proxy",
        "ftp_proxy",
        "all_proxy",
        "no_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "FTP_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "CURL_CA_BUNDLE",
        "NODE_EXTRA_CA_CERTS",
        "REQUESTS_CA_BUNDLE",
        "GIT_SSL_CAINFO",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
            return true;
    }
    return (n > 3 && memcmp(name, "LC_", 3) == 0) || (n > 4 && memcmp(name, "XDG_", 4) == 0);
}

char **al_env_child(void)
{
    size_t total = 0;
    while (environ && environ[total])
        total++;
    char **env = al_xcalloc(total + 1, sizeof(*env));
    size_t n = 0;
    for (size_t i = 0; i < total; i++) {
        const char *eq = strchr(environ[i], '=');
        if (eq && name_passes(environ[i], (size_t)(eq - environ[i])))
            env[n++] = al_xstrdup(environ[i]);
    }
    al_env_clean_path(env, NULL);
    return env;
}

void al_env_clean_path(char **env, const char *const *avoid)
{
    for (; *env; env++) {
        if (strncmp(*env, "PATH=", 5) != 0)
            continue;
        autofree char *path = al_path_for_child(*env + 5, avoid);
        free(*env);
        if (asprintf(env, "PATH=%s", path) < 0)
            abort();
    }
}

void al_env_free(char **env)
{
    for (size_t i = 0; env && env[i]; i++)
        free(env[i]);
    free(env);
}
