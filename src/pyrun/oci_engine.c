/* Which container engine there is, that it is one of this computer, and what it says when it is asked. */
#include "pyrun/oci_int.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/path.h"
#include "os/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MAX_ARGS 48
#define MAX_SETTINGS (1u << 20)
#define SHOWN 300
#define NO_ENGINE_HINT "install Podman or Docker (%.*s), or choose another analysis.runtime"

void al_oci_last_line(struct al_str text, struct al_buf *out)
{
    struct al_str rest = al_str_trim(text);
    size_t from = rest.n;
    while (from > 0 && rest.p[from - 1] != '\n')
        from--;
    struct al_str line = al_str_trim((struct al_str){rest.p + from, rest.n - from});
    al_text_visible(out, al_utf8_cut(line, SHOWN), false);
}

const char *al_oci_engine_name(const struct al_oci_engine *e)
{
    return e->docker ? "docker" : "podman";
}

void al_oci_engine_fini(struct al_oci_engine *e)
{
    free(e->socket);
    al_env_free(e->env);
    *e = (struct al_oci_engine){0};
}

/* --- the environment of a client --- */

/* Where the user's engine keeps its settings and images. */
static const char *const engine_names[] = {
    "CONTAINERS_CONF",         "CONTAINERS_CONF_OVERRIDE",
    "CONTAINERS_STORAGE_CONF", "CONTAINERS_REGISTRIES_CONF",
    "STORAGE_DRIVER",          "STORAGE_OPTS",
    "REGISTRY_AUTH_FILE",      "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_API_VERSION",
};

static bool is_proxy(const char *entry)
{
    const char *eq = strchr(entry, '=');
    return eq && eq - entry > 6 && strncasecmp(eq - 6, "_proxy", 6) == 0;
}

static char *setting(const char *name, const char *value)
{
    char *entry;
    if (asprintf(&entry, "%s=%s", name, value) < 0)
        abort();
    return entry;
}

/* Proxies may hold a password, and an engine hands them on to its containers: only a pull needs them. For the
 * same reason docker's own settings (which may name proxies, too) are read for a pull only. */
static char **client_env(struct al_pyrun *p, const struct al_oci_engine *e, bool pulls)
{
    char **base = al_env_child();
    al_env_clean_path(base, al_pyrun_avoid(p));
    size_t n = 0, n_names = sizeof(engine_names) / sizeof(engine_names[0]);
    while (base[n])
        n++;
    char **env = al_xcalloc(n + n_names + 3, sizeof(*env));
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (!pulls && is_proxy(base[i]))
            free(base[i]);
        else
            env[at++] = base[i];
    }
    free(base);
    for (size_t i = 0; i < n_names; i++) {
        const char *value = getenv(engine_names[i]);
        if (value && value[0])
            env[at++] = setting(engine_names[i], value);
    }
    if (e->docker) {
        autofree char *host = setting("unix://", e->socket);
        memmove(host + 7, host + 8, strlen(host + 8) + 1); /* the '=' */
        env[at++] = setting("DOCKER_HOST", host);
        const char *settings = pulls ? getenv("DOCKER_CONFIG") : "/nonexistent";
        if (settings && settings[0])
            env[at++] = setting("DOCKER_CONFIG", settings);
    }
    return env;
}

/* --- docker's daemon: a socket of this computer --- */

static char *docker_file(const char *rel)
{
    const char *dir = getenv("DOCKER_CONFIG"), *home = getenv("HOME");
    char *path = NULL;
    if (dir && dir[0] == '/' && asprintf(&path, "%s/%s", dir, rel) < 0)
        abort();
    if (!path && home && home[0] == '/' && asprintf(&path, "%s/.docker/%s", home, rel) < 0)
        abort();
    return path;
}

static bool read_settings(const char *rel, struct al_arena *a, const struct al_json **ret)
{
    autofree char *path = docker_file(rel);
    autofd int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    autobuf struct al_buf text = AL_BUF_INIT(MAX_SETTINGS);
    if (fd < 0 || al_fd_read_all(fd, &text) < 0)
        return false;
    char *kept = al_arena_dup(a, al_buf_str(&text));
    return kept && al_json_parse(a, (struct al_str){kept, text.n}, ret, NULL) == 0;
}

