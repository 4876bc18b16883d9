/* Workers that lie, flood, hang and die, in the place of honest ones: the host stays whole, and the next one
 * is served. */
#include "data_fakes.h"
#include "data_rig.h"

#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/data_int.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* -- the sealed side */

static const char *const lies[] = {
    "rubbish",   "version",     "reserved",  "too long",  "unknown type", "half a header", "half a frame",
    "host type", "empty json",  "bad json",  "two jsons", "array json",   "deep json",     "bad text",
    "short end", "long end",    "bad hash",  "nul end",   "utf8 end",     "no json",       "silence",
    "big chunk", "empty chunk", "progress!", "huge end",
};
#define N_LIES (sizeof lies / sizeof *lies)

static void end_frame(uint32_t code, uint32_t message_n, uint32_t hint_n, const char *text, size_t n)
{
    char all[8192] = {0};
    struct al_data_end_msg m = {.code = code, .message_n = message_n, .hint_n = hint_n};
    memset(m.sha256, '0', 64);
    memcpy(all, &m, sizeof m);
    memcpy(all + sizeof m, text, n);
    fake_frame(AL_DATA_END, all, sizeof m + n);
}

static void lie(struct al_str which)
{
    static char big[70000];
    static const unsigned char version[] = {1, 0, 0, 0, AL_DATA_JSON, 9, 0, 0, 'x'};
    static const unsigned char reserved[] = {1, 0, 0, 0, AL_DATA_JSON, AL_FRAME_VERSION, 1, 0, 'x'};
    static const unsigned char too_long[] = {0xff, 0xff, 0xff, 0xff, AL_DATA_JSON, AL_FRAME_VERSION, 0, 0};
    static const unsigned char half[] = {100, 0, 0, 0, AL_DATA_JSON, AL_FRAME_VERSION, 0, 0, 'x'};
    memset(big, '[', sizeof big);
    if (al_str_is(which, "rubbish")) {
        uint64_t x = 12345;
        for (size_t i = 0; i < sizeof big; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            big[i] = (char)(x >> 56);
        }
        fake_raw(big, sizeof big);
    } else if (al_str_is(which, "version"))
        fake_raw(version, sizeof version);
    else if (al_str_is(which, "reserved"))
        fake_raw(reserved, sizeof reserved);
    else if (al_str_is(which, "too long"))
        fake_raw(too_long, sizeof too_long);
    else if (al_str_is(which, "half a header"))
        fake_raw(version, 3), _exit(0);
    else if (al_str_is(which, "half a frame"))
        fake_raw(half, sizeof half), _exit(0);
    else if (al_str_is(which, "unknown type"))
        fake_frame(99, "x", 1);
    else if (al_str_is(which, "host type"))
        fake_frame(AL_DATA_QUERY, "12345678", 8);
    else if (al_str_is(which, "empty json"))
        fake_frame(AL_DATA_JSON, "", 0);
    else if (al_str_is(which, "bad json"))
        fake_frame(AL_DATA_JSON, "{\"a\":}", 6);
    else if (al_str_is(which, "two jsons"))
        fake_frame(AL_DATA_JSON, "{}", 2), fake_frame(AL_DATA_JSON, "{}", 2);
    else if (al_str_is(which, "array json"))
        fake_frame(AL_DATA_JSON, "[]", 2);
    else if (al_str_is(which, "deep json"))
        fake_frame(AL_DATA_JSON, big, sizeof big);
    else if (al_str_is(which, "bad text"))
        fake_frame(AL_DATA_TEXT, "\xff", 1);
    else if (al_str_is(which, "short end"))
        fake_frame(AL_DATA_END, "abc", 3);
    else if (al_str_is(which, "long end"))
        end_frame(AL_INTERNAL, 0xfffffff0, 0x20, "abc", 3);
    else if (al_str_is(which, "bad hash") || al_str_is(which, "huge end")) {
        struct al_data_end_msg m = {.bytes = UINT64_MAX};
        memset(m.sha256, which.p[0] == 'b' ? 'x' : '0', sizeof m.sha256 - 1);
        fake_frame(AL_DATA_END, &m, sizeof m);
    } else if (al_str_is(which, "nul end"))
        end_frame(AL_INTERNAL, 3, 0, "a\0b", 3);
    else if (al_str_is(which, "utf8 end"))
        end_frame(AL_INTERNAL, 1, 1, "\xff\xfe", 2);
    else if (al_str_is(which, "no json"))
        end_frame(AL_OK, 0, 0, "", 0);
    else if (al_str_is(which, "big chunk"))
        fake_frame(AL_DATA_CHUNK, big, sizeof big);
    else if (al_str_is(which, "empty chunk"))
        fake_frame(AL_DATA_CHUNK, "", 0);
    else if (al_str_is(which, "progress!"))
        fake_frame(AL_DATA_PROGRESS, "x", 1);
    else if (al_str_is(which, "silence"))
        _exit(0);
    for (;;)
        if (read(AL_DATA_FD, big, sizeof big) <= 0)
            _exit(0);
}

