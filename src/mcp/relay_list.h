/*
 * One list of what all servers have. relay_list.c asks the servers, all at once, and follows the pages of
 * each; relay_merge.c keeps what they give, within limits, and puts it together, in the order of the
 * configuration.
 */
#ifndef AL_MCP_RELAY_LIST_H
#define AL_MCP_RELAY_LIST_H

#include "loop/loop.h"
#include "mcp/relay_int.h"

/* What one answer holds; a server's page that is larger comes alone. */
#define AL_RELAY_LIST_ENTRIES 2000
#define AL_RELAY_LIST_BYTES (4u << 20)
/* What all that are being put together hold: then each ends early. */
#define AL_RELAY_LISTS_BYTES (64u << 20)
/* Of one server, in one answer. */
#define AL_RELAY_LIST_PAGES 1000
#define AL_RELAY_LIST_CURSOR (16u << 10)

struct al_relay_kind {
    const char *member, *method, *capability, *changed;
};

/* What one server has given. */
struct al_relay_slot {
    struct al_relay_work *part; /* asks for more; NULL: this is all */
    struct al_buf entries;      /* JSON, with commas between them */
    size_t n_entries;
    char *cursor; /* of the page that is asked for, or would be; NULL: the first */
    bool more;    /* the answer ends here, and the next one begins at cursor */
    bool given;   /* cursor is the client's: an error about it is, too */
    size_t n_pages;
    uint64_t *seen; /* hashes of the cursors that were followed */
    size_t seen_cap;
    struct al_buf rest; /* an object: what the first page had beside its entries; may be empty */
};

struct al_relay_list {
    struct al_relay_work *whole;
    char *ours; /* our entries, before theirs */
    size_t ours_n;
    struct al_relay_slot *slots; /* one for each server */
    size_t n, first;             /* the first that is asked */
    size_t n_open;               /* parts */
    size_t bytes, n_entries;     /* that are kept */
    uint64_t ttl_ms;             /* the least of all pages */
    bool any_page, not_public;
    bool patient; /* the short time is over: what goes on now is waited for a little longer */
    struct al_timer *timer;
};

/* --- relay_merge.c --- */
struct al_relay_slot *al_relay_slot_of(const struct al_relay_work *part);
/* Keeps a page; false: there is no room, and the answer ends before it. */
bool al_relay_keep_page(struct al_relay_list *list, struct al_relay_slot *slot, struct al_str entries,
                        size_t n);
/* Nothing more can be kept. */
bool al_relay_list_is_full(const struct al_relay_list *list);
/* The answer ends with what this slot has: the next one goes on with the slot, or with the next server. */
void al_relay_end_after(struct al_relay_list *list, struct al_relay_slot *slot, bool has_more);
/* What a page says of how long it may be kept, and by whom. */
void al_relay_keep_hints(struct al_relay_list *list, const struct al_json *page);
/* What its server is asked no more: the whole is answered when it was the last. May be called from its
 * callbacks. */
void al_relay_part_over(struct al_relay_work *part);
/* Gives up a server that is still asked; what it has given stays. */
void al_relay_slot_stop(struct al_relay_list *list, struct al_relay_slot *slot);
void al_relay_list_answer(struct al_relay_work *whole);

#endif
