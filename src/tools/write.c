/* write_file. */
#include "tools/write_int.h"

#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/config.h"

#include <errno.h>
#include <unistd.h>

#define HASH_CHUNK (256u << 10)

/* Is writing possible at all here? A person's own command counts as the approval of its one call; whom the agent works for
 * is asked. */
bool al_tool_write_registered(const struct al_core *core)
{
    const struct al_policy *p = al_core_policy(core);
    const char *source = al_core_source(core);
    bool asked = strcmp(source, "agent") == 0 && al_core_can_ask(core);
    return !p->read_only &&
           (p->allow_write || al_core_scratch(core) || asked || strcmp(source, "cli") == 0);
}

static int hash_file(struct al_call *call, const struct al_target *t, char ret[65], struct al_err *err)
{
    if (t->st.st_size > (off_t)AL_SCAN_HASH_MAX)
        return al_fail(err, AL_TOOL_ERROR, "%s: is over %u MiB, so that expectedHash cannot be checked",
                       t->place.shown, AL_SCAN_HASH_MAX >> 20);
    struct al_sha256 *h = al_sha256_new();
    autofree char *chunk = al_xmalloc(HASH_CHUNK);
    off_t at = 0;
    ssize_t n = 0;
    while (at <= (off_t)AL_SCAN_HASH_MAX && !atomic_load(&call->cancelled)) {
        n = pread(t->fd, chunk, HASH_CHUNK, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        al_sha256_add(h, chunk, (size_t)n);
        at += n;
    }
    int eno = errno;
    al_sha256_end(h, ret);
    if (atomic_load(&call->cancelled))
        return al_fail(err, AL_CANCELLED, "%s: was cancelled before it was written", t->place.shown);
    return n < 0 ? al_fail_errno(err, AL_TOOL_ERROR, eno, "%s: cannot be read", t->place.shown) : 0;
}

static int write_now(struct al_call *call, struct al_err *err)
{
    autotarget struct al_target t = AL_TARGET_INIT;
    struct al_str content = al_json_get_text(call->args, "content");
    const struct al_json *want = al_json_get(call->args, "expectedHash");
    char actual[65] = "", sha[65];
    if (content.n > AL_TOOL_FILE_MAX)
        return al_fail(err, AL_TOOL_INPUT_INVALID, "/content: is %zu bytes; at most %u fit", content.n,
                       AL_TOOL_FILE_MAX);
    if (al_target_open(call, &t, err) < 0)
        return -1;
    if (want && al_json_is_string(want) && t.exists && hash_file(call, &t, actual, err) < 0)
        return -1;
    if (al_target_check_hash(call, &t, actual, err) < 0 || al_target_write(call, &t, content, sha, err) < 0)
        return -1;
    al_buf_addf(&call->text, "%s %s (", t.exists ? "wrote" : "created", t.place.shown);
    al_text_bytes(&call->text, content.n);
    al_buf_addf(&call->text, ", sha256 %s)\n", sha);
    return 0;
}

static void write_work(struct al_call *call)
{
    if (write_now(call, &call->err) < 0)
        al_buf_clear(&call->structured);
}

static void write_start(struct al_call *call)
{
    al_call_in_thread(call, write_work);
}

const struct al_tool al_tool_write_file = {
    .name = "write_file",
    .title = "Write a file",
    .description = "Writes a whole text file, atomically: readers see the old content or the new. Missing "
                   "folders are made; an "
                   "existing file keeps its mode. expectedHash guards against lost changes: the sha256 that "
                   "read_file gave "
                   "(refused when the file changed since), or null when the file must be new; without it an "
                   "existing file is "
                   "replaced. `scratch:NAME` writes to the scratchpad and needs no approval. To change a "
                   "part of a file, use "
                   "edit_file. Structured value: {path, sha256, bytes, created}.",
    .brief =
        "Writes a whole text file, missing folders too; an existing one is replaced. To change "
        "a part use edit_file.",
    .input_schema = "{\"type\":\"object\",\"required\":[\"path\",\"content\"],\"properties\":{\"path\":{"
                    "\"type\":\"string\","
                    "\"minLength\":1,\"maxLength\":4096,\"description\":\"Path in the workspace, or "
                    "scratch:NAME\"},\"content\":{"
                    "\"type\":\"string\",\"description\":\"The whole new content, at most 8 "
                    "MiB\"},\"expectedHash\":{\"type\":["
                    "\"string\",\"null\"],\"maxLength\":64,\"description\":\"sha256 of the content that is "
                    "replaced; null: the file "
                    "must not exist\"}},\"additionalProperties\":false}",
    .output_schema = "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},\"sha256\":{"
                     "\"type\":\"string\"},"
                     "\"bytes\":{\"type\":\"integer\"},\"created\":{\"type\":\"boolean\"}}}",
    .effect = AL_EFFECT_WRITE,
    .expose = "files",
    .destructive = true,
    .idempotent = true,
    .start = write_start,
    .scratch_only = al_tool_path_is_scratch,
    .registered = al_tool_write_registered,
};