/* The same frame for ever, as fast as the channel takes it. */
_Noreturn static void flood(uint8_t type, const char *payload, size_t n)
{
    static char many[32 << 10];
    size_t at = 0;
    while (AL_FRAME_HEADER + n <= sizeof many - at) {
        memcpy(many + at, (char[]){(char)n, 0, 0, 0, (char)type, AL_FRAME_VERSION, 0, 0}, AL_FRAME_HEADER);
        memcpy(many + at + AL_FRAME_HEADER, payload, n);
        at += AL_FRAME_HEADER + n;
    }
    for (;;)
        fake_raw(many, at);
}

/* What is to be had is limited before it is touched: a byte of each MiB will do. */
static void eat(bool by_malloc)
{
    for (long mib = 0;; mib++) {
        volatile char *p =
            by_malloc ? al_xmalloc(1 << 20)
                      : mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            fake_say("no more memory", mib <= 300, 0);
        p[1 << 19] = 1;
    }
}

static void die(struct al_str how)
{
    int64_t n = 0;
    if (al_str_is(how, "abort"))
        abort();
    if (al_str_is(how, "trap"))
        __builtin_trap();
    if (al_str_is(how, "null"))
        *(volatile int *)0 = 1; /* NOLINT */
    if (al_parse_int(how, 0, 255, &n))
        _exit((int)n);
}

static void chunks(struct al_str how)
{
    static char chunk[AL_DATA_CHUNK_MAX];
    int64_t n = 0;
    if (!al_parse_int(how, 0, 1000000, &n))
        return;
    for (int64_t i = 0; i < n; i++) {
        memset(chunk, 'a' + (int)(i % 26), sizeof chunk);
        fake_frame(AL_DATA_CHUNK, chunk, sizeof chunk);
    }
    fake_frame(AL_DATA_JSON, "{\"rowCount\":1}", 14);
    al_sealed_end(NULL, 0, 0, NULL);
}

static struct al_str after(struct al_str s, size_t n)
{
    return (struct al_str){s.p + n, s.n - n};
}

void fake_deed(struct al_str what, bool ingest)
{
    static const uint64_t both[2] = {1, 2};
    char byte;
    if (al_str_starts(what, "lie "))
        lie(after(what, 4));
    if (al_str_starts(what, "die "))
        die(after(what, 4));
    if (al_str_starts(what, "chunks "))
        chunks(after(what, 7));
    if (al_str_is(what, "flood of progress"))
        flood(AL_DATA_PROGRESS, (const char *)both, sizeof both);
    if (al_str_is(what, "flood of chunks"))
        flood(AL_DATA_CHUNK, "x", 1);
    if (al_str_is(what, "malloc"))
        eat(true);
    if (al_str_is(what, "mmap"))
        eat(false);
    if (al_str_is(what, "spin"))
        for (volatile int i = 0;; i++)
            ;
    if (al_str_is(what, "hang"))
        while (read(AL_DATA_FD, &byte, 1) > 0)
            ;
    if (al_str_is(what, "words after the end")) {
        struct al_data_end_msg m = {0};
        snprintf(m.sha256, sizeof m.sha256, "%064d", 7);
        fake_frame(AL_DATA_JSON, "{\"said\":1}", 10);
        fake_frame(AL_DATA_END, &m, sizeof m);
        flood(AL_DATA_JSON, "{}", 2);
    }
    if (al_str_starts(what, "code ")) {
        struct al_str name = after(what, 5);
        end_frame((uint32_t)al_code_find(name.p, name.n), 4, 4, "saidhint", 8);
    }
    (void)ingest;
}

