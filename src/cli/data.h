/* What the data commands share: the dataset that a word names, and its options. */
#ifndef AL_CLI_DATA_H
#define AL_CLI_DATA_H

#include "cli/app.h"

/* Fails where analysis.enabled is off. Opens the core. */
int al_data_ready(struct al_app *app, struct al_err *err) AL_MUST_CHECK;
/* Whether flags say how a file is read. */
bool al_data_reads(const struct al_args *args);
/* Calls data_inspect for the word, a file or an id, with the flags of the command line; fills the reply. */
int al_data_inspect_word(struct al_app *app, const char *word, int sample_rows,
                         struct al_reply *reply) AL_MUST_CHECK;
/* The dataset of the word: an id as it is, a file by data_inspect. */
int al_data_find_word(struct al_app *app, const char *word, char id[AL_ID_MAX], struct al_err *err) AL_MUST_CHECK;
/* Shows rows of JSON arrays as a table that fits the terminal; what does not is counted. heads: JSON strings,
 * or objects with a name. */
void al_data_table(const struct al_app *app, const struct al_json *heads, const struct al_json *rows,
                   struct al_buf *out);

#endif
