/* Jobs with a process of their own, exec'ed for it: who waits, who runs, until when, how each ends. */
#include "base/ident.h"
#include "base/mem.h"
#include "data/data_int.h"
#include "os/fd.h"

#include <unistd.h>

#define PROGRESS_FREE 64 /* frames that may come at any time; beyond, one each 50 ms */

static void start_waiting(struct al_jobs *l);

static void link_job(struct al_job *j, struct al_job **at)
{
    j->link = at;
    j->next = *at;
    if (j->next)
        j->next->link = &j->next;
    *at = j;
}

static void unlink_job(struct al_job *j)
{
    *j->link = j->next;
    if (j->next)
        j->next->link = j->link;
}

static void free_job(struct al_job *j)
{
    al_timer_stop(j->end_timer);
    al_timer_stop(j->clock);
    if (j->begun)
        al_worker_close(&j->w);
    for (size_t i = 0; i < j->n_fds; i++)
        al_close(&j->fds[i]);
    al_buf_free(&j->frame);
    al_buf_free(&j->json);
    j->kind->free(j);
}

/* -- the end */

static void tell_end(struct al_job *j, struct al_err *err)
{
    j->kind->end(j, err);
    free_job(j);
}

static void over(void *ud)
{
    struct al_job *j = ud;
    struct al_jobs *l = j->list;
    struct al_err err = {0};
    if (j->w.cause != AL_CAUSE_NONE || !j->w.ended)
        al_worker_why(&j->w, j->kind->what, &err);
    else
        err = j->said.err;
    unlink_job(j);
    l->n_running--;
    start_waiting(l);
    tell_end(j, &err);
}

static void end_early(void *ud)
{
    struct al_job *j = ud;
    j->end_timer = NULL;
    unlink_job(j);
    tell_end(j, &j->early);
}

/* It has no process, and ends in another turn. */
static void ends_early(struct al_job *j)
{
    link_job(j, &j->list->running);
    j->end_timer = al_timer_start(j->data->loop, 0, end_early, j);
}

/* -- what it says */

enum al_job_told al_job_progress(struct al_job *j)
{
    uint64_t now = al_mono_ms();
    if (j->n_progress++ > (now - j->begun_ms) / 50 + PROGRESS_FREE)
        return AL_JOB_LIE;
    if (now - j->told_ms < AL_DATA_PROGRESS_MS)
        return AL_JOB_SOON;
    j->told_ms = now;
    return AL_JOB_TELL;
}

static void take_frame(void *ud, const struct al_frame *f)
{
    struct al_job *j = ud;
    bool fine;
    switch (f->type) {
    case AL_DATA_JSON:
        fine =
            f->payload.n && f->payload.p[0] == '{' && al_said_part(&j->json, f->payload, AL_DATA_JSON_DEPTH);
        break;
    case AL_DATA_END:
        fine = al_said_end(f->payload, j->kind->said, &j->said);
        if (fine)
            al_worker_ended(&j->w);
        break;
    default:
        fine = j->kind->frame(j, f);
    }
    if (!fine)
        al_worker_lie(&j->w, "a message that is none");
}

/* -- the beginning */

static void out_of_time(void *ud)
{
    struct al_job *j = ud;
    j->clock = NULL;
    al_worker_kill(&j->w, AL_CAUSE_TIMEOUT, "");
}

/* Gives it a process. */
static int run_job(struct al_job *j, struct al_err *err)
{
    struct al_fd_map map[AL_JOB_FDS + 2];
    size_t n = 0;
    pid_t pid;
    int pidfd;
    if (al_worker_open(&j->w, j->data->loop, err) < 0)
        return -1;
    j->begun = true;
    j->w.frame = take_frame;
    j->w.over = over;
    j->w.ud = j;
    autofd int spill = al_data_spill(j->data);
    map[n++] = (struct al_fd_map){j->w.child_channel, AL_DATA_FD};
    for (size_t i = 0; i < j->n_fds; i++, n++)
        map[n] = (struct al_fd_map){j->fds[i], AL_DATA_FD + (int)n};
    if (spill >= 0) {
        map[n] = (struct al_fd_map){spill, AL_DATA_FD + (int)n};
        n++;
    }
    j->frame.p[AL_FRAME_HEADER + j->kind->spill_at] = spill >= 0;
    if (al_data_exec(j->kind->verb, map, n, &pid, &pidfd, err) < 0 ||
        al_worker_begin(&j->w, pid, pidfd, err) < 0)
        return -1;
    al_close(&j->w.child_channel);
    j->begun_ms = al_mono_ms();
    j->clock = al_timer_start(j->data->loop, j->timeout_ms, out_of_time, j);
    al_worker_send(&j->w, al_buf_str(&j->frame));
    al_buf_free(&j->frame);
    link_job(j, &j->list->running);
    j->list->n_running++;
    return 0;
}

static void start_waiting(struct al_jobs *l)
{
    while (l->waiting && l->n_running < l->waiting->kind->max) {
        struct al_job *j = l->waiting;
        unlink_job(j);
        l->n_waiting--;
        if (run_job(j, &j->early) < 0)
            ends_early(j);
    }
}

void al_job_init(struct al_job *j, const struct al_job_kind *kind, struct al_data *d, struct al_jobs *list)
{
    j->kind = kind;
    j->data = d;
    j->list = list;
    al_buf_init(&j->json, kind->max_json);
}

int al_job_room(const struct al_jobs *l, const struct al_job_kind *kind, struct al_err *err)
{
    if (l->n_running < kind->max || l->n_waiting < AL_DATA_WAITING_MAX)
        return 0;
    al_fail(err, AL_BUSY, "%u %s and %d wait already", kind->max, kind->many, AL_DATA_WAITING_MAX);
    return al_hint(err, "try again when some of them have ended");
}

void al_job_frame(struct al_job *j, uint8_t type, const void *msg, size_t n, struct al_str a, struct al_str b)
{
    autobuf struct al_buf all = AL_BUF_INIT(n + a.n + b.n);
    al_buf_add(&all, msg, n);
    al_buf_add_str(&all, a);
    al_buf_add_str(&all, b);
    al_buf_init(&j->frame, AL_FRAME_HEADER + all.n);
    (void)al_frame_put(&j->frame, type, al_buf_str(&all)); /* it has just that much room */
}

int al_job_start(struct al_job *j, struct al_err *err)
{
    if (j->list->n_running < j->kind->max) {
        if (run_job(j, err) == 0)
            return 0;
        free_job(j);
        return -1;
    }
    struct al_job **last = &j->list->waiting;
    while (*last)
        last = &(*last)->next;
    link_job(j, last);
    j->list->n_waiting++;
    return 0;
}

void al_job_drop(struct al_job *j)
{
    free_job(j);
}

void al_job_cancel(struct al_job *j)
{
    if (j->end_timer)
        return;
    if (j->begun) {
        al_worker_kill(&j->w, AL_CAUSE_CANCELLED, "");
        return;
    }
    unlink_job(j);
    j->list->n_waiting--;
    al_fail(&j->early, AL_CANCELLED, "%s was cancelled", j->kind->what);
    ends_early(j);
}

static void free_all(struct al_job **list)
{
    for (struct al_job *j; (j = *list);) {
        unlink_job(j);
        free_job(j);
    }
}

void al_jobs_free(struct al_jobs *l)
{
    free_all(&l->running);
    free_all(&l->waiting);
    l->n_running = l->n_waiting = 0;
}