void fake_thread_deed(struct al_str what)
{
    fake_deed(what, true);
}

/* -- the host's side */

static struct rig_ingest *ingest_of(const char *content)
{
    int source = rig_text(content), output = rig_text("");
    struct rig_ingest *r = rig_ingest(source, output, "x.csv");
    close(source);
    close(output);
    return r;
}

static void both_are_well(void)
{
    struct rig_query *q = rig_query("fine", -1);
    if (q->err.code != AL_OK)
        fail_msg("%s: %s", al_code_name(q->err.code), q->err.msg);
    assert_string_equal(q->text.p, "an answer");
    assert_string_equal(q->json.p, "{\"sql\":4}");
    struct rig_ingest *i = ingest_of("fine");
    if (i->err.code != AL_OK)
        fail_msg("%s: %s", al_code_name(i->err.code), i->err.msg);
    assert_string_equal(i->json.p, "{\"rows\":0}");
}

static void honest_ones_are_served(void **state)
{
    (void)state;
    both_are_well();
    int file = rig_text("");
    assert_string_equal(rig_describe(file, "", 3)->json.p, "{\"rows\":3}");
    close(file);
    rig_rest();
}

static void lies_end_the_worker_and_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_LIES; i++) {
        char what[40];
        snprintf(what, sizeof what, "lie %s", lies[i]);
        struct rig_query *q = rig_query(what, -1);
        if (q->err.code != AL_ENGINE_CRASHED || q->json.n)
            fail_msg("query, %s: %s: %s", what, al_code_name(q->err.code), q->err.msg);
        struct rig_ingest *in = ingest_of(what);
        if (in->err.code != AL_ENGINE_CRASHED || in->json.n)
            fail_msg("ingest, %s: %s: %s", what, al_code_name(in->err.code), in->err.msg);
    }
    both_are_well();
    rig_rest();
}

static void what_follows_the_end_does_not_count(void **state)
{
    (void)state;
    assert_string_equal(rig_query("words after the end", -1)->json.p, "{\"said\":1}");
    assert_string_equal(ingest_of("words after the end")->json.p, "{\"said\":1}");
    rig_rest();
}

static void only_what_a_worker_can_come_to_is_believed(void **state)
{
    static const struct {
        const char *code;
        enum al_code query, ingest;
    } all[] = {
        {"QUERY_ERROR", AL_QUERY_ERROR, AL_ENGINE_CRASHED},
        {"QUERY_TIMEOUT", AL_QUERY_TIMEOUT, AL_ENGINE_CRASHED},
        {"INGEST_LIMIT", AL_ENGINE_CRASHED, AL_INGEST_LIMIT},
        {"DATASET_UNSUPPORTED", AL_DATASET_UNSUPPORTED, AL_DATASET_UNSUPPORTED},
        {"NOT_FOUND", AL_NOT_FOUND, AL_NOT_FOUND},
        {"APPROVAL_REQUIRED", AL_ENGINE_CRASHED, AL_ENGINE_CRASHED},
        {"CANCELLED", AL_ENGINE_CRASHED, AL_ENGINE_CRASHED},
        {"STATE_TOO_NEW", AL_ENGINE_CRASHED, AL_ENGINE_CRASHED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char what[40];
        snprintf(what, sizeof what, "code %s", all[i].code);
        struct rig_query *q = rig_query(what, -1);
        assert_int_equal(q->err.code, all[i].query);
        assert_string_equal(q->err.msg, "said");
        assert_string_equal(q->err.hint, "hint");
        assert_int_equal(ingest_of(what)->err.code, all[i].ingest);
    }
}

static void floods_are_lies(void **state)
{
    (void)state;
    struct rig_ingest *i = ingest_of("flood of progress");
    assert_int_equal(i->err.code, AL_ENGINE_CRASHED);
    assert_true(i->n_progress < 20);
    assert_int_equal(rig_query("flood of chunks", -1)->err.code,
                     AL_ENGINE_CRASHED); /* nobody asked for them */
    assert_int_equal(rig_query("flood of progress", -1)->err.code, AL_ENGINE_CRASHED);
    assert_int_equal(ingest_of("thread flood of progress")->err.code, AL_ENGINE_CRASHED);
    both_are_well();
    rig_rest();
}

static void each_death_is_told(void **state)
{
    static const char *const deaths[] = {"die abort", "die trap", "die null", "die 0", "die 1", "die 255"};
    (void)state;
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
        struct rig_query *q = rig_query(deaths[i], -1);
        assert_int_equal(q->err.code, AL_ENGINE_CRASHED);
#ifndef AL_ASAN /* which tries to say more than the seal allows */
        assert_null(strstr(q->err.detail, "security"));
#endif
        assert_int_equal(ingest_of(deaths[i])->err.code, AL_ENGINE_CRASHED);
    }
    both_are_well();
    rig_rest();
}

