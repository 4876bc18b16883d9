/* edit_file: one text of a file for another, every other byte kept. */
#include "tools/write_int.h"

#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"

#include <errno.h>

#define LISTED_PLACES 10
#define CLOSE_LINES 20000
#define SEARCH_STEP (1u << 20)

struct edit {
    const atomic_bool *cancelled;
    struct al_str file;     /* its bytes */
    struct al_str from, to; /* bytes, in the file's own encoding and line ends */
    struct al_buf from_buf, to_buf;
    bool all;
    size_t places[LISTED_PLACES]; /* offsets of the first occurrences; with all, of the first alone */
    size_t n_places;              /* at most one more than are listed */
    size_t n_replaced;
};

/* The first place of oldText at `from` or behind it, -1 when there is none or the call was cancelled. In
 * steps, so that a cancel is seen soon; a step is no shorter than the text, whose preparation takes its
 * length. */
static ptrdiff_t find_from(const struct edit *e, size_t from)
{
    size_t n = e->from.n, step = n > SEARCH_STEP ? n : SEARCH_STEP;
    while (from + n <= e->file.n && !atomic_load(e->cancelled)) {
        size_t left = e->file.n - from, window = left > step + n - 1 ? step + n - 1 : left;
        const char *at = memmem(e->file.p + from, window, e->from.p, n);
        if (at)
            return at - e->file.p;
        from += step;
    }
    return -1;
}

/* Occurrences that overlap count, since each could be the one that was meant. No more are looked for than the
 * answer needs: each costs a pass over the file when they overlap. */
static void find_places(struct edit *e)
{
    size_t wanted = e->all ? 1 : LISTED_PLACES + 1, from = 0;
    e->n_places = 0;
    while (e->n_places < wanted) {
        ptrdiff_t at = find_from(e, from);
        if (at < 0)
            break;
        if (e->n_places < LISTED_PLACES)
            e->places[e->n_places] = (size_t)at;
        e->n_places++;
        from = (size_t)at + 1;
    }
}

static void to_crlf(struct al_buf *out, struct al_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\n' && (i == 0 || s.p[i - 1] != '\r'))
            al_buf_addc(out, '\r');
        al_buf_addc(out, s.p[i]);
    }
}

static size_t count_lines(struct al_str s, size_t from, size_t to)
{
    size_t n = 0;
    for (size_t i = from; i < to; i++)
        n += s.p[i] == '\n';
    return n;
}

/* A file that is no UTF-8 was shown as windows-1252: what the model sends back is turned into its bytes
 * again. */
static int match_encoding(struct edit *e, const char *shown, struct al_err *err)
{
    if (al_utf8_valid(e->file))
        return 0;
    if (al_windows1252_encode(&e->from_buf, e->from) && al_windows1252_encode(&e->to_buf, e->to)) {
        e->from = al_buf_str(&e->from_buf);
        e->to = al_buf_str(&e->to_buf);
        return 0;
    }
    return al_fail(err, AL_TOOL_ERROR,
                   "%s: is in windows-1252, which lacks a character of oldText or newText", shown);
}

/* The file ends its lines with CRLF and the texts with LF: they are changed, not the file. */
static void match_line_ends(struct edit *e)
{
    if (e->n_places > 0 || !memmem(e->file.p, e->file.n, "\r\n", 2) || !memchr(e->from.p, '\n', e->from.n))
        return;
    struct al_buf from = AL_BUF_INIT(2 * e->from.n + 1), to = AL_BUF_INIT(2 * e->to.n + 1);
    to_crlf(&from, e->from);
    to_crlf(&to, e->to);
    al_buf_free(&e->from_buf);
    al_buf_free(&e->to_buf);
    e->from_buf = from;
    e->to_buf = to;
    e->from = al_buf_str(&e->from_buf);
    e->to = al_buf_str(&e->to_buf);
    find_places(e);
}

static struct al_str first_line(struct al_str s)
{
    struct al_str line = {0};
    while (al_tool_next_line(&s, &line)) {
        line = al_str_trim(line);
        if (line.n > 0)
            return line;
    }
    return line;
}

/* The line that looks most like the first one of oldText. 0: none is near. */
static size_t closest_line(const struct edit *e, struct al_str wanted, struct al_str *ret_line)
{
    struct al_str file = e->file, line;
    size_t best = 0, n = 0;
    unsigned best_distance = (unsigned)(wanted.n < 64 ? wanted.n : 64) / 2 + 1;
    while (n < CLOSE_LINES && !atomic_load(e->cancelled) && al_tool_next_line(&file, &line)) {
        n++;
        line = al_str_trim(line);
        unsigned d = al_str_eq(line, wanted) ? 0 : 1 + al_str_distance(line, wanted);
        if (line.n > 0 && d < best_distance) {
            best_distance = d;
            best = n;
            *ret_line = line;
        }
        if (d == 0)
            break;
    }
    return best;
}

