#include "wire/frame_int.h"

#define PAYLOAD_MAX ((size_t)1 << 30)
#define REST_CAP ((size_t)256 * 1024)

int al_frame_put(struct al_buf *out, uint8_t type, struct al_str payload)
{
    size_t n;
    if (payload.n > UINT32_MAX || __builtin_add_overflow(payload.n, AL_FRAME_HEADER, &n)) {
        out->failed = true;
        return -1;
    }
    char *p = al_buf_grow(out, n);
    if (!p)
        return -1;
    al_frame_head_write(p, type, (uint32_t)payload.n);
    if (payload.n)
        memcpy(p + AL_FRAME_HEADER, payload.p, payload.n);
    return 0;
}

void al_frames_init(struct al_frames *f, size_t max_payload)
{
    *f = (struct al_frames){.max_payload = max_payload < PAYLOAD_MAX ? max_payload : PAYLOAD_MAX};
    /* The start of one frame may wait here when the next piece comes. */
    al_buf_init(&f->in, AL_FRAME_HEADER + f->max_payload + AL_FRAMES_FEED_MAX);
}

void al_frames_free(struct al_frames *f)
{
    al_buf_free(&f->in);
    f->at = 0;
}

static int broken(struct al_frames *f, struct al_err *err)
{
    if (err)
        *err = f->broken;
    return -1;
}

static int check_head(struct al_frames *f, struct al_frame_head h, struct al_err *err)
{
    if (h.version != AL_FRAME_VERSION) {
        al_fail(&f->broken, AL_ENGINE_CRASHED, "wire: a frame of version %u, only %d is known", h.version,
                AL_FRAME_VERSION);
    } else if (h.reserved) {
        al_fail(&f->broken, AL_ENGINE_CRASHED, "wire: reserved bits are set in a frame");
    } else if (h.n > f->max_payload) {
        al_fail(&f->broken, AL_ENGINE_CRASHED, "wire: a frame of %lu bytes, at most %zu are allowed",
                (unsigned long)h.n, f->max_payload);
    }
    if (f->broken.code == AL_OK)
        return 0;
    al_buf_free(&f->in);
    f->at = 0;
    return broken(f, err);
}

int al_frames_feed(struct al_frames *f, struct al_str bytes, struct al_err *err)
{
    if (f->broken.code != AL_OK)
        return broken(f, err);
    al_buf_drop(&f->in, f->at);
    f->at = 0;
    al_buf_add_str(&f->in, bytes);
    if (!al_buf_failed(&f->in))
        return 0;
    al_buf_free(&f->in);
    al_fail(&f->broken, AL_ENGINE_CRASHED, "wire: more bytes than the decoder takes at once");
    return broken(f, err);
}

/* One large frame does not keep its memory for the life of the stream. */
static void rest(struct al_frames *f)
{
    if (f->in.cap > REST_CAP)
        al_buf_free(&f->in);
    else
        al_buf_clear(&f->in);
    f->at = 0;
}

int al_frames_next(struct al_frames *f, struct al_frame *ret, struct al_err *err)
{
    if (f->broken.code != AL_OK)
        return broken(f, err);
    size_t left = f->in.n - f->at;
    if (left == 0)
        rest(f);
    if (left < AL_FRAME_HEADER)
        return 0;
    const char *p = f->in.p + f->at;
    struct al_frame_head h = al_frame_head_read(p);
    if (check_head(f, h, err) < 0)
        return -1;
    if (left - AL_FRAME_HEADER < h.n)
        return 0;
    f->at += AL_FRAME_HEADER + h.n;
    *ret = (struct al_frame){.type = h.type, .payload = {p + AL_FRAME_HEADER, h.n}};
    return 1;
}

bool al_frames_idle(const struct al_frames *f)
{
    return f->broken.code == AL_OK && f->at == f->in.n;
}
