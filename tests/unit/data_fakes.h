/*
 * Takes the place of the parts that work inside the sealed processes: what a fault in one of them could come
 * to. The statement of a query, and the content of an ingest's source, say what to do there.
 */
#ifndef AL_TESTS_DATA_FAKES_H
#define AL_TESTS_DATA_FAKES_H

#include "data/sealed.h"
#include "wire/frame.h"

/* The test's own: runs sealed. Returns when there is nothing to do: a plain answer follows. */
void fake_deed(struct al_str what, bool ingest);
/* In the second thread of an ingest. */
void fake_thread_deed(struct al_str what);

/* Ends the process with an error of that text. */
_Noreturn void fake_say(const char *what, long a, long b);
void fake_raw(const void *p, size_t n);
void fake_frame(uint8_t type, const void *p, size_t n);

#endif
