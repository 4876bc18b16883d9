/* A configuration file of any bytes: as the user's, as a project's, as what `config set` and `setup provider`
 * edit, and as the file of credentials. */
#include "config/config.h"
#include "config/providers.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void check_ranges(const struct al_config *c)
{
    must(al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_TIMEOUT_MS) >= 1);
    must(al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_TIMEOUT_MS) <=
         al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_MAX_TIMEOUT_MS));
    must(al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_MAX_CONCURRENCY) <= 16);
    struct al_buf out = AL_BUF_INIT(1 << 20);
    for (int o = 0; o < AL_OPT_COUNT; o++) {
        al_buf_clear(&out);
        al_config_value_json(c, (enum al_opt)o, &out);
        must(!al_buf_failed(&out) && out.n > 0);
    }
    al_buf_free(&out);
}

static void edit(struct al_str text, const char *key, const char *value)
{
    struct al_err err;
    struct al_buf out = AL_BUF_INIT(1 << 21);
    if (al_config_edit(text, al_str_of(key), al_str_of(value), &out, &err) == 0) {
        /* An edit that was accepted once is accepted again and then changes nothing more. */
        struct al_buf again = AL_BUF_INIT(1 << 21);
        must(al_config_edit(al_buf_str(&out), al_str_of(key), al_str_of(value), &again, &err) == 0);
        must(al_str_eq(al_buf_str(&out), al_buf_str(&again)));
        al_buf_free(&again);
    } else {
        must(err.code == AL_CONFIG_INVALID || err.code == AL_INVALID_INPUT);
    }
    al_buf_free(&out);
}

/* What was read is written, and reads back as the same. */
static void providers(struct al_str text)
{
    struct al_providers all = {0}, again = {0};
    struct al_err err;
    if (al_providers_read(text, "the file", &all, &err) < 0)
        must(err.code == AL_CONFIG_INVALID);
    for (size_t i = 0; i < all.n; i++) {
        struct al_buf file = AL_BUF_INIT(1 << 21), out = AL_BUF_INIT(1 << 21);
        must(!al_provider_url_fault(al_str_of(all.v[i].base_url)));
        must(al_providers_edit_put(AL_STR(""), &all.v[i], true, &file, &err) == 0);
        must(al_providers_read(al_buf_str(&file), "the file", &again, &err) == 0 && again.n == 1);
        must(again.v[0].auth == all.v[i].auth && again.v[0].api == all.v[i].api &&
             again.v[0].n_models == all.v[i].n_models);
        (void)!al_providers_edit_put(text, &all.v[i], false, &out, &err);
        al_providers_free(&again);
        al_buf_free(&file);
        al_buf_free(&out);
    }
    al_providers_free(&all);
}

static void credentials(struct al_str text)
{
    struct al_key key;
    struct al_err err;
    if (al_key_read(text, AL_STR("a"), &key, &err) < 0) {
        must(err.code == AL_CONFIG_INVALID && !key.value);
        return;
    }
    for (const char *p = key.value; p && *p; p++)
        must(*p > ' ' && (unsigned char)*p < 0x7f);
    al_key_free(&key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct al_str text = {(const char *)data, size}, none = {NULL, 0};
    struct al_config *c;
    struct al_err err;
    if (al_config_load_bytes(text, none, &c, &err) < 0)
        must(err.code == AL_CONFIG_INVALID);
    check_ranges(c);
    al_config_free(c);
    must(al_config_load_bytes(none, text, &c, &err) == 0);
    must(al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_TIMEOUT_MS) <= 30000);
    must(al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_MEMORY_BYTES) == 32 << 20);
    must(!al_config_text(c, AL_OPT_FORGE_SCRATCH_ROOT));
    check_ranges(c);
    al_config_free(c);
    edit(text, "forge.javascript.timeoutMs", "5");
    edit(text, "files.protect", "a");
    edit(text, "forge.state.enabled", "null");
    providers(text);
    credentials(text);
    return 0;
}
