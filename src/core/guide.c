#include "core/guide.h"

#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/core_int.h"
#include "core/jsrun_int.h"

#define ETAG_CHARS 12

bool guide_topic_live(const struct al_core *core, const struct guide_topic *topic)
{
    return !topic->needs || al_core_tool(core, al_str_of(topic->needs)) != NULL;
}

void guide_topic_names(const struct al_core *core, struct al_buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < guide_n_topics; i++) {
        if (guide_topic_live(core, &guide_topics[i]))
            al_buf_addf(out, "%s%s", n++ ? ", " : "", guide_topics[i].name);
    }
}

static bool example_shown(const struct al_core *core, const struct guide_example *e)
{
    for (size_t i = 0; i < sizeof e->needs / sizeof e->needs[0] && e->needs[i]; i++) {
        if (!al_core_tool(core, al_str_of(e->needs[i])))
            return false;
    }
    return true;
}

void guide_add_examples(struct al_core *core, const char *topic, struct al_buf *out)
{
    for (size_t i = 0; i < guide_n_examples; i++) {
        const struct guide_example *e = &guide_examples[i];
        if (strcmp(e->topic, topic) == 0 && example_shown(core, e))
            al_buf_addf(out, "\n%s:\n```js\n%s\n```\n", e->what, e->code);
    }
}

static const struct guide_topic *find_topic(const struct al_core *core, struct al_str name)
{
    for (size_t i = 0; i < guide_n_topics; i++) {
        if (al_str_is(name, guide_topics[i].name) && guide_topic_live(core, &guide_topics[i]))
            return &guide_topics[i];
    }
    return NULL;
}

static void fail_topic(struct al_call *call, struct al_str name)
{
    autobuf struct al_buf names = AL_BUF_INIT(1024), shown = AL_BUF_INIT(1024);
    guide_topic_names(call->core, &names);
    jscut_line(name, 60, &shown);
    al_fail(&call->err, AL_INVALID_INPUT, "topic: there is no guide \"%.*s\"", AL_FMT(al_buf_str(&shown)));
    al_hint(&call->err, "topics: %.*s", AL_FMT(al_buf_str(&names)));
}

/* Whole lines up to the limit; no guide of ours comes near it but one with very many tools. */
static void fit(struct al_buf *text)
{
    struct al_str all = al_buf_str(text), head = al_utf8_cut(all, GUIDE_MAX_BYTES - 64);
    if (head.n == all.n)
        return;
    while (head.n && head.p[head.n - 1] != '\n')
        head.n--;
    text->n = head.n;
    al_buf_adds(text, "… cut: narrow it with query\n");
}

static void answer(struct al_call *call, const struct guide_topic *topic)
{
    autobuf struct al_buf text = AL_BUF_INIT(1u << 20);
    topic->write(call->core, al_json_get_text(call->args, "query"), &text);
    fit(&text);
    char etag[AL_SHA256_HEX];
    al_sha256(al_buf_str(&text), etag);
    etag[ETAG_CHARS] = '\0';
    bool same = al_str_is(al_json_get_text(call->args, "etag"), etag);
    if (same)
        al_buf_addf(&call->text, "not modified\netag: %s", etag);
    else
        al_buf_addf(&call->text, "%.*setag: %s", AL_FMT(al_buf_str(&text)), etag);
    struct al_jw w;
    al_jw_init(&w, &call->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "topic", topic->name);
    al_jw_kstrz(&w, "etag", etag);
    al_jw_kbool(&w, "modified", !same);
    al_jw_end(&w);
}

/* Waits until it is known where a Python script would run. */
struct waiting {
    struct al_call *call; /* NULL: it was cancelled */
    const struct guide_topic *topic;
};

static void wall_known(void *ud, const struct al_wall *wall, const struct al_err *err)
{
    struct waiting *w = ud;
    (void)wall, (void)err; /* the guide says either */
    if (w->call) {
        w->call->impl = NULL;
        answer(w->call, w->topic);
        al_call_finish(w->call);
    }
    free(w);
}

static void cancel(struct al_call *call)
{
    struct waiting *w = call->impl;
    if (!w)
        return;
    w->call = NULL;
    call->impl = NULL;
    al_call_finish(call);
}

static void start(struct al_call *call)
{
    struct al_str name = al_json_get_text(call->args, "topic");
    const struct guide_topic *topic = find_topic(call->core, name);
    if (topic && topic->write == guide_write_python) {
        struct waiting *w = al_xcalloc(1, sizeof *w);
        *w = (struct waiting){call, topic};
        call->impl = w;
        al_wall_choose(call->core, wall_known, w);
        return;
    }
    if (topic)
        answer(call, topic);
    else
        fail_topic(call, name);
    al_call_finish(call);
}

static bool registered(const struct al_core *core)
{
    const struct al_config *c = al_core_config(core);
    return al_config_bool(c, AL_OPT_FORGE_GUIDES_ENABLED) &&
           al_config_bool(c, AL_OPT_FORGE_JAVASCRIPT_ENABLED);
}

const struct al_tool al_tool_forge_guide = {
    .name = "forge_guide",
    .title = "Guide to code mode",
    .description =
        "A short guide, made from the live state, to read before writing a non-trivial script. "
        "Topics: overview, js_run "
        "(the script API, with examples), tools (what a script may call now; with query, the signatures that "
        "fit best), data (data files and SQL over them), python_run (Python scripts, their inputs and "
        "artifacts), dashboards, limits, errors "
        "(each code and its cure), last (the last run of this session). Each guide ends with an "
        "etag: send it back to "
        "learn cheaply that nothing has changed.",
    .brief =
        "A short guide made from the live state: the script APIs with examples, signatures of "
        "tools (topic tools with a query), limits, error codes, the last run.",
    .input_schema =
        "{\"type\":\"object\",\"properties\":{"
        "\"topic\":{\"type\":\"string\",\"enum\":[\"overview\",\"js_run\",\"tools\",\"data\",\"python_run\","
        "\"dashboards\",\"limits\","
        "\"errors\","
        "\"last\"]},"
        "\"etag\":{\"type\":\"string\",\"maxLength\":100,\"description\":\"The etag of an earlier answer.\"},"
        "\"query\":{\"type\":\"string\",\"maxLength\":400,\"description\":\"For tools: what the tool should "
        "do.\"}},"
        "\"required\":[\"topic\"],\"additionalProperties\":false}",
    .output_schema =
        "{\"type\":\"object\",\"properties\":{\"topic\":{\"type\":\"string\"},\"etag\":{\"type\":\"string\"},"
        "\"modified\":{\"type\":\"boolean\"}},\"required\":[\"topic\",\"etag\",\"modified\"],"
        "\"additionalProperties\":false}",
    .effect = AL_EFFECT_READ,
    .input_code = AL_INVALID_INPUT,
    .not_callable = "guides are for whoever writes the script: read them before",
    .idempotent = true,
    .start = start,
    .cancel = cancel,
    .registered = registered,
};
