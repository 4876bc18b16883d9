/* Text that is not UTF-8: byte order marks, UTF-16 and windows-1252. */
#include "tools/tools_int.h"

#include "base/text.h"

/* 0x80 to 0x9f; the five holes of the table are the C1 controls themselves, so that every byte has a
 * character. */
static const uint16_t windows_1252[32] = {
    0x20ac, 0x0081, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008d, 0x017d, 0x008f, 0x0090, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x009d, 0x017e, 0x0178,
};

const char *al_encoding_name(enum al_encoding e)
{
    static const char *const names[] = {"utf-8", "utf-8-bom", "utf-16le", "utf-16be", "windows-1252"};
    return names[e];
}

enum al_encoding al_encoding_guess(struct al_str head, size_t *ret_bom)
{
    *ret_bom = 0;
    if (al_str_starts(head, "\xef\xbb\xbf")) {
        *ret_bom = 3;
        return AL_ENC_UTF8_BOM;
    }
    if (al_str_starts(head, "\xff\xfe") || al_str_starts(head, "\xfe\xff")) {
        *ret_bom = 2;
        return head.p[0] == '\xff' ? AL_ENC_UTF16LE : AL_ENC_UTF16BE;
    }
    return AL_ENC_UTF8;
}

static void add_char(struct al_buf *out, uint32_t cp)
{
    char c[4];
    al_buf_add(out, c, al_utf8_encode(cp, c));
}

void al_windows1252_decode(struct al_buf *out, struct al_str bytes)
{
    for (size_t i = 0; i < bytes.n; i++) {
        unsigned char c = (unsigned char)bytes.p[i];
        add_char(out, c >= 0x80 && c < 0xa0 ? windows_1252[c - 0x80] : c);
    }
}

bool al_windows1252_encode(struct al_buf *out, struct al_str utf8)
{
    while (utf8.n > 0) {
        uint32_t cp;
        unsigned n = al_utf8_decode(utf8, &cp);
        if (n == 0)
            return false;
        int byte = cp < 0x80 || (cp >= 0xa0 && cp <= 0xff) ? (int)cp : -1;
        for (int i = 0; byte < 0 && i < 32; i++) {
            if (windows_1252[i] == cp)
                byte = 0x80 + i;
        }
        if (byte < 0)
            return false;
        al_buf_addc(out, (char)byte);
        utf8.p += n;
        utf8.n -= n;
    }
    return true;
}

static uint32_t unit(const struct al_utf16 *d, const unsigned char *p)
{
    return d->big ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

/* Decodes what carry holds, when it is a whole character (or never will be one). */
static void utf16_flush(struct al_utf16 *d, struct al_buf *out)
{
    if (d->n_carry < 2)
        return;
    uint32_t hi = unit(d, d->carry);
    bool lead = hi >= 0xd800 && hi < 0xdc00;
    if (lead && d->n_carry < 4)
        return;
    uint32_t lo = lead ? unit(d, d->carry + 2) : 0;
    unsigned used = 2;
    if (lead && lo >= 0xdc00 && lo < 0xe000) {
        add_char(out, 0x10000 + ((hi - 0xd800) << 10) + (lo - 0xdc00));
        used = 4;
    } else {
        add_char(out, hi >= 0xd800 && hi < 0xe000 ? 0xfffd : hi);
    }
    d->n_carry -= used;
    memmove(d->carry, d->carry + used, d->n_carry);
    utf16_flush(d, out); /* at most once more: two bytes are left at most */
}

void al_utf16_decode(struct al_utf16 *d, struct al_str bytes, bool last, struct al_buf *out)
{
    for (size_t i = 0; i < bytes.n; i++) {
        d->carry[d->n_carry++] = (unsigned char)bytes.p[i];
        utf16_flush(d, out);
    }
    if (last && d->n_carry > 0) {
        add_char(out, 0xfffd);
        d->n_carry = 0;
    }
}

const char *al_binary_kind(struct al_str head)
{
    static const struct {
        const char *kind;
        struct al_str magic;
    } kinds[] = {
        {"PNG", AL_S("\x89PNG")},
        {"JPEG", AL_S("\xff\xd8\xff")},
        {"GIF", AL_S("GIF8")},
        {"PDF", AL_S("%PDF")},
        {"a ZIP archive (also docx, xlsx, jar)", AL_S("PK\x03\x04")},
        {"gzip", AL_S("\x1f\x8b")},
        {"an ELF program", AL_S("\x7f"
                                "ELF")},
        {"an SQLite database", AL_S("SQLite format 3")},
        {"zstd", AL_S("\x28\xb5\x2f\xfd")},
        {"xz", AL_S("\xfd"
                    "7zXZ")},
        {"bzip2", AL_S("BZh")},
        {"WebAssembly", AL_S("\0asm")},
        {"RIFF (WebP, WAV, AVI)", AL_S("RIFF")},
        {"Ogg", AL_S("OggS")},
        {"MP3", AL_S("ID3")},
        {"an old Office file", AL_S("\xd0\xcf\x11\xe0")},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (head.n >= kinds[i].magic.n && memcmp(head.p, kinds[i].magic.p, kinds[i].magic.n) == 0)
            return kinds[i].kind;
    }
    return NULL;
}
