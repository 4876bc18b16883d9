/* Datasets for faces other than the tools: what the command line needs beside data_inspect and data_query. */
#ifndef AL_TOOLS_DATA_H
#define AL_TOOLS_DATA_H

#include "core/core.h"
#include "data/data.h"

/* A dataset of the core's workspace, open for reading (the descriptor is the caller's). NOT_FOUND. */
int al_dataset_open(struct al_core *core, struct al_str id, int *ret_fd, struct al_err *err) AL_MUST_CHECK;

void al_data_number(struct al_buf *out, uint64_t n); /* "1,234,567" */
/* "1,234,567 rows", "1 row": a number for people, and of what. */
void al_data_count(struct al_buf *out, uint64_t n, const char *one, const char *many);

#endif
