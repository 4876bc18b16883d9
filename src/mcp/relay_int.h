/*
 * Shared by the files of the relay only. Each request of a client that goes to upstream servers is one
 * al_relay_work: relay_work.c keeps its life, relay_list.c, relay_tool.c and relay_request.c are what it can
 * be.
 */
#ifndef AL_MCP_RELAY_INT_H
#define AL_MCP_RELAY_INT_H

#include "base/ident.h"
#include "mcp/mcp_int.h"
#include "mcp/relay_pure.h"

struct al_relay_work;
struct al_relay_list;
struct al_relay_approval;

/* URIs that were seen in lists, as hashes: which server to ask first. Bounded; what does not fit is asked in
 * order. */
#define AL_RELAY_URIS_MAX (1u << 16) /* a power of 2 */
#define AL_RELAY_TEMPLATES_MAX 1024
struct al_relay_uri {
    uint64_t hash; /* 0: free */
    uint32_t server;
};
struct al_relay_template {
    char *head;
    size_t server;
};

/* A resource that clients want to hear of. */
#define AL_RELAY_MAX_WATCHED 4096
/* Of one server: each is an open request, of which others want some, too. */
#define AL_RELAY_MAX_LISTENS 256
#define AL_RELAY_WATCHED_SLOTS 8192 /* a power of 2 */
struct al_relay_watched {
    struct al_relay_watched *next, **link;
    struct al_relay_watched *other; /* in the same slot */
    uint64_t hash;
    struct al_mcp_relay *relay;
    char *uri;
    size_t server, tried; /* index; how many were asked */
    bool wanted;          /* while the set is compared */
    bool told;            /* an older server knows that we want to hear of it … */
    bool held;            /* … and stays for it */
    bool listening;       /* it is one of the server's n_listens */
    struct al_upstream_call
        *sent; /* resources/subscribe under way, or a modern server's subscriptions/listen */
};

/* A call that a person has approved once and that a modern server has answered with questions: the retry that
 * brings its state and the same arguments is still that call. */
#define AL_RELAY_TICKETS 64
struct al_relay_ticket {
    char sha256[AL_SHA256_HEX];
    char definition[AL_SHA256_HEX]; /* of the tool, that was approved */
    uint64_t until_ms;
};

struct al_relay_server {
    struct al_upstream *upstream;
    unsigned n_listens; /* subscriptions/listen that are open for what is watched */
    bool watching;      /* it is waited for, to be told of what is watched */
    bool settled;       /* tools that its catalogue lacks are none that can be called: asked for once */
    /* Bits of kinds of lists (relay_list.h): */
    unsigned awaited; /* was left out while it started: clients are told of a change once it is there */
    unsigned told;    /* they were, and it has listed nothing since: they are not told again */
    unsigned slow;    /* it had started, and listed nothing in time: not waited for as long again */
};

/* Waits for a server; without a relay when that has gone meanwhile. */
struct al_relay_wait {
    struct al_relay_wait *next;
    struct al_mcp_relay *relay;
    struct al_relay_work *work; /* NULL: of the relay itself, or of a work that has ended */
    struct al_relay_server *server;
    void (*then)(struct al_relay_wait *wait, const struct al_err *err);
};

struct al_mcp_relay {
    struct al_mcp *mcp;
    struct al_relay_server *servers;
    size_t n;
    struct al_relay_work *works; /* newest first */
    struct al_relay_wait *waits;
    enum al_mcp_level level; /* the least that any client wants; AL_MCP_NO_LOG: nobody said */
    struct al_relay_uri *uris;
    size_t n_uris;
    struct al_relay_template templates[AL_RELAY_TEMPLATES_MAX];
    size_t n_templates;
    struct al_relay_watched *watched;
    struct al_relay_watched **watched_slots; /* by hash of the URI; NULL: none yet */
    size_t n_watched;
    uint64_t seed; /* of the hashes: nobody outside can choose URIs of one slot */
    struct al_relay_ticket tickets[AL_RELAY_TICKETS];
    size_t list_bytes; /* that lists keep while they are put together */
    bool started;      /* all servers were asked to start */
};

