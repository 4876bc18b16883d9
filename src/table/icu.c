#include "table/icu.h"

#include "base/mem.h"
#include "base/text.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unicode/ucnv.h>
#include <unicode/ucsdet.h>
#include <unicode/udata.h>
#include <unicode/utrans.h>

#define OLDEST 60
#define NEWEST 90

/* ICU's symbols carry its version (ucnv_open_72), so each is looked up by name. X(library, function) */
#define ICU_CALLS(X)              \
    X(uc, udata_setFileAccess)    \
    X(uc, ucnv_open)              \
    X(uc, ucnv_close)             \
    X(uc, ucnv_getName)           \
    X(uc, ucnv_getStandardName)   \
    X(uc, ucnv_toUnicode)         \
    X(i18n, ucsdet_open)          \
    X(i18n, ucsdet_close)         \
    X(i18n, ucsdet_setText)       \
    X(i18n, ucsdet_detectAll)     \
    X(i18n, ucsdet_getName)       \
    X(i18n, ucsdet_getConfidence) \
    X(i18n, utrans_openU)         \
    X(i18n, utrans_transUChars)

static struct {
    bool there;
    int version;
    void *uc, *i18n;
#define ICU_FIELD(lib, f) __typeof__(f) *f##_do;
    ICU_CALLS(ICU_FIELD)
#undef ICU_FIELD
    UTransliterator *latin; /* opened when a name first needs it; lives as long as the process */
} icu;

static void *find(void *lib, const char *name, int version)
{
    char full[64];
    snprintf(full, sizeof full, "%s_%d", name, version);
    return dlsym(lib, full);
}

static bool load_version(int version)
{
    char name[40];
    snprintf(name, sizeof name, "libicuuc.so.%d", version);
    icu.uc = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!icu.uc)
        return false;
    snprintf(name, sizeof name, "libicui18n.so.%d", version);
    icu.i18n = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    bool all = icu.i18n != NULL;
