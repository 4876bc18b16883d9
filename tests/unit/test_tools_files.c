#include "test.h"

#include "tools_world.h"

#include "base/mem.h"
#include "base/text.h"
#include "tools/tools_int.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITER                           \
    {                                    \
        .policy = {.allow_write = true } \
    }

static struct world world;

static int open_world(void **state)
{
    *state = &world;
    world_open(&world, &(struct world_opts)WRITER);
    return 0;
}

static int close_world(void **state)
{
    world_close(*state);
    return 0;
}

/* --- pure parts --- */

static void globs_match_like_gitignore(void **state)
{
    (void)state;
    static const struct {
        const char *glob, *path;
        bool want;
    } cases[] = {
        {"*.c", "a.c", true},
        {"*.c", "src/deep/a.c", true},
        {"*.c", "a.cc", false},
        {"src/*.c", "src/a.c", true},
        {"src/*.c", "src/x/a.c", false},
        {"src/*.c", "lib/src/a.c", false},
        {"/a.c", "a.c", true},
        {"/a.c", "src/a.c", false},
        {"./src/*.c", "src/a.c", true},
        {"src/**/*.c", "src/a.c", true},
        {"src/**/*.c", "src/x/y/a.c", true},
        {"**/a.c", "a.c", true},
        {"**/a.c", "x/y/a.c", true},
        {"src/**", "src/x/y", true},
        {"src/**", "srcs/x", false},
        {"**", "x/y", true},
        {"*.{c,h}", "x/a.h", true},
        {"*.{c,h}", "x/a.o", false},
        {"{src,lib}/{a,b}.c", "lib/b.c", true},
        {"{src,lib}/{a,b}.c", "lib/c.c", false},
        {"a{,b{1,2}}.c", "ab2.c", true},
        {"a{,b{1,2}}.c", "a.c", true},
        {"[a-c].txt", "b.txt", true},
        {"[!a-c].txt", "b.txt", false},
        {"[!a-c].txt", "x.txt", true},
        {"[]x].txt", "].txt", true},
        {"[abc", "[abc", true},
        {"a?c", "abc", true},
        {"x/a?c", "x/a/c", false},
        {"\\*.c", "*.c", true},
        {"\\*.c", "a.c", false},
        {"a*b*c", "axxbyyc", true},
        {"a*b*c", "axxbyy", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct al_globs *g;
        struct al_err err = {0};
        assert_int_equal(al_globs_new(al_str_of(cases[i].glob), &g, &err), 0);
        if (al_globs_match(g, al_str_of(cases[i].path)) != cases[i].want)
            fail_msg("%s on %s", cases[i].glob, cases[i].path);
        al_globs_free(g);
    }
}

static void hostile_globs_end(void **state)
{
    (void)state;
    struct al_globs *g;
    struct al_err err = {0};
    assert_int_equal(al_globs_new(AL_STR("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"), &g, &err), -1);
    assert_int_equal(err.code, AL_TOOL_INPUT_INVALID);
    assert_int_equal(al_globs_new(AL_STR(""), &g, &err), -1);
    char path[2001];
    memset(path, 'a', sizeof path - 1);
    path[2000] = 0;
    assert_int_equal(al_globs_new(AL_STR("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b"), &g, &err), 0);
    assert_false(al_globs_match(g, al_str_of(path)));
    al_globs_free(g);
    /* Nor is a match given up because the start of the path took so long. */
    memcpy(path + 1990, "/aaaaaaaac", 10);
    assert_int_equal(al_globs_new(AL_STR("**/*a*a*a*a*a*a*a*c"), &g, &err), 0);
    assert_true(al_globs_match(g, al_str_of(path)));
    al_globs_free(g);
}

static void json_room_counts_what_the_writer_makes(void **state)
{
    (void)state;
    static const char *const texts[] = {"plain",
                                        "\"\\\n\t\r",
                                        "\x01\x7f\b\f",
                                        "\xe2\x80\xa8\xe2\x80\xa9",
                                        "\xc2\x80\xc2\x9f\xc2\xa0",
                                        "äöü€𝄞",
                                        "\xff\xfe\x80"
                                        "a",
                                        "/</script>"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        autobuf struct al_buf out = AL_BUF_INIT(1000);
        struct al_jw w;
        al_jw_init(&w, &out);
        al_jw_str(&w, al_str_of(texts[i]));
        assert_true(al_tool_json_cost(al_str_of(texts[i])) + 2 >= out.n);
        struct al_str fit = al_tool_fit_json(al_str_of(texts[i]), 4);
        assert_true(al_tool_json_cost(fit) <= 4);
    }
    assert_int_equal(al_tool_fit_json(AL_STR("a€"), 3).n, 1);
}

static void head_and_tail_keep_both_ends(void **state)
{
    (void)state;
    autobuf struct al_buf in = AL_BUF_INIT(1 << 20), out = AL_BUF_INIT(1 << 20);
    for (int i = 0; i < 5000; i++)
        al_buf_addf(&in, "line %d €\n", i);
    al_tool_head_tail(&out, al_buf_str(&in), 4000);
    al_buf_addc(&out, 0);
    assert_true(al_utf8_valid((struct al_str){out.p, out.n - 1}));
    assert_true(out.n < 4000 * 3);
    assert_has(out.p, "line 0 €\n");
    assert_has(out.p, "line 4999 €\n");
    assert_has(out.p, "left out here");
    assert_lacks(out.p, "line 2500 ");
}

static void windows_1252_goes_both_ways(void **state)
{
    (void)state;
    char all[256];
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    autobuf struct al_buf utf8 = AL_BUF_INIT(1000), back = AL_BUF_INIT(1000);
    al_windows1252_decode(&utf8, (struct al_str){all, 256});
    assert_true(al_utf8_valid(al_buf_str(&utf8)));
    assert_true(al_windows1252_encode(&back, al_buf_str(&utf8)));
    assert_int_equal(back.n, 256);
    assert_memory_equal(back.p, all, 256);
    assert_false(al_windows1252_encode(&back, AL_STR("Ж")));
}

/* --- read_file --- */

/* Reads of some file systems end early; a datagram a piece stands for them. */
static void reads_that_end_early_change_nothing(void **state)
{
    (void)state;
    static const char *const pieces[] = {"\xef", "\xbb\xbf", "one\n", "\xc3", "\xa4\n"};
    int s[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s), 0);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
        assert_int_equal(send(s[0], pieces[i], strlen(pieces[i]), 0), strlen(pieces[i]));
    close(s[0]);
    struct al_scan_req req = {1, 0, 1000, NULL};
    struct al_scan scan = {0};
    struct al_err err = {0};
    assert_int_equal(al_scan_file(s[1], "x", &req, &scan, &err), 0);
    close(s[1]);
    assert_int_equal(scan.encoding, AL_ENC_UTF8_BOM);
    assert_true(al_str_is(al_buf_str(&scan.text), "one\nä\n"));
    al_scan_fini(&scan);
}