static int fail_not_found(struct edit *e, const char *shown, struct al_err *err)
{
    struct al_str wanted = first_line(e->from), line = {0};
    size_t at = wanted.n > 0 ? closest_line(e, wanted, &line) : 0;
    al_fail(err, AL_TOOL_ERROR, "%s: oldText is not in the file", shown);
    if (at == 0)
        return al_hint(err, "read the file again and copy oldText from it");
    autobuf struct al_buf text = AL_BUF_INIT(2048);
    al_text_visible(&text, al_utf8_head(line, 120), false);
    if (al_str_eq(line, wanted))
        return al_hint(err,
                       "line %zu starts like it (white space aside), but something differs there or below: "
                       "read it again",
                       at);
    return al_hint(err, "the closest line is %zu: %.*s", at, AL_FMT(al_buf_str(&text)));
}

static int fail_many(struct edit *e, const char *shown, struct al_err *err)
{
    autobuf struct al_buf lines = AL_BUF_INIT(1024);
    size_t line = 1, counted = 0;
    for (size_t i = 0; i < e->n_places && i < LISTED_PLACES; i++) {
        line += count_lines(e->file, counted, e->places[i]);
        counted = e->places[i];
        al_buf_addf(&lines, "%s%zu", i > 0 ? ", " : "", line);
    }
    bool more = e->n_places > LISTED_PLACES;
    al_fail(err, AL_TOOL_ERROR, "%s: oldText is there %s%zu times, at lines %.*s%s", shown,
            more ? "more than " : "", more ? LISTED_PLACES : e->n_places, AL_FMT(al_buf_str(&lines)),
            more ? ", …" : "");
    return al_hint(err, "take more of its surroundings into oldText, or set replaceAll");
}

/* Occurrences do not overlap here, so that all searches together pass over the file once. */
static void replace(struct edit *e, struct al_buf *out)
{
    size_t done = 0;
    for (ptrdiff_t at = find_from(e, 0); at >= 0; at = find_from(e, done)) {
        al_buf_add(out, e->file.p + done, (size_t)at - done);
        al_buf_add_str(out, e->to);
        done = (size_t)at + e->from.n;
        e->n_replaced++;
        if (!e->all || al_buf_failed(out))
            break;
    }
    al_buf_add(out, e->file.p + done, e->file.n - done);
}

static int read_target(struct al_call *call, struct al_target *t, struct al_buf *ret, struct al_err *err)
{
    if (al_target_open(call, t, err) < 0)
        return -1;
    const char *shown = t->place.shown;
    if (!t->exists) {
        al_fail(err, AL_NOT_FOUND, "%s: no such file", shown);
        return al_hint(err, "write_file creates files");
    }
    int r = al_fd_read_all(t->fd, ret);
    if (r == -EFBIG)
        return al_fail(err, AL_TOOL_ERROR, "%s: is over %u MiB, too large to edit", shown,
                       AL_TOOL_FILE_MAX >> 20);
    if (r < 0)
        return al_fail_errno(err, AL_TOOL_ERROR, -r, "%s: cannot be read", shown);
    size_t bom;
    enum al_encoding enc = al_encoding_guess(al_buf_str(ret), &bom);
    if (enc == AL_ENC_UTF16LE || enc == AL_ENC_UTF16BE)
        return al_fail(err, AL_TOOL_ERROR,
                       "%s: is %s, which edit_file does not change; write_file can replace it", shown,
                       al_encoding_name(enc));
    if (ret->n > 0 && memchr(ret->p, 0, ret->n))
        return al_fail(err, AL_TOOL_ERROR, "%s: is a binary file (%zu bytes)", shown, ret->n);
    char sha[65];
    al_sha256(al_buf_str(ret), sha);
    return al_target_check_hash(call, t, sha, err);
}

