/* A fault as the person reads it: who said what, and what to do next. */
#include "base/text.h"
#include "llm/fault_int.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct about {
    char who[400]; /* "openai (api.openai.com)" */
    char what[600];
    char url[300]; /* of the endpoint, without user info and query */
    const char *model;
    const struct al_provider *p;
};

static void write_about(struct about *a, const struct al_llm_fault *f, const struct al_provider *p,
                        const char *model)
{
    char host[AL_LLM_HOST_MAX];
    al_llm_host(p->base_url ? p->base_url : "", host);
    autobuf struct al_buf url = AL_BUF_INIT(sizeof(a->url) - 1);
    al_llm_show_url(al_str_of(p->base_url), &url);
    snprintf(a->url, sizeof(a->url), "%.*s", AL_FMT(al_buf_str(&url)));
    a->p = p;
    a->model = model && *model ? model : "the model";
    const char *name = p->name ? p->name : "the provider";
    if (host[0] && strcmp(host, name) != 0)
        snprintf(a->who, sizeof(a->who), "%s (%s)", name, host);
    else
        snprintf(a->who, sizeof(a->who), "%s", name);
    if (f->status >= 300 && f->message[0] && strncmp(f->message, "status ", 7) != 0)
        snprintf(a->what, sizeof(a->what), "%s (status %d)", f->message, f->status);
    else if (f->message[0])
        snprintf(a->what, sizeof(a->what), "%s", f->message);
    else if (f->status)
        snprintf(a->what, sizeof(a->what), "status %d", f->status);
    else
        snprintf(a->what, sizeof(a->what), "it did not say why");
}

static void say_until(const struct al_llm_fault *f, struct al_err *err)
{
    autobuf struct al_buf wait = AL_BUF_INIT(64);
    char when[AL_TIME_MAX];
    al_text_duration(&wait, (uint64_t)f->retry_after_ms);
    al_time_local(when, al_wall_ms() + f->retry_after_ms);
    al_hint(err, "it asks to wait %.*s, until %s; then `alisio resume` goes on", AL_FMT(al_buf_str(&wait)),
            when);
}

/* Later, or with another model. */
static void later(const struct al_llm_fault *f, const struct about *a, enum al_code code, const char *did,
                  struct al_err *err)
{
    al_fail(err, code, "%s %s: %s", a->who, did, a->what);
    if (f->retry_after_ms > 60000)
        say_until(f, err);
    else
        al_hint(err, "try again in a while, or name another model with --model");
}

/* The command as it is typed for this very endpoint, whatever the configuration names. */
static void models_hint(const struct about *a, const char *before, const char *after, struct al_err *err)
{
    bool named = a->p->name && !(a->p->origin && strcmp(a->p->origin, "--base-url") == 0);
    al_hint(err, "%s`alisio models --%s %s`%s", before, named ? "provider" : "base-url",
            named ? a->p->name : a->url, after);
}

static void auth(const struct al_llm_fault *f, const struct about *a, struct al_err *err)
{
    bool about_key = f->status != 403 || al_llm_says(al_str_of(f->message), "api key") ||
                     al_llm_says(al_str_of(f->message), "authenticat") ||
                     al_llm_says(al_str_of(f->message), "credential");
    if (!about_key) {
        al_fail(err, AL_UPSTREAM_REJECTED, "%s does not permit this: %s", a->who, a->what);
        models_hint(a, "check what the key's account may use there; ", " lists the models", err);
        return;
    }
    al_fail(err, AL_AUTH_REQUIRED, "%s does not accept the key: %s", a->who, a->what);
    if (a->p->key_env)
        al_hint(err, "set %s to a valid key, or store one with `alisio setup provider`", a->p->key_env);
    else
        al_hint(
            err,
            "name the variable that holds its key with --key-env, or store one with `alisio setup provider`");
}

static void rejected(const struct al_llm_fault *f, const struct about *a, struct al_err *err)
{
    struct al_str m = al_str_of(f->message);
    bool model = strcasecmp(f->code, "model_not_found") == 0 || strcasecmp(f->field, "model") == 0 ||
                 (f->status == 404 && al_llm_says(m, "model"));
    al_fail(err, AL_UPSTREAM_REJECTED, "%s refuses the request: %s", a->who, a->what);
    if (al_llm_says(m, "not support tools") || al_llm_says(m, "support tool use") ||
        al_llm_says(m, "support function call"))
        al_hint(err, "an agent needs a model that can call tools: name another one with --model");
    else if (al_llm_says(m, "--jinja") || al_llm_says(m, "--enable-auto-tool-choice"))
        al_hint(err, "start the server with the options that it names: without them it takes no tools");
    else if (model)
        models_hint(a, "", " lists what it has; name one with --model", err);
    else if (f->status == 404 || f->status == 405)
        al_hint(err, "check the provider's base URL (%s) and its api", a->url);
    else
        al_hint(err, "what it says is about this request; `alisio models show %s` tells what is sent to it",
                a->model);
}

