/* What the tool families share: places, clipped text, globs, listings. Not for other modules. */
#ifndef AL_TOOLS_TOOLS_INT_H
#define AL_TOOLS_TOOLS_INT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "core/core.h"
#include "core/tool.h"
#include "core/workspace.h"
#include "loop/child.h"

#include <sys/stat.h>

extern const struct al_tool al_tool_read_file, al_tool_read_files, al_tool_list_files, al_tool_search_text,
    al_tool_write_file, al_tool_edit_file, al_tool_git_status, al_tool_git_diff, al_tool_run_process,
    al_tool_shell, al_tool_webfetch, al_tool_python_run;

#define AL_TOOL_TEXT_CHARS 28000 /* of a text for a model */
#define AL_TOOL_TEXT_LINES 200
#define AL_TOOL_FILE_MAX (8u << 20)
/* What names, numbers and braces around the large strings of a structured value may take. */
#define AL_TOOL_JSON_SLACK (64u << 10)
#define AL_TOOL_JSON_ROOM (AL_CALL_MAX_RESULT - AL_TOOL_JSON_SLACK)

/* --- places (place.c) --- */
/* The workspace of the call's core resolves path; the person who typed the call may also name others. */
int al_tool_place(struct al_call *call, struct al_str path, enum al_want want, struct al_place *ret,
                  struct al_err *err) AL_MUST_CHECK;
/* Opens a regular file for reading, without waiting for a FIFO or a device. Names are not checked. */
int al_tool_open_regular(const struct al_place *place, int *ret_fd, struct stat *ret_st,
                         struct al_err *err) AL_MUST_CHECK;
/* The same, with the real name checked against the secret ones. */
int al_tool_open_file(struct al_call *call, const struct al_place *place, int *ret_fd, struct stat *ret_st,
                      struct al_err *err) AL_MUST_CHECK;
int al_tool_open_folder(struct al_call *call, const struct al_place *place, int *ret_fd,
                        struct al_err *err) AL_MUST_CHECK;
/* What to put before a name found beneath a folder so that the result can be passed to other tools: "src/".
 * name: that name, since a folder "scratch:" of the workspace is not the scratchpad. */
void al_tool_place_prefix(const struct al_place *place, struct al_str name, struct al_buf *out);
/* What of a name found beneath it belongs to nobody here: al_workspace_left_out of the folder. May be NULL.
 */
bool al_tool_is_left_out(const char *left_out, struct al_str name);
/* The same for rg: "--glob=!/…", in the arena; NULL: nothing is left out. */
const char *al_tool_left_out_glob(const char *left_out, struct al_arena *a);
bool al_tool_is_scratch(struct al_str path);
/* The al_tool.scratch_only of tools whose argument `path` says where they write. */
bool al_tool_path_is_scratch(const struct al_json *args);
/* RUNTIME_UNAVAILABLE with how to install it. */
const char *al_tool_program(struct al_call *call, const char *name, const char *install, struct al_err *err);

/* --- text (clip.c) --- */
/* The longest prefix of s (valid UTF-8 stays so) whose JSON string takes at most room bytes, quotes not
 * counted. */
struct al_str al_tool_fit_json(struct al_str s, size_t room);
size_t al_tool_json_cost(struct al_str s);
/* At most max_chars characters of a line; what was cut is counted: "abc… (+120 characters)". */
void al_tool_clip(struct al_buf *out, struct al_str line, size_t max_chars);
/* Head and tail of a long text (valid UTF-8), cut at lines where they are near, with the size of the gap
 * between them. */
void al_tool_head_tail(struct al_buf *out, struct al_str text, size_t max_chars);
/* The next line of *rest, without its LF and a CR before it; false at the end. */
bool al_tool_next_line(struct al_str *rest, struct al_str *ret_line);

/* --- globs (glob.c) --- */
/* Gitignore-like: * ? [a-z] {a,b} and **; without a slash it matches the last name at any depth. */
struct al_globs;
#define AL_GLOB_MAX_BYTES 1024
#define AL_GLOB_MAX_ALTERNATIVES 64
int al_globs_new(struct al_str pattern, struct al_globs **ret, struct al_err *err) AL_MUST_CHECK;
void al_globs_free(struct al_globs *g);
bool al_globs_match(const struct al_globs *g, struct al_str path);

/* --- reading (scan.c, encode.c) --- */
enum al_encoding {
    AL_ENC_UTF8,
    AL_ENC_UTF8_BOM,
    AL_ENC_UTF16LE,
    AL_ENC_UTF16BE,
    AL_ENC_WINDOWS_1252
};
const char *al_encoding_name(enum al_encoding e);
/* By the byte order mark; AL_ENC_UTF8 when there is none. *ret_bom: its bytes. */
enum al_encoding al_encoding_guess(struct al_str head, size_t *ret_bom);
void al_windows1252_decode(struct al_buf *out, struct al_str bytes);
bool al_windows1252_encode(struct al_buf *out, struct al_str utf8); /* false: a character is not in it */
/* UTF-16 in pieces: *carry (4 bytes, *n_carry used) keeps what is not whole yet. Bad units become U+FFFD. */
struct al_utf16 {
    bool big;
    unsigned char carry[4];
    unsigned n_carry;
};
void al_utf16_decode(struct al_utf16 *d, struct al_str bytes, bool last, struct al_buf *out);

struct al_scan_req {
    uint64_t start_line; /* ≥ 1 */
    uint64_t limit;      /* lines; 0: to the end */
    size_t room;         /* bytes that the text may take as a JSON string */
    const atomic_bool *cancelled;
};
struct al_scan {
    struct al_buf text; /* valid UTF-8 */
    enum al_encoding encoding;
    char sha256[65]; /* "" when the file is over AL_SCAN_HASH_MAX */
    uint64_t lines;
    int64_t total_lines; /* -1 when not known */
    uint64_t bytes;
    uint64_t next_line; /* 0: nothing follows */
    bool truncated;
};
#define AL_SCAN_HASH_MAX (256u << 20)
void al_scan_fini(struct al_scan *s);
/* Reads lines of an open file. TOOL_ERROR for binary files. ret must be zeroed. */
int al_scan_file(int fd, const char *shown, const struct al_scan_req *req, struct al_scan *ret,
                 struct al_err *err) AL_MUST_CHECK;
/* "PNG", or NULL. */
const char *al_binary_kind(struct al_str head);

/* --- listings (listing.c) --- */
struct al_listing {
    struct al_call *call;
    struct al_place place;
    int dir_fd;             /* owned */
    char *left_out;         /* owned, may be NULL: al_workspace_left_out of the folder */
    struct al_globs *globs; /* owned, may be NULL */
    bool hidden;
    struct al_child *child;
    void (*work)(struct al_call *call); /* on the pool, when the names are there */

    struct al_buf raw;    /* names, each ended by a NUL */
    struct al_str *names; /* sorted views into raw */
    size_t n_names;
    bool truncated; /* there are more names than were kept */
};
/* Becomes call->impl; work runs on the pool and calls al_listing_sort first. The call is finished by it. */
void al_listing_start(struct al_call *call, struct al_str path, struct al_str glob, bool hidden,
                      void (*work)(struct al_call *call));
int al_listing_sort(struct al_listing *l, struct al_err *err) AL_MUST_CHECK;
void al_listing_cancel(struct al_call *call);

#endif