static int edit_apply(struct al_call *call, struct al_target *t, struct edit *e, struct al_err *err)
{
    const char *shown = t->place.shown;
    if (match_encoding(e, shown, err) < 0)
        return -1;
    find_places(e);
    match_line_ends(e);
    if (atomic_load(e->cancelled))
        return al_fail(err, AL_CANCELLED, "%s: was cancelled before it was written", shown);
    if (e->n_places == 0)
        return fail_not_found(e, shown, err);
    if (e->n_places > 1 && !e->all)
        return fail_many(e, shown, err);
    autobuf struct al_buf out = AL_BUF_INIT(AL_TOOL_FILE_MAX);
    replace(e, &out);
    if (al_buf_failed(&out))
        return al_fail(err, AL_TOOL_ERROR, "%s: would grow over %u MiB", shown, AL_TOOL_FILE_MAX >> 20);
    char sha[65];
    if (al_target_write(call, t, al_buf_str(&out), sha, err) < 0)
        return -1;
    al_buf_addf(&call->text, "edited %s: %zu replacement%s, the first at line %zu (sha256 %s)\n", shown,
                e->n_replaced, e->n_replaced == 1 ? "" : "s", 1 + count_lines(e->file, 0, e->places[0]), sha);
    return 0;
}

static int edit_now(struct al_call *call, struct edit *e, struct al_err *err)
{
    autotarget struct al_target t = AL_TARGET_INIT;
    autobuf struct al_buf file = AL_BUF_INIT(AL_TOOL_FILE_MAX);
    e->from = al_json_get_text(call->args, "oldText");
    e->to = al_json_get_text(call->args, "newText");
    e->all = al_json_is_true(al_json_get(call->args, "replaceAll"));
    e->cancelled = &call->cancelled;
    if (e->to.n > AL_TOOL_FILE_MAX || e->from.n > AL_TOOL_FILE_MAX)
        return al_fail(err, AL_TOOL_INPUT_INVALID, "oldText or newText is over %u MiB",
                       AL_TOOL_FILE_MAX >> 20);
    if (al_str_eq(e->from, e->to))
        return al_fail(err, AL_TOOL_INPUT_INVALID, "oldText and newText are the same");
    if (read_target(call, &t, &file, err) < 0)
        return -1;
    e->file = al_buf_str(&file);
    return edit_apply(call, &t, e, err);
}

static void edit_work(struct al_call *call)
{
    struct edit e = {.from_buf = AL_BUF_INIT(AL_TOOL_FILE_MAX), .to_buf = AL_BUF_INIT(AL_TOOL_FILE_MAX)};
    if (edit_now(call, &e, &call->err) < 0)
        al_buf_clear(&call->structured);
    al_buf_free(&e.from_buf);
    al_buf_free(&e.to_buf);
}

static void edit_start(struct al_call *call)
{
    al_call_in_thread(call, edit_work);
}

const struct al_tool al_tool_edit_file = {
    .name = "edit_file",
    .title = "Edit a file",
    .description = "Replaces oldText by newText in a text file; every other byte, the line ends and the "
                   "encoding stay. oldText "
                   "must be in the file exactly once (take enough of its surroundings; without the line "
                   "numbers that read_file "
                   "shows), or set replaceAll. When it is not there or there more than once, nothing is "
                   "changed and the error "
                   "names the closest line or all lines. In files with CRLF, plain line ends in oldText and "
                   "newText match. "
                   "expectedHash: the sha256 from read_file, refused when the file changed since. "
                   "`scratch:NAME` edits the "
                   "scratchpad and needs no approval. Structured value: {path, sha256, bytes, created}.",
    .brief =
        "Replaces oldText, which must be in the file exactly once (without the line numbers of "
        "read_file), by newText; everything else stays.",
    .input_schema = "{\"type\":\"object\",\"required\":[\"path\",\"oldText\",\"newText\"],\"properties\":{"
                    "\"path\":{\"type\":"
                    "\"string\",\"minLength\":1,\"maxLength\":4096,\"description\":\"Path in the workspace, "
                    "or scratch:NAME\"},"
                    "\"oldText\":{\"type\":\"string\",\"minLength\":1,\"description\":\"What is there now, "
                    "exactly\"},\"newText\":{"
                    "\"type\":\"string\",\"description\":\"What comes in its "
                    "place\"},\"expectedHash\":{\"type\":[\"string\",\"null\"],"
                    "\"maxLength\":64,\"description\":\"sha256 of the file before the "
                    "edit\"},\"replaceAll\":{\"type\":\"boolean\","
                    "\"description\":\"Every occurrence, however many\"}},\"additionalProperties\":false}",
    .output_schema = "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},\"sha256\":{"
                     "\"type\":\"string\"},"
                     "\"bytes\":{\"type\":\"integer\"},\"created\":{\"type\":\"boolean\"}}}",
    .effect = AL_EFFECT_WRITE,
    .expose = "files",
    .destructive = true,
    .start = edit_start,
    .scratch_only = al_tool_path_is_scratch,
    .registered = al_tool_write_registered,
};
