#include "base/text.h"
#include "core/guide.h"
#include "core/jsrun_int.h"

struct last {
    struct al_buf *out;
    char id[AL_ID_MAX];
    bool found;
};

static void add_member(const char *name, struct al_str text, size_t max_chars, struct al_buf *out)
{
    if (!text.n)
        return;
    al_buf_addf(out, "%s: ", name);
    jscut_text(text, max_chars, out);
    al_buf_addc(out, '\n');
}

static void add_calls(const struct al_json *calls, struct al_buf *out)
{
    unsigned shown = 0;
    if (!calls || calls->n == 0)
        return;
    al_buf_addf(out, "calls: %u\n", calls->n);
    al_json_each(c, calls)
    {
        if (++shown > 20)
            continue;
        struct al_str tool = al_json_get_text(c, "tool"), code = al_json_get_text(c, "code");
        struct al_str status = al_json_get_text(c, "status"), args = al_json_get_text(c, "args");
        al_buf_addf(out, "- %.*s ", AL_FMT(tool));
        jscut_line(args, 60, out);
        al_buf_addf(out, ": %.*s%s%.*s\n", AL_FMT(status), code.n ? " " : "", AL_FMT(code));
    }
    if (shown > 20)
        al_buf_addf(out, "- … %u more\n", shown - 20);
}

static void add_error(const struct al_json *error, struct al_buf *out)
{
    if (!error)
        return;
    struct al_str code = al_json_get_text(error, "code"), message = al_json_get_text(error, "message");
    al_buf_addf(out, "error: %.*s: ", AL_FMT(code));
    jscut_line(message, 300, out);
    al_buf_addc(out, '\n');
    int64_t line;
    if (al_json_int(al_json_get(error, "line"), 1, INT32_MAX, &line))
        al_buf_addf(out, "at line %lld\n", (long long)line);
    add_member("hint", al_json_get_text(error, "hint"), 300, out);
}

static void add_record(const struct al_run *run, struct al_buf *out)
{
    struct al_arena a = AL_ARENA_INIT(64u << 20);
    const struct al_json *v;
    if (run->record && al_json_parse(&a, al_str_of(run->record), &v, NULL) == 0) {
        add_error(al_json_get(v, "error"), out);
        const struct al_json *value = al_json_get(v, "value");
        if (value && value->type != AL_JSON_NULL) {
            al_buf_adds(out, "value: ");
            jscut_json(value->raw, 1000, out);
            al_buf_addc(out, '\n');
        }
        add_member("text", al_json_get_text(v, "text"), 800, out);
        add_member("savedTo", al_json_get_text(v, "savedTo"), 200, out);
        add_calls(al_json_get(v, "calls"), out);
    }
    al_arena_free(&a);
}

static bool each_run(void *ud, const struct al_run *run)
{
    struct last *l = ud;
    bool script = strcmp(run->kind, "js_run") == 0 || strcmp(run->kind, "execute") == 0;
    if (!script || !run->ended_ms)
        return true;
    l->found = true;
    memcpy(l->id, run->id, sizeof l->id);
    al_buf_addf(l->out, "# The last run\n%s, %s", run->id, run->status);
    if (run->started_ms) {
        al_buf_adds(l->out, ", ");
        al_text_duration(l->out,
                         (uint64_t)(run->ended_ms > run->started_ms ? run->ended_ms - run->started_ms : 0));
    }
    al_buf_addc(l->out, '\n');
    if (run->title) {
        al_buf_adds(l->out, "title: ");
        jscut_line(al_str_of(run->title), 200, l->out);
        al_buf_addc(l->out, '\n');
    }
    return false;
}

void guide_write_last(struct al_core *core, struct al_str query, struct al_buf *out)
{
    (void)query;
    struct last l = {.out = out};
    struct al_err err = {0};
    struct al_run_filter filter = {.session = al_core_session(core)->id, .limit = 50};
    if (al_store_run_each(al_core_store(core), &filter, each_run, &l, &err) < 0 || !l.found) {
        al_buf_adds(out, "# The last run\nNo script of this session has ended yet.\n");
        return;
    }
    struct al_run run = {0}; /* lists leave the record out */
    if (al_store_run_get(al_core_store(core), l.id, &run, &err) == 0)
        add_record(&run, out);
    al_run_fini(&run);
    autobuf struct al_buf code = AL_BUF_INIT(AL_SCRIPT_MAX_CODE_BYTES);
    if (al_store_run_code(al_core_store(core), l.id, &code, &err) == 0 && code.n) {
        al_buf_adds(out, "code:\n```js\n");
        jscut_text(al_buf_str(&code), 1200, out);
        al_buf_adds(out, "\n```\n");
    }
}
