/*
 * What the host, the query zygote and the workers say to each other. Both ends are the same binary, so
 * structs travel as they are; what comes from a worker is a claim all the same.
 */
#ifndef AL_DATA_PROTO_H
#define AL_DATA_PROTO_H

#include "data/data.h"

/* Descriptors of a worker; no other is open there. */
#define AL_DATA_FD 3 /* its channel; of the zygote: the control socket */
#define AL_DATA_SOURCE_FD 4
#define AL_DATA_OUTPUT_FD 5
#define AL_DATA_INGEST_SPILL_FD 6
#define AL_DATA_DASHBOARD_SPILL_FD 5 /* behind its dataset, AL_DATA_QUERY_FD */
#define AL_DATA_QUERY_FD 4 /* the first dataset, the others behind it, then the spill file */

#define AL_DATA_NAME_MAX ((size_t)4096)        /* bytes of a source's name */
#define AL_DATA_OPTIONS_MAX ((size_t)64 << 10) /* bytes of options_json */
#define AL_DATA_PARAMS_MAX ((size_t)1 << 20)   /* bytes of params_json */
#define AL_DATA_SHEET_MAX ((size_t)1024)       /* bytes of a sheet's name */
#define AL_DATA_TEXT_MAX ((size_t)256 << 10)   /* bytes of a query's text */
#define AL_DATA_DETAILS_MAX ((size_t)64 << 10) /* bytes of an error's details */
#define AL_DATA_CHUNK_MAX ((size_t)64 << 10)   /* bytes of one CHUNK */
#define AL_DATA_JSON_DEPTH 64
#define AL_DATA_PROGRESS_MS 100
#define AL_DATA_DESCRIBE_MS 30000
#define AL_DATA_TIMEOUT_MAX ((uint32_t)24 * 3600 * 1000) /* ms of a query; exports may take long */

enum al_data_frame {
    /* host to worker, once */
    AL_DATA_INGEST = 1, /* struct al_data_ingest_msg and its texts */
    AL_DATA_QUERY,      /* struct al_data_query_msg and its texts */
    AL_DATA_DASHBOARD,  /* struct al_data_dashboard_msg and the request */
    /* worker to host */
    AL_DATA_PROGRESS = 32, /* u64 rows, u64 bytes; of a dashboard: struct al_data_stage_msg */
    AL_DATA_CHUNK,         /* bytes of a streamed result, of a page */
    AL_DATA_TEXT,          /* before END, each at most once */
    AL_DATA_JSON,
    AL_DATA_DETAILS,
    AL_DATA_END, /* struct al_data_end_msg, then message and hint; nothing follows */
};

struct al_data_ingest_msg {
    struct al_table_opts table;
    struct al_dataset_limits limits;
    int64_t created_ms;
    uint64_t fsize_max; /* bytes that any of its files may grow to */
    uint32_t name_n, options_n;
    uint8_t has_spill;
    uint8_t probe; /* the self-test: make a system call that the filter must refuse */
    uint8_t zero[6];
};

enum al_data_query_kind {
    AL_DATA_RUN,
    AL_DATA_DESCRIBE,
    AL_DATA_PROBE
};

struct al_data_query_msg {
    char alias[AL_QUERY_MAX_DATASETS][64];
    uint64_t max_rows;
    uint32_t n_datasets, timeout_ms, format, kind;
    uint32_t sql_n, params_n; /* of a description: sql is the sheet */
    int32_t sample_rows;
    uint8_t exact;
    uint8_t zero[3];
};

struct al_data_dashboard_msg {
    uint32_t request_n;
    uint8_t has_spill;
    uint8_t probe; /* as of an ingest */
    uint8_t zero[2];
};

struct al_data_stage_msg {
    uint64_t done, total;
    char stage[16]; /* with its zero */
};

struct al_data_end_msg {
    uint64_t rows, bytes; /* of an ingest */
    char sha256[65];
    char zero[3];
    uint32_t code; /* enum al_code */
    uint32_t message_n, hint_n;
};

/* On the control socket (SOCK_SEQPACKET): one request a process, with its channel and its page. */
struct al_data_request {
    uint64_t seq; /* from 1 */
};

/* The first message on a query's channel, with the datasets' descriptors and the spill file's. */
struct al_data_hello {
    uint32_t n_datasets;
    uint32_t has_spill;
};

enum al_data_reply_kind {
    AL_DATA_READY = 1, /* the zygote is sealed */
    AL_DATA_FAILED,    /* it is not; text says why */
    AL_DATA_FORKED,    /* seq and pid of a process, or pid < 0: -errno */
};

struct al_data_reply {
    uint32_t kind;
    uint32_t zero;
    uint64_t seq;
    int64_t pid;
    char text[200];
};

/* Shared between the host and a process, so that it is known when its zygote dies before it can tell. */
struct al_data_page {
    int32_t pid; /* written by the kernel when there is a process */
    int32_t zero;
};

/* Exit status of a worker that had no memory left. */
#define AL_DATA_EXIT_MEMORY 9

#endif
