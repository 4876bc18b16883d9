/*
 * Any request over any dataset: a page and its JSON that are well formed, the same for the same request, or
 * an error in words; and the plan that comes out is one that goes in again. An input is the request, and
 * behind a zero byte the CSV of the dataset, and behind another changes of the dataset's file: three bytes of
 * offset, one of value.
 */
#include "dashboard/dashboard.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "dataset/dataset.h"
#include "db/fdvfs.h"
#include "query/query.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

static const char usual[] = "day,region,channel,sales,units,rate,ok,name\n"
                            "2024-01-03,North,web,10.5,3,0.25,true,a\n2024-02-04,South,shop,7,1,0.5,false,b\n"
                            "2024-02-05,North,shop,\"1.234,5\",2,0.75,true,c\n2024-04-06,East,web,8,,0.1,,d\n"
                            "2025-01-07,,web,9.25,4,0.2,true,e\n2025-02-08,West,web,-3,5,0.9,false,<b>\n";

static bool build_dataset(int fd, struct al_str csv)
{
    struct al_dataset_limits limits = {.max_rows = 5000, .stats_bytes = 1 << 20};
    struct al_table_opts opts = {.max_bytes = 1 << 20};
    struct al_table_found found = {0};
    struct al_builder *b;
    struct al_err err = {0};
    char sha256[65] = "", name[24];
    sqlite3 *db;
    int in = memfd_create("csv", MFD_CLOEXEC);
    MUST(in >= 0 && write(in, csv.p, csv.n) == (ssize_t)csv.n && lseek(in, 0, SEEK_SET) == 0);
    snprintf(name, sizeof name, "fd:%d", fd);
    MUST(sqlite3_open_v2(name, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "alfd") == SQLITE_OK);
    MUST(al_builder_new(db, &limits, &b, &err) == 0);
    int r = al_table_read(in, AL_STR("f.csv"), &opts, al_builder_sink(b, NULL, NULL), &found, sha256, &err);
    if (r == 0) {
        struct al_dataset_source src = {.name = AL_STR("f.csv"), .sha256 = sha256, .found = &found};
        r = al_builder_finish(b, &src, &err);
    }
    al_builder_free(b);
    sqlite3_close(db);
    close(in);
    return r == 0;
}

static void change(int fd, const uint8_t *p, size_t n)
{
    off_t end = lseek(fd, 0, SEEK_END);
    for (; n >= 4 && end > 0; p += 4, n -= 4) {
        off_t at = (off_t)(p[0] | p[1] << 8 | p[2] << 16) % end;
        MUST(pwrite(fd, p + 3, 1, at) == 1);
    }
}

struct made {
    struct al_buf html, json;
    struct al_err err;
};

static void made_init(struct made *m)
{
    *m =
        (struct made){.html = AL_BUF_INIT(AL_DASHBOARD_MAX_HTML), .json = AL_BUF_INIT(AL_DASHBOARD_MAX_JSON)};
}

static void made_fini(struct made *m)
{
    al_buf_free(&m->html);
    al_buf_free(&m->json);
}

static bool make(int fd, struct al_str request, struct made *m)
{
    struct al_query q = {.datasets[0].fd = fd, .n_datasets = 1};
    struct al_dashboard_out out = {.html = &m->html, .json = &m->json};
    sqlite3 *db = NULL;
    made_init(m);
    int r = al_query_open(&q, &db, &m->err);
    if (r == 0) {
        r = al_dashboard_build(db, request, &out, &m->err);
        sqlite3_close(db);
    }
    if (r < 0)
        MUST(m->err.code != AL_OK && m->err.msg[0] && al_utf8_valid(al_str_of(m->err.msg)) &&
             al_utf8_valid(al_str_of(m->err.hint)));
    return r == 0;
}

static bool same(const struct al_buf *a, const struct al_buf *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->p, b->p, a->n) == 0);
}

/* A plan is taken as it was given. */
static void check_again(int fd, const struct al_json *made)
{
    autobuf struct al_buf request = AL_BUF_INIT(AL_DASHBOARD_MAX_REQUEST);
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)64 << 20);
    const struct al_json *plan = al_json_get(made, "plan"), *v;
    struct made m;
    struct al_jw w;
    al_jw_init(&w, &request);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "source", "f.csv");
    al_jw_kbool(&w, "planOnly", true);
    al_jw_key(&w, "spec");
    al_jw_value(&w, plan);
    al_jw_end(&w);
    MUST(make(fd, al_buf_str(&request), &m));
    MUST(m.html.n == 0 && al_json_parse(&a, al_buf_str(&m.json), &v, &m.err) == 0);
    if (!al_json_equal(plan, al_json_get(v, "plan"))) {
        fprintf(stderr, "plan:  %.*s\nagain: %.*s\n", AL_FMT(plan->raw), AL_FMT(al_json_get(v, "plan")->raw));
        abort();
    }
    made_fini(&m);
}

static void check(int fd, struct al_str request, bool whole)
{
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)64 << 20);
    const struct al_json *v;
    struct made m, again;
    bool fine = make(fd, request, &m);
    MUST(make(fd, request, &again) == fine && m.err.code == again.err.code);
    if (fine) {
        MUST(same(&m.html, &again.html) && same(&m.json, &again.json));
        MUST(al_utf8_valid(al_buf_str(&m.html)) && al_json_parse(&a, al_buf_str(&m.json), &v, &m.err) == 0);
        if (whole)
            check_again(fd, v);
    }
    made_fini(&m);
    made_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool ready;
    struct al_err err = {0};
    if (size > 1 << 16)
        return 0;
    if (!ready) {
        MUST(al_query_prepare() == 0 && al_fdvfs_register(-1, 0, &err) == 0);
        al_dashboard_prepare();
        ready = true;
    }
    struct al_str all = {(const char *)data, size}, request = all, csv = AL_STR(usual), changes = {"", 0};
    const char *zero = size ? memchr(all.p, 0, all.n) : NULL;
    if (zero) {
        request.n = (size_t)(zero - all.p);
        csv = (struct al_str){zero + 1, all.n - request.n - 1};
        const char *second = csv.n ? memchr(csv.p, 0, csv.n) : NULL;
        if (second) {
            changes = (struct al_str){second + 1, (size_t)(csv.p + csv.n - second - 1)};
            csv.n = (size_t)(second - csv.p);
        }
        if (!csv.n)
            csv = AL_STR(usual);
    }
    int fd = memfd_create("dataset", MFD_CLOEXEC);
    MUST(fd >= 0);
    if (build_dataset(fd, csv)) {
        change(fd, (const uint8_t *)changes.p, changes.n);
        check(fd, request, changes.n == 0);
    }
    close(fd);
    return 0;
}
