/* Recorded streams: what they give, however they are cut, written down and disturbed. */
#include "llm_read_rig.h"

#include "base/mem.h"

#include <stdio.h>

/* Reading is slow under the sanitizers: there, each script begins elsewhere, so that all together meet every
 * place. */
#ifdef AL_ASAN
#define STRIDE 11
#else
#define STRIDE 1
#endif

/* --- what comes out --- */

static bool part_is(const struct al_llm_part *p, const struct al_json *want)
{
    const struct al_json *call = al_json_get(want, "call"), *raw = al_json_get(want, "raw");
    const char *key = p->kind == AL_LLM_TEXT ? "text" : p->kind == AL_LLM_REASONING ? "reasoning" : "call";
    if (!al_json_get(want, key))
        return false;
    if (p->kind == AL_LLM_CALL) {
        if (!al_str_eq(p->name, al_json_get_text(call, "name")) ||
            !al_str_eq(p->text, al_json_get_text(call, "arguments")) ||
            !al_str_eq(p->provider_id, al_json_get_text(call, "providerId")))
            return false;
    } else if (!al_str_eq(p->text, al_json_get_text(want, key))) {
        return false;
    }
    if (!raw || !p->raw.n)
        return !raw && !p->raw.n;
    autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
    const struct al_json *v = NULL;
    struct al_err err;
    assert_int_equal(al_json_parse(&arena, p->raw, &v, &err), 0);
    assert_null(memchr(p->raw.p, '\n', p->raw.n));
    return al_json_equal(v, raw);
}

static void check_usage(const struct script *s, const struct al_llm_usage *u)
{
    const struct al_json *want = al_json_get(s->expect, "usage");
    const struct {
        const char *key;
        int64_t have;
    } numbers[] = {{"input", u->input},
                   {"cachedInput", u->cached_input},
                   {"cacheWrite", u->cache_write},
                   {"output", u->output},
                   {"reasoning", u->reasoning}};
    if (u->known != (want && want->type == AL_JSON_OBJECT))
        fail_msg("%s: usage is %sknown", s->name, u->known ? "" : "un");
    for (size_t i = 0; u->known && i < 5; i++) {
        int64_t n = -1;
        assert_true(al_json_int(al_json_get(want, numbers[i].key), 0, INT64_MAX, &n));
        if (n != numbers[i].have)
            fail_msg("%s: %s is %lld", s->name, numbers[i].key, (long long)numbers[i].have);
    }
}

static void check_message(const struct script *s, struct reading *x)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
    autobuf struct al_buf told = AL_BUF_INIT(1 << 20), text = AL_BUF_INIT(1 << 20),
                          reasoning = AL_BUF_INIT(1 << 20);
    struct al_llm_message m;
    struct al_err err;
    tell_reading(x, &told);
    al_buf_addc(&told, 0);
    if (x->r.state != AL_LLM_ENDED)
        fail_msg("%s: %s", s->name, told.p);
    assert_int_equal(al_llm_reader_message(&x->r, &arena, &m, &err), 0);
    size_t i = 0;
    al_json_each(want, al_json_get(s->expect, "parts"))
    {
        if (i == m.n_parts || !part_is(&m.parts[i], want))
            fail_msg("%s: part %zu is not what it should be in\n%s", s->name, i, told.p);
        i++;
    }
    if (i != m.n_parts)
        fail_msg("%s: more parts than there should be in\n%s", s->name, told.p);
    if (!al_str_eq(al_json_get_text(s->expect, "end"), al_str_of(al_llm_end_name(x->r.end))) ||
        !al_str_eq(al_json_get_text(s->expect, "endWord"), al_str_of(x->r.end_word)))
        fail_msg("%s: the end is %s, \"%s\"", s->name, al_llm_end_name(x->r.end), x->r.end_word);
    check_usage(s, &x->r.usage);
    al_llm_message_text(&m, &text);
    for (i = 0; i < m.n_parts; i++) {
        if (m.parts[i].kind == AL_LLM_REASONING)
            al_buf_add_str(&reasoning, m.parts[i].text);
    }
    if (!al_str_eq(al_buf_str(&text), al_buf_str(&x->text)) ||
        !al_str_eq(al_buf_str(&reasoning), al_buf_str(&x->reasoning)))
        fail_msg("%s: what was told is not what is kept", s->name);
}

