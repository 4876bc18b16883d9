/* Readers of model streams. The first byte chooses the API and whether it is a whole answer. However it is
 * cut, the outcome is the same; a message is only what ended; what goes into the journal comes back, as text
 * and JSON. */
#include "llm/llm_int.h"

#include "base/mem.h"
#include "base/text.h"

struct told {
    struct al_buf text;
};

static void on_text(void *ud, struct al_str text)
{
    if (!text.n || !al_utf8_valid(text) || memchr(text.p, 0, text.n))
        abort();
    al_buf_add_str(&((struct told *)ud)->text, text);
}

static void on_warning(void *ud, struct al_str text)
{
    (void)ud;
    if (!text.n || !al_utf8_valid(text))
        abort();
}

static void check_text(struct al_str s)
{
    if (!al_utf8_valid(s) || (s.n && memchr(s.p, 0, s.n)))
        abort();
}

/* Written, read and written again: the same bytes. */
static void check_journal(const struct al_llm_message *m)
{
    autobuf struct al_buf first = AL_BUF_INIT(1u << 30), second = AL_BUF_INIT(1u << 30);
    autoarena struct al_arena arena = AL_ARENA_INIT(1u << 30);
    const struct al_json *v = NULL;
    struct al_llm_message again;
    struct al_err err;
    struct al_jw w;
    al_jw_init(&w, &first);
    al_llm_message_write(&w, m);
    if (al_json_parse(&arena, al_buf_str(&first), &v, &err) < 0 ||
        al_llm_message_read(&arena, v, &again, &err) < 0)
        abort();
    al_jw_init(&w, &second);
    al_llm_message_write(&w, &again);
    if (!al_str_eq(al_buf_str(&first), al_buf_str(&second)) || again.n_parts != m->n_parts)
        abort();
    for (size_t i = 0; i < m->n_parts; i++) {
        const struct al_llm_part *a = &m->parts[i], *b = &again.parts[i];
        if (a->kind != b->kind || !al_str_eq(a->text, b->text) || !al_str_eq(a->raw, b->raw) ||
            !al_str_eq(a->name, b->name) || !al_str_eq(a->id, b->id) ||
            !al_str_eq(a->provider_id, b->provider_id))
            abort();
    }
}

static void tell_message(const struct al_llm_reader *r, struct al_buf *out)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(1u << 30);
    struct al_llm_message m;
    struct al_err err;
    if (al_llm_reader_message(r, &arena, &m, &err) < 0)
        abort();
    for (size_t i = 0; i < m.n_parts; i++) {
        const struct al_llm_part *p = &m.parts[i];
        check_text(p->text);
        check_text(p->name);
        check_text(p->provider_id);
        if (p->raw.n && !al_json_check(p->raw, 100))
            abort();
        if (p->kind == AL_LLM_CALL ? !al_id_valid(p->id, "call_") : !p->text.n && !p->raw.n)
            abort();
        al_buf_addf(out, "%d %zu %zu:", p->kind, p->text.n, p->raw.n);
        al_buf_add_str(out, p->text);
        al_buf_add_str(out, p->raw);
        al_buf_add_str(out, p->name);
        al_buf_add_str(out, p->provider_id);
    }
    m.from = (struct al_llm_from){
        .provider = AL_S("p"), .base_url = AL_S("http://h"), .model = AL_S("m"), .api = r->api};
    check_journal(&m);
}

static void read_it(enum al_api api, struct al_str text, size_t step, struct al_buf *out)
{
    static const struct al_llm_sink sink = {.text = on_text, .reasoning = on_text, .warning = on_warning};
    struct told told = {AL_BUF_INIT(1u << 30)};
    struct al_llm_reader r;
    al_llm_reader_init(&r, api, &sink, &told);
    if (step == 0)
        al_llm_reader_whole(&r, text);
    for (size_t at = 0; step && at < text.n; at += step)
        al_llm_reader_feed(&r, (struct al_str){text.p + at, text.n - at < step ? text.n - at : step});
    al_llm_reader_eof(&r);
    if (r.state != AL_LLM_ENDED && r.state != AL_LLM_FAILED)
        abort();
    if (r.usage.cached_input + r.usage.cache_write > r.usage.input || r.usage.reasoning > r.usage.output ||
        r.usage.input < 0 || r.usage.output < 0)
        abort();
    if (r.state == AL_LLM_ENDED) {
        al_buf_addf(out, "%d %s\n", r.end, r.end_word);
        tell_message(&r, out);
    } else {
        check_text(al_str_of(r.fault.message));
        al_buf_addf(out, "%d %s\n", r.fault.kind, r.fault.message);
    }
    al_buf_add_str(out, al_buf_str(&told.text));
    al_buf_free(&told.text);
    al_llm_reader_fini(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    enum al_api api = (enum al_api)(data[0] % AL_N_APIS);
    struct al_str text = {(const char *)data + 1, size - 1};
    autobuf struct al_buf all = AL_BUF_INIT(1u << 30);
    if (data[0] & 0x80) {
        read_it(api, text, 0, &all);
        return 0;
    }
    read_it(api, text, size, &all);
    for (size_t step = 1; step < 8; step += 3) {
        autobuf struct al_buf cut = AL_BUF_INIT(1u << 30);
        read_it(api, text, step, &cut);
        if (!al_str_eq(al_buf_str(&all), al_buf_str(&cut)))
            abort();
    }
    return 0;
}
