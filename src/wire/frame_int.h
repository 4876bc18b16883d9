/* The header of a frame, for the parts of this module alone. */
#ifndef AL_WIRE_FRAME_INT_H
#define AL_WIRE_FRAME_INT_H

#include "wire/frame.h"

struct al_frame_head {
    uint32_t n;
    uint8_t type;
    uint8_t version;
    uint16_t reserved;
};

static inline struct al_frame_head al_frame_head_read(const char *bytes)
{
    const unsigned char *p = (const unsigned char *)bytes;
    return (struct al_frame_head){
        .n = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24,
        .type = p[4],
        .version = p[5],
        .reserved = (uint16_t)(p[6] | p[7] << 8),
    };
}

static inline void al_frame_head_write(char *p, uint8_t type, uint32_t n)
{
    p[0] = (char)(n & 0xff);
    p[1] = (char)(n >> 8 & 0xff);
    p[2] = (char)(n >> 16 & 0xff);
    p[3] = (char)(n >> 24);
    p[4] = (char)type;
    p[5] = AL_FRAME_VERSION;
    p[6] = p[7] = 0;
}

#endif
