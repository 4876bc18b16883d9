#include "pyrun/pyrun_int.h"

#include "base/mem.h"
#include "os/path.h"

#include <string.h>

struct al_py_program {
    char *name, *path;
    struct al_py_program *next;
};

static const char *const names[AL_PY_N] = {
    [AL_PY_BWRAP] = "bwrap", [AL_PY_LANDLOCK] = "landlock", [AL_PY_OCI] = "oci",
    [AL_PY_WASM] = "wasm",   [AL_PY_MANAGED] = "managed",
};

static const char *const isolations[] = {
    [AL_PY_OS_SANDBOX] = "os-sandbox",
    [AL_PY_OS_FILTER] = "os-filter",
    [AL_PY_CONTAINER] = "container",
    [AL_PY_RESTRICTED_PROCESS] = "restricted-process",
    [AL_PY_NONE] = "none",
};

static const char *const keepers[] = {
    [AL_PY_KEPT_NOT] = "none",
    [AL_PY_KEPT_SAMPLED] = "sampled",
    [AL_PY_KEPT_CGROUP] = "cgroup",
    [AL_PY_KEPT_ENGINE] = "engine",
    [AL_PY_KEPT_RLIMIT] = "rlimit",
};

const char *al_py_backend_name(enum al_py_backend b)
{
    return b < AL_PY_N ? names[b] : "auto";
}

int al_py_backend_find(const char *name)
{
    for (int b = 0; b < AL_PY_N; b++) {
        if (strcmp(name, names[b]) == 0)
            return b;
    }
    return strcmp(name, "auto") == 0 ? AL_PY_N : -1;
}

const char *al_py_isolation_name(enum al_py_isolation i)
{
    return isolations[i];
}

int al_py_isolation_find(const char *name)
{
    for (int i = AL_PY_OS_SANDBOX; i <= AL_PY_NONE; i++) {
        if (strcmp(name, isolations[i]) == 0)
            return i;
    }
    return -1;
}

bool al_py_isolation_covers(enum al_py_isolation granted, enum al_py_isolation now)
{
    return now <= granted;
}

const char *al_py_keeper_name(enum al_py_keeper k)
{
    return keepers[k];
}

static char **copy_list(const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    char **copy = al_xcalloc(n + 1, sizeof(*copy));
    for (size_t i = 0; i < n; i++)
        copy[i] = al_xstrdup(list[i]);
    return copy;
}

struct al_pyrun *al_pyrun_new(const struct al_pyrun_opts *o)
{
    struct al_pyrun *p = al_xcalloc(1, sizeof(*p));
    p->loop = o->loop;
    p->config = o->config;
    p->state_dir = al_xstrdup(o->state_dir);
    p->python = o->python ? al_xstrdup(o->python) : NULL;
    p->avoid = copy_list(o->avoid);
    p->floor = o->floor;
    pthread_mutex_init(&p->lock, NULL);
    pthread_mutex_init(&p->find_lock, NULL);
    /* Until more is known: that of WebAssembly depends on what else there is. */
    static const enum al_py_isolation least[AL_PY_N] = {AL_PY_OS_SANDBOX, AL_PY_OS_FILTER, AL_PY_CONTAINER,
                                                        AL_PY_RESTRICTED_PROCESS, AL_PY_NONE};
    for (int b = 0; b < AL_PY_N; b++)
        p->known[b].isolation = least[b];
    return p;
}

void al_pyrun_free(struct al_pyrun *p)
{
    if (!p || !al_pyrun_settle(p))
        return; /* a probe that cannot be stopped still needs it: rather leaked than gone */
    for (struct al_py_program *at = p->programs, *next; at; at = next) {
        next = at->next;
        free(at->name);
        free(at->path);
        free(at);
    }
    for (size_t i = 0; p->avoid[i]; i++)
        free(p->avoid[i]);
    free(p->avoid);
    free(p->state_dir);
    free(p->python);
    if (p->has_found)
        al_py_interpreter_fini(&p->found);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->find_lock);
    free(p);
}

enum al_py_policy al_pyrun_policy(const struct al_pyrun *p)
{
    const char *text = al_config_text(p->config, AL_OPT_ANALYSIS_ISOLATION);
    enum al_py_policy said = AL_PY_PREFERRED;
    if (text && strcmp(text, "required") == 0)
        said = AL_PY_REQUIRED;
    else if (text && strcmp(text, "strict") == 0)
        said = AL_PY_STRICT;
    return p->floor > said ? p->floor : said;
}

int al_pyrun_wanted(const struct al_pyrun *p)
{
    const char *text = al_config_text(p->config, AL_OPT_ANALYSIS_RUNTIME);
    return text ? al_py_backend_find(text) : AL_PY_N;
}

struct al_loop *al_pyrun_loop(const struct al_pyrun *p)
{
    return p->loop;
}

const struct al_config *al_pyrun_config(const struct al_pyrun *p)
{
    return p->config;
}

const char *al_pyrun_state_dir(const struct al_pyrun *p)
{
    return p->state_dir;
}

const char *const *al_pyrun_avoid(const struct al_pyrun *p)
{
    return (const char *const *)p->avoid;
}

const char *al_pyrun_python(const struct al_pyrun *p)
{
    return p->python;
}

const char *al_pyrun_program(struct al_pyrun *p, const char *name)
{
    pthread_mutex_lock(&p->lock);
    struct al_py_program *at = p->programs;
    while (at && strcmp(at->name, name) != 0)
        at = at->next;
    if (!at) {
        char *path = al_path_find_program(name, al_pyrun_avoid(p));
        if (path) {
            at = al_xcalloc(1, sizeof(*at));
            *at = (struct al_py_program){al_xstrdup(name), path, p->programs};
            p->programs = at;
        }
    }
    const char *path = at ? at->path : NULL;
    pthread_mutex_unlock(&p->lock);
    return path;
}
