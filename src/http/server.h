/*
 * An HTTP/1.1 server on loopback or a Unix socket, by libmicrohttpd in our loop. It knows requests, replies and
 * streams; who may ask what is the caller's. The library is loaded (dlopen) with the first server.
 */
#ifndef AL_HTTP_SERVER_H
#define AL_HTTP_SERVER_H

#include "base/buf.h"
#include "loop/loop.h"

struct al_httpd_request; /* one request that waits for its answer */
struct al_httpd_stream;  /* an answer that is sent piece by piece */

struct al_httpd_ops {
    /* The head is complete. May answer: then the body is not held, and request() does not come. NULL: nothing to say. */
    void (*head)(void *ud, struct al_httpd_request *r);
    /* The request is complete. Answer it now or later, exactly once, by al_httpd_reply or al_httpd_stream_open. */
    void (*request)(void *ud, struct al_httpd_request *r);
};

struct al_httpd_opts {
    int port;                /* on 127.0.0.1; 0: any free one; -1 with socket_path */
    const char *socket_path; /* Unix socket, made 0600, for its owner alone; a stale one of ours is replaced. NULL: none */
    size_t max_body;         /* a longer one is answered 413 without being held */
    size_t max_bodies;       /* of all requests together, likewise with 503; 0: no limit */
    size_t max_head;         /* 0: 32 KiB; 431 */
    unsigned max_connections; /* 0: 256 */
    /* A connection of which no request was trusted (al_httpd_trust) is closed after stranger_ms (0: 10 s); where there are
     * more than max_strangers of them, after a tenth of it; and the oldest at once where connections run out. 0: all are
     * trusted. */
    unsigned max_strangers;
    unsigned stranger_ms;
    /* A connection without traffic is closed; not a request that waits for its answer, nor a stream with nothing to
     * send. 0: 60. */
    unsigned idle_s;
};

struct al_httpd;
struct al_httpd *al_httpd_start(struct al_loop *loop, const struct al_httpd_opts *o, const struct al_httpd_ops *ops,
                                void *ud, struct al_err *err); /* BUSY: the port is taken; RUNTIME_UNAVAILABLE */
int al_httpd_port(const struct al_httpd *d);
/* Bytes of answers that clients have yet to take: of streams, and of replies until they are over. */
size_t al_httpd_queued(const struct al_httpd *d);
/* Closes every connection and stream (no callback comes any more) and frees. What was answered or queued before goes out
 * as far as the clients' sockets take it at once. */
void al_httpd_stop(struct al_httpd *d);

/* Who asks is known, by what the head says: from head() at the earliest. */
void al_httpd_trust(struct al_httpd_request *r);
const char *al_httpd_method(const struct al_httpd_request *r);
const char *al_httpd_path(const struct al_httpd_request *r);                     /* without the query */
const char *al_httpd_header(const struct al_httpd_request *r, const char *name); /* NULL: none; of several the first */
unsigned al_httpd_header_count(const struct al_httpd_request *r, const char *name);
struct al_str al_httpd_body(const struct al_httpd_request *r); /* valid within request() */
/* While the request is unanswered: told when its client has gone (then the request is dead). Once. A client that has
 * only closed its half cannot be told from one that has gone: it gets what is answered within request(). */
void al_httpd_on_gone(struct al_httpd_request *r, void (*gone)(void *ud), void *ud);

struct al_httpd_header {
    const char *name, *value;
};
/* The request is dead afterwards. headers end with a NULL name; NULL: none. */
void al_httpd_reply(struct al_httpd_request *r, int status, const struct al_httpd_header *headers, struct al_str body);
/* closed(ud) comes once when the client has gone; the stream is dead then. max_queue: bytes that may wait for a slow
 * reader; one that takes nothing of them for idle_s is gone, too. Never NULL. */
struct al_httpd_stream *al_httpd_stream_open(struct al_httpd_request *r, int status,
                                             const struct al_httpd_header *headers, size_t max_queue,
                                             void (*closed)(void *ud), void *ud);
/* -1: over max_queue; nothing was queued, and the caller should abort. */
int al_httpd_stream_write(struct al_httpd_stream *s, struct al_str bytes) AL_MUST_CHECK;
/* drained(ud), with the ud of closed, whenever the client has taken all that was queued: more may be written then. */
void al_httpd_stream_on_drained(struct al_httpd_stream *s, void (*drained)(void *ud));
size_t al_httpd_stream_queued(const struct al_httpd_stream *s);
void al_httpd_stream_close(struct al_httpd_stream *s); /* after what is queued; closed() does not come; dead */
/* At once, and the connection with it: what is queued is dropped; closed() does not come; dead. */
void al_httpd_stream_abort(struct al_httpd_stream *s);

#endif
