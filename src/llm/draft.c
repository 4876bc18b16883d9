/* The message that a stream makes: parts that grow, found by the key or the id that the wire has for them. */
#include "llm/llm_int.h"

#include "base/mem.h"
#include "base/text.h"

#define MAX_ID 4096
#define MAX_NAME 1024
#define RAW_DEPTH 100 /* what stands in the journal is nested in a message and a row */

/* Of a call's arguments, so that the question whether they are whole costs nothing. */
enum {
    ARGS_NONE, /* nothing but white space */
    ARGS_OPEN,
    ARGS_STRING,
    ARGS_ESCAPE,
    ARGS_WHOLE,
    ARGS_OTHER, /* no object and no array: never known to be whole */
};

static size_t slot_of(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    return (size_t)(x % AL_LLM_DRAFT_SLOTS);
}

static size_t key_slot(const struct al_llm_draft *d, enum al_llm_part_kind kind, int64_t key)
{
    return slot_of(d->seed ^ ((uint64_t)key * 4 + kind));
}

static size_t id_slot(const struct al_llm_draft *d, struct al_str id)
{
    uint64_t h = d->seed;
    for (size_t i = 0; i < id.n; i++)
        h = (h ^ (unsigned char)id.p[i]) * 0x100000001b3u;
    return slot_of(h);
}

struct al_llm_draft_part *al_llm_draft_find(struct al_llm_draft *d, enum al_llm_part_kind kind, int64_t key)
{
    if (!d->by_key)
        return NULL;
    struct al_llm_draft_part *p = d->by_key[key_slot(d, kind, key)];
    while (p && (p->kind != kind || p->key != key))
        p = p->older_key;
    return p && !p->closed ? p : NULL;
}

struct al_llm_draft_part *al_llm_draft_find_id(struct al_llm_draft *d, struct al_str id)
{
    if (!d->by_id || !id.n)
        return NULL;
    struct al_llm_draft_part *p = d->by_id[id_slot(d, id)];
    while (p && !al_str_eq(al_buf_str(&p->id), id))
        p = p->older_id;
    return p;
}

static void make_tables(struct al_llm_draft *d)
{
    if (d->by_key)
        return;
    d->by_key = al_xcalloc(AL_LLM_DRAFT_SLOTS, sizeof *d->by_key);
    d->by_id = al_xcalloc(AL_LLM_DRAFT_SLOTS, sizeof *d->by_id);
    al_random(&d->seed, sizeof d->seed);
}

static bool room(struct al_llm_reader *r, size_t n)
{
    if (r->state == AL_LLM_FAILED)
        return false;
    if (n <= AL_LLM_MAX_ANSWER - r->draft.bytes) {
        r->draft.bytes += n;
        return true;
    }
    al_llm_reader_fail(r, AL_LLM_FAULT_TOO_LARGE, "the answer is larger than %u MiB",
                       AL_LLM_MAX_ANSWER >> 20);
    return false;
}

struct al_llm_draft_part *al_llm_draft_open(struct al_llm_reader *r, enum al_llm_part_kind kind, int64_t key)
{
    struct al_llm_draft *d = &r->draft;
    if (r->state == AL_LLM_FAILED)
        return NULL;
    if (d->n == AL_LLM_MAX_PARTS) {
        al_llm_reader_fail(r, AL_LLM_FAULT_TOO_LARGE, "the answer has more than %d parts", AL_LLM_MAX_PARTS);
        return NULL;
    }
    make_tables(d);
    if (d->n == d->cap) {
        d->cap = d->cap ? d->cap * 2 : 16;
        d->parts = al_xrealloc(d->parts, d->cap * sizeof *d->parts);
    }
    struct al_llm_draft_part *p = al_xcalloc(1, sizeof *p);
    p->kind = kind;
    p->key = key;
    al_buf_init(&p->text, AL_LLM_MAX_ANSWER);
    al_buf_init(&p->raw, AL_LLM_MAX_ANSWER);
    /* A signature is longer than any id. */
    al_buf_init(&p->id, kind == AL_LLM_CALL ? MAX_ID : AL_LLM_MAX_ANSWER);
    al_buf_init(&p->name, MAX_NAME);
    al_buf_init(&p->item, MAX_ID);
    size_t slot = key_slot(d, kind, key);
    p->older_key = d->by_key[slot];
    d->by_key[slot] = p;
    d->parts[d->n++] = p;
    if (kind == AL_LLM_CALL)
        r->first_token = true;
    return p;
}