#ifndef AL_ASAN /* whose allocator ends the process in words of its own */
static void memory_has_a_limit(void **state)
{
    (void)state;
    assert_int_equal(rig_query("malloc", -1)->err.code, AL_MEMORY_LIMIT);
    assert_int_equal(ingest_of("malloc")->err.code, AL_MEMORY_LIMIT);
    assert_string_equal(rig_query("mmap", -1)->err.msg, "no more memory 1 0");
    assert_string_equal(ingest_of("mmap")->err.msg, "no more memory 1 0");
    struct rusage all;
    rig_rest();
    getrusage(RUSAGE_CHILDREN, &all);
    if (all.ru_maxrss > 320 << 10)
        fail_msg("a worker had %ld KiB", all.ru_maxrss);
    rig_rest();
}
#endif

static void what_never_ends_is_killed_at_its_deadline(void **state)
{
    static const char *const ways[] = {"spin", "hang"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct rig_query r = {0};
        struct al_query q = rig_spec(ways[i], -1);
        q.timeout_ms = 100;
        uint64_t began = al_mono_ms();
        rig_start(&r, &q);
        rig_wait(&r);
        assert_int_equal(r.err.code, AL_QUERY_TIMEOUT);
        assert_true(al_mono_ms() - began >= 100 + AL_DATA_KILL_MS);
        rig_free(&r);
    }
    rig_rest();
}

static void an_ingest_has_a_deadline(void **state)
{
    (void)state;
    rig_data->ingest_ms = 100;
    struct rig_ingest *i = ingest_of("hang");
    rig_data->ingest_ms = 0;
    assert_int_equal(i->err.code, AL_INGEST_LIMIT);
    assert_non_null(strstr(i->err.msg, "within the 1 s"));
    both_are_well();
    rig_rest();
}

static bool wait_in_there(struct rig_query *r, struct al_str bytes)
{
    (void)r;
    for (uint64_t end = al_mono_ms() + AL_DATA_KILL_MS / 2; al_mono_ms() < end;)
        ;
    return bytes.n > 0;
}

static void a_reader_that_blocks_costs_the_query_no_time(void **state)
{
    (void)state;
    struct rig_query r = {.on_chunk = wait_in_there};
    struct al_query q = rig_spec("chunks 5", -1);
    q.format = AL_QUERY_CSV;
    q.timeout_ms = 100;
    rig_start(&r, &q);
    rig_wait(&r);
    if (r.err.code != AL_OK)
        fail_msg("%s", r.err.msg);
    rig_free(&r);
    rig_rest();
}

static void cancel_works_in_every_state(void **state)
{
    (void)state;
    struct rig_query r = {0};
    struct al_query q = rig_spec("hang", -1);
    bool never = false;
    rig_query("fine", -1);
    rig_rest();
    rig_start(&r, &q); /* it has a spare */
    al_query_cancel(r.job);
    al_query_cancel(r.job);
    rig_wait(&r);
    assert_int_equal(r.err.code, AL_CANCELLED);
    rig_start(&r, &q); /* perhaps before the zygote has answered */
    al_query_cancel(r.job);
    rig_wait(&r);
    assert_int_equal(r.err.code, AL_CANCELLED);
    rig_start(&r, &q);
    for (int k = 0; k < 50; k++)
        al_loop_run_until(rig_loop, &never, 1);
    al_query_cancel(r.job);
    rig_wait(&r);
    assert_int_equal(r.err.code, AL_CANCELLED);
    al_query_cancel(NULL);

    struct rig_ingest i = {0};
    int source = rig_text("hang"), output = rig_text("");
    struct al_ingest_spec spec = rig_ingest_spec(source, output, "x");
    for (int k = 0; k < 2; k++) {
        rig_ingest_start(&i, &spec);
        for (int t = 0; k && t < 20; t++)
            al_loop_run_until(rig_loop, &never, 1);
        al_ingest_cancel(i.ingest);
        al_ingest_cancel(i.ingest);
        rig_ingest_wait(&i);
        assert_int_equal(i.err.code, AL_CANCELLED);
    }
    close(source);
    close(output);
    rig_ingest_free(&i);
    rig_free(&r);
    rig_rest();
}

