/* What a file is: its extension says it, and its first bytes may object. */
#include "artifact/artifact_int.h"

#include "base/text.h"

/* What the bytes must be for the extension to be believed. */
enum proof {
    TEXT,
    JSON,
    SVG,
    PDF,
    ZIP,
    PNG,
    JPEG,
    GIF,
    WEBP
};

struct type {
    const char *ext, *kind, *mime;
    enum proof proof;
};

#define OFFICE "application/vnd.openxmlformats-officedocument."
static const struct type types[] = {
    {"html", "dashboard", "text/html", TEXT},
    {"htm", "dashboard", "text/html", TEXT},
    {"md", "document", "text/markdown", TEXT},
    {"markdown", "document", "text/markdown", TEXT},
    {"pdf", "document", "application/pdf", PDF},
    {"docx", "document", OFFICE "wordprocessingml.document", ZIP},
    {"pptx", "document", OFFICE "presentationml.presentation", ZIP},
    {"odt", "document", "application/vnd.oasis.opendocument.text", ZIP},
    {"csv", "spreadsheet", "text/csv", TEXT},
    {"tsv", "spreadsheet", "text/tab-separated-values", TEXT},
    {"xlsx", "spreadsheet", OFFICE "spreadsheetml.sheet", ZIP},
    {"png", "image", "image/png", PNG},
    {"jpg", "image", "image/jpeg", JPEG},
    {"jpeg", "image", "image/jpeg", JPEG},
    {"gif", "image", "image/gif", GIF},
    {"webp", "image", "image/webp", WEBP},
    {"svg", "image", "image/svg+xml", SVG},
    {"json", "data", "application/json", JSON},
    {"geojson", "data", "application/geo+json", JSON},
    {"jsonl", "data", "application/x-ndjson", JSON},
    {"ndjson", "data", "application/x-ndjson", JSON},
    {"txt", "code", "text/plain", TEXT},
    {"log", "code", "text/plain", TEXT},
    {"sql", "code", "text/plain", TEXT},
    {"yaml", "code", "text/plain", TEXT},
    {"yml", "code", "text/plain", TEXT},
    {"xml", "code", "text/plain", TEXT},
    {"py", "code", "text/plain", TEXT},
    {"js", "code", "text/plain", TEXT},
    {"ts", "code", "text/plain", TEXT},
    {"r", "code", "text/plain", TEXT},
    {"css", "code", "text/plain", TEXT},
    {"toml", "code", "text/plain", TEXT},
    {"ini", "code", "text/plain", TEXT},
    {"sh", "code", "text/plain", TEXT},
    {"zip", "archive", "application/zip", ZIP},
};
static const struct type unknown = {"", "file", "application/octet-stream", TEXT};

static const struct type *find(struct al_str name)
{
    char low[16];
    const char *dot = name.n ? memrchr(name.p, '.', name.n) : NULL;
    size_t n = dot ? name.n - (size_t)(dot + 1 - name.p) : 0;
    if (n == 0 || n >= sizeof low)
        return &unknown;
    for (size_t i = 0; i < n; i++)
        low[i] = dot[1 + i] >= 'A' && dot[1 + i] <= 'Z' ? (char)(dot[1 + i] + 32) : dot[1 + i];
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (al_str_is((struct al_str){low, n}, types[i].ext))
            return &types[i];
    }
    return &unknown;
}

static bool starts(struct al_str s, const char *bytes, size_t n)
{
    return s.n >= n && memcmp(s.p, bytes, n) == 0;
}

#define STARTS(s, lit) starts(s, lit, sizeof(lit) - 1)

static bool is_zip(struct al_str s)
{
    return STARTS(s, "PK\x03\x04") || STARTS(s, "PK\x05\x06");
}

/* Of the formats that scripts write, under whatever name. Bytes that no text of any encoding begins with. */
static bool is_binary(struct al_str s)
{
    return is_zip(s) || STARTS(s, "\x89PNG\r\n\x1a\n") || STARTS(s, "\xff\xd8\xff") || STARTS(s, "GIF8") ||
           STARTS(s, "%PDF-") ||
           STARTS(s, "\x7f"
                     "ELF") ||
           STARTS(s, "\x1f\x8b\x08") || STARTS(s, "SQLite format 3") || STARTS(s, "PAR1") ||
           STARTS(s, "\xd0\xcf\x11\xe0");
}

static bool is_utf16(struct al_str s)
{
    return STARTS(s, "\xff\xfe") || STARTS(s, "\xfe\xff");
}

/* Valid UTF-8 but for a character that the cut went through. */
static bool is_utf8_head(struct al_str s)
{
    for (unsigned cut = 0; cut < 4 && cut <= s.n; cut++) {
        if (al_utf8_valid((struct al_str){s.p, s.n - cut}))
            return cut == 0 || s.n >= AL_ARTIFACT_HEAD;
    }
    return false;
}

static struct al_str skip_blank(struct al_str s)
{
    if (STARTS(s, "\xef\xbb\xbf"))
        s = (struct al_str){s.p + 3, s.n - 3};
    while (s.n && strchr(" \t\r\n", s.p[0]) && s.p[0])
        s = (struct al_str){s.p + 1, s.n - 1};
    return s;
}

static bool is_text(struct al_str s)
{
    return !is_binary(s) && (is_utf16(s) || !s.n || !memchr(s.p, 0, s.n));
}

static bool agrees(enum proof proof, struct al_str s)
{
    switch (proof) {
    case PDF:
        return STARTS(s, "%PDF-");
    case ZIP:
        return is_zip(s);
    case PNG:
        return STARTS(s, "\x89PNG\r\n\x1a\n");
    case JPEG:
        return STARTS(s, "\xff\xd8\xff");
    case GIF:
        return STARTS(s, "GIF87a") || STARTS(s, "GIF89a");
    case WEBP:
        return STARTS(s, "RIFF") && s.n >= 12 && memcmp(s.p + 8, "WEBP", 4) == 0;
    case SVG:
        return is_text(s) && al_str_find(s, AL_STR("<svg")) >= 0;
    case JSON:
        s = skip_blank(s);
        return is_text(s) && s.n && (strchr("{[\"-0123456789tfnNI", s.p[0]) && s.p[0]);
    case TEXT:
        break;
    }
    return is_text(s);
}

struct al_artifact_type al_artifact_type_of(struct al_str file_name, struct al_str head)
{
    const struct type *t = find(file_name);
    if (head.n > AL_ARTIFACT_HEAD)
        head.n = AL_ARTIFACT_HEAD;
    bool text_kind = t->proof == TEXT || t->proof == JSON || t->proof == SVG;
    if (head.n == 0) /* nothing contradicts */
        return (struct al_artifact_type){t->kind, t->mime, text_kind};
    bool readable = is_text(head) && !memchr(head.p, 0, head.n) && is_utf8_head(head);
    if (!agrees(t->proof, head))
        t = &unknown;
    return (struct al_artifact_type){t->kind, t->mime, readable};
}
