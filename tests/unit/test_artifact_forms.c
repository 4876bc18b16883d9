/* Names, types, sizes of pictures, warnings about pages, archives: what is told by bytes alone. */
#include "artifact_world.h"

#include "artifact/artifact_int.h"
#include "base/text.h"
#include "table/zip.h"

#include <errno.h>
#include <sys/wait.h>

#define N(a) (sizeof(a) / sizeof *(a))

/* --- names --- */

static void names_are_safe_for_browsers_and_file_systems(void **state)
{
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"report.md", "report.md"},
        {"informe año 2026.pdf", "informe año 2026.pdf"},
        {"a\xe2\x80\xae"
         "fdp.exe",
         "a_fdp.exe"}, /* right-to-left override */
        {"a\xe2\x80\x8b"
         "b",
         "a_b"}, /* zero width */
        {"a\xf3\xa0\x81\xa1"
         "b",
         "a_b"}, /* tag character */
        {"../../etc/passwd", ".._.._etc_passwd"},
        {"a\\..\\b", "a_.._b"},
        {"a\"b\r\nX: y", "a_b__X_ y"},
        {"C:*?<>|", "C______"},
        {"CON", "_CON"},
        {"con.txt", "_con.txt"},
        {"Aux .tar.gz", "_Aux .tar.gz"},
        {"COM1", "_COM1"},
        {"LPT\xc2\xb2.log", "_LPT\xc2\xb2.log"},
        {"COM12", "COM12"},
        {"conan", "conan"},
        {"name. .", "name___"},
        {"..", "__"},
        {" x", "_x"},
        {"", "artifact"},
        {"caf\xe9", "caf_"},
        {".nojekyll", ".nojekyll"},
    };
    (void)state;
    for (size_t i = 0; i < N(cases); i++) {
        autobuf struct al_buf out = AL_BUF_INIT(1024);
        al_artifact_safe_name(al_str_of(cases[i].from), &out);
        al_buf_addc(&out, '\0');
        assert_string_equal(out.p, cases[i].to);
    }
    autobuf struct al_buf longest = AL_BUF_INIT(8192), out = AL_BUF_INIT(1024);
    for (int i = 0; i < 200; i++)
        al_buf_adds(&longest, "\xc3\xb1");
    al_buf_adds(&longest, ".xlsx");
    al_artifact_safe_name(al_buf_str(&longest), &out);
    assert_true(out.n <= 200 && out.n >= 198);
    assert_true(al_str_ends(al_buf_str(&out), ".xlsx") && al_utf8_valid(al_buf_str(&out)));
}

static void slugs_are_short_and_plain(void **state)
{
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"Sales dashboard", "sales-dashboard"},
        {"Año de venta: Ñandú", "ano-de-venta-nandu"},
        {"report.md", "report-md"},
        {"  --  ", "artifact"},
        {"売上", "artifact"},
        {"\xef\xbc\xa1\xef\xbc\xa2", "ab"},
        {"0123456789012345678901234567890123456789012345678",
         "012345678901234567890123456789012345678901234567"},
        {"", "artifact"},
    };
    (void)state;
    for (size_t i = 0; i < N(cases); i++) {
        char slug[AL_SLUG_MAX + 1];
        al_artifact_slug(al_str_of(cases[i].from), slug);
        assert_string_equal(slug, cases[i].to);
    }
}

static void canonical_names_are_equal_exactly_when_unicode_says_so(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"\xc3\xa9", "e\xcc\x81", true},
        {"\xe1\xbb\x87", "e\xcc\xa3\xcc\x82", true}, /* Vietnamese, two marks */
        {"\xe1\xbb\x87", "\xc3\xaa\xcc\xa3", true},
        {"\xe2\x84\xab", "\xc3\x85", true}, /* the sign of the unit, and the letter */
        {"\xed\x95\x9c", "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", true},
        {"a\xcc\x81\xcc\x88", "a\xcc\x88\xcc\x81", false}, /* marks of one class keep their order */
        {"\xef\xac\x81", "fi", false},                     /* compatible, not canonical */
        {"A", "a", false},
    };
    (void)state;
    for (size_t i = 0; i < N(cases); i++) {
        autobuf struct al_buf a = AL_BUF_INIT(256), b = AL_BUF_INIT(256);
        al_artifact_name_canonical(al_str_of(cases[i].a), &a);
        al_artifact_name_canonical(al_str_of(cases[i].b), &b);
        assert_int_equal(al_str_eq(al_buf_str(&a), al_buf_str(&b)), cases[i].same);
    }
}