/* -- streams */

static bool take_one(struct rig_query *r, struct al_str bytes)
{
    (void)r;
    assert_int_equal(bytes.n, AL_DATA_CHUNK_MAX);
    return false;
}

static void a_slow_reader_holds_the_writer_up(void **state)
{
    (void)state;
    struct rig_query r = {.on_chunk = take_one};
    struct al_query q = rig_spec("chunks 50", -1);
    bool never = false;
    q.format = AL_QUERY_CSV;
    q.timeout_ms = 1; /* it does not count while the reader rests */
    rig_start(&r, &q);
    for (unsigned n = 1; n <= 50; n++) {
        while (r.n_chunks < n)
            al_loop_run_until(rig_loop, &r.done, 1);
        for (int k = 0; k < 10; k++)
            al_loop_run_until(rig_loop, &never, 1);
        assert_int_equal(r.n_chunks, n); /* and no further */
        assert_false(r.done);
        al_query_resume_stream(r.job);
    }
    rig_wait(&r);
    assert_int_equal(r.err.code, AL_OK);
    assert_string_equal(r.json.p, "{\"rowCount\":1}");
    /* cancelled while it rests, and when its process has long gone */
    for (unsigned n = 1; n <= 50; n += 49) {
        q.sql = n == 1 ? AL_STR("chunks 1") : AL_STR("chunks 50");
        rig_start(&r, &q);
        while (r.n_chunks < 1)
            al_loop_run_until(rig_loop, &r.done, 1);
        for (int k = 0; k < 20; k++)
            al_loop_run_until(rig_loop, &never, 1);
        al_query_cancel(r.job);
        rig_wait(&r);
        assert_int_equal(r.err.code, AL_CANCELLED);
    }
    rig_free(&r);
    rig_rest();
}

static bool count_only(struct rig_query *r, struct al_str bytes)
{
    (void)r;
    (void)bytes;
    return true;
}

static void much_passes_and_little_is_held(void **state)
{
    (void)state;
    struct rig_query r = {.on_chunk = count_only};
    struct al_query q = rig_spec("chunks 4000", -1);
    struct rusage before, after_it;
    q.format = AL_QUERY_CSV;
    getrusage(RUSAGE_SELF, &before);
    rig_start(&r, &q);
    rig_wait(&r);
    getrusage(RUSAGE_SELF, &after_it);
    assert_int_equal(r.err.code, AL_OK);
    assert_int_equal(r.n_chunks, 4000);
#ifndef AL_ASAN
    assert_true(after_it.ru_maxrss - before.ru_maxrss < 20 << 10);
#endif
    rig_free(&r);
}

/* -- many */

static void sixteen_run_and_sixty_four_wait(void **state)
{
    enum {
        ALL = AL_DATA_QUERIES_MAX + AL_DATA_WAITING_MAX
    };
    static struct rig_query r[ALL];
    struct al_query hang = rig_spec("hang", -1), fine = rig_spec("fine", -1);
    struct al_err err = {0};
    static const struct al_query_ops none = {0};
    (void)state;
    for (int i = 0; i < ALL; i++)
        rig_start(&r[i], i < AL_DATA_QUERIES_MAX ? &hang : &fine);
    assert_null(al_query_start(rig_data, &fine, &none, NULL, &err));
    assert_int_equal(err.code, AL_BUSY);
    al_query_cancel(r[ALL - 1].job); /* one that waits */
    rig_wait(&r[ALL - 1]);
    assert_int_equal(r[ALL - 1].err.code, AL_CANCELLED);
    assert_false(r[ALL - 2].done);
    al_query_cancel(r[0].job);
    for (int i = AL_DATA_QUERIES_MAX; i < ALL - 1; i++) { /* all pass by the one free place, in order */
        rig_wait(&r[i]);
        assert_int_equal(r[i].err.code, AL_OK);
    }
    for (int i = 1; i < AL_DATA_QUERIES_MAX; i++)
        al_query_cancel(r[i].job);
    for (int i = 0; i < AL_DATA_QUERIES_MAX; i++) {
        rig_wait(&r[i]);
        assert_int_equal(r[i].err.code, AL_CANCELLED);
    }
    for (int i = 0; i < ALL; i++)
        rig_free(&r[i]);
    rig_rest();
}

