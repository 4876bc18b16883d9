/* The transport over HTTP. */
#include "mcp/mcp_int.h"

int al_mcp_http_start(struct al_mcp *m, struct al_err *err)
{
    (void)m;
    return al_fail(err, AL_RUNTIME_UNAVAILABLE, "this build serves standard input and output alone");
}

int al_mcp_port(const struct al_mcp *m)
{
    (void)m;
    return -1;
}

void al_mcp_http_stop(struct al_mcp *m)
{
    (void)m;
}

void al_mcp_http_free(struct al_mcp *m)
{
    (void)m;
}
