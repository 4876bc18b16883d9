/* Which Python runs the scripts: found once, asked what it is, and remembered as long as its file stays the
 * same. */
#include "pyrun/pyrun_int.h"

#include "base/ident.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* One that hangs leaves time for others; all of it is what a person waits for a first script. */
#define FIND_MS 15000
#define ASK_MS 10000
#define UV_MS 5000
/* What hung is not waited for again by each back end in turn. */
#define LATE_MS 5000
#define ANSWER_MAX 65536
#define MIN_MINOR 10
#define CACHE "discovery.json"
#define NAMED "--python" /* the source of one that a person named */

/* Runs on Pythons from 2.7 on, so that an old one says how old it is. A virtual environment's answer is that
 * of the installation beneath it. */
static const char question[] = "import sys,os,json\n"
                               "r=os.path.realpath\n"
                               "a={'version':list(sys.version_info[:3]),'executable':r(getattr(sys,'_base_"
                               "executable',None) or sys.executable),"
                               "'prefix':r(getattr(sys,'base_prefix',sys.prefix)),'execPrefix':r(getattr(sys,"
                               "'base_exec_prefix',sys.exec_prefix)),"
                               "'stdlib':r(os.path.dirname(os.__file__))}\n"
                               "try:\n"
                               " import sysconfig\n"
                               " a['libdir']=r(sysconfig.get_config_var('LIBDIR')) if "
                               "sysconfig.get_config_var('Py_ENABLE_SHARED') else None\n"
                               "except Exception: pass\n"
                               "print(json.dumps(a))\n";

/* What the answers "not found" and "too old" are made of. */
struct search {
    struct al_pyrun *pyrun;
    uint64_t until_ms;
    bool late;        /* somebody did not answer */
    char too_old[64]; /* the newest that was refused */
    int old_minor;
};

static uint64_t time_for(const struct search *s, uint64_t most)
{
    uint64_t now = al_mono_ms();
    uint64_t left = s->until_ms > now ? s->until_ms - now : 0;
    return left < most ? left : most;
}

void al_py_interpreter_fini(struct al_py_interpreter *i)
{
    free(i->path);
    free(i->prefix);
    free(i->exec_prefix);
    for (size_t n = 0; i->roots && i->roots[n]; n++)
        free(i->roots[n]);
    free(i->roots);
    free(i->version);
    free(i->source);
    *i = (struct al_py_interpreter){0};
}

static struct al_py_interpreter copy_of(const struct al_py_interpreter *i)
{
    size_t n = 0;
    while (i->roots[n])
        n++;
    struct al_py_interpreter c = {
        .path = al_xstrdup(i->path),
        .prefix = al_xstrdup(i->prefix),
        .exec_prefix = al_xstrdup(i->exec_prefix),
        .roots = al_xcalloc(n + 1, sizeof(*c.roots)),
        .version = al_xstrdup(i->version),
        .major = i->major,
        .minor = i->minor,
        .source = al_xstrdup(i->source),
        .mtime_ns = i->mtime_ns,
        .size = i->size,
        .inode = i->inode,
    };
    while (n-- > 0)
        c.roots[n] = al_xstrdup(i->roots[n]);
    return c;
}

/* --- the answer --- */

static bool beneath(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 &&
           (path[n] == 0 || path[n] == '/' || (n > 0 && folder[n - 1] == '/'));
}

/* A package store serves one program out of many folders. */
static const char *whole_store(const char *path)
{
    static const char *const stores[] = {"/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew"};
    for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++) {
        if (beneath(path, stores[i]))
            return stores[i];
    }
    return path;
}

static void add_root(char **roots, const char *path)
{
    size_t n = 0;
    if (path[0] != '/' || beneath(path, "/usr"))
        return;
    path = whole_store(path);
    for (; roots[n]; n++) {
        if (beneath(path, roots[n]))
            return;
        if (beneath(roots[n], path)) {
            free(roots[n]);
            roots[n] = al_xstrdup(path);
            return;
        }
    }
    roots[n] = al_xstrdup(path);
}

static char *text_of(const struct al_json *answer, const char *key)
{
    struct al_str s = al_json_get_text(answer, key);
    return s.p && s.n && !memchr(s.p, 0, s.n) ? al_xdup(s.p, s.n) : NULL;
}

static int version_part(const struct al_json *v)
{
    int64_t n = 0;
    return al_json_int(v, 0, 1000000, &n) ? (int)n : 0;
}

