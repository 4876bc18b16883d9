#include "dataset/builder_int.h"

#include "base/mem.h"

#define THREAD_STACK ((size_t)1 << 20)

void al_ring_columns(struct al_ring *r, struct al_stats *stats, size_t n, uint64_t rows_before)
{
    if (r->current != stats) {
        r->current = stats;
        r->known = 0;
    }
    for (; r->known < n; r->known++) {
        size_t i = al_stats_column(stats);
        if (rows_before)
            al_stats_nulls(stats, i, rows_before);
    }
}

/* Column by column: what the statistics keep of one stays in the cache meanwhile. */
static void count(struct al_ring *r, const struct al_batch *batch)
{
    al_ring_columns(r, batch->stats, batch->n_columns, batch->rows_before);
    struct al_value v = {0};
    for (size_t i = 0; i < batch->n_columns; i++) {
        const struct al_bcell *c = batch->cells + i;
        if (!batch->alone) {
            al_stats_add_cells(batch->stats, i, c, batch->n_columns, batch->n_rows);
            continue;
        }
        al_bcell_value(c, &v);
        al_stats_add(batch->stats, i, &v, c->scale);
    }
}

static void *thread_main(void *arg)
{
    struct al_ring *r = arg;
    pthread_mutex_lock(&r->lock);
    for (;;) {
        while (r->given == r->done && !r->stop)
            pthread_cond_wait(&r->changed, &r->lock);
        if (r->stop)
            break;
        const struct al_batch *batch = &r->slot[r->done % AL_BATCH_SLOTS];
        pthread_mutex_unlock(&r->lock);
        count(r, batch);
        pthread_mutex_lock(&r->lock);
        r->done++;
        pthread_cond_broadcast(&r->changed);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

int al_ring_start(struct al_ring *r, struct al_err *err)
{
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    for (size_t i = 0; i < AL_BATCH_SLOTS; i++) {
        r->slot[i].cells = al_xmalloc(AL_BATCH_CELLS * sizeof *r->slot[i].cells);
        r->slot[i].text = al_xmalloc(AL_BATCH_TEXT + AL_BATCH_PAD);
    }
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, THREAD_STACK);
    int eno = pthread_create(&r->thread, &attr, thread_main, r);
    pthread_attr_destroy(&attr);
    if (eno)
        return al_fail_errno(err, AL_INTERNAL, eno, "the thread for statistics did not start");
    r->started = true;
    return 0;
}

void al_ring_stop(struct al_ring *r)
{
    if (r->started) {
        pthread_mutex_lock(&r->lock);
        r->stop = true;
        pthread_cond_broadcast(&r->changed);
        pthread_mutex_unlock(&r->lock);
        pthread_join(r->thread, NULL);
        r->started = false;
    }
    for (size_t i = 0; i < AL_BATCH_SLOTS; i++) {
        free(r->slot[i].cells);
        free(r->slot[i].text);
    }
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->changed);
}

struct al_batch *al_ring_slot(struct al_ring *r)
{
    pthread_mutex_lock(&r->lock);
    while (r->given - r->done >= AL_BATCH_SLOTS)
        pthread_cond_wait(&r->changed, &r->lock);
    struct al_batch *batch = &r->slot[r->given % AL_BATCH_SLOTS];
    pthread_mutex_unlock(&r->lock);
    batch->n_text = batch->n_rows = batch->n_columns = 0;
    batch->alone = false;
    return batch;
}

void al_ring_give(struct al_ring *r)
{
    pthread_mutex_lock(&r->lock);
    r->given++;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

void al_ring_drain(struct al_ring *r)
{
    pthread_mutex_lock(&r->lock);
    while (r->given != r->done)
        pthread_cond_wait(&r->changed, &r->lock);
    pthread_mutex_unlock(&r->lock);
}
