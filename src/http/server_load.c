/* libmicrohttpd, loaded when the first server is started: whoever serves nothing does not pay for it. */
#include "http/server_int.h"

#include <dlfcn.h>

#define LIBRARY "libmicrohttpd.so.12"

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define FUNCTION(member)                                \
    {                                                   \
        "MHD_" #member, offsetof(struct al_mhd, member) \
    }
    FUNCTION(start_daemon),
    FUNCTION(stop_daemon),
    FUNCTION(run),
    FUNCTION(get_timeout),
    FUNCTION(get_daemon_info),
    FUNCTION(get_connection_info),
    FUNCTION(get_connection_values_n),
    FUNCTION(create_response_from_buffer),
    FUNCTION(create_response_from_callback),
    FUNCTION(add_response_header),
    FUNCTION(queue_response),
    FUNCTION(destroy_response),
    FUNCTION(suspend_connection),
    FUNCTION(resume_connection),
#undef FUNCTION
};

const struct al_mhd *al_mhd_load(struct al_err *err)
{
    static struct al_mhd table;
    static bool loaded;
    if (loaded)
        return &table;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "an HTTP server needs %s, which is not there", LIBRARY);
        al_hint(err, "apt install libmicrohttpd12");
        return NULL;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *f = dlsym(library, functions[i].name);
        if (!f) {
            al_fail(err, AL_RUNTIME_UNAVAILABLE, "%s is too old: it has no %s", LIBRARY, functions[i].name);
            al_hint(err, "libmicrohttpd 0.9.75 or later is needed");
            dlclose(library);
            return NULL;
        }
        memcpy((char *)&table + functions[i].offset, &f, sizeof f);
    }
    loaded = true;
    return &table;
}
