/*
 * Inside the MCP server. A transport (stdio.c, http.c) turns bytes into messages of a peer and brings messages back; what
 * the messages mean is told by one table (message.c) and its handlers, which know nothing of transports. The relay
 * (relay*.c) is a set of handlers as well.
 */
#ifndef AL_MCP_MCP_INT_H
#define AL_MCP_MCP_INT_H

#include "base/arena.h"
#include "base/json.h"
#include "mcp/mcp.h"
#include "rpc/rpc.h"

/* A message may have this many bytes, in and out. A longer one is skipped without being kept. */
#define AL_MCP_MAX_MESSAGE (16u << 20)
/* Requests that one client may have open; the next one is refused as BUSY. */
#define AL_MCP_MAX_IN_FLIGHT 1024
/* The parameters of all open requests together; a request beyond it is refused as BUSY. */
#define AL_MCP_MAX_OPEN_BYTES (64u << 20)
/* A client's capabilities are kept up to this size; longer ones count as none. */
#define AL_MCP_MAX_CAPABILITIES (64u << 10)
/* While this much waits to be read by the client, no further request is taken. */
#define AL_MCP_QUEUE_HIGH (1u << 20)
#define AL_MCP_QUEUE_CHANGES (16u << 20) /* no notification is added to more, progress and logs already above HIGH */
#define AL_MCP_QUEUE_MAX (64u << 20)
/* After the end of input, running calls have this long before they are cancelled. */
#define AL_MCP_LINGER_MS 400
/* A question to the client, or work that waits for a modern client to come back with an answer. */
#define AL_MCP_QUESTION_MS (10u * 60 * 1000)
/* Questions that are open at once; as many approvals besides, and so many of them may be of one server behind us. */
#define AL_MCP_MAX_QUESTIONS 64
#define AL_MCP_MAX_QUESTIONS_OF_ONE 32
#define AL_MCP_STATE_MARK 16 /* characters that every requestState of this server begins with */

/* RFC 5424, as the protocol names them. */
enum al_mcp_level {
    AL_MCP_DEBUG,
    AL_MCP_INFO,
    AL_MCP_NOTICE,
    AL_MCP_WARNING,
    AL_MCP_ERROR,
    AL_MCP_CRITICAL,
    AL_MCP_ALERT,
    AL_MCP_EMERGENCY,
    AL_MCP_NO_LOG,
};

/* What a client can do: from initialize, or from the _meta of a modern request. */
struct al_mcp_client {
    char version[16]; /* of the protocol, agreed on; "" before initialize */
    bool modern;      /* 2026-07-28 or later */
    bool elicit_form, elicit_url, sampling, roots;
    enum al_mcp_level level; /* the least that it wants to be told; AL_MCP_NO_LOG: nothing */
    char *capabilities;      /* JSON, as it came; NULL: none */
    char info[512];          /* JSON {"name","version"}, cut; "" when it did not say */
};

struct al_mcp_request;
struct al_mcp_peer_ops {
    /* A whole message, without its line end. about: the request that it belongs to (a progress, a question, the answer
     * itself), or NULL. last: the request is over, and the transport forgets its channel; an empty message then means
     * that there is no answer, since the client took the request back. The peer may be closed from within such a last one,
     * not from within another. */
    void (*send)(void *ud, struct al_mcp_request *about, struct al_str message, bool last);
};

/* Who talks to us: the one client of stdio, a session of older HTTP clients, or one POST of a modern one. */
struct al_mcp_peer {
    struct al_mcp *mcp;
    struct al_mcp_peer *next;
    const struct al_mcp_peer_ops *ops;
    void *ud; /* the transport's */
    struct al_mcp_client client;
    bool initialized, closing;
    struct al_mcp_request *requests; /* in flight */
    size_t n_requests;
    struct al_mcp_question *questions; /* asked of it, unanswered */
    struct al_mcp_subscription *subscriptions;
    struct al_mcp_roots *roots; /* NULL: they are not the workspace */
};

/* A request of the client in flight. */
struct al_mcp_request {
    struct al_mcp_peer *peer;
    struct al_mcp_request *next;
    char *id;             /* as the client wrote it */
    char *method;
    char *progress_token; /* likewise; NULL: no progress wanted */
    double progress;      /* the last one sent: each must be greater */
    struct al_mcp_client client; /* of a modern request, its own; else a copy of the peer's */
    char *params;         /* JSON as it came; "" when there were none. For retries of a modern client */
    size_t params_n;
    void *channel;        /* the transport's */
    bool cancelled;       /* by the client: no answer is sent */
    bool told_to_stop;    /* the server ends: cancel was called */
    bool subscribes;      /* resources/subscribe to what was not watched before: a failure takes it out again */
    /* What works on it; called when the client cancels or goes. It still ends by al_mcp_answer or al_mcp_fail. */
    void (*cancel)(void *work);
    void *work;
};

