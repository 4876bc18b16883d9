/* `alisio mcp doctor`: every server is started, and what is wrong with it is said with the way to mend it. */
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/mcp_common.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define TAIL_LINES 5

struct doctor {
    struct al_app *app;
    struct al_reply *reply;
    struct al_jw w;
    size_t n, failed;
    struct al_buf names; /* of those that failed */
};

/* The last lines of a server's standard error. */
static struct al_str tail(struct al_str s)
{
    s = al_str_trim(s);
    size_t at = s.n;
    for (unsigned lines = 0; at > 0; at--)
        if (s.p[at - 1] == '\n' && ++lines == TAIL_LINES)
            break;
    return (struct al_str){s.p + at, s.n - at};
}

/* "TypeError: …", "Error [CODE]: …" at the beginning of a line. */
static bool names_error(struct al_str line)
{
    size_t n = 0;
    while (n < line.n && ((line.p[n] >= 'A' && line.p[n] <= 'Z') || (line.p[n] >= 'a' && line.p[n] <= 'z')))
        n++;
    return al_str_ends((struct al_str){line.p, n}, "Error") && n < line.n &&
           (line.p[n] == ':' || line.p[n] == ' ');
}

/* The last line before the tail that names an error: behind it often stands where it happened, at length. */
static struct al_str error_line(struct al_str s)
{
    struct al_str last = {0};
    s = al_str_trim(s);
    s.n -= tail(s).n;
    while (s.n) {
        const char *end = memchr(s.p, '\n', s.n);
        size_t n = end ? (size_t)(end - s.p) : s.n;
        if (names_error((struct al_str){s.p, n}))
            last = (struct al_str){s.p, n};
        n += end != NULL;
        s = (struct al_str){s.p + n, s.n - n};
    }
    return last;
}

static void indented(struct al_buf *out, const char *head, struct al_str text)
{
    while (text.n) {
        const char *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) : text.n;
        al_buf_addf(out, "      %-8s ", head);
        al_text_visible(out, al_utf8_cut(al_str_trim((struct al_str){text.p, n}), 400), false);
        al_buf_addc(out, '\n');
        n += end != NULL;
        text = (struct al_str){text.p + n, text.n - n};
        head = "";
    }
}

static const char *mend(const struct al_err *err)
{
    if (err->hint[0] && !strstr(err->hint, "mcp doctor"))
        return err->hint;
    switch (err->code) {
    case AL_AUTH_REQUIRED:
        return "give it a token: \"headers\": {\"Authorization\": \"Bearer ${TOKEN}\"}";
    case AL_CONFIG_INVALID:
        return "mend its entry in mcp.servers";
    case AL_TOOL_TIMEOUT:
    case AL_TIMEOUT:
        return "raise its startTimeoutMs in mcp.servers, when it is only slow";
    default:
        return "start its command by hand, and see what it says";
    }
}

static void json_health(struct al_jw *w, const struct al_upstream *s, const struct al_upstream_health *h)
{
    struct al_str error = error_line(al_upstream_log(s));
    if (error.n)
        al_jw_kstr(w, "errorLine", error);
    al_jw_kstr(w, "stderr", tail(al_upstream_log(s)));
    al_jw_kint(w, "noiseLines", (int64_t)h->n_noise);
    al_jw_key(w, "noise");
    al_jw_arr(w);
    for (size_t i = 0; i < h->n_noise_lines; i++)
        al_jw_strz(w, h->noise[i]);
    al_jw_end(w);
    al_jw_kint(w, "strayAnswers", (int64_t)h->n_late);
    al_jw_kstrz(w, "warning", h->warning);
}

static void say_health(struct al_buf *out, const struct al_upstream *s, const struct al_upstream_health *h)
{
    if (h->warning)
        indented(out, "note", al_str_of(h->warning));
    if (h->n_noise) {
        al_buf_addf(out, "      noise    %llu line%s on its standard output that %s no message:\n",
                    (unsigned long long)h->n_noise, h->n_noise == 1 ? "" : "s",
                    h->n_noise == 1 ? "is" : "are");
        for (size_t i = 0; i < h->n_noise_lines && i < TAIL_LINES; i++)
            indented(out, "", al_str_of(h->noise[i]));
    }
    if (h->n_late)
        al_buf_addf(out, "      note     %llu answers that nobody waited for\n",
                    (unsigned long long)h->n_late);
    indented(out, "stderr", error_line(al_upstream_log(s)));
    indented(out, "stderr", tail(al_upstream_log(s)));
}

static void say_import(struct doctor *d, const struct al_server *s)
{
    enum al_import_state state = al_import_state(s);
    if (state == AL_IMPORT_CHANGED || state == AL_IMPORT_GONE) {
        struct al_buf *out = &d->reply->text;
        al_buf_adds(out, "      note     its entry in ");
        al_say_plain(out, s->imported_file);
        al_buf_adds(out, state == AL_IMPORT_CHANGED
                             ? " has changed since; `alisio mcp import` copies it anew\n"
                             : " is no longer there\n");
    }
    if (state != AL_IMPORT_NONE)
        al_jw_kstrz(&d->w, "imported",
                    state == AL_IMPORT_SAME      ? "same"
                    : state == AL_IMPORT_CHANGED ? "changed"
                                                 : "gone");
}

