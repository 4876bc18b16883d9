#include "http/curl_lib.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#define LIBRARY "libcurl.so.4"

/* The functions are found by name, so the table is filled as one of plain pointers. */
static int fill(void *handle, struct al_curl *lib, struct al_err *err)
{
#define LOAD(name)                                                                                     \
    do {                                                                                               \
        void *p = dlsym(handle, "curl_" #name);                                                        \
        if (!p)                                                                                        \
            return al_fail(err, AL_RUNTIME_UNAVAILABLE, LIBRARY " is too old: it has no curl_" #name); \
        memcpy(&lib->name, &p, sizeof(p));                                                             \
    } while (0);
    AL_CURL_FUNCTIONS(LOAD)
#undef LOAD
    return 0;
}

static int load(struct al_curl *lib, struct al_err *err)
{
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "HTTP needs " LIBRARY ", which cannot be loaded");
        al_detail(err, "%s", dlerror());
        return al_hint(err, "install libcurl4 (apt install libcurl4)");
    }
    if (fill(handle, lib, err) < 0) {
        dlclose(handle);
        return al_hint(err, "install libcurl 7.85 or newer");
    }
    if (lib->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        dlclose(handle);
        return al_fail(err, AL_RUNTIME_UNAVAILABLE, LIBRARY " does not start");
    }
    return 0; /* it stays loaded as long as the process lives */
}

const struct al_curl *al_curl_load(struct al_err *err)
{
    static struct al_curl lib;
    static bool loaded;
    if (!loaded && load(&lib, err) < 0)
        return NULL;
    loaded = true;
    return &lib;
}