/* The endpoint that the client would talk to; a view that lives as the arena. */
static struct al_str docker_host(struct al_arena *a)
{
    const char *host = getenv("DOCKER_HOST"), *context = getenv("DOCKER_CONTEXT");
    if (host && host[0])
        return al_str_of(host);
    const struct al_json *v;
    struct al_str name = al_str_of(context);
    if (!name.n && read_settings("config.json", a, &v))
        name = al_json_get_text(v, "currentContext");
    if (!name.n || al_str_is(name, "default"))
        return AL_STR("unix:///var/run/docker.sock");
    char hash[AL_SHA256_HEX], rel[sizeof(hash) + 32];
    al_sha256(name, hash);
    snprintf(rel, sizeof(rel), "contexts/meta/%s/meta.json", hash);
    if (!read_settings(rel, a, &v))
        return AL_STR("");
    return al_json_get_text(al_json_get(al_json_get(v, "Endpoints"), "docker"), "Host");
}

static int no_daemon(int eno, struct al_err *err)
{
    if (eno == EACCES || eno == EPERM) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "container engine: we may not talk to Docker's daemon");
        return al_hint(err,
                       "sudo usermod -aG docker $USER and log in anew, or use rootless Docker or Podman");
    }
    al_fail(err, AL_RUNTIME_UNAVAILABLE, "container engine: Docker's daemon does not run");
    return al_hint(
        err, "start it: sudo systemctl start docker, or systemctl --user start docker for rootless Docker");
}

/* Whether somebody listens there. Its owner says whether it is rootless. */
static int try_socket(struct al_oci_engine *e, struct al_err *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct stat st;
    if (strlen(e->socket) >= sizeof(at.sun_path))
        return al_fail(err, AL_RUNTIME_UNAVAILABLE,
                       "container engine: the path of Docker's socket is too long");
    memcpy(at.sun_path, e->socket, strlen(e->socket));
    autofd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return al_fail_errno(err, AL_BUSY, errno, "container engine: no socket");
    if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0 && errno != EAGAIN)
        return no_daemon(errno, err);
    e->rootless = stat(e->socket, &st) == 0 && st.st_uid != 0 && st.st_uid == geteuid();
    return 0;
}

static int find_docker(struct al_oci_engine *e, struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(8 * MAX_SETTINGS);
    struct al_str host = docker_host(&a);
    if (!host.n) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "container engine: Docker's current context cannot be read");
        return al_hint(
            err,
            "`docker context ls` shows the contexts, `docker context use default` takes this computer's");
    }
    if (!al_str_starts(host, "unix:///")) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE,
                "container engine: Docker's current context is on another computer, and the files of a job "
                "are here");
        return al_hint(err, "unset DOCKER_HOST and DOCKER_CONTEXT, or `docker context use default`");
    }
    e->socket = al_xdup(host.p + 7, host.n - 7);
    return try_socket(e, err);
}

/* --- podman: the client is the engine --- */

static int find_podman(struct al_oci_engine *e, struct al_err *err)
{
    static const char *const remote[] = {"CONTAINER_HOST", "CONTAINER_CONNECTION"};
    for (size_t i = 0; i < 2; i++) {
        const char *value = getenv(remote[i]);
        if (!value || !value[0])
            continue;
        al_fail(
            err, AL_RUNTIME_UNAVAILABLE,
            "container engine: %s makes Podman a client of another service, and the files of a job are here",
            remote[i]);
        return al_hint(err, "unset %s", remote[i]);
    }
    e->rootless = geteuid() != 0;
    return 0;
}

static int no_program(const char *what, const char *package, struct al_err *err)
{
    autobuf struct al_buf how = AL_BUF_INIT(256);
    al_py_install(package, &how);
    al_fail(err, AL_RUNTIME_UNAVAILABLE, "container engine: %s", what);
    return al_hint(err, NO_ENGINE_HINT, AL_FMT(al_buf_str(&how)));
}

