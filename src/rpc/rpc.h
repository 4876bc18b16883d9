/* JSON-RPC 2.0, for both ends of a connection: bytes to lines, a line to a message, and the writing of
 * messages. Pure: no descriptor, no core, so that it can be fuzzed. */
#ifndef AL_RPC_RPC_H
#define AL_RPC_RPC_H

#include "base/arena.h"
#include "base/json.h"

/* JSON-RPC 2.0, section 5.1, and what MCP adds. */
enum al_rpc_code {
    AL_RPC_PARSE_ERROR = -32700,
    AL_RPC_INVALID_REQUEST = -32600,
    AL_RPC_METHOD_NOT_FOUND = -32601,
    AL_RPC_INVALID_PARAMS = -32602,
    AL_RPC_INTERNAL_ERROR = -32603,
    AL_RPC_RESOURCE_NOT_FOUND = -32002, /* until 2025-11-25; later it is INVALID_PARAMS */
    AL_RPC_HEADER_MISMATCH = -32020,    /* these from 2026-07-28 */
    AL_RPC_MISSING_CAPABILITY = -32021,
    AL_RPC_UNSUPPORTED_VERSION = -32022,
};

#define AL_RPC_MAX_ID 1024

/* Bytes to lines. A line over the maximum is skipped to its end without being kept, and told once. */
struct al_rpc_lines {
    struct al_buf line; /* the incomplete line so far */
    bool skipping;      /* inside a line that was too long */
};
struct al_rpc_sink {
    /* One line without its end and outer white space, never empty; a view for the call. False: take no more.
     */
    bool (*line)(void *ud, struct al_str line);
    void (*too_long)(void *ud);
};
void al_rpc_lines_init(struct al_rpc_lines *l, size_t max_line);
void al_rpc_lines_free(struct al_rpc_lines *l);
void al_rpc_lines_feed(struct al_rpc_lines *l, struct al_str bytes, const struct al_rpc_sink *sink, void *ud);
/* End of input: a last line without its line end counts. */
void al_rpc_lines_end(struct al_rpc_lines *l, const struct al_rpc_sink *sink, void *ud);

struct al_rpc {
    enum {
        AL_RPC_REQUEST,      /* id, method, params (may be NULL) */
        AL_RPC_NOTIFICATION, /* method, params (may be NULL) */
        AL_RPC_RESPONSE,     /* id, and result or failure */
        AL_RPC_BROKEN,       /* answer with error_code and error, to id when it has one */
    } kind;
    struct al_str id; /* as the client wrote it: a string or a number; {NULL, 0}: none */
    struct al_str method;
    const struct al_json *params; /* an object, or NULL */
    const struct al_json *result, *failure; /* of a response: exactly one; failure is the error object */
    enum al_rpc_code error_code;
    char error[600];
};
/* Never fails: what cannot be read is AL_RPC_BROKEN. Views are into line and arena. */
void al_rpc_read(struct al_arena *arena, struct al_str line, struct al_rpc *ret);

/* Writing. Each begins {"jsonrpc":"2.0",…; the caller ends it by al_jw_end. An empty id is null. */
void al_rpc_begin(struct al_jw *w, struct al_buf *out, struct al_str id);            /* a response */
void al_rpc_begin_call(struct al_jw *w, struct al_buf *out, struct al_str id, const char *method);
/* A whole message. params and result are JSON texts; empty: none, or {} for a result. data may be empty. */
void al_rpc_request(struct al_buf *out, struct al_str id, const char *method, struct al_str params);
void al_rpc_notification(struct al_buf *out, const char *method, struct al_str params);
void al_rpc_result(struct al_buf *out, struct al_str id, struct al_str result);
void al_rpc_failure(struct al_buf *out, struct al_str id, int code, struct al_str message, struct al_str data);
/* Makes one line of a message that was written with parts taken over as they were: line ends in JSON can only
 * stand between tokens, and become spaces; then LF. */
void al_rpc_line(struct al_buf *message);

#endif
