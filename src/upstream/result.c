#include "upstream/result.h"

#include "base/json.h"
#include "base/text.h"

#include <string.h>

/* For the values of a result, beside its text: what takes more has some 500,000 of them. */
#define ARENA_MAX (64u << 20)
#define MAX_SAID 900  /* bytes of an error's own words */
#define MAX_PARTS 400 /* bytes of structured content beside them */
#define MAX_NOTE 4096
#define MAX_LABEL 100
#define MAX_SIGNATURE 300
#define INVALID_PARAMS -32602 /* JSON-RPC 2.0, section 5.1 */

static bool is_type(const struct al_json *part, const char *type)
{
    return al_str_is(al_json_get_text(part, "type"), type);
}

/* Of the bytes that a base64 text stands for (RFC 4648). */
static uint64_t decoded_size(struct al_str base64)
{
    size_t n = base64.n;
    while (n > 0 && base64.p[n - 1] == '=')
        n--;
    return (uint64_t)n * 3 / 4;
}

/* --- parts, for a script --- */

static void copy_text(struct al_jw *w, const struct al_json *from, const char *key)
{
    const struct al_json *v = al_json_get(from, key);
    if (al_json_is_string(v))
        al_jw_kstr(w, key, v->str);
}

static void write_data(struct al_jw *w, const struct al_json *from, const char *key)
{
    struct al_str data = al_json_get_text(from, key);
    al_jw_kstr(w, key, data);
    al_jw_kint(w, "bytes", (int64_t)decoded_size(data));
}

static void write_resource(struct al_jw *w, const struct al_json *resource)
{
    copy_text(w, resource, "uri");
    copy_text(w, resource, "mimeType");
    copy_text(w, resource, "text");
    if (al_json_is_string(al_json_get(resource, "blob")))
        write_data(w, resource, "blob");
}

static void write_part(struct al_jw *w, const struct al_json *part)
{
    bool media = is_type(part, "image") || is_type(part, "audio");
    if (!media && !is_type(part, "text") && !is_type(part, "resource")) {
        al_jw_value(w, part); /* resource_link, and what newer servers may bring */
        return;
    }
    al_jw_obj(w);
    al_jw_kstr(w, "type", al_json_get_text(part, "type"));
    if (media) {
        copy_text(w, part, "mimeType");
        write_data(w, part, "data");
    } else if (is_type(part, "text")) {
        al_jw_kstr(w, "text", al_json_get_text(part, "text"));
    } else {
        write_resource(w, al_json_get(part, "resource"));
    }
    al_jw_end(w);
}

static void write_parts(struct al_buf *out, const struct al_json *content)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_key(&w, "parts");
    al_jw_arr(&w);
    al_json_each(part, content) if (part->type == AL_JSON_OBJECT) write_part(&w, part);
    al_jw_end(&w);
    al_jw_end(&w);
}

/* A text that is an object or an array is meant as one. A text like 0123 or true stays a text, so that the
 * type of a value never depends on what it happens to say. */
static void write_text(struct al_buf *out, struct al_str text)
{
    struct al_str trimmed = al_str_trim(text);
    struct al_jw w;
    al_jw_init(&w, out);
    if (trimmed.n > 1 && (trimmed.p[0] == '{' || trimmed.p[0] == '[')) {
        autoarena struct al_arena a = AL_ARENA_INIT(ARENA_MAX);
        const struct al_json *v;
        struct al_err unused;
        if (al_json_parse(&a, trimmed, &v, &unused) == 0) {
            al_jw_value(&w, v);
            return;
        }
    }
    al_jw_str(&w, text);
}

static void write_value(struct al_buf *out, const struct al_json *result)
{
    const struct al_json *structured = al_json_get(result, "structuredContent");
    const struct al_json *content = al_json_get(result, "content");
    struct al_jw w;
    if (structured && structured->type != AL_JSON_NULL) {
        al_jw_init(&w, out);
        al_jw_value(&w, structured);
    } else if (!content || content->type != AL_JSON_ARRAY || content->n == 0) {
        return;
    } else if (content->n == 1 && is_type(content->child, "text")) {
        write_text(out, al_json_get_text(content->child, "text"));
    } else {
        write_parts(out, content);
    }
}

/* --- text, for a model --- */

static void add_label(struct al_buf *out, struct al_str s)
{
    if (s.n == 0)
        return;
    al_buf_addc(out, ' ');
    al_text_visible(out, al_utf8_cut(s, MAX_LABEL), false);
}