int al_oci_engine_find(struct al_pyrun *p, bool pulls, struct al_oci_engine *ret, struct al_err *err)
{
    const struct al_config *c = al_pyrun_config(p);
    bool said = al_config_layer(c, AL_OPT_ANALYSIS_OCI_ENGINE) != AL_LAYER_DEFAULT;
    const char *docker = al_pyrun_program(p, "docker"), *podman = al_pyrun_program(p, "podman");
    struct al_oci_engine e = {0};
    if (said)
        e.docker = strcmp(al_config_text(c, AL_OPT_ANALYSIS_OCI_ENGINE), "docker") == 0;
    else
        e.docker = docker != NULL;
    e.program = e.docker ? docker : podman;
    if (!e.program && said)
        return no_program(e.docker ? "docker is not installed" : "podman is not installed",
                          e.docker ? "docker.io" : "podman", err);
    if (!e.program)
        return no_program("neither Docker nor Podman is installed", "podman", err);
    int r = e.docker ? find_docker(&e, err) : find_podman(&e, err);
    if (r < 0 && !said && e.docker && podman) { /* nobody chose Docker */
        al_oci_engine_fini(&e);
        e.program = podman;
        r = find_podman(&e, err);
    }
    if (r < 0) {
        al_oci_engine_fini(&e);
        return -1;
    }
    e.env = client_env(p, &e, pulls);
    *ret = e;
    return 0;
}

/* --- questions --- */

int al_oci_ask(const struct al_oci_engine *e, const char *const *args, uint64_t timeout_ms,
               struct al_buf *out, struct al_buf *errors, int *ret_status, struct al_err *err)
{
    const char *argv[MAX_ARGS + 2] = {e->program};
    for (size_t i = 0; args[i] && i < MAX_ARGS; i++)
        argv[i + 1] = args[i];
    if (al_py_ask_in(argv, e->env, timeout_ms, out, errors, ret_status, err) == 0)
        return 0;
    al_wrap(err, "container engine: %s %s", al_oci_engine_name(e), args[0]);
    if (err)
        err->code = AL_RUNTIME_UNAVAILABLE;
    return al_hint(err, "try `%s info` by hand", al_oci_engine_name(e));
}

static bool says(struct al_str s, const char *words)
{
    return al_str_find(s, al_str_of(words)) >= 0;
}

int al_oci_fail(struct al_str said, const char *what, struct al_err *err)
{
    static const struct {
        const char *words, *hint;
    } known[] = {
        {"permission denied while trying to connect", "sudo usermod -aG docker $USER and log in anew"},
        {"Cannot connect to the Docker daemon", "start it: sudo systemctl start docker"},
        {"image not known", "alisio analysis setup --oci"},
        {"No such image", "alisio analysis setup --oci"},
        {"no such image", "alisio analysis setup --oci"},
        {"Unable to find image", "alisio analysis setup --oci"},
        {"\"python\": executable file not found",
         "take an image with python on its PATH: alisio analysis setup --oci --image NAME"},
        {"newuidmap", "rootless Podman needs newuidmap (Debian: sudo apt install uidmap) and entries in "
                      "/etc/subuid, /etc/subgid"},
        {"/etc/subuid", "sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $USER && "
                        "podman system migrate"},
        {"no space left on device", "the engine's storage is full: `podman system df`, `docker system df`"},
        {"exec format error", "the image is made for another processor"},
        {"pull access denied",
         "check the name of the image; a private one needs `docker login` or `podman login`"},
        {"unauthorized", "check the name of the image; a private one needs `docker login` or `podman login`"},
        {"manifest unknown", "check the name and the tag of the image"},
    };
    autobuf struct al_buf line = AL_BUF_INIT(4 * SHOWN);
    al_oci_last_line(said, &line);
    al_fail(err, AL_RUNTIME_UNAVAILABLE, "container engine: %s%s%.*s", what, line.n ? ": " : "",
            AL_FMT(al_buf_str(&line)));
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (says(said, known[i].words))
            return al_hint(err, "%s", known[i].hint);
    }
    return al_hint(err,
                   "`alisio analysis status` shows what is there; analysis.runtime chooses another back end");
}

static bool has_text(const struct al_json *list, const char *word)
{
    al_json_each(item, list)
    {
        if (al_json_is_string(item) && says(item->str, word))
            return true;
    }
    return false;
}

