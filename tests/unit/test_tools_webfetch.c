/* webfetch against a server on loopback, which is taken for the public internet where a test says so. */
#include "test.h"

#include "http_peer.h"
#include "tools_world.h"

#include "base/mem.h"
#include "base/text.h"
#include "jsvm/engine.h"
#include "tools/webfetch_int.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static struct world world;
static struct peer peer;

/* What the peer answers now. */
static struct {
    const char *status, *head;
    struct al_str body;
    bool silent;
} answer;

static bool serve(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    (void)n;
    if (strncmp(request, "GET /away", 9) == 0)
        return peer_answer(fd, "302 Found", "Location: http://127.0.0.2:1/secret\r\n", AL_STR(""));
    if (strncmp(request, "GET /hop", 8) == 0)
        return peer_answer(fd, "302 Found", "Location: /dir/page?q=1\r\n", AL_STR(""));
    if (answer.silent)
        peer_wait_closed(fd);
    return peer_answer(fd, answer.status, answer.head, answer.body);
}

static bool one_only(const struct sockaddr *a)
{
    const struct sockaddr_in *in = (const struct sockaddr_in *)a;
    return a->sa_family == AF_INET && in->sin_addr.s_addr == htonl(0x7f000001);
}

static int set_up(void **state)
{
    *state = &world;
    world_open(&world, &(struct world_opts){.policy = {.allow_external = true}});
    peer_start(&peer, serve, NULL);
    al_webfetch_allow(one_only);
    answer.silent = false;
    return 0;
}

static int tear_down(void **state)
{
    world_close(*state);
    peer_stop(&peer);
    return 0;
}

static struct reply fetch_as(enum al_origin origin, const char *path, const char *rest)
{
    char args[600];
    snprintf(args, sizeof(args), "{\"url\":\"http://127.0.0.1:%d%s\"%s}", peer.port, path, rest);
    return call_as(&world, origin, "webfetch", args);
}

static struct reply fetch(const char *head, struct al_str body, const char *rest)
{
    answer.status = "200 OK";
    answer.head = head;
    answer.body = body;
    return fetch_as(AL_ORIGIN_SCRIPT, "/dir/page", rest);
}

#define HTML "Content-Type: text/html; charset=utf-8\r\n"
#define PLAIN "Content-Type: text/plain\r\n"

static void page_becomes(const char *html, const char *want)
{
    struct reply r = fetch(HTML, al_str_of(html), "");
    assert_code(&r, AL_OK);
    char port[16];
    snprintf(port, sizeof(port), ":%d/", peer.port);
    autobuf struct al_buf text = AL_BUF_INIT(1 << 20); /* with PORT for the port, which differs */
    struct al_str got = at(&r, "text")->str;
    while (got.n) {
        ptrdiff_t i = al_str_find(got, al_str_of(port));
        size_t n = i < 0 ? got.n : (size_t)i;
        al_buf_add(&text, got.p, n);
        if (i >= 0)
            al_buf_adds(&text, ":PORT/");
        got.p += i < 0 ? n : n + strlen(port);
        got.n -= i < 0 ? n : n + strlen(port);
    }
    al_buf_addc(&text, 0);
    assert_string_equal(text.p, want);
    reply_free(&r);
}

static void a_page_becomes_markdown(void **state)
{
    (void)state;
    page_becomes(
        "<title>T &amp; t</title><p>Hello <b>bold <i>it</i></b> and <a href=\"../x?z=1&amp;w=2\">a "
        "<b>link</b></a>.<p>second<br>line",
        "# T & t\n\nHello **bold *it*** and [a **link**](http://127.0.0.1:PORT/x?z=1&w=2).\n\nsecond\nline");
    page_becomes(
        "<h1>Head</h1><ul><li>one<li>two<ul><li>in</ul><li>three</ul><ol start=3><li>c<li>d</ol>after",
        "# Head\n\n- one\n- two\n  - in\n- three\n\n3. c\n4. d\n\nafter");
    page_becomes("<table><tr><th>A<th>B|x<tr><td>1 <b>x</b><td>2<tr><td>3</table>",
                 "| A | B\\|x |\n| --- | --- |\n| 1 x | 2 |\n| 3 |  |");
    page_becomes("<pre><code class=\"language-js\">let a = `x`;\n  if (a &lt; b) {}\n</code></pre> and "
                 "<code>x `y`</code>",
                 "```js\nlet a = `x`;\n  if (a < b) {}\n```\n\nand `` x `y` ``");
    page_becomes("<blockquote><p>q1<p>q2</blockquote><hr>x", "> q1\n>\n> q2\n\n---\n\nx");
}

