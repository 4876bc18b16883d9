/*
 * The query zygote: a fresh exec of this binary with an empty environment and one descriptor. It prepares
 * SQLite, seals itself, and from then on does one thing: it turns a request into a process, whose parent is
 * the host.
 */
#include "base/ident.h"
#include "base/mem.h"
#include "data/sealed.h"
#include "db/fdvfs.h"
#include "os/fd.h"
#include "os/spawn.h"
#include "sandbox/seccomp.h"
#include "wire/frame.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Beyond SQLite's heap: the query's texts, its result and the JSON of it. */
#define SLACK_BYTES ((uint64_t)24 << 20)

static struct sock_fprog *seal_zygote, *seal_query;
static uint64_t data_bytes, space_bytes; /* of the zygote itself */
static pid_t host_pid;

static void say(const struct al_data_reply *m)
{
    while (write(AL_DATA_FD, m, sizeof *m) < 0 && errno == EINTR)
        ;
}

_Noreturn static void fail(const char *why)
{
    struct al_data_reply m = {.kind = AL_DATA_FAILED};
    snprintf(m.text, sizeof m.text, "%.*s", (int)sizeof m.text - 1, why);
    say(&m);
    _exit(1);
}

/* -- the process of a query, once it is sealed */

struct query {
    struct al_data_query_msg m;
    struct al_query q;
    struct al_buf texts, text, json, details;
};

static bool take_query(struct query *in, const struct al_data_hello *hello)
{
    uint8_t type;
    al_buf_init(&in->texts, sizeof in->m + AL_QUERY_MAX_SQL + AL_DATA_PARAMS_MAX);
    if (al_frame_read_fd(AL_DATA_FD, in->texts.max, &in->texts, &type) <= 0 || type != AL_DATA_QUERY ||
        in->texts.n < sizeof in->m)
        return false;
    memcpy(&in->m, in->texts.p, sizeof in->m);
    if (in->m.n_datasets != hello->n_datasets || in->m.sql_n > AL_QUERY_MAX_SQL ||
        in->m.params_n > AL_DATA_PARAMS_MAX || in->texts.n != sizeof in->m + in->m.sql_n + in->m.params_n)
        return false;
    in->q = (struct al_query){
        .n_datasets = in->m.n_datasets,
        .sql = {in->texts.p + sizeof in->m, in->m.sql_n},
        .params_json = {in->texts.p + sizeof in->m + in->m.sql_n, in->m.params_n},
        .max_rows = in->m.max_rows,
        .timeout_ms = in->m.timeout_ms,
        .format = (enum al_query_format)in->m.format,
        .exact = in->m.exact,
    };
    for (size_t i = 0; i < in->q.n_datasets; i++) {
        memcpy(in->q.datasets[i].alias, in->m.alias[i], sizeof in->m.alias[i]);
        in->q.datasets[i].fd = AL_DATA_QUERY_FD + (int)i;
    }
    return true;
}

static bool send_chunk(void *ud, struct al_str bytes)
{
    (void)ud;
    while (bytes.n) {
        size_t n = bytes.n < AL_DATA_CHUNK_MAX ? bytes.n : AL_DATA_CHUNK_MAX;
        al_sealed_send(AL_DATA_CHUNK, (struct al_str){bytes.p, n});
        bytes = (struct al_str){bytes.p + n, bytes.n - n};
    }
    return true;
}

/* A dataset file is untrusted for ever: what its schema says is not run. */
static int describe(struct query *in, struct al_err *err)
{
    static const char *const keep[] = {NULL};
    char name[16];
    sqlite3 *db = NULL;
    snprintf(name, sizeof name, "fd:%d", AL_DATA_QUERY_FD);
    int rc = sqlite3_open_v2(name, &db, SQLITE_OPEN_READONLY, "alfd");
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (rc == SQLITE_OK) /* its tables may be virtual ones */
        rc = sqlite3_drop_modules(db, (const char **)(uintptr_t)keep);
    if (rc != SQLITE_OK)
        return al_fail(err, AL_INTERNAL, "the dataset cannot be opened: %s", sqlite3_errstr(rc));
    return al_dataset_describe(db, in->q.sql, in->m.sample_rows, &in->json, err);
}

static void send_part(uint8_t type, const struct al_buf *b)
{
    if (b->n)
        al_sealed_hold(type, al_buf_str(b));
}

_Noreturn static void run_query(const struct al_data_hello *hello)
{
    struct query in = {0};
    struct al_err err = {0};
    if (!take_query(&in, hello))
        _exit(2);
    al_buf_init(&in.text, AL_DATA_TEXT_MAX);
    al_buf_init(&in.json, AL_DATA_MAX_JSON);
    al_buf_init(&in.details, AL_DATA_DETAILS_MAX);
    struct al_query_out out = {.chunk = send_chunk, .text = &in.text, .json = &in.json};
    if (in.m.kind == AL_DATA_PROBE)
        al_sealed_probe();
    int r =
        in.m.kind == AL_DATA_DESCRIBE ? describe(&in, &err) : al_query_run(&in.q, &out, &in.details, &err);
    if (r < 0) {
        send_part(AL_DATA_DETAILS, &in.details);
        al_sealed_end(&err, 0, 0, NULL);
    }
    send_part(AL_DATA_TEXT, &in.text);
    send_part(AL_DATA_JSON, &in.json);
    al_sealed_end(NULL, 0, 0, NULL);
}