static void read_file_gives_text_hash_and_lines(void **state)
{
    struct world *w = *state;
    put(w, "a.txt", "one\ntwo\nthree");
    struct reply r = call(w, "read_file", "{\"path\":\"a.txt\"}");
    assert_code(&r, AL_OK);
    assert_text_at(&r, "path", "a.txt");
    assert_text_at(&r, "text", "one\ntwo\nthree");
    assert_text_at(&r, "sha256", "058053d87c818d699cde0f00d670bca0e1c6ad857caa9758ea6a556d7c64fcee");
    assert_text_at(&r, "encoding", "utf-8");
    assert_int_equal(int_at(&r, "lines"), 3);
    assert_int_equal(int_at(&r, "totalLines"), 3);
    assert_int_equal(int_at(&r, "bytes"), 13);
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_FALSE);
    assert_int_equal(at(&r, "nextLine")->type, AL_JSON_NULL);
    assert_has(r.text, "     2\ttwo\n");
    reply_free(&r);
}

static void read_file_reads_a_part(void **state)
{
    struct world *w = *state;
    put(w, "a.txt", "1\n2\n3\n4\n5\n");
    struct reply r = call(w, "read_file", "{\"path\":\"a.txt\",\"startLine\":2,\"limit\":2}");
    assert_text_at(&r, "text", "2\n3\n");
    assert_int_equal(int_at(&r, "startLine"), 2);
    assert_int_equal(int_at(&r, "nextLine"), 4);
    assert_int_equal(int_at(&r, "totalLines"), 5);
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_TRUE);
    assert_has(r.text, "go on with startLine 4");
    reply_free(&r);
    r = call(w, "read_file", "{\"path\":\"a.txt\",\"startLine\":9}");
    assert_code(&r, AL_OK);
    assert_int_equal(int_at(&r, "lines"), 0);
    assert_has(r.text, "the file ends at line 5");
    reply_free(&r);
    put(w, "empty", "");
    r = call(w, "read_file", "{\"path\":\"empty\"}");
    assert_code(&r, AL_OK);
    assert_int_equal(int_at(&r, "totalLines"), 0);
    assert_text_at(&r, "text", "");
    reply_free(&r);
}

static void the_text_is_short_and_the_value_whole(void **state)
{
    struct world *w = *state;
    autobuf struct al_buf b = AL_BUF_INIT(1 << 20);
    for (int i = 1; i <= 3000; i++)
        al_buf_addf(&b, "this is line %d\n", i);
    put_bytes(w, "long.txt", b.p, b.n);
    struct reply r = call(w, "read_file", "{\"path\":\"long.txt\"}");
    assert_int_equal(at(&r, "text")->str.n, b.n);
    assert_int_equal(int_at(&r, "lines"), 3000);
    assert_has(r.text, "this is line 200\n");
    assert_lacks(r.text, "this is line 201\n");
    assert_has(r.text, "go on with startLine 201");
    reply_free(&r);
    r = call(w, "read_file", "{\"path\":\"long.txt\",\"limit\":3000}");
    assert_true(strlen(r.text) < 29000);
    reply_free(&r);
}

