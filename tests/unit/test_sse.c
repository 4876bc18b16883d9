/* Server-Sent Events: the reader over every way to cut a stream, and the writer. */
#include "test.h"

#include "rpc/sse.h"

#include <stdlib.h>

struct seen {
    struct al_buf log; /* type|id|data; of each event, and ! for one that was too long */
    int stop_after;    /* refuse the n-th event */
};

static bool on_event(void *ud, const struct al_sse_event *e)
{
    struct seen *s = ud;
    al_buf_addf(&s->log, "%.*s|%.*s|%.*s;", AL_FMT(e->type), AL_FMT(e->id), AL_FMT(e->data));
    return !s->stop_after || --s->stop_after > 0;
}

static void on_too_long(void *ud)
{
    al_buf_addc(&((struct seen *)ud)->log, '!');
}

static const struct al_sse_sink sink = {.event = on_event, .too_long = on_too_long};

static void expect_cut(struct al_str text, size_t max, size_t cut, const char *want, int64_t retry_ms)
{
    struct seen seen = {.log = AL_BUF_INIT(1 << 20)};
    struct al_sse s;
    al_sse_init(&s, max);
    if (cut > text.n) { /* each byte alone */
        for (size_t i = 0; i < text.n; i++)
            al_sse_feed(&s, (struct al_str){text.p + i, 1}, &sink, &seen);
    } else {
        al_sse_feed(&s, (struct al_str){text.p, cut}, &sink, &seen);
        al_sse_feed(&s, (struct al_str){text.p + cut, text.n - cut}, &sink, &seen);
    }
    al_buf_addc(&seen.log, 0);
    assert_string_equal(seen.log.p, want);
    assert_int_equal(s.retry_ms, retry_ms);
    al_sse_free(&s);
    al_buf_free(&seen.log);
}

struct sample {
    struct al_str text;
    const char *want;
    int64_t retry_ms;
};

static const struct sample samples[] = {
    {AL_S(""), "", -1},
    {AL_S("data: a\n\n"), "message||a;", -1},
    {AL_S("data: a\r\rdata: b\r\n\r\ndata: c\n\n"), "message||a;message||b;message||c;", -1},
    {AL_S("data: a\r\n\ndata: b\n\r\n"), "message||a;message||b;", -1},
    {AL_S("data:a\ndata:  b\ndata\ndata:\n\n"), "message||a\n b\n\n;", -1},
    {AL_S("data\n\n"), "message||;", -1},
    {AL_S("data: not ended\n"), "", -1},
    {AL_S("\xef\xbb\xbf"
          "data: a\n\n"),
     "message||a;", -1},
    {AL_S("\xef\xbb\xbf\xef\xbb\xbf"
          "data: a\n\n"),
     "", -1},
    {AL_S("\n\xef\xbb\xbf"
          "data: a\n\n"),
     "", -1},
    {AL_S(": comment\n:\n\ndata: a\n: data: b\n\n"), "message||a;", -1},
    {AL_S("event: x\ndata: a\n\ndata: b\n\nevent: y\n\ndata: c\n\n"), "x||a;message||b;message||c;", -1},
    {AL_S("id: 7\n\ndata: a\n\nid\ndata: b\n\n"), "message|7|;message|7|a;message||b;", -1},
    {AL_S("id: 1\0\ndata: a\n\n"), "message||a;", -1},
    {AL_S("id: 1\nid: 2\ndata: a\n\n"), "message|2|a;", -1},
    {AL_S("retry: 250\n\n"), "", 250},
    {AL_S("retry: 250\nretry: x\nretry: 2.5\nretry: -1\nretry:\n\n"), "", 250},
    {AL_S("retry: 99999999999999999999999999\n\n"), "", INT32_MAX},
    {AL_S("DATA: a\n data: b\nunknown: c\nfoo\n\n"), "", -1},
    {AL_S("data: a:b: c\n\n"), "message||a:b: c;", -1},
    /* The limit is 16 bytes of data here. */
    {AL_S("data: 0123456789abcdef\n\n"), "message||0123456789abcdef;", -1},
    {AL_S("id: 1\ndata: 0123456789abcdefg\ndata: b\n\ndata: c\n\n"), "!message|1|c;", -1},
    {AL_S("data: 0123456789\ndata: 012345\n\ndata: c\n\n"), "!message||c;", -1},
};

static void events_are_the_same_however_the_bytes_come(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++)
        for (size_t cut = 0; cut <= samples[i].text.n + 1; cut++)
            expect_cut(samples[i].text, 16, cut, samples[i].want, samples[i].retry_ms);
}

