/* `alisio models forget`: what was learned about a model of an endpoint is learned anew. */
#include "cli/agent_cmd.h"
#include "cli/app.h"
#include "cli/commands.h"

#include "base/mem.h"
#include "base/text.h"

int al_cmd_models_forget(struct al_app *app, struct al_reply *reply)
{
    struct al_endpoint e = {0};
    autobuf struct al_buf known = AL_BUF_INIT(1u << 20);
    const char *named = app->args.n_pos ? app->args.pos[0] : NULL;
    int r = al_endpoint_find(app, !named, &e, &reply->err);
    if (r == 0)
        r = al_app_store(app, &reply->err);
    const char *model = named ? named : e.model;
    if (r == 0)
        r = al_store_model_facts(app->store, e.provider.base_url, model, &known, &reply->err);
    if (r == 0 && known.n)
        r = al_store_model_facts_set(app->store, e.provider.base_url, model, AL_STR("{}"), &reply->err);
    if (r == 0) {
        struct al_jw w;
        al_text_visible(&reply->text, al_str_of(model), false);
        al_buf_adds(&reply->text, known.n ? ": what was learned is forgotten, and learned anew\n"
                                          : ": nothing was learned about it\n");
        al_jw_init(&w, &reply->structured);
        al_jw_obj(&w);
        al_jw_kstrz(&w, "model", model);
        al_jw_kbool(&w, "forgotten", known.n > 0);
        al_jw_end(&w);
    }
    al_endpoint_close(&e);
    return r;
}
