#include "http_peer.h"
#include "test.h"

#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_REQUEST (17 << 20)

/* Reads to the end of one request; NULL: closed. */
static char *read_request(int fd)
{
    size_t cap = 64 * 1024, n = 0, want = 0;
    char *p = al_xmalloc(cap + 1);
    while (true) {
        if (n == cap) {
            cap *= 2;
            p = al_xrealloc(p, cap + 1);
        }
        ssize_t r = recv(fd, p + n, cap - n, 0);
        if (r <= 0 || n + (size_t)r > MAX_REQUEST) {
            free(p);
            return NULL;
        }
        n += (size_t)r;
        p[n] = 0;
        char *end = strstr(p, "\r\n\r\n");
        if (!end)
            continue;
        want = (size_t)(end + 4 - p) + strtoul(peer_header(p, "content-length"), NULL, 10);
        if (n >= want)
            return p;
    }
}

static void *conn_main(void *ud)
{
    struct peer_conn *c = ud;
    struct peer *p = c->peer;
    bool go_on = true;
    while (go_on) {
        char *request = read_request(c->fd);
        if (!request)
            break;
        go_on = p->fn(p, c->fd, request, atomic_fetch_add(&p->n_requests, 1));
        free(request);
    }
    shutdown(c->fd, SHUT_RDWR);
    return NULL;
}

static void *peer_main(void *ud)
{
    struct peer *p = ud;
    while (!p->stopping) {
        int fd = accept4(p->listen_fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            break;
        if (p->n_conn == PEER_MAX_CONNECTIONS || p->stopping) {
            close(fd);
            continue;
        }
        struct peer_conn *c = &p->conn[p->n_conn++];
        c->peer = p;
        c->fd = fd;
        pthread_t t;
        assert_int_equal(pthread_create(&t, NULL, conn_main, c), 0);
        c->thread = t;
    }
    return NULL;
}

void peer_start_at(struct peer *p, const char *ip, int port, peer_fn *fn, void *ud)
{
    memset(p, 0, sizeof(*p));
    p->fn = fn;
    p->ud = ud;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, ip, &a.sin_addr);
    p->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(p->listen_fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(p->listen_fd, 64), 0);
    socklen_t n = sizeof(a);
    getsockname(p->listen_fd, (struct sockaddr *)&a, &n);
    p->port = ntohs(a.sin_port);
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, peer_main, p), 0);
    p->thread = t;
}

void peer_start(struct peer *p, peer_fn *fn, void *ud)
{
    peer_start_at(p, "127.0.0.1", 0, fn, ud);
}

void peer_stop(struct peer *p)
{
    p->stopping = true;
    shutdown(p->listen_fd, SHUT_RDWR);
    pthread_join(p->thread, NULL);
    for (unsigned i = 0; i < p->n_conn; i++) {
        shutdown(p->conn[i].fd, SHUT_RDWR);
        pthread_join(p->conn[i].thread, NULL);
        close(p->conn[i].fd);
    }
    close(p->listen_fd);
}

bool peer_write(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n) {
        ssize_t r = send(fd, p, n, MSG_NOSIGNAL);
        if (r <= 0)
            return false;
        p += r;
        n -= (size_t)r;
    }
    return true;
}

bool peer_say(int fd, const char *fmt, ...)
{
    char text[16384];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return n > 0 && (size_t)n < sizeof(text) && peer_write(fd, text, (size_t)n);
}

bool peer_answer(int fd, const char *status, const char *head, struct al_str body)
{
    return peer_say(fd, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n", status, head, body.n) &&
           peer_write(fd, body.p, body.n);
}

void peer_wait_closed(int fd)
{
    char c[256];
    while (recv(fd, c, sizeof(c), 0) > 0)
        ;
}

const char *peer_header(const char *request, const char *name)
{
    static _Thread_local char ring[8][16384];
    static _Thread_local unsigned turn;
    char *value = ring[turn++ % 8];
    size_t n = strlen(name);
    const char *end = strstr(request, "\r\n\r\n");
    for (const char *p = strstr(request, "\r\n"); p && p < end; p = strstr(p, "\r\n")) {
        p += 2;
        if (strncasecmp(p, name, n) == 0 && p[n] == ':') {
            p += n + 1;
            p += strspn(p, " ");
            snprintf(value, sizeof(ring[0]), "%.*s", (int)strcspn(p, "\r"), p);
            return value;
        }
    }
    return "";
}

const char *peer_body(const char *request)
{
    const char *end = strstr(request, "\r\n\r\n");
    return end ? end + 4 : "";
}
