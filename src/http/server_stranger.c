/*
 * Connections of which no request was trusted yet. Anybody on this computer can open some and say nothing, or
 * a head byte by byte. So each has a short time, a shorter one when there are many, and when hardly a
 * connection is left the oldest makes room. A client that opens many at once and then speaks is not hurt by
 * that.
 */
#include "base/ident.h"
#include "http/server_int.h"

#include <sys/socket.h>
#include <unistd.h>

#define HASTE 10 /* of the time, a part as small is left where there are many */
#define SPARE 16 /* connections for which strangers make room */

static void forget(struct al_httpd_connection *link)
{
    struct al_httpd *d = link->httpd;
    if (!link->stranger)
        return;
    link->stranger = false;
    *(link->older ? &link->older->newer : &d->oldest) = link->newer;
    *(link->newer ? &link->newer->older : &d->newest) = link->older;
    d->n_strangers--;
}

/* The library finds the end of the connection and closes it; until then nothing of it is listened to. */
static void turn_away(struct al_httpd_connection *link)
{
    forget(link);
    link->turned_away = true;
    if (link->request)
        al_httpd_cut(link->request);
    (void)shutdown(link->fd, SHUT_RDWR);
}

static uint64_t allowed_ms(const struct al_httpd *d)
{
    return d->n_strangers > d->max_strangers ? d->stranger_ms / HASTE : d->stranger_ms;
}

/* The oldest is due first. */
static void on_late(void *ud)
{
    struct al_httpd *d = ud;
    uint64_t now = al_mono_ms();
    d->late = NULL;
    while (d->oldest && now - d->oldest->came_ms >= allowed_ms(d))
        turn_away(d->oldest);
    if (d->oldest)
        d->late = al_timer_start(d->loop, d->oldest->came_ms + allowed_ms(d) - now, on_late, d);
}

/* On a Unix socket the other end has a user; root could open it, too. */
static bool same_user(int fd)
{
    struct ucred peer;
    socklen_t n = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.uid == geteuid();
}

static void add(struct al_httpd *d, struct al_httpd_connection *link)
{
    link->stranger = true;
    link->came_ms = al_mono_ms();
    link->older = d->newest;
    *(d->newest ? &d->newest->newer : &d->oldest) = link;
    d->newest = link;
    d->n_strangers++;
}

void al_httpd_came(struct al_httpd_connection *link)
{
    struct al_httpd *d = link->httpd;
    d->n_connections++;
    if (d->socket_path && !same_user(link->fd)) {
        turn_away(link);
        return;
    }
    if (d->max_strangers == 0)
        return;
    if (d->oldest && d->n_connections + SPARE > d->max_connections)
        turn_away(d->oldest);
    add(d, link);
    if (!d->late || d->n_strangers == d->max_strangers + 1) {
        al_timer_stop(d->late);
        on_late(d);
    }
}

void al_httpd_went(struct al_httpd_connection *link)
{
    link->httpd->n_connections--;
    forget(link);
}

void al_httpd_trust(struct al_httpd_request *r)
{
    forget(r->link);
}