static void add_name(struct al_buf *out, const struct al_json *part)
{
    const struct al_json *resource = al_json_get(part, "resource");
    const struct al_json *from = resource ? resource : part;
    struct al_str type = al_json_get_text(part, "type");
    struct al_str data = al_json_get_text(from, resource ? "blob" : "data");
    al_buf_addc(out, '[');
    al_text_visible(out, type.n ? al_utf8_cut(type, MAX_LABEL) : AL_STR("part"), false);
    add_label(out, al_json_get_text(from, "uri"));
    add_label(out, al_json_get_text(from, "mimeType"));
    if (data.n > 0) {
        al_buf_adds(out, ", ");
        al_text_bytes(out, decoded_size(data));
    }
    al_buf_addc(out, ']');
}

static void add_part(struct al_buf *out, const struct al_json *part)
{
    struct al_str text = al_json_get_text(part, "text");
    if (out->n > 0)
        al_buf_addc(out, '\n');
    if (is_type(part, "text")) {
        al_utf8_clean(out, text);
        return;
    }
    add_name(out, part);
    text = al_json_get_text(al_json_get(part, "resource"), "text");
    if (text.n > 0) {
        al_buf_addc(out, '\n');
        al_utf8_clean(out, text);
    }
}

static void write_texts(struct al_buf *out, const struct al_json *result)
{
    const struct al_json *content = al_json_get(result, "content");
    const struct al_json *structured = al_json_get(result, "structuredContent");
    if (content && content->type == AL_JSON_ARRAY) {
        al_json_each(part, content) if (part->type == AL_JSON_OBJECT) add_part(out, part);
    }
    if (out->n == 0 && structured && structured->type != AL_JSON_NULL) {
        struct al_jw w;
        al_jw_init(&w, out);
        al_jw_value(&w, structured);
    }
}

/* --- failures --- */

/* The server's own words, in lines as they are. */
static void add_said(struct al_buf *out, struct al_str s)
{
    ptrdiff_t at;
    while ((at = al_str_find(s, AL_STR("\r\n"))) >= 0) {
        al_text_visible(out, (struct al_str){s.p, (size_t)at}, true);
        al_buf_addc(out, '\n');
        s = (struct al_str){s.p + at + 2, s.n - (size_t)at - 2};
    }
    al_text_visible(out, s, true);
}

static int tool_error(const struct al_json *result, const char *tool, struct al_str text, struct al_err *err)
{
    const struct al_json *structured = al_json_get(result, "structuredContent");
    autobuf struct al_buf said = AL_BUF_INIT(16 * MAX_SAID), more = AL_BUF_INIT(MAX_PARTS);
    add_said(&said, al_utf8_cut(al_str_trim(text), MAX_SAID));
    if (structured && structured->type != AL_JSON_NULL) {
        struct al_jw w;
        al_jw_init(&w, &more);
        al_jw_value(&w, structured);
    }
    /* When there is no text, the structured content is the text already. */
    bool add = more.n > 0 && !al_buf_failed(&more) && al_str_find(al_buf_str(&said), al_buf_str(&more)) < 0;
    struct al_str shown = said.n ? al_utf8_cut(al_buf_str(&said), MAX_SAID - (add ? more.n : 0))
                                 : AL_STR("it failed and said nothing");
    return al_fail(err, AL_TOOL_ERROR, "%s: %.*s%s%.*s", tool, AL_FMT(shown), add ? " " : "",
                   (int)(add ? more.n : 0), add ? more.p : "");
}

static int unfinished(struct al_str type, const char *tool, struct al_err *err)
{
    if (al_str_is(type, "input_required")) {
        al_fail(err, AL_TOOL_ERROR, "%s asks for input, which a script cannot give", tool);
        return al_hint(err, "give what it needs as arguments, if it takes that");
    }
    autobuf struct al_buf shown = AL_BUF_INIT(1024);
    al_text_visible(&shown, al_utf8_cut(type, MAX_LABEL), false);
    return al_fail(err, AL_TOOL_ERROR, "%s: an answer of the type \"%.*s\", which is not known here", tool,
                   AL_FMT(al_buf_str(&shown)));
}

int al_result_take(const struct al_json *result, const char *tool, struct al_buf *text,
                   struct al_buf *structured, struct al_err *err)
{
    struct al_str type = al_json_get_text(result, "resultType");
    if (type.n > 0 && !al_str_is(type, "complete"))
        return unfinished(type, tool, err);
    write_texts(text, result);
    if (al_json_is_true(al_json_get(result, "isError")))
        return tool_error(result, tool, al_buf_str(text), err);
    write_value(structured, result);
    return 0;
}

int al_result_read(struct al_str result_json, const char *tool, struct al_buf *text,
                   struct al_buf *structured, struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(ARENA_MAX);
    const struct al_json *result;
    if (al_json_parse(&a, result_json, &result, err) < 0)
        return al_fail(err, AL_UPSTREAM_UNAVAILABLE, "%s: an answer that cannot be read", tool);
    return al_result_take(result, tool, text, structured, err);
}

