/* JSON-RPC 2.0 over lines: bytes to lines, a line to a message. Pure: no descriptor, no core, so that it can
 * be fuzzed. */
#ifndef AL_MCP_RPC_H
#define AL_MCP_RPC_H

#include "base/arena.h"
#include "base/json.h"

/* JSON-RPC 2.0, section 5.1. */
enum al_rpc_code {
    AL_RPC_PARSE_ERROR = -32700,
    AL_RPC_INVALID_REQUEST = -32600,
    AL_RPC_METHOD_NOT_FOUND = -32601,
    AL_RPC_INVALID_PARAMS = -32602,
    AL_RPC_INTERNAL_ERROR = -32603,
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
        AL_RPC_RESPONSE,     /* to something that we asked */
        AL_RPC_BROKEN,       /* answer with error_code and error, to id when it has one */
    } kind;
    struct al_str id; /* as the client wrote it: a string or a number; {NULL, 0}: none */
    struct al_str method;
    const struct al_json *params; /* an object, or NULL */
    enum al_rpc_code error_code;
    char error[600];
};
/* Never fails: what cannot be read is AL_RPC_BROKEN. Views are into line and arena. */
void al_rpc_read(struct al_arena *arena, struct al_str line, struct al_rpc *ret);

#endif