static void a_file_over_the_limit_is_cut_at_a_line(void **state)
{
    struct world *w = *state;
    autobuf struct al_buf b = AL_BUF_INIT(32 << 20);
    for (int i = 1; b.n < (12u << 20); i++)
        al_buf_addf(&b, "line %d \"quoted\"\n", i);
    put_bytes(w, "big.txt", b.p, b.n);
    struct reply r = call(w, "read_file", "{\"path\":\"big.txt\"}");
    assert_code(&r, AL_OK);
    assert_true(r.n_structured > (7u << 20));
    struct al_str text = at(&r, "text")->str;
    assert_true(text.p[text.n - 1] == '\n');
    assert_memory_equal(text.p, b.p, text.n);
    assert_int_equal(int_at(&r, "nextLine"), int_at(&r, "lines") + 1);
    assert_int_equal(int_at(&r, "bytes"), (int64_t)b.n);
    char args[128];
    snprintf(args, sizeof args, "{\"path\":\"big.txt\",\"startLine\":%lld}",
             (long long)int_at(&r, "nextLine"));
    size_t first = text.n;
    struct reply rest = call(w, "read_file", "%s", args);
    assert_memory_equal(at(&rest, "text")->str.p, b.p + first, 100);
    reply_free(&rest);
    reply_free(&r);
}

static void a_line_of_ten_megabytes_is_cut(void **state)
{
    struct world *w = *state;
    size_t n = 10u << 20;
    char *p = al_xmalloc(n);
    for (size_t i = 0; i < n; i += 2)
        memcpy(p + i, "\xc3\xa4", 2);
    put_bytes(w, "one", p, n);
    struct reply r = call(w, "read_file", "{\"path\":\"one\"}");
    assert_code(&r, AL_OK);
    assert_int_equal(int_at(&r, "lines"), 1);
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_TRUE);
    assert_text_at(&r, "encoding", "utf-8");
    assert_true(strlen(r.text) < 6000);
    assert_has(r.text, "… (+");
    reply_free(&r);
    memset(p, 1, n);
    put_bytes(w, "ctl", p, n);
    r = call(w, "read_file", "{\"path\":\"ctl\"}");
    assert_code(&r, AL_OK);
    assert_true(r.n_structured <= AL_CALL_MAX_RESULT);
    reply_free(&r);
    free(p);
}

static void encodings_arrive_as_utf8(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *text, *encoding;
    } cases[] = {
        {"\xef\xbb\xbf"
         "a\xc3\xa4",
         6, "aä", "utf-8-bom"},
        {"\xff\xfe"
         "a\0\n\0\x3d\xd8\x00\xde",
         10, "a\n😀", "utf-16le"},
        {"\xfe\xff"
         "\0a\0\n\xd8\x3d\xde\x00",
         10, "a\n😀", "utf-16be"},
        {"\xff\xfe"
         "\x00\xd8"
         "a\0b",
         7, "�a�", "utf-16le"},
        {"caf\xe9 \x80", 6, "café €", "windows-1252"},
        {"\xef\xbb\xbf", 3, "", "utf-8-bom"},
    };
    struct world *w = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_bytes(w, "e", cases[i].bytes, cases[i].n);
        struct reply r = call(w, "read_file", "{\"path\":\"e\"}");
        assert_code(&r, AL_OK);
        assert_text_at(&r, "text", cases[i].text);
        assert_text_at(&r, "encoding", cases[i].encoding);
        assert_int_equal(int_at(&r, "bytes"), (int64_t)cases[i].n);
        reply_free(&r);
    }
}