/* --- types --- */

static void types_come_from_extension_and_leading_bytes(void **state)
{
    static const struct {
        const char *name, *head;
        size_t n;
        const char *kind, *mime;
        bool text;
    } cases[] = {
#define H(lit) lit, sizeof(lit) - 1
        {"a.html", H("<p>"), "dashboard", "text/html", true},
        {"a.HTM", H("<p>"), "dashboard", "text/html", true},
        {"a.md", H("# x"), "document", "text/markdown", true},
        {"a.pdf", H("%PDF-1.7"), "document", "application/pdf", false},
        {"a.pdf", H("<html>"), "file", "application/octet-stream", true},
        {"a.docx", H("PK\x03\x04"), "document",
         "application/vnd.openxmlformats-officedocument.wordprocessingml.document", false},
        {"a.csv", H("a,b\n"), "spreadsheet", "text/csv", true},
        {"a.csv",
         H("\xff\xfe"
           "a\0"),
         "spreadsheet", "text/csv", false},
        {"a.csv", H("caf\xe9\n"), "spreadsheet", "text/csv", false},
        {"a.csv", H("a\0b"), "file", "application/octet-stream", false},
        {"a.csv", H("PK\x03\x04xx"), "file", "application/octet-stream", false},
        {"a.xlsx", H("PK\x03\x04"), "spreadsheet",
         "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", false},
        {"a.xlsx", H("a,b\n"), "file", "application/octet-stream", true},
        {"a.png", H("\x89PNG\r\n\x1a\n\0\0"), "image", "image/png", false},
        {"a.png", H("GIF89a"), "file", "application/octet-stream", false},
        {"a.jpg", H("\xff\xd8\xff\xe0"), "image", "image/jpeg", false},
        {"a.webp", H("RIFF\0\0\0\0WEBPVP8 "), "image", "image/webp", false},
        {"a.svg", H("<?xml?><svg viewBox='0 0 1 1'>"), "image", "image/svg+xml", true},
        {"a.svg", H("<html>"), "file", "application/octet-stream", true},
        {"a.json", H(" \n{\"a\":1}"), "data", "application/json", true},
        {"a.json", H("<html>"), "file", "application/octet-stream", true},
        {"a.geojson", H("{}"), "data", "application/geo+json", true},
        {"a.jsonl", H("{}\n{}"), "data", "application/x-ndjson", true},
        {"a.py", H("import x"), "code", "text/plain", true},
        {"a.txt",
         H("\x7f"
           "ELF\x02"),
         "file", "application/octet-stream", false},
        {"a.zip", H("PK\x05\x06"), "archive", "application/zip", false},
        {"a.zip", H("no"), "file", "application/octet-stream", true},
        {"a.xyz", H("text"), "file", "application/octet-stream", true},
        {"noextension", H("text"), "file", "application/octet-stream", true},
        {"a.png", "", 0, "image", "image/png", false},
        {"a.md", "", 0, "document", "text/markdown", true},
        {"", "", 0, "file", "application/octet-stream", true},
    };
    (void)state;
    for (size_t i = 0; i < N(cases); i++) {
        struct al_artifact_type t =
            al_artifact_type_of(al_str_of(cases[i].name), (struct al_str){cases[i].head, cases[i].n});
        assert_string_equal(t.kind, cases[i].kind);
        assert_string_equal(t.mime, cases[i].mime);
        if (t.text != cases[i].text)
            fail_msg("%s %zu: text %d", cases[i].name, i, t.text);
    }
    /* A character cut by the end of the head is no fault; one cut by the end of the file is. */
    char head[AL_ARTIFACT_HEAD];
    memset(head, 'a', sizeof head);
    head[sizeof head - 1] = '\xc3';
    assert_true(al_artifact_type_of(AL_STR("a.txt"), (struct al_str){head, sizeof head}).text);
    assert_false(al_artifact_type_of(AL_STR("a.txt"), (struct al_str){head + 1, sizeof head - 1}).text);
}

