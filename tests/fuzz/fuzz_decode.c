/*
 * Text of files and programs, of any bytes, on its way to a model: decoded, paged, cut. What comes out is
 * always UTF-8 and within its limits. The first bytes choose the limits and where reads end.
 */
#include "base/mem.h"
#include "base/text.h"
#include "tools/tools_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD 4
#define DATA_MAX 4096
#define PAGES_MAX 2000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Many facts are held here: the line of the broken one is told. */
#define must(fact) must_at(fact, __LINE__)

static void must_at(bool fact, int line)
{
    if (fact)
        return;
    fprintf(stderr, "%s:%d: does not hold\n", __FILE__, line);
    abort();
}

/* A descriptor whose reads end after each `piece` bytes: a datagram each. */
static int in_pieces(struct al_str text, size_t piece)
{
    int s[2];
    must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) == 0);
    int big = 1 << 20;
    setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &big, sizeof(big));
    for (size_t i = 0; i < text.n; i += piece) {
        size_t n = text.n - i < piece ? text.n - i : piece;
        must(send(s[0], text.p + i, n, 0) == (ssize_t)n);
    }
    close(s[0]);
    return s[1];
}

/* 0, or -1 for a binary file. */
static int scan(struct al_str text, size_t piece, struct al_scan_req req, struct al_scan *ret)
{
    struct al_err err = {.code = AL_OK};
    int fd = in_pieces(text, piece);
    *ret = (struct al_scan){0};
    int r = al_scan_file(fd, "file", &req, ret, &err);
    close(fd);
    if (r < 0) {
        must(err.code == AL_TOOL_ERROR && strstr(err.msg, "binary"));
        return -1;
    }
    must(al_utf8_valid(al_buf_str(&ret->text)));
    must(al_tool_json_cost(al_buf_str(&ret->text)) <= req.room);
    must(ret->bytes <= text.n);
    must(req.limit == 0 || ret->lines <= req.limit);
    must(ret->truncated || ret->next_line == 0);
    must(ret->next_line == 0 || ret->next_line == req.start_line + ret->lines);
    return 0;
}

/* Page after page gives what one read gives, unless a line was cut; each page goes on or says the end. */
static void check_pages(struct al_str text, size_t piece, const struct al_scan *whole, uint64_t limit,
                        size_t room)
{
    struct al_buf all = AL_BUF_INIT(DATA_MAX * 3 + 16);
    uint64_t next = 1;
    bool cut = false;
    for (int i = 0; next > 0 && i < PAGES_MAX; i++) {
        struct al_scan s;
        must(scan(text, piece, (struct al_scan_req){next, limit, room, NULL}, &s) == 0);
        must(s.next_line == 0 || s.next_line >= next);
        cut = cut || (s.truncated && s.next_line == 0) || s.lines == 0 || s.encoding != whole->encoding;
        cut = cut || (s.text.n > 0 && s.next_line > 0 && s.text.p[s.text.n - 1] != '\n');
        al_buf_add_str(&all, al_buf_str(&s.text));
        next = s.lines > 0 ? s.next_line : 0;
        al_scan_fini(&s);
    }
    must(cut || al_str_eq(al_buf_str(&all), al_buf_str(&whole->text)));
    al_buf_free(&all);
}

static void check_scan(struct al_str text, const uint8_t *head)
{
    size_t piece = head[1] ? head[1] : 1, room = head[2] < 128 ? head[2] : (size_t)head[2] * 64;
    struct al_scan whole, other;
    if (text.n / piece > 100) /* a socket holds only so many */
        piece = text.n / 100 + 1;
    int r = scan(text, DATA_MAX + 1, (struct al_scan_req){1, 0, AL_TOOL_JSON_ROOM, NULL}, &whole);
    int r2 = scan(text, piece, (struct al_scan_req){1, 0, AL_TOOL_JSON_ROOM, NULL}, &other);
    must(r == r2);
    if (r == 0) {
        must(whole.encoding == other.encoding && whole.total_lines == other.total_lines);
        must(!whole.truncated && strcmp(whole.sha256, other.sha256) == 0);
        must(al_str_eq(al_buf_str(&whole.text), al_buf_str(&other.text)));
        must(whole.lines == (uint64_t)whole.total_lines && whole.text.n <= text.n * 3);
        check_pages(text, piece, &whole, head[3] % 16, room);
    }
    al_scan_fini(&whole);
    al_scan_fini(&other);
}

