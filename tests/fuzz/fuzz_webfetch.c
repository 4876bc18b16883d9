/* Bytes of a body to text: the result is valid UTF-8 without NUL, or there is a reason. The first line is the
 * charset. */
#include "tools/webfetch_int.h"

#include "base/text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *lf = size ? memchr(data, '\n', size) : NULL;
    size_t head = lf ? (size_t)(lf - data) : 0;
    char charset[64] = "";
    if (head < sizeof(charset))
        memcpy(charset, data, head);
    charset[head < sizeof(charset) ? head : 0] = 0;
    struct al_str body = {(const char *)data + head, size - head};
    for (int html = 0; html < 2; html++) {
        autobuf struct al_buf out = AL_BUF_INIT(4 * size + 4);
        struct al_err err = {0};
        if (al_webfetch_decode(body, charset, html, &out, &err) < 0) {
            if (err.code == AL_OK)
                abort();
            continue;
        }
        if (!al_utf8_valid(al_buf_str(&out)) || (out.n && memchr(out.p, 0, out.n)))
            abort();
    }
    al_webfetch_is_html((struct al_str){"", 0}, body);
    al_webfetch_is_text(body);
    return 0;
}
