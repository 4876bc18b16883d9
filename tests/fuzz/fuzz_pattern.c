/* Each text: what matches converts, what converts is a value that can be printed, and the judges agree with
 * each other. */
#include "dataset/pattern.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)
#define MARKS ((1u << AL_PATTERN_DECIMAL_COMMA) | (1u << AL_PATTERN_DECIMAL_POINT))

static void check_value(enum al_pattern p, const struct al_value *v, const char *buf)
{
    if (al_pattern_is_date(p)) {
        MUST(v->type == AL_VALUE_TEXT && v->text.p == buf && v->text.n < 32 && al_pattern_is_iso(v->text));
    } else if (v->type == AL_VALUE_INT) {
        MUST(llabs(v->i) <= 9007199254740991);
    } else {
        MUST(v->type == AL_VALUE_REAL && isfinite(v->d));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct al_str s = {(const char *)data, size};
    uint32_t bits = al_pattern_match(s);
    struct al_value v;
    char buf[32];
    for (int p = 1; p < AL_PATTERN_COUNT; p++) {
        bool any = false;
        for (const char *d = ".,"; *d; d++)
            if (al_pattern_convert((enum al_pattern)p, *d, s, &v, buf)) {
                any = true;
                check_value((enum al_pattern)p, &v, buf);
            }
        /* Marks are set for amounts, too; and 1e400 fits, but is no value. */
        if ((bits & 1u << p) && !(1u << p & MARKS) && p != AL_PATTERN_SCIENTIFIC &&
            p != AL_PATTERN_EPOCH_SECONDS)
            MUST(any);
    }
    bool number = al_pattern_number(s, &v);
    if (number)
        check_value(AL_PATTERN_NONE, &v, NULL);
    if (al_pattern_misleads(s))
        MUST(bits != 0);
    if (al_pattern_date(s, buf))
        MUST(al_pattern_is_iso(al_str_of(buf)));
    struct al_pattern_counts c = {0};
    struct al_pattern_verdict verdict;
    v = (struct al_value){.type = AL_VALUE_TEXT, .text = s};
    al_pattern_count_n(&c, &v, 3);
    al_pattern_decide(&c, 0, &verdict);
    MUST(c.texts == 3);
    /* What a column follows, its texts convert by. */
    if (verdict.pattern && verdict.pattern != AL_PATTERN_SCIENTIFIC)
        MUST(al_pattern_convert(verdict.pattern, verdict.decimal, s, &v, buf));
    return 0;
}
