/*
 * How long one row of the journal takes while eight processes write into the same state folder, next to one
 * process alone. Ratios tell something on any machine; the times are of this one.
 *
 *   bench_db_wait [SECONDS] [PROCESSES] [THINK_US]
 */
#include "base/mem.h"
#include "base/text.h"
#include "store/store.h"

#include <ftw.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_PROCESSES 64
#define MAX_ROWS 400000

struct result {
    size_t n, failed;
    uint64_t ns[MAX_ROWS];
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void think(int64_t us)
{
    struct timespec t = {us / 1000000, us % 1000000 * 1000};
    if (us)
        nanosleep(&t, NULL);
}

static int write_rows(struct al_store *s, uint64_t end_ns, int64_t think_us, struct result *out,
                      struct al_err *err)
{
    struct al_session ses;
    if (al_store_session_default(s, "/bench", &ses, err) < 0)
        return -1;
    struct al_run r = {.status = (char *)"running"};
    al_id_new(r.id, "exec_");
    memcpy(r.session, ses.id, sizeof r.session);
    al_session_fini(&ses);
    if (al_store_run_begin(s, &r, AL_STR("bench"), err) < 0)
        return -1;
    struct al_call_row c = {.tool = (char *)"read_file",
                            .effect = (char *)"read",
                            .args_sha256 =
                                (char *)"c0bd8f296e18cf074969f6401b9ecb72609a1323818ec2b9bf7a8f8d740d1363",
                            .args_preview = (char *)"{\"path\":\"src/main.c\",\"startLine\":1,\"limit\":200}",
                            .decision = (char *)"allowed"};
    while (al_mono_ns() < end_ns && out->n < MAX_ROWS) {
        c.seq++;
        uint64_t start = al_mono_ns();
        if (al_store_call_begin(s, r.id, &c, false, err) < 0)
            out->failed++;
        out->ns[out->n++] = al_mono_ns() - start;
        think(think_us);
    }
    r.status = (char *)"completed";
    return al_store_run_end(s, &r, err);
}

static int one_process(const char *dir, uint64_t end_ns, int64_t think_us, struct result *out)
{
    struct al_store *s;
    struct al_err err = {0};
    int r = al_store_open(dir, NULL, &s, &err);
    if (r == 0) {
        r = write_rows(s, end_ns, think_us, out, &err);
        al_store_close(s);
    }
    if (r < 0)
        fprintf(stderr, "%s: %s (%s)\n", al_code_name(err.code), err.msg, err.detail);
    return r < 0;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

struct figures {
    double median_ms, p999_ms, max_ms;
    size_t n, failed;
};

static int measure(int processes, int64_t seconds, int64_t think_us, struct figures *ret)
{
    char dir[] = "/tmp/alisio-bench-db-XXXXXX";
    if (!mkdtemp(dir))
        return -1;
    size_t size = (size_t)processes * sizeof(struct result);
    struct result *all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return -1;
    uint64_t end_ns = al_mono_ns() + (uint64_t)seconds * 1000000000;
    for (int i = 0; i < processes; i++) {
        if (fork() == 0)
            _exit(one_process(dir, end_ns, think_us, &all[i]));
    }
    int status, bad = 0;
    while (wait(&status) > 0)
        bad |= status;
    *ret = (struct figures){0};
    for (int i = 0; i < processes; i++) {
        ret->n += all[i].n;
        ret->failed += all[i].failed;
    }
    uint64_t *ns = al_xcalloc(ret->n + 1, sizeof *ns);
    for (int i = 0, at = 0; i < processes; at += (int)all[i].n, i++)
        memcpy(ns + at, all[i].ns, all[i].n * sizeof *ns);
    qsort(ns, ret->n, sizeof *ns, by_size);
    if (ret->n) {
        ret->median_ms = (double)ns[ret->n / 2] / 1e6;
        ret->p999_ms = (double)ns[(size_t)((double)(ret->n - 1) * 0.999)] / 1e6;
        ret->max_ms = (double)ns[ret->n - 1] / 1e6;
    }
    free(ns);
    munmap(all, size);
    nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return bad ? -1 : 0;
}

static int64_t argument(int argc, char **argv, int i, int64_t max, int64_t otherwise)
{
    int64_t v = otherwise;
    if (argc > i && !al_parse_int(al_str_of(argv[i]), 0, max, &v))
        fprintf(stderr, "%s is no number from 0 to %lld; taking %lld\n", argv[i], (long long)max,
                (long long)v);
    return v;
}

static void line(const char *what, const struct figures *f)
{
    printf("%-14s %8zu rows  median %7.3f ms  p99.9 %8.3f ms  max %8.3f ms  failed %zu\n", what, f->n,
           f->median_ms, f->p999_ms, f->max_ms, f->failed);
}

int main(int argc, char **argv)
{
    int64_t seconds = argument(argc, argv, 1, 3600, 4);
    int processes = (int)argument(argc, argv, 2, MAX_PROCESSES, 8);
    int64_t think_us = argument(argc, argv, 3, 1000000, 1000);
    struct figures one, many;
    if (measure(1, seconds, think_us, &one) < 0 || measure(processes, seconds, think_us, &many) < 0)
        return 1;
    char name[32];
    snprintf(name, sizeof name, "%d processes", processes);
    line("1 process", &one);
    line(name, &many);
    printf("ratio          median %.2f  p99.9 %.2f\n", many.median_ms / one.median_ms,
           many.p999_ms / one.p999_ms);
    return many.failed ? 1 : 0;
}
