/* Reading lines of a file of any size in one pass, with bounded memory: hash, line count and the lines asked
 * for. */
#include "tools/tools_int.h"

#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <unistd.h>

#define CHUNK (256u << 10)
#define NUL_SEARCH \
    (1u << 20) /* a NUL this far in makes a file binary; later only one among the lines asked for */
#define HEAD_BYTES 32

struct scanner {
    const struct al_scan_req *req;
    struct al_scan *out;
    struct al_buf window; /* bytes of the lines asked for, not yet known to be UTF-8 */
    uint64_t line;        /* 0-based number of the line being read */
    bool line_open;       /* bytes of it were seen */
    bool window_full;     /* something asked for did not fit */
    bool nul;
    uint64_t bytes;
    char head[HEAD_BYTES];
    size_t n_head;
    struct al_utf16 utf16;
    struct al_buf decoded; /* of one chunk */
    struct al_sha256 *hash;
};

static bool wanted(const struct scanner *s)
{
    uint64_t first = s->req->start_line - 1;
    return s->line >= first && (s->req->limit == 0 || s->line - first < s->req->limit);
}

/* Past the lines asked for: only hash and count are still of use. */
static bool window_done(const struct scanner *s)
{
    return s->window_full || (s->req->limit > 0 && s->line >= s->req->start_line - 1 + s->req->limit);
}

static void collect(struct scanner *s, struct al_str bytes)
{
    if (s->window_full || !wanted(s))
        return;
    size_t free_bytes = s->window.max - s->window.n;
    if (bytes.n > free_bytes) {
        bytes.n = free_bytes;
        s->window_full = true;
    }
    if (memchr(bytes.p, 0, bytes.n))
        s->nul = true;
    al_buf_add_str(&s->window, bytes);
}

static void feed(struct scanner *s, struct al_str bytes)
{
    while (bytes.n > 0) {
        const char *lf = memchr(bytes.p, '\n', bytes.n);
        size_t n = lf ? (size_t)(lf - bytes.p) + 1 : bytes.n;
        collect(s, (struct al_str){bytes.p, n});
        s->line_open = !lf;
        s->line += lf != NULL;
        bytes.p += n;
        bytes.n -= n;
    }
}

static void take_chunk(struct scanner *s, struct al_str chunk)
{
    if (s->bytes == 0) {
        size_t bom;
        s->n_head = chunk.n < HEAD_BYTES ? chunk.n : HEAD_BYTES;
        memcpy(s->head, chunk.p, s->n_head);
        s->out->encoding = al_encoding_guess(chunk, &bom);
        s->utf16.big = s->out->encoding == AL_ENC_UTF16BE;
        s->bytes = bom;
        chunk.p += bom;
        chunk.n -= bom;
    }
    bool wide = s->out->encoding == AL_ENC_UTF16LE || s->out->encoding == AL_ENC_UTF16BE;
    if (!wide && s->bytes < NUL_SEARCH && memchr(chunk.p, 0, chunk.n))
        s->nul = true;
    s->bytes += chunk.n;
    if (wide) {
        al_buf_clear(&s->decoded);
        al_utf16_decode(&s->utf16, chunk, false, &s->decoded);
        chunk = al_buf_str(&s->decoded);
    }
    feed(s, chunk);
}

/* A whole chunk, also where reads end early (some network file systems): a byte order mark is never taken
 * apart. Bytes, fewer only at the end of the file; -errno. */