static void what_is_no_text_of_a_page_is_dropped(void **state)
{
    (void)state;
    page_becomes("a<script>if (x < 3) '</p>'</script>b<style>p{}</style>c<!-- d --><template>e</template>f",
                 "abcf");
    page_becomes("<svg><title>no</title></svg><iframe>x</iframe><select><option>y</select>z", "z");
    page_becomes("<a href='javascript:alert(1)'>a</a> <a href='#x'>b</a> <a href='data:text/html,x'>c</a>",
                 "a b c");
    page_becomes("<img alt='A pic' src=/i.png><img src=x><img alt=d src='data:image/png;base64,xx'>",
                 "![A pic](http://127.0.0.1:PORT/i.png)d");
    page_becomes("<base href='http://x.test/d/'><a href='e (1)'>e</a>", "[e](http://x.test/d/e%20%281%29)");
    page_becomes("x\xf3\xa0\x81\x81\xf3\xa0\x81\x82y", "xy");
}

static void broken_markup_is_read_all_the_same(void **state)
{
    (void)state;
    page_becomes("a < b <3 &lt; &copy &#8364; &#x20AC; &#128; &#0; &bogus; &amp",
                 "a < b <3 < © € € € \xef\xbf\xbd &bogus; &");
    page_becomes("</p></ul></table></b>x</td><a href=y>z", "x[z](http://127.0.0.1:PORT/dir/y)");
    page_becomes("<p>a<div", "a");
    page_becomes("<p>a<a href=\"never closed>b</a>", "a");
    page_becomes("<p>a<!-- never closed <p>b", "a");
    page_becomes("<p>a<script>never closed", "a");
    page_becomes("<pre>never\nclosed", "```\nnever\nclosed\n```");
    page_becomes("<b>x<p>y<p>z", "**x**\n\n**y**\n\n**z**");
    page_becomes("", "");
}

static void page_ends_in_time(const char *unit, size_t bytes, bool may_fail)
{
    size_t n = strlen(unit);
    char *page = al_xmalloc(bytes + n);
    for (size_t i = 0; i < bytes; i += n)
        memcpy(page + i, unit, n);
    struct reply r = fetch(HTML, (struct al_str){page, bytes}, "");
    if (!may_fail || r.code != AL_TOOL_ERROR)
        assert_code(&r, AL_OK);
    free(page);
    reply_free(&r);
}

static void a_hostile_page_costs_no_more_than_its_share(void **state)
{
    (void)state;
    page_ends_in_time("<", AL_WEBFETCH_BODY, false);
    page_ends_in_time(" ", AL_WEBFETCH_BODY, false);
    page_ends_in_time("<!--", AL_WEBFETCH_BODY, false);
    page_ends_in_time("\x01\"\\", AL_WEBFETCH_BODY, false);
    page_ends_in_time("<div>", 1 << 20, true);
    page_ends_in_time("<blockquote><ul><li><table><tr><td><b><a href=x>y", 1 << 20, true);
    page_ends_in_time("<a href=x>y</a>", AL_WEBFETCH_BODY, true);
}

static void what_is_no_page_comes_as_it_is(void **state)
{
    (void)state;
    struct reply r = fetch(PLAIN, AL_STR("<p>a &amp; b"), "");
    assert_code(&r, AL_OK);
    assert_text_at(&r, "text", "<p>a &amp; b");
    assert_text_at(&r, "contentType", "text/plain");
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_FALSE);
    assert_null(at(&r, "savedTo"));
    reply_free(&r);
    r = fetch("Content-Type: application/vnd.x+json\r\n", AL_STR("{\"a\": 1}"), "");
    assert_text_at(&r, "text", "{\"a\": 1}");
    reply_free(&r);
    r = fetch(HTML, AL_STR("<p>a"), ",\"format\":\"html\"");
    assert_text_at(&r, "text", "<p>a");
    reply_free(&r);
    r = fetch(HTML, AL_STR("<h2>h</h2><ul><li><a href=x><b>a</b></a></ul>"), ",\"format\":\"text\"");
    assert_text_at(&r, "text", "h\n\n- a");
    reply_free(&r);
    r = fetch("", AL_STR(" <!DOCTYPE html><p>guessed"), "");
    assert_text_at(&r, "text", "guessed");
    reply_free(&r);
}

