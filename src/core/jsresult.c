/* What a run says at its end: the text for a model, bounded, and nothing that was said is lost. */
#include "base/text.h"
#include "core/jsrun.h"
#include "core/jsrun_int.h"

#include <stdio.h>

#define NOTICE_CHARS 150u /* kept free for what the last line says about cuts */
#define TERSE_BELOW 1000u

const char *jsrun_status(const struct jsrun *r)
{
    switch (r->err.code) {
    case AL_OK:
        return "completed";
    case AL_CANCELLED:
        /* Of an uncaught error of a nested call the run itself is not cancelled. */
        return r->cancelled ? "cancelled" : "failed";
    case AL_TIMEOUT:
        return r->duration_ms >= r->limits.timeout_ms ? "timed_out" : "failed";
    case AL_INTERRUPTED:
        return "interrupted";
    default:
        return "failed";
    }
}

void jsresult_value(const struct jsrun *r, struct al_buf *out)
{
    struct al_str value = r->value.n ? al_buf_str(&r->value) : AL_STR("null");
    if (value.p[0] != '"' || value.n == 2) {
        al_buf_add_str(out, value);
        return;
    }
    struct al_arena a = AL_ARENA_INIT(2 * JSRUN_MAX_VALUE);
    const struct al_json *v;
    if (al_json_parse(&a, value, &v, NULL) == 0)
        al_buf_add_str(out, v->str);
    else
        al_buf_add_str(out, value);
    al_arena_free(&a);
}

/* --- the last line --- */

static bool counts(const struct jsrun_call *c, enum al_effect effect)
{
    return c->effect == effect && !c->refused;
}

/* "2 external (github.create_issue, webfetch)" */
static void add_effect(const struct jsrun *r, enum al_effect effect, bool terse, struct al_buf *out)
{
    size_t n = 0, names = 0, more = 0;
    autobuf struct al_buf list = AL_BUF_INIT(1024);
    for (size_t i = 0; i < r->n_calls; i++) {
        const struct jsrun_call *c = r->calls[i];
        if (!counts(c, effect))
            continue;
        n++;
        bool seen = false;
        for (size_t k = 0; k < i; k++)
            seen |= counts(r->calls[k], effect) && strcmp(r->calls[k]->tool, c->tool) == 0;
        if (seen)
            continue;
        if (names == 3)
            more++;
        else
            al_buf_addf(&list, "%s%s", names++ ? ", " : "", c->tool);
    }
    al_buf_addf(out, "%zu %s", n, al_effect_name(effect));
    if (!n || terse)
        return;
    al_buf_addf(out, " (%.*s", AL_FMT(al_buf_str(&list)));
    if (more)
        al_buf_addf(out, ", %zu more", more);
    al_buf_addc(out, ')');
}

static void add_effects(const struct jsrun *r, bool terse, struct al_buf *out)
{
    al_buf_adds(out, "; effects: ");
    add_effect(r, AL_EFFECT_EXTERNAL, terse, out);
    al_buf_adds(out, ", ");
    add_effect(r, AL_EFFECT_WRITE, terse, out);
    bool process = false;
    for (size_t i = 0; i < r->n_calls; i++)
        process |= counts(r->calls[i], AL_EFFECT_PROCESS);
    if (process) {
        al_buf_adds(out, ", ");
        add_effect(r, AL_EFFECT_PROCESS, terse, out);
    }
}

static void add_cuts(const struct jsrun *r, struct al_buf *out)
{
    if (!r->cut_value && !r->cut_text)
        return;
    al_buf_addf(out, "; %s cut",
                r->cut_value && r->cut_text ? "value and text"
                : r->cut_value              ? "value"
                                            : "text");
    if (r->saved_value || r->saved_text) {
        al_buf_adds(out, ", whole:");
        if (r->saved_value)
            al_buf_addf(out, " scratch:%s", r->saved_value);
        if (r->saved_text)
            al_buf_addf(out, " scratch:%s", r->saved_text);
    } else if (r->save_err.code) {
        autobuf struct al_buf why = AL_BUF_INIT(1024);
        jscut_line(al_str_of(r->save_err.msg), 80, &why);
        al_buf_addf(out, ", not saved: %.*s", AL_FMT(al_buf_str(&why)));
    }
}

/* [3 calls (1 failed), 45 ms; a note; value cut, whole: scratch:out/….json; effects: 0 external, 0 write] */
static void add_last_line(const struct jsrun *r, bool terse, bool cuts, struct al_buf *out)
{
    size_t failed = 0;
    for (size_t i = 0; i < r->n_calls; i++)
        failed += r->calls[i]->code != AL_OK;
    al_buf_addf(out, "[%zu call%s", r->n_calls, r->n_calls == 1 ? "" : "s");
    if (failed)
        al_buf_addf(out, " (%zu failed)", failed);
    if (r->n_beyond)
        al_buf_addf(out, " and %zu beyond the limit", r->n_beyond);
    al_buf_adds(out, ", ");
    al_text_duration(out, r->duration_ms);
    for (size_t i = 0; !terse && i < r->n_notes; i++)
        al_buf_addf(out, "; %s", r->notes[i]);
    if (cuts)
        add_cuts(r, out);
    add_effects(r, terse, out);
    al_buf_addc(out, ']');
}

/* --- the whole --- */

