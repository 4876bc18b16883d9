/* data query: one SELECT over a file; a table for people, or streamed rows. */
#include "cli/data.h"

#include "cli/commands.h"
#include "tools/data.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARENA (512u << 20)
#define TABLE_ROWS 200
#define EXPORT_MS (24u * 3600 * 1000) /* a person waits as long as they like */
/* A pipe that says it can be written takes so many bytes without waiting (POSIX: PIPE_BUF). */
#define PIECE 4096

struct query {
    struct al_app *app;
    struct al_reply *reply;
    struct al_query_job *job;
    enum al_query_format format;
    bool done, gone; /* gone: nobody reads standard output any more */
    bool polls;      /* standard output is no regular file: writing may have to wait */
    struct al_buf waiting;
    struct al_watch *watch;
    unsigned char tail[4]; /* to a terminal: the bytes of a character that has not come whole yet */
    unsigned n_tail;
};

/* --- the statement, its values --- */

static int read_sql(struct al_app *app, struct al_buf *out, struct al_err *err)
{
    const char *word = app->args.n_pos > 1 ? app->args.pos[1] : NULL;
    al_buf_init(out, AL_QUERY_MAX_SQL);
    if (word && strcmp(word, "-") != 0) {
        al_buf_adds(out, word);
    } else if (!word && al_fd_is_tty(STDIN_FILENO)) {
        al_fail(err, AL_INVALID_INPUT, "there is no statement to run");
        return al_hint(err, "alisio data query FILE 'SELECT * FROM data LIMIT 10'");
    } else if (al_app_read_text("-", AL_QUERY_MAX_SQL, out, err) < 0) {
        return -1;
    }
    if (al_buf_failed(out))
        return al_fail(err, AL_QUERY_REJECTED, "the statement is longer than %zu bytes", AL_QUERY_MAX_SQL);
    if (al_str_trim(al_buf_str(out)).n == 0) {
        al_fail(err, AL_INVALID_INPUT, "the statement is empty");
        return al_hint(err, "alisio data query FILE 'SELECT * FROM data LIMIT 10'");
    }
    if (!al_utf8_valid(al_buf_str(out)))
        return al_fail(err, AL_INVALID_INPUT, "the statement is not UTF-8 text");
    return 0;
}

/* A value that is written as a JSON number is one, as the cell of the same text is; all else is text. */
static void put_value(struct al_jw *w, const char *text)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(64u << 10);
    const struct al_json *v;
    struct al_err ignored;
    struct al_str s = al_str_of(text);
    bool number = s.n > 0 && s.n < 40 && al_json_parse(&arena, s, &v, &ignored) == 0 &&
                  v->type == AL_JSON_NUMBER && v->raw.n == s.n;
    if (number)
        al_jw_raw(w, s);
    else
        al_jw_str(w, s);
}

static bool is_position(struct al_str key, int64_t want)
{
    int64_t n;
    return al_parse_int(key, 1, 999, &n) && n == want;
}

static int read_params(const struct al_app *app, struct al_buf *out, struct al_err *err)
{
    const char *const *list = app->args.list[AL_LIST_PARAMS];
    struct al_jw w;
    bool by_position = true;
    if (!list[0])
        return 0;
    for (size_t i = 0; list[i]; i++) {
        const char *equals = strchr(list[i], '=');
        if (!equals || equals == list[i]) {
            al_fail(err, AL_INVALID_INPUT, "--param %.80s has no name", list[i]);
            return al_hint(err, "--param min=100 for :min, --param 1=100 for ?1");
        }
        by_position =
            by_position && is_position((struct al_str){list[i], (size_t)(equals - list[i])}, (int64_t)i + 1);
    }
    al_jw_init(&w, out);
    if (by_position)
        al_jw_arr(&w);
    else
        al_jw_obj(&w);
    for (size_t i = 0; list[i]; i++) {
        const char *equals = strchr(list[i], '=');
        if (!by_position)
            al_jw_key_str(&w, (struct al_str){list[i], (size_t)(equals - list[i])});
        put_value(&w, equals + 1);
    }
    al_jw_end(&w);
    return al_buf_failed(out) ? al_fail(err, AL_INVALID_INPUT, "the values are too long") : 0;
}

static int read_format(const struct al_app *app, enum al_query_format *ret, struct al_err *err)
{
    static const struct {
        const char *name;
        enum al_query_format format;
    } formats[] = {{"table", AL_QUERY_RESULT},
                   {"csv", AL_QUERY_CSV},
                   {"tsv", AL_QUERY_TSV},
                   {"json", AL_QUERY_JSON},
                   {"jsonl", AL_QUERY_JSONL}};
    const char *word = app->args.value[AL_FLAG_FORMAT];
    *ret = AL_QUERY_RESULT;
    for (size_t i = 0; word && i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(word, formats[i].name) != 0)
            continue;
        *ret = formats[i].format;
        word = NULL;
    }
    if (word) {
        al_fail(err, AL_INVALID_INPUT, "there is no format %.40s", word);
        return al_hint(err, "--format is one of table, csv, tsv, json, jsonl");
    }
    if (app->json && *ret != AL_QUERY_RESULT) {
        al_fail(err, AL_INVALID_INPUT, "--json and --format %s are two forms of the answer",
                app->args.value[AL_FLAG_FORMAT]);
        return al_hint(err, "--json alone gives one object with up to --max-rows rows");
    }
    if (al_args_has(&app->args, AL_FLAG_EXACT) && *ret != AL_QUERY_CSV && *ret != AL_QUERY_TSV)
        return al_fail(err, AL_INVALID_INPUT, "--exact is for --format csv and tsv");
    return 0;
}

