#include "tools/webfetch_int.h"

#include "base/text.h"

#include <strings.h>

#define SNIFF 1024

static bool is_one_of(struct al_str s, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (al_str_is(s, list[i]))
            return true;
    return false;
}

bool al_webfetch_is_text(struct al_str type)
{
    static const char *const types[] = {"",
                                        "application/json",
                                        "application/xml",
                                        "application/javascript",
                                        "application/ecmascript",
                                        "application/x-javascript",
                                        "application/yaml",
                                        "application/x-yaml",
                                        "application/toml",
                                        "application/x-ndjson",
                                        "application/ndjson",
                                        "application/jsonl",
                                        "application/json-seq",
                                        "application/sql",
                                        "application/graphql",
                                        "application/x-sh",
                                        "application/x-tex",
                                        "application/x-www-form-urlencoded",
                                        "application/typescript",
                                        "message/rfc822",
                                        "image/svg+xml"};
    static const char *const ends[] = {"+json", "+xml", "+yaml", "+text"};
    if (al_str_starts(type, "text/") || is_one_of(type, types, sizeof(types) / sizeof(*types)))
        return true;
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        if (al_str_ends(type, ends[i]) && al_str_starts(type, "application/"))
            return true;
    return false;
}

static bool starts_nocase(struct al_str s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.n >= n && strncasecmp(s.p, prefix, n) == 0;
}

bool al_webfetch_is_html(struct al_str type, struct al_str body)
{
    if (al_str_is(type, "text/html") || al_str_is(type, "application/xhtml+xml"))
        return true;
    if (type.n)
        return false;
    if (al_str_starts(body, "\xef\xbb\xbf"))
        body = (struct al_str){body.p + 3, body.n - 3};
    body = al_str_trim(body);
    return starts_nocase(body, "<!doctype html") || starts_nocase(body, "<html");
}

/* The charset that a page names within its first bytes. A search for the word, not a reading of the page. */
static struct al_str named_in_page(struct al_str body)
{
    static const char word[] = "charset=";
    size_t n = body.n < SNIFF ? body.n : SNIFF;
    for (size_t i = 0; i + sizeof(word) <= n; i++) {
        if (strncasecmp(body.p + i, word, sizeof(word) - 1) != 0)
            continue;
        i += sizeof(word) - 1;
        i += body.p[i] == '"' || body.p[i] == '\'';
        size_t end = i;
        while (end < n && end - i < 40 && body.p[end] && !strchr("\"' \t\r\n;/>", body.p[end]))
            end++;
        return (struct al_str){body.p + i, end - i};
    }
    return (struct al_str){"", 0};
}

static bool is_name(struct al_str s, const char *const *names)
{
    for (; *names; names++)
        if (s.n == strlen(*names) && strncasecmp(s.p, *names, s.n) == 0)
            return true;
    return false;
}

static void decode_as(struct al_str body, struct al_str charset, struct al_buf *out)
{
    static const char *const utf8[] = {"utf-8", "utf8", NULL};
    static const char *const latin[] = {"iso-8859-1", "iso8859-1", "latin1", "windows-1252",
                                        "cp1252",     "us-ascii",  "ascii",  NULL};
    static const char *const little[] = {"utf-16", "utf-16le", NULL};
    static const char *const big[] = {"utf-16be", NULL};
    if (is_name(charset, little) || is_name(charset, big)) {
        struct al_utf16 d = {.big = is_name(charset, big)};
        al_utf16_decode(&d, body, true, out);
    } else if (is_name(charset, utf8) || (al_utf8_valid(body) && !is_name(charset, latin))) {
        al_utf8_clean(out, body);
    } else {
        al_windows1252_decode(out, body);
    }
}

int al_webfetch_decode(struct al_str body, const char *charset, bool html, struct al_buf *out,
                       struct al_err *err)
{
    size_t bom = 0;
    enum al_encoding e = al_encoding_guess(body, &bom);
    struct al_str rest = {body.p + bom, body.n - bom}, named = al_str_of(charset);
    const char *kind = al_binary_kind(body);
    if (bom)
        named = al_str_of(al_encoding_name(e == AL_ENC_UTF8_BOM ? AL_ENC_UTF8 : e));
    else if (!named.n && html)
        named = named_in_page(body);
    if (!kind || bom)
        decode_as(rest, named, out);
    if (al_buf_failed(out))
        return al_fail(err, AL_RESULT_TOO_LARGE, "the text is too large");
    if ((kind && !bom) || (out->n && memchr(out->p, 0, out->n)))
        return al_fail(err, AL_TOOL_ERROR, "what came is no text%s%s", kind ? " but " : "", kind ? kind : "");
    return 0;
}
