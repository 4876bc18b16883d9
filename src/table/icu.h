/* The few functions of ICU that readers and names need, loaded by dlopen so that no other process pays for it. */
#ifndef AL_TABLE_ICU_H
#define AL_TABLE_ICU_H

#include "base/buf.h"

/* Loads libicuuc and libicui18n of any version from 60 on; once, before the process is sealed. False: not there. */
bool al_icu_load(void);
bool al_icu_there(void);
/* A function of either library by its name without the version ("unumf_close"), for modules that need more than this one
 * offers. NULL: no ICU, or none that has it. */
void *al_icu_symbol(const char *name);
/* Appends UTF-16 as UTF-8; half of a surrogate pair becomes U+FFFD. */
void al_icu_utf8(struct al_buf *out, const uint16_t *u, size_t n);

/* Canonical name of an encoding that ICU can convert ("ISO-8859-7"), or false. */
bool al_icu_known(const char *name, char ret[40]);

/* What ICU's detector says of some bytes: the best few, by confidence (0 to 100). Count. */
struct al_icu_guess {
    char name[40];
    int confidence;
};
int al_icu_detect(struct al_str bytes, struct al_icu_guess ret[8]);

/* A streaming converter to UTF-8. Bytes that are no character become U+FFFD and are counted. */
struct al_icu_conv;
struct al_icu_conv *al_icu_conv_new(const char *name); /* NULL: unknown */
/* Converts in, appends UTF-8 to out (whose max must allow 4 bytes for each of in); last flushes. */
void al_icu_conv_do(struct al_icu_conv *c, struct al_str in, bool last, struct al_buf *out, uint64_t *bad);
void al_icu_conv_free(struct al_icu_conv *c);

/* Text in Latin letters, lower case, without marks: "Año" → "ano", "城市" → "cheng shi", "Дата" → "data". Where ICU is
 * missing: ASCII as it is, other characters left out. At most 4 KiB of s count. */
void al_icu_to_ascii(struct al_str s, struct al_buf *out);

#endif
