/* What the files of this folder share: the scan of an output folder, its candidates, names, pages. */
#ifndef AL_ARTIFACT_ARTIFACT_INT_H
#define AL_ARTIFACT_ARTIFACT_INT_H

#include "artifact/artifact.h"

#define AL_OUTPUT_MAX_ENTRIES 10000 /* files and folders that are looked at */
#define AL_OUTPUT_MAX_DEPTH 8
#define AL_OUTPUTS_JSON "outputs.json"
#define AL_OUTPUTS_MAX_BYTES ((size_t)1 << 20)
#define AL_TITLE_CHARS 200

/* --- names.c --- */
/* Why no file of that name is published, as the rest of a sentence ("is hidden"); NULL: it may be. */
const char *al_artifact_name_fault(struct al_str name);
/* Its canonical decomposition: two names that are one to a person, or to another system, give the same. */
void al_artifact_name_canonical(struct al_str name, struct al_buf *out);
#define AL_SLUG_MAX 48
void al_artifact_slug(struct al_str title, char out[AL_SLUG_MAX + 1]); /* [a-z0-9-], never empty */
/* PUBLISH_REJECTED: "nothing is published: "path" …". Returns -1. */
int al_artifact_reject(struct al_err *err, struct al_str path, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* --- scan.c --- */
struct al_output_scan_node {
    const char *path; /* beneath the output folder; "": that itself */
    bool dir;
    int64_t dev, ino, size, mtime_ns, ctime_ns;
};
struct al_output_scan {
    struct al_arena arena;
    struct al_output_scan_node *nodes; /* in byte order of their paths, so the folder itself first */
    size_t n, room;
    int64_t dev;
};
/* Everything beneath fd, and each rule about names and kinds of files. Follows nothing, opens folders only.
 */
int al_output_scan_read(int fd, struct al_output_scan *ret, struct al_err *err) AL_MUST_CHECK;
void al_output_scan_fini(struct al_output_scan *s);
const struct al_output_scan_node *al_output_scan_find(const struct al_output_scan *s, struct al_str path); /* NULL: none */
/* Nodes beneath a folder: from, to. */
void al_output_scan_beneath(const struct al_output_scan *s, const struct al_output_scan_node *dir, size_t *ret_from,
                     size_t *ret_to);
/* Opens a node, if it is still what was seen. */
int al_output_scan_open(int root_fd, const struct al_output_scan_node *node, int *ret_fd, struct al_err *err) AL_MUST_CHECK;
/* Is it still? To be asked again after it was read. */
int al_output_scan_check(int fd, const struct al_output_scan_node *node, struct al_err *err) AL_MUST_CHECK;
/* Is each folder still what it was? */
int al_output_scan_check_folders(int root_fd, const struct al_output_scan *s, struct al_err *err) AL_MUST_CHECK;

/* --- outputs.c --- */
struct al_declared {
    struct al_str path, title, entry; /* {NULL, 0}: not said */
};
/* outputs.json; paths without "." and slashes at their end. PUBLISH_REJECTED. */
int al_outputs_parse(struct al_arena *a, struct al_str json, struct al_declared **ret, size_t *ret_n,
                     struct al_err *err) AL_MUST_CHECK;

enum al_form {
    AL_FORM_FILE,
    AL_FORM_PAGES,
    AL_FORM_ZIP
};
struct al_candidate {
    const struct al_output_scan_node *node;
    enum al_form form;
    struct al_str title; /* never empty */
    struct al_str entry; /* of AL_FORM_PAGES, beneath node */
    size_t from, to;     /* nodes of a folder's content */
};
/* What is to be published of a scan, in the order of outputs.json or of names, within the limits. Lies in the
 * arena. */
int al_outputs_find(int root_fd, const struct al_output_scan *s, const struct al_publish_spec *spec,
                    struct al_arena *a, struct al_candidate **ret, size_t *ret_n,
                    struct al_err *err) AL_MUST_CHECK;

/* --- zip.c --- */
struct al_zipw;
/* Writes from the start of fd (borrowed; a regular file). */
struct al_zipw *al_zipw_new(int fd);
void al_zipw_free(struct al_zipw *z);
/* A file of exactly size bytes. The name is used as it is. */
int al_zipw_add(struct al_zipw *z, struct al_str name, int in_fd, uint64_t size,
                struct al_err *err) AL_MUST_CHECK;
int al_zipw_end(struct al_zipw *z, struct al_err *err) AL_MUST_CHECK;
/* Names for an archive: safe on every system, none twice. names[i] belongs to paths[i]; in the arena. */
int al_zip_names(struct al_arena *a, const char *const *paths, size_t n, const char **names,
                 struct al_err *err) AL_MUST_CHECK;

/* --- html.c --- */
#define AL_HTML_MAX_BYTES ((size_t)8 << 20) /* a longer page is not looked at */
struct al_html_findings {
    unsigned network, missing, wedges, fixed;  /* how many */
    char first_network[96], first_missing[96]; /* cut, to be shown escaped */
};
/* One pass, no memory. exists: whether the page has that file beside it; ref is relative, percent-decoded,
 * without query. */
void al_html_look(struct al_str html, bool (*exists)(void *ud, struct al_str ref), void *ud,
                  struct al_html_findings *ret);
/* A warning line for each kind of finding. page: what to call it. */
void al_html_warn(const struct al_html_findings *f, struct al_str page, struct al_buf *out);

/* --- build.c --- */
/* Builds one candidate in dir_fd as .tmp-<id>; row is completed, its texts in the arena. */
int al_build_one(const struct al_publish_spec *spec, const struct al_output_scan *scan, const struct al_candidate *c,
                 int dir_fd, const char *rel_dir, struct al_publication *p, struct al_artifact *row,
                 struct al_err *err) AL_MUST_CHECK;

/* --- sync.c --- */
/* The folders of those names in dir_fd, all n_files that are in them, and dir_fd itself, to the disk. 0 or -errno. */
int al_build_sync(int dir_fd, const char *const *names, size_t n, int64_t n_files);

/* --- journal.c: what is being built, so that the next start finds what a killed process left --- */
struct al_publish_own {
    int dir_fd;  /* of the session's artifacts */
    int lock_fd; /* the journal; locked */
    char *journal;
    bool committed;
};
#define AL_BUILDING_DIR "artifacts/.building"
#define AL_BUILDING_MAX ((size_t)1 << 20)
/* "artifacts/<key>/<session>" in the arena. */
char *al_artifact_folder(struct al_arena *a, const char *workspace, const char *session);
int al_journal_begin(const struct al_publish_spec *spec, const char *rel_dir, const struct al_artifact *list,
                     size_t n, struct al_publish_own *own, struct al_err *err) AL_MUST_CHECK;
void al_journal_end(struct al_publish_own *own);

/* --- step.c: called between any two steps of a publication. Does nothing; a test has its own in its place.
 * --- */
void al_publish_step(const char *done);

#endif
