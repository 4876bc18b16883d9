/* One error value with a code, a message and a hint. Not a log: what is returned is never also logged. */
#ifndef AL_BASE_ERR_H
#define AL_BASE_ERR_H

#include <stdarg.h>
#include <stddef.h>

/*
 * Every code that a user, a script or another program can meet: X(name, exit status, HTTP status).
 * Names and numbers are a contract. tests/unit/test_err.c holds the table against a copy of it.
 */
#define AL_CODES(X)                                                                                \
    X(INVALID_INPUT, 2, 400)                                                                       \
    X(TOOL_INPUT_INVALID, 2, 400)                                                                  \
    X(CONFIG_INVALID, 2, 400)                                                                      \
    X(SYNTAX_ERROR, 1, 422)                                                                        \
    X(SCRIPT_ERROR, 1, 422)                                                                        \
    X(TOOL_ERROR, 1, 422)                                                                          \
    X(INVALID_RESULT, 1, 422)                                                                      \
    X(DEADLOCK, 1, 422)                                                                            \
    X(ENGINE_CRASHED, 1, 422)                                                                      \
    X(PYTHON_FAILED, 1, 422)                                                                       \
    X(PUBLISH_REJECTED, 1, 422)                                                                    \
    X(RERUN_REFUSED, 1, 422)                                                                       \
    X(QUERY_ERROR, 1, 422)                                                                         \
    X(INGEST_INVALID, 1, 422)                                                                      \
    X(NO_USABLE_COLUMNS, 1, 422)                                                                   \
    X(PLAN_FAILED, 1, 422)                                                                         \
    X(DATASET_UNSUPPORTED, 1, 415)                                                                 \
    X(QUERY_REJECTED, 1, 400)                                                                      \
    X(STATE_CONFLICT, 1, 409)                                                                      \
    X(APPROVAL_REQUIRED, 3, 403)                                                                   \
    X(PERMISSION_DENIED, 3, 403)                                                                   \
    X(PATH_OUTSIDE_WORKSPACE, 3, 403)                                                              \
    X(PATH_PROTECTED, 3, 403)                                                                      \
    X(PATH_SECRET, 3, 403)                                                                         \
    X(UNTRUSTED_REPOSITORY, 3, 403)                                                                \
    X(NOT_CALLABLE, 3, 403)                                                                        \
    X(AUTH_REQUIRED, 3, 403)                                                                       \
    X(NOT_FOUND, 4, 404)                                                                           \
    X(TOOL_NOT_FOUND, 4, 404)                                                                      \
    X(TIMEOUT, 5, 408)                                                                             \
    X(TOOL_TIMEOUT, 5, 408)                                                                        \
    X(QUERY_TIMEOUT, 5, 408)                                                                       \
    X(MEMORY_LIMIT, 5, 413)                                                                        \
    X(STACK_LIMIT, 5, 413)                                                                         \
    X(CALL_LIMIT, 5, 413)                                                                          \
    X(OUTPUT_LIMIT, 5, 413)                                                                        \
    X(STATE_LIMIT, 5, 413)                                                                         \
    X(INGEST_LIMIT, 5, 413)                                                                        \
    X(QUERY_LIMIT, 5, 413)                                                                         \
    X(RESULT_TOO_LARGE, 5, 413)                                                                    \
    X(QUOTA_EXCEEDED, 5, 413)                                                                      \
    X(CONTEXT_LIMIT, 5, 413)                                                                       \
    X(TURN_LIMIT, 5, 413)                                                                          \
    X(BUSY, 5, 429)                                                                                \
    X(RUNTIME_UNAVAILABLE, 6, 503)                                                                 \
    X(ENGINE_UNAVAILABLE, 6, 503)                                                                  \
    X(EXTRAS_NOT_INSTALLED, 6, 503)                                                                \
    X(EXTRAS_INSTALL_FAILED, 6, 503)                                                               \
    X(UPSTREAM_UNAVAILABLE, 6, 503)                                                                \
    X(UPSTREAM_REJECTED, 6, 502)                                                                   \
    X(CANCELLED, 7, 409)                                                                           \
    X(INTERRUPTED, 7, 409)                                                                         \
    X(INTERNAL, 70, 500)                                                                           \
    X(STATE_TOO_NEW, 70, 500)

enum al_code {
    AL_OK = 0,
#define AL_CODE_ENUM(name, exit_status, http) AL_##name,
    AL_CODES(AL_CODE_ENUM)
#undef AL_CODE_ENUM
};

/* msg and hint are safe to show a model: no host path outside the workspace, no secret. detail stays local. */
struct al_err {
    enum al_code code;
    char msg[1024];
    char hint[512];
    char detail[256];
};

/* Sets code and message (cut at a character when too long), clears hint and detail. Returns -1. err may be NULL. */
int al_fail(struct al_err *err, enum al_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same, with ": <what errno means>" after the message. eno is a positive errno value. Returns -1. */
int al_fail_errno(struct al_err *err, enum al_code code, int eno, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Puts "context: " before the message, on the way up. Returns -1. */
int al_wrap(struct al_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What the person should do next. Returns -1, so that `return al_hint(...)` ends a failing path. */
int al_hint(struct al_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What only the local user may read (doctor, logs). Returns -1. */
int al_detail(struct al_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void al_err_clear(struct al_err *err);

const char *al_code_name(enum al_code code);        /* "TIMEOUT"; "OK" for AL_OK */
int al_code_exit(enum al_code code);                /* process exit status */
int al_code_http(enum al_code code);                /* HTTP status */
enum al_code al_code_find(const char *name, size_t n); /* AL_OK when there is no such code */

#define AL_MUST_CHECK __attribute__((warn_unused_result))

#endif