/* A NUL is no character of any text that is kept. */
static void add_clean(struct al_buf *out, struct al_str text)
{
    while (text.n) {
        const char *nul = memchr(text.p, 0, text.n);
        size_t n = nul ? (size_t)(nul - text.p) : text.n;
        al_buf_add(out, text.p, n);
        if (nul)
            al_buf_adds(out, "\xef\xbf\xbd");
        n += nul != NULL;
        text.p += n;
        text.n -= n;
    }
}

void al_llm_draft_id(struct al_llm_reader *r, struct al_llm_draft_part *p, struct al_str id)
{
    if (!id.n || p->id.n || !room(r, id.n))
        return;
    if (id.n > MAX_ID || memchr(id.p, 0, id.n)) {
        al_llm_reader_warn(r, "a call's id of %zu bytes is left out", id.n);
        return;
    }
    al_buf_add_str(&p->id, id);
    size_t slot = id_slot(&r->draft, id);
    p->older_id = r->draft.by_id[slot];
    r->draft.by_id[slot] = p;
}

void al_llm_draft_name(struct al_llm_reader *r, struct al_llm_draft_part *p, struct al_str more)
{
    if (!room(r, more.n))
        return;
    autobuf struct al_buf clean = AL_BUF_INIT(AL_LLM_MAX_ANSWER);
    add_clean(&clean, more);
    struct al_str fits = al_utf8_cut(al_buf_str(&clean), MAX_NAME - p->name.n);
    if (fits.n < clean.n)
        al_llm_reader_warn(r, "the name of a tool is cut at %d bytes", MAX_NAME);
    al_buf_add_str(&p->name, fits);
}

/* One byte of arguments. What is no JSON at all is found by whoever reads them. */
static void scan_byte(struct al_llm_draft_part *p, char c)
{
    switch (p->args) {
    case ARGS_NONE:
        if (c == '{' || c == '[') {
            p->args = ARGS_OPEN;
            p->args_depth = 1;
        } else if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
            p->args = ARGS_OTHER;
        }
        break;
    case ARGS_OPEN:
        if (c == '"')
            p->args = ARGS_STRING;
        else if (c == '{' || c == '[')
            p->args_depth++;
        else if ((c == '}' || c == ']') && --p->args_depth == 0)
            p->args = ARGS_WHOLE;
        break;
    case ARGS_STRING:
        if (c == '\\')
            p->args = ARGS_ESCAPE;
        else if (c == '"')
            p->args = ARGS_OPEN;
        break;
    case ARGS_ESCAPE:
        p->args = ARGS_STRING;
        break;
    default:
        break;
    }
}

static void scan_args(struct al_llm_draft_part *p, struct al_str text)
{
    for (size_t i = 0; i < text.n && p->args != ARGS_WHOLE && p->args != ARGS_OTHER; i++)
        scan_byte(p, text.p[i]);
}

bool al_llm_draft_args_whole(const struct al_llm_draft_part *p)
{
    return p->args == ARGS_WHOLE;
}

bool al_llm_draft_has_calls(const struct al_llm_draft *d)
{
    for (size_t i = 0; i < d->n; i++) {
        if (d->parts[i]->kind == AL_LLM_CALL)
            return true;
    }
    return false;
}

/* As al_llm_message_text has it: a blank line between texts that were apart. */
static bool apart(const struct al_llm_reader *r, const struct al_llm_draft_part *p)
{
    const struct al_llm_draft *d = &r->draft;
    bool between = r->api == AL_API_RESPONSES;
    for (size_t i = d->n; i-- > 0 && d->parts[i] != r->told && !between;) {
        const struct al_llm_draft_part *q = d->parts[i];
        between =
            q != p && (q->kind == AL_LLM_CALL || (q->kind == AL_LLM_REASONING && (q->text.n || q->raw.n)));
    }
    return between;
}

