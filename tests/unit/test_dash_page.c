/* Pages: whatever a file holds, it is text there; the policy names exactly the scripts and styles that are in
 * the page. */
#include "test.h"

#include "assets/assets.h"
#include "dash_page_world.h"

#include <ctype.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PAGE 500000

/* --- a reader of tags, stricter than HTML: each attribute in double quotes, each tag closed --- */

struct reader {
    const char *p;
    char open[64][24];
    size_t depth, scripts, styles;
};

static void hash_is_in(const char *page, const char *kind, const char *text, size_t n)
{
    unsigned char sum[32];
    char wanted[80], digest[64];
    const char *policy = strstr(page, kind), *end = policy ? strchr(policy, ';') : NULL;
    SHA256((const unsigned char *)text, n, sum);
    EVP_EncodeBlock((unsigned char *)digest, sum, 32);
    snprintf(wanted, sizeof wanted, "'sha256-%s'", digest);
    const char *at = policy ? strstr(policy, wanted) : NULL;
    assert_true(at && end && at < end);
}

static size_t word(const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '-')
        n++;
    return n;
}

static void check_attribute(const char *name, size_t n)
{
    if ((n == 5 && !strncmp(name, "style", 5)) || !strncmp(name, "on", 2) || !strncmp(name, "href", 4) ||
        !strncmp(name, "src", 3))
        fail_msg("an attribute %.*s", (int)n, name);
}

/* Attributes up to ">". data: the tag says that its content is no script. */
static void attributes(struct reader *r, bool *ret_data)
{
    *ret_data = false;
    while (*r->p != '>') {
        while (*r->p == ' ')
            r->p++;
        size_t n = word(r->p);
        if (!n)
            fail_msg("no attribute: %.60s", r->p);
        check_attribute(r->p, n);
        *ret_data = *ret_data || !strncmp(r->p, "type=\"application/json\"", 23);
        r->p += n;
        if (*r->p != '=')
            continue;
        if (r->p[1] != '"')
            fail_msg("an attribute without quotes: %.60s", r->p);
        for (r->p += 2; *r->p != '"'; r->p++)
            assert_true(*r->p && *r->p != '<' && *r->p != '>');
        r->p++;
    }
    r->p++;
}

static bool is_void(const char *name)
{
    return !strcmp(name, "meta") || !strcmp(name, "br");
}

/* What stands in a script or a style, to its end tag. */
static void raw_text(struct reader *r, const char *page, const char *name, bool data)
{
    char close[32];
    snprintf(close, sizeof close, "</%s>", name);
    const char *end = strstr(r->p, close);
    assert_non_null(end);
    if (!strcmp(name, "style"))
        hash_is_in(page, "style-src", r->p, (size_t)(end - r->p));
    else if (!data)
        hash_is_in(page, "script-src", r->p, (size_t)(end - r->p));
    else
        assert_null(memchr(r->p, '<', (size_t)(end - r->p)));
    r->styles += !strcmp(name, "style");
    r->scripts += !strcmp(name, "script") && !data;
    r->p = end;
}

static void open_tag(struct reader *r, const char *page)
{
    char name[24];
    size_t n = word(r->p);
    bool data;
    if (!n || n >= sizeof name)
        fail_msg("no tag: %.60s", r->p - 1);
    memcpy(name, r->p, n);
    name[n] = 0;
    r->p += n;
    attributes(r, &data);
    if (is_void(name))
        return;
    assert_true(r->depth < 64);
    memcpy(r->open[r->depth++], name, n + 1);
    if (!strcmp(name, "script") || !strcmp(name, "style"))
        raw_text(r, page, name, data);
}

static void close_tag(struct reader *r)
{
    size_t n = word(++r->p);
    if (!r->depth || strncmp(r->open[r->depth - 1], r->p, n) || r->open[r->depth - 1][n] || r->p[n] != '>')
        fail_msg("</%.20s closes %s", r->p, r->depth ? r->open[r->depth - 1] : "nothing");
    r->depth--;
    r->p += n + 1;
}

static void check_bytes(const char *page)
{
    for (const unsigned char *p = (const unsigned char *)page; *p; p++) {
        if ((*p < 0x20 && *p != '\n' && *p != '\t') || *p == 0x7f)
            fail_msg("a control character %02x", *p);
    }
}