/* As the answer and the cache have it in common: all but what is asked of the file itself. */
static bool fill(const struct al_json *answer, struct al_py_interpreter *i)
{
    static const char *const places[] = {"prefix", "execPrefix", "stdlib", "libdir"};
    const struct al_json *version = al_json_get(answer, "version");
    i->path = text_of(answer, "executable");
    i->prefix = text_of(answer, "prefix");
    i->exec_prefix = text_of(answer, "execPrefix");
    if (!i->path || i->path[0] != '/' || !i->prefix || !i->exec_prefix || !version ||
        version->type != AL_JSON_ARRAY || version->n != 3)
        return false;
    const struct al_json *minor = version->child->next;
    i->major = version_part(version->child);
    i->minor = version_part(minor);
    if (asprintf(&i->version, "%d.%d.%d", i->major, i->minor, version_part(minor->next)) < 0)
        abort();
    i->roots = al_xcalloc(6, sizeof(*i->roots));
    for (size_t n = 0; n < 4; n++) {
        autofree char *place = text_of(answer, places[n]);
        if (place)
            add_root(i->roots, place);
    }
    autofree char *folder = al_xstrdup(i->path);
    char *slash = strrchr(folder, '/');
    if (slash > folder) {
        *slash = 0;
        add_root(i->roots, folder);
    }
    return true;
}

static bool look_at(struct al_py_interpreter *i)
{
    struct stat st;
    if (stat(i->path, &st) < 0 || !S_ISREG(st.st_mode) || access(i->path, X_OK) < 0)
        return false;
    i->mtime_ns = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
    i->size = st.st_size;
    i->inode = (int64_t)st.st_ino;
    return true;
}

/* A file named by a program of ours is held to the same rules as one found in PATH. */
static char *trusted(struct al_pyrun *p, struct al_str path)
{
    autofree char *dir = al_xdup(path.p, path.n);
    char *slash = strrchr(dir, '/');
    if (path.n == 0 || dir[0] != '/' || !slash || slash == dir)
        return NULL;
    *slash = 0;
    return al_path_find_program_in(dir, slash + 1, al_pyrun_avoid(p));
}

static bool may_be_run(struct al_pyrun *p, const struct al_py_interpreter *i)
{
    autofree char *path = trusted(p, al_str_of(i->path));
    return path != NULL;
}

/* Last line of what it printed: a wrapper may have said something before. */
static struct al_str last_line(const struct al_buf *out)
{
    struct al_str s = al_str_trim(al_buf_str(out));
    for (size_t i = s.n; i > 0; i--) {
        if (s.p[i - 1] == '\n')
            return (struct al_str){s.p + i, s.n - i};
    }
    return s;
}

/* 0: it is good; 1: it is no Python, or too old; -1: it did not answer. */
static int ask(struct search *s, const char *program, const char *source, struct al_py_interpreter *ret,
               struct al_err *err)
{
    const char *argv[] = {program, "-I", "-S", "-c", question, NULL};
    autobuf struct al_buf out = AL_BUF_INIT(ANSWER_MAX);
    autoarena struct al_arena a = AL_ARENA_INIT(ANSWER_MAX);
    const struct al_json *answer;
    int status = 0;
    if (al_py_ask(s->pyrun, argv, time_for(s, ASK_MS), &out, NULL, &status, err) < 0) {
        s->late = true;
        return -1;
    }
    struct al_py_interpreter i = {0};
    if (status != 0 || al_json_parse(&a, last_line(&out), &answer, NULL) < 0 || !fill(answer, &i)) {
        al_py_interpreter_fini(&i);
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "it does not answer as Python 3 does (exit status %d)", status);
        return 1;
    }
    if (i.major != 3 || i.minor < MIN_MINOR) {
        if (i.major * 1000 + i.minor > s->old_minor) {
            s->old_minor = i.major * 1000 + i.minor;
            snprintf(s->too_old, sizeof(s->too_old), "%s", i.version);
        }
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "it is Python %s, and 3.%d or newer is needed", i.version,
                MIN_MINOR);
        al_py_interpreter_fini(&i);
        return 1;
    }
    if (!look_at(&i)) {
        al_py_interpreter_fini(&i);
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "the executable that it names is not there");
        return 1;
    }
    i.source = al_xstrdup(source);
    /* A wrapper that may be run can name one that may not. */
    if (strcmp(source, NAMED) != 0 && !may_be_run(s->pyrun, &i)) {
        al_py_interpreter_fini(&i);
        al_fail(err, AL_RUNTIME_UNAVAILABLE,
                "its executable lies where others, or the workspace, put things");
        return 1;
    }
    *ret = i;
    return 0;
}

/* --- the search --- */