int al_result_failure(struct al_str failure_json, const char *tool, struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(ARENA_MAX);
    autobuf struct al_buf said = AL_BUF_INIT(16 * MAX_SAID);
    const struct al_json *failure;
    int64_t code = 0;
    if (al_json_parse(&a, failure_json, &failure, err) < 0)
        return al_fail(err, AL_TOOL_ERROR, "%s: an error that cannot be read", tool);
    al_json_int(al_json_get(failure, "code"), INT32_MIN, INT32_MAX, &code);
    add_said(&said, al_utf8_cut(al_str_trim(al_json_get_text(failure, "message")), MAX_SAID));
    struct al_str shown = al_utf8_cut(al_buf_str(&said), MAX_SAID);
    if (code == INVALID_PARAMS)
        return al_fail(err, AL_TOOL_INPUT_INVALID, "%s: %.*s", tool, AL_FMT(shown));
    return al_fail(err, AL_TOOL_ERROR, "%s: %.*s (error %lld)", tool,
                   AL_FMT(shown.n ? shown : AL_STR("it failed and said nothing")), (long long)code);
}

/* Servers check arguments with libraries, which have a few ways to say what is wrong. */
static bool complains(const struct al_err *err)
{
    static const char *const words[] = {
        "-32602",
        "invalid arg",
        "invalid input",
        "invalid param",
        "invalid_type",
        "validation error",
        "required propert",
        "missing required",
        "is required",
        "field required",
        "invalid value",
        "invalid type",
        "unexpected keyword",
        "unrecognized key",
        "additional propert",
        "expected string",
        "expected number",
        "expected array",
        "expected object",
    };
    if (err->code == AL_TOOL_INPUT_INVALID)
        return true;
    for (size_t i = 0; err->code == AL_TOOL_ERROR && i < sizeof(words) / sizeof(*words); i++)
        if (strcasestr(err->msg, words[i]))
            return true;
    return false;
}

/* "(args: {…})" */
static void add_args(const struct al_tool *tool, struct al_buf *out)
{
    autobuf struct al_buf whole = AL_BUF_INIT(64u << 10);
    if (!strstr(tool->input_schema, "\"properties\""))
        return;
    al_tool_signature(tool, &whole);
    struct al_str s = al_buf_str(&whole);
    ptrdiff_t from = al_str_find(s, AL_STR("(args")), to = al_str_find(s, AL_STR("): Promise<"));
    if (al_buf_failed(&whole) || from < 0 || to < from)
        return;
    s = (struct al_str){s.p + from, (size_t)(to - from) + 1};
    struct al_str head = al_utf8_cut(s, MAX_SIGNATURE);
    al_text_visible(out, head, false);
    if (head.n < s.n)
        al_buf_adds(out, "…");
}

void al_result_advise(const struct al_tool *tool, const char *name, enum al_origin origin, struct al_err *err)
{
    autobuf struct al_buf args = AL_BUF_INIT(16 * MAX_SIGNATURE), hint = AL_BUF_INIT(32 * MAX_SIGNATURE);
    if (err->hint[0] || !complains(err))
        return;
    add_args(tool, &args);
    if (args.n > 0)
        al_buf_addf(&hint, "it takes %.100s%.*s", name, AL_FMT(al_buf_str(&args)));
    const char *sep = args.n > 0 ? "; " : "";
    if (origin == AL_ORIGIN_SCRIPT)
        al_buf_addf(&hint, "%stools.describe(\"%.100s\") has the schema", sep, name);
    else if (origin == AL_ORIGIN_CLI)
        al_buf_addf(&hint, "%s`alisio tool describe %.100s` shows the schema", sep, tool->name);
    if (hint.n > 0)
        al_hint(err, "%.*s", AL_FMT(al_buf_str(&hint)));
}

void al_result_progress(struct al_str params_json, struct al_buf *out)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    const struct al_json *params;
    struct al_err unused;
    double number;
    struct al_jw w;
    if (al_json_parse(&a, params_json, &params, &unused) < 0 || params->type != AL_JSON_OBJECT)
        return;
    const struct al_json *completed = al_json_get(params, "progress"), *total = al_json_get(params, "total");
    const struct al_json *note = al_json_get(params, "message");
    al_jw_init(&w, out);
    al_jw_obj(&w);
    if (al_json_double(completed, &number))
        al_jw_kraw(&w, "completed", completed->raw);
    if (al_json_double(total, &number))
        al_jw_kraw(&w, "total", total->raw);
    if (al_json_is_string(note))
        al_jw_kstr(&w, "note", al_utf8_cut(note->str, MAX_NOTE));
    al_jw_end(&w);
}
