/*
 * Relative paths of entries in the files of other clients. With us a server starts in the home folder, and a
 * path that counts from there, or from whatever workspace is open, would name a file that nobody meant: it is
 * made absolute by the place that it counts from with its own client, or the entry is left out.
 */
#include "config/servers_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_PATH (2 * PATH_MAX)
#define N_PLACES 2

struct rooting {
    bool user_scope;              /* the client may be opened anywhere: nothing is taken for its folder */
    const char *places[N_PLACES]; /* the likelier first; the second may be NULL */
    struct al_buf what;           /* why the entry cannot be used; empty: it can */
};

static bool is_relative(const char *path)
{
    return path[0] != '/' && strncmp(path, "${", 2) != 0;
}

/* "." and what begins with "./" or "../" is a path, whatever it stands for. */
static bool is_explicit(const char *word)
{
    const char *rest = word + strspn(word, ".");
    return rest > word && rest - word <= 2 && (*rest == '/' || *rest == 0);
}

/* The folder itself, or one above it, and nothing in it. */
static bool is_dots(const char *path)
{
    return path[strspn(path, "./")] == 0;
}

static char *join(const char *place, const char *path)
{
    struct al_buf b = AL_BUF_INIT(AL_SERVERS_MAX_FILE);
    while (path[0] == '.' && (path[1] == '/' || path[1] == 0)) {
        path += 1 + (path[1] == '/');
        path += strspn(path, "/");
    }
    al_buf_adds(&b, strcmp(place, "/") == 0 ? "" : place);
    if (*path)
        al_buf_addf(&b, "/%s", path);
    else if (b.n == 0)
        al_buf_addc(&b, '/');
    return al_buf_take(&b);
}

enum wanted {
    WANT_ANY,
    WANT_FILE,
    WANT_FOLDER,
};

/* The path at the first place where there is such a thing; NULL: nowhere. */
static char *find(const struct rooting *r, const char *path, enum wanted want)
{
    for (size_t i = 0; i < N_PLACES && r->places[i]; i++) {
        struct stat st;
        char *full = join(r->places[i], path);
        bool there = full && stat(full, &st) == 0;
        if (there && (want == WANT_ANY || (want == WANT_FILE ? S_ISREG(st.st_mode) : S_ISDIR(st.st_mode))))
            return full;
        free(full);
    }
    return NULL;
}

static void refuse(struct rooting *r, const char *part, const char *path)
{
    if (r->what.n)
        return;
    al_buf_addf(&r->what, "its %s ", part);
    al_text_plain(&r->what, al_utf8_cut(al_str_of(path), 200), false);
    if (r->user_scope) {
        al_buf_adds(&r->what, " counts from the folder that its client is opened in");
    } else {
        al_buf_adds(&r->what, " is not there, seen from ");
        al_text_plain(&r->what, al_str_of(r->places[0]), false);
    }
    al_buf_adds(&r->what, "; write it with its whole path");
}

static void replace(char **text, char *with)
{
    free(*text);
    *text = with;
}

static void root_cwd(struct rooting *r, struct al_server *s)
{
    if (!is_relative(s->cwd))
        return;
    char *full = r->user_scope && is_dots(s->cwd) ? NULL : find(r, s->cwd, WANT_FOLDER);
    if (full)
        replace(&s->cwd, full);
    else
        refuse(r, "cwd", s->cwd);
}

static void root_command(struct rooting *r, struct al_server *s)
{
    if (!is_relative(s->command) || !strchr(s->command, '/'))
        return;
    if (s->cwd && s->cwd[0] != '/')
        return; /* that begins with a variable: it counts from there */
    char *full = s->cwd ? join(s->cwd, s->command) : find(r, s->command, WANT_FILE);
    if (full)
        replace(&s->command, full);
    else
        refuse(r, "command", s->command);
}

/* Programs whose arguments are names of packages and the like. */
static bool takes_names(const char *command)
{
    static const char *const programs[] = {"npx", "npm",  "pnpm",   "yarn",  "bunx",
                                           "uvx", "pipx", "docker", "podman"};
    const char *slash = strrchr(command, '/');
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strcmp(slash ? slash + 1 : command, programs[i]) == 0)
            return true;
    return false;
}

/* "./x", "--flag=./x", and what names a file that is there. */
static void root_argument(struct rooting *r, const char *command, char **arg)
{
    const char *equals = (*arg)[0] == '-' ? strchr(*arg, '=') : NULL;
    const char *path = equals ? equals + 1 : *arg;
    bool explicit = is_explicit(path);
    if (!*path || *path == '-' || !is_relative(path) || (equals && !explicit) || strlen(path) > PATH_MAX)
        return;
    if (!explicit && !strchr(path, '/') && takes_names(command))
        return;
    char *full = r->user_scope && is_dots(path) ? NULL : find(r, path, explicit ? WANT_ANY : WANT_FILE);
    if (!full && explicit && r->user_scope)
        refuse(r, "argument", *arg);
    else if (!full && explicit)
        full = join(r->places[0], path);
    if (!full)
        return;
    struct al_buf b = AL_BUF_INIT(AL_SERVERS_MAX_FILE);
    al_buf_add(&b, *arg, (size_t)(path - *arg));
    al_buf_adds(&b, full);
    free(full);
    replace(arg, al_buf_take(&b));
}

static void root(struct rooting *r, struct al_server *s)
{
    al_buf_clear(&r->what);
    if (s->cwd)
        root_cwd(r, s);
    root_command(r, s);
    /* With a folder of its own, arguments count from that. */
    for (size_t i = 0; !s->cwd && s->args && s->args[i]; i++)
        root_argument(r, s->command, &s->args[i]);
    const char *fault = r->what.n ? NULL : al_server_complete(s);
    if (fault)
        al_buf_adds(&r->what, fault);
}

/* The folder of the file; when that is one of the client's own (.vscode, .cursor), the folder that it lies in
 * counts first. */
static char *folder_of(const char *file, char **ret_above)
{
    const char *slash = strrchr(file, '/');
    char *dir = slash && slash > file ? al_xdup(file, (size_t)(slash - file)) : al_xstrdup("/");
    const char *name = strrchr(dir, '/');
    *ret_above = NULL;
    if (name && name[1] == '.' && name[2])
        *ret_above = name > dir ? al_xdup(dir, (size_t)(name - dir)) : al_xstrdup("/");
    return dir;
}

void al_servers_root(struct al_servers *s, size_t first, const char *file, bool user_scope,
                     struct al_buf *notices)
{
    autofree char *above = NULL;
    autofree char *dir = folder_of(file, &above);
    struct rooting r = {.user_scope = user_scope, .what = AL_BUF_INIT(MAX_PATH)};
    size_t n = first;
    for (size_t i = first; i < s->n; i++) {
        struct al_server *entry = &s->v[i];
        const char *project = entry->project && entry->project[0] == '/' ? entry->project : NULL;
        memcpy(entry->imported_sha256, entry->sha256, sizeof entry->sha256);
        r.places[0] = project ? project : above ? above : dir;
        r.places[1] = project || !above ? NULL : dir;
        al_buf_clear(&r.what);
        if (!entry->http)
            root(&r, entry);
        if (al_buf_failed(&r.what) || r.what.n) {
            if (notices) {
                al_text_plain(notices, al_utf8_cut(al_str_of(entry->name), 80), false);
                al_buf_addf(notices, ": %.*s\n", AL_FMT(al_buf_str(&r.what)));
            }
            al_server_fini(entry);
            continue;
        }
        if (n != i)
            s->v[n] = *entry;
        n++;
    }
    s->n = n;
    al_buf_free(&r.what);
}