static char *ask_uv(struct search *s)
{
    struct al_pyrun *p = s->pyrun;
    const char *uv = al_pyrun_program(p, "uv");
    autobuf struct al_buf out = AL_BUF_INIT(ANSWER_MAX);
    const char *argv[] = {uv, "python", "find", "--no-project", ">=3.10", NULL};
    int status = 0;
    struct al_err unused;
    if (!uv || al_py_ask(p, argv, time_for(s, UV_MS), &out, NULL, &status, &unused) < 0 || status != 0)
        return NULL;
    return trusted(p, last_line(&out));
}

static int search_all(struct search *s, struct al_py_interpreter *ret, struct al_err *err)
{
    /* The last ones serve distributions whose python3 is an older one. */
    static const char *const names[] = {"python3",    "python",     "python3.14", "python3.13",
                                        "python3.12", "python3.11", "python3.10"};
    struct al_err late = {0}, why;
    autofree char *by_uv = ask_uv(s);
    if (by_uv && ask(s, by_uv, "uv", ret, &why) == 0)
        return 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *program = al_pyrun_program(s->pyrun, names[i]);
        int r = program ? ask(s, program, "PATH", ret, &why) : 1;
        if (r == 0)
            return 0;
        if (r < 0 && late.code == AL_OK) {
            late = why;
            al_wrap(&late, "%s", names[i]);
        }
    }
    autobuf struct al_buf how = AL_BUF_INIT(256);
    al_py_install("python3", &how);
    if (s->old_minor > 0)
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "the newest Python here is %s, and 3.%d or newer is needed",
                s->too_old, MIN_MINOR);
    else if (late.code != AL_OK)
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "no Python 3.%d or newer was found (%s)", MIN_MINOR, late.msg);
    else
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "no Python 3.%d or newer was found", MIN_MINOR);
    return al_hint(err, "Install it (%.*s), or start alisio with --python PATH. No restart is needed.",
                   AL_FMT(al_buf_str(&how)));
}

/* The one that a person named is taken or refused, never replaced. */
static int take_named(struct search *s, struct al_py_interpreter *ret, struct al_err *err)
{
    const char *named = s->pyrun->python;
    autofree char *real = strchr(named, '/') ? realpath(named, NULL) : NULL;
    const char *program = strchr(named, '/') ? real : al_pyrun_program(s->pyrun, named);
    if (!program)
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "there is no such program");
    else if (ask(s, program, NAMED, ret, err) == 0)
        return 0;
    /* A model may read it, too: where on this computer is for the person who named it, and knows. */
    const char *slash = strrchr(named, '/');
    err->code = AL_RUNTIME_UNAVAILABLE;
    al_wrap(err, "--python %s%.*s", slash ? "…/" : "",
            AL_FMT(al_utf8_cut(al_str_of(slash ? slash + 1 : named), 200)));
    al_detail(err, "%s", named);
    return al_hint(err, "Name a Python 3.%d or newer, or leave --python out.", MIN_MINOR);
}

/* --- the cache --- */

