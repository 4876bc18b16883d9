#include "jsvm/vm.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/*
 * Frames straight between the channel and guest memory. wire/frame.h has the same for buffers in native
 * memory, which a sealed run does not allocate.
 */

/* The peer has gone, or is not the one we know: no one is left to tell. */
_Noreturn static void lost(void)
{
    _exit(0);
}

static void write_all(const char *p, size_t n)
{
    while (n && !al_vm.rehearses) {
        ssize_t r = write(AL_VM_FD, p, n);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            lost();
        p += r;
        n -= (size_t)r;
    }
}

/* What one read brought: often more than one frame. */
static char got[8192];
static size_t got_at, got_n;

static ssize_t read_some(char *p, size_t n)
{
    ssize_t r;
    do {
        r = read(AL_VM_FD, p, n);
    } while (r < 0 && errno == EINTR);
    if (r <= 0)
        lost();
    return r;
}

static void read_all(char *p, size_t n)
{
    while (n) {
        if (got_at == got_n && n >= sizeof got) {
            size_t r = (size_t)read_some(p, n);
            p += r;
            n -= r;
            continue;
        }
        if (got_at == got_n) {
            got_n = (size_t)read_some(got, sizeof got);
            got_at = 0;
        }
        size_t part = n < got_n - got_at ? n : got_n - got_at;
        memcpy(p, got + got_at, part);
        got_at += part;
        p += part;
        n -= part;
    }
}

void al_vm_rehearse(const char *p, size_t n)
{
    al_vm.rehearses = true;
    got_at = 0;
    got_n = n < sizeof got ? n : sizeof got;
    memcpy(got, p, got_n);
}

/* Small frames gather here, so that what belongs together goes out in one write and wakes the host once. */
static char held[4096];
static size_t held_n;

static void hold(const char *p, size_t n)
{
    if (n > sizeof held - held_n) {
        write_all(held, held_n);
        held_n = 0;
    }
    if (n > sizeof held) {
        write_all(p, n);
    } else if (n) {
        memcpy(held + held_n, p, n);
        held_n += n;
    }
}

void al_vm_hold(uint8_t type, struct al_str a, struct al_str b, struct al_str c)
{
    uint64_t n = (uint64_t)a.n + b.n + c.n;
    char head[AL_FRAME_HEADER] = {0};
    if (n > UINT32_MAX)
        lost();
    for (int i = 0; i < 4; i++)
        head[i] = (char)(n >> (8 * i) & 0xff);
    head[4] = (char)type;
    head[5] = AL_FRAME_VERSION;
    hold(head, sizeof head);
    hold(a.p, a.n);
    hold(b.p, b.n);
    hold(c.p, c.n);
}

void al_vm_send(uint8_t type, struct al_str a, struct al_str b, struct al_str c)
{
    al_vm_hold(type, a, b, c);
    write_all(held, held_n);
    held_n = 0;
}

void al_vm_receive(struct al_vm_in *ret)
{
    unsigned char h[AL_FRAME_HEADER];
    read_all((char *)h, sizeof h);
    uint32_t n = (uint32_t)h[0] | (uint32_t)h[1] << 8 | (uint32_t)h[2] << 16 | (uint32_t)h[3] << 24;
    if (h[5] != AL_FRAME_VERSION || h[6] || h[7] || n > AL_VM_DATA_MAX + AL_VM_SCRIPT_MAX + 4096)
        lost();
    *ret = (struct al_vm_in){.type = h[4], .n = n};
    if (n == 0)
        return;
    /* The text of a script or a result that does not even fit: the same as a script that keeps too much. */
    ret->p = al_vm_alloc(n);
    char *to = ret->p ? al_vm_view(ret->p, n) : NULL;
    if (!to) {
        al_vm.grow_refused = true;
        al_vm_trap(WASM_RT_TRAP_UNREACHABLE);
    }
    read_all(to, n);
}