/* Each ends once: with its answer, or cancelled. */
static void any_of_many_is_cancelled_at_any_time(void **state)
{
    enum {
        ALL = AL_DATA_QUERIES_MAX + AL_DATA_WAITING_MAX,
        ROUNDS = 2
    };
    static struct rig_query r[ALL];
    uint64_t x = 4711;
    bool never = false;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < ALL; i++) {
            struct al_query q = rig_spec("fine", -1);
            rig_start(&r[i], &q);
        }
        for (bool all = false; !all;) {
            all = true;
            x = x * 6364136223846793005u + 1442695040888963407u;
            struct rig_query *one = &r[(x >> 33) % ALL];
            if (!one->done && x >> 60 < 6)
                al_query_cancel(one->job);
            al_loop_run_until(rig_loop, &never, 1);
            for (int i = 0; i < ALL; i++)
                all &= r[i].done;
        }
        for (int i = 0; i < ALL; i++) {
            assert_int_equal(r[i].ends, 1);
            if (r[i].err.code != AL_OK)
                assert_int_equal(r[i].err.code, AL_CANCELLED);
        }
    }
    for (int i = 0; i < ALL; i++)
        rig_free(&r[i]);
    both_are_well();
    rig_rest();
}

static void four_ingests_run_and_sixty_four_wait(void **state)
{
    enum {
        ALL = AL_DATA_INGESTS_MAX + AL_DATA_WAITING_MAX
    };
    static struct rig_ingest r[ALL];
    int hang = rig_text("hang"), fine = rig_text("fine"), output = rig_text("");
    struct al_err err = {0};
    static const struct al_ingest_ops none = {0};
    (void)state;
    for (int i = 0; i < ALL; i++) {
        struct al_ingest_spec spec = rig_ingest_spec(i < AL_DATA_INGESTS_MAX ? hang : fine, output, "x");
        rig_ingest_start(&r[i], &spec);
    }
    struct al_ingest_spec one_more = rig_ingest_spec(fine, output, "x");
    assert_null(al_ingest_start(rig_data, &one_more, &none, NULL, &err));
    assert_int_equal(err.code, AL_BUSY);
    for (int i = AL_DATA_INGESTS_MAX + 4; i < ALL; i++) {
        al_ingest_cancel(r[i].ingest);
        rig_ingest_wait(&r[i]);
        assert_int_equal(r[i].err.code, AL_CANCELLED);
    }
    for (int i = 0; i < AL_DATA_INGESTS_MAX; i++)
        al_ingest_cancel(r[i].ingest);
    for (int i = 0; i < AL_DATA_INGESTS_MAX + 4; i++) {
        rig_ingest_wait(&r[i]);
        assert_int_equal(r[i].err.code, i < AL_DATA_INGESTS_MAX ? AL_CANCELLED : AL_OK);
    }
    for (int i = 0; i < ALL; i++)
        rig_ingest_free(&r[i]);
    close(hang);
    close(fine);
    close(output);
    rig_rest();
}

/* -- zygotes that die */

static void a_dead_zygote_is_replaced(void **state)
{
    (void)state;
    struct rig_query r = {0};
    struct al_query q = rig_spec("hang", -1);
    rig_query("fine", -1);
    rig_rest();
    rig_start(&r, &q); /* takes the spare */
    pid_t zygote = rig_zygote();
    rig_query("fine", -1);
    kill(zygote, SIGKILL);
    for (int i = 0; i < 3; i++) {
        struct rig_query *fine = rig_query("fine", -1);
        if (fine->err.code != AL_OK)
            fail_msg("%s: %s", al_code_name(fine->err.code), fine->err.msg);
    }
    assert_true(rig_zygote() != zygote && rig_zygote() > 0);
    assert_false(r.done); /* what it has forked goes on */
    al_query_cancel(r.job);
    rig_wait(&r);
    rig_free(&r);
    rig_rest();
}

