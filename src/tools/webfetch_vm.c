/*
 * A page is not read by the host: a script in a sealed VM makes text of it (webfetch_convert.js), without
 * tools, and what it says is a claim.
 */
#include "tools/webfetch_int.h"

#include "base/mem.h"
#include "jsvm/engine.h"

#define MEMORY (128u << 20)
#define STACK (512u << 10)
#define TIMEOUT_MS 10000
#define MAX_VALUE (3 * AL_WEBFETCH_TEXT)
#define VALUE_ARENA (MAX_VALUE + (1u << 20))

__asm__(".pushsection .rodata\n"
        ".global al_webfetch_js\n"
        "al_webfetch_js:\n"
        ".incbin \"" AL_WEBFETCH_JS "\"\n"
        ".global al_webfetch_js_end\n"
        "al_webfetch_js_end:\n"
        ".byte 0\n"
        ".popsection\n");
extern const char al_webfetch_js[], al_webfetch_js_end[];

struct conversion {
    struct al_webfetch *f;
    void (*done)(struct al_webfetch *f);
};

void al_webfetch_input(struct al_webfetch *f)
{
    struct al_jw w;
    al_jw_init(&w, &f->input);
    al_jw_obj(&w);
    al_jw_kstr(&w, "html", al_buf_str(&f->text));
    al_jw_kstrz(&w, "url", f->final_url);
    al_jw_kbool(&w, "markdown", f->format == AL_WEBFETCH_MARKDOWN);
    al_jw_end(&w);
}

static void nothing_said(void *ud, struct al_str text)
{
    (void)ud;
    (void)text;
}

/* It has no tools: a script that calls one is none of ours any more. */
static void on_call(void *ud, uint32_t id, struct al_str tool, struct al_str args)
{
    struct conversion *c = ud;
    struct al_err err;
    (void)tool;
    (void)args;
    al_fail(&err, AL_TOOL_NOT_FOUND, "there are no tools");
    al_vm_reply(c->f->vm, id, (struct al_str){"", 0}, &err);
}

static void on_query(void *ud, struct al_str what, struct al_str arg, struct al_buf *out)
{
    (void)ud;
    (void)what;
    (void)arg;
    al_buf_adds(out, "[]");
}

static void failed(struct al_webfetch *f, const struct al_vm_end *end)
{
    struct al_err *err = &f->call->err;
    if (end->code == AL_CANCELLED || end->code == AL_ENGINE_UNAVAILABLE) {
        al_fail(err, end->code, "%.*s", AL_FMT(end->message));
        return;
    }
    al_fail(err, AL_TOOL_ERROR, "the page cannot be made into text: %s",
            end->code == AL_TIMEOUT        ? "it takes too long"
            : end->code == AL_MEMORY_LIMIT ? "it takes too much memory"
                                           : "it is too odd");
    al_detail(err, "%s: %.*s", al_code_name(end->code), AL_FMT(end->message));
    al_hint(err, "format \"html\" gives it as it is");
}

static void on_end(void *ud, const struct al_vm_end *end)
{
    struct conversion *c = ud;
    struct al_webfetch *f = c->f;
    void (*done)(struct al_webfetch *) = c->done;
    free(c);
    f->vm = NULL;
    if (end->code != AL_OK)
        failed(f, end);
    else
        al_buf_add_str(&f->value, end->value);
    done(f);
}

int al_webfetch_convert(struct al_webfetch *f, void (*done)(struct al_webfetch *f))
{
    static const struct al_vm_ops ops = {
        .print = nothing_said, .progress = nothing_said, .call = on_call, .query = on_query, .end = on_end};
    struct al_vm_spec spec = {
        .code = {al_webfetch_js, (size_t)(al_webfetch_js_end - al_webfetch_js)},
        .input = al_buf_str(&f->input),
        .alisio = AL_STR("{}"),
        .tool_names = AL_STR("{\"tools\":[],\"servers\":{}}"),
        .timeout_ms = TIMEOUT_MS,
        .memory_bytes = MEMORY,
        .stack_bytes = STACK,
        .max_concurrency = 1,
        .max_value_bytes = MAX_VALUE,
    };
    struct conversion *c = al_xcalloc(1, sizeof(*c));
    *c = (struct conversion){f, done};
    f->vm = al_vm_start(al_core_engine(f->call->core), &spec, &ops, c, &f->call->err);
    al_buf_free(&f->input);
    if (f->vm)
        return 0;
    free(c);
    return -1;
}

int al_webfetch_take(struct al_webfetch *f)
{
    autoarena struct al_arena a = AL_ARENA_INIT(VALUE_ARENA);
    const struct al_json *value;
    struct al_err unused;
    bool read = al_json_parse(&a, al_buf_str(&f->value), &value, &unused) == 0;
    const struct al_json *text = read ? al_json_get(value, "text") : NULL;
    if (!al_json_is_string(text))
        return al_fail(&f->call->err, AL_TOOL_ERROR,
                       "the page cannot be made into text: its reader says nonsense");
    al_buf_clear(&f->text);
    al_buf_add_str(&f->text, text->str);
    f->cut = f->cut || al_json_is_true(al_json_get(value, "cut"));
    return 0;
}
