/*
 * Asking a person, through the client's form, whether a call may happen. The words are ours; what a model or
 * a server wrote is quoted, short, and cannot hide anything. Whatever is no clear yes is a no.
 */
#include "mcp/mcp_int.h"

#include "base/mem.h"
#include "base/text.h"

#define TITLE_CHARS 80
#define TOOLS_CHARS 400
#define CODE_CHARS 1500
#define CODE_LINES 30

struct approval {
    struct al_mcp_request **request; /* the work's: ask.c may bring another one */
    bool offers_session;
    void (*answer)(void *ud, enum al_approval approval);
    void *ud;
};

/* At most max characters, controls made visible; true when something was left out. */
static bool put_visible(struct al_buf *out, struct al_str s, size_t max_chars, bool keep_lines)
{
    struct al_str head = al_utf8_head(s, max_chars);
    al_text_visible(out, head, keep_lines);
    return head.n < s.n;
}

static struct al_str first_lines(struct al_str s)
{
    unsigned lines = 0;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\n' && ++lines == CODE_LINES)
            return (struct al_str){s.p, i};
    return s;
}

/* Each line is set in, so that a line of the code cannot pass for one of ours. */
static void put_code(struct al_buf *out, struct al_str code)
{
    autobuf struct al_buf visible = AL_BUF_INIT(64u << 10);
    struct al_str lines = first_lines(code);
    bool cut = put_visible(&visible, lines, CODE_CHARS, true) || lines.n < code.n;
    struct al_str rest = al_buf_str(&visible);
    while (rest.n) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;
        al_buf_addf(out, "\n    %.*s", (int)n, rest.p);
        rest.p += n + (end != NULL);
        rest.n -= n + (end != NULL);
    }
    if (cut)
        al_buf_addf(out, "\n(not all is shown: it has %zu characters)", al_utf8_count(code));
}

static void put_message(const struct al_ask *ask, bool run, struct al_buf *out)
{
    al_buf_adds(out, run ? "A script wants to use tools that need your approval: "
                         : "A tool that needs your approval is to be called: ");
    if (put_visible(out, ask->tools, TOOLS_CHARS, false))
        al_buf_adds(out, "…");
    al_buf_adds(out, ".\nIt is described as: \"");
    if (put_visible(out, al_str_of(ask->title ? ask->title : ""), TITLE_CHARS, false))
        al_buf_adds(out, "…");
    al_buf_adds(out, run ? "\"\nThe script:" : "\"\nIts arguments:");
    put_code(out, ask->code);
}

/* A plain enum with names beside it: what every version of the protocol knows. No default: nobody says yes by
 * accident. */
static void put_decision(struct al_jw *w, bool session)
{
    al_jw_obj(w);
    al_jw_kstrz(w, "type", "string");
    al_jw_kstrz(w, "title", "Decision");
    al_jw_kraw(w, "enum",
               session ? AL_STR("[\"once\",\"session\",\"deny\"]") : AL_STR("[\"once\",\"deny\"]"));
    al_jw_kraw(w, "enumNames",
               session ? AL_STR("[\"Allow once\",\"Allow for this session\",\"Do not allow\"]")
                       : AL_STR("[\"Allow once\",\"Do not allow\"]"));
    al_jw_end(w);
}

static void put_params(const struct al_mcp_client *client, const struct al_ask *ask, bool run,
                       struct al_buf *out)
{
    autobuf struct al_buf message = AL_BUF_INIT(256u << 10);
    /* Versions are dates: their order is that of their texts. */
    bool newer = strcmp(client->version, "2025-11-25") >= 0;
    struct al_jw w;
    put_message(ask, run, &message);
    al_jw_init(&w, out);
    al_jw_obj(&w);
    if (newer)
        al_jw_kstrz(&w, "mode", "form");
    al_jw_kstr(&w, "message", al_buf_str(&message));
    al_jw_key(&w, "requestedSchema");
    al_jw_obj(&w);
    al_jw_kstrz(&w, "type", "object");
    al_jw_key(&w, "properties");
    al_jw_obj(&w);
    al_jw_key(&w, "decision");
    put_decision(&w, ask->offers_session);
    al_jw_end(&w);
    al_jw_kraw(&w, "required", AL_STR("[\"decision\"]"));
    al_jw_end(&w);
    al_jw_end(&w);
}

static enum al_approval read_decision(const struct approval *a, const struct al_json *result)
{
    struct al_str decision = al_json_get_text(al_json_get(result, "content"), "decision");
    if (!al_str_is(al_json_get_text(result, "action"), "accept"))
        return AL_APPROVAL_DENY;
    if (al_str_is(decision, "once"))
        return AL_APPROVAL_ONCE;
    if (al_str_is(decision, "session") && a->offers_session)
        return AL_APPROVAL_SESSION;
    return AL_APPROVAL_DENY;
}

static void on_answered(void *ud, struct al_mcp_request *current, const struct al_json *result,
                        const char *failure)
{
    struct approval *a = ud;
    enum al_approval decision = failure ? AL_APPROVAL_DENY : read_decision(a, result);
    void (*answer)(void *ud, enum al_approval approval) = a->answer;
    void *answer_ud = a->ud;
    if (current)
        *a->request = current;
    free(a);
    answer(answer_ud, decision);
}

void al_mcp_approve(struct al_mcp_request **request, bool run, const struct al_ask *ask)
{
    struct al_mcp_request *r = *request;
    autobuf struct al_buf params = AL_BUF_INIT(1u << 20);
    struct approval *a = al_xcalloc(1, sizeof *a);
    a->request = request;
    a->offers_session = ask->offers_session;
    a->answer = ask->answer;
    a->ud = ask->ud;
    put_params(&r->client, ask, run, &params);
    struct al_mcp_ask question = {
        .key = "approval",
        .method = "elicitation/create",
        .params = al_buf_str(&params),
        .answered = on_answered,
        .ud = a,
    };
    if (r->client.modern)
        *request = NULL; /* it is answered within, and the work has none until the client comes back */
    al_mcp_ask(r, &question);
}