static void a_zygote_may_die_around_every_start(void **state)
{
    enum {
        AT_ONCE = 4
    };
    static struct rig_query r[AT_ONCE];
    uint64_t x = 12345;
    (void)state;
    for (int round = 0; round < 16; round++) {
        for (int i = 0; i < AT_ONCE; i++) {
            struct al_query q = rig_spec("fine", -1);
            x = x * 6364136223846793005u + 1442695040888963407u;
            if (rig_zygote() > 0 && (x >> 33) % 3 == 0) {
                siginfo_t info;
                pid_t zygote = rig_zygote();
                kill(zygote, SIGKILL);
                if (x >> 45 & 1) /* dead for certain, and not reaped */
                    waitid(P_PID, (id_t)zygote, &info, WEXITED | WNOWAIT);
            }
            rig_start(&r[i], &q);
            for (int k = 0; k < i; k++)
                assert_int_equal(r[k].ends, 0); /* nor did another one end in there */
        }
        for (int i = 0; i < AT_ONCE; i++) {
            rig_wait(&r[i]);
            if (r[i].err.code != AL_OK) /* it has lost two zygotes */
                assert_int_equal(r[i].err.code, AL_ENGINE_UNAVAILABLE);
        }
    }
    for (int i = 0; i < AT_ONCE; i++)
        rig_free(&r[i]);
    both_are_well();
    rig_rest();
}

static void a_zygote_that_hangs_holds_no_cancelled_query(void **state)
{
    (void)state;
    struct rig_query r = {0};
    struct al_query q = rig_spec("fine", -1);
    rig_query("fine", -1);
    rig_rest();
    if (rig_data->spare)
        al_query_proc_free(rig_data->spare);
    pid_t zygote = rig_zygote();
    kill(zygote, SIGSTOP);
    rig_start(&r, &q);
    al_query_cancel(r.job);
    rig_wait(&r);
    assert_int_equal(r.err.code, AL_CANCELLED);
    rig_free(&r);
    kill(zygote, SIGKILL);
    both_are_well();
    rig_rest();
}

static void a_spare_that_was_killed_costs_nobody_a_query(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        rig_query("fine", -1);
        rig_rest();
        if (!rig_data->spare)
            continue;
        siginfo_t info;
        pid_t spare = rig_data->spare->w.pid;
        kill(spare, SIGKILL);
        waitid(P_PID, (id_t)spare, &info, WEXITED | WNOWAIT | __WALL);
        assert_int_equal(rig_query("fine", -1)->err.code, AL_OK);
    }
    rig_rest();
}

static void old_zygotes_are_replaced(void **state)
{
    (void)state;
    rig_query("fine", -1);
    rig_rest();
    pid_t zygote = rig_zygote();
    rig_data->zygote->runs = AL_ZYGOTE_RUNS_MAX;
    rig_query("fine", -1);
    rig_query("fine", -1);
    rig_rest();
    assert_true(rig_zygote() != zygote);
}

/* -- hosts that die */

static void no_query_end(void *ud, const struct al_query_end *end)
{
    (void)ud;
    (void)end;
}

static void no_ingest_end(void *ud, const struct al_ingest_end *end)
{
    (void)ud;
    (void)end;
}