static void page_holds(const char *page)
{
    static const char start[] = "<!doctype html>\n";
    struct reader r = {.p = page + sizeof start - 1};
    assert_int_equal(strncmp(page, start, sizeof start - 1), 0);
    check_bytes(page);
    while (*r.p) {
        if (*r.p == '>')
            fail_msg("a bare >: %.60s", r.p);
        if (*r.p++ != '<')
            continue;
        if (*r.p == '/')
            close_tag(&r);
        else
            open_tag(&r, page);
    }
    assert_int_equal(r.depth, 0);
    assert_int_equal(r.scripts, 3);
    assert_int_equal(r.styles, 3);
    assert_true(strlen(page) < MAX_PAGE);
}

static size_t count(const char *page, const char *what)
{
    size_t n = 0;
    for (const char *p = page; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

/* --- the page --- */

static void a_page_has_each_widget_with_its_numbers_and_sql(void **state)
{
    (void)state;
    struct page_world *w = page_world_new(NULL, 0);
    const char *page = page_world_write(w);
    page_holds(page);
    assert_non_null(strstr(page, "<html lang=\"en\">"));
    assert_int_equal(count(page, "<figure "), 5);
    assert_int_equal(count(page, "<h3>"), 8);
    assert_non_null(strstr(
        page, "<span data-ac-v=\"1234567.5\" title=\"1,234,567.50\"><span aria-hidden=\"true\">1.2M</span>"));
    assert_non_null(strstr(page, "Top 3 of 57"));
    assert_non_null(strstr(page, "Left out: 12 rows without Region"));
    assert_non_null(strstr(page, "<td class=\"ac-num\">\xe2\x80\x94</td>")); /* the month without rows */
    assert_non_null(strstr(page, "A gap is a period without rows"));
    assert_non_null(strstr(page, "500 of 5,000 points"));
    assert_non_null(strstr(page, "502 raw rows shown"));
    assert_non_null(strstr(page, "Source: sales.csv"));
    assert_non_null(strstr(page, "sheet Data"));
    assert_non_null(strstr(page, "<script type=\"application/json\" id=\"ac-cube\">{\"v\":1,\"words\":"));
    assert_int_equal(count(page, "Chart.js v4"), 1);
    assert_null(strstr(page, "sourceMappingURL"));
    page_world_free(w);
}

static void the_same_dashboard_is_the_same_bytes(void **state)
{
    (void)state;
    struct page_world *a = page_world_new(NULL, 0), *b = page_world_new(NULL, 0);
    page_world_cube(a, 3000);
    page_world_cube(b, 3000);
    assert_string_equal(page_world_write(a), page_world_write(b));
    page_world_free(a);
    page_world_free(b);
}

static void hostile_text_is_text(void **state)
{
    (void)state;
    static const struct al_str texts[] = {
        AL_S("</script><script>alert(1)</script>"),
        AL_S("</style></title></table></details></main>"),
        AL_S("\"><img src=x onerror=alert(1)>"),
        AL_S("' onmouseover='alert(1)"),
        AL_S("<!--<script>"),
        AL_S("-->]]>"),
        AL_S("&lt;b&gt;&#60;script&#62;"),
        AL_S("\xff\xfe\xc0\xbc\xed\xa0\x80"),
        AL_S("a\0b\x01\x1b[31m\x7f\xc2\x85\r"),
        AL_S("\xe2\x80\xae"
             "evil\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf\xef\xbf\xbf"),
        AL_S("javascript:alert(1)"),
        AL_S("\\u003c\\\"]}{[\"v\":1"),
        AL_S("{0}{1}{9}%s%n"),
        AL_S("\xd7\xa2\xd7\x91\xd7\xa8 12"),
        AL_S(" "),
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct page_world *w = page_world_new(texts[i].p, texts[i].n);
        page_world_cube(w, 100);
        page_holds(page_world_write(w));
        page_world_free(w);
    }
}

static void long_texts_are_cut_for_display(void **state)
{
    (void)state;
    static char text[40001];
    for (size_t i = 0; i < 10000; i++)
        memcpy(text + 4 * i, "\xf0\x9f\x92\xa9", 4);
    struct page_world *w = page_world_new(text, 40000);
    const char *page = page_world_write(w);
    page_holds(page);
    assert_non_null(strstr(page, "\xe2\x80\xa6"));
    page_world_free(w);
}

static void twenty_thousand_cells_fit(void **state)
{
    (void)state;
    struct page_world *w = page_world_new(NULL, 0);
    page_world_cube(w, AL_DASH_CELLS);
    const char *page = page_world_write(w);
    page_holds(page);
    assert_int_equal(count(page, "<fieldset data-ac-chip="), 3);
    assert_int_equal(count(page, "data-ac-value="), 36);
    assert_int_equal(count(page, "class=\"ac-fixed\""), 6);
    page_world_free(w);
}

/* Three chips of 12 values, 12 labels: a cell's number is ((chip0 * N1 + chip1) * L + label) * S + series. */
static void cells_say_their_steps_where_these_are_not_one(void **state)
{
    (void)state;
    struct page_world *w = page_world_new(NULL, 0);
    page_world_cube(w, 4);
    struct al_cube_cell *c = w->cube.widgets[2].cells;
    c[0] = (struct al_cube_cell){.chip = {0, 0, 1}, .label = 2, .n = 1, .sum = 1.5};
    c[1] = (struct al_cube_cell){.chip = {0, 0, 1}, .label = 3, .n = 0, .sum = 9};
    c[2] = (struct al_cube_cell){.chip = {0, 1, 0}, .label = 0, .n = 1, .sum = -2};
    c[3] = (struct al_cube_cell){.chip = {11, 11, 11}, .label = 11, .n = 1, .sum = 0.1 + 0.2};
    assert_non_null(strstr(page_world_write(w), "\"cells\":\"+15,1.5,+130,-2,+20591,0.3\""));
    page_world_free(w);
}

static void right_to_left_languages_turn_the_page(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"ar-EG", "<html lang=\"ar-EG\" dir=\"rtl\">"},
        {"he", "<html lang=\"he\" dir=\"rtl\">"},
        {"es-CO", "<html lang=\"es-CO\">"},
        {"az-Latn", "<html lang=\"az-Latn\">"},
        {"fa-Latn", "<html lang=\"fa-Latn\">"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct page_world *w = page_world_new(NULL, 0);
        w->d.plan.locale = al_str_of(cases[i][0]);
        assert_non_null(strstr(page_world_write(w), cases[i][1]));
        page_world_free(w);
    }
}

static void a_part_without_numbers_says_so(void **state)
{
    (void)state;
    struct page_world *w = page_world_new(NULL, 0);
    for (size_t i = 1; i < 8; i++) {
        w->results[i].n_labels = w->results[i].n_series = w->results[i].n_rows = w->results[i].n_points = 0;
        w->results[i].groups = 0;
    }
    w->results[0].value.kind = AL_DASH_CELL_NONE;
    w->results[1].failed = "QUERY_LIMIT";
    const char *page = page_world_write(w);
    page_holds(page);
    assert_int_equal(count(page, "<p class=\"ac-none\">No data</p>"), 6);
    assert_int_equal(count(page, "<h3>"), 7);
    assert_non_null(strstr(page, "No raw rows shown"));
    page_world_free(w);
}

static void what_counts_the_last_period_says_which(void **state)
{
    (void)state;
    struct page_world *w = page_world_new(NULL, 0);
    struct al_widget *kpi = &w->d.plan.widgets[0], *ranking = &w->d.plan.widgets[2];
    kpi->latest = ranking->latest = true;
    kpi->clock = ranking->clock = 2;
    ranking->bucket = AL_BUCKET_MONTH; /* of the clock: its labels are no dates */
    w->results[2].labels[0] = AL_STR("2024-01");
    w->results[0].period = AL_STR("2024-04-28"); /* by days: it has no bucket */
    w->results[2].period = AL_STR("2024-04");
    const char *page = page_world_write(w);
    page_holds(page);
    assert_non_null(strstr(page, "<dd class=\"ac-extra\">As of 2024-04-28</dd>"));
    assert_int_equal(count(page, "As of 2024-04</p>"), 1);
    assert_non_null(strstr(page, "<th scope=\"row\">2024-01</th>"));
    w->results[0].period = AL_STR("");
    assert_null(strstr(page_world_write(w), "<dd class=\"ac-extra\">"));
    page_world_free(w);
}

/* An end of an isolate leaves the element around it, and what follows runs backwards then: numbers, too. */
static void foreign_text_turns_no_other_text(void **state)
{
    static const char odd[] = "a\xe2\x81\xa9\xe2\x80\xae"
                              "b\xe2\x81\xa7";
    static const char *const ends[] = {"</pre>", "</title>", "</script>", "</style>"};
    (void)state;
    struct page_world *w = page_world_new(odd, sizeof odd - 1);
    page_world_cube(w, 40);
    const char *page = page_world_write(w), *p = page;
    page_holds(page);
    while (*p) {
        const char *text = strchr(p, '>'), *tag = text ? strchr(text, '<') : NULL;
        if (!tag)
            break;
        bool exact = false;
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
            exact |= strncmp(tag, ends[i], strlen(ends[i])) == 0;
        p = tag;
        if (strncmp(tag, "</code>", 7) == 0 || exact)
            continue;
        int open = 0;
        for (; text < tag; text++) {
            assert_true(strncmp(text, "\xe2\x80\xae", 3) != 0 && strncmp(text, "\xe2\x81\xa7", 3) != 0);
            open += strncmp(text, "\xe2\x81\xa8", 3) == 0;
            open -= strncmp(text, "\xe2\x81\xa9", 3) == 0;
            assert_true(open >= 0);
        }
        assert_int_equal(open, 0);
    }
    /* Charts have it without them, files and statements as it is. */
    assert_non_null(strstr(page, "\"labels\":[\"ab"));
    assert_non_null(strstr(page, "data-ac-k=\"a\xe2\x81\xa9\xe2\x80\xae"
                                 "b"));
    page_world_free(w);
}

static void by_icu_the_page_holds_too(void **state)
{
    (void)state;
    static const char *const locales[] = {"es-CO", "ar-EG", "hi", "ja", "fr"};
    al_dashboard_prepare();
    for (size_t i = 0; i < sizeof locales / sizeof locales[0]; i++) {
        struct page_world *w = page_world_new(NULL, 0);
        w->d.plan.locale = al_str_of(locales[i]);
        w->d.plan.spanish = i == 0;
        page_world_cube(w, 3000);
        page_holds(page_world_write(w));
        page_world_free(w);
    }
}

static void a_page_that_would_be_too_large_counts_less_again(void **state)
{
    (void)state;
    struct page_world *w = page_world_new(NULL, 0);
    page_world_cube(w, AL_DASH_CELLS);
    w->cube.widgets[4] = w->cube.widgets[2];
    w->cube.widgets[4].n_cells = 500;
    for (size_t i = 0; i < AL_DASH_CELLS; i++)
        w->cube.widgets[2].cells[i].sum = 1e14 / 3;
    const char *page = page_world_write(w);
    page_holds(page);
    assert_null(strstr(page, "\"id\":\"w2\""));
    assert_non_null(strstr(page, "\"id\":\"w4\""));
    assert_int_equal(count(page, "class=\"ac-fixed\""), 6);
    page_world_free(w);
}

/* Lines lose their indentation, and those that are comments go: no text of ours may run over several. */
static void scripts_have_no_text_over_several_lines(void **state)
{
    (void)state;
    static const char *const names[] = {"charts-boot.js", "dashboard.js"};
    for (size_t i = 0; i < 2; i++) {
        struct al_str all = al_asset(names[i]);
        ptrdiff_t head = al_str_find(all, AL_STR("*/\n"));
        assert_true(head > 0);
        for (const char *p = all.p + head; *p; p++) {
            size_t blank = strspn(p, " "), line = strcspn(p, "\n");
            if (strncmp(p + blank, "//", 2) && memchr(p, '`', line))
                fail_msg("%s: %.*s", names[i], (int)line, p);
            p += line;
            if (!*p)
                break;
        }
    }
}

static void files_in_the_binary_cannot_end_their_elements(void **state)
{
    (void)state;
    static const char *const names[] = {"html-base.css",    "charts.css",     "dashboard.css",
                                        "chart.umd.min.js", "charts-boot.js", "dashboard.js"};
    static const char *const ends[] = {"</script", "</style", "<!--", "\r"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++)
            assert_int_equal(al_str_find(al_asset(names[i]), al_str_of(ends[k])), -1);
    }
    const struct al_asset *runtime;
    size_t n = al_assets_runtime(&runtime);
    bool charts = false;
    for (size_t i = 0; i < n; i++)
        charts = charts || !strcmp(runtime[i].name, "charts.py");
    assert_true(charts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_has_each_widget_with_its_numbers_and_sql),
        cmocka_unit_test(the_same_dashboard_is_the_same_bytes),
        cmocka_unit_test(hostile_text_is_text),
        cmocka_unit_test(long_texts_are_cut_for_display),
        cmocka_unit_test(twenty_thousand_cells_fit),
        cmocka_unit_test(cells_say_their_steps_where_these_are_not_one),
        cmocka_unit_test(right_to_left_languages_turn_the_page),
        cmocka_unit_test(a_part_without_numbers_says_so),
        cmocka_unit_test(a_page_that_would_be_too_large_counts_less_again),
        cmocka_unit_test(scripts_have_no_text_over_several_lines),
        cmocka_unit_test(files_in_the_binary_cannot_end_their_elements),
        cmocka_unit_test(what_counts_the_last_period_says_which),
        cmocka_unit_test(foreign_text_turns_no_other_text),
        cmocka_unit_test(by_icu_the_page_holds_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
