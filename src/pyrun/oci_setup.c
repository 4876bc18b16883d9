/* An image by its digest: pulled when a person says so, and never during a run. And what a dead host left is
 * removed. */
#include "pyrun/oci.h"
#include "pyrun/oci_int.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/path.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_ASKED 400 /* bytes of a name with its digest */
#define TRY_MS 60000
#define DIGEST_HEX 64

struct setup {
    struct al_oci_engine engine;
    void (*note)(void *ud, struct al_str line);
    void *ud;
};

__attribute__((format(printf, 2, 3))) static void note(struct setup *s, const char *fmt, ...)
{
    if (!s->note)
        return;
    char line[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    s->note(s->ud, al_str_of(line));
}

/* A word of a command: no option, no space; a tag and a digest are fine. */
static bool is_name(const char *name)
{
    static const char more[] = "._-/:@";
    size_t n = strlen(name);
    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && (i == 0 || !strchr(more, c)))
            return false;
    }
    return n > 0 && n < MAX_ASKED;
}

/* The name without its tag and digest. */
static struct al_str repository(const char *name)
{
    struct al_str s = al_str_of(name);
    const char *at = memchr(s.p, '@', s.n);
    if (at)
        s.n = (size_t)(at - s.p);
    const char *slash = memrchr(s.p, '/', s.n), *last = slash ? slash : s.p;
    const char *colon = memchr(last, ':', (size_t)(s.p + s.n - last));
    if (colon)
        s.n = (size_t)(colon - s.p);
    return s;
}

static int pull(struct setup *s, const char *name, uint64_t timeout_ms, struct al_err *err)
{
    const char *args[] = {"pull", name, NULL};
    autobuf struct al_buf out = AL_BUF_INIT(AL_OCI_SAID_MAX), errors = AL_BUF_INIT(AL_OCI_SAID_MAX);
    int status;
    note(s, "%s pulls %s", al_oci_engine_name(&s->engine), name);
    if (al_oci_ask(&s->engine, args, timeout_ms, &out, &errors, &status, err) < 0)
        return -1;
    return status == 0 ? 0 : al_oci_fail(al_buf_str(&errors), "the image cannot be pulled", err);
}

/* "sha256:…" of that name, from what the engine keeps of it: RepoDigests, which it got from where it pulled,
 * and for an image that was made here, Podman's own digest. */
static bool find_digest(const struct al_json *image, struct al_str repo, char ret[DIGEST_HEX + 8])
{
    struct al_str best = {0};
    al_json_each(entry, al_json_get(image, "RepoDigests"))
    {
        ptrdiff_t at = al_json_is_string(entry) ? al_str_find(entry->str, AL_STR("@")) : -1;
        if (at < 0)
            continue;
        struct al_str of = {entry->str.p, (size_t)at},
                      digest = {entry->str.p + at + 1, entry->str.n - (size_t)at - 1};
        /* Podman writes docker.io/library/python for python. */
        bool same = al_str_eq(of, repo) || (of.n > repo.n && of.p[of.n - repo.n - 1] == '/' &&
                                            memcmp(of.p + of.n - repo.n, repo.p, repo.n) == 0);
        if (same && digest.n == DIGEST_HEX + 7)
            best = digest;
    }
    if (!best.n)
        best = al_json_get_text(image, "Digest");
    if (best.n != DIGEST_HEX + 7 || !al_str_starts(best, "sha256:"))
        return false;
    memcpy(ret, best.p, best.n);
    ret[best.n] = 0;
    return true;
}

/* 1: it is not there. */
static int look_up(struct setup *s, const char *name, struct al_oci_image *ret, struct al_err *err)
{
    const char *args[] = {"image", "inspect", name, NULL};
    autobuf struct al_buf out = AL_BUF_INIT(AL_OCI_SAID_MAX), errors = AL_BUF_INIT(AL_OCI_SAID_MAX);
    int status;
    if (al_oci_image_id(s->engine.program, s->engine.env, name, ret->id, err) != 0)
        return 1;
    if (al_oci_ask(&s->engine, args, AL_OCI_ASK_MS, &out, &errors, &status, err) < 0)
        return -1;
    autoarena struct al_arena a = AL_ARENA_INIT(16 * AL_OCI_SAID_MAX);
    const struct al_json *v;
    char digest[DIGEST_HEX + 8];
    struct al_str repo = repository(name);
    if (status != 0 || al_json_parse(&a, al_buf_str(&out), &v, NULL) < 0)
        return al_oci_fail(al_buf_str(&errors), "the image cannot be looked up", err);
    if (!find_digest(v->child, repo, digest)) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "container image: the engine knows no digest of it");
        return al_hint(
            err, "an image that was made here gets its digest when it is pushed to a registry and pulled");
    }
    snprintf(ret->pinned, sizeof(ret->pinned), "%.*s@%s", AL_FMT(repo), digest);
    if (al_config_is_image(al_str_of(ret->pinned)))
        return 0;
    return al_fail(err, AL_INVALID_INPUT, "the name of that image is too long");
}

