/* What a client's model reads is bounded: text at a line's end, structured values by cutting strings and
 * arrays. */
#include "mcp/mcp_int.h"

#include "base/ident.h"
#include "base/text.h"

void al_mcp_bound_text(struct al_str text, size_t max, struct al_buf *out)
{
    struct al_str head = al_utf8_head(text, max);
    if (head.n == text.n) {
        al_buf_add_str(out, text);
        return;
    }
    static const char mark[] = "\n[… cut here: the result is longer than maxOutputChars]";
    head = al_utf8_head(text, max > sizeof mark ? max - sizeof mark : 0);
    size_t line = head.n;
    while (line > 0 && head.p[line - 1] != '\n')
        line--;
    /* A last line that is most of the text is cut within. */
    if (line > head.n / 2)
        head.n = line - 1;
    al_buf_add_str(out, head);
    al_buf_adds(out, mark);
}

struct cut {
    size_t string_bytes;
    uint32_t elements;
    bool *did_cut;
};

/* Half an id names nothing, and without it a reader cannot ask for what was cut. */
static bool is_id(struct al_str s)
{
    return s.n < AL_ID_MAX && (al_id_valid(s, "ds") || al_id_valid(s, "exec") || al_id_valid(s, "art"));
}

/* The reader has limited the depth of the value, so this recursion is bounded by AL_JSON_MAX_DEPTH. */
static void put_cut(struct al_jw *w, const struct al_json *v, const struct cut *limit, bool outermost)
{
    uint32_t n = 0;
    if (v->type == AL_JSON_STRING && v->str.n > limit->string_bytes && !is_id(v->str)) {
        autobuf struct al_buf cut = AL_BUF_INIT(limit->string_bytes + 8);
        al_buf_add_str(&cut, al_utf8_cut(v->str, limit->string_bytes));
        al_buf_adds(&cut, "…");
        al_jw_str(w, al_buf_str(&cut));
        *limit->did_cut = true;
    } else if (v->type == AL_JSON_ARRAY) {
        al_jw_arr(w);
        al_json_each(e, v)
        {
            if (n++ == limit->elements) {
                *limit->did_cut = true;
                break;
            }
            put_cut(w, e, limit, false);
        }
        al_jw_end(w);
    } else if (v->type == AL_JSON_OBJECT) {
        al_jw_obj(w);
        al_json_each(e, v)
        {
            al_jw_key_str(w, e->key);
            if (outermost && al_str_is(e->key, "truncated"))
                al_jw_bool(w, *limit->did_cut || e->type == AL_JSON_TRUE);
            else
                put_cut(w, e, limit, false);
        }
        al_jw_end(w);
    } else {
        al_jw_raw(w, v->raw);
    }
}

void al_mcp_bound_json(struct al_str json, size_t max, struct al_buf *out)
{
    if (json.n <= max) {
        al_buf_add_str(out, json);
        return;
    }
    autoarena struct al_arena arena = AL_ARENA_INIT(256u << 20);
    const struct al_json *v;
    if (al_json_parse(&arena, json, &v, NULL) < 0)
        return;
    bool did_cut = true; /* something will be: "truncated" may stand before it */
    struct cut limit = {.string_bytes = max / 2, .elements = 4096, .did_cut = &did_cut};
    for (;;) {
        autobuf struct al_buf attempt = AL_BUF_INIT(max);
        struct al_jw w;
        al_jw_init(&w, &attempt);
        put_cut(&w, v, &limit, true);
        if (!al_buf_failed(&attempt)) {
            al_buf_add_str(out, al_buf_str(&attempt));
            return;
        }
        if (limit.string_bytes <= 16 && limit.elements == 0)
            return; /* too many members to fit: no structured value is better than half a one */
        limit.string_bytes = limit.string_bytes > 16 ? limit.string_bytes / 2 : 16;
        limit.elements = limit.elements / 2;
    }
}
