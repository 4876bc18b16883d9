/* The MCP server (Model Context Protocol 2025-11-25, JSON-RPC 2.0) over standard input and output. */
#ifndef AL_MCP_MCP_H
#define AL_MCP_MCP_H

#include "core/core.h"

struct al_mcp_opts {
    bool expose_files, expose_process;
    int in_fd, out_fd; /* 0 and 1; taken */
};

struct al_mcp;
/* Serves until end of input, EPIPE or al_mcp_stop; ended(ud) comes when nothing of it runs any more. */
struct al_mcp *al_mcp_start(struct al_core *core, const struct al_mcp_opts *o, void (*ended)(void *ud),
                            void *ud, struct al_err *err);
void al_mcp_stop(struct al_mcp *m); /* cancels what runs; ended follows */
void al_mcp_free(struct al_mcp *m); /* after ended */

#endif
