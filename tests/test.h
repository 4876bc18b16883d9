/* What every cmocka test includes first. */
#ifndef AL_TESTS_TEST_H
#define AL_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
