/*
 * An MCP server for tests that plays what it is told: fake_mcp [OPTION…]. Its tools are named after what they
 * do.
 *   --era=legacy|modern|dual|silent|dies   how it takes a first message of the newer protocol
 *   --version=V       what it answers to initialize
 *   --pages=N         of the tool list, three tools each; 0: pages without end; -1: a cursor that repeats
 *   --noise           prints what is no message before each answer
 *   --mute            never answers anything
 *   --exit-at=METHOD  dies when it is asked for that, with last words
 *   --count=FILE      adds a line to FILE at its start
 *   --roots           asks for the roots when it was initialized, and says on standard error what came
 *   --words=FILE      the description of echo is what FILE says; when it is empty there is no echo
 *   --restless        tells of a changed list whenever it is read
 *   --stubborn        ignores the end of its input and SIGTERM
 */
#include "base/arena.h"
#include "base/ident.h"
#include "base/json.h"
#include "base/mem.h"
#include "rpc/rpc.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *era = "legacy", *version = "2025-11-25", *exit_at = "";
static int pages = 1;
static const char *words = "";
static bool restless, noise, mute, roots, changed, subscribed;
static uint64_t subscription;
static char kept_id[64], question_for[64];

static void put(struct al_buf *line)
{
    if (noise)
        fputs("Server is ready!\n\xef\xbb\xbf\r\n{\"not\":\"a message\"}\n\xff\xfe{{{\n", stdout);
    fwrite(line->p, 1, line->n, stdout);
    fputs(noise ? "\r\n" : "\n", stdout);
    fflush(stdout);
    al_buf_free(line);
}

static void answer(struct al_str id, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void answer(struct al_str id, const char *fmt, ...)
{
    va_list ap;
    char *z = NULL;
    struct al_buf out = AL_BUF_INIT(64u << 20);
    va_start(ap, fmt);
    if (vasprintf(&z, fmt, ap) < 0)
        abort();
    va_end(ap);
    al_rpc_result(&out, id, al_str_of(z));
    free(z);
    put(&out);
}

static void refuse(struct al_str id, int code, const char *message, const char *data)
{
    struct al_buf out = AL_BUF_INIT(1 << 16);
    al_rpc_failure(&out, id, code, al_str_of(message), al_str_of(data));
    put(&out);
}

static void notify(const char *method, const char *params)
{
    struct al_buf out = AL_BUF_INIT(1 << 16);
    al_rpc_notification(&out, method, al_str_of(params));
    put(&out);
}

static void ask(const char *id, const char *method, const char *params)
{
    struct al_buf out = AL_BUF_INIT(1 << 16);
    al_rpc_request(&out, al_str_of(id), method, al_str_of(params));
    put(&out);
}

static void text(struct al_str id, struct al_str s)
{
    struct al_buf out = AL_BUF_INIT(64u << 20);
    struct al_jw w;
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    al_jw_key(&w, "content");
    al_jw_arr(&w);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "type", "text");
    al_jw_kstr(&w, "text", s);
    al_jw_end(&w);
    al_jw_end(&w);
    al_jw_end(&w);
    answer(id, "%.*s", AL_FMT(al_buf_str(&out)));
    al_buf_free(&out);
}

static const char *said(void)
{
    static char text[200];
    FILE *f = fopen(words, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f)
        fclose(f);
    return text;
}

static bool left_out(const char *name)
{
    return *words && strcmp(name, "echo") == 0 && !*said();
}