/* Of one question, of all that wait to be asked, and of a notification. */
#define AL_RELAY_MAX_QUESTION (1u << 20)
#define AL_RELAY_MAX_WAITING (8u << 20)
#define AL_RELAY_MAX_NOTIFICATION (256u << 10)

/* A question of a server, on its way to the client. */
struct al_relay_question {
    struct al_relay_question *next;
    struct al_relay_work *work; /* NULL: it has ended */
    struct al_mcp *mcp;
    char *key, *method;
    char *params; /* until it is asked */
    size_t params_n;
    bool asked;                      /* else it waits for the one before */
    struct al_question_reply *reply; /* of a server of the older era */
};

/* What has come before there was a request to answer. */
enum al_relay_end {
    AL_RELAY_OPEN,
    AL_RELAY_RESULT,
    AL_RELAY_FAILURE,
};

struct al_relay_work {
    struct al_mcp_relay *relay; /* NULL: it has gone */
    struct al_relay_work *next;
    struct al_mcp_request
        *r; /* NULL while a modern client is away, to come back with an answer, or has gone */
    const void
        *owner; /* whose it is: what one client is asked or told must not be about another one's request */
    struct al_mcp_client client; /* a copy of the request's */
    bool modern;                 /* the client; of the server al_relay_modern tells */
    bool away, cancelled;
    bool approved;   /* by a person, this once */
    bool starting;   /* the core is making the call */
    double progress; /* the last that was told */
    enum al_relay_end end;
    struct al_buf kept; /* the result, or the error's message */
    struct al_buf kept_data;
    int kept_code;

    struct al_relay_server *server; /* that works on it now */
    struct al_upstream_call *sent;
    struct al_call *call;
    struct al_relay_question *questions;
    struct al_relay_approval *approval; /* that a person is asked for */
    unsigned n_questions, n_asked;

    /* What a server of the newer era has asked, for a client of the older. */
    unsigned n_rounds;
    char definition[AL_SHA256_HEX];         /* of the tool, that the rounds before were let in with */
    struct al_buf responses;                /* members of inputResponses so far */
    char *state;                            /* requestState, JSON */
    void (*again)(struct al_relay_work *w); /* sends it once more, with them */

    /* The answer of the server: a result or an error object, both read, or why there is none. */
    void (*answered)(struct al_relay_work *w, const struct al_json *result);
    void (*failed)(struct al_relay_work *w, const struct al_json *failure);
    void (*lost)(struct al_relay_work *w, const struct al_err *err);

    /* A list: a part of it is a work of its own, that asks one server. */
    const char *member, *method;
    struct al_relay_list *list;  /* of the whole */
    struct al_relay_work *whole; /* of a part */
    struct al_buf page;          /* of a part: the server's, while its catalogue is fetched */

    /* The search for a prompt. */
    size_t at;    /* index of the server */
    char *cursor; /* NULL: its first page */

    /* A tool, or a request that goes to one of several servers. */
    size_t preferred, n_tried; /* index; how many were asked */
    bool fixed;                /* only the preferred one can have it */
    char *own_method;
    char *own_params; /* the request's, JSON: it is sent again when there is no request at hand, too */
    size_t own_params_n;
    char *target;     /* what it is about there: a tool's or prompt's name as its server has it */
    char *registered; /* the tool's name in our registry */
    char *wanted;     /* the name with us */
    unsigned n_pages, n_waits;
    int first_code; /* of the error that is in kept, the one to tell when no server has it */
};

