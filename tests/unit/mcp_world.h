/* What tests of the MCP server stand on: a core with tools of the tests, and clients whose messages are collected. */
#ifndef AL_TESTS_MCP_WORLD_H
#define AL_TESTS_MCP_WORLD_H

#include "core_world.h"

#include "mcp/mcp_int.h"

#define MCP_META(capabilities)                                                                                   \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                                     \
    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"t\",\"version\":\"1\"},"                                 \
    "\"io.modelcontextprotocol/clientCapabilities\":" capabilities "}"

#define MCP_MAX_SENT 256

struct mcp_client {
    struct mcp_world *world;
    struct al_mcp_peer *peer;
    char *sent[MCP_MAX_SENT]; /* what the server sent, in order; those without an answer are "" */
    size_t n, read;
    size_t n_last;
};

struct mcp_world {
    struct core_world *core;
    struct al_mcp mcp;
    bool ended;
    struct mcp_client clients[4];
    size_t n_clients;
};

/* cmocka's set-up and tear-down. */
int mcp_world_set_up(void **state);
int mcp_world_tear_down(void **state);
/* Tools: look (read), put (write, done at once), hold (write, until cancelled or let go). */
extern unsigned mcp_n_put, mcp_n_held;
void mcp_let_go(void);

struct mcp_client *mcp_client_new(struct mcp_world *w);
/* …after initialize with that version and those capabilities. */
struct mcp_client *mcp_client_older(struct mcp_world *w, const char *version, const char *capabilities);
void mcp_say(struct mcp_client *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The next message that was sent and not read yet, waited for. */
const char *mcp_next(struct mcp_client *c);
bool mcp_quiet(const struct mcp_client *c); /* nothing is there that was not read */
/* The text after "name": up to its end, of the last message that has it; for ids and states. */
void mcp_member(const char *message, const char *name, char *out, size_t size);
/* Runs the loop until what was deferred is done. */
void mcp_turns(struct mcp_world *w);

#define assert_has(message, part) mcp_assert_has((message), (part), __FILE__, __LINE__)
void mcp_assert_has(const char *message, const char *part, const char *file, int line);

#endif