static void a_dead_host_leaves_nobody(void **state)
{
    int pipe_fds[2];
    char byte;
    (void)state;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(pipe(pipe_fds), 0);
        pid_t host = fork();
        if (host == 0) {
            /* Its workers hold no copy of the pipe: what keeps it open is a process that was forgotten. */
            struct al_loop *loop = al_loop_new();
            struct al_data *d = al_data_new(loop);
            static const struct al_query_ops none = {.end = no_query_end};
            static const struct al_ingest_ops no_ingest = {.end = no_ingest_end};
            struct al_err err = {0};
            struct al_query q = rig_spec("hang", -1);
            int source = rig_text("hang"), output = rig_text("");
            struct al_ingest_spec spec = rig_ingest_spec(source, output, "x");
            bool never = false;
            for (int i = 0; i < 3; i++)
                if (!al_query_start(d, &q, &none, NULL, &err) ||
                    !al_ingest_start(d, &spec, &no_ingest, NULL, &err))
                    _exit(1);
            for (uint64_t until = al_mono_ms() + 30000; rig_children() < 7 && al_mono_ms() < until;)
                al_loop_run_until(loop, &never, 1);
            char path[64], pids[4096];
            snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
            FILE *f = fopen(path, "re");
            size_t n = f ? fread(pids, 1, sizeof pids - 1, f) : 0;
            if (write(pipe_fds[1], pids, n) != (ssize_t)n)
                _exit(1);
            kill(getpid(), round ? SIGTERM : SIGKILL);
            _exit(1);
        }
        close(pipe_fds[1]);
        char pids[4096];
        size_t n = 0;
        while (n < sizeof pids - 1 && read(pipe_fds[0], &byte, 1) == 1)
            pids[n++] = byte;
        pids[n] = '\0';
        close(pipe_fds[0]);
        assert_int_equal(waitpid(host, NULL, 0), host);
        unsigned count = 0;
        for (char *p = pids; *p; count++) {
            long pid = strtol(p, &p, 10);
            for (uint64_t end = al_mono_ms() + 10000; kill((pid_t)pid, 0) == 0 && al_mono_ms() < end;) {
                char stat_path[64], stat_text[512] = "";
                snprintf(stat_path, sizeof stat_path, "/proc/%ld/stat", pid);
                FILE *f = fopen(stat_path, "re");
                size_t got = f ? fread(stat_text, 1, sizeof stat_text - 1, f) : 0;
                if (f)
                    fclose(f);
                const char *state_at = got ? strrchr(stat_text, ')') : NULL;
                if (!state_at || state_at[2] == 'Z') /* nobody may have reaped it yet */
                    break;
            }
            while (*p == ' ')
                p++;
        }
        assert_int_equal(count, 7); /* three of each, and the zygote */
    }
}

static void nothing_is_left_open(void **state)
{
    (void)state;
    both_are_well();
    rig_rest();
    unsigned fds = rig_fds();
    for (int i = 0; i < 6; i++) {
        both_are_well();
        rig_query("die 1", -1);
        rig_query("lie version", -1);
    }
    both_are_well(); /* and there is a spare again */
    rig_rest();
    assert_int_equal(rig_fds(), fds);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(honest_ones_are_served),
    cmocka_unit_test(lies_end_the_worker_and_nothing_else),
    cmocka_unit_test(what_follows_the_end_does_not_count),
    cmocka_unit_test(only_what_a_worker_can_come_to_is_believed),
    cmocka_unit_test(floods_are_lies),
    cmocka_unit_test(each_death_is_told),
#ifndef AL_ASAN
    cmocka_unit_test(memory_has_a_limit),
#endif
    cmocka_unit_test(what_never_ends_is_killed_at_its_deadline),
    cmocka_unit_test(an_ingest_has_a_deadline),
    cmocka_unit_test(a_reader_that_blocks_costs_the_query_no_time),
    cmocka_unit_test(cancel_works_in_every_state),
    cmocka_unit_test(a_slow_reader_holds_the_writer_up),
    cmocka_unit_test(much_passes_and_little_is_held),
    cmocka_unit_test(sixteen_run_and_sixty_four_wait),
    cmocka_unit_test(any_of_many_is_cancelled_at_any_time),
    cmocka_unit_test(four_ingests_run_and_sixty_four_wait),
    cmocka_unit_test(a_dead_zygote_is_replaced),
    cmocka_unit_test(a_zygote_may_die_around_every_start),
    cmocka_unit_test(a_zygote_that_hangs_holds_no_cancelled_query),
    cmocka_unit_test(a_spare_that_was_killed_costs_nobody_a_query),
    cmocka_unit_test(old_zygotes_are_replaced),
    cmocka_unit_test(a_dead_host_leaves_nobody),
    cmocka_unit_test(nothing_is_left_open),
};
RIG_MAIN(tests)