static void report(struct doctor *d, const struct al_fetch *f)
{
    const struct al_server *s = al_upstream_config(f->s);
    struct al_buf *out = &d->reply->text;
    struct al_tool_counts c = {0};
    struct al_upstream_health h;
    struct al_err err;
    bool ok = f->err.code == AL_OK, off = s->disabled, color = d->app->color;
    const char *mark = off ? "off" : ok ? "ok" : "bad";
    enum al_style style = off ? AL_DIM : ok ? AL_GOOD : AL_BAD;
    al_upstream_health(f->s, &h);
    al_buf_addf(out, "%s%-4s%s  ", al_style_on(color, style), mark, al_style_off(color, style));
    al_say_plain(out, s->name);
    al_buf_addf(out, "  %s", s->http ? "http" : "stdio");
    al_jw_obj(&d->w);
    al_json_server(&d->w, s);
    al_jw_kbool(&d->w, "ok", ok);
    if (ok && al_count_tools(d->app, s, &c, NULL, &err) == 0) {
        al_buf_addf(out, ", protocol %s, ready in %llu ms, %zu tool%s in %llu ms\n",
                    al_upstream_protocol(f->s), (unsigned long long)f->ready_ms, c.tools,
                    c.tools == 1 ? "" : "s", (unsigned long long)f->done_ms);
        al_jw_kstrz(&d->w, "protocol", al_upstream_protocol(f->s));
        al_jw_kint(&d->w, "readyMs", (int64_t)f->ready_ms);
        al_jw_kint(&d->w, "toolsMs", (int64_t)f->done_ms);
        al_jw_kint(&d->w, "tools", (int64_t)c.tools);
        al_jw_kint(&d->w, "changed", (int64_t)c.changed);
        if (c.changed) {
            al_buf_addf(out, "      note     %zu changed since they were used: `alisio mcp review ",
                        c.changed);
            al_say_quoted(out, s->name);
            al_buf_adds(out, "`\n");
        }
    } else if (off) {
        al_buf_adds(out, ", switched off\n");
    } else {
        al_buf_addf(out, "\n      %s: ", al_code_name(f->err.code));
        al_say_plain(out, f->err.msg);
        al_buf_addc(out, '\n');
        if (!s->http) {
            al_buf_adds(out, "      ran      ");
            al_say_command(s, out);
        }
        indented(out, "mend", al_str_of(mend(&f->err)));
        al_jw_key(&d->w, "error");
        al_jw_obj(&d->w);
        al_jw_kstrz(&d->w, "code", al_code_name(f->err.code));
        al_jw_kstrz(&d->w, "message", f->err.msg);
        al_jw_kstrz(&d->w, "hint", mend(&f->err));
        al_jw_end(&d->w);
        al_buf_adds(&d->names, d->failed++ ? ", " : "");
        al_say_plain(&d->names, s->name);
    }
    if (!off) {
        say_health(out, f->s, &h);
        json_health(&d->w, f->s, &h);
    }
    say_import(d, s);
    al_jw_end(&d->w);
}

int al_cmd_mcp_doctor(struct al_app *app, struct al_reply *reply)
{
    const char *only = app->args.n_pos ? app->args.pos[0] : NULL;
    struct doctor d = {.app = app, .reply = reply, .names = AL_BUF_INIT(16 << 10)};
    if (al_app_core(app, "cli", &reply->err) < 0 || (only && !al_mcp_server(app, only, &reply->err)))
        return -1;
    size_t all = app->upstreams ? al_upstreams_n(app->upstreams) : 0;
    autofree struct al_fetch *v = al_xcalloc(all + 1, sizeof *v);
    for (size_t i = 0; i < all; i++) {
        struct al_upstream *u = al_upstreams_at(app->upstreams, i);
        if (!only || strcmp(al_upstream_config(u)->name, only) == 0)
            v[d.n++].s = u;
    }
    if (al_fetch_all(app, v, d.n, true, &reply->err) < 0)
        return -1;
    al_jw_init(&d.w, &reply->structured);
    al_jw_obj(&d.w);
    al_jw_key(&d.w, "servers");
    al_jw_arr(&d.w);
    for (size_t i = 0; i < d.n; i++)
        report(&d, &v[i]);
    al_jw_end(&d.w);
    al_jw_kint(&d.w, "failed", (int64_t)d.failed);
    al_jw_end(&d.w);
    if (d.n == 0)
        al_say_no_server(&reply->text);
    if (d.failed) {
        al_fail(&reply->err, AL_UPSTREAM_UNAVAILABLE, "%zu of %zu server%s %s not work: %.*s", d.failed, d.n,
                d.n == 1 ? "" : "s", d.failed == 1 ? "does" : "do", (int)(d.names.n > 500 ? 500 : d.names.n),
                al_buf_str(&d.names).p);
        al_hint(&reply->err, "each says above how to mend it");
    }
    al_buf_free(&d.names);
    return d.failed ? -1 : 0;
}
