/* The frame of a page: its policy, its heads, its scripts. */
#include "dashboard/page_int.h"

#include "assets/assets.h"
#include "base/ident.h"

/* Styles, then scripts. */
static const char *const files[AL_PAGE_STYLES + AL_PAGE_SCRIPTS] = {
    "html-base.css", "charts.css", "dashboard.css", "chart.umd.min.js", "charts-boot.js", "dashboard.js"};
#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* A file for the page: without the comment at its head, lines that are comments, and indentation; without the
 * last line of Chart.js, which names a file of its makers. None ends its own element or has a text over
 * several lines; a test says so. */
static void add_lean(struct al_buf *out, struct al_str s)
{
    ptrdiff_t head = al_str_starts(s, "/*\n") ? al_str_find(s, AL_STR("*/\n")) : -1;
    size_t i = head < 0 ? 0 : (size_t)head + 3;
    while (i < s.n) {
        while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\n'))
            i++;
        const char *end = memchr(s.p + i, '\n', s.n - i);
        struct al_str line = {s.p + i, end ? (size_t)(end - s.p) - i : s.n - i};
        if (!al_str_starts(line, "//")) {
            al_buf_add_str(out, line);
            al_buf_addc(out, '\n');
        }
        i += line.n;
    }
}

void al_page_read_assets(struct al_page *p)
{
    for (size_t i = 0; i < AL_PAGE_STYLES + AL_PAGE_SCRIPTS; i++) {
        add_lean(&p->text, al_asset(files[i]));
        p->assets[i] = al_page_keep(p);
    }
}

static unsigned hex(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* 'sha256-…' of a text, in base 64, as a policy has it. */
static void put_hash(struct al_page *p, struct al_str text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char z[AL_SHA256_HEX];
    al_sha256(text, z);
    al_page_add(p, " 'sha256-");
    for (int i = 0; i < 64; i += 6) { /* 3 bytes are 6 digits here and 4 there; 32 bytes leave 2 */
        unsigned bits = 0;
        for (int k = 0; k < 6; k++)
            bits = bits << 4 | (i + k < 64 ? hex(z[i + k]) : 0);
        for (int k = 0; k < 4; k++)
            al_buf_addc(p->out, i + 6 > 64 && k == 3 ? '=' : digits[bits >> (18 - 6 * k) & 63]);
    }
    al_page_add(p, "'");
}

static void put_policy(struct al_page *p)
{
    al_page_add(p, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src");
    for (size_t i = 0; i < AL_PAGE_SCRIPTS; i++)
        put_hash(p, p->assets[AL_PAGE_STYLES + i]);
    al_page_add(p, "; style-src");
    for (size_t i = 0; i < AL_PAGE_STYLES; i++)
        put_hash(p, p->assets[i]);
    al_page_add(p, "; img-src data:; form-action 'none'; base-uri 'none'\">\n");
}

static bool right_to_left(struct al_str locale)
{
    static const char *const languages[] = {"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"};
    struct al_str language = locale;
    for (size_t i = 0; i < locale.n; i++) {
        if (locale.p[i] == '-') {
            language.n = i;
            break;
        }
    }
    if (locale.n >= language.n + 5 && al_str_starts((struct al_str){locale.p + language.n, 5}, "-Latn"))
        return false;
    for (size_t i = 0; i < COUNT(languages); i++) {
        if (al_str_is(language, languages[i]))
            return true;
    }
    return false;
}

void al_page_head(struct al_page *p)
{
    p->rtl = right_to_left(p->d->plan.locale);
    al_page_add(p, "<!doctype html>\n<html lang=\"");
    al_page_text(p, p->d->plan.locale);
    al_page_add(p, p->rtl ? "\" dir=\"rtl\">\n" : "\">\n");
    al_page_add(p, "<head>\n<meta charset=\"utf-8\">\n");
    put_policy(p);
    al_page_add(p, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" "
                   "content=\"no-referrer\">\n<title>");
    al_page_text(p, p->d->plan.title);
    al_page_add(p, "</title>\n");
    for (size_t i = 0; i < AL_PAGE_STYLES; i++) {
        al_page_add(p, "<style>");
        al_buf_add_str(p->out, p->assets[i]);
        al_page_add(p, "</style>\n");
    }
    al_page_add(p, "</head>\n<body>\n<main class=\"ac-dash\" data-ac-locale=\"");
    al_page_text(p, p->d->plan.locale);
    al_page_add(p, "\">\n");
}

void al_page_library(struct al_page *p)
{
    al_page_add(p, "</main>\n");
    al_page_cube(p);
    for (size_t i = 0; i < AL_PAGE_SCRIPTS; i++) {
        al_page_add(p, "<script>");
        al_buf_add_str(p->out, p->assets[AL_PAGE_STYLES + i]);
        al_page_add(p, "</script>\n");
    }
    al_page_add(p, "</body>\n</html>\n");
}