int al_py_runtimes_open(struct al_pyrun *p)
{
    autobuf struct al_buf path = AL_BUF_INIT(4096);
    al_buf_addf(&path, "%s/runtimes/python", p->state_dir);
    if (al_buf_failed(&path) || al_path_private_dir(path.p, NULL) < 0)
        return -1;
    return open(path.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void write_cache(struct al_pyrun *p, const struct al_py_interpreter *i)
{
    autofd int dir = al_py_runtimes_open(p);
    autobuf struct al_buf out = AL_BUF_INIT(ANSWER_MAX);
    struct al_jw w;
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "executable", i->path);
    al_jw_kstrz(&w, "prefix", i->prefix);
    al_jw_kstrz(&w, "execPrefix", i->exec_prefix);
    al_jw_key(&w, "roots");
    al_jw_arr(&w);
    for (size_t n = 0; i->roots[n]; n++)
        al_jw_strz(&w, i->roots[n]);
    al_jw_end(&w);
    al_jw_kstrz(&w, "version", i->version);
    al_jw_kstrz(&w, "source", i->source);
    al_jw_kstrz(&w, "asked", p->python);
    al_jw_kint(&w, "mtimeNs", i->mtime_ns);
    al_jw_kint(&w, "size", i->size);
    al_jw_kint(&w, "inode", i->inode);
    al_jw_end(&w);
    al_buf_addc(&out, '\n');
    struct al_err unused; /* it only saves time */
    if (dir >= 0 && !al_buf_failed(&out) &&
        al_path_write_atomic(dir, CACHE, al_buf_str(&out), 0600, CACHE, &unused) < 0)
        return;
}

static bool read_version(struct al_str text, struct al_py_interpreter *i)
{
    int64_t minor = 0;
    const char *dot = text.n > 2 ? memchr(text.p + 2, '.', text.n - 2) : NULL;
    if (!al_str_starts(text, "3.") || !dot)
        return false;
    struct al_str part = {text.p + 2, (size_t)(dot - text.p) - 2};
    i->major = 3;
    i->version = al_xdup(text.p, text.n);
    if (!al_parse_int(part, MIN_MINOR, 1000, &minor))
        return false;
    i->minor = (int)minor;
    return true;
}

/* Whether it is still what it was when it was asked, and what would be taken now. */
static bool still_good(struct al_pyrun *p, const struct al_py_interpreter *i)
{
    struct al_py_interpreter now = {.path = i->path};
    bool named = strcmp(i->source, NAMED) == 0;
    return look_at(&now) && now.mtime_ns == i->mtime_ns && now.size == i->size && now.inode == i->inode &&
           named == (p->python != NULL) && (named || may_be_run(p, i));
}

static bool fill_from_cache(struct al_pyrun *p, const struct al_json *v, struct al_py_interpreter *i)
{
    const struct al_json *roots = al_json_get(v, "roots");
    struct al_str asked = al_json_get_text(v, "asked");
    i->path = text_of(v, "executable");
    i->prefix = text_of(v, "prefix");
    i->exec_prefix = text_of(v, "execPrefix");
    i->source = text_of(v, "source");
    if (!i->path || i->path[0] != '/' || !i->prefix || !i->exec_prefix || !i->source ||
        !read_version(al_json_get_text(v, "version"), i) || !roots || roots->type != AL_JSON_ARRAY ||
        roots->n > 5)
        return false;
    if ((p->python != NULL) != (asked.p != NULL) || (p->python && !al_str_is(asked, p->python)))
        return false;
    i->roots = al_xcalloc(roots->n + 1, sizeof(*i->roots));
    size_t n = 0;
    al_json_each(root, roots)
    {
        if (!al_json_is_string(root) || memchr(root->str.p, 0, root->str.n))
            return false;
        i->roots[n++] = al_xdup(root->str.p, root->str.n);
    }
    return al_json_int(al_json_get(v, "mtimeNs"), INT64_MIN, INT64_MAX, &i->mtime_ns) &&
           al_json_int(al_json_get(v, "size"), 0, INT64_MAX, &i->size) &&
           al_json_int(al_json_get(v, "inode"), INT64_MIN, INT64_MAX, &i->inode) && still_good(p, i);
}

static bool read_cache(struct al_pyrun *p, struct al_py_interpreter *ret)
{
    autofd int dir = al_py_runtimes_open(p);
    autofd int fd = dir >= 0 ? openat(dir, CACHE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) : -1;
    autobuf struct al_buf text = AL_BUF_INIT(ANSWER_MAX);
    autoarena struct al_arena a = AL_ARENA_INIT(ANSWER_MAX);
    const struct al_json *v;
    struct al_py_interpreter i = {0};
    if (fd < 0 || al_fd_read_all(fd, &text) < 0 || al_json_parse(&a, al_buf_str(&text), &v, NULL) < 0)
        return false;
    if (!fill_from_cache(p, v, &i)) {
        al_py_interpreter_fini(&i);
        return false;
    }
    *ret = i;
    return true;
}

static int find(struct al_pyrun *p, struct al_err *err)
{
    struct search s = {.pyrun = p, .until_ms = al_mono_ms() + FIND_MS};
    if (p->has_found && still_good(p, &p->found))
        return 0;
    if (p->has_found)
        al_py_interpreter_fini(&p->found);
    p->has_found = false;
    if (!read_cache(p, &p->found)) {
        if (al_mono_ms() < p->late_until_ms) {
            *err = p->late;
            return -1;
        }
        if ((p->python ? take_named(&s, &p->found, err) : search_all(&s, &p->found, err)) < 0) {
            p->late = *err;
            p->late_until_ms = s.late ? al_mono_ms() + LATE_MS : 0;
            return -1;
        }
        write_cache(p, &p->found);
    }
    p->has_found = true;
    return 0;
}

int al_py_interpreter_find(struct al_pyrun *p, struct al_py_interpreter *ret, struct al_err *err)
{
    pthread_mutex_lock(&p->find_lock);
    int r = find(p, err);
    if (r == 0)
        *ret = copy_of(&p->found);
    pthread_mutex_unlock(&p->find_lock);
    return r;
}