static void characters_are_those_of_the_page(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        struct al_str body;
        const char *want;
    } cases[] = {
        {PLAIN, AL_S("gr\xc3\xbc\xc3\x9f"), "grüß"},
        {PLAIN, AL_S("gr\xfc\xdf \x80"), "grüß €"},
        {"Content-Type: text/plain; charset=ISO-8859-1\r\n", AL_S("\xc3\xbc"), "Ã¼"},
        {"Content-Type: text/plain; charset=utf-8\r\n", AL_S("a\xff"), "a\xef\xbf\xbd"},
        {PLAIN,
         AL_S("\xef\xbb\xbf"
              "b"),
         "b"},
        {PLAIN,
         AL_S("\xff\xfe"
              "c\0\xfc\0"),
         "cü"},
        {"Content-Type: text/plain; charset=utf-16be\r\n", AL_S("\0d"), "d"},
        {"Content-Type: text/html\r\n", AL_S("<meta charset=windows-1252><p>\xc3\xbc"), "Ã¼"},
        {"Content-Type: text/html\r\n", AL_S("<meta content='text/html; charset=\"utf-8\"'><p>\xc3\xbc"),
         "ü"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply r = fetch(cases[i].head, cases[i].body, "");
        assert_code(&r, AL_OK);
        assert_text_at(&r, "text", cases[i].want);
        reply_free(&r);
    }
}

static void what_is_no_text_is_refused(void **state)
{
    (void)state;
    struct reply r = fetch("Content-Type: image/png\r\n", AL_STR("x"), "");
    assert_code(&r, AL_TOOL_ERROR);
    assert_has(r.msg, "image/png");
    reply_free(&r);
    r = fetch(PLAIN, AL_STR("a\0b"), "");
    assert_code(&r, AL_TOOL_ERROR);
    assert_has(r.msg, "no text");
    reply_free(&r);
    r = fetch("", AL_STR("%PDF-1.7 x"), "");
    assert_code(&r, AL_TOOL_ERROR);
    assert_has(r.msg, "PDF");
    reply_free(&r);
}

static void status_and_redirects_are_told(void **state)
{
    (void)state;
    answer.status = "404 Not Found";
    answer.head = PLAIN;
    answer.body = AL_STR("not here");
    struct reply r = fetch_as(AL_ORIGIN_CLI, "/hop", "");
    assert_code(&r, AL_OK);
    assert_int_equal(int_at(&r, "status"), 404);
    char url[100], text[200];
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/dir/page?q=1", peer.port);
    assert_text_at(&r, "finalUrl", url);
    snprintf(text, sizeof(text), "%s (HTTP 404, text/plain, 8 B)\n\nnot here", url);
    assert_string_equal(r.text, text);
    reply_free(&r);
}

static void addresses_inside_are_refused_also_after_a_redirect(void **state)
{
    (void)state;
    struct reply r = fetch_as(AL_ORIGIN_SCRIPT, "/away", "");
    assert_code(&r, AL_PERMISSION_DENIED);
    assert_has(r.msg, "127.0.0.2");
    reply_free(&r);
    al_webfetch_allow(NULL);
    r = fetch(PLAIN, AL_STR("x"), "");
    assert_code(&r, AL_PERMISSION_DENIED);
    assert_has(r.msg, "no address of the public internet");
    reply_free(&r);
    r = call(&world, "webfetch", "{\"url\":\"http://localhost:%d/\"}", peer.port);
    assert_code(&r, AL_PERMISSION_DENIED);
    reply_free(&r);
    r = call(&world, "webfetch", "{\"url\":\"file:///etc/passwd\"}");
    assert_code(&r, AL_TOOL_INPUT_INVALID);
    assert_has(r.msg, "/url");
    reply_free(&r);
}