static void repeat(struct al_buf *b, char c, size_t n)
{
    memset(al_buf_grow(b, n), c, n);
}

static void an_endless_line_is_dropped_and_the_stream_goes_on(void **state)
{
    (void)state;
    autobuf struct al_buf text = AL_BUF_INIT(1 << 20);
    al_buf_adds(&text, ":");
    repeat(&text, 'c', 10000);
    al_buf_adds(&text, "\ndata: a\n\ndata: ");
    repeat(&text, 'x', 10000);
    al_buf_adds(&text, "\nid: 4\nevent: e\n\nevent: ");
    repeat(&text, 'y', 300);
    al_buf_adds(&text, "\ndata: b\n\nid: ");
    repeat(&text, '9', 4097);
    al_buf_adds(&text, "\ndata: c\n\n");
    for (size_t cut = 0; cut < text.n + 2; cut += 97)
        expect_cut(al_buf_str(&text), 16, cut, "message||a;!!message|4|c;", -1);
}

static void nothing_comes_after_the_sink_has_had_enough(void **state)
{
    (void)state;
    struct seen seen = {.log = AL_BUF_INIT(1 << 20), .stop_after = 2};
    struct al_sse s;
    al_sse_init(&s, 100);
    al_sse_feed(&s, AL_STR("data: a\n\ndata: b\n\ndata: c\n\n"), &sink, &seen);
    assert_true(al_str_is(al_buf_str(&seen.log), "message||a;message||b;"));
    al_sse_free(&s);
    al_buf_free(&seen.log);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    static const struct {
        struct al_str type, id, data;
        const char *want;
    } cases[] = {
        {AL_S(""), AL_S(""), AL_S("{}"), "data: {}\n\n"},
        {AL_S("message"), AL_S("3"), AL_S("a\nb\r\nc\rd"),
         "event: message\nid: 3\ndata: a\ndata: b\ndata: c\ndata: d\n\n"},
        {AL_S(""), AL_S("3"), AL_S(""), "id: 3\ndata: \n\n"},
        {AL_S(""), AL_S(""), AL_S("\n"), "data: \ndata: \n\n"},
        {AL_S("a\ndata: b"), AL_S("1\0002"), AL_S("x"), "event: a\nid: 1\ndata: x\n\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        autobuf struct al_buf out = AL_BUF_INIT(1000);
        al_sse_write(&out, cases[i].type, cases[i].id, cases[i].data);
        assert_true(al_str_is(al_buf_str(&out), cases[i].want));
    }
    autobuf struct al_buf out = AL_BUF_INIT(1000);
    al_sse_write(&out, AL_STR("t"), AL_STR("i"), AL_STR(" a\r\n: b\n"));
    expect_cut(al_buf_str(&out), 100, 0, "t|i| a\n: b\n;", -1);
}

static void expect_all(const char *text, size_t step, const char *want)
{
    struct seen seen = {.log = AL_BUF_INIT(1 << 20)};
    struct al_sse s;
    al_sse_init(&s, 16);
    s.bare = true;
    for (size_t i = 0, n = strlen(text); i < n; i += step)
        al_sse_feed(&s, (struct al_str){text + i, n - i < step ? n - i : step}, &sink, &seen);
    al_sse_end(&s, &sink, &seen);
    al_buf_addc(&seen.log, 0);
    assert_string_equal(seen.log.p, want);
    al_sse_free(&s);
    al_buf_free(&seen.log);
}

static void who_asks_for_it_gets_names_alone_and_the_event_that_was_not_ended(void **state)
{
    (void)state;
    static char long_type[400] = "event: ";
    memset(long_type + 7, 'x', 300);
    memcpy(long_type + 307, "\ndata: a\n\n", sizeof "\ndata: a\n\n");
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"event: error\n\ndata: a\n\n", "error||;message||a;"},
        {"data: a\n\ndata: b", "message||a;message||b;"},
        {"data: a\ndata: b\n", "message||a\nb;"},
        {"event: x\rdata: a\r", "x||a;"},
        {"event: x", "x||;"},
        {"data: a\n\n", "message||a;"},
        {"data: a\n\n: co", "message||a;"},
        {"data: a\n\nfoo", "message||a;"},
        {"data: 0123456789abcdefg", "!"},
        {"", ""},
        {long_type, "message||a;"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t step = 1; step < 5; step++)
            expect_all(cases[i].text, step, cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_the_same_however_the_bytes_come),
        cmocka_unit_test(an_endless_line_is_dropped_and_the_stream_goes_on),
        cmocka_unit_test(nothing_comes_after_the_sink_has_had_enough),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(who_asks_for_it_gets_names_alone_and_the_event_that_was_not_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