/* --- streaming to standard output --- */

static void to_terminal(struct query *q, struct al_str bytes)
{
    /* A chunk may end within a character: that waits for the next one. */
    autobuf struct al_buf whole = AL_BUF_INIT(4u << 20);
    al_buf_add(&whole, q->tail, q->n_tail);
    al_buf_add_str(&whole, bytes);
    struct al_str s = al_buf_str(&whole), head = s;
    for (unsigned back = 1; back <= 3 && back <= s.n; back++) {
        unsigned char c = (unsigned char)s.p[s.n - back];
        if ((c & 0xc0) == 0x80)
            continue;
        unsigned needs = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
        if (needs > back)
            head.n = s.n - back;
        break;
    }
    q->n_tail = (unsigned)(s.n - head.n);
    memcpy(q->tail, head.p + head.n, q->n_tail);
    al_text_visible(&q->waiting, head, true);
}

static bool writable(const struct query *q)
{
    struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return !q->polls || poll(&p, 1, 0) != 0;
}

/* Writes what can be written without waiting. False: something is left. */
static bool flush(struct query *q)
{
    size_t at = 0;
    while (at < q->waiting.n && !q->gone && writable(q)) {
        size_t n = q->waiting.n - at;
        ssize_t r = write(STDOUT_FILENO, q->waiting.p + at, q->polls && n > PIECE ? PIECE : n);
        if (r > 0)
            at += (size_t)r;
        else if (r < 0 && errno == EAGAIN)
            break;
        else if (r < 0 && errno != EINTR)
            q->gone = true;
    }
    al_buf_drop(&q->waiting, at);
    if (q->gone) {
        al_buf_clear(&q->waiting);
        if (q->job)
            al_query_cancel(q->job);
    }
    return q->waiting.n == 0;
}

static void on_writable(void *ud, int events)
{
    struct query *q = ud;
    (void)events;
    if (!flush(q))
        return;
    al_watch_stop(q->watch);
    q->watch = NULL;
    if (q->job && !q->gone)
        al_query_resume_stream(q->job);
}

static bool on_chunk(void *ud, struct al_str bytes)
{
    struct query *q = ud;
    struct al_err ignored;
    if (q->gone)
        return true;
    if (q->app->tty)
        to_terminal(q, bytes);
    else
        al_buf_add_str(&q->waiting, bytes);
    if (flush(q))
        return true;
    if (!q->watch)
        q->watch = al_watch_start(q->app->loop, STDOUT_FILENO, AL_WRITABLE, on_writable, q, &ignored);
    return q->watch == NULL; /* what cannot be watched is written in the next turn */
}

/* --- the query --- */

static void on_end(void *ud, const struct al_query_end *end)
{
    struct query *q = ud;
    struct al_reply *reply = q->reply;
    q->job = NULL;
    q->done = true;
    reply->err = end->err;
    if (q->gone && end->err.code == AL_CANCELLED)
        reply->err.code = AL_OK; /* whoever read it had enough, as `head` has */
    if (reply->err.code != AL_OK && end->details.n)
        al_buf_add_str(&reply->details, end->details);
    al_buf_add_str(&reply->structured, end->json);
    if (q->format == AL_QUERY_RESULT)
        al_buf_add_str(&reply->model_text, end->text);
}

static void stop(void *ud)
{
    struct query *q = ud;
    if (q->job)
        al_query_cancel(q->job);
    q->gone = true;
}

/* What is still to be written when the rows have ended. */
static void drain(struct query *q)
{
    if (q->n_tail)
        al_text_visible(&q->waiting, (struct al_str){(char *)q->tail, q->n_tail}, true);
    q->n_tail = 0;
    if (q->watch)
        al_watch_stop(q->watch);
    q->watch = NULL;
    while (!q->gone && q->waiting.n) {
        struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
        if (q->app->signal || (q->polls && poll(&p, 1, 100) < 0 && errno != EINTR))
            break;
        flush(q);
    }
}