static void sizes_of_pictures_are_read_from_their_heads(void **state)
{
    static const struct {
        const char *head;
        size_t n;
        uint32_t w, h; /* 0: none */
    } cases[] = {
        {H("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08"), 640, 480},
        {H("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\0\0\0\x01\xe0\x08"), 0, 0},
        {H("GIF89a\x0a\x00\x14\x00"), 10, 20},
        {H("\xff\xd8\xff\xe0\0\x04xx\xff\xff\xc2\0\x0b\x08\0\x20\0\x40\x01\x01\x11"), 64, 32},
        {H("\xff\xd8\xff\xc0\0\x0b\x08\0\x20\0\x40\x01"), 64, 32},
        {H("\xff\xd8\xff\xe0\0\x01\xff\xc0\0\x0b\x08\0\x20\0\x40\x01"), 0, 0},
        {H("\xff\xd8\xff\xda\0\x0b\x08\0\x20\0\x40\x01"), 0, 0},
        {H("RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x3f\x01\0\xef\0\0"), 320, 240},
        {H("RIFF\x1e\0\0\0WEBPVP8L\x0a\0\0\0\x2f\x3f\xc1\x3b\x00\0\0\0\0\0\0"), 320, 240},
        {H("RIFF\x1e\0\0\0WEBPVP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a\x40\x01\xf0\0"), 320, 240},
        {H("<svg width=\"300\" height='200.5px'>"), 300, 201},
        {H("<!-- x --><svg\n viewBox=\"-1 -2 30.0,40\"\n>"), 30, 40},
        {H("<svg width='100%' height='100%' viewBox='0 0 7 8'>"), 7, 8},
        {H("<svg width='2em' height='3em'>"), 0, 0},
        {H("<svg width=\"300"), 0, 0},
        {H("<svg"), 0, 0},
        {H(""), 0, 0},
        {H("hello"), 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < N(cases); i++) {
        uint32_t w = 0, h = 0;
        char *exact = al_xdup(cases[i].head, cases[i].n); /* its end is watched */
        bool known = al_artifact_image_size((struct al_str){exact, cases[i].n}, &w, &h);
        free(exact);
        if (known != (cases[i].w > 0) || w != cases[i].w || h != cases[i].h)
            fail_msg("%zu: %d %u × %u", i, known, w, h);
    }
}

/* --- pages --- */

static bool only_known(void *ud, struct al_str ref)
{
    (void)ud;
    return al_str_is(ref, "known.js") || al_str_is(ref, "a b&c.png");
}

static void pages_are_warned_about_what_will_not_show(void **state)
{
    static const char wedge[] = "<path d='M0 0 L1 1 A 1 1 0 0 1 2 2 Z'/>";
    static const char shapes[] = "<rect/><rect/><circle/><line/>";
    (void)state;
    static const struct {
        const char *html;
        unsigned network, missing, wedges, fixed;
    } cases[] = {
        {"<script src=https://cdn.example/x.js></script>", 1, 0, 0, 0},
        {"<SCRIPT type=module SRC = '//cdn.example/x.js' ></SCRIPT>", 1, 0, 0, 0},
        {"<link rel=\"preload stylesheet\" href=\"http://x/y.css\">", 1, 0, 0, 0},
        {"<link rel=canonical href=\"http://x/y\">", 0, 0, 0, 0},
        {"<a href='https://example.org'>x</a><img src='https://x/y.png'>", 0, 0, 0, 0},
        {"<style>@import url( \"https://x/y.css\" ); @media x{} @import 'no.css';</style>", 1, 1, 0, 0},
        {"<!-- <script src=https://x></script> --><p>", 0, 0, 0, 0},
        {"<script>document.write('<script src=\"https://x\"><\\/script>')</script>", 0, 0, 0, 0},
        {"<title><script src=https://x></title>", 0, 0, 0, 0},
        {"<img src=known.js><img src='a%20b&amp;c.png?v=1#x'><a href='#top'>", 0, 0, 0, 0},
        {"<img src=unknown.png><a href=\"other.html\">", 0, 2, 0, 0},
        {"<img src=data:image/png;base64,xx><a href='mailto:x@y'><a href=\"javascript:x\">", 0, 0, 0, 0},
        {"<a href=\"$(url)\"><img src='$x'>", 0, 0, 0, 0},
        {"<svg viewBox='0 0 9 9'>{</svg>", 0, 0, 1, 0},
        {"<svg viewBox='0 0 9 9'>{{<path d='M0 0 H 9 V 9 Z'/></svg>", 0, 0, 2, 0},
        {"<svg class=\"ac-chart\" viewBox='0 0 9 9'>{{</svg>", 0, 0, 0, 0},
        {"{{", 0, 0, 0, 0},
        {"<svg width=400 height=300>~</svg>", 0, 0, 0, 1},
        {"<svg width='400px'>~", 0, 0, 0, 1},
        {"<svg width=149>~</svg>", 0, 0, 0, 0},
        {"<svg width='100%'>~</svg>", 0, 0, 0, 0},
        {"<svg width=400 viewbox='0 0 4 3'>~</svg>", 0, 0, 0, 0},
        {"<svg width=400><rect/><rect/><rect/></svg>", 0, 0, 0, 0},
        {"<svg width=400>~</svg><svg width=500><svg>~</svg></svg>", 0, 0, 0, 2},
        {"<p", 0, 0, 0, 0},
        {"<img src='", 0, 0, 0, 0},
        {"</", 0, 0, 0, 0},
        {"<script", 0, 0, 0, 0},
        {"", 0, 0, 0, 0},
    };
    for (size_t i = 0; i < N(cases); i++) {
        autobuf struct al_buf html = AL_BUF_INIT(1 << 16), said = AL_BUF_INIT(1 << 16);
        for (const char *c = cases[i].html; *c; c++) {
            if (*c == '{' || *c == '~')
                al_buf_adds(&html, *c == '{' ? wedge : shapes);
            else
                al_buf_addc(&html, *c);
        }
        struct al_html_findings f;
        al_html_look(al_buf_str(&html), only_known, NULL, &f);
        if (f.network != cases[i].network || f.missing != cases[i].missing || f.wedges != cases[i].wedges ||
            f.fixed != cases[i].fixed)
            fail_msg("%s: network %u, missing %u, wedges %u, fixed %u", cases[i].html, f.network, f.missing,
                     f.wedges, f.fixed);
        al_html_warn(&f, AL_STR("p.html"), &said);
        assert_int_equal(said.n > 0, f.network || f.missing || f.wedges > 1 || f.fixed);
        assert_true(said.n == 0 || al_str_find(al_buf_str(&said), AL_STR("alisio_runtime.")) > 0);
    }
}

/* However a page is made, looking at it takes time in proportion to its length. */
static void pages_made_to_be_slow_are_not(void **state)
{
    static const char *const bits[] = {"<",  "<a ",   "<a b='",  "<!--", "<script>", "<style>@",
                                       "</", "<svg>", "<a b = ", "\"",   "<a/ "};
    (void)state;
    uint64_t start = al_mono_ms();
    for (size_t i = 0; i < N(bits); i++) {
        struct al_buf html = AL_BUF_INIT(1 << 21);
        struct al_html_findings f;
        while (html.n < 2000000)
            al_buf_adds(&html, bits[i]);
        al_html_look(al_buf_str(&html), only_known, NULL, &f);
        al_buf_free(&html);
    }
    assert_true(al_mono_ms() - start < 20000); /* 22 MB; quadratic, it would be hours */
}

/* --- archives --- */

static void check_entry(int fd, const char *name, const char *content)
{
    struct stat st;
    struct al_zip *z;
    struct al_unzip *u;
    struct al_err err = {0};
    char got[65536];
    size_t n = 0, r = 1;
    assert_int_equal(fstat(fd, &st), 0);
    OK(al_zip_open(fd, (uint64_t)st.st_size, 1 << 30, &z, &err));
    const struct al_zip_entry *e = al_zip_find(z, al_str_of(name), NULL);
    if (!e)
        fail_msg("no entry %s", name);
    assert_int_equal(e->unpacked, strlen(content));
    OK(al_unzip_open(z, e, &u, &err));
    while (r) {
        OK(al_unzip_next(u, got + n, sizeof got - n, &r, &err));
        n += r;
    }
    assert_int_equal(n, strlen(content));
    assert_memory_equal(got, content, n);
    al_unzip_free(u);
    al_zip_free(z);
}

static int archive(struct world *w, const char *name, const char *const *paths, size_t n)
{
    struct al_err err = {0};
    char path[256];
    snprintf(path, sizeof path, "%s/%s", w->fix->base, name);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    OK(al_zip_write(fd, w->out_fd, paths, n, &err));
    return fd;
}

/* What another reader says, when there is one. */
static bool tool_accepts(char *const argv[])
{
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, 1);
        dup2(null, 2);
        execvp(argv[0], argv);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 127;
}

