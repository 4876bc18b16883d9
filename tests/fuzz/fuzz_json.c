/* What parses is written again, piece by piece and by its raw bytes, and must read back as an equal value. */
#include "base/json.h"
#include "base/text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

/* Strings from their decoded form, numbers as they are; depth is bounded by the reader. */
static void rewrite(struct al_jw *w, const struct al_json *v)
{
    switch (v->type) {
    case AL_JSON_NULL:
        al_jw_null(w);
        break;
    case AL_JSON_FALSE:
    case AL_JSON_TRUE:
        al_jw_bool(w, al_json_is_true(v));
        break;
    case AL_JSON_NUMBER:
        al_jw_raw(w, v->raw);
        break;
    case AL_JSON_STRING:
        MUST(al_utf8_valid(v->str));
        al_jw_str(w, v->str);
        break;
    case AL_JSON_ARRAY:
    case AL_JSON_OBJECT:
        if (v->type == AL_JSON_OBJECT)
            al_jw_obj(w);
        else
            al_jw_arr(w);
        uint32_t n = 0;
        al_json_each(it, v)
        {
            n++;
            if (v->type == AL_JSON_OBJECT) {
                MUST(al_json_get_str(v, it->key) != NULL);
                al_jw_key_str(w, it->key);
            }
            rewrite(w, it);
        }
        MUST(n == v->n);
        al_jw_end(w);
        break;
    }
}

static void check_equal(struct al_str text, const struct al_json *v, bool raw_too)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 26);
    const struct al_json *back = NULL;
    struct al_err err;
    MUST(al_json_parse(&a, text, &back, &err) == 0);
    MUST(al_json_equal(v, back));
    MUST(al_json_equal(back, v));
    MUST(!raw_too || al_str_eq(v->raw, back->raw));
}

static void check_numbers(const struct al_json *v)
{
    int64_t n;
    double d;
    bool is_int = al_json_int(v, INT64_MIN, INT64_MAX, &n);
    bool is_double = al_json_double(v, &d);
    autobuf struct al_buf out = AL_BUF_INIT(64);
    struct al_jw w;
    al_jw_init(&w, &out);
    if (is_int) {
        MUST(is_double && d == (double)n);
        al_jw_int(&w, n);
        check_equal(al_buf_str(&out), v, false);
    } else if (is_double) {
        autoarena struct al_arena a = AL_ARENA_INIT(1 << 12);
        const struct al_json *back;
        double again;
        al_jw_double(&w, d);
        MUST(al_json_parse(&a, al_buf_str(&out), &back, NULL) == 0);
        MUST(al_json_double(back, &again) && again == d);
    }
    al_json_each(it, v) check_numbers(it);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct al_str text = {(const char *)data, size};
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 24);
    const struct al_json *v = NULL;
    struct al_err err = {0};
    if (al_json_parse(&a, text, &v, &err) < 0) {
        MUST(err.code == AL_INVALID_INPUT && al_str_starts(al_str_of(err.msg), "line "));
        MUST(v == NULL && a.used <= a.max);
        return 0;
    }
    autobuf struct al_buf decoded = AL_BUF_INIT(1 << 24), raw = AL_BUF_INIT(1 << 24),
                          packed = AL_BUF_INIT(1 << 24);
    struct al_jw w;
    al_jw_init(&w, &decoded);
    rewrite(&w, v);
    MUST(!al_buf_failed(&decoded));
    check_equal(al_buf_str(&decoded), v, false);
    al_jw_init(&w, &raw);
    al_jw_raw(&w, v->raw);
    MUST(!al_buf_failed(&raw));
    check_equal(al_buf_str(&raw), v, true);
    al_jw_init(&w, &packed);
    al_jw_value(&w, v);
    MUST(!al_buf_failed(&packed));
    check_equal(al_buf_str(&packed), v, false);
    check_numbers(v);
    return 0;
}
