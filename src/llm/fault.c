/* Faults: from an answer that is none, from an error within a stream, from what the HTTP client says. */
#include "base/text.h"
#include "llm/fault_int.h"

#include <stdio.h>
#include <strings.h>

#define SHOWN_CHARS 200 /* of a body that is no error object */

static void set_text(char *to, size_t size, struct al_str text, const char *key, size_t max_chars)
{
    autobuf struct al_buf out = AL_BUF_INIT(8192);
    al_llm_scrub(text, key, max_chars, &out);
    struct al_str s = al_utf8_cut(al_buf_str(&out), size - 1);
    memcpy(to, s.p, s.n);
    to[s.n] = 0;
}

#define SET(field, text, key) set_text(field, sizeof(field), text, key, sizeof(field))

void al_llm_fault_say(struct al_llm_fault *f, struct al_str text, const char *key)
{
    SET(f->message, text, key);
}

/* The words into the fault: harmless from here on. */
static void take_words(struct al_llm_fault *f, const struct al_llm_words *w, const char *key)
{
    SET(f->type, w->type, key);
    SET(f->code, w->code, key);
    struct al_str field = w->field[0] ? al_str_of(w->field) : w->param;
    SET(f->field, field, key);
    if (w->message.n)
        SET(f->message, al_buf_str(&w->message), key);
    if (w->request_id.n && !f->request_id[0])
        SET(f->request_id, w->request_id, key);
}

/* Markup and style sheets of an error page are of no use to anyone. */
static void strip_markup(struct al_str body, struct al_buf *out)
{
    bool inside = false;
    size_t i = 0;
    while (i < body.n) {
        struct al_str rest = {body.p + i, body.n - i};
        static const char *const blocks[][2] = {
            {"<style", "</style"}, {"<script", "</script"}, {"<!--", "-->"}};
        size_t skip = 0;
        for (size_t k = 0; k < 3 && !skip; k++) {
            size_t n = strlen(blocks[k][0]);
            if (rest.n < n || strncasecmp(rest.p, blocks[k][0], n) != 0)
                continue;
            skip = n;
            while (skip < rest.n &&
                   strncasecmp(rest.p + skip, blocks[k][1],
                               rest.n - skip < strlen(blocks[k][1]) ? rest.n - skip : strlen(blocks[k][1])) !=
                       0)
                skip++;
        }
        if (skip) {
            i += skip;
            continue;
        }
        inside = inside || body.p[i] == '<';
        if (!inside)
            al_buf_addc(out, body.p[i]);
        else if (body.p[i] == '>') {
            inside = false;
            al_buf_addc(out, ' ');
        }
        i++;
    }
}

static void show_body(struct al_llm_fault *f, struct al_str type, struct al_str body, const char *key)
{
    autobuf struct al_buf text = AL_BUF_INIT(AL_LLM_MAX_ERROR), shown = AL_BUF_INIT(4096),
                          line = AL_BUF_INIT(4096);
    if (al_llm_says(type, "html"))
        strip_markup(body, &text);
    else
        al_buf_add_str(&text, body);
    al_llm_scrub(al_buf_str(&text), key, SHOWN_CHARS, &shown);
    al_buf_addf(&line, "status %d", f->status);
    if (type.n) {
        al_buf_adds(&line, ", ");
        al_llm_scrub(type, key, 60, &line);
    }
    if (shown.n)
        al_buf_addf(&line, ": %.*s", AL_FMT(al_buf_str(&shown)));
    else
        al_buf_adds(&line, ", and nothing in it");
    struct al_str s = al_utf8_cut(al_buf_str(&line), sizeof(f->message) - 1);
    memcpy(f->message, s.p, s.n);
    f->message[s.n] = 0;
}

static const char *no_header(void *ud, const char *name)
{
    (void)ud;
    (void)name;
    return NULL;
}

/* Where to, without user and query: they may be secrets. */
static void say_target(struct al_llm_fault *f, const char *location, const char *key)
{
    autobuf struct al_buf text = AL_BUF_INIT(AL_LLM_MAX_ERROR);
    al_buf_addf(&text, "status %d redirects to ", f->status);
    if (location && *location)
        al_llm_show_url(al_str_of(location), &text);
    else
        al_buf_adds(&text, "no place that it names");
    SET(f->message, al_buf_str(&text), key);
}

static void read_hints(struct al_llm_fault *f, const char *(*header)(void *ud, const char *name), void *ud,
                       const char *key)
{
    static const char *const ids[] = {"request-id", "x-request-id", "x-generation-id", "cf-ray"};
    for (size_t i = 0; !f->request_id[0] && i < sizeof(ids) / sizeof(*ids); i++)
        if (header(ud, ids[i]))
            SET(f->request_id, al_str_of(header(ud, ids[i])), key);
    int64_t now = al_wall_ms();
    const char *date = header(ud, "date");
    if (date)
        al_llm_date(date, &now); /* a clock that is wrong here does not matter, then */
    f->retry_after_ms = al_llm_retry_after(header(ud, "retry-after-ms"), header(ud, "retry-after"), now);
}

