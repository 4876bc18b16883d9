/* What was learned about an endpoint's model, as the state keeps it. */
#include "llm/llm_int.h"

#define MAX_TOKENS_KNOWN INT64_C(1000000000)

void al_llm_facts_write(struct al_jw *w, const struct al_llm_facts *f)
{
    al_jw_obj(w);
    al_jw_key(w, "without");
    al_jw_arr(w);
    for (int i = 0; i < AL_LLM_N_FIELDS; i++)
        if (f->without & 1u << i)
            al_jw_strz(w, al_llm_field_name((enum al_llm_field)i));
    al_jw_end(w);
    if (f->wants_reasoning)
        al_jw_kbool(w, "wantsReasoning", true);
    if (f->window)
        al_jw_kint(w, "window", f->window);
    if (f->max_output)
        al_jw_kint(w, "maxOutput", f->max_output);
    al_jw_end(w);
}

void al_llm_facts_read(const struct al_json *v, struct al_llm_facts *ret)
{
    *ret = (struct al_llm_facts){0};
    const struct al_json *without = al_json_get(v, "without");
    al_json_each(name, without && without->type == AL_JSON_ARRAY ? without : NULL)
    {
        for (int i = 0; al_json_is_string(name) && i < AL_LLM_N_FIELDS; i++)
            if (al_str_is(name->str, al_llm_field_name((enum al_llm_field)i)))
                ret->without |= 1u << i;
    }
    ret->wants_reasoning = al_json_is_true(al_json_get(v, "wantsReasoning"));
    if (!al_json_int(al_json_get(v, "window"), AL_LLM_MIN_WINDOW, MAX_TOKENS_KNOWN, &ret->window))
        ret->window = 0;
    if (!al_json_int(al_json_get(v, "maxOutput"), AL_LLM_MIN_WINDOW, MAX_TOKENS_KNOWN, &ret->max_output))
        ret->max_output = 0;
}
