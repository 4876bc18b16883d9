/* What js and py share: the script that a command line names. */
#ifndef AL_CLI_SCRIPT_H
#define AL_CLI_SCRIPT_H

#include "cli/app.h"

/* 200,000 characters, each of four bytes at most. */
#define AL_SCRIPT_MAX_BYTES (800u * 1000u)

/* FILE, -e CODE or - (standard input), into an empty buffer. INVALID_INPUT without one, with two, or when it is no text. */
int al_script_read(struct al_app *app, struct al_buf *out, struct al_err *err) AL_MUST_CHECK;
/* "title": of --title, else the name of the script's file; nothing when there is neither. */
void al_script_put_title(const struct al_app *app, struct al_jw *w);

#endif