static void local(const struct al_llm_fault *f, const struct about *a, struct al_err *err)
{
    enum al_code code = al_code_find(f->type, strlen(f->type));
    if (code == AL_OK)
        code = AL_INTERNAL;
    al_fail(err, code, "%s", a->what);
    if (code == AL_PERMISSION_DENIED && a->p->origin && strcmp(a->p->origin, "--base-url") == 0)
        al_hint(err, "write https:// in its base URL");
    else if (code == AL_PERMISSION_DENIED)
        al_hint(err,
                "write https:// in its base URL; where that network is safe, `alisio config set "
                "providers.%s.insecure true`",
                a->p->name);
}

void al_llm_fault_err(const struct al_llm_fault *f, const struct al_provider *p, const char *model,
                      struct al_err *err)
{
    struct about a;
    write_about(&a, f, p, model);
    switch (f->kind) {
    case AL_LLM_FAULT_CONNECT:
        later(f, &a, AL_UPSTREAM_UNAVAILABLE, "cannot be reached", err);
        if (a.p->name && strcmp(a.p->name, "ollama") == 0 && strstr(a.url, "//127.0.0.1"))
            al_hint(err, "`ollama serve` starts it; its base URL here is %s", a.url);
        else
            al_hint(err, "check the network and the provider's base URL (%s)", a.url);
        break;
    case AL_LLM_FAULT_TIMEOUT:
        later(f, &a, AL_TIMEOUT, "took too long", err);
        break;
    case AL_LLM_FAULT_CUT:
        later(f, &a, AL_UPSTREAM_UNAVAILABLE, "broke off its answer", err);
        break;
    case AL_LLM_FAULT_MALFORMED:
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "what %s sent is no answer of a model: %s", a.who, a.what);
        al_hint(err, "check the provider's base URL (%s) and its api", a.url);
        break;
    case AL_LLM_FAULT_TOO_LARGE:
        al_fail(err, AL_RESULT_TOO_LARGE, "the answer of %s is too large: %s", a.who, a.what);
        break;
    case AL_LLM_FAULT_OVERLOADED:
        later(f, &a, AL_UPSTREAM_UNAVAILABLE, "is overloaded", err);
        break;
    case AL_LLM_FAULT_RATE:
        later(f, &a, AL_UPSTREAM_UNAVAILABLE, "limits how often it is asked", err);
        break;
    case AL_LLM_FAULT_SERVER:
        later(f, &a, AL_UPSTREAM_UNAVAILABLE, "has a fault of its own", err);
        break;
    case AL_LLM_FAULT_QUOTA:
        al_fail(err, AL_UPSTREAM_REJECTED, "the account at %s has no means left for this: %s", a.who, a.what);
        if (f->retry_after_ms > 60000)
            say_until(f, err);
        else
            al_hint(err, "check its balance and spending limits there; it is not asked again by itself");
        break;
    case AL_LLM_FAULT_AUTH:
        auth(f, &a, err);
        break;
    case AL_LLM_FAULT_OVERFLOW:
        al_fail(err, AL_CONTEXT_LIMIT, "the conversation does not fit into the context window of %s: %s",
                a.model, a.what);
        al_hint(err, "begin a new session, or name a model with a larger window with --model");
        break;
    case AL_LLM_FAULT_REJECTED:
        rejected(f, &a, err);
        break;
    case AL_LLM_FAULT_REDIRECT:
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "%s: %s; redirects are not followed", a.who, a.what);
        al_hint(err, "if that is where it is now, write that address as its base URL");
        break;
    case AL_LLM_FAULT_TLS:
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "%s: %s", a.who, a.what);
        al_hint(err, "nothing was sent; where your network has an authority of its own, name its "
                     "certificates in SSL_CERT_FILE");
        break;
    case AL_LLM_FAULT_LOCAL:
        local(f, &a, err);
        break;
    case AL_LLM_FAULT_CANCELLED:
        al_fail(err, AL_CANCELLED, "cancelled");
        break;
    }
    if (f->request_id[0])
        al_detail(err, "request %s", f->request_id);
}