#define ICU_FIND(lib, f)                                                    \
    if (all && !(icu.f##_do = (__typeof__(f) *)find(icu.lib, #f, version))) \
        all = false;
    ICU_CALLS(ICU_FIND)
#undef ICU_FIND
    if (!all) {
        if (icu.i18n)
            dlclose(icu.i18n);
        dlclose(icu.uc);
    }
    icu.version = version;
    return all;
}

bool al_icu_load(void)
{
    for (int v = NEWEST; v >= OLDEST && !icu.there; v--)
        icu.there = load_version(v);
    if (icu.there) {
        /* Its data is in a library that is loaded by now; no file is to be looked for, least of all in
         * $ICU_DATA. */
        UErrorCode status = U_ZERO_ERROR;
        icu.udata_setFileAccess_do(UDATA_NO_FILES, &status);
    }
    return icu.there;
}

bool al_icu_there(void)
{
    return icu.there;
}

void *al_icu_symbol(const char *name)
{
    if (!icu.there)
        return NULL;
    void *found = find(icu.i18n, name, icu.version);
    return found ? found : find(icu.uc, name, icu.version);
}

/* As al_utf8_encode does with half of a pair. */
void al_icu_utf8(struct al_buf *out, const uint16_t *u, size_t n)
{
    char *at = al_buf_grow(out, n * 3);
    if (!at)
        return;
    char *start = at;
    for (size_t i = 0; i < n; i++) {
        uint32_t cp = u[i];
        if ((cp & 0xfc00) == 0xd800 && i + 1 < n && (u[i + 1] & 0xfc00) == 0xdc00)
            cp = 0x10000 + ((cp - 0xd800) << 10) + (u[++i] - 0xdc00u);
        char utf8[4];
        unsigned len = al_utf8_encode(cp, utf8);
        memcpy(at, utf8, len);
        at += len;
    }
    out->n -= n * 3 - (size_t)(at - start);
}

bool al_icu_known(const char *name, char ret[40])
{
    if (!icu.there)
        return false;
    UErrorCode status = U_ZERO_ERROR;
    UConverter *c = icu.ucnv_open_do(name, &status);
    if (U_FAILURE(status) || !c)
        return false;
    const char *own = icu.ucnv_getName_do(c, &status);
    UErrorCode none = U_ZERO_ERROR;
    const char *mime = icu.ucnv_getStandardName_do(own, "MIME", &none);
    if (!mime)
        mime = icu.ucnv_getStandardName_do(own, "IANA", &none);
    bool ok = U_SUCCESS(status);
    if (ok)
        snprintf(ret, 40, "%s", mime ? mime : own);
    icu.ucnv_close_do(c);
    return ok;
}

int al_icu_detect(struct al_str bytes, struct al_icu_guess ret[8])
{
    if (!icu.there)
        return 0;
    UErrorCode status = U_ZERO_ERROR;
    UCharsetDetector *d = icu.ucsdet_open_do(&status);
    if (U_FAILURE(status) || !d)
        return 0;
    int32_t n = 0;
    icu.ucsdet_setText_do(d, bytes.p, (int32_t)(bytes.n < (1 << 20) ? bytes.n : 1 << 20), &status);
    const UCharsetMatch **all = icu.ucsdet_detectAll_do(d, &n, &status);
    int got = 0;
    for (int32_t i = 0; all && U_SUCCESS(status) && i < n && got < 8; i++) {
        const char *name = icu.ucsdet_getName_do(all[i], &status);
        if (U_FAILURE(status) || !name)
            break;
        snprintf(ret[got].name, sizeof ret[got].name, "%s", name);
        ret[got].confidence = icu.ucsdet_getConfidence_do(all[i], &status);
        got++;
    }
    icu.ucsdet_close_do(d);
    return got;
}

struct al_icu_conv {
    UConverter *c;
    UChar held; /* a high surrogate whose other half is still to come; 0: none */
};

struct al_icu_conv *al_icu_conv_new(const char *name)
{
    if (!icu.there)
        return NULL;
    UErrorCode status = U_ZERO_ERROR;
    UConverter *c = icu.ucnv_open_do(name, &status);
    if (U_FAILURE(status) || !c)
        return NULL;
    struct al_icu_conv *ret = al_xcalloc(1, sizeof *ret);
    ret->c = c;
    return ret;
}

void al_icu_conv_do(struct al_icu_conv *c, struct al_str in, bool last, struct al_buf *out, uint64_t *bad)
{
    UChar room[4096];
    const char *from = in.p, *end = in.p + in.n;
    for (;;) {
        UErrorCode status = U_ZERO_ERROR;
        UChar *to = room;
        if (c->held)
            *to++ = c->held;
        c->held = 0;
        icu.ucnv_toUnicode_do(c->c, &to, room + 4096, &from, end, NULL, last, &status);
        size_t n = (size_t)(to - room);
        if (n && (room[n - 1] & 0xfc00) == 0xd800 && !(last && status != U_BUFFER_OVERFLOW_ERROR))
            c->held = room[--n];
        for (size_t i = 0; i < n; i++)
            *bad += room[i] == 0xfffd;
        al_icu_utf8(out, room, n);
        if (status != U_BUFFER_OVERFLOW_ERROR)
            return;
    }
}

void al_icu_conv_free(struct al_icu_conv *c)
{
    if (!c)
        return;
    icu.ucnv_close_do(c->c);
    free(c);
}

static void ascii_only(struct al_str s, struct al_buf *out)
{
    for (size_t i = 0; i < s.n; i++) {
        char ch = s.p[i];
        if (ch >= 'A' && ch <= 'Z')
            ch = (char)(ch + 32);
        if ((unsigned char)ch < 0x80)
            al_buf_addc(out, ch);
    }
}

static bool open_latin(void)
{
    if (icu.latin)
        return true;
    static const char rule[] = "Any-Latin; Latin-ASCII; Lower";
    UChar id[sizeof rule];
    for (size_t i = 0; i < sizeof rule; i++)
        id[i] = (UChar)rule[i];
    UErrorCode status = U_ZERO_ERROR;
    UParseError where;
    icu.latin = icu.utrans_openU_do(id, -1, UTRANS_FORWARD, NULL, 0, &where, &status);
    if (U_FAILURE(status))
        icu.latin = NULL;
    return icu.latin != NULL;
}

void al_icu_to_ascii(struct al_str s, struct al_buf *out)
{
    s = al_utf8_cut(s, 4096);
    bool plain = true;
    for (size_t i = 0; i < s.n; i++)
        plain = plain && (unsigned char)s.p[i] < 0x80;
    if (plain || !icu.there || !open_latin()) {
        ascii_only(s, out);
        return;
    }
    enum {
        ROOM = 32768
    };
    UChar *u = al_xcalloc(ROOM, sizeof *u);
    int32_t n = 0;
    for (size_t at = 0; at < s.n;) {
        uint32_t cp = 0xfffd;
        unsigned len = al_utf8_decode((struct al_str){s.p + at, s.n - at}, &cp);
        at += len ? len : 1;
        if (cp >= 0x10000) {
            u[n++] = (UChar)(0xd800 + ((cp - 0x10000) >> 10));
            cp = 0xdc00 + ((cp - 0x10000) & 0x3ff);
        }
        u[n++] = (UChar)cp;
    }
    UErrorCode status = U_ZERO_ERROR;
    int32_t limit = n;
    icu.utrans_transUChars_do(icu.latin, u, &n, ROOM, 0, &limit, &status);
    if (U_FAILURE(status)) {
        ascii_only(s, out);
    } else {
        for (int32_t i = 0; i < n; i++) {
            if (u[i] < 0x80)
                al_buf_addc(out, (char)(u[i] >= 'A' && u[i] <= 'Z' ? u[i] + 32 : u[i]));
        }
    }
    free(u);
}
