/*
 * Model endpoints as people configure them: the object "providers" of the user's config.json (never of a project's file),
 * and what is known beforehand of the common ones (ollama, llamacpp, vllm, lmstudio, openrouter, openai, anthropic,
 * deepseek): an entry of such a name needs to say only what differs. Reading starts nothing and reads no key.
 */
#ifndef AL_CONFIG_PROVIDERS_H
#define AL_CONFIG_PROVIDERS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

#include <stdint.h>

enum al_api {
    AL_API_CHAT,      /* Chat Completions: POST {base}/chat/completions */
    AL_API_RESPONSES, /* POST {base}/responses */
    AL_API_MESSAGES,  /* POST {base}/v1/messages */
};
#define AL_N_APIS 3
const char *al_api_name(enum al_api api); /* "chat", "responses", "messages" */
bool al_api_find(struct al_str name, enum al_api *ret);

enum al_auth {
    AL_AUTH_DEFAULT, /* bearer; of AL_API_MESSAGES x-api-key */
    AL_AUTH_BEARER,
    AL_AUTH_X_API_KEY,
    AL_AUTH_NONE, /* no key is looked for */
};

/* Micro-dollars for a million tokens: 3 dollars are 3,000,000. -1: not configured. */
struct al_price {
    int64_t input, cached_input, cache_write, output;
};
#define AL_PRICE_NONE ((struct al_price){-1, -1, -1, -1})

/* What the person says of one model of a provider. */
struct al_model_entry {
    char *id;
    int64_t context_window;    /* tokens; 0: not said */
    int64_t max_output_tokens; /* 0: not said */
    struct al_price price;
};

#define AL_PROVIDER_NAME_MAX 64
#define AL_PROVIDERS_MAX 64
#define AL_PROVIDER_MODELS_MAX 256

struct al_provider {
    char *name;
    enum al_api api;
    char *base_url;  /* without a slash at its end; without user info (refused) */
    char *model;     /* the one that is used when none is named; NULL */
    char *key_env;   /* variable with the key; NULL: none is known by name */
    enum al_auth auth;
    bool insecure;   /* a key may go over http:// to a host that is not private */
    char *anthropic_version;
    char **headers;  /* further "Name: value", NULL-terminated; may be NULL; never Authorization, x-api-key */
    uint64_t first_byte_ms; /* 0: the default (300 s, none on loopback and private addresses) */
    uint64_t idle_ms;       /* 0: the default (120 s) */
    int64_t context_window, max_output_tokens; /* of all its models; 0: not said */
    char *reasoning_effort; /* NULL: not sent */
    int64_t temperature;    /* hundredths; -1: not sent */
    struct al_model_entry *models;
    size_t n_models;
    bool preset;     /* known beforehand, and not in the file */
    char *origin;    /* what named it, for people: "the user config file", "--base-url", "built in" */
};

struct al_providers {
    struct al_provider *v;
    size_t n;
};

void al_provider_fini(struct al_provider *p);
void al_providers_free(struct al_providers *p);
/* {"providers":{…}} of our config.json, strict: CONFIG_INVALID with file, line and the nearest key. */
int al_providers_read(struct al_str text, const char *origin, struct al_providers *add_to, struct al_err *err) AL_MUST_CHECK;
const struct al_provider *al_providers_find(const struct al_providers *p, struct al_str name);
/* A copy of what is known beforehand under that name, with its defaults; false: nothing is. */
bool al_provider_preset(struct al_str name, struct al_provider *ret);
size_t al_provider_n_presets(void);
const char *al_provider_preset_at(size_t i);
/* A copy that the caller owns. */
void al_provider_copy(struct al_provider *to, const struct al_provider *from);
/* What is wrong with a base URL, a provider's name, as it follows their name in a sentence: "must begin with …"; NULL: nothing. */
const char *al_provider_url_fault(struct al_str url);
const char *al_provider_name_fault(struct al_str name);
bool al_provider_env_name(struct al_str s); /* whether a variable may be called so */
void al_provider_set_url(struct al_provider *p, struct al_str url); /* without the slashes at its end */
/* The price of a model, by its id; AL_PRICE_NONE. */
struct al_price al_provider_price(const struct al_provider *p, const char *model);
const struct al_model_entry *al_provider_model(const struct al_provider *p, const char *model); /* NULL: nothing is said */
/* An entry as it stands in our config.json: an object, with what differs from the preset of its name. */
void al_provider_write(struct al_jw *w, const struct al_provider *p);
/* Edit of our config.json, as bytes: adds or replaces the entry, what else is in it stays as it is. default_one: "provider"
 * names it from now on. */
int al_providers_edit_put(struct al_str old, const struct al_provider *p, bool default_one, struct al_buf *out,
                          struct al_err *err) AL_MUST_CHECK;
/* The same for one member, "providers.NAME.contextWindow": a number, true, false, null (takes it out), else a string.
 * INVALID_INPUT with the words of what is wrong. */
int al_providers_edit_set(struct al_str old, struct al_str key, struct al_str value, struct al_buf *out,
                          struct al_err *err) AL_MUST_CHECK;

/* --- keys --- */
#define AL_KEY_MAX 4096
/* Takes the values of the variables that hold keys (of all presets, of p, may be NULL, and of key_env, may be NULL) out of
 * the environment of this process, over its bytes: no child has them, nor /proc. al_key_variable still knows them. To be
 * called while there is one thread. */
void al_keys_hide(const struct al_providers *p, const char *key_env);
const char *al_key_variable(const char *name); /* as getenv, hidden ones too */
/* Overwritten before it is freed. */
struct al_key {
    char *value;        /* NULL: there is none, and none may be needed */
    const char *source; /* for people: "--key-env", "the environment", "the credentials file"; static */
    char *name;         /* of the variable; NULL */
};
void al_key_free(struct al_key *k);
/*
 * In this order: the variable that --key-env names, the provider's variable, <config home>/credentials.json
 * ({"providers":{"NAME":{"key":"…"}}}, a regular file of ours, 0600, else refused with the command that mends it). 0, also
 * when there is none; AUTH_REQUIRED when --key-env names a variable that is not set; CONFIG_INVALID.
 */
int al_key_find(const struct al_provider *p, const char *key_env, const char *credentials_file, struct al_key *ret,
                struct al_err *err) AL_MUST_CHECK;
/* The same from the bytes of such a file: strict; value NULL when it has none for that provider. */
int al_key_read(struct al_str text, struct al_str provider, struct al_key *ret, struct al_err *err) AL_MUST_CHECK;
/* Writes (value NULL: takes out) the key of a provider: atomically, 0600, alone among processes. */
int al_key_store(const char *credentials_file, struct al_str provider, const char *value, struct al_err *err) AL_MUST_CHECK;

#endif