static void an_archive_is_the_same_bytes_whenever_it_is_made(void **state)
{
    struct world *w = *state;
    char large[20001];
    for (size_t i = 0; i < sizeof large - 1; i++)
        large[i] = (char)('a' + i % 7);
    large[sizeof large - 1] = '\0';
    put(w, "b.txt", "hello");
    put(w, "a/large.txt", large);
    put(w, "empty", "");
    put(w, "a\\b:c.txt", "one");
    put(w, "a_b_c.txt", "two");
    put(w, "a|b:c.txt", "three");
    put(w, "ñ.txt", "four");
    put(w, "nul/x", "five");
    const char *paths[] = {"b.txt",     "a/large.txt", "empty", "a\\b:c.txt",
                           "a_b_c.txt", "a|b:c.txt",   "ñ.txt", "nul/x"};
    const char *other[] = {"nul/x",      "ñ.txt", "a|b:c.txt",   "a_b_c.txt",
                           "a\\b:c.txt", "empty", "a/large.txt", "b.txt"};
    int fd = archive(w, "1.zip", paths, N(paths)), again = archive(w, "2.zip", other, N(other));
    autobuf struct al_buf one = AL_BUF_INIT(1 << 20), two = AL_BUF_INIT(1 << 20);
    lseek(fd, 0, SEEK_SET);
    lseek(again, 0, SEEK_SET);
    assert_int_equal(al_fd_read_all(fd, &one), 0);
    assert_int_equal(al_fd_read_all(again, &two), 0);
    assert_true(al_str_eq(al_buf_str(&one), al_buf_str(&two)));
    assert_true(one.n < 2000); /* packed */

    check_entry(fd, "b.txt", "hello");
    check_entry(fd, "a/large.txt", large);
    check_entry(fd, "empty", "");
    check_entry(fd, "a_b_c.txt", "two");
    check_entry(fd, "a_b_c-2.txt", "one");
    check_entry(fd, "a_b_c-3.txt", "three");
    check_entry(fd, "ñ.txt", "four");
    check_entry(fd, "_nul/x", "five");
    close(fd);
    close(again);
    char path[256];
    snprintf(path, sizeof path, "%s/1.zip", w->fix->base);
    assert_true(tool_accepts(
        (char *[]){(char *)"/usr/bin/python3", (char *)"-m", (char *)"zipfile", (char *)"-t", path, NULL}));
    assert_true(tool_accepts((char *[]){(char *)"unzip", (char *)"-tqq", path, NULL}));
}

