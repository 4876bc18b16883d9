/* A Python run in the journal: its row, what it prints while it runs, its end. */
#include "tools/python_int.h"

#include "base/text.h"

#define MAX_EVENTS_WAITING (1u << 20)

static void engine_json(const struct python_run *r, struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "name", "python");
    if (r->chosen) {
        al_jw_kstrz(&w, "version", r->probe.python);
        al_jw_kstrz(&w, "backend", al_py_backend_name(r->backend));
        al_jw_kstrz(&w, "isolation", al_py_isolation_name(r->probe.isolation));
        al_jw_kstrz(&w, "reason", r->reason);
    }
    al_jw_end(&w);
}

int python_journal_begin(struct python_run *r, struct al_err *err)
{
    struct al_store *store = al_core_store(r->core);
    autobuf struct al_buf engine = AL_BUF_INIT(16384), limits = AL_BUF_INIT(8192);
    engine_json(r, &engine);
    python_limits_json(r, &limits);
    al_buf_addc(&engine, '\0');
    al_buf_addc(&limits, '\0');
    struct al_run row = {
        .host_id = (char *)al_store_host_id(store),
        .kind = (char *)"python_run",
        .title = (char *)r->title,
        .source = (char *)al_core_source(r->core),
        .code_sha256 = r->sha256,
        .engine = engine.p,
        .limits = limits.p,
        .status = (char *)"queued",
        .created_ms = r->created_ms,
    };
    memcpy(row.id, r->id, sizeof(row.id));
    memcpy(row.session, al_core_session(r->core)->id, sizeof(row.session));
    al_runlog_init(&r->log, al_core_loop(r->core), store, r->id, MAX_EVENTS_WAITING);
    if (al_store_run_begin(store, &row, r->call->code, err) < 0)
        return -1;
    r->began = true;
    return 0;
}

/* --- what it prints --- */

/* Bytes of a character that a read has cut in half: at most 3, at the end of s. */
static unsigned torn(struct al_str s)
{
    for (unsigned n = 1; n <= 3 && n <= s.n; n++) {
        unsigned char c = (unsigned char)s.p[s.n - n];
        if ((c & 0xc0) == 0x80)
            continue;
        unsigned wants = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
        return wants > n ? n : 0;
    }
    return 0;
}

/* Followers read what came so far; a script that says more than this is read from its log. */
static bool room_for(struct python_run *r, size_t n)
{
    static const char full[] = "… more is in the log files of the job\n";
    if (r->n_events > PYTHON_MAX_EVENTS)
        return false;
    r->n_events += n;
    if (r->n_events <= PYTHON_MAX_EVENTS)
        return true;
    al_runlog_print(&r->log, (struct al_str){full, sizeof(full) - 1});
    return false;
}

void python_journal_output(struct python_run *r, bool is_error, struct al_str bytes)
{
    struct python_stream *s = &r->streams[is_error];
    if (!room_for(r, bytes.n))
        return;
    autobuf struct al_buf whole = AL_BUF_INIT(PYTHON_MAX_EVENTS + 8),
                          clean = AL_BUF_INIT(4 * PYTHON_MAX_EVENTS);
    al_buf_add(&whole, s->carry, s->n);
    al_buf_add_str(&whole, bytes);
    struct al_str text = al_buf_str(&whole);
    s->n = torn(text);
    text.n -= s->n;
    memcpy(s->carry, text.p + text.n, s->n);
    al_utf8_clean(&clean, text);
    if (clean.n)
        al_runlog_print(&r->log, al_buf_str(&clean));
}

void python_journal_end(struct python_run *r)
{
    if (!r->began)
        return;
    al_buf_addc(&r->call->structured, '\0');
    bool fits = !al_buf_failed(&r->call->structured);
    struct al_run row = {
        .status = (char *)python_status(r),
        .error_code = r->err.code ? (char *)al_code_name(r->err.code) : NULL,
        .error_msg = r->err.code ? r->err.msg : NULL,
        .record = fits ? r->call->structured.p : NULL,
        .started_ms = r->ran ? r->started_ms : 0,
        .ended_ms = al_wall_ms(),
        .text_bytes = (int64_t)(r->out_bytes + r->errors_bytes),
        .cpu_ms = (int64_t)r->cpu_ms,
        .heap_peak_bytes = (int64_t)r->peak_bytes,
    };
    memcpy(row.id, r->id, sizeof(row.id));
    al_runlog_end(&r->log, &row);
    if (fits)
        r->call->structured.n--;
}
