/* Headers into SQL identifiers: lower-case ASCII, unique, never reserved. */
#ifndef AL_DATASET_NAMES_H
#define AL_DATASET_NAMES_H

#include "base/buf.h"

#define AL_NAME_MAX 48 /* characters of an identifier, before a suffix */

struct al_names;
struct al_names *al_names_new(void); /* rowid, oid and _rowid_ are taken */
void al_names_free(struct al_names *n);
/* The identifier of a header: transliterated, lower case, runs of anything but [a-z0-9] are "_", cut to 48, "_" before a
 * digit; without a letter or digit column_<ordinal>; taken ones get _2, _3 … A view until al_names_free. ordinal from 1. */
struct al_str al_names_add(struct al_names *n, struct al_str label, unsigned ordinal);
/* The table of a sheet of a workbook: "s_" and the same rules; taken are the names of other tables and their views. */
struct al_str al_names_add_table(struct al_names *n, struct al_str sheet, unsigned ordinal);

#endif
