/* What a model wrote as the arguments of a call, and as its tool: checked, mended where its meaning is plain,
 * else told back. */
#include "agent/turn_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define NODES_MAX (AL_CALL_MAX_ARGS * 8)
#define SHOWN_NAMES 3
#define SHOWN_CHARS 64

/* --- arguments --- */

/* The reader says "line 2, column 5: what": the byte that this is, from 0. */
static size_t byte_of(struct al_str text, const char *msg)
{
    struct al_str m = al_str_of(msg);
    int64_t line = 1, column = 1;
    size_t at = 0;
    ptrdiff_t comma = al_str_find(m, AL_STR(", column ")), colon = al_str_find(m, AL_STR(":"));
    if (!al_str_starts(m, "line ") || comma < 5 || colon < comma + 9 ||
        !al_parse_int((struct al_str){m.p + 5, (size_t)comma - 5}, 1, INT64_MAX, &line) ||
        !al_parse_int((struct al_str){m.p + comma + 9, (size_t)(colon - comma - 9)}, 1, INT64_MAX, &column))
        return 0;
    for (; line > 1 && at < text.n; at++)
        line -= text.p[at] == '\n';
    struct al_str rest = {text.p + at, text.n - at};
    return at + al_utf8_head(rest, (size_t)column - 1).n;
}

/* Of the schema's required keys, as the model should have written them. */
static void add_required(const struct al_tool *tool, struct al_buf *out)
{
    autoarena struct al_arena a = AL_ARENA_INIT(4u << 20);
    const struct al_json *schema = NULL;
    size_t n = 0;
    if (!tool || !tool->input_schema || al_json_parse(&a, al_str_of(tool->input_schema), &schema, NULL) < 0)
        return;
    al_json_each(key, al_json_get(schema, "required"))
        al_buf_addf(out, "%s\"%.*s\"", n++ ? ", " : "its required keys are ", AL_FMT(key->str));
    if (n == 0)
        al_buf_adds(out, "none of its keys is required");
}

static int fail_arguments(const struct al_tool *tool, size_t at, const char *what, struct al_err *err)
{
    autobuf struct al_buf keys = AL_BUF_INIT(400);
    const char *name = tool ? tool->name : "the tool";
    const char *colon = strstr(what, ": ");
    add_required(tool, &keys);
    al_fail(err, AL_TOOL_INPUT_INVALID, "%s was not run: its arguments are not one JSON object: byte %zu: %s",
            name, at, strncmp(what, "line ", 5) == 0 && colon ? colon + 2 : what);
    return al_hint(err, "make the call again with one JSON object%s%.*s", keys.n ? "; " : "",
                   AL_FMT(al_buf_str(&keys)));
}

/* The last of a name counts. */
static bool is_last(const struct al_json *member)
{
    for (const struct al_json *m = member->next; m; m = m->next)
        if (al_str_eq(m->key, member->key))
            return false;
    return true;
}

/* Quadratic in the members of one object, so only up to so many; what is longer is passed on as it is, and
 * the last of a name counts there as well. */
#define MEMBERS_MAX 200

static bool has_doubles(const struct al_json *root, struct al_str *ret_key)
{
    const struct al_json *stack[AL_JSON_MAX_DEPTH + 2];
    size_t n = 0;
    if (root->child)
        stack[n++] = root;
    for (const struct al_json *v = root->child; n > 0;) {
        if (!v) {
            v = stack[--n];
            v = n > 0 ? v->next : NULL;
            continue;
        }
        if (stack[n - 1]->type == AL_JSON_OBJECT && stack[n - 1]->n <= MEMBERS_MAX && !is_last(v)) {
            *ret_key = v->key;
            return true;
        }
        if (v->child && n < AL_JSON_MAX_DEPTH + 2) {
            stack[n++] = v;
            v = v->child;
        } else {
            v = v->next;
        }
    }
    return false;
}

static void write_last(struct al_jw *w, const struct al_json *root)
{
    const struct al_json *stack[AL_JSON_MAX_DEPTH + 2];
    size_t n = 1;
    stack[0] = root;
    al_jw_obj(w);
    for (const struct al_json *v = root->child; n > 0;) {
        if (!v) {
            v = stack[--n];
            v = n > 0 ? v->next : NULL;
            al_jw_end(w);
            continue;
        }
        bool member = stack[n - 1]->type == AL_JSON_OBJECT;
        if (member && stack[n - 1]->n <= MEMBERS_MAX && !is_last(v)) {
            v = v->next;
            continue;
        }
        if (member)
            al_jw_key_str(w, v->key);
        if (v->child && n < AL_JSON_MAX_DEPTH + 2) {
            if (v->type == AL_JSON_OBJECT)
                al_jw_obj(w);
            else
                al_jw_arr(w);
            stack[n++] = v;
            v = v->child;
        } else {
            al_jw_raw(w, v->raw);
            v = v->next;
        }
    }
}

