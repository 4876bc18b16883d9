/* What the files of providers share. */
#ifndef AL_CONFIG_PROVIDERS_INT_H
#define AL_CONFIG_PROVIDERS_INT_H

#include "config/providers.h"

#define AL_PROVIDER_MAX_HEADERS 64
#define AL_PROVIDER_MAX_TEXT 200   /* bytes of a model's id and of other short texts */
#define AL_PROVIDER_MAX_URL 2048
#define AL_PROVIDER_MAX_HEADER 4096 /* bytes of one header's value */

/* The object "providers" of our own file: strict. *ret_at is then the member that is wrong, ret_what the words. */
int al_providers_read_ours(const struct al_json *providers, const char *origin, struct al_providers *add_to,
                           const struct al_json **ret_at, struct al_buf *ret_what) AL_MUST_CHECK;
/* An entry of that name before anything is said of it. */
void al_provider_init(struct al_provider *p, struct al_str name, const char *origin);

#endif
