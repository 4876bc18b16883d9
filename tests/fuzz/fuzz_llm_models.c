/* Lists of models, and what servers tell beside them: however they look, ids that are texts and windows that
 * are counts. */
#include "llm/models_int.h"

#include "base/mem.h"
#include "base/text.h"

static void check(const struct al_llm_found *f)
{
    if (f->n > AL_LLM_MAX_MODELS || strnlen(f->last_id, sizeof(f->last_id)) == sizeof(f->last_id))
        abort();
    for (size_t i = 0; i < f->n; i++) {
        const struct al_llm_model *m = &f->v[i];
        if (!m->id.n || !al_utf8_valid(m->id) || !al_utf8_valid(m->name) || m->window < 0 ||
            m->max_output < 0 || (m->window > 0) != (m->window_from.n > 0))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(64 << 20), strings = AL_ARENA_INIT(64 << 20);
    const struct al_json *v = NULL;
    int64_t most = 0;
    if (al_json_parse(&arena, (struct al_str){(const char *)data, size}, &v, NULL) < 0)
        return 0;
    struct al_llm_found f = {.arena = &strings};
    al_llm_read_list(&f, v);
    check(&f);
    al_llm_read_one(&f, v, "one");
    struct al_llm_model *m = al_llm_found_one(&f, "m");
    if (m)
        al_llm_found_window(m, al_llm_read_props(v), "n_ctx");
    check(&f);
    if (al_llm_read_props(v) < 0 || al_llm_read_lmstudio(v, "m", &most) < 0 || al_llm_read_ps(v, "m") < 0 ||
        al_llm_read_show(v, &most) < 0 || most < 0)
        abort();
    al_llm_found_fini(&f);
    return 0;
}
