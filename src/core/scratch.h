/* The scratchpad: a private folder per root session for scripts and intermediate files, with a quota. */
#ifndef AL_CORE_SCRATCH_H
#define AL_CORE_SCRATCH_H

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

/* Every function may be called on any thread; the quota holds between threads of this process. */
struct al_scratch;
struct al_scratch_opts {
    const char *base;          /* ALISIO_TMPDIR or forge.scratch.root; NULL: the system's temporary folder */
    const char *state_dir;     /* fallback: <state>/scratch */
    const char *workspace;     /* real path */
    const char *session;
    uint64_t max_bytes;
};
/* <base>/alisio-<uid>/<workspace key>/<session>/scratchpad, each made 0700 and checked (a folder, no link, ours); when
 * the shared folder is not private to us, <state>/scratch/… with a note. Made on first use, not by this call. */
int al_scratch_new(const struct al_scratch_opts *o, struct al_scratch **ret, struct al_err *err) AL_MUST_CHECK;
void al_scratch_free(struct al_scratch *s);
/* <base>/alisio-<uid>, which holds the scratchpads of every workspace. malloc'ed; base as in the options. */
char *al_scratch_root(const char *base);
int al_scratch_fd(struct al_scratch *s, struct al_err *err); /* makes it; -1 with err */
const char *al_scratch_path(struct al_scratch *s);           /* for people */
const char *al_scratch_note(struct al_scratch *s);           /* why the fallback is used; NULL */
int64_t al_scratch_bytes(struct al_scratch *s);
/* QUOTA_EXCEEDED, naming the config key, when `more` bytes would not fit. Also marks activity. */
int al_scratch_reserve(struct al_scratch *s, uint64_t more, struct al_err *err) AL_MUST_CHECK;
/* The bytes of a reservation are written, or given up. One that is not released counts for 2 s. */
void al_scratch_release(struct al_scratch *s, uint64_t more);
/* Atomic write of rel (parents made) within the quota. */
int al_scratch_write(struct al_scratch *s, const char *rel, struct al_str bytes, struct al_err *err) AL_MUST_CHECK;
int al_scratch_empty(struct al_scratch *s, struct al_err *err) AL_MUST_CHECK;
/* At most once a day: removes scratchpads without activity for days (0: never), never outside the verified root. */
int al_scratch_sweep(struct al_scratch *s, unsigned days);

#endif
