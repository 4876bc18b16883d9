/* What a worker says is a claim: here it is held to what can be true. */
#include "base/json.h"
#include "base/text.h"
#include "data/worker.h"

#define MESSAGE_MAX ((size_t)1000)
#define HINT_MAX ((size_t)500)

/* Codes that a worker may come to. What only the host can know is not among them. */
static bool may_say(enum al_code code, enum al_said_kind kind)
{
    switch (code) {
    case AL_OK:
    case AL_INVALID_INPUT:
    case AL_NOT_FOUND:
    case AL_DATASET_UNSUPPORTED:
    case AL_MEMORY_LIMIT:
    case AL_RESULT_TOO_LARGE:
    case AL_QUOTA_EXCEEDED:
    case AL_INTERNAL:
        return true;
    case AL_INGEST_INVALID:
    case AL_INGEST_LIMIT:
        return kind == AL_SAID_INGEST;
    case AL_QUERY_ERROR:
    case AL_QUERY_REJECTED:
    case AL_QUERY_LIMIT:
    case AL_QUERY_TIMEOUT:
        return kind != AL_SAID_INGEST;
    case AL_NO_USABLE_COLUMNS:
    case AL_PLAN_FAILED:
        return kind == AL_SAID_DASHBOARD;
    default:
        return false;
    }
}

static enum al_code claimed(uint32_t code, enum al_said_kind kind)
{
    return may_say((enum al_code)code, kind) ? (enum al_code)code : AL_ENGINE_CRASHED;
}

static bool is_hex(const char *s)
{
    for (int i = 0; i < 64; i++) {
        if (!((s[i] >= '0' && s[i] <= '9') || (s[i] >= 'a' && s[i] <= 'f')))
            return false;
    }
    return s[64] == '\0';
}

bool al_said_end(struct al_str payload, enum al_said_kind kind, struct al_said *ret)
{
    struct al_data_end_msg m;
    bool ingest = kind == AL_SAID_INGEST;
    if (payload.n < sizeof m)
        return false;
    memcpy(&m, payload.p, sizeof m);
    if (m.message_n > MESSAGE_MAX || m.hint_n > HINT_MAX || payload.n != sizeof m + m.message_n + m.hint_n)
        return false;
    struct al_str message = {payload.p + sizeof m, m.message_n}, hint = {message.p + m.message_n, m.hint_n};
    if (!al_utf8_valid(message) || !al_utf8_valid(hint) || memchr(message.p, 0, message.n) ||
        memchr(hint.p, 0, hint.n))
        return false;
    *ret = (struct al_said){0};
    if (m.code == AL_OK) {
        if (ingest && (!is_hex(m.sha256) || m.rows > INT64_MAX || m.bytes > INT64_MAX))
            return false;
        if (ingest)
            memcpy(ret->sha256, m.sha256, sizeof ret->sha256);
        ret->rows = m.rows;
        ret->bytes = m.bytes;
        return true;
    }
    al_fail(&ret->err, claimed(m.code, kind), "%.*s", AL_FMT(message));
    if (hint.n)
        al_hint(&ret->err, "%.*s", AL_FMT(hint));
    return true;
}

bool al_said_part(struct al_buf *to, struct al_str payload, unsigned json_depth)
{
    if (to->n || payload.n == 0 || payload.n > to->max)
        return false;
    if (json_depth ? !al_json_check(payload, json_depth) : !al_utf8_valid(payload))
        return false;
    al_buf_add_str(to, payload);
    return !al_buf_failed(to);
}
