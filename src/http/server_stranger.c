/*
 * Connections of which no request was trusted yet. Anybody on this computer can open some and say nothing, or
 * a head byte by byte; so they are few, each has a short time, and when there are too many the oldest goes.
 */
#include "http/server_int.h"

#include <sys/socket.h>
#include <unistd.h>

static void forget(struct al_httpd_connection *link)
{
    struct al_httpd *d = link->httpd;
    if (!link->stranger)
        return;
    link->stranger = false;
    al_timer_stop(link->late);
    link->late = NULL;
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

static void on_late(void *ud)
{
    struct al_httpd_connection *link = ud;
    link->late = NULL;
    turn_away(link);
}

/* On a Unix socket the other end has a user; root could open it, too. */
static bool same_user(int fd)
{
    struct ucred peer;
    socklen_t n = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.uid == geteuid();
}

void al_httpd_stranger_came(struct al_httpd_connection *link)
{
    struct al_httpd *d = link->httpd;
    if (d->socket_path && !same_user(link->fd)) {
        turn_away(link);
        return;
    }
    if (d->max_strangers == 0)
        return;
    if (d->n_strangers >= d->max_strangers)
        turn_away(d->oldest);
    link->stranger = true;
    link->late = al_timer_start(d->loop, d->stranger_ms, on_late, link);
    link->older = d->newest;
    *(d->newest ? &d->newest->newer : &d->oldest) = link;
    d->newest = link;
    d->n_strangers++;
}

void al_httpd_stranger_gone(struct al_httpd_connection *link)
{
    forget(link);
}

void al_httpd_trust(struct al_httpd_request *r)
{
    forget(r->link);
}
