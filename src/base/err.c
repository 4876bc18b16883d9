#include "base/err.h"

#include "base/text.h"

#include <stdio.h>

struct code_row {
    const char *name;
    int exit_status;
    int http;
};

static const struct code_row codes[] = {[AL_OK] = {"OK", 0, 200},
#define AL_CODE_ROW(name, exit_status, http) [AL_##name] = {#name, exit_status, http},
                                        AL_CODES(AL_CODE_ROW)
#undef AL_CODE_ROW
};

#define N_CODES (sizeof codes / sizeof codes[0])

/* Formats first and copies afterwards, because the arguments may point into dst. */
__attribute__((format(printf, 3, 0))) static void set(char *dst, size_t cap, const char *fmt, va_list ap)
{
    char tmp[sizeof((struct al_err *)0)->msg + 4]; /* shows whether the cut splits a character */
    int n = vsnprintf(tmp, sizeof tmp, fmt, ap);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof tmp ? (size_t)n : sizeof tmp - 1;
    if (n >= 0 && (size_t)n >= cap)
        len = al_utf8_cut((struct al_str){tmp, len}, cap - 1).n;
    memcpy(dst, tmp, len);
    dst[len] = '\0';
}

int al_fail(struct al_err *err, enum al_code code, const char *fmt, ...)
{
    if (!err)
        return -1;
    va_list ap;
    va_start(ap, fmt);
    set(err->msg, sizeof err->msg, fmt, ap);
    va_end(ap);
    err->code = code;
    err->hint[0] = err->detail[0] = '\0';
    return -1;
}

int al_fail_errno(struct al_err *err, enum al_code code, int eno, const char *fmt, ...)
{
    if (!err)
        return -1;
    char what[sizeof err->msg];
    va_list ap;
    va_start(ap, fmt);
    set(what, sizeof what, fmt, ap);
    va_end(ap);
    /* Unlike strerror(3), never translated and free of shared state. */
    const char *text = strerrordesc_np(eno);
    if (text)
        return al_fail(err, code, "%s: %s", what, text);
    return al_fail(err, code, "%s: error %d", what, eno);
}

int al_wrap(struct al_err *err, const char *fmt, ...)
{
    if (!err)
        return -1;
    char context[sizeof err->msg], old[sizeof err->msg];
    va_list ap;
    va_start(ap, fmt);
    set(context, sizeof context, fmt, ap);
    va_end(ap);
    memcpy(old, err->msg, sizeof old);
    size_t n = strlen(context), room = sizeof err->msg - 1;
    struct al_str parts[] = {{context, n}, AL_S(": "), al_str_of(old)};
    size_t at = 0;
    for (size_t i = 0; i < 3; i++) {
        struct al_str part = al_utf8_cut(parts[i], room - at);
        memcpy(err->msg + at, part.p, part.n);
        at += part.n;
        if (part.n < parts[i].n)
            break;
    }
    err->msg[at] = '\0';
    return -1;
}

int al_hint(struct al_err *err, const char *fmt, ...)
{
    if (!err)
        return -1;
    va_list ap;
    va_start(ap, fmt);
    set(err->hint, sizeof err->hint, fmt, ap);
    va_end(ap);
    return -1;
}

int al_detail(struct al_err *err, const char *fmt, ...)
{
    if (!err)
        return -1;
    va_list ap;
    va_start(ap, fmt);
    set(err->detail, sizeof err->detail, fmt, ap);
    va_end(ap);
    return -1;
}

void al_err_clear(struct al_err *err)
{
    if (!err)
        return;
    err->code = AL_OK;
    err->msg[0] = err->hint[0] = err->detail[0] = '\0';
}

static const struct code_row *row_of(enum al_code code)
{
    return (size_t)code < N_CODES ? &codes[code] : &codes[AL_INTERNAL];
}

const char *al_code_name(enum al_code code)
{
    return row_of(code)->name;
}

int al_code_exit(enum al_code code)
{
    return row_of(code)->exit_status;
}

int al_code_http(enum al_code code)
{
    return row_of(code)->http;
}

enum al_code al_code_find(const char *name, size_t n)
{
    struct al_str want = {name, n};
    for (size_t i = 1; i < N_CODES; i++) {
        if (al_str_is(want, codes[i].name))
            return (enum al_code)i;
    }
    return AL_OK;
}
