/* --expose upstream: without it there is no relay. */
#include "mcp/mcp_int.h"

struct al_mcp_relay *al_mcp_relay_new(struct al_mcp *m)
{
    (void)m;
    return NULL;
}

void al_mcp_relay_free(struct al_mcp_relay *r)
{
    (void)r;
}

void al_mcp_relay_capabilities(struct al_mcp_relay *relay, bool modern, struct al_jw *w)
{
    (void)relay, (void)modern, (void)w;
}

void al_mcp_relay_list(struct al_mcp_relay *relay, struct al_mcp_request *r, const struct al_json *params,
                       const char *member, struct al_str ours)
{
    (void)relay, (void)r, (void)params, (void)member, (void)ours;
}

bool al_mcp_relay_tool(struct al_mcp_relay *relay, struct al_mcp_request *r, const struct al_json *params)
{
    (void)relay, (void)r, (void)params;
    return false;
}

bool al_mcp_relay_request(struct al_mcp_relay *relay, struct al_mcp_request *r, const struct al_json *params)
{
    (void)relay, (void)r, (void)params;
    return false;
}

void al_mcp_relay_watch(struct al_mcp_relay *relay)
{
    (void)relay;
}

void al_mcp_relay_level(struct al_mcp_relay *relay, struct al_str level)
{
    (void)relay, (void)level;
}

void al_mcp_relay_roots_changed(struct al_mcp_relay *relay)
{
    (void)relay;
}
