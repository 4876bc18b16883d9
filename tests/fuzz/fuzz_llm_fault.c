/*
 * What providers answer in place of an answer. The first line holds the status, the second and third the
 * headers retry-after and location, the rest is the body; each byte 1 stands for the key. Whatever it is:
 * words that a terminal may see and that hold no key, a wait that is one, a window that is one, and money is
 * never asked for again.
 */
#include "llm/fault_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <strings.h>

#define PIECE 12 /* bytes of it that are as good as it */
#define KEY "sk-proj-Canary0123456789abcdefXYZ"

struct hints {
    char after[512], location[1024];
};

static const char *header_of(void *ud, const char *name)
{
    const struct hints *h = ud;
    if (strcasecmp(name, "retry-after") == 0)
        return h->after;
    return strcasecmp(name, "location") == 0 ? h->location : NULL;
}

static void check_text(const char *text, size_t size)
{
    size_t n = strnlen(text, size);
    struct al_str s = {text, n};
    if (n == size || !al_utf8_valid(s) || strstr(text, "sk-proj-"))
        abort();
    for (size_t i = 0; i + PIECE <= strlen(KEY); i++)
        if (memmem(text, n, &KEY[i], PIECE))
            abort();
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            abort();
}

static void check(const struct al_llm_fault *f)
{
    static const struct al_provider p = {
        .name = (char *)"maker", .base_url = (char *)"https://user:" KEY "@api.maker.example/v1?k=" KEY};
    struct al_err err = {0};
    int64_t window;
    check_text(f->message, sizeof(f->message));
    check_text(f->type, sizeof(f->type));
    check_text(f->code, sizeof(f->code));
    check_text(f->field, sizeof(f->field));
    check_text(f->request_id, sizeof(f->request_id));
    if (!f->message[0] || (unsigned)f->kind > AL_LLM_FAULT_CANCELLED || f->retry_after_ms < -1 ||
        f->window < 0)
        abort();
    if (f->retry &&
        (f->kind == AL_LLM_FAULT_QUOTA || f->kind == AL_LLM_FAULT_OVERFLOW || f->kind == AL_LLM_FAULT_AUTH))
        abort();
    if (f->window && f->kind != AL_LLM_FAULT_OVERFLOW)
        abort();
    al_llm_is_overflow(f, &window);
    if (al_llm_fault_about_field(f, AL_STR("{}")) >= 0 ||
        al_llm_fault_about_field(f, AL_STR("")) >= AL_LLM_N_FIELDS || al_llm_fault_max_output(f) < 0)
        abort();
    al_llm_fault_about_reasoning(f);
    al_llm_fault_wants_reasoning(f);
    al_llm_fault_err(f, &p, "model-1", &err);
    check_text(err.msg, sizeof(err.msg));
    check_text(err.hint, sizeof(err.hint));
    if (err.code == AL_OK || !err.msg[0])
        abort();
}

/* Puts the key where the input says so. */
static void with_key(struct al_str in, struct al_buf *out)
{
    for (size_t i = 0; i < in.n; i++) {
        if (in.p[i] == 1)
            al_buf_adds(out, KEY);
        else
            al_buf_addc(out, in.p[i]);
    }
}

static struct al_str line(struct al_str *rest)
{
    const char *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
    struct al_str s = {rest->p, end ? (size_t)(end - rest->p) : rest->n};
    size_t used = s.n + (end != NULL);
    *rest = (struct al_str){rest->p + used, rest->n - used};
    return s;
}

static void text_of(struct al_str s, char *to, size_t size)
{
    autobuf struct al_buf b = AL_BUF_INIT(1 << 20);
    with_key(s, &b);
    size_t n = b.n < size ? b.n : size - 1;
    for (size_t i = 0; i < n; i++)
        to[i] = b.p[i] ? b.p[i] : ' ';
    to[n] = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct al_str rest = {(const char *)data, size};
    autobuf struct al_buf body = AL_BUF_INIT(1 << 24), shown = AL_BUF_INIT(1 << 24);
    struct hints hints = {0};
    struct al_llm_fault f;
    int64_t status = 400;
    al_parse_int(line(&rest), 200, 599, &status);
    text_of(line(&rest), hints.after, sizeof(hints.after));
    text_of(line(&rest), hints.location, sizeof(hints.location));
    with_key(rest, &body);
    al_llm_fault_of_answer((int)status, AL_STR("application/json"), al_buf_str(&body), header_of, &hints, KEY,
                           &f);
    check(&f);
    al_llm_fault_of_answer((int)status, AL_STR("text/html"), al_buf_str(&body), NULL, NULL, KEY, &f);
    check(&f);
    autoarena struct al_arena arena = AL_ARENA_INIT(64 << 20);
    const struct al_json *v = NULL;
    if (al_json_parse(&arena, al_buf_str(&body), &v, NULL) < 0)
        v = NULL;
    al_llm_fault_of_error(v, KEY, &f);
    check(&f);
    al_llm_scrub(al_buf_str(&body), KEY, 300, &shown);
    if (al_utf8_count(al_buf_str(&shown)) > 301)
        abort();
    struct al_llm_facts facts;
    al_llm_facts_read(v, &facts);
    if (facts.window < 0 || facts.max_output < 0 || facts.without >> AL_LLM_N_FIELDS)
        abort();
    return 0;
}
