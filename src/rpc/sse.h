/* Server-Sent Events (WHATWG HTML, section 9.2): bytes to events, and events to bytes. Pure. */
#ifndef AL_RPC_SSE_H
#define AL_RPC_SSE_H

#include "base/buf.h"

#include <stdint.h>

struct al_sse_event {
    struct al_str type; /* "message" when the stream names none */
    struct al_str data; /* lines joined by LF; may be empty */
    struct al_str id;   /* the last one that the stream has named; empty: none */
};

struct al_sse {
    struct al_buf line, data, type, id;
    size_t max_event;
    int64_t retry_ms; /* the last `retry` of the stream; -1: none */
    bool after_cr, begun, skipping, long_line;
    bool has_data, has_id; /* of the event that is being read */
    bool bare; /* set by the owner: events that have nothing but a type are given, too; too long a type is as none */
};

/* max_event: bytes of an event's data; a longer one is dropped to its end and told by too_long, as soon as it
 * is seen (s must not be freed in there). Its id counts all the same. An id over 4 KiB is as none. */
void al_sse_init(struct al_sse *s, size_t max_event);
void al_sse_free(struct al_sse *s);
struct al_sse_sink {
    /* Events without data are given too when they carry an id. False: take no more of these bytes; s may be
     * freed. */
    bool (*event)(void *ud, const struct al_sse_event *event);
    void (*too_long)(void *ud);
};
void al_sse_feed(struct al_sse *s, struct al_str bytes, const struct al_sse_sink *sink, void *ud);
/* The stream has ended: what has come of its last event is given as if it were whole. (A browser drops it.) */
void al_sse_end(struct al_sse *s, const struct al_sse_sink *sink, void *ud);

/* Appends one event; type and id may be empty. data is split at its line ends. */
void al_sse_write(struct al_buf *out, struct al_str type, struct al_str id, struct al_str data);

#endif