static void list(struct al_str id, const struct al_json *params)
{
    static const char *const names[] = {"echo",    "structured", "image", "mixed", "fails", "rpc_error",
                                        "invalid", "never",      "twice", "late",  "die",   "progress",
                                        "forever", "sample",     "big",   "huge",  "env",   "input",
                                        "change",  "none",       "utf8",  "pid",   "meta",  "linger"};
    struct al_str cursor = al_json_get_text(params, "cursor");
    if (restless)
        notify("notifications/tools/list_changed", "{}");
    int page = cursor.n ? atoi(cursor.p + 1) : al_json_get(params, "cursor") ? 1 : 0;
    struct al_buf out = AL_BUF_INIT(1 << 20);
    size_t n = pages == 1 ? sizeof(names) / sizeof(*names) : 3;
    for (size_t i = 0; i < n; i++) {
        al_buf_addf(&out, "%s{\"name\":\"", i ? "," : "");
        if (pages == 1)
            al_buf_adds(&out, left_out(names[i]) ? "other" : names[i]);
        else
            al_buf_addf(&out, "page%d_%zu", page, i);
        al_buf_addf(&out, "\",\"description\":\"%s\",\"inputSchema\":{\"type\":\"object\"}}",
                    *words && strcmp(names[i], "echo") == 0 ? said() : "A tool.");
    }
    if (pages == 1)
        al_buf_adds(&out, ",{\"name\":\"long_task\",\"execution\":{\"taskSupport\":\"required\"},"
                          "\"inputSchema\":{\"type\":\"object\"}}");
    if (changed)
        al_buf_adds(&out, ",{\"name\":\"new_one\",\"inputSchema\":{\"type\":\"object\"}}");
    char next[64] = "";
    if (pages == -1)
        snprintf(next, sizeof next, ",\"nextCursor\":\"c1\"");
    else if (pages == 0 || page + 1 < pages)
        snprintf(next, sizeof next, page ? ",\"nextCursor\":\"c%d\"" : ",\"nextCursor\":\"\"", page + 1);
    answer(id, "{\"tools\":[%.*s]%s}", AL_FMT(al_buf_str(&out)), next);
    al_buf_free(&out);
}

static void big(struct al_str id, size_t n)
{
    char *z = al_xmalloc(n + 1);
    memset(z, 'x', n);
    z[n] = 0;
    text(id, (struct al_str){z, n});
    free(z);
}

static void progress(const struct al_json *params, int i)
{
    const struct al_json *token = al_json_get(al_json_get(params, "_meta"), "progressToken");
    struct al_buf out = AL_BUF_INIT(1024);
    if (!token)
        return;
    al_buf_addf(&out, "{\"progressToken\":%.*s,\"progress\":%d,\"total\":3,\"message\":\"step %d\"}",
                AL_FMT(token->raw), i, i);
    al_buf_addc(&out, 0);
    notify("notifications/progress", out.p);
    al_buf_free(&out);
}

static void die(void)
{
    fputs("first line\nI am \x1b[31mgone\n", stderr);
    exit(3);
}

static void change(struct al_str id)
{
    changed = true;
    char params[128] = "{}";
    if (subscribed)
        snprintf(params, sizeof params, "{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%llu}}",
                 (unsigned long long)subscription);
    notify("notifications/tools/list_changed", params);
    notify("notifications/tools/list_changed", params);
    text(id, AL_STR("changed"));
}

