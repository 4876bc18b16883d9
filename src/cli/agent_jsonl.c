#include "cli/agent_jsonl.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define LINE_ROOM (8u << 20)
#define DATA_MAX (256u << 20)

static bool is_terminal(const char *type)
{
    static const char *const types[] = {"run_completed", "run_failed", "run_cancelled", "run_turns_exceeded"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

/* Pieces of what is told whole later, or only of use at once. */
static bool is_ephemeral(const char *type)
{
    return strcmp(type, "text_delta") == 0 || strcmp(type, "reasoning_delta") == 0 ||
           strcmp(type, "tool_progress") == 0;
}

static void envelope(const struct al_agent_event *e, struct al_str data, struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kint(&w, "schemaVersion", 1);
    al_jw_kstrz(&w, "runId", e->run_id && e->run_id[0] ? e->run_id : NULL);
    al_jw_kstrz(&w, "sessionId", e->session_id && e->session_id[0] ? e->session_id : NULL);
    al_jw_kint(&w, "seq", e->seq);
    al_jw_kstrz(&w, "type", e->type);
    char at[AL_TIME_MAX];
    al_time_iso(at, e->at_ms);
    al_jw_kstrz(&w, "timestamp", at);
    if (e->event_id) {
        char id[32];
        snprintf(id, sizeof id, "%lld", (long long)e->event_id);
        al_jw_kstrz(&w, "eventId", id);
    }
    al_jw_kraw(&w, "data", data);
    al_jw_end(&w);
    al_buf_addc(out, '\n');
}

/* The data with each of its texts cut at so many bytes, and larger values left out. */
static void shrink(const struct al_json *data, size_t max, struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_json_each(m, data)
    {
        if (al_str_is(m->key, "truncated"))
            continue;
        al_jw_key_str(&w, al_utf8_cut(m->key, 200));
        if (m->type == AL_JSON_STRING)
            al_jw_str(&w, al_utf8_cut(m->str, max));
        else if (m->raw.n > max)
            al_jw_null(&w);
        else
            al_jw_value(&w, m);
    }
    al_jw_kbool(&w, "truncated", true);
    al_jw_end(&w);
}

void al_jsonl_line(const struct al_agent_event *e, struct al_buf *out)
{
    size_t before = out->n;
    if (e->data.n < AL_JSONL_LINE_MAX - 1024) {
        envelope(e, e->data, out);
        if (!al_buf_failed(out) && out->n - before <= AL_JSONL_LINE_MAX)
            return;
        out->n = before;
    }
    autoarena struct al_arena arena = AL_ARENA_INIT(DATA_MAX);
    const struct al_json *data;
    struct al_err err;
    if (al_json_parse(&arena, e->data, &data, &err) < 0) {
        envelope(e, AL_STR("{\"truncated\":true}"), out);
        return;
    }
    for (size_t max = AL_JSONL_LINE_MAX / 2; max >= 16; max /= 8) {
        autobuf struct al_buf less = AL_BUF_INIT(LINE_ROOM);
        shrink(data, max, &less);
        if (!al_buf_failed(&less) && less.n < AL_JSONL_LINE_MAX - 1024) {
            envelope(e, al_buf_str(&less), out);
            return;
        }
    }
    envelope(e, AL_STR("{\"truncated\":true}"), out);
}

void al_jsonl_init(struct al_jsonl *j, struct al_out *out)
{
    *j = (struct al_jsonl){.out = out};
}

static int64_t wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void al_jsonl_event(struct al_jsonl *j, const struct al_agent_event *e)
{
    autobuf struct al_buf line = AL_BUF_INIT(LINE_ROOM);
    if (j->ended)
        return;
    if (!j->started && strcmp(e->type, "run_started") != 0) {
        struct al_agent_event first = *e;
        first.type = "run_started";
        first.data = AL_STR("{}");
        first.event_id = 0;
        first.seq = j->seq + 1;
        al_jsonl_event(j, &first);
    }
    j->started = true;
    j->ended = is_terminal(e->type);
    j->seq = e->seq;
    if (e->run_id)
        snprintf(j->run_id, sizeof j->run_id, "%s", e->run_id);
    if (e->session_id)
        snprintf(j->session_id, sizeof j->session_id, "%s", e->session_id);
    al_jsonl_line(e, &line);
    al_out_write(j->out, al_buf_str(&line), is_ephemeral(e->type));
}

static void end_data(const struct al_agent_end *end, struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    if (end->outcome == AL_AGENT_COMPLETED)
        al_jw_kstr(&w, "text", end->text);
    if (end->outcome == AL_AGENT_FAILED) {
        al_jw_kstrz(&w, "error", end->err.msg);
        al_jw_kstrz(&w, "code", end->output_truncated ? "output_truncated" : al_code_name(end->err.code));
        al_jw_key(&w, "details");
        al_jw_obj(&w);
        if (end->err.hint[0])
            al_jw_kstrz(&w, "hint", end->err.hint);
        al_jw_end(&w);
    }
    al_jw_end(&w);
}

void al_jsonl_close(struct al_jsonl *j, const struct al_agent_end *end)
{
    static const char *const types[] = {
        [AL_AGENT_COMPLETED] = "run_completed",
        [AL_AGENT_FAILED] = "run_failed",
        [AL_AGENT_CANCELLED] = "run_cancelled",
        [AL_AGENT_TURNS_EXCEEDED] = "run_turns_exceeded",
    };
    if (j->ended)
        return;
    if (!j->run_id[0])
        al_id_new(j->run_id, "run");
    autobuf struct al_buf data = AL_BUF_INIT(DATA_MAX);
    end_data(end, &data);
    char run[AL_ID_MAX], session[AL_ID_MAX];
    memcpy(run, j->run_id, sizeof run);
    memcpy(session, j->session_id, sizeof session);
    struct al_agent_event e = {.type = types[end->outcome],
                               .data = al_buf_str(&data),
                               .seq = j->seq + (j->started ? 1 : 2),
                               .at_ms = wall_ms(),
                               .run_id = run,
                               .session_id = session};
    al_jsonl_event(j, &e);
}
