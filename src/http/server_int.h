/* Shared by the files of the HTTP server only. */
#ifndef AL_HTTP_SERVER_INT_H
#define AL_HTTP_SERVER_INT_H

#include "http/server.h"

#include <microhttpd.h>

/* The functions of the library, once it is loaded. */
struct al_mhd {
    __typeof__(&MHD_start_daemon) start_daemon;
    __typeof__(&MHD_stop_daemon) stop_daemon;
    __typeof__(&MHD_run) run;
    __typeof__(&MHD_get_timeout) get_timeout;
    __typeof__(&MHD_get_daemon_info) get_daemon_info;
    __typeof__(&MHD_get_connection_info) get_connection_info;
    __typeof__(&MHD_get_connection_values_n) get_connection_values_n;
    __typeof__(&MHD_create_response_from_buffer) create_response_from_buffer;
    __typeof__(&MHD_create_response_from_callback) create_response_from_callback;
    __typeof__(&MHD_add_response_header) add_response_header;
    __typeof__(&MHD_queue_response) queue_response;
    __typeof__(&MHD_destroy_response) destroy_response;
    __typeof__(&MHD_suspend_connection) suspend_connection;
    __typeof__(&MHD_resume_connection) resume_connection;
};
/* RUNTIME_UNAVAILABLE, with the package to install. */
const struct al_mhd *al_mhd_load(struct al_err *err);

struct al_httpd {
    struct al_loop *loop;
    const struct al_mhd *mhd;
    struct MHD_Daemon *daemon;
    const struct al_httpd_ops *ops;
    void *ud;
    size_t max_body, max_bodies;
    size_t bodies; /* bytes held of all */
    size_t queued; /* bytes of answers that wait for clients */
    int port;
    char *socket_path; /* ours, to be taken away at the end */
    struct al_watch *watch;
    struct al_timer *timer;
    uint64_t timer_due_ms;          /* of CLOCK_MONOTONIC; UINT64_MAX: no timer */
    bool running;                   /* inside the library */
    bool stopping;                  /* no callback any more */
    struct al_httpd_request *all;   /* what the library holds for us */
    struct al_httpd_request *wakes; /* to be resumed before the library runs next */
    unsigned max_connections, n_connections;
    unsigned max_strangers, n_strangers; /* server_stranger.c */
    struct al_timer *late;
    uint64_t stranger_ms;
    struct al_httpd_connection *oldest, *newest; /* of the strangers */
};

/* Whether the client is still there. The library does not look at a suspended connection, and may miss an end
 * that comes together with the last bytes. */
struct al_httpd_connection {
    struct al_httpd *httpd;
    struct al_httpd_request *request; /* the one that is worked on */
    struct al_watch *hangup;
    int fd;       /* the library's, closed after the connection's end was told */
    bool hung_up; /* it sends no more */
    bool stranger, turned_away;
    uint64_t came_ms;
    struct al_httpd_connection *older, *newer; /* strangers */
};

struct al_httpd_stream {
    struct al_httpd_request *request;
    void (*closed)(void *ud);
    void (*drained)(void *ud);
    void *ud;
    struct al_buf queue;
    size_t counted; /* of it, in the server's queued */
    size_t sent; /* of the queue's front, taken by the library */
    bool closing;
};

struct al_httpd_request {
    struct al_httpd *httpd;
    struct al_httpd_request *prev, *next; /* in all */
    struct al_httpd_request *next_wake;
    struct MHD_Connection *connection;
    struct al_httpd_connection *link;
    char *method, *path;
    struct al_buf body;
    size_t received;             /* bytes of body, kept or not */
    struct MHD_Response *answer; /* to be queued by the handler */
    size_t answer_n;             /* bytes of a reply, in the server's queued */
    int status;
    bool complete;           /* the caller knows it */
    bool answered;           /* by the caller, or by us */
    bool too_large, no_room; /* the body is read to its end and not kept */
    bool dead;               /* its client has gone: the connection is to be closed */
    bool suspended, waking;
    bool streaming;
    void (*gone)(void *ud);
    void *gone_ud;
    struct al_httpd_stream stream;
};

/* Listening sockets; the result is the caller's. */
int al_httpd_listen_tcp(int port, int *ret_port, struct al_err *err);
int al_httpd_listen_unix(const char *path, struct al_err *err);

/* The library's callbacks (server_request.c). */
enum MHD_Result al_httpd_on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                    const char *method, const char *version, const char *upload,
                                    size_t *upload_n, void **req);
void al_httpd_on_completed(void *cls, struct MHD_Connection *connection, void **req,
                           enum MHD_RequestTerminationCode why);
void al_httpd_on_connection(void *cls, struct MHD_Connection *connection, void **context,
                            enum MHD_ConnectionNotificationCode what);
/* Ends the connection without more words. */
void al_httpd_cut(struct al_httpd_request *r);
/* A connection is there, and is no more; what was turned away gets no answer. */
void al_httpd_came(struct al_httpd_connection *link);
void al_httpd_went(struct al_httpd_connection *link);
/* Runs the library in a later turn of the loop. */
void al_httpd_soon(struct al_httpd *d);

#endif
