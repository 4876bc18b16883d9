/* "reasoning_details": what has to go back as it came, from pieces. */
#include "llm/read_chat.h"

#include "base/mem.h"

#define MAX_DETAILS 1024
#define MAX_MEMBERS 16
#define MAX_BYTES (16u << 20)

struct member {
    struct al_buf key, raw; /* raw: JSON */
};

struct detail {
    struct al_buf type, text;
    const char *text_key; /* "text" or "summary"; NULL: it is no text */
    int64_t index;        /* -1: none */
    struct member members[MAX_MEMBERS];
    size_t n;
};

struct al_llm_details {
    struct detail **v;
    size_t n, cap, bytes;
    bool lost; /* over a limit: half of it is of no use */
};

static void free_detail(struct detail *x)
{
    for (size_t i = 0; i < x->n; i++) {
        al_buf_free(&x->members[i].key);
        al_buf_free(&x->members[i].raw);
    }
    al_buf_free(&x->type);
    al_buf_free(&x->text);
    free(x);
}

void al_llm_details_free(struct al_llm_details *d)
{
    for (size_t i = 0; d && i < d->n; i++)
        free_detail(d->v[i]);
    if (d)
        free(d->v);
    free(d);
}

static const char *text_key_of(struct al_str type)
{
    return al_str_is(type, "reasoning.text")      ? "text"
           : al_str_is(type, "reasoning.summary") ? "summary"
                                                  : NULL;
}

static struct detail *detail_for(struct al_llm_details *d, struct al_str type, int64_t index)
{
    struct detail *last = d->n ? d->v[d->n - 1] : NULL;
    if (last && last->text_key && last->index == index && al_str_eq(al_buf_str(&last->type), type))
        return last;
    if (d->n == MAX_DETAILS)
        return NULL;
    if (d->n == d->cap) {
        d->cap = d->cap ? d->cap * 2 : 8;
        d->v = al_xrealloc(d->v, d->cap * sizeof *d->v);
    }
    struct detail *x = al_xcalloc(1, sizeof *x);
    al_buf_init(&x->type, MAX_BYTES);
    al_buf_init(&x->text, MAX_BYTES);
    al_buf_add_str(&x->type, type);
    x->text_key = text_key_of(type);
    x->index = index;
    d->v[d->n++] = x;
    return x;
}

/* The last value that says something wins: a signature comes with the last piece. */
static bool set_member(struct detail *x, const struct al_json *v)
{
    struct member *m = NULL;
    for (size_t i = 0; i < x->n && !m; i++) {
        if (al_str_eq(al_buf_str(&x->members[i].key), v->key))
            m = &x->members[i];
    }
    if (m && v->type == AL_JSON_NULL)
        return true;
    if (!m) {
        if (x->n == MAX_MEMBERS)
            return false;
        m = &x->members[x->n++];
        al_buf_init(&m->key, MAX_BYTES);
        al_buf_init(&m->raw, MAX_BYTES);
        al_buf_add_str(&m->key, v->key);
    }
    al_buf_clear(&m->raw);
    struct al_jw w;
    al_jw_init(&w, &m->raw);
    al_jw_value(&w, v);
    return true;
}

static bool add_detail(struct al_llm_details *d, const struct al_json *v)
{
    int64_t index = -1;
    d->bytes += v->raw.n;
    if (v->type != AL_JSON_OBJECT || d->bytes > MAX_BYTES)
        return v->type != AL_JSON_OBJECT;
    (void)al_json_int(al_json_get(v, "index"), 0, INT32_MAX, &index);
    struct detail *x = detail_for(d, al_json_get_text(v, "type"), index);
    if (!x)
        return false;
    al_json_each(it, v)
    {
        if (x->text_key && al_str_is(it->key, x->text_key))
            al_buf_add_str(&x->text, it->str);
        else if (!al_str_is(it->key, "type") && !set_member(x, it))
            return false;
    }
    return true;
}

void al_llm_details_add(struct al_llm_details **d, struct al_llm_reader *r, const struct al_json *list)
{
    if (list && !*d)
        *d = al_xcalloc(1, sizeof **d);
    al_json_each(it, list)
    {
        if ((*d)->lost || add_detail(*d, it))
            continue;
        (*d)->lost = true;
        al_llm_reader_warn(r, "details of the reasoning are too large to be sent back");
    }
}

void al_llm_details_write(const struct al_llm_details *d, struct al_buf *out)
{
    if (!d || !d->n || d->lost)
        return;
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_key(&w, "reasoning_details");
    al_jw_arr(&w);
    for (size_t i = 0; i < d->n; i++) {
        const struct detail *x = d->v[i];
        al_jw_obj(&w);
        al_jw_kstr(&w, "type", al_buf_str(&x->type));
        if (x->text_key)
            al_jw_kstr(&w, x->text_key, al_buf_str(&x->text));
        for (size_t j = 0; j < x->n; j++) {
            al_jw_key_str(&w, al_buf_str(&x->members[j].key));
            al_jw_raw(&w, al_buf_str(&x->members[j].raw));
        }
        al_jw_end(&w);
    }
    al_jw_end(&w);
    al_jw_end(&w);
}
