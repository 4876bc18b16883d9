/*
 * The MCP server, in both eras of the protocol: 2024-11-05 to 2025-11-25 (initialize, sessions, requests to the client)
 * and 2026-07-28 (stateless: each request carries its version and the client's capabilities). Over standard input and
 * output, or Streamable HTTP on loopback or a Unix socket.
 */
#ifndef AL_MCP_MCP_H
#define AL_MCP_MCP_H

#include "core/core.h"
#include "upstream/upstream.h"

struct al_mcp_opts {
    bool expose_files, expose_process;
    bool expose_upstream; /* relay what upstream servers offer, names with their server before them … */
    bool plain_names;     /* … or as they are (one server) */
    struct al_upstreams *upstreams; /* borrowed; NULL: none */
    bool roots_are_workspace; /* no --cwd was given: over stdio, the client's first root is the workspace */

    /* Over standard input and output: */
    int in_fd, out_fd; /* taken; -1: not */
    /* Over HTTP: */
    bool http;
    int port;                       /* on 127.0.0.1; 0: any; -1: none */
    const char *socket_path;        /* or a Unix socket; NULL: none */
    const char *token;              /* wanted as "Authorization: Bearer …" with every request */
    const char *const *allow_hosts; /* further names that Host and Origin may have, NULL-terminated; may be NULL */
};

struct al_mcp;
/* Serves until al_mcp_stop, and over stdio until end of input or EPIPE; ended(ud) comes when nothing of it runs any
 * more. */
struct al_mcp *al_mcp_start(struct al_core *core, const struct al_mcp_opts *o, void (*ended)(void *ud),
                            void *ud, struct al_err *err);
int al_mcp_port(const struct al_mcp *m); /* over HTTP */
void al_mcp_stop(struct al_mcp *m); /* cancels what runs; ended follows */
void al_mcp_free(struct al_mcp *m); /* after ended */

#endif
