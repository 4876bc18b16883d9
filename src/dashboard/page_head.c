/* The frame of a page: its policy, its heads, its scripts. */
#include "dashboard/page_int.h"

#include "assets/assets.h"
#include "base/ident.h"

static const char *const styles[] = {"html-base.css", "charts.css", "dashboard.css"};
static const char *const scripts[] = {"chart.umd.min.js", "charts-boot.js", "dashboard.js"};
#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* Without the last line that names a file of the developer's. None of ours ends its own element; a test says
 * so. */
static struct al_str asset(const char *name)
{
    struct al_str s = al_asset(name);
    ptrdiff_t at = al_str_find(s, AL_STR("\n//# sourceMappingURL"));
    return at < 0 ? s : (struct al_str){s.p, (size_t)at};
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
    for (size_t i = 0; i < COUNT(scripts); i++)
        put_hash(p, asset(scripts[i]));
    al_page_add(p, "; style-src");
    for (size_t i = 0; i < COUNT(styles); i++)
        put_hash(p, asset(styles[i]));
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
    al_page_add(p, "<!doctype html>\n<html lang=\"");
    al_page_text(p, p->d->plan.locale);
    al_page_add(p, right_to_left(p->d->plan.locale) ? "\" dir=\"rtl\">\n" : "\">\n");
    al_page_add(p, "<head>\n<meta charset=\"utf-8\">\n");
    put_policy(p);
    al_page_add(p, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" "
                   "content=\"no-referrer\">\n<title>");
    al_page_text(p, p->d->plan.title);
    al_page_add(p, "</title>\n");
    for (size_t i = 0; i < COUNT(styles); i++) {
        al_page_add(p, "<style>");
        al_buf_add_str(p->out, asset(styles[i]));
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
    for (size_t i = 0; i < COUNT(scripts); i++) {
        al_page_add(p, "<script>");
        al_buf_add_str(p->out, asset(scripts[i]));
        al_page_add(p, "</script>\n");
    }
    al_page_add(p, "</body>\n</html>\n");
}
