/*
 * Figures of js_run in a warm host, without a client around it: one line of JSON for bench/js.mjs to compare.
 *
 *   bench_js DIR runs N FILE              N runs of the script in FILE, end to end, in microseconds
 *   bench_js DIR calls N                  one script that makes N nested calls of a tool that does nothing
 *   bench_js DIR ideal N CONCURRENCY      N nested calls that take 1 ms each
 *   bench_js DIR idle                     private memory of a run that waits for a nested call
 */
#include "base/mem.h"
#include "base/text.h"
#include "core/core.h"
#include "os/fd.h"
#include "os/spawn.h"
#include "sandbox/supervise.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static struct al_loop *loop;
static struct al_core *core;
static bool done;
static bool failed;

static void die(const char *what, const struct al_err *err)
{
    fprintf(stderr, "bench: %s: %s: %s\n", what, al_code_name(err->code), err->msg);
    exit(1);
}

/* --- tools of the bench
 * ------------------------------------------------------------------------------------------- */

static void nothing_start(struct al_call *call)
{
    al_buf_adds(&call->structured, "1");
    al_call_finish(call);
}

/* A millisecond on the thread pool: the loop's own timers count in whole milliseconds and would measure
 * themselves. */
static void sleep_1ms(struct al_call *call)
{
    struct timespec t = {.tv_nsec = 1000000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
    al_buf_adds(&call->structured, "1");
}

static void wait_start(struct al_call *call)
{
    al_call_in_thread(call, sleep_1ms);
}

static long run_private_kb; /* of the run, while the idle script waits */

static long private_kb_of(long pid)
{
    char path[64], line[256];
    long kb = 0;
    snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "Private_Dirty:", 14) == 0)
            kb = strtol(line + 14, NULL, 10);
    }
    if (f)
        fclose(f);
    return kb;
}

/* Below us are the zygote, the oldest; the run; and the process that waits for the next one, the smaller of
 * the two. */
static void idle_start(struct al_call *call)
{
    char path[64];
    long pid[8], n = 0, oldest = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", getpid(), getpid());
    FILE *f = fopen(path, "re");
    while (f && n < 8 && fscanf(f, "%ld", &pid[n]) == 1)
        n++;
    if (f)
        fclose(f);
    for (long i = 0; i < n; i++)
        oldest = oldest == 0 || pid[i] < oldest ? pid[i] : oldest;
    for (long i = 0; i < n; i++) {
        long kb = pid[i] == oldest ? 0 : private_kb_of(pid[i]);
        run_private_kb = kb > run_private_kb ? kb : run_private_kb;
    }
    nothing_start(call);
}

#define BENCH_TOOL(id, fn)                                                                 \
    {                                                                                      \
        .name = id, .title = id, .description = id, .effect = AL_EFFECT_READ, .start = fn, \
        .input_schema = "{\"type\":\"object\",\"properties\":{}}"                          \
    }
static const struct al_tool tools[] = {
    BENCH_TOOL("nothing", nothing_start),
    BENCH_TOOL("wait", wait_start),
    BENCH_TOOL("idle", idle_start),
};

/* --- one run
 * ------------------------------------------------------------------------------------------------------ */

static void on_done(void *ud, struct al_call *call)
{
    (void)ud;
    if (call->err.code != AL_OK) {
        fprintf(stderr, "bench: %s: %s\n", al_code_name(call->err.code), call->err.msg);
        failed = true;
    }
    done = true;
}

static double run_us(struct al_str code)
{
    autobuf struct al_buf args = AL_BUF_INIT(1 << 20);
    struct al_jw w;
    al_jw_init(&w, &args);
    al_jw_obj(&w);
    al_jw_kstr(&w, "code", code);
    al_jw_kint(&w, "timeoutMs", 120000);
    al_jw_end(&w);
    struct al_call_spec spec = {
        .tool = AL_STR("js_run"), .args_json = al_buf_str(&args), .origin = AL_ORIGIN_MCP, .done = on_done};
    done = false;
    uint64_t start = al_mono_ns();
    al_core_call(core, &spec);
    if (!al_loop_run_until(loop, &done, 200000) || failed)
        exit(1);
    return (double)(al_mono_ns() - start) / 1000;
}

