#include "cli/term.h"

#include "base/text.h"
#include "os/fd.h"

#include <stdlib.h>
#include <sys/ioctl.h>

unsigned al_term_width(int fd)
{
    struct winsize w;
    if (ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0)
        return w.ws_col;
    int64_t columns;
    const char *env = getenv("COLUMNS");
    if (env && al_parse_int(al_str_of(env), 20, 10000, &columns))
        return (unsigned)columns;
    return 80;
}

bool al_term_moves(int fd)
{
    const char *term = getenv("TERM");
    return al_fd_is_tty(fd) && term && *term && !al_str_is(al_str_of(term), "dumb");
}

bool al_term_color(int fd)
{
    const char *no = getenv("NO_COLOR");
    return al_term_moves(fd) && !(no && *no);
}

struct range {
    uint32_t first, last;
};

static bool in_ranges(uint32_t cp, const struct range *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cp >= r[i].first && cp <= r[i].last)
            return true;
    return false;
}

static unsigned columns_of(uint32_t cp)
{
    static const struct range none[] = {
        {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
        {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}};
    static const struct range wide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},
                                        {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
                                        {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
                                        {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
    if (cp < 0x300)
        return 1;
    if (in_ranges(cp, none, sizeof none / sizeof *none))
        return 0;
    return in_ranges(cp, wide, sizeof wide / sizeof *wide) ? 2 : 1;
}

/* Bytes of the first character, its code point in *cp; an invalid byte stands for itself. */
static unsigned next_char(struct al_str s, uint32_t *cp)
{
    unsigned n = al_utf8_decode(s, cp);
    if (n == 0) {
        *cp = 0xfffd;
        n = 1;
    }
    return n;
}

unsigned al_term_columns(struct al_str s)
{
    unsigned columns = 0;
    while (s.n > 0) {
        uint32_t cp;
        unsigned n = next_char(s, &cp);
        columns += columns_of(cp);
        s.p += n;
        s.n -= n;
    }
    return columns;
}

struct al_str al_term_cut(struct al_str s, unsigned columns)
{
    struct al_str rest = s;
    unsigned used = 0;
    while (rest.n > 0) {
        uint32_t cp;
        unsigned n = next_char(rest, &cp);
        used += columns_of(cp);
        if (used > columns)
            break;
        rest.p += n;
        rest.n -= n;
    }
    return (struct al_str){s.p, s.n - rest.n};
}