static void call(struct al_str id, const struct al_json *params)
{
    struct al_str name = al_json_get_text(params, "name");
    const struct al_json *args = al_json_get(params, "arguments");
    if (al_str_is(name, "echo")) {
        text(id, args ? args->raw : AL_STR("none"));
    } else if (al_str_is(name, "structured")) {
        answer(id, "{\"content\":[{\"type\":\"text\",\"text\":\"four\"}],\"structuredContent\":{\"n\":4}}");
    } else if (al_str_is(name, "image")) {
        answer(id,
               "{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"iVBORw0KGgo=\"}]}");
    } else if (al_str_is(name, "mixed")) {
        answer(
            id,
            "{\"content\":[{\"type\":\"text\",\"text\":\"see\"},{\"type\":\"resource\",\"resource\":{\"uri\":"
            "\"file:///x\",\"text\":\"body\"}}]}");
    } else if (al_str_is(name, "fails")) {
        answer(id,
               "{\"content\":[{\"type\":\"text\",\"text\":\"no such \\u001b[1missue\"}],\"isError\":true}");
    } else if (al_str_is(name, "rpc_error")) {
        refuse(id, -32000, "out of order", "");
    } else if (al_str_is(name, "invalid")) {
        refuse(id, -32602, "n is required", "");
    } else if (al_str_is(name, "never")) {
        snprintf(kept_id, sizeof kept_id, "%.*s", AL_FMT(id));
    } else if (al_str_is(name, "twice")) {
        text(id, AL_STR("first"));
        text(id, AL_STR("second"));
        answer(AL_STR("987654"), "{}");
        answer(AL_STR("\"what\""), "{}");
    } else if (al_str_is(name, "late")) {
        text(al_str_of(kept_id), AL_STR("too late"));
        text(id, AL_STR("now"));
    } else if (al_str_is(name, "die")) {
        die();
    } else if (al_str_is(name, "progress")) {
        for (int i = 1; i <= 3; i++)
            progress(params, i);
        text(id, AL_STR("done"));
    } else if (al_str_is(name, "forever")) {
        for (int i = 0;; i++, usleep(20000))
            progress(params, i);
    } else if (al_str_is(name, "sample")) {
        snprintf(question_for, sizeof question_for, "%.*s", AL_FMT(id));
        ask("\"q1\"", "sampling/createMessage", "{\"messages\":[],\"maxTokens\":5}");
    } else if (al_str_is(name, "big")) {
        big(id, 9u << 20);
    } else if (al_str_is(name, "huge")) {
        big(id, 17u << 20);
    } else if (al_str_is(name, "env")) {
        const char *depth = getenv("ALISIO_MCP_DEPTH"), *own = getenv("OWN"), *secret = getenv("SECRET_KEY");
        char cwd[4096], *z = NULL;
        if (!getcwd(cwd, sizeof cwd) ||
            asprintf(&z, "{\"depth\":\"%s\",\"own\":\"%s\",\"secret\":\"%s\",\"cwd\":\"%s\"}",
                     depth ? depth : "", own ? own : "", secret ? secret : "", cwd) < 0)
            abort();
        text(id, al_str_of(z));
        free(z);
    } else if (al_str_is(name, "input")) {
        answer(id, "{\"resultType\":\"input_required\",\"inputRequests\":{},\"requestState\":\"s\"}");
    } else if (al_str_is(name, "change")) {
        change(id);
    } else if (al_str_is(name, "storm")) {
        for (int i = 0; i < 60000; i++)
            notify("notifications/message", "{\"level\":\"info\",\"data\":1}");
        text(id, AL_STR("over"));
    } else if (al_str_is(name, "none")) {
        answer(id, "{\"content\":[]}");
    } else if (al_str_is(name, "utf8")) {
        answer(id, "{\"content\":[{\"type\":\"text\",\"text\":\"a\xff\"}]}");
    } else if (al_str_is(name, "pid")) {
        char z[32];
        snprintf(z, sizeof z, "%d", (int)getpid());
        text(id, al_str_of(z));
    } else if (al_str_is(name, "meta")) {
        const struct al_json *meta = al_json_get(params, "_meta");
        text(id, meta ? meta->raw : AL_STR("none"));
    } else if (al_str_is(name, "shut")) {
        close(1);
    } else if (al_str_is(name, "many")) {
        struct al_buf out = AL_BUF_INIT(16u << 20);
        al_buf_adds(&out, "{\"structuredContent\":[1");
        for (size_t i = 0; i < 2000000; i++)
            al_buf_adds(&out, ",1");
        answer(id, "%.*s]}", AL_FMT(al_buf_str(&out)));
        al_buf_free(&out);
    } else if (al_str_is(name, "linger")) {
        /* Answers and ends, with the answer on its way. */
        text(id, AL_STR("bye"));
        exit(0);
    } else {
        refuse(id, -32602, "no such tool", "");
    }
}

static void initialize(struct al_str id)
{
    if (strcmp(era, "modern") == 0)
        refuse(id, -32022, "only 2026-07-28", "{\"supported\":[\"2026-07-28\"],\"requested\":\"?\"}");
    else
        answer(
            id,
            "{\"protocolVersion\":\"%s\",\"capabilities\":{\"tools\":{\"listChanged\":true}},\"serverInfo\":"
            "{\"name\":\"fake\",\"version\":\"1\"},\"instructions\":\"be kind\"}",
            version);
}

static void discover(struct al_str id)
{
    if (strcmp(era, "dies") == 0)
        exit(1);
    if (strcmp(era, "silent") == 0)
        return;
    if (strcmp(era, "modern") == 0 || strcmp(era, "dual") == 0)
        answer(
            id,
            "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":"
            "{\"listChanged\":true}},\"_meta\":{\"io.modelcontextprotocol/"
            "serverInfo\":{\"name\":\"fake\"}}}");
    else
        refuse(id, -32601, "Method not found", "");
}