/* --- the relay (relay.c) --- */
bool al_relay_modern(const struct al_relay_server *s); /* the server speaks 2026-07-28 or later */
/* Whether it may know this part of the protocol ("prompts"); true also when that is not known yet. */
bool al_relay_may_have(const struct al_relay_server *s, const char *capability);
struct al_relay_server *al_relay_find(struct al_mcp_relay *relay, struct al_str name);
const char *al_relay_name(const struct al_relay_server *s);
/* Calls then, later, once the server can be used, or cannot. work may be NULL. */
struct al_relay_wait *al_relay_wait_for(struct al_mcp_relay *relay, struct al_relay_server *s,
                                        struct al_relay_work *work,
                                        void (*then)(struct al_relay_wait *wait, const struct al_err *err));
/* The same, once its catalogue was fetched anew. */
struct al_relay_wait *al_relay_refresh(struct al_mcp_relay *relay, struct al_relay_server *s,
                                       struct al_relay_work *work,
                                       void (*then)(struct al_relay_wait *wait, const struct al_err *err));
/* Starts all servers, the first time: their starts go side by side while the first is asked. */
void al_relay_start_all(struct al_mcp_relay *relay);
/* A client wants log messages from this level on. */
void al_relay_want_level(struct al_mcp_relay *relay, enum al_mcp_level level);
/* Logs to the client of a work why a server is left out. */
void al_relay_tell_lost(struct al_relay_work *w, const struct al_relay_server *s, const struct al_err *err);
/* Logs a warning to the client of a work. */
void al_relay_warn(struct al_relay_work *w, struct al_str text);
const char *al_relay_level_name(enum al_mcp_level level);

/* --- resources that are watched (relay_watch.c) --- */
/* A client has subscribed by a request of its own, which the server has taken; or took that back. */
void al_relay_note_watched(struct al_mcp_relay *relay, struct al_str uri, struct al_relay_server *s, bool on);
/* A life of the server has begun, which knows of nothing. */
void al_relay_watch_again(struct al_mcp_relay *relay, const struct al_relay_server *s);
bool al_relay_is_watched(const struct al_mcp_relay *relay, struct al_str uri); /* by any client */
void al_relay_watch_free(struct al_mcp_relay *relay);

/* --- what comes of servers by itself (relay_events.c) --- */
void al_relay_notification(void *ud, struct al_upstream *s, struct al_str method, struct al_str params);
/* A question of an older server that belongs to no request: of the first client that can be asked. */
void al_relay_stray_question(void *ud, struct al_upstream *s, const struct al_upstream_question *q);

/* --- which server a URI is of (relay_uris.c) --- */
void al_relay_learn_uri(struct al_mcp_relay *relay, struct al_str uri, size_t server);
void al_relay_learn_template(struct al_mcp_relay *relay, struct al_str uri_template, size_t server);
size_t al_relay_server_of_uri(const struct al_mcp_relay *relay, struct al_str uri); /* relay->n: not known */
/* Of a scheme that this server answers itself: no other one may speak for it. */
bool al_relay_is_our_uri(struct al_str uri);
void al_relay_uris_free(struct al_mcp_relay *relay);

/* --- works (relay_work.c) --- */
struct al_relay_work *al_relay_work_new(struct al_mcp_relay *relay, struct al_mcp_request *r);
/* A work that asks this server for a part of whole: it answers nothing itself, and ends by its own answered,
 * failed or lost, or by al_relay_part_drop. */
struct al_relay_work *al_relay_part_new(struct al_relay_work *whole, struct al_relay_server *s);
/* Nobody wants it any more: it is gone now, or once its server's request has ended. Not from its own
 * callbacks. */
