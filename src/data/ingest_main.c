/*
 * The process of one ingest: a fresh exec of this binary with an empty environment, its channel and its
 * files. It loads what it needs, starts its second thread, seals both, and only then looks at the first byte
 * of the file.
 */
#include "base/fdstat.h"
#include "base/ident.h"
#include "data/sealed.h"
#include "db/fdvfs.h"
#include "os/spawn.h"
#include "sandbox/seccomp.h"
#include "wire/frame.h"

#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#define WORK_BYTES ((uint64_t)64 << 20) /* readers, builder, page cache */
#define SLACK_BYTES ((uint64_t)96 << 20)

struct ingest {
    struct al_data_ingest_msg m;
    struct al_str name, options;
    struct al_buf texts;
    sqlite3 *db;
    struct al_builder *builder;
    uint64_t told_ms;
};

static bool take_spec(struct ingest *in)
{
    uint8_t type;
    al_buf_init(&in->texts, sizeof in->m + AL_DATA_NAME_MAX + AL_DATA_OPTIONS_MAX);
    if (al_frame_read_fd(AL_DATA_FD, in->texts.max, &in->texts, &type) <= 0 || type != AL_DATA_INGEST ||
        in->texts.n < sizeof in->m)
        return false;
    memcpy(&in->m, in->texts.p, sizeof in->m);
    if (in->m.name_n > AL_DATA_NAME_MAX || in->m.options_n > AL_DATA_OPTIONS_MAX ||
        in->texts.n != sizeof in->m + in->m.name_n + in->m.options_n)
        return false;
    in->name = (struct al_str){in->texts.p + sizeof in->m, in->m.name_n};
    in->options = (struct al_str){in->name.p + in->name.n, in->m.options_n};
    return true;
}

static int open_output(struct ingest *in, struct al_err *err)
{
    char name[16];
    uint64_t seed;
    al_random(&seed, sizeof seed);
    if (al_fdvfs_register(in->m.has_spill ? AL_DATA_INGEST_SPILL_FD : -1, in->m.fsize_max, err) < 0)
        return -1;
    al_fdvfs_seed(seed);
    snprintf(name, sizeof name, "fd:%d", AL_DATA_OUTPUT_FD);
    int rc = sqlite3_open_v2(name, &in->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "alfd");
    if (rc != SQLITE_OK)
        return al_fail(err, AL_INTERNAL, "the dataset's file cannot be opened: %s", sqlite3_errstr(rc));
    return al_builder_new(in->db, &in->m.limits, &in->builder, err);
}

static int seal(const struct ingest *in, struct al_err *err)
{
    struct sock_fprog *prog;
    if (al_seal_build(AL_SEAL_INGEST, &prog, err) < 0)
        return -1;
    uint64_t more = WORK_BYTES + in->m.limits.stats_bytes + SLACK_BYTES;
    al_sealed_limit_space(al_own_bytes("VmSize:", (uint64_t)1 << 30), more);
    al_sealed_limit(al_own_bytes("VmData:", (uint64_t)64 << 20) + more, in->m.fsize_max,
                    AL_DATA_INGEST_SPILL_FD + 1);
#ifndef AL_ASAN
    for (int fd = 0; fd < AL_DATA_FD; fd++)
        close(fd);
#endif
    int r = al_seal_load_threads(prog);
    return r < 0 ? al_fail_errno(err, AL_ENGINE_UNAVAILABLE, -r, "the kernel refuses the filter") : 0;
}

static bool progress(void *ud, uint64_t rows, uint64_t bytes)
{
    struct ingest *in = ud;
    uint64_t now = al_mono_ms(), both[2] = {rows, bytes};
    if (now - in->told_ms >= AL_DATA_PROGRESS_MS) {
        in->told_ms = now;
        al_sealed_send(AL_DATA_PROGRESS, (struct al_str){(const char *)both, sizeof both});
    }
    return true;
}

static int64_t count_rows(sqlite3 *db)
{
    sqlite3_stmt *s = NULL;
    int64_t n = 0;
    if (sqlite3_prepare_v2(db, "SELECT total(rows) FROM _alisio_sheets", -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW)
        n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return n;
}

static int read_it(struct ingest *in, char sha256[65], struct al_err *err)
{
    struct al_table_found found = {0};
    const struct al_table_sink *sink = al_builder_sink(in->builder, progress, in);
    if (al_table_read(AL_DATA_SOURCE_FD, in->name, &in->m.table, sink, &found, sha256, err) < 0)
        return -1;
    struct al_dataset_source src = {.name = in->name,
                                    .sha256 = sha256,
                                    .found = &found,
                                    .options_json = in->options,
                                    .created_ms = in->m.created_ms};
    return al_builder_finish(in->builder, &src, err);
}

/* argv: alisio __data-ingest HOST-PID [TZ]   descriptors: proto.h */
int al_data_ingest_main(int argc, char **argv)
{
    struct ingest in = {0};
    struct al_err err = {0};
    struct al_buf json = AL_BUF_INIT(AL_DATA_MAX_JSON);
    struct stat st = {0};
    char sha256[65] = {0};
    pid_t host;
    if (!al_sealed_begin(argc, argv, &host) || !take_spec(&in))
        return 2;
    al_table_prepare();
    if (open_output(&in, &err) < 0 || seal(&in, &err) < 0)
        al_sealed_end(&err, 0, 0, NULL);
    if (in.m.probe)
        al_sealed_probe();
    if (read_it(&in, sha256, &err) < 0 || al_dataset_describe(in.db, AL_STR(""), 0, &json, &err) < 0)
        al_sealed_end(&err, 0, 0, NULL);
    int64_t rows = count_rows(in.db);
    if (al_fstat(AL_DATA_OUTPUT_FD, &st) < 0)
        return 2;
    al_sealed_send(AL_DATA_JSON, al_buf_str(&json));
    al_sealed_end(NULL, (uint64_t)rows, (uint64_t)st.st_size, sha256);
}