static void check_fault(const struct script *s, const struct reading *x)
{
    struct al_str kind = al_json_get_text(s->expect, "fault"), says = al_json_get_text(s->expect, "says");
    if (x->r.state != AL_LLM_FAILED)
        fail_msg("%s: is no fault", s->name);
    const struct al_llm_fault *f = &x->r.fault;
    if (!al_str_eq(kind, al_str_of(al_llm_fault_name(f->kind))) ||
        al_str_find(al_str_of(f->message), says) < 0)
        fail_msg("%s: %s, \"%s\"", s->name, al_llm_fault_name(f->kind), f->message);
    assert_true(f->answered);
    assert_true(f->message[0]);
}

static void scripts_give_what_stands_beside_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_scripts; i++) {
        const struct script *s = &scripts[i];
        struct reading x;
        int64_t warnings = 0;
        if (s->whole)
            read_whole(&x, s->api, al_buf_str(&s->text));
        else
            read_all(&x, s->api, al_buf_str(&s->text), 0, 0);
        if (al_json_get(s->expect, "fault"))
            check_fault(s, &x);
        else
            check_message(s, &x);
        (void)al_json_int(al_json_get(s->expect, "warnings"), 0, 100, &warnings);
        if (x.warnings != warnings)
            fail_msg("%s: %u warnings, the last: %s", s->name, x.warnings, x.warning);
        end_reading(&x);
    }
}

/* --- the same, however it comes --- */

static void same(const struct script *s, struct al_str text, size_t step, size_t first,
                 const struct al_buf *want)
{
    autobuf struct al_buf have = AL_BUF_INIT(1 << 20);
    tell_text(text, s->api, step, first, &have);
    if (!al_str_eq(al_buf_str(&have), al_buf_str(want)))
        fail_msg("%s, reads of %zu, first %zu:\n%.*s\ninstead of\n%.*s", s->name, step, first,
                 AL_FMT(al_buf_str(&have)), AL_FMT(al_buf_str(want)));
}

static void each_stream(void (*fn)(const struct script *s, const struct al_buf *want))
{
    for (size_t i = 0; i < n_scripts; i++) {
        if (scripts[i].whole)
            continue;
        autobuf struct al_buf want = AL_BUF_INIT(1 << 20);
        tell_text(al_buf_str(&scripts[i].text), scripts[i].api, 0, 0, &want);
        fn(&scripts[i], &want);
    }
}

static void cut_everywhere(const struct script *s, const struct al_buf *want)
{
    for (size_t at = 1 + (size_t)(s - scripts) % STRIDE; at < s->text.n; at += STRIDE)
        same(s, al_buf_str(&s->text), 0, at, want);
}

static void two_reads_cut_at_any_byte_give_the_same(void **state)
{
    (void)state;
    each_stream(cut_everywhere);
}

static void small_reads(const struct script *s, const struct al_buf *want)
{
    for (size_t step = 1; step <= 5; step++)
        same(s, al_buf_str(&s->text), step, 0, want);
}

static void reads_of_one_byte_and_some_more_give_the_same(void **state)
{
    (void)state;
    each_stream(small_reads);
}

