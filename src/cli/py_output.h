/*
 * What a script prints, shown while it runs: its standard output on ours, its standard error on ours, whole and as they
 * are, to a terminal with their controls made visible. Whoever reads slowly holds up nobody: what waits is bounded.
 */
#ifndef AL_CLI_PY_OUTPUT_H
#define AL_CLI_PY_OUTPUT_H

#include "cli/app.h"

/* Bytes that wait for a slow reader; beyond, what comes is left out, and the end says so. */
#define AL_PY_OUTPUT_MAX (64u << 20)

struct al_py_stream {
    int fd;        /* ours */
    bool tty;      /* controls are made visible */
    bool polls;    /* no regular file: writing may have to wait */
    bool gone;     /* nobody reads it any more */
    uint64_t lost; /* bytes that found no room */
    struct al_buf waiting;
    struct al_watch *watch;
    char torn[4]; /* to a terminal: a character of which the rest is still to come */
    unsigned n_torn;
    bool mid_line; /* its last line has no end yet */
};

struct al_py_output_view {
    struct al_app *app;
    struct al_py_stream streams[2]; /* output, errors */
};

/* From now on calls of app show what they print. With --json nothing is shown. */
void al_py_output_start(struct al_py_output_view *v, struct al_app *app);
/* Writes what still waits (until a signal comes) and ends the line of a terminal. */
void al_py_output_end(struct al_py_output_view *v);

#endif