static void docker_facts(const struct al_json *v, struct al_oci_facts *ret)
{
    struct al_str version = al_json_get_text(v, "ServerVersion");
    snprintf(ret->version, sizeof(ret->version), "docker %.*s", AL_FMT(al_utf8_cut(version, 48)));
    ret->rootless = has_text(al_json_get(v, "SecurityOptions"), "name=rootless");
    ret->memory = al_json_is_true(al_json_get(v, "MemoryLimit"));
    ret->cpus = al_json_is_true(al_json_get(v, "CpuCfsQuota"));
    ret->pids = al_json_is_true(al_json_get(v, "PidsLimit"));
}

static void podman_facts(const struct al_json *v, struct al_oci_facts *ret)
{
    const struct al_json *host = al_json_get(v, "host"),
                         *controllers = al_json_get(host, "cgroupControllers");
    struct al_str version = al_json_get_text(al_json_get(v, "version"), "Version");
    snprintf(ret->version, sizeof(ret->version), "podman %.*s", AL_FMT(al_utf8_cut(version, 48)));
    ret->rootless = al_json_is_true(al_json_get(al_json_get(host, "security"), "rootless"));
    /* Without root it takes limits and ignores them there, with a warning at most. */
    bool ignored = ret->rootless && !al_str_is(al_json_get_text(host, "cgroupVersion"), "v2");
    ret->memory = !ignored && has_text(controllers, "memory");
    ret->pids = !ignored && has_text(controllers, "pids");
    ret->cpus = !ignored && has_text(controllers, "cpu");
}

int al_oci_facts(const struct al_oci_engine *e, struct al_oci_facts *ret, struct al_err *err)
{
    static const char *const docker[] = {"info", "--format", "{{json .}}", NULL};
    static const char *const podman[] = {"info", "--format", "json", NULL};
    autobuf struct al_buf out = AL_BUF_INIT(AL_OCI_SAID_MAX), errors = AL_BUF_INIT(AL_OCI_SAID_MAX);
    int status;
    if (al_oci_ask(e, e->docker ? docker : podman, AL_OCI_ASK_MS, &out, &errors, &status, err) < 0)
        return -1;
    autoarena struct al_arena a = AL_ARENA_INIT(16 * AL_OCI_SAID_MAX);
    const struct al_json *v;
    *ret = (struct al_oci_facts){0};
    if (status != 0 || al_json_parse(&a, al_buf_str(&out), &v, NULL) < 0)
        return al_oci_fail(al_buf_str(&errors), "it does not answer", err);
    if (!e->docker && al_json_is_true(al_json_get(al_json_get(v, "host"), "serviceIsRemote"))) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE,
                "container engine: Podman is set up as a client of another service, and the files of a job "
                "are here");
        return al_hint(err, "take `remote` and `active_service` out of containers.conf");
    }
    if (e->docker &&
        al_json_get_text(v, "ServerVersion").n == 0) /* it says so in ServerErrors, and exits with 0 */
        return al_oci_fail(al_buf_str(&errors), "Docker's daemon does not answer", err);
    (e->docker ? docker_facts : podman_facts)(v, ret);
    return 0;
}

/* "sha256:…" or without, and a line feed. */
static bool take_id(struct al_str said, char ret[65])
{
    struct al_str id = al_str_trim(said);
    if (al_str_starts(id, "sha256:"))
        id = (struct al_str){id.p + 7, id.n - 7};
    if (id.n != 64)
        return false;
    memcpy(ret, id.p, 64);
    ret[64] = 0;
    return true;
}

int al_oci_image_id(const char *program, char **env, const char *image, char ret[65], struct al_err *err)
{
    const char *argv[] = {program, "image", "inspect", "--format", "{{.Id}}", image, NULL};
    autobuf struct al_buf out = AL_BUF_INIT(AL_OCI_SAID_MAX), errors = AL_BUF_INIT(AL_OCI_SAID_MAX);
    int status;
    if (al_py_ask_in(argv, env, AL_OCI_ASK_MS, &out, &errors, &status, err) < 0)
        return al_wrap(err, "container engine: image inspect");
    if (status == 0 && take_id(al_buf_str(&out), ret))
        return 0;
    struct al_str said = al_buf_str(&errors);
    if (says(said, "o such image") || says(said, "image not known"))
        return 1;
    return al_oci_fail(said, "the image cannot be looked up", err);
}
