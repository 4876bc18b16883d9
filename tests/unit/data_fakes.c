#include "data_fakes.h"

#include "query/query.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void fake_say(const char *what, long a, long b)
{
    struct al_err err = {0};
    al_fail(&err, AL_INVALID_INPUT, "%s %ld %ld", what, a, b);
    al_sealed_end(&err, 0, 0, NULL);
}

void fake_raw(const void *p, size_t n)
{
    for (const char *at = p; n > 0;) {
        ssize_t r = write(AL_DATA_FD, at, n);
        if (r <= 0)
            _exit(0);
        at += r;
        n -= (size_t)r;
    }
}

void fake_frame(uint8_t type, const void *p, size_t n)
{
    al_sealed_send(type, (struct al_str){p, n});
}

/* -- queries */

int al_query_prepare(void)
{
    return 0;
}

int al_query_run(const struct al_query *q, struct al_query_out *out, struct al_buf *details,
                 struct al_err *err)
{
    (void)details;
    (void)err;
    fake_deed(q->sql, false);
    al_buf_adds(out->text, "an answer");
    al_buf_addf(out->json, "{\"sql\":%zu}", q->sql.n);
    return 0;
}

int al_query_open(const struct al_query *q, struct sqlite3 **ret, struct al_err *err)
{
    (void)q;
    (void)ret;
    (void)err;
    return 0;
}

/* -- dashboards */

void al_dashboard_prepare(void) {}

int al_dashboard_build(struct sqlite3 *db, struct al_str request, struct al_dashboard_out *out,
                       struct al_err *err)
{
    (void)db;
    (void)err;
    out->progress(out->ud, "analysing", 0, 9);
    fake_deed(request, false);
    al_buf_adds(out->html, "a page");
    al_buf_addf(out->json, "{\"request\":%zu}", request.n);
    return 0;
}

/* -- ingests, with their second thread */

static pthread_t thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct al_str deed;
static bool leaves;

static void *second(void *ud)
{
    (void)ud;
    pthread_mutex_lock(&lock);
    while (!leaves && !deed.n)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    if (deed.n)
        fake_thread_deed(deed);
    return NULL;
}

void al_table_prepare(void) {}

int al_builder_new(struct sqlite3 *db, const struct al_dataset_limits *limits, struct al_builder **ret,
                   struct al_err *err)
{
    (void)db;
    (void)limits;
    (void)err;
    *ret = NULL;
    return pthread_create(&thread, NULL, second, NULL) ? -1 : 0;
}

const struct al_table_sink *al_builder_sink(struct al_builder *b,
                                            bool (*progress)(void *, uint64_t, uint64_t), void *ud)
{
    (void)b;
    (void)progress;
    (void)ud;
    return NULL;
}

int al_builder_finish(struct al_builder *b, const struct al_dataset_source *src, struct al_err *err)
{
    (void)b;
    (void)src;
    (void)err;
    return 0;
}

void al_builder_free(struct al_builder *b)
{
    (void)b;
}

int al_dataset_describe(struct sqlite3 *db, struct al_str sheet, int sample_rows, struct al_buf *out,
                        struct al_err *err)
{
    (void)db;
    (void)err;
    fake_deed(sheet, false);
    al_buf_addf(out, "{\"rows\":%d}", sample_rows);
    return 0;
}

int al_table_read(int fd, struct al_str name, const struct al_table_opts *opts,
                  const struct al_table_sink *sink, struct al_table_found *ret, char sha256[65],
                  struct al_err *err)
{
    static char text[4096];
    (void)name;
    (void)opts;
    (void)sink;
    (void)ret;
    (void)err;
    ssize_t n = pread(fd, text, sizeof text, 0);
    struct al_str what = {text, n > 0 ? (size_t)n : 0};
    snprintf(sha256, 65, "%064d", 7);
    if (al_str_starts(what, "thread ")) {
        pthread_mutex_lock(&lock);
        deed = (struct al_str){what.p + 7, what.n - 7};
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
        pthread_join(thread, NULL);
    } else {
        fake_deed(what, true);
    }
    return 0;
}
