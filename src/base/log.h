/*
 * Lines for whoever looks into a misbehaving program; never what a command prints. Nothing is written unless
 * ALISIO_LOG_LEVEL (error, warn, info, debug), ALISIO_LOG_FILE or ALISIO_TRACE asks for it. No key, code or
 * cell of a data set may be logged.
 */
#ifndef AL_BASE_LOG_H
#define AL_BASE_LOG_H

#include <stdbool.h>

enum al_log_level {
    AL_LOG_OFF,
    AL_LOG_ERROR, /* what a bare ALISIO_LOG_FILE gives */
    AL_LOG_WARN,
    AL_LOG_INFO,
    AL_LOG_DEBUG,
};

/* Reads the environment and opens the file: at the first line, or earlier by this call (before a seal). */
void al_log_init(void);

/* True when a line of that level would be written: for lines that cost something to make. */
bool al_log_on(enum al_log_level level, const char *component);

/* One line, one write(2): time, process id, level, component, text. Keeps errno. */
void al_log(enum al_log_level level, const char *component, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A component's steps, shown when ALISIO_TRACE=sandbox,wire names it (or "all"), whatever the level; its
 * debug lines are then shown too. */
bool al_trace_on(const char *component);
void al_trace(const char *component, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
