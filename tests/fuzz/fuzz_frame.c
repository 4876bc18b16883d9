/*
 * The first two bytes choose the maximum and the size of the pieces; the rest is a stream. In pieces and in
 * one go the decoder must give the same frames and the same end, and what it gave must encode to the bytes it
 * took.
 */
#include "wire/frame.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

/* Returns the last answer of the decoder and collects the frames, encoded again, in out. */
static int decode(struct al_str stream, size_t max, size_t piece, struct al_buf *out)
{
    struct al_frames f;
    struct al_err err = {0};
    int r = 0;
    al_frames_init(&f, max);
    for (size_t at = 0; at < stream.n && r == 0; at += piece) {
        struct al_str part = {stream.p + at, stream.n - at < piece ? stream.n - at : piece};
        struct al_frame frame;
        r = al_frames_feed(&f, part, &err);
        if (r < 0)
            break;
        while ((r = al_frames_next(&f, &frame, &err)) == 1) {
            MUST(frame.payload.n <= max);
            MUST(al_frame_put(out, frame.type, frame.payload) == 0);
        }
    }
    if (r < 0) {
        struct al_frame frame;
        MUST(err.code == AL_ENGINE_CRASHED);
        MUST(al_frames_next(&f, &frame, NULL) == -1 && al_frames_feed(&f, stream, NULL) == -1);
    } else {
        MUST(al_frames_idle(&f) == (out->n == stream.n));
        MUST(f.in.n <= max + AL_FRAME_HEADER + AL_FRAMES_FEED_MAX);
    }
    al_frames_free(&f);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > AL_FRAMES_FEED_MAX)
        return 0;
    size_t max = data[0] * 16u, piece = 1u + data[1];
    struct al_str stream = {(const char *)data + 2, size - 2};
    autobuf struct al_buf whole = AL_BUF_INIT(2 * AL_FRAMES_FEED_MAX),
                          parts = AL_BUF_INIT(2 * AL_FRAMES_FEED_MAX);
    int r = decode(stream, max, stream.n ? stream.n : 1, &whole);
    MUST(decode(stream, max, piece, &parts) == r);
    MUST(al_str_eq(al_buf_str(&whole), al_buf_str(&parts)));
    MUST(whole.n <= stream.n && (whole.n == 0 || memcmp(whole.p, stream.p, whole.n) == 0));
    return 0;
}
