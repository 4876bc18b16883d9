/*
 * The process of one dashboard: a fresh exec of this binary with an empty environment, its channel, the
 * dataset and a spill file. It loads what formats numbers and dates, is sealed, and only then looks at the
 * request and at the first byte of the dataset.
 */
#include "base/ident.h"
#include "data/sealed.h"
#include "db/fdvfs.h"
#include "os/spawn.h"
#include "sandbox/seccomp.h"
#include "wire/frame.h"

#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

/* Beyond SQLite's heap: the arena of a build, the groups of its scan, the page and its JSON. */
#define WORK_BYTES ((uint64_t)320 << 20)

struct dashboard {
    struct al_data_dashboard_msg m;
    struct al_buf text;
    struct al_str request;
    struct al_buf html, json;
};

static bool take_request(struct dashboard *b)
{
    uint8_t type;
    al_buf_init(&b->text, sizeof b->m + AL_DASHBOARD_MAX_REQUEST);
    if (al_frame_read_fd(AL_DATA_FD, b->text.max, &b->text, &type) <= 0 || type != AL_DATA_DASHBOARD ||
        b->text.n < sizeof b->m)
        return false;
    memcpy(&b->m, b->text.p, sizeof b->m);
    if (b->m.request_n != b->text.n - sizeof b->m)
        return false;
    b->request = (struct al_str){b->text.p + sizeof b->m, b->m.request_n};
    return true;
}

static int prepare(const struct dashboard *b, struct al_err *err)
{
    uint64_t seed;
    al_random(&seed, sizeof seed);
    if (al_query_prepare() < 0)
        return al_fail(err, AL_ENGINE_UNAVAILABLE, "SQLite does not start");
    al_dashboard_prepare();
    if (al_fdvfs_register(b->m.has_spill ? AL_DATA_DASHBOARD_SPILL_FD : -1, AL_QUERY_SPILL, err) < 0)
        return -1;
    al_fdvfs_seed(seed);
    return 0;
}

static int seal(struct al_err *err)
{
    struct sock_fprog *prog;
    if (al_seal_build(AL_SEAL_QUERY, &prog, err) < 0)
        return -1;
    uint64_t more = (uint64_t)AL_QUERY_HEAP + WORK_BYTES;
    al_sealed_limit_space(al_own_bytes("VmSize:", (uint64_t)1 << 30), more);
    al_sealed_limit(al_own_bytes("VmData:", (uint64_t)64 << 20) + more, AL_QUERY_SPILL,
                    AL_DATA_DASHBOARD_SPILL_FD + 1);
#ifndef AL_ASAN
    for (int fd = 0; fd < AL_DATA_FD; fd++)
        close(fd);
#endif
    int r = al_seal_load(prog);
    return r < 0 ? al_fail_errno(err, AL_ENGINE_UNAVAILABLE, -r, "the kernel refuses the filter") : 0;
}

static void progress(void *ud, const char *stage, uint64_t done, uint64_t total)
{
    static const char *last;
    static uint64_t told_ms;
    struct al_data_stage_msg m = {.done = done, .total = total};
    uint64_t now = al_mono_ms();
    (void)ud;
    if (stage == last && now - told_ms < AL_DATA_PROGRESS_MS)
        return;
    last = stage;
    told_ms = now;
    snprintf(m.stage, sizeof m.stage, "%s", stage);
    al_sealed_send(AL_DATA_PROGRESS, (struct al_str){(const char *)&m, sizeof m});
}

static int build(struct dashboard *b, struct al_err *err)
{
    struct al_query q = {.datasets = {{.fd = AL_DATA_QUERY_FD}}, .n_datasets = 1};
    struct al_dashboard_out out = {.html = &b->html, .json = &b->json, .progress = progress};
    sqlite3 *db = NULL;
    if (al_query_open(&q, &db, err) < 0)
        return -1;
    return al_dashboard_build(db, b->request, &out, err);
}

static void send_page(struct al_str bytes)
{
    while (bytes.n) {
        size_t n = bytes.n < AL_DATA_CHUNK_MAX ? bytes.n : AL_DATA_CHUNK_MAX;
        al_sealed_send(AL_DATA_CHUNK, (struct al_str){bytes.p, n});
        bytes = (struct al_str){bytes.p + n, bytes.n - n};
    }
}

/* argv: alisio __data-dashboard HOST-PID [TZ]   descriptors: proto.h */
int al_data_dashboard_main(int argc, char **argv)
{
    struct dashboard b = {0};
    struct al_err err = {0};
    pid_t host;
    if (!al_sealed_begin(argc, argv, &host) || !take_request(&b))
        return 2;
    al_buf_init(&b.html, AL_DASHBOARD_MAX_HTML);
    al_buf_init(&b.json, AL_DASHBOARD_MAX_JSON);
    if (prepare(&b, &err) < 0 || seal(&err) < 0)
        al_sealed_end(&err, 0, 0, NULL);
    if (b.m.probe)
        al_sealed_probe();
    if (build(&b, &err) < 0)
        al_sealed_end(&err, 0, 0, NULL);
    send_page(al_buf_str(&b.html));
    al_sealed_send(AL_DATA_JSON, al_buf_str(&b.json));
    al_sealed_end(NULL, 0, 0, NULL);
}
