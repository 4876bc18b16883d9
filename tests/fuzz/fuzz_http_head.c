/* The head of an answer, line by line as libcurl hands it on: whatever it says, what is kept stays within its
 * limits and can be looked up. */
#include "base/mem.h"
#include "http/client_int.h"

static void on_head(void *ud, const struct al_http_head *head)
{
    struct al_http *h = ud;
    if (strlen(head->content_type) > AL_HTTP_MAX_HEAD || strlen(head->charset) > AL_HTTP_MAX_HEAD)
        abort();
    for (const char *p = head->content_type; *p; p++)
        if (*p == ';' || (*p >= 'A' && *p <= 'Z'))
            abort();
    const char *type = al_http_header(h, "CONTENT-TYPE");
    if (!type && *head->content_type)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct al_http_ops ops = {.head = on_head};
    static char host[] = "host", url[] = "http://host/";
    struct al_http h = {.ops = &ops, .head = AL_BUF_INIT(AL_HTTP_MAX_HEAD), .host = host, .url_text = url};
    h.ud = &h;
    h.max_redirects = size % 2;
    for (size_t at = 0; at < size;) {
        const uint8_t *lf = memchr(data + at, '\n', size - at);
        size_t n = lf ? (size_t)(lf - data) + 1 - at : size - at;
        char *line = al_xdup(data + at, n);
        size_t taken = al_http_on_header(line, 1, n, &h);
        free(line);
        if (taken != n && taken != 0)
            abort();
        if (taken == 0 && h.err.code == AL_OK)
            abort(); /* nothing ends without a reason */
        if (taken == 0)
            break;
        at += n;
    }
    if (h.head.n > AL_HTTP_MAX_HEAD)
        abort();
    al_http_header(&h, "x");
    al_buf_free(&h.head);
    free(h.content_type);
    free(h.charset);
    return 0;
}
