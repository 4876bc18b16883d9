/* Names for tests without a network: ours are answered here, before any resolver. */
#ifndef AL_TESTS_NAMES_RIG_H
#define AL_TESTS_NAMES_RIG_H

#include <netdb.h>
#include <stdatomic.h>

/* "here.test" is 127.0.0.1, "public.test" 192.88.0.7 (nobody's, but no special one), "hangs.test" has no answer until
 * names_let_go. */
void names_hold(void);
void names_let_go(void);      /* and waits until nobody hangs any more */
extern atomic_uint names_hanging; /* lookups that wait */

#endif