int al_call_arguments(struct al_str arguments, const struct al_tool *tool, struct al_buf *out,
                      struct al_buf *warning, struct al_err *err)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(NODES_MAX);
    struct al_str text = al_str_trim(arguments), key;
    const struct al_json *v = NULL;
    if (text.n == 0 || al_str_is(text, "null")) {
        al_buf_adds(out, "{}");
        return 0;
    }
    if (text.n > AL_CALL_MAX_ARGS) {
        al_fail(err, AL_TOOL_INPUT_INVALID, "the arguments have %zu bytes; at most %u fit", text.n,
                AL_CALL_MAX_ARGS);
        return al_hint(err, "make several calls of it");
    }
    if (al_json_parse(&arena, arguments, &v, err) < 0) {
        char msg[sizeof(err->msg)];
        memcpy(msg, err->msg, sizeof(msg));
        return fail_arguments(tool, byte_of(arguments, msg), msg, err);
    }
    if (v->type != AL_JSON_OBJECT) {
        char what[64];
        snprintf(what, sizeof(what), "here begins a value of type %s", al_json_type_name(v));
        return fail_arguments(tool, (size_t)(v->raw.p - arguments.p), what, err);
    }
    if (!has_doubles(v, &key)) {
        al_buf_add_str(out, v->raw);
        return 0;
    }
    struct al_jw w;
    al_jw_init(&w, out);
    write_last(&w, v);
    al_buf_adds(warning, "warning: the arguments have the key \"");
    al_text_visible(warning, al_utf8_head(key, SHOWN_CHARS), false);
    al_buf_adds(warning, "\" twice; its last value counts\n");
    return 0;
}

/* --- a tool that is none --- */

/* Lower is nearer: without case and separators, and a part of a name is near to it. */
static unsigned distance(struct al_str wanted, struct al_str name)
{
    char a[2][SHOWN_CHARS];
    struct al_str of[2] = {wanted, name};
    for (int k = 0; k < 2; k++) {
        size_t n = 0;
        for (size_t i = 0; i < of[k].n && n < SHOWN_CHARS; i++) {
            char c = of[k].p[i];
            if (c != '_' && c != '-' && c != '.' && c != ':')
                a[k][n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        }
        of[k] = (struct al_str){a[k], n};
    }
    unsigned d = al_str_distance(of[0], of[1]);
    bool part =
        of[0].n >= 3 && of[1].n >= 3 && (al_str_find(of[0], of[1]) >= 0 || al_str_find(of[1], of[0]) >= 0);
    return part ? d / 2 : d;
}

/* The nearest names of those that are offered. */
static void add_nearest(const struct al_agent *a, struct al_str wanted, struct al_buf *out)
{
    size_t shown[SHOWN_NAMES], n = 0;
    while (n < SHOWN_NAMES && n < a->n_tools) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < a->n_tools; i++) {
            bool taken = false;
            for (size_t k = 0; k < n; k++)
                taken = taken || shown[k] == i;
            if (!taken && (best == SIZE_MAX ||
                           distance(wanted, a->tools[i].name) < distance(wanted, a->tools[best].name)))
                best = i;
        }
        al_buf_addf(out, "%s%.*s", n ? ", " : "", AL_FMT(a->tools[best].name));
        shown[n++] = best;
    }
}

int al_call_unknown(const struct al_agent *a, struct al_str name, struct al_err *err)
{
    autobuf struct al_buf shown = AL_BUF_INIT(1024), near = AL_BUF_INIT(512);
    /* What is wrong with a server's name, the core knows better. */
    if (memchr(name.p, '.', name.n))
        return al_core_tool_not_found(a->core, name, AL_ORIGIN_AGENT, err);
    al_text_visible(&shown, al_utf8_head(name, SHOWN_CHARS), false);
    add_nearest(a, name, &near);
    al_fail(err, AL_TOOL_NOT_FOUND, "there is no tool \"%.*s\"", AL_FMT(al_buf_str(&shown)));
    if (near.n == 0)
        return al_hint(err, "no tool is offered here");
    return al_hint(err, "the nearest that are offered: %.*s", AL_FMT(al_buf_str(&near)));
}
