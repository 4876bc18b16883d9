#include "config/providers.h"

static const char *const api_names[AL_N_APIS] = {
    [AL_API_CHAT] = "chat",
    [AL_API_RESPONSES] = "responses",
    [AL_API_MESSAGES] = "messages",
};

const char *al_api_name(enum al_api api)
{
    return api_names[api];
}

bool al_api_find(struct al_str name, enum al_api *ret)
{
    for (int i = 0; i < AL_N_APIS; i++)
        if (al_str_is(name, api_names[i])) {
            *ret = (enum al_api)i;
            return true;
        }
    return false;
}
