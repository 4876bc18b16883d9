/* One output of a script: its beginning and its end for the model, its log on the disk, and a count of the
 * rest. */
#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "pyrun/run_int.h"

#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

void al_py_capture_init(struct al_py_capture *c, size_t max_head, size_t max_tail, uint64_t max_log,
                        int log_fd, const char *log_name)
{
    *c = (struct al_py_capture){
        .tail_max = max_tail, .max_log = max_log, .log_fd = log_fd, .log_name = log_name};
    al_buf_init(&c->head, max_head);
}

void al_py_capture_fini(struct al_py_capture *c)
{
    al_buf_free(&c->head);
    free(c->tail);
    c->tail = NULL;
    al_close(&c->log_fd);
}

static void add_log(struct al_py_capture *c, struct al_str bytes)
{
    if (c->log_fd < 0)
        return;
    uint64_t room = c->max_log - c->logged;
    if (bytes.n > room)
        bytes.n = (size_t)room;
    /* A full disk does not hold the script up: the log ends there. */
    if (al_fd_write_all(c->log_fd, bytes) < 0)
        al_close(&c->log_fd);
    else
        c->logged += bytes.n;
    if (c->logged >= c->max_log)
        al_close(&c->log_fd);
}

static void add_tail(struct al_py_capture *c, struct al_str bytes)
{
    if (c->tail_max == 0 || bytes.n == 0)
        return;
    if (!c->tail)
        c->tail = al_xmalloc(c->tail_max);
    if (bytes.n >= c->tail_max) {
        memcpy(c->tail, bytes.p + bytes.n - c->tail_max, c->tail_max);
        c->tail_at = 0;
        return;
    }
    size_t first = c->tail_max - c->tail_at;
    if (first > bytes.n)
        first = bytes.n;
    memcpy(c->tail + c->tail_at, bytes.p, first);
    memcpy(c->tail, bytes.p + first, bytes.n - first);
    c->tail_at = (c->tail_at + bytes.n) % c->tail_max;
}

void al_py_capture_add(struct al_py_capture *c, struct al_str bytes)
{
    c->bytes += bytes.n;
    add_log(c, bytes);
    size_t n = c->head.max - c->head.n;
    if (n > bytes.n)
        n = bytes.n;
    al_buf_add(&c->head, bytes.p, n);
    add_tail(c, (struct al_str){bytes.p + n, bytes.n - n});
}

/* --- the text of it --- */

static void add_clean(struct al_buf *out, struct al_str s)
{
    for (const char *nul; s.n > 0 && (nul = memchr(s.p, 0, s.n));) {
        size_t n = (size_t)(nul - s.p);
        al_utf8_clean(out, (struct al_str){s.p, n});
        al_buf_adds(out, REPLACEMENT);
        s = (struct al_str){nul + 1, s.n - n - 1};
    }
    al_utf8_clean(out, s);
}

/* The rest of a character whose beginning was left out. */
static struct al_str without_rest(struct al_str s)
{
    for (int i = 0; i < 3 && s.n > 0 && ((unsigned char)s.p[0] & 0xc0) == 0x80; i++)
        s = (struct al_str){s.p + 1, s.n - 1};
    return s;
}

/* An incomplete character at the end. */
static struct al_str without_start(struct al_str s)
{
    for (size_t back = 1; back <= 3 && back <= s.n; back++) {
        unsigned char c = (unsigned char)s.p[s.n - back];
        if ((c & 0xc0) == 0x80)
            continue;
        size_t len = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1;
        if (c <= 0xf4 && len > back)
            s.n -= back;
        break;
    }
    return s;
}

static void add_count(struct al_buf *out, uint64_t n)
{
    if (n >= 1000) {
        add_count(out, n / 1000);
        al_buf_addf(out, ",%03u", (unsigned)(n % 1000));
    } else {
        al_buf_addf(out, "%u", (unsigned)n);
    }
}

static void add_mark(const struct al_py_capture *c, struct al_buf *out, uint64_t left_out)
{
    if (out->n > 0 && out->p[out->n - 1] != '\n')
        al_buf_addc(out, '\n');
    al_buf_adds(out, "[… ");
    add_count(out, left_out);
    al_buf_adds(out, " bytes left out; ");
    if (c->logged == c->bytes) {
        al_buf_addf(out, "the whole is in logs/%s]\n", c->log_name);
    } else {
        al_buf_adds(out, "the first ");
        add_count(out, c->logged);
        al_buf_addf(out, " bytes of it are in logs/%s]\n", c->log_name);
    }
}

void al_py_capture_text(const struct al_py_capture *c, struct al_buf *out)
{
    struct al_str head = al_buf_str(&c->head);
    uint64_t rest = c->bytes - head.n;
    if (rest == 0) {
        add_clean(out, head);
        return;
    }
    /* The ring, made straight. */
    bool full = rest >= c->tail_max;
    size_t n = full ? c->tail_max : (size_t)rest;
    autobuf struct al_buf flat = AL_BUF_INIT(head.n + n + 1);
    bool gap = rest > c->tail_max;
    if (!gap)
        al_buf_add_str(&flat, head);
    if (c->tail && full)
        al_buf_add(&flat, c->tail + c->tail_at, c->tail_max - c->tail_at);
    if (c->tail)
        al_buf_add(&flat, c->tail, full ? c->tail_at : n);
    if (!gap) {
        add_clean(out, al_buf_str(&flat));
        return;
    }
    head = without_start(head);
    struct al_str tail = without_rest(al_buf_str(&flat));
    add_clean(out, head);
    add_mark(c, out, c->bytes - head.n - tail.n);
    add_clean(out, tail);
}
