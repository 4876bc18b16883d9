/* What the HTTP transport reads out of headers. Pure, so that it can be fuzzed: no connection, no session. */
#ifndef AL_MCP_HTTP_HEADS_H
#define AL_MCP_HTTP_HEADS_H

#include "base/buf.h"
#include "base/json.h"

#include <stdint.h>

/* Whether an answer of that type ("application/json") is welcome. No header: anything is. */
bool al_mcp_http_accepts(const char *accept, const char *type);
bool al_mcp_http_is_json(const char *content_type);

/* Host and Origin: localhost, 127.0.0.1, [::1] or one of allowed (NULL-terminated, may be NULL), with any
 * port. */
bool al_mcp_http_host_ok(const char *host, const char *const *allowed);
bool al_mcp_http_origin_ok(const char *origin, const char *const *allowed);

/* "Bearer <token>", in a time that does not tell how much of it was right. */
bool al_mcp_http_bearer_ok(const char *authorization, const char *token);

/* A value as Mcp-Name and Mcp-Param-* carry it: as it is, or =?base64?…?=. False: it is neither. */
bool al_mcp_http_decode(struct al_str value, struct al_buf *out);
/* Whether a decoded value says the same as the body: strings as they are, integers by value, true and false.
 */
bool al_mcp_http_same(struct al_str decoded, const struct al_json *v);

/* Arguments of a tool that its schema wants as headers, too (http_param.c). NULL: they agree; else what is
 * wrong with the header in name. */
#define AL_MCP_HTTP_PARAM_MAX 160
struct al_mcp_http_headers {
    const char *(*get)(void *ud, const char *name); /* NULL: there is none */
    unsigned (*count)(void *ud, const char *name);
    void *ud;
};
const char *al_mcp_http_params_wrong(struct al_str input_schema, const struct al_json *arguments,
                                     const struct al_mcp_http_headers *headers,
                                     char name[AL_MCP_HTTP_PARAM_MAX]);

/* Ids of events: the stream's number and the event's, "3-17". */
#define AL_MCP_EVENT_ID_MAX 48
void al_mcp_http_event_id(char out[AL_MCP_EVENT_ID_MAX], uint64_t stream, uint64_t event);
bool al_mcp_http_read_event_id(struct al_str text, uint64_t *ret_stream, uint64_t *ret_event);

#endif
