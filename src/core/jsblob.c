/* Base64 in what a script gave: bytes of a picture or a file, which tell a model nothing and cost it very
 * much. */
#include "base/text.h"
#include "core/jsrun.h"
#include "core/jsrun_int.h"

/* Shorter runs, and runs without the mixture that encoded bytes have, are words, hashes, names or sequences.
 */
#define BLOB_MIN 512

static bool is_base64(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/' || c == '=' || c == '-' || c == '_';
}

static bool is_blob(struct al_str run)
{
    bool lower = false, upper = false, digit = false;
    if (run.n < BLOB_MIN)
        return false;
    for (size_t i = 0; i < run.n && !(lower && upper && digit); i++) {
        lower |= run.p[i] >= 'a' && run.p[i] <= 'z';
        upper |= run.p[i] >= 'A' && run.p[i] <= 'Z';
        digit |= run.p[i] >= '0' && run.p[i] <= '9';
    }
    return lower && upper && digit;
}

bool al_jsrun_hide_base64(struct al_str text, struct al_buf *out)
{
    bool found = false;
    size_t copied = 0;
    for (size_t i = 0; i < text.n;) {
        size_t from = i;
        while (i < text.n && is_base64((unsigned char)text.p[i]))
            i++;
        struct al_str run = {text.p + from, i - from};
        if (is_blob(run)) {
            al_buf_add(out, text.p + copied, from - copied);
            al_buf_adds(out, "[base64, ");
            al_text_bytes(out, run.n / 4 * 3);
            al_buf_addc(out, ']');
            copied = i;
            found = true;
        }
        i += i < text.n;
    }
    if (found)
        al_buf_add(out, text.p + copied, text.n - copied);
    return found;
}