/* What the server says beside the table. Money and the window are as they are, however often it is asked. */
static void obey_should_retry(struct al_llm_fault *f, const char *word)
{
    struct al_str s = al_str_trim(al_str_of(word));
    bool final = f->kind == AL_LLM_FAULT_QUOTA || f->kind == AL_LLM_FAULT_OVERFLOW;
    if (s.n == 4 && strncasecmp(s.p, "true", 4) == 0)
        f->retry = !final;
    else if (s.n == 5 && strncasecmp(s.p, "false", 5) == 0)
        f->retry = false;
}

void al_llm_fault_of_answer(int status, struct al_str content_type, struct al_str body,
                            const char *(*header)(void *ud, const char *name), void *ud, const char *key,
                            struct al_llm_fault *ret)
{
    struct al_llm_fault f = {.status = status, .retry_after_ms = -1};
    autoarena struct al_arena arena = AL_ARENA_INIT(4u << 20);
    struct al_llm_words words = AL_LLM_WORDS_INIT;
    const struct al_json *v = NULL;
    header = header ? header : no_header;
    body.n = body.n > AL_LLM_MAX_ERROR ? AL_LLM_MAX_ERROR : body.n;
    read_hints(&f, header, ud, key);
    if (al_json_parse(&arena, body, &v, NULL) == 0)
        al_llm_words_read(&words, v);
    if (words.any)
        take_words(&f, &words, key);
    if (!f.message[0])
        show_body(&f, content_type, body, key);
    if (status < 300 && !words.any) {
        f.kind = AL_LLM_FAULT_MALFORMED;
        f.retry = true;
    } else {
        al_llm_fault_class(&f, &words);
    }
    if (f.kind == AL_LLM_FAULT_REDIRECT)
        say_target(&f, header(ud, "location"), key);
    obey_should_retry(&f, header(ud, "x-should-retry"));
    /* Whoever refuses has computed nothing; a gateway may have lost an answer that was. */
    f.answered =
        status < 300 || status == 500 || status == 502 || status == 504 || (status >= 520 && status < 529);
    al_llm_words_fini(&words);
    *ret = f;
}

void al_llm_fault_of_error(const struct al_json *error, const char *key, struct al_llm_fault *ret)
{
    struct al_llm_fault f = {.retry_after_ms = -1, .answered = true};
    struct al_llm_words words = AL_LLM_WORDS_INIT;
    al_llm_words_read(&words, error);
    take_words(&f, &words, key);
    if (!f.message[0] && error && !f.code[0] && !f.type[0])
        set_text(f.message, sizeof(f.message), error->raw, key, SHOWN_CHARS);
    f.status = words.status;
    if (f.status < 300)
        f.status = 0;
    al_llm_fault_class(&f, &words);
    if (f.kind == AL_LLM_FAULT_REDIRECT)
        f.kind = AL_LLM_FAULT_SERVER;
    if (!f.message[0])
        snprintf(f.message, sizeof(f.message), "%s",
                 f.code[0]   ? f.code
                 : f.type[0] ? f.type
                             : "it reported an error, without a word about it");
    al_llm_words_fini(&words);
    *ret = f;
}

void al_llm_fault_of_transport(const struct al_err *err, bool any_byte, struct al_llm_fault *ret)
{
    struct al_llm_fault f = {.retry_after_ms = -1, .answered = any_byte};
    switch (err->code) {
    case AL_TIMEOUT:
        f.kind = AL_LLM_FAULT_TIMEOUT;
        break;
    case AL_CANCELLED:
        f.kind = AL_LLM_FAULT_CANCELLED;
        break;
    case AL_RESULT_TOO_LARGE:
        f.kind = AL_LLM_FAULT_TOO_LARGE;
        break;
    case AL_UPSTREAM_UNAVAILABLE:
        f.kind = any_byte ? AL_LLM_FAULT_CUT : AL_LLM_FAULT_CONNECT;
        if (strcmp(err->detail, AL_HTTP_UNTRUSTED) == 0)
            f.kind = AL_LLM_FAULT_TLS;
        break;
    default:
        f.kind = AL_LLM_FAULT_LOCAL;
        snprintf(f.type, sizeof(f.type), "%s", al_code_name(err->code));
    }
    f.retry = f.kind == AL_LLM_FAULT_TIMEOUT || f.kind == AL_LLM_FAULT_CUT || f.kind == AL_LLM_FAULT_CONNECT;
    autobuf struct al_buf text = AL_BUF_INIT(2048);
    al_buf_adds(&text, err->msg);
    if (err->hint[0] && err->code != AL_PERMISSION_DENIED) /* which has its own hint, of the provider */
        al_buf_addf(&text, " (%s)", err->hint);
    SET(f.message, al_buf_str(&text), NULL);
    *ret = f;
}