static void binary_files_and_pipes_are_refused_at_once(void **state)
{
    struct world *w = *state;
    put_bytes(w, "x.png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
    struct reply r = call(w, "read_file", "{\"path\":\"x.png\"}");
    assert_code(&r, AL_TOOL_ERROR);
    assert_has(r.msg, "is a binary file (16 bytes, looks like PNG)");
    assert_int_equal(r.n_structured, 0);
    reply_free(&r);
    char path[128];
    snprintf(path, sizeof path, "%s/fifo", w->work);
    assert_int_equal(mkfifo(path, 0600), 0);
    static const char *const tools[] = {"read_file", "write_file", "edit_file", "search_text"};
    for (size_t i = 0; i < 4; i++) {
        const char *more = i == 1   ? ",\"content\":\"\""
                           : i == 2 ? ",\"oldText\":\"a\",\"newText\":\"b\""
                           : i == 3 ? ",\"pattern\":\"x\""
                                    : "";
        r = call(w, tools[i], "{\"path\":\"fifo\"%s}", more);
        assert_code(&r, AL_TOOL_ERROR);
        assert_has(r.msg, "named pipe");
        reply_free(&r);
    }
    put(w, "d/x", "");
    r = call(w, "read_file", "{\"path\":\"d\"}");
    assert_code(&r, AL_INVALID_INPUT);
    assert_has(r.msg, "is a folder");
    reply_free(&r);
}

static void links_and_secrets_are_refused(void **state)
{
    struct world *w = *state;
    put(w, ".env", "KEY=1\n");
    put(w, "ok.txt", "fine\n");
    sh(w, "ln -s .env notes.txt; ln -s /etc/hostname abs; ln -s ../state esc; ln -s ok.txt good; ln -s "
          "nowhere dead");
    static const struct {
        const char *path;
        enum al_code code;
    } cases[] = {
        {".env", AL_PATH_SECRET},
        {"notes.txt", AL_PATH_SECRET},
        {"./x/../.env", AL_PATH_SECRET},
        {"abs", AL_PATH_OUTSIDE_WORKSPACE},
        {"esc/sessions.sqlite", AL_PATH_OUTSIDE_WORKSPACE},
        {"../state/x", AL_PATH_OUTSIDE_WORKSPACE},
        {"/etc/hostname", AL_PATH_OUTSIDE_WORKSPACE},
        {"good", AL_OK},
        {"dead", AL_NOT_FOUND},
        {"nope.txt", AL_NOT_FOUND},
        {"/proc/self/environ", AL_PATH_OUTSIDE_WORKSPACE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reply r = call(w, "read_file", "{\"path\":\"%s\"}", cases[i].path);
        if (r.code != cases[i].code)
            fail_msg("%s: %s (%s)", cases[i].path, al_code_name(r.code), r.msg);
        reply_free(&r);
    }
}

/* --- read_files --- */

static void read_files_reports_each_error_beside_the_rest(void **state)
{
    struct world *w = *state;
    put(w, "a.txt", "A\n");
    put(w, ".env", "KEY\n");
    struct reply r = call(w, "read_files", "{\"paths\":[\"a.txt\",\".env\",\"none\",\"a.txt\"]}");
    assert_code(&r, AL_OK);
    assert_text_at(&r, "files.0.text", "A\n");
    assert_text_at(&r, "files.1.error.code", "PATH_SECRET");
    assert_text_at(&r, "files.2.error.code", "NOT_FOUND");
    assert_text_at(&r, "files.3.path", "a.txt");
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_FALSE);
    assert_lacks(r.structured, "KEY");
    reply_free(&r);
    r = call(w, "read_files", "{}");
    assert_code(&r, AL_TOOL_INPUT_INVALID);
    reply_free(&r);
    r = call(w, "read_files", "{\"paths\":[\"a.txt\"],\"glob\":\"*\"}");
    assert_code(&r, AL_TOOL_INPUT_INVALID);
    reply_free(&r);
}

static void read_files_takes_a_glob(void **state)
{
    struct world *w = *state;
    put(w, "src/b.js", "B");
    put(w, "src/a.js", "A");
    put(w, "src/c.ts", "C");
    put(w, ".gitignore", "a.js\n");
    struct reply r = call(w, "read_files", "{\"glob\":\"src/*.{js,ts}\"}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "files")->n, 2);
    assert_text_at(&r, "files.0.path", "src/b.js");
    assert_text_at(&r, "files.1.text", "C");
    reply_free(&r);
}

static void read_files_stops_at_its_size(void **state)
{
    struct world *w = *state;
    char *p = al_xmalloc(3u << 20);
    memset(p, 'x', 3u << 20);
    for (size_t i = 99; i < (3u << 20); i += 100)
        p[i] = '\n';
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        put_bytes(w, name, p, 3u << 20);
    }
    free(p);
    struct reply r = call(w, "read_files", "{\"glob\":\"f*\"}");
    assert_code(&r, AL_OK);
    assert_true(r.n_structured > (7u << 20));
    assert_int_equal(at(&r, "files")->n, 3);
    assert_int_equal(at(&r, "files.2.truncated")->type, AL_JSON_TRUE);
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_TRUE);
    assert_true(strlen(r.text) < 40000);
    reply_free(&r);
}

/* --- list_files --- */

static void list_files_is_sorted_and_leaves_out_what_is_ignored(void **state)
{
    struct world *w = *state;
    put(w, "b/z.txt", "");
    put(w, "a.txt", "");
    put(w, "B.txt", "");
    put(w, ".hidden", "");
    put(w, "node_modules/x/index.js", "");
    put(w, ".git/config", "");
    put(w, "build/out.o", "");
    put(w, ".gitignore", "build/\n");
    struct reply r = call(w, "list_files", "{}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "files")->n, 3);
    assert_text_at(&r, "files.0", "B.txt");
    assert_text_at(&r, "files.1", "a.txt");
    assert_text_at(&r, "files.2", "b/z.txt");
    assert_int_equal(at(&r, "nextOffset")->type, AL_JSON_NULL);
    assert_has(r.text, "B.txt\na.txt\nb/z.txt\n[3 of 3 files]\n");
    reply_free(&r);
    r = call(w, "list_files", "{\"hidden\":true,\"glob\":\".*\"}");
    assert_int_equal(at(&r, "files")->n, 2);
    reply_free(&r);
    r = call(w, "list_files", "{\"path\":\"b\"}");
    assert_text_at(&r, "files.0", "b/z.txt");
    reply_free(&r);
    r = call(w, "list_files", "{\"path\":\"a.txt\"}");
    assert_code(&r, AL_INVALID_INPUT);
    reply_free(&r);
    sh(w, "ln -s / out");
    r = call(w, "list_files", "{\"path\":\"out\"}");
    assert_code(&r, AL_PATH_OUTSIDE_WORKSPACE);
    reply_free(&r);
}

static void a_glob_does_not_bring_ignored_files_back(void **state)
{
    struct world *w = *state;
    put(w, ".gitignore", "*.log\n");
    put(w, "a.log", "needle");
    put(w, "a.txt", "needle");
    put(w, ".secret.txt", "needle");
    struct reply r = call(w, "list_files", "{\"glob\":\"*.log\"}");
    assert_int_equal(at(&r, "files")->n, 0);
    reply_free(&r);
    r = call(w, "search_text", "{\"pattern\":\"needle\",\"glob\":\"*.log\"}");
    assert_int_equal(at(&r, "matches")->n, 0);
    reply_free(&r);
    r = call(w, "search_text", "{\"pattern\":\"needle\",\"glob\":\"*.txt\"}");
    assert_int_equal(at(&r, "matches")->n, 1);
    reply_free(&r);
}

static void list_files_pages_through_five_thousand(void **state)
{
    struct world *w = *state;
    sh(w, "mkdir many; cd many; i=0; while [ $i -lt 5000 ]; do : > f$((10000+i)); i=$((i+1)); done");
    struct reply r = call(w, "list_files", "{}");
    assert_int_equal(at(&r, "files")->n, 5000);
    assert_has(r.text, "[100 of 5000 files; go on with offset 100]");
    reply_free(&r);
    r = call(w, "list_files", "{\"offset\":4000,\"limit\":600}");
    assert_int_equal(at(&r, "files")->n, 600);
    assert_text_at(&r, "files.0", "many/f14000");
    assert_int_equal(int_at(&r, "nextOffset"), 4600);
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_TRUE);
    reply_free(&r);
}