/* The Python that scripts will get, started as they are, with nothing mounted. */
static int try_python(struct setup *s, struct al_oci_image *ret, struct al_err *err)
{
    static const char code[] = "import sys; print('%d.%d.%d' % sys.version_info[:3])";
    const char *args[] = {"run",
                          "--rm",
                          "--network=none",
                          "--read-only",
                          "--cap-drop=ALL",
                          "--security-opt=no-new-privileges",
                          "--label",
                          AL_OCI_LABEL,
                          "--pull=never",
                          ret->pinned,
                          "python",
                          "-c",
                          code,
                          NULL};
    autobuf struct al_buf out = AL_BUF_INIT(AL_OCI_SAID_MAX), errors = AL_BUF_INIT(AL_OCI_SAID_MAX);
    int status;
    note(s, "its Python is tried");
    if (al_oci_ask(&s->engine, args, TRY_MS, &out, &errors, &status, err) < 0)
        return -1;
    if (status != 0)
        return al_oci_fail(al_buf_str(&errors), "the image does not run Python", err);
    struct al_str said = al_str_trim(al_buf_str(&out));
    char text[32];
    snprintf(text, sizeof(text), "%.*s", said.n < sizeof(text) ? (int)said.n : 0, said.p);
    char *dot = NULL;
    long major = strtol(text, &dot, 10), minor = dot && *dot == '.' ? strtol(dot + 1, NULL, 10) : 0;
    if (major != 3 || minor < 10) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "container image: its Python is %s, and 3.10 or newer is needed",
                text[0] ? text : "of an unknown version");
        return al_hint(err, "alisio analysis setup --oci --image python:3.12-slim");
    }
    snprintf(ret->python, sizeof(ret->python), "%s", text);
    return 0;
}

static int set_up(struct setup *s, const char *name, uint64_t timeout_ms, struct al_oci_image *ret,
                  struct al_err *err)
{
    struct al_oci_facts facts;
    if (al_oci_facts(&s->engine, &facts, err) < 0)
        return -1;
    snprintf(ret->engine, sizeof(ret->engine), "%s", facts.version);
    /* What is pinned cannot be newer than it is. A tag can; but where nothing answers, what is there will do.
     */
    bool pinned = al_config_is_image(al_str_of(name));
    int r = pinned ? look_up(s, name, ret, err) : 1;
    if (r < 0)
        return -1;
    if (r == 1) {
        struct al_err why = {0};
        bool pulled = pull(s, name, timeout_ms, &why) == 0;
        r = look_up(s, name, ret, err);
        if (r == 1 && !pulled && err)
            *err = why;
        if (r != 0)
            return r < 0 || !pulled ? -1
                                    : al_fail(err, AL_RUNTIME_UNAVAILABLE,
                                              "container image: it was pulled, and is not there");
        if (!pulled)
            note(s, "it could not be pulled (%.300s); the one that is there is taken", why.msg);
    }
    if (pinned && strcmp(ret->pinned, name) != 0)
        return al_fail(err, AL_RUNTIME_UNAVAILABLE,
                       "container image: its digest is another one than the pinned one");
    return try_python(s, ret, err);
}

int al_oci_setup(struct al_pyrun *p, const char *name, uint64_t timeout_ms,
                 void (*say)(void *ud, struct al_str line), void *ud, struct al_oci_image *ret,
                 struct al_err *err)
{
    struct setup s = {.note = say, .ud = ud};
    if (!name)
        name = al_config_text(al_pyrun_config(p), AL_OPT_ANALYSIS_OCI_IMAGE);
    if (!name) {
        al_fail(err, AL_CONFIG_INVALID, "no image is named, and analysis.oci.image is not set");
        return al_hint(err, "alisio analysis setup --oci --image python:3.12-slim");
    }
    if (!is_name(name)) {
        al_fail(err, AL_INVALID_INPUT, "that is no name of an image");
        return al_hint(err, "such as python:3.12-slim, or NAME@sha256:DIGEST");
    }
    if (al_oci_engine_find(p, true, &s.engine, err) < 0)
        return -1;
    struct al_oci_image image = {0};
    int r = set_up(&s, name, timeout_ms, &image, err);
    if (r == 0) {
        al_oci_remember_id(s.engine.program, image.pinned, image.id);
        *ret = image;
    }
    al_oci_engine_fini(&s.engine);
    return r;
}
