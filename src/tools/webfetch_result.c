/* What a model and what a script get of a page. */
#include "tools/webfetch_int.h"

#include "base/ident.h"
#include "base/text.h"

#include <stdio.h>

static const char *extension(const struct al_webfetch *f)
{
    static const char *const of_format[] = {"md", "txt", "html"};
    return of_format[f->format];
}

/* "" when it could not be kept; then why, for the text. */
static void save(struct al_webfetch *f, char *name, size_t n, struct al_err *err)
{
    char id[AL_ID_MAX], rel[80];
    name[0] = 0;
    if (!f->scratch) {
        al_fail(err, AL_NOT_FOUND, "there is no scratchpad");
        return;
    }
    al_id_new(id, "");
    snprintf(rel, sizeof(rel), "webfetch/%s.%s", id, extension(f));
    if (al_scratch_write(f->scratch, rel, al_buf_str(&f->text), err) == 0)
        snprintf(name, n, "scratch:%s", rel);
}

static void write_structured(struct al_webfetch *f, struct al_str text, bool truncated, const char *saved)
{
    struct al_jw w;
    al_jw_init(&w, &f->call->structured);
    al_jw_obj(&w);
    al_jw_kstr(&w, "url", al_json_get_text(f->call->args, "url"));
    al_jw_kstrz(&w, "finalUrl", f->final_url);
    al_jw_kint(&w, "status", f->status);
    al_jw_kstrz(&w, "contentType", f->content_type);
    al_jw_kstr(&w, "text", text);
    al_jw_kbool(&w, "truncated", truncated);
    if (saved[0])
        al_jw_kstrz(&w, "savedTo", saved);
    al_jw_end(&w);
}

static void write_head(struct al_webfetch *f)
{
    struct al_buf *out = &f->call->text;
    al_text_visible(out, al_utf8_cut(al_str_of(f->final_url), 2000), false);
    al_buf_addf(out, " (HTTP %d", f->status);
    if (f->content_type[0]) {
        al_buf_adds(out, ", ");
        al_text_visible(out, al_utf8_cut(al_str_of(f->content_type), 100), false);
    }
    al_buf_adds(out, ", ");
    al_text_bytes(out, f->text.n);
    al_buf_adds(out, f->cut ? ", cut off)\n\n" : ")\n\n");
}

void al_webfetch_result(struct al_webfetch *f)
{
    struct al_str text = al_buf_str(&f->text), head = al_utf8_head(text, AL_WEBFETCH_CHARS);
    struct al_str fits = al_tool_fit_json(text, AL_TOOL_JSON_ROOM);
    bool short_for_model = head.n < text.n && f->call->origin != AL_ORIGIN_SCRIPT;
    char saved[100] = "";
    struct al_err err = {0};
    if (short_for_model || fits.n < text.n)
        save(f, saved, sizeof(saved), &err);
    write_structured(f, fits, f->cut || fits.n < text.n, saved);
    write_head(f);
    struct al_buf *out = &f->call->text;
    al_buf_add_str(out, head);
    if (head.n == text.n)
        return;
    al_buf_addf(out, "\n\n[the first %u of %zu characters; ", AL_WEBFETCH_CHARS, al_utf8_count(text));
    if (saved[0])
        al_buf_addf(out, "all of it: %s]", saved);
    else
        al_buf_addf(out, "the rest is not kept: %s]", err.msg[0] ? err.msg : "a script has it all");
}