struct al_mcp {
    struct al_core *core;
    struct al_mcp_opts opts;
    struct al_mcp_peer *peers;
    struct al_mcp_stdio *stdio; /* one of the two */
    struct al_mcp_http *http;
    struct al_mcp_relay *relay; /* NULL: --expose upstream was not given */
    struct al_mcp_parked *parked;
    size_t n_open; /* requests of all peers, and what is parked */
    size_t bytes_open;
    size_t n_questions; /* asked and unanswered, and what is parked; without … */
    size_t n_approvals; /* … those that are approvals */
    char state_mark[AL_MCP_STATE_MARK + 1]; /* "" until the first requestState */
    uint64_t last_question;
    uint64_t question_ms; /* AL_MCP_QUESTION_MS, but for tests */
    bool input_ended; /* stdio: the client says nothing more */
    bool stopping, ended_called;
    void (*ended)(void *ud);
    void *ud;
};

/* --- peers and requests (peer.c) --- */
struct al_mcp_peer *al_mcp_peer_new(struct al_mcp *m, const struct al_mcp_peer_ops *ops, void *ud);
/* Cancels its requests, refuses its questions; it is freed when the last request has ended. Nothing is sent any more. */
void al_mcp_peer_close(struct al_mcp_peer *p);
/*
 * One message of the client. channel goes into the request that it makes. Returns what it was, for transports that
 * answer differently: a request (its answer comes by ops->send with last set, now or later), or something else.
 */
enum al_mcp_took {
    AL_MCP_TOOK_REQUEST,
    AL_MCP_TOOK_OTHER,  /* a notification, or an answer to a question */
    AL_MCP_TOOK_BROKEN, /* an error without a request was sent (about NULL, last false) */
};
enum al_mcp_took al_mcp_message(struct al_mcp_peer *p, struct al_str message, void *channel);
void al_mcp_cancel(struct al_mcp_request *r); /* the client wants no answer any more */
/* A new request of the peer, linked; NULL with an error sent (its id is in use, too many are open). */
struct al_mcp_request *al_mcp_request_new(struct al_mcp_peer *p, const struct al_rpc *rpc, void *channel);
struct al_mcp_request *al_mcp_find_request(struct al_mcp_peer *p, struct al_str id);
/* Asks everything that works for a peer to end; answers are still sent. */
void al_mcp_stop_requests(struct al_mcp *m);
/* An error that belongs to no request. */
void al_mcp_send_error(struct al_mcp_peer *p, struct al_str id, int code, struct al_str message);
/* The end of a request, exactly once. result: a JSON object; in the modern era resultType "complete" and the
 * server's _meta are added where they are missing. */