/* -- a new process: nothing of the zygote's but its memory */

/* The descriptors come in order, behind those that are open: where they are expected. */
static bool receive_files(struct al_data_hello *hello, int *ret_spill)
{
    int fds[AL_QUERY_MAX_DATASETS + 1];
    int n = al_fd_receive(AL_DATA_FD, hello, sizeof *hello, fds, AL_QUERY_MAX_DATASETS + 1);
    if (n < 0 || hello->n_datasets > AL_QUERY_MAX_DATASETS || hello->has_spill > 1 ||
        (uint32_t)n != hello->n_datasets + hello->has_spill)
        return false;
    for (int i = 0; i < n; i++) {
        if (fds[i] != AL_DATA_QUERY_FD + i)
            return false;
    }
    *ret_spill = hello->has_spill ? fds[n - 1] : -1;
    return true;
}

/* Copies of the pages that a query writes to first are made while there is nobody to wait for them. */
static void rehearse(void)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY,
                        NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "SELECT count(*), max(name) FROM sqlite_schema ORDER BY 1", -1, &st, NULL) ==
            SQLITE_OK)
        (void)sqlite3_step(st);
    sqlite3_finalize(st);
    sqlite3_close(db);
}

/*
 * It may be forked ahead and wait here for its query. It has not met a byte of anybody's data before its
 * filter is loaded.
 */
_Noreturn static void become_query(int channel, struct al_data_page *page)
{
    struct al_data_hello hello;
    struct al_err err = {0};
    uint64_t seed;
    int spill;
    /* The parent is the host. Had it died before the first call, no signal would ever come. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != host_pid)
        _exit(1);
    if (dup3(channel, AL_DATA_FD, 0) < 0 || close_range(AL_DATA_FD + 1, ~0u, 0) < 0 ||
        munmap(page, sizeof *page) < 0)
        _exit(1);
    al_random(&seed, sizeof seed);
    uint64_t more = (uint64_t)AL_QUERY_HEAP + SLACK_BYTES;
    al_sealed_limit_space(space_bytes, more);
    al_sealed_limit(data_bytes + more, AL_QUERY_SPILL, AL_DATA_QUERY_FD + AL_QUERY_MAX_DATASETS + 1);
    if (al_fdvfs_register(-1, 0, &err) < 0)
        al_sealed_end(&err, 0, 0, NULL);
    al_fdvfs_seed(seed);
    rehearse();
    if (!receive_files(&hello, &spill))
        _exit(1);
    if (al_fdvfs_register(spill, AL_QUERY_SPILL, &err) < 0)
        al_sealed_end(&err, 0, 0, NULL);
#ifndef AL_ASAN
    if (close_range(0, AL_DATA_FD - 1, 0) < 0)
        _exit(1);
#endif
    if (al_seal_load(seal_query) < 0)
        _exit(1);
    run_query(&hello);
}

static void fork_query(const struct al_data_request *req, int channel, int page)
{
    struct al_data_reply m = {.kind = AL_DATA_FORKED, .seq = req->seq};
    struct al_data_page *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
    if (shared == MAP_FAILED) {
        m.pid = -errno;
    } else {
        m.pid = al_clone(CLONE_PARENT, &shared->pid);
        if (m.pid == 0)
            become_query(channel, shared);
        munmap(shared, sizeof *shared);
    }
    say(&m);
}

static void build(void)
{
    char why[200];
    struct al_err err = {0};
    if (al_query_prepare() < 0)
        fail("SQLite does not start");
    if (al_seal_build(AL_SEAL_QUERY_ZYGOTE, &seal_zygote, &err) < 0 ||
        al_seal_build(AL_SEAL_QUERY, &seal_query, &err) < 0)
        fail(err.msg);
    data_bytes = al_own_bytes("VmData:", (uint64_t)64 << 20);
    space_bytes = al_own_bytes("VmSize:", (uint64_t)1 << 30);
    int r = al_seal_load(seal_zygote);
    if (r < 0) {
        snprintf(why, sizeof why, "the kernel refuses the filter: error %d", -r);
        fail(why);
    }
}

/* argv: alisio __data-zygote HOST-PID [TZ]   descriptor 3: control socket */
int al_data_zygote_main(int argc, char **argv)
{
    struct al_data_request req;
    int fds[2];
    if (!al_sealed_begin(argc, argv, &host_pid))
        return 2;
    build();
    say(&(struct al_data_reply){.kind = AL_DATA_READY});
    while (al_fd_receive(AL_DATA_FD, &req, sizeof req, fds, 2) == 2) {
        fork_query(&req, fds[0], fds[1]);
        close(fds[0]);
        close(fds[1]);
    }
    _exit(0);
}