static void check_utf16(struct al_str text, size_t piece, bool big)
{
    struct al_buf whole = AL_BUF_INIT(text.n * 3 + 3), pieces = AL_BUF_INIT(text.n * 3 + 3);
    struct al_utf16 d = {.big = big};
    al_utf16_decode(&d, text, true, &whole);
    d = (struct al_utf16){.big = big};
    for (size_t i = 0; i < text.n; i += piece)
        al_utf16_decode(&d, (struct al_str){text.p + i, text.n - i < piece ? text.n - i : piece}, false,
                        &pieces);
    al_utf16_decode(&d, (struct al_str){"", 0}, true, &pieces);
    must(!al_buf_failed(&whole) && !al_buf_failed(&pieces) && d.n_carry == 0);
    must(al_utf8_valid(al_buf_str(&whole)) && al_str_eq(al_buf_str(&whole), al_buf_str(&pieces)));
    al_buf_free(&whole);
    al_buf_free(&pieces);
}

static void check_windows1252(struct al_str text)
{
    struct al_buf utf8 = AL_BUF_INIT(text.n * 3), back = AL_BUF_INIT(text.n);
    al_windows1252_decode(&utf8, text);
    must(!al_buf_failed(&utf8) && al_utf8_valid(al_buf_str(&utf8)));
    must(al_windows1252_encode(&back, al_buf_str(&utf8)) && al_str_eq(al_buf_str(&back), text));
    al_buf_clear(&back);
    (void)al_windows1252_encode(&back, text);
    must(back.n <= text.n);
    al_buf_free(&utf8);
    al_buf_free(&back);
}

static void check_cuts(struct al_str text, size_t max)
{
    struct al_buf out = AL_BUF_INIT(text.n + 200);
    bool valid = al_utf8_valid(text);
    struct al_str fit = al_tool_fit_json(text, max), rest = text, line;
    must(al_tool_json_cost(fit) <= max && (!valid || al_utf8_valid(fit)));
    struct al_jw w;
    struct al_buf json = AL_BUF_INIT(fit.n * 6 + 16);
    al_jw_init(&w, &json);
    al_jw_str(&w, fit);
    must(!al_buf_failed(&json) && json.n <= max + 2);
    al_buf_free(&json);
    al_tool_clip(&out, text, max);
    must(!al_buf_failed(&out) && (!valid || al_utf8_valid(al_buf_str(&out))));
    must(al_utf8_count(al_buf_str(&out)) <= max + 40);
    al_buf_clear(&out);
    al_tool_head_tail(&out, text, max);
    must(!al_buf_failed(&out) && (!valid || al_utf8_valid(al_buf_str(&out))));
    must(!valid || al_utf8_count(al_buf_str(&out)) <= max + 100);
    size_t lines = 0, bytes = 0;
    while (al_tool_next_line(&rest, &line)) {
        must(!memchr(line.p, '\n', line.n));
        lines++;
        bytes += line.n;
    }
    must(bytes <= text.n && lines <= text.n);
    al_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD || size > HEAD + DATA_MAX)
        return 0;
    size_t n = size - HEAD;
    char *exact = al_xmalloc(n ? n : 1);
    memcpy(exact, data + HEAD, n);
    struct al_str text = {exact, n};
    size_t bom;
    al_encoding_guess(text, &bom);
    must(bom <= n);
    al_binary_kind(text);
    if (data[0] % 4 < 2)
        check_scan(text, data);
    else if (data[0] % 4 == 2)
        check_utf16(text, data[1] ? data[1] : 1, data[2] & 1);
    check_windows1252(text);
    check_cuts(text, data[2] + (size_t)data[3] * 8);
    free(exact);
    return 0;
}
