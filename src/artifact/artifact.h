/*
 * Artifacts: what a script leaves in its output folder, published all or nothing, and what is done with it later.
 * Files are opened beneath one folder's descriptor, never through a link, and looked at after they were opened.
 */
#ifndef AL_ARTIFACT_ARTIFACT_H
#define AL_ARTIFACT_ARTIFACT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct al_publish_limits {
    uint64_t max_files, max_file_bytes, max_output_bytes;
};

struct al_publish_spec {
    const char *state_dir, *workspace, *session;
    const char *execution;     /* NULL: none (artifact_create) */
    int staging_fd;            /* the output folder */
    const char *title;         /* of the call; used when exactly one artifact has none; may be NULL */
    struct al_publish_limits limits;
    bool partial;
    struct al_str provenance;  /* JSON object, without execution id and partial, which are added */
};

/* What was found and built, before any of it counts. */
struct al_publication {
    struct al_artifact *list;
    size_t n;
    struct al_buf warnings; /* "warning: …" lines about pages that will not show well; may be empty */
    char *dir;              /* of the session's artifacts, absolute; NULL when n is 0 */
    struct al_arena arena;  /* the texts of the list lie here: no al_artifact_fini */
    struct al_publish_own *own;
};
/* Scan, rules, outputs.json, limits; then each artifact is built as .tmp-<id> beside its place, and synced. Blocks: for the
 * pool. An empty folder gives n 0. PUBLISH_REJECTED with the path and the reason; nothing is left. */
int al_publish_build(const struct al_publish_spec *spec, struct al_publication *ret, struct al_err *err) AL_MUST_CHECK;
/* In the loop's thread: rows, renames, rows ready; everything or nothing, also when killed between any two steps
 * (al_artifact_recover). 1: the execution had published already. */
int al_publish_commit(struct al_publication *p, struct al_store *store, uint64_t max_bytes, struct al_err *err) AL_MUST_CHECK;
void al_publication_fini(struct al_publication *p); /* removes what was built and not committed */

/* Takes back what dead hosts left half-published: rows, and folders without a row. Count. */
int al_artifact_recover(struct al_store *store);
/* Removes folders that no ready artifact has, as an interrupted al_artifact_end leaves them; none younger than an hour.
 * Count. In the loop's thread, once a day. */
int al_artifact_sweep(struct al_store *store);

/* Opens a file of a ready artifact: path NULL is its entry. NOT_FOUND names up to 50 that there are; an expired one says
 * how it can be made again. *ret_mime: static. */
int al_artifact_open(struct al_store *store, const struct al_artifact *a, const char *path, int *ret_fd,
                     struct al_buf *ret_path, int64_t *ret_bytes, const char **ret_mime, struct al_err *err) AL_MUST_CHECK;
/* Each file of it: path, size, hash, in the order of the manifest. */
int al_artifact_files(const struct al_artifact *a, bool (*fn)(void *ud, struct al_str path, int64_t bytes, struct al_str sha256),
                      void *ud, struct al_err *err) AL_MUST_CHECK;
/* Removes the files; the row becomes `status` ("deleted", "expired"). */
int al_artifact_end(struct al_store *store, const struct al_artifact *a, const char *status, struct al_err *err) AL_MUST_CHECK;
/* Absolute path of its folder, for a person on this machine. Malloc'ed. */
char *al_artifact_dir(struct al_store *store, const struct al_artifact *a);
/* The name a browser or a file system may be given: bidi, controls and reserved names replaced; ≤ 200 bytes. */
void al_artifact_safe_name(struct al_str name, struct al_buf *out);

/* "dashboard" … of a file: by its extension and its first bytes; disagreement makes it "file". Both static. */
struct al_artifact_type {
    const char *kind, *mime;
    bool text; /* can be read as text */
};
#define AL_ARTIFACT_HEAD 8192
struct al_artifact_type al_artifact_type_of(struct al_str file_name, struct al_str head);
/* Width and height of PNG, JPEG, GIF, WebP and SVG heads. */
bool al_artifact_image_size(struct al_str head, uint32_t *ret_w, uint32_t *ret_h);

/* A ZIP of files beneath dir_fd, the same bytes for the same content: names sorted and made safe for every system, times
 * 1980-01-01, stored or deflated. out_fd: a regular file, written from its start. PUBLISH_REJECTED over 4 GB. Blocks. */
int al_zip_write(int out_fd, int dir_fd, const char *const *paths, size_t n, struct al_err *err) AL_MUST_CHECK;

#endif