static int run(struct query *q, const struct al_query *query)
{
    static const struct al_query_ops ops = {.chunk = on_chunk, .end = on_end};
    struct al_app *app = q->app;
    struct stat st;
    q->polls = fstat(STDOUT_FILENO, &st) < 0 || !S_ISREG(st.st_mode);
    al_buf_init(&q->waiting, SIZE_MAX / 4);
    al_app_catch_signals(app, stop, q);
    q->job = al_query_start(al_core_data(app->core), query, &ops, q, &q->reply->err);
    if (q->job)
        al_loop_run_until(app->loop, &q->done, 0);
    drain(q);
    app->on_signal = NULL;
    al_buf_free(&q->waiting);
    return q->reply->err.code == AL_OK ? 0 : -1;
}

/* --- the answer --- */

static void say_result_notes(struct al_app *app, const struct al_json *v, struct al_reply *reply)
{
    al_json_each(note, al_json_get(v, "notes"))
    {
        struct al_str s = al_json_is_string(note) ? note->str : al_json_get_text(note, "message");
        if (!s.n)
            continue;
        al_buf_adds(&reply->note, "note: ");
        al_text_visible(&reply->note, al_utf8_head(s, 400), false);
        al_buf_addc(&reply->note, '\n');
    }
    (void)app;
}

static int say_table(struct al_app *app, struct al_reply *reply, uint64_t max_rows)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(ARENA);
    const struct al_json *v;
    if (al_json_parse(&arena, al_buf_str(&reply->structured), &v, &reply->err) < 0)
        return -1;
    const struct al_json *rows = al_json_get(v, "rows");
    al_data_table(app, al_json_get(v, "columns"), rows, &reply->text);
    unsigned n = rows ? rows->n : 0;
    if (al_json_is_true(al_json_get(v, "truncated")))
        al_buf_addf(&reply->note, "the first %u rows; --max-rows N shows more, --format csv all\n", n);
    else
        al_buf_addf(&reply->note, "%u row%s\n", n, n == 1 ? "" : "s");
    (void)max_rows;
    say_result_notes(app, v, reply);
    return 0;
}

static void say_streamed(struct al_app *app, struct al_reply *reply)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(ARENA);
    const struct al_json *v;
    struct al_err ignored;
    if (al_json_parse(&arena, al_buf_str(&reply->structured), &v, &ignored) == 0)
        say_result_notes(app, v, reply);
    reply->written = true;
}

/* The id of the dataset that the word names. */
int al_data_find_word(struct al_app *app, const char *word, char id[AL_ID_MAX], struct al_err *err)
{
    if (al_id_valid(al_str_of(word), "ds") && !al_data_reads(&app->args)) {
        snprintf(id, AL_ID_MAX, "%s", word);
        return 0;
    }
    struct al_reply inner;
    autoarena struct al_arena arena = AL_ARENA_INIT(ARENA);
    const struct al_json *v;
    al_reply_init(&inner, "data_inspect");
    int r = al_data_inspect_word(app, word, 0, &inner);
    *err = inner.err;
    if (r == 0)
        r = al_json_parse(&arena, al_buf_str(&inner.structured), &v, err);
    if (r == 0)
        snprintf(id, AL_ID_MAX, "%.*s", AL_FMT(al_json_get_text(v, "datasetId")));
    al_reply_free(&inner);
    return r;
}

int al_cmd_data_query(struct al_app *app, struct al_reply *reply)
{
    const struct al_args *args = &app->args;
    struct query q = {.app = app, .reply = reply};
    autobuf struct al_buf sql = AL_BUF_INIT(AL_QUERY_MAX_SQL), params = AL_BUF_INIT(1u << 20);
    autofd int fd = -1;
    char id[AL_ID_MAX];
    snprintf(reply->tool, sizeof reply->tool, "data_query");
    if (read_format(app, &q.format, &reply->err) < 0 || read_params(app, &params, &reply->err) < 0 ||
        read_sql(app, &sql, &reply->err) < 0 || al_data_ready(app, &reply->err) < 0 ||
        al_data_find_word(app, args->pos[0], id, &reply->err) < 0 ||
        al_dataset_open(app->core, al_str_of(id), &fd, &reply->err) < 0)
        return -1;
    bool table = q.format == AL_QUERY_RESULT;
    int64_t limit = al_config_int(app->config, AL_OPT_ANALYSIS_DATA_QUERY_TIMEOUT_MS);
    struct al_query query = {
        .datasets = {{.fd = fd}},
        .n_datasets = 1,
        .sql = al_buf_str(&sql),
        .params_json = al_buf_str(&params),
        .max_rows = al_args_has(args, AL_FLAG_MAX_ROWS) ? (uint64_t)args->number[AL_FLAG_MAX_ROWS]
                    : table                             ? TABLE_ROWS
                                                        : 0,
        .timeout_ms = al_args_has(args, AL_FLAG_TIMEOUT) ? (uint32_t)args->number[AL_FLAG_TIMEOUT]
                      : table                            ? (uint32_t)limit
                                                         : EXPORT_MS,
        .format = q.format,
        .exact = al_args_has(args, AL_FLAG_EXACT),
    };
    int r = run(&q, &query);
    if (r == 0 && !table)
        say_streamed(app, reply);
    else if (r == 0 && !app->json)
        r = say_table(app, reply, query.max_rows);
    return r;
}