static ssize_t read_chunk(int fd, char *chunk)
{
    size_t have = 0;
    while (have < CHUNK) {
        ssize_t n = read(fd, chunk + have, CHUNK - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        have += (size_t)n;
    }
    return (ssize_t)have;
}

/* Reads until the end, or until nothing more is of use. 1 at the end of the file, 0 when stopped early. */
static int read_chunks(struct scanner *s, int fd, char *chunk, const char *shown, struct al_err *err)
{
    for (;;) {
        if (s->req->cancelled && atomic_load(s->req->cancelled))
            return al_fail(err, AL_CANCELLED, "%s: reading was cancelled", shown);
        ssize_t n = read_chunk(fd, chunk);
        if (n < 0)
            return al_fail_errno(err, AL_TOOL_ERROR, (int)-n, "%s: cannot be read", shown);
        if (n == 0)
            return 1;
        if (s->hash)
            al_sha256_add(s->hash, chunk, (size_t)n);
        take_chunk(s, (struct al_str){chunk, (size_t)n});
        if (s->nul)
            return 0;
        if (s->hash && s->bytes > AL_SCAN_HASH_MAX) {
            char unused[AL_SHA256_HEX];
            al_sha256_end(s->hash, unused);
            s->hash = NULL;
        }
        if (!s->hash && window_done(s))
            return 0;
    }
}

/* What was cut by the window's size ends at a line, or at a character of a single long line. */
static void trim_window(struct scanner *s)
{
    if (!s->window_full)
        return;
    struct al_str w = al_buf_str(&s->window);
    const char *lf = memrchr(w.p, '\n', w.n);
    if (lf) {
        s->window.n = (size_t)(lf - w.p) + 1;
        return;
    }
    for (size_t cut = 0; cut < 4 && cut < w.n; cut++) {
        if (al_utf8_valid((struct al_str){w.p, w.n - cut})) {
            s->window.n -= cut;
            return;
        }
    }
}

static void decode_window(struct scanner *s, struct al_buf *ret)
{
    if (al_utf8_valid(al_buf_str(&s->window))) {
        *ret = s->window;
        al_buf_init(&s->window, 0);
        return;
    }
    s->out->encoding = AL_ENC_WINDOWS_1252;
    al_buf_init(ret, s->window.n * 3 + 1);
    al_windows1252_decode(ret, al_buf_str(&s->window));
}

/* Keeps as many whole lines as the room holds; a first line that is too long itself is cut. */
static void fit_lines(struct scanner *s, struct al_buf *all)
{
    struct al_scan *o = s->out;
    struct al_str rest = al_buf_str(all);
    size_t room = s->req->room, kept = 0;
    while (rest.n > 0) {
        const char *lf = memchr(rest.p, '\n', rest.n);
        struct al_str line = {rest.p, lf ? (size_t)(lf - rest.p) + 1 : rest.n};
        size_t cost = al_tool_json_cost(line);
        if (cost > room) {
            if (o->lines == 0) {
                kept = al_tool_fit_json(line, room).n;
                o->lines = kept > 0;
                o->truncated = true;
            }
            break;
        }
        room -= cost;
        kept += line.n;
        o->lines++;
        rest.p += line.n;
        rest.n -= line.n;
    }
    all->n = kept;
    o->text = *all;
    al_buf_init(all, 0);
}

static void finish(struct scanner *s, bool at_end)
{
    struct al_scan *o = s->out;
    trim_window(s);
    struct al_buf all;
    decode_window(s, &all);
    fit_lines(s, &all);
    al_buf_free(&all);
    o->total_lines = at_end ? (int64_t)(s->line + s->line_open) : -1;
    uint64_t next = s->req->start_line + o->lines;
    bool more = at_end ? next <= (uint64_t)o->total_lines : true;
    o->next_line = more ? next : 0;
    o->truncated = o->truncated || more || s->window_full;
}

static int refuse_binary(struct scanner *s, int fd, const char *shown, struct al_err *err)
{
    struct stat st;
    uint64_t size = fstat(fd, &st) == 0 ? (uint64_t)st.st_size : s->bytes;
    const char *kind = al_binary_kind((struct al_str){s->head, s->n_head});
    return al_fail(err, AL_TOOL_ERROR, "%s: is a binary file (%llu bytes%s%s)", shown,
                   (unsigned long long)size, kind ? ", looks like " : "", kind ? kind : "");
}

int al_scan_file(int fd, const char *shown, const struct al_scan_req *req, struct al_scan *ret,
                 struct al_err *err)
{
    struct scanner s = {.req = req, .out = ret, .hash = al_sha256_new()};
    al_buf_init(&s.window, AL_TOOL_FILE_MAX);
    al_buf_init(&s.decoded, CHUNK * 3);
    autofree char *chunk = al_xmalloc(CHUNK);
    int r = read_chunks(&s, fd, chunk, shown, err);
    if (r == 1 && s.utf16.n_carry > 0) {
        al_buf_clear(&s.decoded);
        al_utf16_decode(&s.utf16, (struct al_str){"", 0}, true, &s.decoded);
        feed(&s, al_buf_str(&s.decoded));
    }
    if (s.hash)
        al_sha256_end(s.hash, ret->sha256);
    if (r >= 0 && s.nul)
        r = refuse_binary(&s, fd, shown, err);
    if (r >= 0) {
        struct stat st;
        finish(&s, r == 1);
        ret->bytes = r == 1 ? s.bytes : fstat(fd, &st) == 0 ? (uint64_t)st.st_size : s.bytes;
    }
    al_buf_free(&s.window);
    al_buf_free(&s.decoded);
    return r < 0 ? -1 : 0;
}

void al_scan_fini(struct al_scan *s)
{
    al_buf_free(&s->text);
}