static void open_core(const char *dir)
{
    struct al_err err;
    struct al_config *config;
    struct al_store *store;
    loop = al_loop_new();
    char *file = al_xcalloc(1, strlen(dir) + 32);
    snprintf(file, strlen(dir) + 32, "%s/config.json", dir);
    struct al_config_sources sources = {.user_file = file};
    if (al_config_load(&sources, &config, &err) < 0)
        die("config", &err);
    snprintf(file, strlen(dir) + 32, "%s/state", dir);
    if (al_store_open(file, NULL, &store, &err) < 0)
        die("state", &err);
    free(file);
    struct al_core_opts o = {.loop = loop, .config = config, .store = store, .cwd = dir, .source = "mcp"};
    if (al_core_new(&o, &core, &err) < 0)
        die("core", &err);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        al_core_register(core, &tools[i]);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_runs(struct al_str code, int n)
{
    double *us = al_xcalloc((size_t)n, sizeof *us);
    for (int i = 0; i < n; i++)
        us[i] = run_us(code);
    qsort(us, (size_t)n, sizeof *us, by_value);
    printf("{\"runs\":%d,\"medianUs\":%.1f,\"p99Us\":%.1f,\"minUs\":%.1f}\n", n, us[n / 2], us[n * 99 / 100],
           us[0]);
    free(us);
}

static void print_calls(const char *tool, int n, int concurrency)
{
    char code[512];
    snprintf(code, sizeof code,
             "await tools.map(Array.from({length: %d}), () => tools.%s({}), {concurrency: %d})", n, tool,
             concurrency);
    double with = run_us(al_str_of(code)), without = run_us(AL_STR("null"));
    printf("{\"calls\":%d,\"totalUs\":%.1f,\"perCallUs\":%.2f}\n", n, with - without, (with - without) / n);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], AL_SUPERVISE_VERB) == 0)
        return al_supervise_main(argc, argv);
    if (argc > 1 && strcmp(argv[1], AL_ZYGOTE_VERB) == 0)
        return al_zygote_main(argc, argv);
    int64_t n = 0, concurrency = 1;
    if (argc < 3 || (argc > 3 && !al_parse_int(al_str_of(argv[3]), 1, 1000000, &n))) {
        fprintf(stderr, "usage: see the head of bench/js.c\n");
        return 2;
    }
    al_fd_ensure_std();
    setenv("UV_THREADPOOL_SIZE", "16", 1);
    al_self_open();
    open_core(argv[1]);
    run_us(AL_STR("1")); /* the zygote starts here */
    if ((strcmp(argv[2], "runs") == 0) && argc == 5) {
        autobuf struct al_buf code = AL_BUF_INIT(1 << 20);
        autofd int fd = open(argv[4], O_RDONLY | O_CLOEXEC);
        if (fd < 0 || al_fd_read_all(fd, &code) < 0)
            return 1;
        print_runs(al_buf_str(&code), (int)n);
    } else if (strcmp(argv[2], "calls") == 0) {
        print_calls("nothing", (int)n, 1);
    } else if (strcmp(argv[2], "ideal") == 0 && argc == 5 &&
               al_parse_int(al_str_of(argv[4]), 1, 16, &concurrency)) {
        print_calls("wait", (int)n, (int)concurrency);
    } else if (strcmp(argv[2], "idle") == 0) {
        run_us(AL_STR("1")); /* from here on each run takes a process that waited for it */
        run_us(AL_STR("await tools.idle({})"));
        printf("{\"privateKb\":%ld}\n", run_private_kb);
    }
    fflush(stdout);
    _exit(0);
}
