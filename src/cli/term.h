/* What the terminal is like: width, colour, and the width of text on it. */
#ifndef AL_CLI_TERM_H
#define AL_CLI_TERM_H

#include "base/str.h"

#include <stdbool.h>

/* Columns of the terminal behind fd: the window's, else COLUMNS, else 80. */
unsigned al_term_width(int fd);
/* Whether colour is welcome there: a terminal, no NO_COLOR, TERM not "dumb". */
bool al_term_color(int fd);
/* Whether a line there can be rewritten: a terminal, TERM not "dumb". */
bool al_term_moves(int fd);
/* Columns that a text takes: wide East Asian characters and emoji take two, combining marks none. */
unsigned al_term_columns(struct al_str s);
/* The longest prefix that takes at most `columns`. */
struct al_str al_term_cut(struct al_str s, unsigned columns);

#endif
