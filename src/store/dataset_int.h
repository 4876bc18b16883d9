/* Between the rows of datasets and their files. */
#ifndef AL_STORE_DATASET_INT_H
#define AL_STORE_DATASET_INT_H

#include "store/store_int.h"

/* <id>.sqlite in the file's folder, 0400. */
int al_dataset_file_name(struct al_dataset_file *f, const char *id, struct al_err *err) AL_MUST_CHECK;
void al_dataset_file_unname(struct al_dataset_file *f, const char *id); /* undoes it; no-op without */
/* Beneath the state folder, never through a link. 1 opened; 0 it has gone, is no regular file or not of that size; -1 it
 * cannot be opened now. */
int al_dataset_file_open(const struct al_store *s, const char *rel_path, int64_t bytes, int *ret_fd);
void al_dataset_file_remove(const struct al_store *s, const char *rel_path);
/* All files of a session, or with session NULL of a workspace. What cannot be removed is swept later. */
void al_dataset_files_remove(const struct al_store *s, const char *workspace, const char *session);
/* The ids of all rows, sorted; the caller frees id. */
struct al_dataset_ids {
    char (*id)[AL_ID_MAX];
    size_t n;
};
int al_dataset_ids(struct al_store *s, struct al_dataset_ids *ret, struct al_err *err) AL_MUST_CHECK;

#endif