static void request(const struct al_rpc *m)
{
    if (strcmp(exit_at, "") && al_str_is(m->method, exit_at))
        die();
    if (mute)
        return;
    if (al_str_is(m->method, "server/discover"))
        discover(m->id);
    else if (al_str_is(m->method, "initialize"))
        initialize(m->id);
    else if (al_str_is(m->method, "tools/list"))
        list(m->id, m->params);
    else if (al_str_is(m->method, "tools/call"))
        call(m->id, m->params);
    else if (al_str_is(m->method, "subscriptions/listen")) {
        subscribed = true;
        subscription = strtoull(m->id.p, NULL, 10);
        char z[160];
        snprintf(z, sizeof z,
                 "{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%llu},\"notifications\":{}}",
                 (unsigned long long)subscription);
        notify("notifications/subscriptions/acknowledged", z);
    } else
        refuse(m->id, -32601, "Method not found", "");
}

static bool line(void *ud, struct al_str s)
{
    autoarena struct al_arena a = AL_ARENA_INIT(256u << 20);
    struct al_rpc m;
    (void)ud;
    al_rpc_read(&a, s, &m);
    if (m.kind == AL_RPC_REQUEST) {
        request(&m);
    } else if (m.kind == AL_RPC_NOTIFICATION && al_str_is(m.method, "notifications/cancelled")) {
        fprintf(stderr, "cancelled %.*s\n", AL_FMT(al_json_get(m.params, "requestId")->raw));
    } else if (m.kind == AL_RPC_NOTIFICATION && al_str_is(m.method, "notifications/initialized") && roots) {
        ask("7", "roots/list", "");
        ask("8", "ping", "");
    } else if (m.kind == AL_RPC_RESPONSE && al_str_is(m.id, "\"q1\"")) {
        text(al_str_of(question_for), m.result ? m.result->raw : m.failure->raw);
    } else if (m.kind == AL_RPC_RESPONSE) {
        fprintf(stderr, "got %.*s\n", AL_FMT(m.result ? m.result->raw : m.failure->raw));
    }
    return true;
}

static void too_long(void *ud)
{
    (void)ud;
}

static const char *value_of(const char *arg, const char *option)
{
    size_t n = strlen(option);
    return strncmp(arg, option, n) == 0 ? arg + n : NULL;
}

static void option(const char *arg)
{
    const char *v;
    if ((v = value_of(arg, "--era=")))
        era = v;
    else if ((v = value_of(arg, "--version=")))
        version = v;
    else if ((v = value_of(arg, "--pages=")))
        pages = (int)strtol(v, NULL, 10);
    else if ((v = value_of(arg, "--exit-at=")))
        exit_at = v;
    else if ((v = value_of(arg, "--words=")))
        words = v;
    else if ((v = value_of(arg, "--count="))) {
        FILE *f = fopen(v, "a");
        fputs("start\n", f);
        fclose(f);
    }
    noise |= strcmp(arg, "--noise") == 0;
    restless |= strcmp(arg, "--restless") == 0;
    mute |= strcmp(arg, "--mute") == 0;
    roots |= strcmp(arg, "--roots") == 0;
    if (strcmp(arg, "--stubborn") == 0)
        signal(SIGTERM, SIG_IGN);
}

int main(int argc, char **argv)
{
    static const struct al_rpc_sink sink = {.line = line, .too_long = too_long};
    static char chunk[1 << 16];
    struct al_rpc_lines lines;
    bool stubborn = false;
    for (int i = 1; i < argc; i++) {
        option(argv[i]);
        stubborn |= strcmp(argv[i], "--stubborn") == 0;
    }
    al_rpc_lines_init(&lines, 32u << 20);
    for (ssize_t n; (n = read(0, chunk, sizeof chunk)) > 0;)
        al_rpc_lines_feed(&lines, (struct al_str){chunk, (size_t)n}, &sink, NULL);
    al_rpc_lines_free(&lines);
    while (stubborn)
        pause();
    return 0;
}