void al_relay_part_drop(struct al_relay_work *part);
/* The request that it answers now; NULL: none. */
void al_relay_work_go_on(struct al_relay_work *w, struct al_mcp_request *r);
void al_relay_work_cancel(struct al_relay_work *w);
bool al_relay_lives(const struct al_mcp_relay *relay, const struct al_relay_work *w);
/* The relay goes: what still runs of works ends in silence. */
void al_relay_works_orphan(struct al_mcp_relay *relay);
void al_relay_work_free(struct al_relay_work *w);
/* Whether the client's request may be answered "input_required" (2026-07-28, basic/patterns/mrtr). */
bool al_relay_may_ask_back(const struct al_relay_work *w);
/* The end of a work, exactly one of the four; it is gone then (or, while its client is away, as good as). */
void al_relay_end_result(struct al_relay_work *w, struct al_str result);
void al_relay_end_error(struct al_relay_work *w, int code, struct al_str message, struct al_str data);
void al_relay_end_err(struct al_relay_work *w,
                      const struct al_err *err); /* a JSON-RPC error with our code and hint */
void al_relay_end_kept(struct al_relay_work *w); /* the client has come back */
/* Sends to w->server; w->answered, w->failed or w->lost follows. given: params, and what is replaced in them.
 */
void al_relay_send(struct al_relay_work *w, const char *method, const struct al_relay_params *given);
/* The client's params as they go to the server: with what it says of itself, and the answers of a round. */
void al_relay_params_of(struct al_relay_work *w, struct al_relay_params *p, struct al_buf *out);
/* The server's result or error, in the client's words, as the end; or a round of questions first. */
void al_relay_pass_result(struct al_relay_work *w, const struct al_json *result, const char *method);
void al_relay_pass_failure(struct al_relay_work *w, const struct al_json *failure);
/* Notifications of the server about it, as they came. */
void al_relay_progress(struct al_relay_work *w, struct al_str params);
void al_relay_message(struct al_relay_work *w, struct al_str params);
/* al_call_spec.progress of a tool: {"completed","total"?,"note"?}. */
void al_relay_call_progress(void *ud, struct al_str json);

/* --- lists (relay_merge.c) --- */
/* The list's memory, and its parts. */
void al_relay_list_free(struct al_relay_list *list);
/* Lets go of its parts, which are no longer its own. */
void al_relay_list_orphan(struct al_relay_list *list);

/* --- questions (relay_ask.c) --- */
void al_relay_question(struct al_relay_work *w, struct al_str method, struct al_str params,
                       struct al_question_reply *reply);
/* The params of an elicitation as the client gets them: they name the server that asks, unless names are to
 * stay as they came. Empty: longer than a question may be. */
struct al_str al_relay_named(const struct al_mcp_relay *relay, const char *server, struct al_str method,
                             struct al_str params, struct al_buf *out);
/* A round: all that a modern server asks, of a client of the older era; then w->again. */
void al_relay_round(struct al_relay_work *w, const struct al_relay_asked *asked);
/* al_call_spec.ask of a tool; ud is the work. */
void al_relay_approve(void *ud, const struct al_ask *ask);
/* params: of the tools/call; result: what its server has answered. */
void al_relay_ticket_give(struct al_relay_work *w, const struct al_json *params,
                          const struct al_json *result);
bool al_relay_ticket_take(struct al_relay_work *w, const struct al_json *params);
void al_relay_drop_questions(struct al_relay_work *w);

/* --- tools (relay_tool.c) --- */
/* The name that a server's tool has with us. */
enum al_relay_tool {
    AL_RELAY_TOOL_NONE,    /* its catalogue lacks it */
    AL_RELAY_TOOL_OFFERED, /* can be called */
    AL_RELAY_TOOL_HIDDEN,  /* forbidden, or one of ours has its name */
};
enum al_relay_tool al_relay_tool_name(struct al_mcp_relay *relay, const struct al_relay_server *s,
                                      struct al_str tool, char out[AL_RELAY_NAME_MAX + 1]);

/* --- prompts (relay_prompt.c) --- */
/* Finds the prompt that has this name with us, then al_relay_send_own. */
void al_relay_find_prompt(struct al_relay_work *w, struct al_str name);

/* --- requests (relay_request.c) --- */
/* Sends the work's own request to w->server, with w->target in the place of the name, unless that is NULL. */
void al_relay_send_own(struct al_relay_work *w);

#endif
