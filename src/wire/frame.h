/*
 * Frames between the host and a worker: bytes in, frames out. Not a transport: only the pair at the end
 * touches a descriptor, and it knows read(2) and write(2) alone.
 *
 * A frame is a header of 8 bytes and a payload:
 *     0  u32, little-endian   length of the payload
 *     4  u8                   type, whose meaning belongs to the two ends
 *     5  u8                   AL_FRAME_VERSION
 *     6  u16                  zero
 * Neither side trusts the other: a length over the maximum is refused before there is memory for it.
 */
#ifndef AL_WIRE_FRAME_H
#define AL_WIRE_FRAME_H

#include "base/buf.h"
#include "base/err.h"

#define AL_FRAME_HEADER 8
#define AL_FRAME_VERSION 1

struct al_frame {
    uint8_t type;
    struct al_str payload; /* a view: valid until the next call on its decoder */
};

/* Appends one frame, all of it or (with -1) nothing. The buffer's own limit counts header and payload. */
int al_frame_put(struct al_buf *out, uint8_t type, struct al_str payload);

/* What one call of al_frames_feed takes at most. */
#define AL_FRAMES_FEED_MAX ((size_t)1 << 20)

/* A decoder over a stream that arrives in pieces of any size. */
struct al_frames {
    struct al_buf in;
    size_t at; /* bytes of in that are frames already given out */
    size_t max_payload;
    struct al_err broken; /* why the stream is broken, once it is */
};

void al_frames_init(struct al_frames *f, size_t max_payload); /* at most 1 GiB counts */
void al_frames_free(struct al_frames *f);

/*
 * Takes up to AL_FRAMES_FEED_MAX bytes. Call al_frames_next until it returns 0 before the next feed; who does
 * not meets the buffer's limit. 0, or -1 when the stream is broken (ENGINE_CRASHED).
 */
int al_frames_feed(struct al_frames *f, struct al_str bytes, struct al_err *err) AL_MUST_CHECK;

/*
 * 1 and a frame; 0 when more bytes are needed; -1 when the stream is broken: wrong version, reserved bits, a
 * length over the maximum. From then on every call fails with the same error.
 */
int al_frames_next(struct al_frames *f, struct al_frame *ret, struct al_err *err) AL_MUST_CHECK;

/* True when the stream may end here: no part of a frame is left over. */
bool al_frames_idle(const struct al_frames *f);

/*
 * The blocking side of a sealed worker, on a descriptor in blocking mode. payload is cleared first; its
 * memory is kept from frame to frame. 1 and a frame, 0 at the end of the stream between two frames, -1 with
 * errno: EPROTO for what is no frame, EMSGSIZE for a payload over max_payload or over the buffer's limit.
 */
int al_frame_read_fd(int fd, size_t max_payload, struct al_buf *payload, uint8_t *type) AL_MUST_CHECK;

/* All of the frame, or -1 with errno. SIGPIPE is the caller's to ignore. */
int al_frame_write_fd(int fd, uint8_t type, struct al_str payload) AL_MUST_CHECK;

#endif
