/* What dashboard_generate is asked, as the process that makes the page takes it. */
#include "tools/dashboard_int.h"

#include "base/text.h"

#include <stdio.h>

#define MANIFEST_ARENA ((size_t)32 << 20)
#define TEXT_SHOWN 60

static int no_dashboard(const struct al_artifact *a, struct al_err *err)
{
    autobuf struct al_buf words = AL_BUF_INIT(4096);
    al_tool_artifact_words(&words, a);
    al_fail(err, AL_INVALID_INPUT, "%.*s was not made by dashboard_generate, so it has no plan to go by",
            AL_FMT(al_buf_str(&words)));
    return al_hint(err,
                   "artifact_list with kind \"dashboard\" has those that there are; or give a plan as spec");
}

/* The plan of an earlier dashboard stands in its provenance, which only alisio writes. */
static int put_like(struct al_call *call, struct al_str id, struct al_jw *w, struct al_err *err)
{
    struct al_artifact a = {0};
    char z[AL_ID_MAX];
    const struct al_json *v = NULL;
    int r = -1;
    if (!al_id_valid(id, "art")) {
        autobuf struct al_buf shown = AL_BUF_INIT(512);
        al_text_visible(&shown, al_utf8_head(id, TEXT_SHOWN), false);
        al_fail(err, AL_NOT_FOUND, "\"%.*s\" is not the id of an artifact", AL_FMT(al_buf_str(&shown)));
        return al_hint(err, "like takes the artifactId of an earlier dashboard_generate, art_…");
    }
    snprintf(z, sizeof z, "%.*s", AL_FMT(id));
    if (al_store_artifact_get(al_core_store(call->core), z, al_workspace_root(al_core_workspace(call->core)),
                              &a, err) < 0)
        return -1;
    autoarena struct al_arena arena = AL_ARENA_INIT(MANIFEST_ARENA);
    if (a.manifest && al_json_parse(&arena, al_str_of(a.manifest), &v, err) == 0) {
        const struct al_json *from = al_json_get(v, "provenance"), *plan = al_json_get(from, "plan");
        if (al_str_is(al_json_get_text(from, "tool"), al_tool_dashboard_generate.name) && plan &&
            plan->type == AL_JSON_OBJECT) {
            al_jw_key(w, "like");
            al_jw_obj(w);
            al_jw_kstrz(w, "id", a.id);
            al_jw_key(w, "plan");
            al_jw_value(w, plan);
            al_jw_end(w);
            r = 0;
        }
    }
    if (r < 0 && (err->code == AL_OK || !a.manifest))
        no_dashboard(&a, err);
    al_artifact_fini(&a);
    return r;
}

static void put_text(struct al_jw *w, const struct al_json *args, const char *key)
{
    struct al_str s = al_json_get_text(args, key);
    if (s.n)
        al_jw_kstr(w, key, s);
}

static void put_value(struct al_jw *w, const struct al_json *args, const char *key)
{
    const struct al_json *v = al_json_get(args, key);
    if (!v)
        return;
    al_jw_key(w, key);
    al_jw_value(w, v);
}

int al_dashboard_request(struct al_call *call, const char *source, struct al_buf *out, struct al_err *err)
{
    const struct al_json *args = call->args, *like = al_json_get(args, "like");
    struct al_jw w;
    if (like && al_json_get(args, "spec")) {
        al_fail(err, AL_TOOL_INPUT_INVALID, "like and spec are two plans; a dashboard has one");
        return al_hint(
            err, "like takes the plan of an earlier dashboard as it is; spec takes one that you changed");
    }
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "source", source);
    put_text(&w, args, "goal");
    put_text(&w, args, "title");
    put_text(&w, args, "locale");
    put_text(&w, args, "sheet");
    put_value(&w, args, "filters");
    put_value(&w, args, "by");
    put_value(&w, args, "spec");
    if (al_json_is_true(al_json_get(args, "noRows")))
        al_jw_kbool(&w, "noRows", true);
    if (al_json_is_true(al_json_get(args, "plan")))
        al_jw_kbool(&w, "planOnly", true);
    if (like && put_like(call, like->str, &w, err) < 0)
        return -1;
    al_jw_end(&w);
    if (!al_buf_failed(out))
        return 0;
    al_fail(err, AL_TOOL_INPUT_INVALID, "the plan and the filters have more than %zu bytes together",
            out->max);
    return al_hint(err, "fewer values in the filters");
}