static void a_long_text_is_cut_for_a_model_and_kept_whole(void **state)
{
    (void)state;
    size_t n = 100000;
    char *body = al_xmalloc(n);
    memset(body, 'x', n);
    answer.status = "200 OK";
    answer.head = PLAIN;
    answer.body = (struct al_str){body, n};
    struct reply r = fetch_as(AL_ORIGIN_CLI, "/", "");
    assert_code(&r, AL_OK);
    assert_true(strlen(r.text) < 20500);
    assert_has(r.text, "[the first 20000 of 100000 characters; all of it: scratch:webfetch/");
    assert_int_equal(at(&r, "text")->str.n, n);
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_FALSE);
    struct al_str saved = at(&r, "savedTo")->str;
    assert_true(al_str_starts(saved, "scratch:webfetch/") && al_str_ends(saved, ".md"));
    struct reply whole = call(&world, "read_file", "{\"path\":\"%.*s\"}", AL_FMT(saved));
    assert_code(&whole, AL_OK);
    assert_int_equal(at(&whole, "text")->str.n, n);
    reply_free(&whole);
    reply_free(&r);
    free(body);
}

static void a_body_without_end_is_cut(void **state)
{
    (void)state;
    size_t n = AL_WEBFETCH_BODY + 1000;
    char *body = al_xmalloc(n);
    for (size_t i = 0; i + 2 < n; i += 3)
        memcpy(body + i, "\xe2\x82\xac", 3);
    body[n - 1] = body[n - 2] = 'x';
    struct reply r = fetch(PLAIN, (struct al_str){body, n}, "");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_TRUE);
    assert_true(at(&r, "text")->str.n > AL_WEBFETCH_BODY - 8 && at(&r, "text")->str.n <= AL_WEBFETCH_BODY);
    assert_true(al_str_ends(at(&r, "text")->str, "€"));
    reply_free(&r);
    free(body);
}

static void it_ends_in_time_and_when_cancelled(void **state)
{
    (void)state;
    answer.silent = true;
    struct reply r = fetch(PLAIN, AL_STR("x"), ",\"timeout\":1");
    assert_code(&r, AL_TOOL_TIMEOUT);
    assert_has(r.msg, "gave no answer within 1 s");
    reply_free(&r);
    char args[200];
    snprintf(args, sizeof(args), "{\"url\":\"http://127.0.0.1:%d/\"}", peer.port);
    start(&world, AL_ORIGIN_SCRIPT, "webfetch", args, &r);
    al_call_cancel(r.call);
    finish(&world, &r);
    assert_code(&r, AL_CANCELLED);
    reply_free(&r);
}

static void it_needs_leave(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, &(struct world_opts){0});
    struct reply r = call_plain(&w, AL_ORIGIN_SCRIPT, "webfetch", "{\"url\":\"http://127.0.0.1/\"}");
    assert_code(&r, AL_APPROVAL_REQUIRED);
    reply_free(&r);
    world_close(&w);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], AL_ZYGOTE_VERB) == 0)
        return al_zygote_main(argc, argv);
    world_main(argc, argv);
    static const char *const proxies[] = {"http_proxy", "https_proxy", "all_proxy", "ALL_PROXY",
                                          "HTTPS_PROXY"};
    for (size_t i = 0; i < sizeof(proxies) / sizeof(*proxies); i++)
        unsetenv(proxies[i]);
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_page_becomes_markdown),
        CASE(what_is_no_text_of_a_page_is_dropped),
        CASE(broken_markup_is_read_all_the_same),
        CASE(a_hostile_page_costs_no_more_than_its_share),
        CASE(what_is_no_page_comes_as_it_is),
        CASE(characters_are_those_of_the_page),
        CASE(what_is_no_text_is_refused),
        CASE(status_and_redirects_are_told),
        CASE(addresses_inside_are_refused_also_after_a_redirect),
        CASE(a_long_text_is_cut_for_a_model_and_kept_whole),
        CASE(a_body_without_end_is_cut),
        CASE(it_ends_in_time_and_when_cancelled),
        CASE(it_needs_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
