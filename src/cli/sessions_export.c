/* `alisio sessions export`: every durable event, in the form of JSONL, then each message. */
#include "cli/agent_cmd.h"
#include "cli/agent_jsonl.h"
#include "cli/commands.h"
#include "cli/run_text.h"

#include "os/fd.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define LINE_ROOM (96u << 20)

struct export
{
    const char *session;
    struct al_buf line;
    int eno;
};

static bool put(struct export *x)
{
    int r = al_buf_failed(&x->line) ? 0 : al_fd_write_all(STDOUT_FILENO, al_buf_str(&x->line));
    al_buf_clear(&x->line);
    x->eno = r < 0 ? -r : 0;
    return r == 0;
}

static bool on_event(void *ud, const struct al_event_row *row)
{
    struct export *x = ud;
    autobuf struct al_buf shown = AL_BUF_INIT(LINE_ROOM / 2);
    bool readable = al_message_shown(row->data, &shown); /* on one line, whatever the row holds */
    struct al_agent_event e = {.type = row->type,
                               .data = readable ? al_buf_str(&shown) : AL_STR("{\"unreadable\":true}"),
                               .seq = row->seq,
                               .at_ms = row->at_ms,
                               .event_id = row->id,
                               .run_id = row->turn,
                               .session_id = x->session};
    al_jsonl_line(&e, &x->line);
    return put(x);
}

static bool on_message(void *ud, const struct al_message_row *m)
{
    struct export *x = ud;
    autobuf struct al_buf shown = AL_BUF_INIT(LINE_ROOM / 2);
    bool readable = al_message_shown(m->body, &shown);
    struct al_jw w;
    al_jw_init(&w, &x->line);
    al_jw_obj(&w);
    al_jw_kint(&w, "schemaVersion", 1);
    al_jw_kstrz(&w, "runId", m->turn);
    al_jw_kstrz(&w, "sessionId", x->session);
    al_jw_kint(&w, "seq", m->seq);
    al_jw_kstrz(&w, "type", "message");
    al_jw_ktime(&w, "timestamp", m->created_ms);
    al_jw_key(&w, "data");
    al_jw_obj(&w);
    if (m->compacted_by)
        al_jw_kint(&w, "compactedBy", m->compacted_by);
    if (readable)
        al_jw_kraw(&w, "message", al_buf_str(&shown));
    else
        al_jw_kbool(&w, "unreadable", true); /* a row that is broken does not end the export */
    al_jw_end(&w);
    al_jw_end(&w);
    al_buf_addc(&x->line, '\n');
    return put(x);
}

int al_cmd_sessions_export(struct al_app *app, struct al_reply *reply)
{
    struct al_session s = {0};
    struct al_err *err = &reply->err;
    if (al_agent_session_find(app, app->args.pos[0], &s, err) < 0) {
        al_session_fini(&s);
        return -1;
    }
    struct export x = {.session = s.id, .line = AL_BUF_INIT(LINE_ROOM)};
    reply->written = true;
    int r = al_turn_event_each(app->store, s.id, 0, on_event, &x, err);
    if (r == 0 && !x.eno)
        r = al_message_each(app->store, s.id, true, on_message, &x, err);
    if (r == 0 && x.eno && x.eno != EPIPE)
        r = al_fail_errno(err, AL_INTERNAL, x.eno, "standard output cannot be written");
    al_buf_free(&x.line);
    al_session_fini(&s);
    return r;
}
