/* The token that clients of `alisio mcp --http` must know: ALISIO_MCP_TOKEN, or the file mcp-token of the
 * config folder, made once, 0600. */
#ifndef AL_CLI_MCP_TOKEN_H
#define AL_CLI_MCP_TOKEN_H

#include "base/err.h"

/* Malloc'ed; *ret_path (malloc'ed) is where it stands, NULL when it came from the environment.
 * CONFIG_INVALID: the file is open to others, or holds no token. */
int al_mcp_token(char **ret, char **ret_path, struct al_err *err) AL_MUST_CHECK;

#endif