static void tell_text(struct al_llm_reader *r, const struct al_llm_draft_part *p, struct al_str text,
                      bool first)
{
    if (first && r->told && apart(r, p)) {
        r->told_chars += 2;
        r->sink->text(r->ud, AL_STR("\n\n"));
    }
    r->told = p;
    r->sink->text(r->ud, text);
}

/* first: nothing of the part was told before. */
static void tell(struct al_llm_reader *r, const struct al_llm_draft_part *p, struct al_str text, bool first)
{
    if (!text.n || p->kind == AL_LLM_CALL)
        return;
    r->first_token = true;
    r->told_chars += al_utf8_count(text);
    if (!r->sink)
        return;
    if (p->kind == AL_LLM_TEXT && r->sink->text)
        tell_text(r, p, text, first);
    if (p->kind == AL_LLM_REASONING && r->sink->reasoning)
        r->sink->reasoning(r->ud, text);
}

void al_llm_draft_text(struct al_llm_reader *r, struct al_llm_draft_part *p, struct al_str text)
{
    if (!p || !text.n || !room(r, text.n))
        return;
    size_t from = p->text.n;
    add_clean(&p->text, text);
    if (al_buf_failed(&p->text)) { /* as NULs have grown */
        al_llm_reader_fail(r, AL_LLM_FAULT_TOO_LARGE, "the answer is larger than %u MiB",
                           AL_LLM_MAX_ANSWER >> 20);
        return;
    }
    struct al_str added = {p->text.p + from, p->text.n - from};
    if (p->kind == AL_LLM_CALL)
        scan_args(p, added);
    tell(r, p, added, from == 0);
}

void al_llm_draft_string(struct al_llm_reader *r, struct al_llm_draft_part *p, const struct al_json *v)
{
    if (p && v)
        al_llm_draft_text(r, p, al_llm_reader_string(r, &p->half, v));
}

void al_llm_draft_final(struct al_llm_reader *r, struct al_llm_draft_part *p, struct al_str text)
{
    struct al_str had = al_buf_str(&p->text);
    if (!text.n)
        return;
    p->half = 0;
    if (text.n >= had.n && memcmp(text.p, had.p, had.n) == 0) {
        al_llm_draft_text(r, p, (struct al_str){text.p + had.n, text.n - had.n});
        return;
    }
    autobuf struct al_buf clean = AL_BUF_INIT(AL_LLM_MAX_ANSWER);
    add_clean(&clean, text);
    if (al_str_eq(al_buf_str(&clean), had) || !room(r, clean.n))
        return;
    al_llm_reader_warn(r, "the end of a part says something else than its deltas did");
    al_buf_clear(&p->text);
    al_buf_add_str(&p->text, al_buf_str(&clean));
    p->args = ARGS_NONE;
    if (p->kind == AL_LLM_CALL)
        scan_args(p, al_buf_str(&p->text));
}

void al_llm_draft_raw(struct al_llm_reader *r, struct al_llm_draft_part *p, struct al_str json)
{
    if (!p || !room(r, json.n))
        return;
    al_buf_clear(&p->raw);
    if (al_json_check(json, RAW_DEPTH))
        al_buf_add_str(&p->raw, json);
    else
        al_llm_reader_warn(r, "a part that is nested too deeply cannot be sent back");
}

void al_llm_draft_value(struct al_llm_reader *r, struct al_llm_draft_part *p, const struct al_json *v)
{
    autobuf struct al_buf text = AL_BUF_INIT(AL_LLM_MAX_ANSWER);
    struct al_jw w;
    al_jw_init(&w, &text);
    al_jw_value(&w, v);
    if (!al_buf_failed(&text))
        al_llm_draft_raw(r, p, al_buf_str(&text));
}

void al_llm_draft_free(struct al_llm_draft *d)
{
    for (size_t i = 0; i < d->n; i++) {
        struct al_llm_draft_part *p = d->parts[i];
        al_buf_free(&p->text);
        al_buf_free(&p->raw);
        al_buf_free(&p->id);
        al_buf_free(&p->name);
        al_buf_free(&p->item);
        free(p);
    }
    free(d->parts);
    free(d->by_key);
    free(d->by_id);
    *d = (struct al_llm_draft){0};
}
