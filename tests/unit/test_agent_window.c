/* The window's arithmetic beside what two tokenizers counted, and results that are too long for it. */
#include "test.h"

#include "agent_context_world.h"

#include "agent/turn_int.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/scratch.h"
#include "os/fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the recorded conversation --- */

struct recorded {
    struct al_arena arena;
    struct al_buf text;
    const struct al_json *v;
    struct al_llm_tool tools[64];
    struct al_agent agent;
};

static void read_recorded(struct recorded *r)
{
    struct al_err err;
    size_t n = 0;
    *r = (struct recorded){.arena = AL_ARENA_INIT(16 << 20), .text = AL_BUF_INIT(1 << 20)};
    autofd int fd = open(RECORDED, O_RDONLY | O_CLOEXEC);
    char part[4096];
    for (ssize_t got; (got = read(fd, part, sizeof(part))) > 0;)
        al_buf_add(&r->text, part, (size_t)got);
    if (al_json_parse(&r->arena, al_buf_str(&r->text), &r->v, &err) < 0)
        fail_msg("%s", err.msg);
    al_json_each(t, al_json_get(r->v, "tools"))
    {
        assert_true(n < 64);
        r->tools[n++] = (struct al_llm_tool){al_json_get_text(t, "name"), al_json_get_text(t, "description"),
                                             al_json_get_text(t, "schema")};
    }
    al_buf_init(&r->agent.system, 1 << 20);
    al_buf_add_str(&r->agent.system, al_json_get_text(r->v, "system"));
    r->agent.tools = r->tools;
    r->agent.n_tools = n;
}

static void free_recorded(struct recorded *r)
{
    al_arena_free(&r->agent.history.arena);
    free(r->agent.history.v);
    al_buf_free(&r->agent.system);
    al_buf_free(&r->text);
    al_arena_free(&r->arena);
}

static void add(struct al_agent *a, const struct al_json *m)
{
    struct al_llm_part parts[32];
    struct al_llm_message to = {.role = AL_LLM_USER, .parts = parts, .n_parts = 1};
    const struct al_json *result = al_json_get(m, "result"), *list = al_json_get(m, "parts");
    if (result) {
        al_history_add_result(a, AL_STR("call_x"), result->str, false);
        return;
    }
    parts[0] = (struct al_llm_part){.kind = AL_LLM_TEXT, .text = al_json_get_text(m, "user")};
    if (list) {
        to.role = AL_LLM_ASSISTANT;
        to.n_parts = 0;
        al_json_each(p, list)
        {
            const struct al_json *call = al_json_get(p, "call");
            parts[to.n_parts++] =
                call ? (struct al_llm_part){.kind = AL_LLM_CALL,
                                            .name = call->str,
                                            .text = al_json_get_text(p, "arguments")}
                     : (struct al_llm_part){.kind = AL_LLM_TEXT, .text = al_json_get_text(p, "text")};
        }
    }
    al_history_add(a, &to);
}

static int64_t at(const struct al_json *pair, int i)
{
    int64_t n = 0;
    const struct al_json *v = i ? pair->child->next : pair->child;
    assert_true(al_json_int(v, 0, INT64_MAX, &n));
    return n;
}

static void check_estimates(const char *tokenizer)
{
    struct recorded r;
    struct al_llm_usage u = {.known = false};
    int64_t worst = 0;
    read_recorded(&r);
    al_json_each(q, al_json_get(r.v, "requests"))
    {
        al_json_each(m, al_json_get(q, "added"))
        {
            add(&r.agent, m);
            /* The answer's report comes when the answer is in the history, and what it led to is not. */
            if (u.known && al_json_get(m, "parts"))
                al_window_report(&r.agent, &u);
        }
        const struct al_json *counted = al_json_get(q, tokenizer);
        int64_t real = at(counted, 0), estimate = al_window_estimate(&r.agent);
        int64_t off = (estimate - real) * 1000 / real;
        if (u.known && (off > 150 || off < -150))
            fail_msg("%s: %lld estimated, %lld counted", tokenizer, (long long)estimate, (long long)real);
        if (off > 350 || off < 0) /* the first has nothing but the bytes: rather too much than too little */
            assert_true(u.known);
        if (u.known && (off > worst || -off > worst))
            worst = off > 0 ? off : -off;
        r.agent.window.estimated = estimate;
        u = (struct al_llm_usage){.known = true, .input = real, .output = at(counted, 1)};
    }
    print_message("%s: off by %lld per mille at most\n", tokenizer, (long long)worst);
    free_recorded(&r);
}

static void estimates_are_within_15_percent_of_what_tokenizers_count(void **state)
{
    (void)state;
    check_estimates("o200k");
    check_estimates("cl100k");
}