static void what_does_not_pack_is_stored(void **state)
{
    struct world *w = *state;
    struct stat st;
    char noise[5001];
    al_random(noise, sizeof noise - 1);
    for (size_t i = 0; i < sizeof noise - 1; i++)
        noise[i] = noise[i] ? noise[i] : 'x';
    noise[sizeof noise - 1] = '\0';
    put(w, "noise", noise);
    const char *paths[] = {"noise"};
    int fd = archive(w, "1.zip", paths, 1);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, 5000 + 30 + 46 + 22 + 2 * 5);
    check_entry(fd, "noise", noise);
    close(fd);
    fd = archive(w, "0.zip", NULL, 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, 22);
    close(fd);
}

static void an_archive_follows_no_link(void **state)
{
    struct world *w = *state;
    struct al_err err = {0};
    assert_int_equal(symlinkat("/etc/passwd", w->out_fd, "link"), 0);
    const char *paths[] = {"link"};
    int fd = open(w->fix->base, O_TMPFILE | O_RDWR, 0600);
    assert_int_equal(al_zip_write(fd, w->out_fd, paths, 1, &err), -1);
    close(fd);
}

static void an_archive_of_four_gigabytes_is_refused(void **state)
{
    struct world *w = *state;
    struct al_err err = {0};
    int large = openat(w->out_fd, "sparse", O_WRONLY | O_CREAT, 0600);
    if (ftruncate(large, (off_t)5 << 30) < 0)
        skip();
    close(large);
    const char *paths[] = {"sparse"};
    int fd = open(w->fix->base, O_TMPFILE | O_RDWR, 0600);
    assert_int_equal(al_zip_write(fd, w->out_fd, paths, 1, &err), -1);
    assert_int_equal(err.code, AL_PUBLISH_REJECTED);
    assert_non_null(strstr(err.msg, "larger than 4 GB"));
    close(fd);
}

int main(void)
{
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_safe_for_browsers_and_file_systems),
        cmocka_unit_test(slugs_are_short_and_plain),
        cmocka_unit_test(canonical_names_are_equal_exactly_when_unicode_says_so),
        cmocka_unit_test(types_come_from_extension_and_leading_bytes),
        cmocka_unit_test(sizes_of_pictures_are_read_from_their_heads),
        cmocka_unit_test(pages_are_warned_about_what_will_not_show),
        cmocka_unit_test(pages_made_to_be_slow_are_not),
        CASE(an_archive_is_the_same_bytes_whenever_it_is_made),
        CASE(what_does_not_pack_is_stored),
        CASE(an_archive_follows_no_link),
        CASE(an_archive_of_four_gigabytes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
