/* A server on loopback for the tests of HTTP: each connection is a thread that answers by a function of the test. */
#ifndef AL_TESTS_HTTP_PEER_H
#define AL_TESTS_HTTP_PEER_H

#include "base/str.h"

#include <stdatomic.h>

struct peer;
/* One request was read whole: its head, and as much body as its Content-Length says. Write the answer to fd; false closes
 * the connection. n counts the requests of this peer from 0. */
typedef bool peer_fn(struct peer *p, int fd, const char *request, unsigned n);

#define PEER_MAX_CONNECTIONS 64
struct peer {
    int listen_fd, port;
    peer_fn *fn;
    void *ud;
    atomic_uint n_requests;
    atomic_bool stopping;
    unsigned long thread;
    struct peer_conn {
        struct peer *peer;
        atomic_int fd;
        unsigned long thread;
    } conn[PEER_MAX_CONNECTIONS];
    unsigned n_conn;
};

void peer_start(struct peer *p, peer_fn *fn, void *ud); /* on 127.0.0.1, at a free port */
void peer_start_at(struct peer *p, const char *ip, int port, peer_fn *fn, void *ud);
void peer_stop(struct peer *p);
/* Writes all, or finds that the other side has gone. */
bool peer_write(int fd, const void *bytes, size_t n);
bool peer_say(int fd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A whole answer with a Content-Length; head: further lines, each with its line end. */
bool peer_answer(int fd, const char *status, const char *head, struct al_str body);
/* Returns when the other side has closed, or the peer is stopped. */
void peer_wait_closed(int fd);
/* The value of a header of the request, in a buffer of this thread; "" when there is none. */
const char *peer_header(const char *request, const char *name);
const char *peer_body(const char *request);

#endif