/* The script with other line ends, without the space behind the colon, behind a byte order mark. */
static void written(struct al_str text, const char *end, bool space, bool bom, struct al_buf *out)
{
    bool at_start = true;
    if (bom)
        al_buf_adds(out, "\xef\xbb\xbf");
    for (size_t i = 0; i < text.n; i++) {
        struct al_str rest = {text.p + i, text.n - i};
        struct al_str field = al_str_starts(rest, "data: ") ? AL_STR("data:") : AL_STR("event:");
        if (text.p[i] == '\n') {
            al_buf_adds(out, end);
            at_start = true;
        } else if (!space && at_start && (al_str_starts(rest, "data: ") || al_str_starts(rest, "event: "))) {
            al_buf_add_str(out, field);
            i += field.n; /* and the space */
            at_start = false;
        } else {
            al_buf_addc(out, text.p[i]);
            at_start = false;
        }
    }
}

static void forms(const struct script *s, const struct al_buf *want)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    for (int form = 0; form < 12; form++) {
        autobuf struct al_buf text = AL_BUF_INIT(1 << 20);
        written(al_buf_str(&s->text), ends[form % 3], form / 3 % 2, form / 6, &text);
        for (size_t step = 0; step < 3; step++) {
            if (STRIDE == 1 || (size_t)form % 3 == step)
                same(s, al_buf_str(&text), step, 0, want);
        }
    }
}

static void line_ends_space_and_byte_order_mark_change_nothing(void **state)
{
    (void)state;
    each_stream(forms);
}

static void with_noise(struct al_str text, const char *noise, size_t only, struct al_buf *out)
{
    size_t n = 0, from = 0;
    for (size_t i = 0; i + 1 < text.n; i++) {
        if (i && !(text.p[i - 1] == '\n' && text.p[i] == '\n'))
            continue;
        size_t at = i ? i + 1 : 0;
        al_buf_add(out, text.p + from, at - from);
        from = at;
        if (n++ == only || only == SIZE_MAX)
            al_buf_adds(out, noise);
    }
    al_buf_add(out, text.p + from, text.n - from);
}

static void noise(const struct script *s, const struct al_buf *want)
{
    static const char *const kinds[] = {
        ": keepalive\n\n",
        ": PROCESSING\n",
        "\n\n\n",
        "id: 7\n\n",
        "retry: 3000\n\n",
        "data:\n\n",
        "data: \n\n",
        "data\n\n",
        "data: : keepalive\n\n",
        "event: ping\n\n",
        "event: ping\ndata: {\"type\": \"ping\"}\n\n",
        "event: keepalive\n\n",
        "event: keepalive\ndata:\n\n",
        "event: keep-alive\ndata: x\n\n",
        "event: heartbeat\ndata: {}\n\n",
        ": c\nid: 1\n: c\n\nfoo\nbar: x\n\n",
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        autobuf struct al_buf all = AL_BUF_INIT(1 << 20);
        with_noise(al_buf_str(&s->text), kinds[k], SIZE_MAX, &all);
        same(s, al_buf_str(&all), 0, 0, want);
        if (STRIDE > 1)
            continue;
        autobuf struct al_buf one = AL_BUF_INIT(1 << 20);
        with_noise(al_buf_str(&s->text), kinds[k], k % 7, &one);
        same(s, al_buf_str(&one), 0, 0, want);
    }
}

static void noise_between_any_two_events_changes_nothing(void **state)
{
    (void)state;
    each_stream(noise);
}

/* --- the end of the connection --- */

static bool is_cut(const struct reading *x)
{
    const struct al_llm_fault *f = &x->r.fault;
    return x->r.state == AL_LLM_FAILED &&
           (f->kind == AL_LLM_FAULT_CUT || (f->kind == AL_LLM_FAULT_MALFORMED && x->r.n_events == 0));
}

/* What begins as the script does is cut, or it is the same message: never another one. */
static void cut_off(const struct script *s, size_t n, const struct al_buf *want)
{
    autobuf struct al_buf have = AL_BUF_INIT(1 << 20);
    bool ends_before = al_json_is_true(al_json_get(s->expect, "endsBefore"));
    struct reading x;
    read_all(&x, s->api, (struct al_str){s->text.p, n}, 0, 0);
    tell_message(&x, &have);
    bool good = x.r.state == AL_LLM_ENDED ? ends_before || al_str_eq(al_buf_str(want), al_buf_str(&have))
                                          : is_cut(&x) || !want->n;
    if (!good) {
        tell_reading(&x, &have);
        fail_msg("%s: its first %zu bytes give\n%.*s", s->name, n, AL_FMT(al_buf_str(&have)));
    }
    end_reading(&x);
}

