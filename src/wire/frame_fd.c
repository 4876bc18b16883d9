#include "wire/frame_int.h"

#include <errno.h>
#include <unistd.h>

/* Bytes read: n, or fewer when the stream ends. -1 with errno. */
static ssize_t read_all(int fd, char *p, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t r = read(fd, p + done, n - done);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -1;
        if (r == 0)
            break;
        done += (size_t)r;
    }
    return (ssize_t)done;
}

static int write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t r = write(fd, p, n);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -1;
        p += r;
        n -= (size_t)r;
    }
    return 0;
}

static int fail(int eno)
{
    errno = eno;
    return -1;
}

int al_frame_read_fd(int fd, size_t max_payload, struct al_buf *payload, uint8_t *type)
{
    char head[AL_FRAME_HEADER];
    al_buf_clear(payload);
    ssize_t got = read_all(fd, head, sizeof head);
    if (got <= 0)
        return (int)got;
    if (got < (ssize_t)sizeof head)
        return fail(EPROTO);
    struct al_frame_head h = al_frame_head_read(head);
    if (h.version != AL_FRAME_VERSION || h.reserved)
        return fail(EPROTO);
    if (h.n > max_payload)
        return fail(EMSGSIZE);
    char *p = al_buf_grow(payload, h.n);
    if (!p)
        return fail(EMSGSIZE);
    got = read_all(fd, p, h.n);
    if (got < 0 || (size_t)got < h.n) {
        al_buf_clear(payload);
        return got < 0 ? -1 : fail(EPROTO);
    }
    *type = h.type;
    return 1;
}

/* A small frame goes out in one write(2), which spares the reader a wake-up for the header alone. */
int al_frame_write_fd(int fd, uint8_t type, struct al_str payload)
{
    char small[1024];
    if (payload.n > UINT32_MAX)
        return fail(EMSGSIZE);
    al_frame_head_write(small, type, (uint32_t)payload.n);
    if (payload.n > sizeof small - AL_FRAME_HEADER) {
        if (write_all(fd, small, AL_FRAME_HEADER) < 0)
            return -1;
        return write_all(fd, payload.p, payload.n);
    }
    if (payload.n)
        memcpy(small + AL_FRAME_HEADER, payload.p, payload.n);
    return write_all(fd, small, AL_FRAME_HEADER + payload.n);
}
