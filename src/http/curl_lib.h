/* libcurl, loaded at the first use: a table of the functions that the client calls. Inner to src/http. */
#ifndef AL_HTTP_CURL_LIB_H
#define AL_HTTP_CURL_LIB_H

#include "base/err.h"

#include <curl/curl.h>

#define AL_CURL_FUNCTIONS(X) \
    X(global_init)           \
    X(free)                  \
    X(easy_init)             \
    X(easy_cleanup)          \
    X(easy_getinfo)          \
    X(easy_pause)            \
    X(easy_setopt)           \
    X(multi_init)            \
    X(multi_cleanup)         \
    X(multi_add_handle)      \
    X(multi_assign)          \
    X(multi_info_read)       \
    X(multi_remove_handle)   \
    X(multi_setopt)          \
    X(multi_socket_action)   \
    X(slist_append)          \
    X(slist_free_all)        \
    X(url)                   \
    X(url_cleanup)           \
    X(url_dup)               \
    X(url_get)               \
    X(url_set)

struct al_curl {
#define AL_CURL_FIELD(name) __typeof__(&curl_##name) name;
    AL_CURL_FUNCTIONS(AL_CURL_FIELD)
#undef AL_CURL_FIELD
};

/* The same table each time; NULL with RUNTIME_UNAVAILABLE. */
const struct al_curl *al_curl_load(struct al_err *err);

#endif
