/* The parameters of a request on its way to a server: as they came, but for what belongs to this hop. Pure.
 */
#ifndef AL_UPSTREAM_PARAMS_H
#define AL_UPSTREAM_PARAMS_H

#include "base/buf.h"

#include <stdint.h>

struct al_params {
    struct al_str params;    /* one JSON object, known to be valid; or empty */
    uint64_t progress_token; /* 0: none */
    bool modern;             /* writes version, client and abilities into _meta */
    struct al_str
        capabilities; /* modern: JSON object, unless the params bring some and keep_capabilities is set */
    bool keep_capabilities;
    struct al_str log_level; /* modern; empty: none */
};
/* Appends the JSON object. Members of _meta that belong to another hop (progressToken,
 * io.modelcontextprotocol/…) are left out. An old server gets a _meta only when something stands in it. */
void al_params_write(struct al_buf *out, const struct al_params *p);

/* The same params with another name, as tools/call has it; appended. */
void al_params_rename(struct al_str params, struct al_str name, struct al_buf *out);

/* The clientInfo of ours: {"name":"alisio",…}. */
void al_params_client_info(struct al_buf *out);

/* A text member of the params, decoded, cut to max bytes of raw text; false when there is none. */
bool al_params_text(struct al_str params, const char *key, struct al_buf *out);
/* A member as it stands there; empty: none. */
struct al_str al_params_member(struct al_str params, const char *key);

#endif