static void beginnings_are_cut_or_the_same_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_scripts; i++) {
        const struct script *s = &scripts[i];
        if (s->whole)
            continue;
        autobuf struct al_buf want = AL_BUF_INIT(1 << 20);
        struct reading all;
        read_all(&all, s->api, al_buf_str(&s->text), 0, 0);
        tell_message(&all, &want);
        end_reading(&all);
        for (size_t n = i % STRIDE; n < s->text.n; n += STRIDE)
            cut_off(s, n, &want);
    }
}

/* Bytes before the event that ends the turn; all of them when there is none. */
static size_t before_the_end(const struct script *s)
{
    struct al_str text = al_buf_str(&s->text);
    size_t event = 0;
    for (size_t i = 0; i + 1 < text.n; i++) {
        if (text.p[i] != '\n' || text.p[i + 1] != '\n')
            continue;
        struct reading x;
        read_all(&x, s->api, (struct al_str){text.p, i + 2}, 0, 0);
        bool ended = x.r.state == AL_LLM_ENDED;
        end_reading(&x);
        if (ended)
            return event;
        event = i + 2;
    }
    return text.n;
}

static void without_the_event_of_its_end_each_is_cut(void **state)
{
    (void)state;
    unsigned n = 0;
    for (size_t i = 0; i < n_scripts; i++) {
        const struct script *s = &scripts[i];
        if (s->whole || al_json_get(s->expect, "fault"))
            continue;
        size_t end = before_the_end(s);
        assert_true(end < s->text.n);
        struct al_str last = {s->text.p + end, s->text.n - end};
        static const char *const words[] = {"finish_reason\":\"", "response.completed", "message_stop"};
        const char *word = words[s->api];
        if (al_str_find(last, al_str_of(word)) < 0 && al_str_find(last, AL_STR("response.incomplete")) < 0)
            fail_msg("%s ends where nothing says so: %.*s", s->name, AL_FMT(last));
        struct reading x;
        read_all(&x, s->api, (struct al_str){s->text.p, end}, 0, 0);
        if (!is_cut(&x))
            fail_msg("%s without its end is no cut", s->name);
        end_reading(&x);
        n++;
    }
    assert_true(n > 100);
}

static void the_last_event_counts_without_its_blank_line_when_it_is_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_scripts; i++) {
        const struct script *s = &scripts[i];
        struct al_str text = al_buf_str(&s->text);
        if (s->whole || !al_str_ends(text, "\n\n") || al_json_get(s->expect, "fault"))
            continue;
        autobuf struct al_buf want = AL_BUF_INIT(1 << 20);
        tell_text(text, s->api, 0, 0, &want);
        same(s, (struct al_str){text.p, text.n - 1}, 0, 0, &want);
        same(s, (struct al_str){text.p, text.n - 2}, 0, 0, &want);
        same(s, (struct al_str){text.p, text.n - 2}, 1, 0, &want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_give_what_stands_beside_them),
        cmocka_unit_test(two_reads_cut_at_any_byte_give_the_same),
        cmocka_unit_test(reads_of_one_byte_and_some_more_give_the_same),
        cmocka_unit_test(line_ends_space_and_byte_order_mark_change_nothing),
        cmocka_unit_test(noise_between_any_two_events_changes_nothing),
        cmocka_unit_test(beginnings_are_cut_or_the_same_message),
        cmocka_unit_test(without_the_event_of_its_end_each_is_cut),
        cmocka_unit_test(the_last_event_counts_without_its_blank_line_when_it_is_whole),
    };
    return cmocka_run_group_tests(tests, load_scripts, free_scripts);
}