void al_mcp_answer(struct al_mcp_request *r, struct al_str result);
void al_mcp_fail(struct al_mcp_request *r, int code, struct al_str data, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void al_mcp_fail_with(struct al_mcp_request *r, int code, struct al_str message, struct al_str data); /* of any length */
/* A notification about a request, or about none (r NULL). params: JSON, or empty. */
void al_mcp_notify(struct al_mcp_peer *p, struct al_mcp_request *r, const char *method, struct al_str params);
void al_mcp_progress(struct al_mcp_request *r, double value, double total, struct al_str message); /* total NaN: none */
/* How much a message that is sent matters to a client that does not read: what it can do without comes first. */
enum al_mcp_weight {
    AL_MCP_LOSSY,  /* progress and logs */
    AL_MCP_CHANGE, /* other notifications */
    AL_MCP_NEEDED, /* answers and questions */
};
enum al_mcp_weight al_mcp_weight(struct al_str message);
/* notifications/message, where the client's level wants it. data: JSON. */
void al_mcp_log(struct al_mcp_peer *p, struct al_mcp_request *r, enum al_mcp_level level, const char *logger,
                struct al_str data);
enum al_mcp_level al_mcp_level_of(struct al_str name); /* AL_MCP_NO_LOG: no such level */

/*
 * Asks the client about a request: in the older era by a request to it; in the modern era the request is answered
 * "input_required", its work is parked, and goes on under the next request of the client that brings requestState and
 * the answer (ask.c). So *r, held by the work, may be another one when answered is called: current tells. answered comes
 * exactly once, maybe from within al_mcp_ask; failure: why there is no result (the client cannot, refused, did not
 * answer in time, has gone); current is NULL when there is no request to answer any more. In the modern era r is gone
 * with al_mcp_ask, and the work has no request until answered: it asks one question at a time.
 */
struct al_mcp_ask {
    const char *key; /* of inputRequests: "approval" */
    const char *method;
    struct al_str params;
    bool approval;     /* of a call, by the person: never refused for the questions of servers */
    const void *asker; /* the server behind us that asks; NULL: we ourselves */
    void (*answered)(void *ud, struct al_mcp_request *current, const struct al_json *result, const char *failure);
    void *ud;
};
void al_mcp_ask(struct al_mcp_request *r, const struct al_mcp_ask *ask);
/* Whether it can be asked at all. */
bool al_mcp_can_ask(const struct al_mcp_client *client, const char *method, struct al_str params);
/* Asks a client of the older era about no request (roots/list); current is NULL then. */
void al_mcp_ask_peer(struct al_mcp_peer *p, const struct al_mcp_ask *ask);
/* Takes back the one question whose ask.ud this is: the client is told, and answered comes, with why. In the modern era
 * nothing waits for its retry any more. */
void al_mcp_withdraw(struct al_mcp *m, const void *ud, const char *why);
/* An answer of the client, and a retry of it with requestState (true: the request is taken care of). */
void al_mcp_answered(struct al_mcp_peer *p, const struct al_rpc *rpc);
bool al_mcp_resume(struct al_mcp_request *r, const struct al_json *params);
/* Takes the open questions about r (NULL: all of the peer) away from the peer, and ends them; drop does both. */
struct al_mcp_question *al_mcp_take_questions(struct al_mcp_peer *p, const struct al_mcp_request *r);
void al_mcp_end_questions(struct al_mcp_question *questions, bool request_gone, const char *why);
void al_mcp_drop_questions(struct al_mcp_peer *p, const struct al_mcp_request *r, const char *why);
void al_mcp_drop_all_questions(struct al_mcp *m, const char *why);

/* --- approvals (approval.c) --- */
/* Asks the client's user about a call, or about the `uses` of a script. ask->answer comes once; until then request
 * must live. *request is the request to answer: in the modern era it becomes NULL, and then the one that came back. */
void al_mcp_approve(struct al_mcp_request **request, const struct al_ask *ask);

/* --- the client's roots as the workspace (roots.c) --- */
void al_mcp_roots_begin(struct al_mcp_peer *p); /* the client is ready */
void al_mcp_roots_changed(struct al_mcp_peer *p);
void al_mcp_roots_free(struct al_mcp_peer *p);
/* True: the workspace is not known yet, and al_mcp_tools_call_again follows. */
bool al_mcp_roots_wait(struct al_mcp_request *r);
char *al_mcp_root_path(struct al_str uri); /* of a file URI; malloc'ed, NULL: none */

/* --- handlers (message.c has the table) --- */
typedef void al_mcp_handler(struct al_mcp_request *r, const struct al_json *params);
al_mcp_handler al_mcp_initialize, al_mcp_discover, al_mcp_ping, al_mcp_set_level;
al_mcp_handler al_mcp_tools_list, al_mcp_tools_call;
void al_mcp_tools_call_again(struct al_mcp_request *r); /* with the params that it keeps */
al_mcp_handler al_mcp_resources_list, al_mcp_resources_templates, al_mcp_resources_read;
al_mcp_handler al_mcp_resources_subscribe, al_mcp_resources_unsubscribe, al_mcp_listen;
al_mcp_handler al_mcp_complete;

/* Capabilities that we have, as initialize and server/discover tell them; with the relay, those of the servers, too. */
void al_mcp_capabilities(struct al_mcp *m, bool modern, struct al_buf *out);
void al_mcp_put_info(struct al_jw *w); /* our name and version: an Implementation */
void al_mcp_put_caching(struct al_jw *w, const struct al_mcp_request *r); /* ttlMs, cacheScope, in the modern era */
/* An error that says that what the request needs cannot be asked of its client; in the modern era with the code for it.
 * capabilities: JSON of what is missing. */
void al_mcp_fail_capability(struct al_mcp_request *r, struct al_str capabilities, const char *what);
/* To that client (NULL: to any that there may be). Tools of the exposure "approval" are offered where the gate would let
 * them pass, and to a client whose user can be asked. */
bool al_mcp_offers(const struct al_mcp *m, const struct al_tool *tool, const struct al_mcp_client *client);
/* ",{resource_link}" for each artifact that the result of a call names, as long as they take at most room bytes. */
void al_mcp_artifact_links(struct al_mcp *m, const struct al_call *call, size_t room, struct al_buf *out);
/* What is said of a tool that is not offered: where it is instead, or the names that are near. */
void al_mcp_unknown_tool(const struct al_mcp *m, struct al_str name, struct al_buf *out);
/* One of our tools as tools/list shows it. */
void al_mcp_put_tool(struct al_jw *w, struct al_mcp *m, const struct al_tool *tool);
/* Lists: true when the page asked for is the first (else the request has been failed); {member:[items],nextCursor?,…}. */
bool al_mcp_first_page(struct al_mcp_request *r, const struct al_json *params);
void al_mcp_put_list(const struct al_mcp_request *r, struct al_buf *out, const char *member, struct al_str items,
                     struct al_str cursor);
/* Sends a change to every peer that wants to know (older: all; modern: those that listen). method:
 * "notifications/tools/list_changed" and the like; uri: for resources/updated, else empty. */
void al_mcp_changed(struct al_mcp *m, const char *method, struct al_str uri, struct al_str params);

void al_mcp_free_subscriptions(struct al_mcp_peer *p);
void al_mcp_subscribe_failed(struct al_mcp_request *r);
/* Every URI that a client wants to hear about, some twice, until uri returns false; false then. */
bool al_mcp_watched(const struct al_mcp *m, bool (*uri)(void *ud, struct al_str uri), void *ud);
/* No such resource, with the code that the era has for it. */
void al_mcp_fail_resource(struct al_mcp_request *r, struct al_str uri);

/* --- the relay (relay*.c); each returns false when the request is none of its own --- */
struct al_mcp_relay *al_mcp_relay_new(struct al_mcp *m);
void al_mcp_relay_free(struct al_mcp_relay *r);
/* Adds the servers' capabilities to ours: writes members of the object that w has open. */
void al_mcp_relay_capabilities(struct al_mcp_relay *relay, bool modern, struct al_jw *w);
/* Lists: answers with ours (first, on the first page, an array without brackets, may be empty) and theirs. */
void al_mcp_relay_list(struct al_mcp_relay *relay, struct al_mcp_request *r, const struct al_json *params,
                       const char *member, struct al_str ours);
bool al_mcp_relay_tool(struct al_mcp_relay *relay, struct al_mcp_request *r, const struct al_json *params);
/* The input schema of a tool that is called by this name; false: it is not known. */
bool al_mcp_relay_schema(struct al_mcp_relay *relay, struct al_str name, struct al_buf *out);
/* resources/read, subscribe, unsubscribe (whose URI is in, or out of, al_mcp_watched already), prompts/get,
 * completion/complete, and any method that we do not have. */
bool al_mcp_relay_request(struct al_mcp_relay *relay, struct al_mcp_request *r, const struct al_json *params);
/* What al_mcp_watched tells may have changed, by subscriptions/listen, its end, or a client that has gone. */
void al_mcp_relay_watch(struct al_mcp_relay *relay);
void al_mcp_relay_level(struct al_mcp_relay *relay, struct al_str level); /* to servers of the older era */
void al_mcp_relay_roots_changed(struct al_mcp_relay *relay);

/* --- transports --- */
int al_mcp_stdio_start(struct al_mcp *m, struct al_err *err);
void al_mcp_stdio_stop(struct al_mcp *m); /* reads no more */
bool al_mcp_stdio_idle(const struct al_mcp *m); /* all is written, or nobody reads it any more */
void al_mcp_stdio_free(struct al_mcp *m);
int al_mcp_http_start(struct al_mcp *m, struct al_err *err);
void al_mcp_http_stop(struct al_mcp *m); /* takes no more; streams end with what is queued */
void al_mcp_http_free(struct al_mcp *m);
/* Calls ended() when the server is over and nothing runs. */
void al_mcp_check_idle(struct al_mcp *m);

/* --- bounds (bound.c) --- */
/*
 * Writes a JSON value in at most max bytes: long strings and arrays are cut, evenly, until it fits, and a
 * member "truncated" of the outermost object becomes true. Shape and types stay, so that it still fits the
 * tool's schema.
 */
void al_mcp_bound_json(struct al_str json, size_t max, struct al_buf *out);
/* Cuts text to max characters at a line's end, with a visible mark. */
void al_mcp_bound_text(struct al_str text, size_t max, struct al_buf *out);

#endif
