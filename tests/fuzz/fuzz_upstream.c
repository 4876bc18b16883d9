/*
 * What servers say, beyond the envelope: results, errors, progress; and parameters on their way to them.
 * Whatever comes, a script gets one JSON value or nothing, and every text is UTF-8.
 */
#include "base/json.h"
#include "base/text.h"
#include "upstream/edges.h"
#include "upstream/params.h"
#include "upstream/result.h"

#include <stdint.h>
#include <stdlib.h>

#define ARENA (16u << 20)

static void must_be_json(const struct al_buf *b)
{
    autoarena struct al_arena a = AL_ARENA_INIT(ARENA);
    const struct al_json *v;
    struct al_err err;
    if (b->n > 0 && !al_buf_failed(b) && al_json_parse(&a, al_buf_str(b), &v, &err) < 0)
        abort();
}

static void must_be_text(const char *z)
{
    if (!al_utf8_valid(al_str_of(z)) || strlen(z) > 1023)
        abort();
}

static void as_result(struct al_str in)
{
    struct al_buf text = AL_BUF_INIT(1u << 20), value = AL_BUF_INIT(1u << 20);
    struct al_err err = {0};
    if (al_result_read(in, "s.t", &text, &value, &err) < 0) {
        if (err.code == AL_OK || !err.msg[0])
            abort();
        must_be_text(err.msg);
    }
    must_be_json(&value);
    if (!al_utf8_valid(al_buf_str(&text)))
        abort();
    al_buf_free(&text);
    al_buf_free(&value);
    al_result_failure(in, "s.t", &err);
    must_be_text(err.msg);
    must_be_text(err.hint);
    struct al_buf progress = AL_BUF_INIT(1u << 16);
    al_result_progress(in, &progress);
    must_be_json(&progress);
    al_buf_free(&progress);
}

/* Parameters come from our own reader, so they are JSON. */
static void as_params(struct al_str in)
{
    autoarena struct al_arena a = AL_ARENA_INIT(ARENA);
    const struct al_json *v;
    struct al_err err;
    if (al_json_parse(&a, in, &v, &err) < 0 || v->type != AL_JSON_OBJECT)
        return;
    struct al_buf out = AL_BUF_INIT(2u << 20);
    struct al_params p = {
        .params = v->raw, .progress_token = 7, .modern = in.n & 1, .keep_capabilities = true};
    al_params_write(&out, &p);
    autoarena struct al_arena b = AL_ARENA_INIT(ARENA);
    const struct al_json *w;
    int64_t token;
    if (al_json_parse(&b, al_buf_str(&out), &w, &err) < 0 ||
        !al_json_int(al_json_get(al_json_get(w, "_meta"), "progressToken"), 7, 7, &token))
        abort();
    al_json_each(member, v) if (!al_str_is(member->key, "_meta") && !al_json_get_str(w, member->key)) abort();
    al_buf_clear(&out);
    al_params_rename(v->raw, AL_STR("n"), &out);
    must_be_json(&out);
    al_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct al_str in = {(const char *)data, size};
    struct al_edges whole = {0}, halves = {0};
    as_result(in);
    as_params(in);
    al_edges_add(&whole, in);
    al_edges_add(&halves, (struct al_str){in.p, size / 2});
    al_edges_add(&halves, (struct al_str){in.p + size / 2, size - size / 2});
    if (al_edges_id(&whole) != al_edges_id(&halves))
        abort();
    return 0;
}