static void a_window_that_was_learned_only_shrinks(void **state)
{
    struct al_agent a = {.n_tools = 0};
    (void)state;
    assert_false(al_window_is_known(&a));
    assert_int_equal(al_window_size(&a), 32768);
    a.window.told = 131072;
    assert_int_equal(al_window_size(&a), 131072);
    al_window_learn(&a, 8192);
    al_window_learn(&a, 16384);
    al_window_learn(&a, 0);
    al_window_learn(&a, -5);
    assert_int_equal(al_window_size(&a), 8192);
    a.window.told = 4096;
    assert_int_equal(al_window_size(&a), 4096);
}

/* --- long results --- */

static void fill_text(struct al_buf *b, size_t n, bool cjk)
{
    for (size_t i = 0; b->n < n; i++)
        al_buf_addf(b, cjk ? "第%zu行：数据来自三个地区。\n" : "row %zu,North,lamp,17.25,\"a note\"\n", i);
}

static void check_cut(struct agent_world *t, const char *id, bool cjk, int64_t window)
{
    autobuf struct al_buf text = AL_BUF_INIT(16 << 20), cut = AL_BUF_INIT(16 << 20);
    struct al_str call = al_str_of(id);
    t->agent.window = (struct al_window){.told = window};
    fill_text(&text, 8u << 20, cjk);
    al_window_cut_result(&t->agent, call, al_buf_str(&text), &cut);
    assert_true(al_llm_estimate(al_buf_str(&cut)) <= window / 4);
    assert_true(al_utf8_valid(al_buf_str(&cut)));
    autobuf struct al_buf place = AL_BUF_INIT(256);
    al_buf_addf(&place, "scratch:results/%s.txt", id);
    assert_true(al_str_find(al_buf_str(&cut), al_buf_str(&place)) >= 0);
    if (window >= 8192) {
        assert_memory_equal(cut.p, text.p, 500);
        assert_memory_equal(cut.p + cut.n - 200, text.p + text.n - 200, 200);
    }
    autofree char *file =
        core_world_path(al_scratch_path(al_core_scratch(t->agent.core)), place.p + strlen("scratch:"));
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_size, text.n);
}

static void a_result_of_8_mib_takes_a_quarter_of_the_window_and_can_be_read_on(void **state)
{
    struct agent_world t;
    agent_world_start(&t, *state, NULL, false);
    check_cut(&t, "call_01M8Q8JE162S82ENBF9SN01ZB0", false, 8192);
    check_cut(&t, "call_01M8Q8JE162S82ENBF9SN01ZB1", true, 8192);
    check_cut(&t, "call_01M8Q8JE162S82ENBF9SN01ZB2", false, 2048);
    agent_world_stop(&t);
}

static void a_result_that_fits_stays_as_it_is(void **state)
{
    struct agent_world t;
    autobuf struct al_buf text = AL_BUF_INIT(1 << 20), cut = AL_BUF_INIT(1 << 20);
    agent_world_start(&t, *state, NULL, false);
    t.agent.window.told = 200000;
    fill_text(&text, 80000, false);
    al_window_cut_result(&t.agent, AL_STR("call_1"), al_buf_str(&text), &cut);
    assert_true(al_str_eq(al_buf_str(&text), al_buf_str(&cut)));
    agent_world_stop(&t);
}

static void without_a_scratchpad_the_model_is_told_to_ask_for_less(void **state)
{
    struct agent_world t;
    autobuf struct al_buf text = AL_BUF_INIT(1 << 20), cut = AL_BUF_INIT(1 << 20);
    agent_world_start(&t, *state, "{\"forge\":{\"scratch\":{\"enabled\":false}}}", false);
    t.agent.window.told = 8192;
    fill_text(&text, 80000, false);
    al_window_cut_result(&t.agent, AL_STR("call_1"), al_buf_str(&text), &cut);
    assert_true(al_str_find(al_buf_str(&cut), AL_STR("Make the call again for a part of it")) > 0);
    assert_true(al_str_find(al_buf_str(&cut), AL_STR("scratch:")) < 0);
    agent_world_stop(&t);
}

#define WORLD(name) cmocka_unit_test_setup_teardown(name, core_world_set_up, core_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_are_within_15_percent_of_what_tokenizers_count),
        cmocka_unit_test(a_window_that_was_learned_only_shrinks),
        WORLD(a_result_of_8_mib_takes_a_quarter_of_the_window_and_can_be_read_on),
        WORLD(a_result_that_fits_stays_as_it_is),
        WORLD(without_a_scratchpad_the_model_is_told_to_ask_for_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