static void odd_names_are_listed(void **state)
{
    struct world *w = *state;
    put(w, "new\nline.txt", "x needle\n");
    put(w, "bad\xff.txt", "y needle\n");
    put(w, "-e", "z needle\n");
    struct reply r = call(w, "list_files", "{}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "files")->n, 3);
    assert_text_at(&r, "files.0", "-e");
    assert_text_at(&r, "files.1", "bad�.txt");
    assert_text_at(&r, "files.2", "new\nline.txt");
    reply_free(&r);
    r = call(w, "search_text", "{\"pattern\":\"needle\"}");
    assert_int_equal(at(&r, "matches")->n, 3);
    assert_text_at(&r, "matches.2.path", "new\nline.txt");
    assert_has(r.text, "new\\nline.txt");
    reply_free(&r);
    r = call(w, "read_file", "{\"path\":\"new\\nline.txt\"}");
    assert_code(&r, AL_OK);
    reply_free(&r);
}

/* --- write_file --- */

static void write_file_makes_folders_and_keeps_the_mode(void **state)
{
    struct world *w = *state;
    struct reply r = call(w, "write_file", "{\"path\":\"x/y/new.sh\",\"content\":\"echo\\n\"}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "created")->type, AL_JSON_TRUE);
    assert_int_equal(int_at(&r, "bytes"), 5);
    reply_free(&r);
    struct stat st;
    char path[128];
    snprintf(path, sizeof path, "%s/x/y/new.sh", w->work);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0644);
    assert_int_equal(chmod(path, 0750), 0);
    r = call(w, "write_file", "{\"path\":\"x/y/new.sh\",\"content\":\"two\"}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "created")->type, AL_JSON_FALSE);
    reply_free(&r);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
    autofree char *text = get(w, "x/y/new.sh");
    assert_string_equal(text, "two");
}

static void expected_hash_guards_against_lost_changes(void **state)
{
    struct world *w = *state;
    put(w, "a", "old");
    struct reply r = call(w, "write_file", "{\"path\":\"a\",\"content\":\"x\",\"expectedHash\":null}");
    assert_code(&r, AL_TOOL_ERROR);
    assert_has(r.hint, "read it again");
    reply_free(&r);
    r = call(w, "write_file", "{\"path\":\"a\",\"content\":\"x\",\"expectedHash\":\"00\"}");
    assert_code(&r, AL_TOOL_ERROR);
    assert_int_equal(r.n_structured, 0);
    reply_free(&r);
    r = call(w, "write_file", "{\"path\":\"no/b\",\"content\":\"x\",\"expectedHash\":\"00\"}");
    assert_code(&r, AL_TOOL_ERROR);
    assert_false(there(w, "no"));
    reply_free(&r);
    r = call(w, "read_file", "{\"path\":\"a\"}");
    struct al_str sha = at(&r, "sha256")->str;
    struct reply r2 =
        call(w, "write_file", "{\"path\":\"a\",\"content\":\"new\",\"expectedHash\":\"%.*s\"}", AL_FMT(sha));
    assert_code(&r2, AL_OK);
    reply_free(&r2);
    reply_free(&r);
    r = call(w, "write_file", "{\"path\":\"b\",\"content\":\"x\",\"expectedHash\":null}");
    assert_code(&r, AL_OK);
    reply_free(&r);
    autofree char *text = get(w, "a");
    assert_string_equal(text, "new");
}

static void protected_names_are_not_written(void **state)
{
    struct world *w = *state;
    sh(w, "mkdir -p .github/workflows d; ln -s ../.github/workflows d/ci; ln -s AGENTS.md plan.md; : > "
          "AGENTS.md; "
          "ln -s /tmp out; ln -s missing dead");
    static const struct {
        const char *path;
        enum al_code code;
    } cases[] = {
        {".git/hooks/pre-commit", AL_PATH_PROTECTED},
        {"sub/.git/config", AL_PATH_PROTECTED},
        {".github/workflows/x.yml", AL_PATH_PROTECTED},
        {"d/ci/x.yml", AL_PATH_PROTECTED},
        {"AGENTS.md", AL_PATH_PROTECTED},
        {"plan.md", AL_PATH_PROTECTED},
        {".mcp.json", AL_PATH_PROTECTED},
        {"out/alisio-evil", AL_PATH_OUTSIDE_WORKSPACE},
        {"../evil", AL_PATH_OUTSIDE_WORKSPACE},
        {"/tmp/alisio-evil", AL_PATH_OUTSIDE_WORKSPACE},
        {"dead", AL_NOT_FOUND},
        {"d", AL_INVALID_INPUT},
        {".", AL_INVALID_INPUT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reply r = call(w, "write_file", "{\"path\":\"%s\",\"content\":\"x\"}", cases[i].path);
        if (r.code != cases[i].code)
            fail_msg("%s: %s (%s)", cases[i].path, al_code_name(r.code), r.msg);
        reply_free(&r);
    }
    assert_false(there(w, ".github/workflows/x.yml"));
    assert_false(there(w, "../evil"));
}

static void writing_through_a_link_changes_the_file_behind_it(void **state)
{
    struct world *w = *state;
    put(w, "real/a.txt", "old");
    sh(w, "ln -s real/a.txt link; ln -s real dir");
    struct reply r = call(w, "write_file", "{\"path\":\"link\",\"content\":\"new\"}");
    assert_code(&r, AL_OK);
    assert_text_at(&r, "path", "link");
    reply_free(&r);
    r = call(w, "write_file", "{\"path\":\"dir/b.txt\",\"content\":\"b\"}");
    assert_code(&r, AL_OK);
    reply_free(&r);
    struct stat st;
    char path[128];
    snprintf(path, sizeof path, "%s/link", w->work);
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    autofree char *a = get(w, "real/a.txt"), *b = get(w, "real/b.txt");
    assert_string_equal(a, "new");
    assert_string_equal(b, "b");
}

/* --- edit_file --- */

static void edit_file_replaces_one_text(void **state)
{
    struct world *w = *state;
    put_bytes(w, "a.c", "\xef\xbb\xbfint a;\r\nint b;\r\nint c;\r\n", 27);
    struct reply r =
        call(w, "edit_file",
             "{\"path\":\"a.c\",\"oldText\":\"int a;\\nint b;\",\"newText\":\"long a;\\nlong b;\"}");
    assert_code(&r, AL_OK);
    assert_has(r.text, "at line 1 ");
    reply_free(&r);
    autofree char *text = get(w, "a.c");
    assert_string_equal(text, "\xef\xbb\xbflong a;\r\nlong b;\r\nint c;\r\n");
}

static void edit_file_explains_what_it_does_not_do(void **state)
{
    struct world *w = *state;
    put(w, "a.txt", "alpha\nbeta\n  gamma();\nbeta\naaa\n");
    static const struct {
        const char *old;
        const char *say;
    } cases[] = {
        {"beta", "2 times, at lines 2, 4"},
        {"aa", "2 times, at lines 5, 5"},
        {"gamna();", "the closest line is 3: gamma();"},
        {"gamma();\\nalpha", "line 3 starts like it"},
        {"something quite different", "read the file again"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reply r =
            call(w, "edit_file", "{\"path\":\"a.txt\",\"oldText\":\"%s\",\"newText\":\"x\"}", cases[i].old);
        assert_code(&r, AL_TOOL_ERROR);
        char both[2048];
        snprintf(both, sizeof both, "%s %s", r.msg, r.hint);
        assert_has(both, cases[i].say);
        reply_free(&r);
    }
    struct reply r = call(w, "edit_file",
                          "{\"path\":\"a.txt\",\"oldText\":\"beta\",\"newText\":\"B\",\"replaceAll\":true}");
    assert_code(&r, AL_OK);
    assert_has(r.text, "2 replacements");
    reply_free(&r);
    r = call(w, "edit_file", "{\"path\":\"a.txt\",\"oldText\":\"x\",\"newText\":\"x\"}");
    assert_code(&r, AL_TOOL_INPUT_INVALID);
    reply_free(&r);
    r = call(w, "edit_file", "{\"path\":\"none\",\"oldText\":\"x\",\"newText\":\"y\"}");
    assert_code(&r, AL_NOT_FOUND);
    reply_free(&r);
    autofree char *text = get(w, "a.txt");
    assert_string_equal(text, "alpha\nB\n  gamma();\nB\naaa\n");
}

static void edit_file_keeps_other_encodings(void **state)
{
    struct world *w = *state;
    put_bytes(w, "l1", "caf\xe9 na\xefve\n", 11);
    struct reply r = call(w, "edit_file", "{\"path\":\"l1\",\"oldText\":\"café\",\"newText\":\"thé €\"}");
    assert_code(&r, AL_OK);
    reply_free(&r);
    autofree char *text = get(w, "l1");
    assert_string_equal(text, "th\xe9 \x80 na\xefve\n");
    r = call(w, "edit_file", "{\"path\":\"l1\",\"oldText\":\"th\",\"newText\":\"Ж\"}");
    assert_code(&r, AL_TOOL_ERROR);
    reply_free(&r);
    put_bytes(w, "u16",
              "\xff\xfe"
              "a\0",
              4);
    r = call(w, "edit_file", "{\"path\":\"u16\",\"oldText\":\"a\",\"newText\":\"b\"}");
    assert_code(&r, AL_TOOL_ERROR);
    assert_has(r.msg, "utf-16le");
    reply_free(&r);
}

/* --- permissions and the scratchpad --- */

static void the_scratchpad_is_written_without_approval(void **state)
{
    (void)state;
    struct world w = {0};
    world_open(&w, &(struct world_opts){.config = "{\"forge\":{\"scratch\":{\"maxBytes\":1048576}}}"});
    struct reply r = call_as(&w, AL_ORIGIN_MCP, "write_file",
                             "{\"path\":\"scratch:lib/plan.js\",\"content\":\"return 1\"}");
    assert_code(&r, AL_OK);
    assert_text_at(&r, "path", "scratch:lib/plan.js");
    reply_free(&r);
    r = call_as(&w, AL_ORIGIN_MCP, "edit_file",
                "{\"path\":\"scratch:lib/plan.js\",\"oldText\":\"1\",\"newText\":\"needle\"}");
    assert_code(&r, AL_OK);
    reply_free(&r);
    r = call(&w, "read_file", "{\"path\":\"scratch:lib/plan.js\"}");
    assert_text_at(&r, "text", "return needle");
    reply_free(&r);
    r = call(&w, "list_files", "{\"path\":\"scratch:\"}");
    assert_text_at(&r, "files.0", "scratch:lib/plan.js");
    reply_free(&r);
    r = call(&w, "list_files", "{\"path\":\"scratch:lib\",\"glob\":\"*.js\"}");
    assert_text_at(&r, "files.0", "scratch:lib/plan.js");
    reply_free(&r);
    r = call(&w, "read_files", "{\"glob\":\"scratch:*.js\"}");
    assert_text_at(&r, "files.0.text", "return needle");
    reply_free(&r);
    r = call(&w, "search_text", "{\"pattern\":\"needle\",\"path\":\"scratch:\"}");
    assert_text_at(&r, "matches.0.path", "scratch:lib/plan.js");
    reply_free(&r);
    r = call_as(&w, AL_ORIGIN_MCP, "write_file", "{\"path\":\"scratch:../x\",\"content\":\"\"}");
    assert_true(r.code != AL_OK);
    reply_free(&r);
    autobuf struct al_buf b = AL_BUF_INIT(4 << 20);
    al_buf_adds(&b, "{\"path\":\"scratch:big\",\"content\":\"");
    memset(al_buf_grow(&b, 2 << 20), 'x', 2 << 20);
    al_buf_adds(&b, "\"}");
    autofree char *big = al_buf_take(&b);
    r = call_as(&w, AL_ORIGIN_MCP, "write_file", big);
    assert_code(&r, AL_QUOTA_EXCEEDED);
    reply_free(&r);
    world_close(&w);
}

static void writing_needs_what_the_gate_says(void **state)
{
    (void)state;
    static const char args[] = "{\"path\":\"a\",\"content\":\"x\"}",
                      scratch[] = "{\"path\":\"scratch:a\",\"content\":\"x\"}";
    static const char no_scratch[] = "{\"forge\":{\"scratch\":{\"enabled\":false}}}";
    static const struct {
        struct al_policy policy;
        const char *source, *config, *args;
        enum al_origin origin;
        enum al_code code;
    } cases[] = {
        {{.read_only = true, .allow_write = true}, "mcp", NULL, args, AL_ORIGIN_MCP, AL_PERMISSION_DENIED},
        {{.read_only = true}, "mcp", NULL, scratch, AL_ORIGIN_MCP, AL_PERMISSION_DENIED},
        {{.allow_write = true}, "mcp", NULL, args, AL_ORIGIN_MCP, AL_OK},
        {{.read_only = false}, "mcp", NULL, scratch, AL_ORIGIN_MCP, AL_OK},
        {{.read_only = false}, "mcp", no_scratch, args, AL_ORIGIN_MCP, AL_TOOL_NOT_FOUND},
        {{.allow_write = true}, "mcp", no_scratch, args, AL_ORIGIN_MCP, AL_OK},
        {{.read_only = false}, "cli", no_scratch, args, AL_ORIGIN_CLI, AL_OK},
        {{.read_only = true}, "cli", NULL, args, AL_ORIGIN_CLI, AL_PERMISSION_DENIED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world w = {0};
        world_open(&w, &(struct world_opts){
                           .policy = cases[i].policy, .source = cases[i].source, .config = cases[i].config});
        struct reply r = call_as(&w, cases[i].origin, "write_file", cases[i].args);
        if (r.code != cases[i].code)
            fail_msg("case %zu: %s (%s)", i, al_code_name(r.code), r.msg);
        reply_free(&r);
        world_close(&w);
    }
}

static void a_person_may_name_files_outside(void **state)
{
    (void)state;
    struct world w = {0};
    world_make(&w);
    world_open(&w, &(struct world_opts){.source = "cli"});
    char args[256];
    snprintf(args, sizeof args, "{\"path\":\"%s/beside.txt\",\"content\":\"b\"}", w.dir);
    struct reply r = call_as(&w, AL_ORIGIN_CLI, "write_file", args);
    assert_code(&r, AL_OK);
    reply_free(&r);
    snprintf(args, sizeof args, "{\"path\":\"%s/beside.txt\"}", w.dir);
    r = call_as(&w, AL_ORIGIN_CLI, "read_file", args);
    assert_text_at(&r, "text", "b");
    reply_free(&r);
    r = call_as(&w, AL_ORIGIN_MCP, "read_file", args);
    assert_code(&r, AL_PATH_OUTSIDE_WORKSPACE);
    reply_free(&r);
    world_close(&w);
}

static void without_rg_the_error_says_how_to_get_it(void **state)
{
    (void)state;
    struct world w = {0};
    setenv("PATH", "/nonexistent", 1);
    world_open(&w, &(struct world_opts){.keep_path = true});
    static const char *const calls[][2] = {{"list_files", "{}"},
                                           {"search_text", "{\"pattern\":\"x\"}"},
                                           {"read_files", "{\"glob\":\"*\"}"},
                                           {"git_status", "{}"}};
    for (size_t i = 0; i < 4; i++) {
        struct reply r = call(&w, calls[i][0], "%s", calls[i][1]);
        assert_code(&r, AL_RUNTIME_UNAVAILABLE);
        assert_has(r.hint, "install");
        reply_free(&r);
    }
    struct reply r = call(&w, "list_files", "{\"path\":\"scratch:\"}");
    assert_code(&r, AL_OK);
    reply_free(&r);
    world_close(&w);
}

static void descriptions_are_short_and_every_field_is_explained(void **state)
{
    struct world *w = *state;
    size_t seen = 0;
    for (size_t i = 0; i < al_core_n_tools(w->core); i++) {
        const struct al_tool *t = al_core_tool_at(w->core, i);
        if (!t->expose)
            continue;
        seen++;
        assert_true(strlen(t->description) <= 2048);
        assert_non_null(t->title);
        assert_non_null(t->output_schema);
        autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
        const struct al_json *schema;
        struct al_err err = {0};
        assert_int_equal(al_json_parse(&a, al_str_of(t->input_schema), &schema, &err), 0);
        al_json_each(p, al_json_get(schema, "properties"))
        {
            if (al_json_get_text(p, "description").n == 0)
                fail_msg("%s.%.*s has no description", t->name, AL_FMT(p->key));
        }
        assert_int_equal(al_json_parse(&a, al_str_of(t->output_schema), &schema, &err), 0);
    }
    assert_int_equal(seen, 13);
}

int main(int argc, char **argv)
{
    world_main(argc, argv);
#define IN_WORLD(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(globs_match_like_gitignore),
        cmocka_unit_test(hostile_globs_end),
        cmocka_unit_test(json_room_counts_what_the_writer_makes),
        cmocka_unit_test(head_and_tail_keep_both_ends),
        cmocka_unit_test(windows_1252_goes_both_ways),
        cmocka_unit_test(reads_that_end_early_change_nothing),
        IN_WORLD(read_file_gives_text_hash_and_lines),
        IN_WORLD(read_file_reads_a_part),
        IN_WORLD(the_text_is_short_and_the_value_whole),
        IN_WORLD(a_file_over_the_limit_is_cut_at_a_line),
        IN_WORLD(a_line_of_ten_megabytes_is_cut),
        IN_WORLD(encodings_arrive_as_utf8),
        IN_WORLD(binary_files_and_pipes_are_refused_at_once),
        IN_WORLD(links_and_secrets_are_refused),
        IN_WORLD(read_files_reports_each_error_beside_the_rest),
        IN_WORLD(read_files_takes_a_glob),
        IN_WORLD(read_files_stops_at_its_size),
        IN_WORLD(list_files_is_sorted_and_leaves_out_what_is_ignored),
        IN_WORLD(a_glob_does_not_bring_ignored_files_back),
        IN_WORLD(list_files_pages_through_five_thousand),
        IN_WORLD(odd_names_are_listed),
        IN_WORLD(write_file_makes_folders_and_keeps_the_mode),
        IN_WORLD(expected_hash_guards_against_lost_changes),
        IN_WORLD(protected_names_are_not_written),
        IN_WORLD(writing_through_a_link_changes_the_file_behind_it),
        IN_WORLD(edit_file_replaces_one_text),
        IN_WORLD(edit_file_explains_what_it_does_not_do),
        IN_WORLD(edit_file_keeps_other_encodings),
        cmocka_unit_test(the_scratchpad_is_written_without_approval),
        cmocka_unit_test(writing_needs_what_the_gate_says),
        cmocka_unit_test(a_person_may_name_files_outside),
        cmocka_unit_test(without_rg_the_error_says_how_to_get_it),
        IN_WORLD(descriptions_are_short_and_every_field_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