/* The script's own line, where the engine has named one: what a model must mend. */
static void add_source_line(const struct jsrun *r, struct al_buf *out)
{
    struct al_str rest = r->code;
    for (int line = 1; line < r->line && rest.n; line++) {
        const char *nl = memchr(rest.p, '\n', rest.n);
        size_t skip = nl ? (size_t)(nl - rest.p) + 1 : rest.n;
        rest.p += skip;
        rest.n -= skip;
    }
    const char *nl = rest.n ? memchr(rest.p, '\n', rest.n) : NULL;
    struct al_str text = al_str_trim((struct al_str){rest.p, nl ? (size_t)(nl - rest.p) : rest.n});
    if (text.n == 0)
        return;
    al_buf_adds(out, ": ");
    jscut_line(text, 160, out);
}

static void add_error(const struct jsrun *r, size_t max_chars, struct al_buf *out)
{
    if (!r->err.code)
        return;
    autobuf struct al_buf all = AL_BUF_INIT(256u << 10);
    al_buf_addf(&all, "%s: ", al_code_name(r->err.code));
    jscut_text(al_buf_str(&r->message), 1000, &all);
    /* Of code that does not compile the message says it all. */
    if (r->line > 0 && r->err.code != AL_SYNTAX_ERROR) {
        al_buf_addf(&all, "\nat line %d", r->line);
        if (r->column > 0)
            al_buf_addf(&all, ", column %d", r->column);
        add_source_line(r, &all);
    }
    if (r->err.hint[0])
        al_buf_addf(&all, "\nhint: %s", r->err.hint);
    if (al_utf8_count(al_buf_str(&all)) > max_chars) {
        al_buf_add_str(out, al_utf8_head(al_buf_str(&all), max_chars - 1));
        al_buf_adds(out, "…");
    } else {
        al_buf_add_str(out, al_buf_str(&all));
    }
    al_buf_addc(out, '\n');
}

/* How many characters value and text may have of those that are left: each at least half when both are long.
 */
static void share(size_t room, size_t value, size_t text, size_t *ret_value, size_t *ret_text)
{
    size_t half = room / 2;
    if (value <= half)
        *ret_value = value;
    else
        *ret_value = text <= half ? room - text : half;
    if (*ret_value > value)
        *ret_value = value;
    *ret_text = room - *ret_value;
}

static void add_value(struct jsrun *r, struct al_str value, size_t max_chars, struct al_buf *out)
{
    bool string = r->value.n && r->value.p[0] == '"';
    bool cut = string ? jscut_text(value, max_chars, out) : jscut_json(value, max_chars, out);
    r->cut_value |= cut;
    al_buf_addc(out, '\n');
}

static void add_cut(struct jsrun *r, struct al_str value, struct al_str text, struct al_buf *out)
{
    size_t max = r->limits.max_output_chars, from = out->n;
    bool terse = max < TERSE_BELOW;
    autobuf struct al_buf last = AL_BUF_INIT(8192);
    add_last_line(r, terse, false, &last);
    add_error(r, max / 3, out);
    size_t used = al_utf8_count((struct al_str){out->p + from, out->n - from}) +
                  al_utf8_count(al_buf_str(&last)) + NOTICE_CHARS + 2;
    size_t room = used < max ? max - used : 0, for_value, for_text;
    share(room, al_utf8_count(value), al_utf8_count(text), &for_value, &for_text);
    if (value.n)
        add_value(r, value, for_value, out);
    if (text.n) {
        bool cut = jscut_text(text, for_text, out);
        r->cut_text |= cut;
        al_buf_addc(out, '\n');
    }
    add_last_line(r, terse, true, out);
}

/* Whatever the parts came to: never more characters than allowed. */
static void enforce(struct al_buf *out, size_t from, size_t max)
{
    struct al_str text = {out->p + from, out->n - from};
    out->n = from + al_utf8_head(text, max).n;
}

void jsresult_text(struct jsrun *r, struct al_buf *out)
{
    size_t max = r->limits.max_output_chars, from = out->n;
    autobuf struct al_buf value = AL_BUF_INIT(2 * JSRUN_MAX_VALUE), whole = AL_BUF_INIT(2 * JSRUN_MAX_VALUE);
    if (r->value.n || !r->err.code)
        jsresult_value(r, &value);
    struct al_str text = al_buf_str(&r->text), shown = al_buf_str(&value);
    if (text.n)
        text.n--; /* the last line's end */
    autobuf struct al_buf plain_value = AL_BUF_INIT(2 * JSRUN_MAX_VALUE),
                          plain_text = AL_BUF_INIT(2 * JSRUN_MAX_TEXT);
    bool hid_value = al_jsrun_hide_base64(shown, &plain_value),
         hid_text = al_jsrun_hide_base64(text, &plain_text);
    shown = hid_value ? al_buf_str(&plain_value) : shown;
    text = hid_text ? al_buf_str(&plain_text) : text;
    r->cut_value = hid_value;
    r->cut_text = hid_text;
    add_error(r, max / 2, &whole);
    al_buf_add_str(&whole, shown);
    if (shown.n)
        al_buf_addc(&whole, '\n');
    if (text.n) {
        al_buf_add_str(&whole, text);
        al_buf_addc(&whole, '\n');
    }
    add_last_line(r, max < TERSE_BELOW, true, &whole);
    if (!al_buf_failed(&whole) && al_utf8_count(al_buf_str(&whole)) <= max) {
        al_buf_add_str(out, al_buf_str(&whole));
        return;
    }
    add_cut(r, shown, text, out);
    enforce(out, from, max);
}
