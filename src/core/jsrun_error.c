#include "core/core_int.h"
#include "core/jsrun_int.h"

#include <stdio.h>
#include <string.h>

bool jsrun_has_guide(const struct jsrun *r)
{
    return al_core_tool(r->core, AL_STR("forge_guide")) != NULL;
}

/* "slow (running 95 ms), echo (running 3 ms)" of the calls that are still open. */
static void pending_calls(const struct jsrun *r, struct al_buf *out)
{
    uint64_t now = al_mono_ms();
    size_t named = 0;
    for (size_t i = 0; i < r->n_calls; i++) {
        const struct jsrun_call *c = r->calls[i];
        if (!c->open)
            continue;
        if (++named > 3)
            continue;
        al_buf_addf(out, "%s%s (for %llu ms)", named > 1 ? ", " : "", c->tool,
                    (unsigned long long)(now - c->started_ms));
    }
    if (named > 3)
        al_buf_addf(out, " and %zu more", named - 3);
}

static void timeout_hint(struct jsrun *r)
{
    autobuf struct al_buf what = AL_BUF_INIT(1024);
    pending_calls(r, &what);
    if (what.n == 0)
        al_buf_adds(&what, "no call, the script itself was running");
    if (r->legacy) {
        al_hint(&r->err, "pending: %.*s. Do less in one script", AL_FMT(al_buf_str(&what)));
        return;
    }
    long long most =
        (long long)al_config_int(al_core_config(r->core), AL_OPT_FORGE_JAVASCRIPT_MAX_TIMEOUT_MS);
    bool typed = strcmp(al_core_source(r->core), "cli") == 0;
    al_hint(&r->err, "pending: %.*s. Do less in one run, or %s (up to %lld, forge.javascript.maxTimeoutMs)",
            AL_FMT(al_buf_str(&what)), typed ? "give --timeout MS" : "pass timeoutMs", most);
}

static void key_hint(struct jsrun *r, enum al_opt key, const char *advice)
{
    autobuf struct al_buf now = AL_BUF_INIT(256);
    al_config_value_json(al_core_config(r->core), key, &now);
    al_hint(&r->err, "%s, or raise %s in the user's config (now %.*s)", advice, al_opt_name(key),
            AL_FMT(al_buf_str(&now)));
}

static void guide_hint(struct jsrun *r, const char *advice, const char *topic)
{
    if (jsrun_has_guide(r))
        al_hint(&r->err, "%s; forge_guide {\"topic\":\"%s\"} has examples", advice, topic);
    else
        al_hint(&r->err, "%s", advice);
}

/* The commonest mistake: the property of a promise is undefined. */
static bool forgot_await(const struct jsrun *r)
{
    for (size_t i = 0; i < r->n_notes; i++)
        if (strstr(r->notes[i], "not awaited"))
            return true;
    return false;
}

static void default_hint(struct jsrun *r)
{
    switch (r->err.code) {
    case AL_SYNTAX_ERROR:
        guide_hint(r, "mend the line and run it again: plain JavaScript, no modules, no types", "js_run");
        break;
    case AL_SCRIPT_ERROR:
        guide_hint(r,
                   forgot_await(r) ? "a tool call was not awaited: is an `await` missing?"
                                   : "mend the script, or catch the error where it may happen",
                   "js_run");
        break;
    case AL_DEADLOCK:
        guide_hint(r,
                   "the script awaits a promise that nothing will ever settle; await tools.call(…) and their "
                   "like only",
                   "js_run");
        break;
    case AL_INVALID_RESULT:
        guide_hint(r, "return plain data: no cycles, at most 100 levels", "js_run");
        break;
    case AL_OUTPUT_LIMIT:
        guide_hint(r, "print and return less: filter, count or summarise in the script", "limits");
        break;
    case AL_TOOL_INPUT_INVALID:
        al_hint(&r->err, "tools.describe(name) shows a tool's schema");
        break;
    case AL_APPROVAL_REQUIRED:
        if (strcmp(al_core_source(r->core), "cli") != 0)
            al_hint(&r->err, r->core->can_ask ? "name the tool in `uses`, beside `code`"
                                              : "the person who starts alisio has to allow it");
        else
            al_hint(&r->err, "call the tool directly, outside of the script");
        break;
    case AL_TOOL_NOT_FOUND:
    case AL_NOT_CALLABLE:
        guide_hint(r, "tools.list() names what a script may call", "tools");
        break;
    default:
        break;
    }
}

/* The engine's own advice first, where it has one. */
static void engine_hint(struct jsrun *r)
{
    char own[sizeof r->err.hint];
    if (strstr(r->err.hint, "alisio forge status"))
        return;
    memcpy(own, r->err.hint, sizeof own);
    al_hint(&r->err,
            "%.300s%s`alisio forge status --probe` in a terminal shows what is wrong with the engine", own,
            own[0] ? "; " : "");
}

/* The limits' hints name figures that only the host knows, so they are always ours. */
void jsrun_error_hint(struct jsrun *r)
{
    if (r->hinted)
        return;
    r->hinted = true;
    switch (r->err.code) {
    case AL_TIMEOUT:
        timeout_hint(r);
        return;
    case AL_MEMORY_LIMIT:
        key_hint(r, AL_OPT_FORGE_JAVASCRIPT_MEMORY_BYTES, "keep less in memory at once");
        return;
    case AL_STACK_LIMIT:
        key_hint(r, AL_OPT_FORGE_JAVASCRIPT_STACK_BYTES, "recurse less deeply");
        return;
    case AL_CALL_LIMIT:
        if (!r->legacy)
            key_hint(r, AL_OPT_FORGE_JAVASCRIPT_MAX_TOOL_CALLS, "do more with each call");
        return;
    case AL_ENGINE_CRASHED:
    case AL_ENGINE_UNAVAILABLE:
        engine_hint(r);
        return;
    case AL_STATE_LIMIT:
        key_hint(
            r, AL_OPT_FORGE_STATE_MAX_TOTAL_BYTES,
            "the state stays as it was: keep less in it (delete state.key), write files to the scratchpad");
        return;
    case AL_STATE_CONFLICT:
        al_hint(&r->err,
                "nothing of the state was saved: run the script again, it starts from the new state; runs "
                "that go on at once should use keys of their own (forge.state.enabled=false ends sharing)");
        return;
    default:
        if (!r->err.hint[0])
            default_hint(r);
    }
}
