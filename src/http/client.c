/* The client: libcurl's sockets and its timer in our loop. */
#include "http/client.h"
#include "base/ident.h"
#include "base/mem.h"
#include "http/client_int.h"

#include <unistd.h>

struct sock {
    struct al_http_client *client;
    curl_socket_t fd;
    struct al_watch *watch;
};

void al_http_enter(struct al_http_client *c)
{
    c->depth++;
}

static void client_end(struct al_http_client *c)
{
    while (c->first)
        al_http_free(c->first);
    if (c->multi)
        c->lib->multi_cleanup(c->multi);
    al_timer_stop(c->timer);
    al_timer_stop(c->kick);
    free(c);
}

static void free_removed(struct al_http_client *c)
{
    for (struct al_http *h = c->first, *next; h; h = next) {
        next = h->next;
        if (h->removed)
            al_http_free(h);
    }
}

void al_http_leave(struct al_http_client *c)
{
    if (c->depth > 1) {
        c->depth--;
        return;
    }
    if (!c->freed)
        free_removed(c); /* libcurl may close connections here, and call us */
    c->depth--;
    if (c->freed)
        client_end(c);
}

static void kicked(void *ud)
{
    struct al_http_client *c = ud;
    c->kick = NULL;
    c->turn++;
    for (struct al_http *h = c->first; h; h = h->next) {
        h->resume = h->resume || (h->tired && !h->paused);
        h->tired = false;
    }
    al_http_enter(c);
    struct al_http *h = c->first;
    while (h && !c->freed)
        h = al_http_step(h) ? c->first : h->next;
    al_http_leave(c);
}

void al_http_kick(struct al_http_client *c)
{
    if (!c->kick && !c->freed)
        c->kick = al_timer_start(c->loop, 0, kicked, c);
}

static void take_finished(struct al_http_client *c)
{
    int left;
    CURLMsg *m;
    while (!c->freed && (m = c->lib->multi_info_read(c->multi, &left))) {
        if (m->msg != CURLMSG_DONE)
            continue;
        CURLcode code = m->data.result;
        struct al_http *h = NULL;
        c->lib->easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&h);
        al_http_complete(h, code);
    }
}

static void act(struct al_http_client *c, curl_socket_t fd, int mask)
{
    int running;
    c->turn++;
    al_http_enter(c);
    c->lib->multi_socket_action(c->multi, fd, mask, &running);
    take_finished(c);
    al_http_leave(c);
}

static void on_ready(void *ud, int events)
{
    struct sock *s = ud;
    int mask = (events & AL_READABLE ? CURL_CSELECT_IN : 0) | (events & AL_WRITABLE ? CURL_CSELECT_OUT : 0) |
               (events & AL_HANGUP ? CURL_CSELECT_ERR : 0);
    act(s->client, s->fd, mask);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ud, void *socket_ud)
{
    (void)easy;
    struct al_http_client *c = ud;
    struct sock *s = socket_ud;
    if (s)
        al_watch_stop(s->watch);
    if (what == CURL_POLL_REMOVE) {
        free(s);
        c->lib->multi_assign(c->multi, fd, NULL);
        return 0;
    }
    if (!s) {
        s = al_xcalloc(1, sizeof(*s));
        *s = (struct sock){.client = c, .fd = fd};
        c->lib->multi_assign(c->multi, fd, s);
    }
    int events = (what & CURL_POLL_IN ? AL_READABLE : 0) | (what & CURL_POLL_OUT ? AL_WRITABLE : 0);
    struct al_err err;
    s->watch = events ? al_watch_start(c->loop, fd, events, on_ready, s, &err) : NULL;
    return events && !s->watch ? -1 : 0;
}

static void on_time(void *ud)
{
    struct al_http_client *c = ud;
    c->timer = NULL;
    act(c, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer(CURLM *multi, long timeout_ms, void *ud)
{
    (void)multi;
    struct al_http_client *c = ud;
    al_timer_stop(c->timer);
    c->timer = timeout_ms < 0 ? NULL : al_timer_start(c->loop, (uint64_t)timeout_ms, on_time, c);
    return 0;
}

struct al_http_client *al_http_client_new(struct al_loop *loop)
{
    struct al_http_client *c = al_xcalloc(1, sizeof(*c));
    c->loop = loop;
    c->is_public = al_http_address_public;
    return c;
}

void al_http_client_test_public(struct al_http_client *c, bool (*is_public)(const struct sockaddr *address))
{
    c->is_public = is_public;
}

void al_http_client_drop(struct al_http_client *c)
{
    c->dropped_ms = al_mono_ms();
}

int al_http_client_ready(struct al_http_client *c, struct al_err *err)
{
    if (c->multi)
        return 0;
    c->lib = al_curl_load(err);
    if (!c->lib)
        return -1;
    c->multi = c->lib->multi_init();
    if (!c->multi)
        return al_fail(err, AL_RUNTIME_UNAVAILABLE, "libcurl does not start");
    c->lib->multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    c->lib->multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c);
    c->lib->multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    c->lib->multi_setopt(c->multi, CURLMOPT_TIMERDATA, c);
    c->lib->multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, 16L); /* kept open without use */
    return 0;
}

void al_http_client_free(struct al_http_client *c)
{
    if (!c)
        return;
    for (struct al_http *h = c->first; h; h = h->next)
        h->ops = NULL;
    c->freed = true;
    if (c->depth == 0)
        client_end(c);
}
