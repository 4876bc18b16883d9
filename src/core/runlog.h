/* What a run says while it runs, on its way into the journal: the first at once, what follows many at a time.
 * Whoever follows the run (`alisio runs logs -f`) reads it there. */
#ifndef AL_CORE_RUNLOG_H
#define AL_CORE_RUNLOG_H

#include "base/buf.h"
#include "loop/loop.h"
#include "store/store.h"

/* Part of a run; begun by al_runlog_init. A row that cannot be written after the start does not stop a run: it is
 * logged, and doctor shows the state's trouble. */
struct al_runlog {
    struct al_loop *loop;   /* borrowed, as the next two */
    struct al_store *store;
    const char *id;         /* of the run */
    /* Writes what else waits of the run, within the same transaction. NULL: there is no such thing. */
    void (*rows)(void *ud);
    void *ud;

    bool start_due; /* the journal does not yet say that it runs */
    bool rows_due;
    int64_t pid;
    struct al_buf prints;   /* text that the journal has not yet */
    struct al_buf progress; /* the last */
    struct al_timer *timer;
    uint64_t at_ms;
};

/* max_prints: of what waits at once, in bytes. */
void al_runlog_init(struct al_runlog *l, struct al_loop *loop, struct al_store *store, const char *id, size_t max_prints);
void al_runlog_free(struct al_runlog *l); /* drops what waits */
void al_runlog_started(struct al_runlog *l, int64_t pid);
void al_runlog_print(struct al_runlog *l, struct al_str text); /* whole characters; a line with its end, or a part of one */
/* Of progress that comes faster than the journal writes, the last counts. */
void al_runlog_progress(struct al_runlog *l, struct al_str json);
void al_runlog_rows_soon(struct al_runlog *l); /* calls rows() within 10 ms */
void al_runlog_flush(struct al_runlog *l);
/* An event of its own type, after what waits. */
void al_runlog_event(struct al_runlog *l, const char *type, struct al_str body);
/* What waits, and the end of the run, in one transaction. */
void al_runlog_end(struct al_runlog *l, const struct al_run *row);
/* One line about a row of the run that could not be written. */
void al_runlog_tell(const struct al_runlog *l, const char *what, const struct al_err *err);

#endif
