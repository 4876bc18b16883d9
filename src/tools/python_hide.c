/* What a script says names the places where it ran. A model sees them as the script does in a sandbox, in
 * every back end: "/job/script/main.py". Where they are on this machine is nobody's business but its
 * people's. */
#include "tools/python_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/path.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_PLACES 24

struct place {
    char *from; /* owned */
    const char *to;
    size_t n;
};

struct places {
    struct place list[MAX_PLACES]; /* the longest first */
    size_t n;
};

static void add(struct places *p, const char *from, const char *sub, const char *to)
{
    char *path;
    if (!from || strlen(from) < 2 || p->n == MAX_PLACES || asprintf(&path, "%s%s", from, sub) < 0)
        return;
    size_t n = strlen(path), at = p->n++;
    for (; at > 0 && p->list[at - 1].n < n; at--)
        p->list[at] = p->list[at - 1];
    p->list[at] = (struct place){path, to, n};
}

/* A folder by the name that we were given, and by its real one. */
static void add_both(struct places *p, const char *path, const char *sub, const char *to)
{
    struct al_err ignored;
    autofree char *real = path ? al_path_real(path, &ignored) : NULL;
    add(p, path, sub, to);
    if (real && strcmp(real, path) != 0)
        add(p, real, sub, to);
}

static void collect(const struct python_run *r, struct places *p)
{
    static const char *const parts[][2] = {{"/script", "/job/script"},
                                           {"/input", "/job/input"},
                                           {"/work", "/job/work"},
                                           {"/staging", "/job/out"},
                                           {"", "/job"}};
    struct al_scratch *scratch = al_core_scratch(r->core);
    for (size_t i = 0; r->has_job && i < sizeof(parts) / sizeof(*parts); i++)
        add_both(p, r->job.path, parts[i][0], parts[i][1]);
    add_both(p, r->venv, "", "<extras>");
    add_both(p, r->prefix, "", "<python>");
    if (scratch)
        add_both(p, al_scratch_path(scratch), "", "/job/scratch");
    add_both(p, al_store_dir(al_core_store(r->core)), "", "<state>");
}

/* /state/x is within /state, and /state2 is not. */
static bool ends_there(struct al_str text, size_t at)
{
    if (at == text.n)
        return true;
    unsigned char c = (unsigned char)text.p[at];
    bool of_a_name =
        c >= 0x80 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || c == '-';
    return !of_a_name;
}

static const struct place *place_at(const struct places *p, struct al_str text, size_t at)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct place *place = &p->list[i];
        if (text.n - at >= place->n && memcmp(text.p + at, place->from, place->n) == 0 &&
            ends_there(text, at + place->n))
            return place;
    }
    return NULL;
}

void python_hide_paths(const struct python_run *r, struct al_str text, struct al_buf *out)
{
    struct places p = {.n = 0};
    collect(r, &p);
    for (size_t i = 0; i < text.n;) {
        const char *slash = memchr(text.p + i, '/', text.n - i);
        size_t stop = slash ? (size_t)(slash - text.p) : text.n;
        al_buf_add(out, text.p + i, stop - i);
        i = stop;
        if (i == text.n)
            break;
        const struct place *place = place_at(&p, text, i);
        if (place)
            al_buf_adds(out, place->to);
        else
            al_buf_addc(out, '/');
        i += place ? place->n : 1;
    }
    for (size_t i = 0; i < p.n; i++)
        free(p.list[i].from);
}

static void hide_in(const struct python_run *r, char *text, size_t room)
{
    autobuf struct al_buf out = AL_BUF_INIT(64u << 10);
    if (!strchr(text, '/'))
        return;
    python_hide_paths(r, al_str_of(text), &out);
    struct al_str s = al_utf8_cut(al_buf_str(&out), room - 1);
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
}

void python_hide_in_error(const struct python_run *r, struct al_err *err)
{
    hide_in(r, err->msg, sizeof err->msg);
    hide_in(r, err->hint, sizeof err->hint);
}
