/*
 * How JSON-RPC messages reach one server and come back: over its standard input and output (stdio.c) or over
 * Streamable HTTP (http.c). A transport knows framing, processes and headers; what the messages say is
 * connection.c's.
 */
#ifndef AL_UPSTREAM_TRANSPORT_H
#define AL_UPSTREAM_TRANSPORT_H

#include "base/err.h"
#include "base/json.h"

#include <stdint.h>

struct al_upstream;
struct al_transport;

#define AL_UPSTREAM_MAX_MESSAGE (16u << 20)
#define AL_UPSTREAM_MAX_LOG (16u << 10)
#define AL_UPSTREAM_NOISE_LINES 10 /* kept of what was no message, each cut to AL_UPSTREAM_NOISE_CUT bytes \
                                    */
#define AL_UPSTREAM_NOISE_CUT 200

/* Why a request will not be answered. */
enum al_transport_loss {
    AL_LOSS_BROKEN,  /* not reached, or its stream ended without the answer: it may have been done */
    AL_LOSS_REFUSED, /* answered by something that is no JSON-RPC (HTTP 4xx): as old servers answer what they
                        do not know */
    AL_LOSS_SESSION, /* the server has forgotten our session (HTTP 404): it was not done, and a new session is
                        due */
    AL_LOSS_TOO_BIG, /* the answer is over AL_UPSTREAM_MAX_MESSAGE; the transport goes on */
};

/* Calls to the connection, never from within open or send. Views are for the call. A callback may close or
 * free the transport; the transport touches nothing of itself after that. */
struct al_transport_events {
    void (*opened)(void *ud); /* messages can be sent */
    /* One JSON text (of old servers perhaps a batch); stream is the id of the request on whose stream it
     * came, 0 when there is no such thing (stdio; the HTTP stream that belongs to no request). */
    void (*message)(void *ud, struct al_str json, uint64_t stream);
    void (*lost)(void *ud, uint64_t id, enum al_transport_loss loss, const struct al_err *err);
    /* Once and last: it could not be opened, the program has gone, or close is done. err tells how it ended,
     * in words that name the server (UPSTREAM_UNAVAILABLE, AUTH_REQUIRED, CONFIG_INVALID). */
    void (*ended)(void *ud, const struct al_err *err);
};

struct al_transport_message {
    struct al_str json; /* one message on one line, without line end */
    uint64_t id;        /* of a request; 0: a notification, or an answer to a question of the server */
    const char *method; /* of a request or notification; NULL: an answer */
    struct al_str
        name; /* params.name or params.uri of tools/call, prompts/get and resources/read; else empty */
    const char *version; /* agreed or tried: "2026-07-28"; "" with initialize */
    bool modern;         /* 2026-07-28 and later: no session, checked headers */
    /* Of a modern tools/call, for the headers that a schema asks for (x-mcp-header): the arguments, and the
     * tool's input schema. Empty when there are none or they are not known. */
    struct al_str arguments, input_schema;
    uint64_t in_reply_to; /* of an answer: the stream that the question came on; 0: none */
};

struct al_transport_ops {
    /* Starts it; opened or ended follows. */
    void (*open)(struct al_transport *t);
    /* Everything is copied. -1 with err when it cannot take the message (queue full, closed): then no lost
     * follows. */
    int (*send)(struct al_transport *t, const struct al_transport_message *m, struct al_err *err);
    /* Nobody waits for this request any more: its stream ends, no lost follows. (What the protocol says to
     * the server, notifications/cancelled, comes as a message before it, where the era has it for this
     * transport.) May be NULL. */
    void (*cancel)(struct al_transport *t, uint64_t id);
    /* Old era, after notifications/initialized: opens the stream for what belongs to no request. May be NULL.
     */
    void (*listen)(struct al_transport *t);
    /* Back pressure: no message until it goes on. May be NULL. */
    void (*pause)(struct al_transport *t, bool pause);
    /* Ends it politely, within grace_ms plus 300 ms; ended follows. A second call may shorten the time. */
    void (*close)(struct al_transport *t, uint64_t grace_ms);
    /* Kills and frees, without callbacks. */
    void (*free)(struct al_transport *t);
    /* Whether a tool can be called over this transport as it is defined; with false, why (for a note). May be
     * NULL: any.
     */
    bool (*takes_tool)(const struct al_json *tool, struct al_buf *why);
};

struct al_transport {
    const struct al_transport_ops *ops;
    const struct al_transport_events *events;
    void *ud;
};

/* s is borrowed for the transport's life; al_upstream_config, al_upstream_core and the log and noise of
 * upstream_int.h are what they use of it. Never NULL: what is wrong comes as ended. */
struct al_transport *al_transport_stdio(struct al_upstream *s, const struct al_transport_events *events,
                                        void *ud);
struct al_transport *al_transport_http(struct al_upstream *s, const struct al_transport_events *events,
                                       void *ud);

#endif
