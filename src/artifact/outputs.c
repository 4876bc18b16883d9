/* Which artifacts an output folder is: as outputs.json says, or each entry at its top. */
#include "artifact/artifact_int.h"

#include "base/json.h"
#include "base/text.h"
#include "os/fd.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define JSON_MEMORY ((size_t)64 << 20)
#define EXAMPLE "{\"artifacts\":[{\"path\":\"report.md\",\"title\":\"Report\"}]}"

static int bad_json(struct al_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int bad_json(struct al_err *err, const char *fmt, ...)
{
    char why[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    return al_artifact_reject(err, al_str_of(AL_OUTPUTS_JSON),
                              "write it as " EXAMPLE ", or let alisio_runtime.outputs.declare() write it",
                              "%s", why);
}

/* "./a//b/" names a/b; what climbs or is absolute is refused. Empty when nothing is left. */
static int clean_path(struct al_arena *a, struct al_str path, const char *what, struct al_str *ret,
                      struct al_err *err)
{
    autobuf struct al_buf b = AL_BUF_INIT(8192), shown = AL_BUF_INIT(1 << 16);
    al_text_plain(&shown, al_utf8_cut(path, 200), false);
    if (path.n && path.p[0] == '/')
        return bad_json(err, "has an absolute %s: %.*s", what, AL_FMT(al_buf_str(&shown)));
    for (size_t i = 0; i < path.n;) {
        const char *slash = memchr(path.p + i, '/', path.n - i);
        struct al_str name = {path.p + i, slash ? (size_t)(slash - path.p) - i : path.n - i};
        i += name.n + 1;
        if (al_str_is(name, ".."))
            return bad_json(err, "has a %s with \"..\": %.*s", what, AL_FMT(al_buf_str(&shown)));
        if (name.n == 0 || al_str_is(name, "."))
            continue;
        if (b.n)
            al_buf_addc(&b, '/');
        al_buf_add_str(&b, name);
    }
    char *copy = al_buf_failed(&b) ? NULL : al_arena_dup(a, al_buf_str(&b));
    if (!copy || b.n == 0 || memchr(copy, 0, b.n))
        return bad_json(err, "has a %s that names no file: \"%.*s\"", what, AL_FMT(al_buf_str(&shown)));
    *ret = (struct al_str){copy, b.n};
    return 0;
}

/* One line, at most so long; {NULL, 0} when nothing is left. */
static struct al_str clean_title(struct al_arena *a, struct al_str title)
{
    char *copy = al_arena_dup(a, al_utf8_head(title, AL_TITLE_CHARS));
    for (char *c = copy; c && *c; c++)
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? ' ' : *c;
    struct al_str s = al_str_trim(al_str_of(copy));
    return s.n ? s : (struct al_str){NULL, 0};
}

/* A member that is text, or missing, or null. */
static int text_member(const struct al_json *v, const char *key, size_t at, struct al_str *ret,
                       struct al_err *err)
{
    const struct al_json *m = al_json_get(v, key);
    *ret = (struct al_str){NULL, 0};
    if (!m || m->type == AL_JSON_NULL)
        return 0;
    if (!al_json_is_string(m))
        return bad_json(err, "has a \"%s\" that is no text but %s, in artifact %zu", key,
                        al_json_type_name(m), at);
    *ret = m->str;
    return 0;
}

static int parse_one(struct al_arena *a, const struct al_json *v, size_t at, struct al_declared *ret,
                     struct al_err *err)
{
    struct al_str path, title, entry;
    if (v->type != AL_JSON_OBJECT)
        return bad_json(err, "has an artifact that is no object but %s, the %zu.", al_json_type_name(v), at);
    if (text_member(v, "path", at, &path, err) < 0 || text_member(v, "title", at, &title, err) < 0 ||
        text_member(v, "entry", at, &entry, err) < 0)
        return -1;
    if (!path.p)
        return bad_json(err, "has an artifact without \"path\", the %zu.", at);
    *ret = (struct al_declared){.title = clean_title(a, title)};
    if (clean_path(a, path, "path", &ret->path, err) < 0)
        return -1;
    return entry.p ? clean_path(a, entry, "entry", &ret->entry, err) : 0;
}

int al_outputs_parse(struct al_arena *a, struct al_str json, struct al_declared **ret, size_t *ret_n,
                     struct al_err *err)
{
    autoarena struct al_arena nodes = AL_ARENA_INIT(JSON_MEMORY);
    const struct al_json *top;
    struct al_err why = {0};
    if (al_str_starts(json, "\xef\xbb\xbf"))
        json = (struct al_str){json.p + 3, json.n - 3};
    if (al_json_parse(&nodes, json, &top, &why) < 0)
        return bad_json(err, "is no JSON: %s", why.msg);
    const struct al_json *list = top->type == AL_JSON_OBJECT ? al_json_get(top, "artifacts") : NULL;
    if (!list || list->type != AL_JSON_ARRAY)
        return bad_json(err, list ? "has \"artifacts\" that are no list" : "has no list \"artifacts\"");
    if (list->n > AL_OUTPUT_MAX_ENTRIES)
        return bad_json(err, "names %u artifacts", list->n);
    struct al_declared *all = al_arena_alloc(a, (list->n + 1) * sizeof *all);
    size_t n = 0;
    if (!all)
        return bad_json(err, "is too large");
    al_json_each(it, list)
    {
        if (parse_one(a, it, n + 1, &all[n], err) < 0)
            return -1;
        n++;
    }
    *ret = all;
    *ret_n = n;
    return 0;
}

/* --- candidates --- */

struct finder {
    int root_fd;
    const struct al_output_scan *scan;
    const struct al_publish_spec *spec;
    struct al_arena *arena;
    struct al_candidate *list;
    size_t n;
};

static const struct al_output_scan_node *child(const struct al_output_scan *s, const struct al_output_scan_node *dir,
                                        struct al_str name)
{
    autobuf struct al_buf b = AL_BUF_INIT(16384);
    al_buf_addf(&b, "%s/%.*s", dir->path, AL_FMT(name));
    return al_output_scan_find(s, al_buf_str(&b));
}

static int add_folder(struct finder *f, struct al_candidate *c, struct al_str entry, struct al_err *err)
{
    bool said = entry.p != NULL;
    if (!said)
        entry = AL_STR("index.html");
    const struct al_output_scan_node *page = child(f->scan, c->node, entry);
    al_output_scan_beneath(f->scan, c->node, &c->from, &c->to);
    if (page && !page->dir) {
        c->form = AL_FORM_PAGES;
        c->entry = entry;
        return 0;
    }
    if (said)
        return al_artifact_reject(
            err, al_str_of(c->node->path), "name a file that the script wrote into that folder",
            "has no file \"%.*s\", which outputs.json names as its entry", AL_FMT(entry));
    c->form = AL_FORM_ZIP;
    return 0;
}

static int add(struct finder *f, const struct al_output_scan_node *node, struct al_str title, struct al_str entry,
               struct al_err *err)
{
    struct al_candidate *c = &f->list[f->n];
    const char *slash = strrchr(node->path, '/');
    *c = (struct al_candidate){.node = node, .title = title};
    if (node->dir)
        return add_folder(f, c, entry, err) < 0 ? -1 : (int)(f->n++, 0);
    if (entry.p && !al_str_is(entry, slash ? slash + 1 : node->path))
        return al_artifact_reject(err, al_str_of(node->path),
                                  "leave \"entry\" out, or name the folder as \"path\"",
                                  "is a file, and outputs.json names an entry in it");
    f->n++;
    return 0;
}

static int add_declared(struct finder *f, const struct al_declared *d, struct al_err *err)
{
    const struct al_output_scan_node *node = al_output_scan_find(f->scan, d->path);
    if (!node)
        return al_artifact_reject(err, d->path,
                                  "write the file before the script ends, or take it out of outputs.json",
                                  "is named in outputs.json, and is not there");
    if (al_str_is(d->path, AL_OUTPUTS_JSON))
        return al_artifact_reject(err, d->path, "take it out of its own list", "is never published itself");
    return add(f, node, d->title, d->entry, err);
}

static int by_node(const void *a, const void *b)
{
    return strcmp((*(const struct al_candidate *const *)a)->node->path,
                  (*(const struct al_candidate *const *)b)->node->path);
}

/* Neither twice nor one within another: each file is published once. */
static int check_overlap(struct finder *f, struct al_err *err)
{
    const struct al_candidate **sorted = al_arena_alloc(f->arena, (f->n + 1) * sizeof *sorted);
    if (!sorted)
        return bad_json(err, "is too large");
    for (size_t i = 0; i < f->n; i++)
        sorted[i] = &f->list[i];
    if (f->n)
        qsort(sorted, f->n, sizeof *sorted, by_node);
    for (size_t i = 1; i < f->n; i++) {
        if (sorted[i]->node == sorted[i - 1]->node)
            return al_artifact_reject(err, al_str_of(sorted[i]->node->path), "name it once",
                                      "is named twice in outputs.json");
    }
    for (size_t i = 0; i < f->n; i++) {
        const char *path = sorted[i]->node->path;
        for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
            struct al_output_scan_node at = {
                .path = al_arena_dup(f->arena, (struct al_str){path, (size_t)(slash - path)})};
            struct al_candidate probe = {.node = &at};
            const struct al_candidate *key = &probe;
            if (at.path && bsearch(&key, sorted, f->n, sizeof *sorted, by_node))
                return al_artifact_reject(err, al_str_of(path), "name the folder or what is in it, not both",
                                          "lies in the folder \"%s\", which outputs.json names, too",
                                          at.path);
        }
    }
    return 0;
}

static int find_declared(struct finder *f, const struct al_output_scan_node *node, struct al_err *err)
{
    struct al_declared *list;
    size_t n;
    autofd int fd = -1;
    autobuf struct al_buf text = AL_BUF_INIT(AL_OUTPUTS_MAX_BYTES);
    if (node->dir)
        return bad_json(err, "is a folder");
    if (node->size > (int64_t)AL_OUTPUTS_MAX_BYTES)
        return bad_json(err, "is longer than 1 MB");
    if (al_output_scan_open(f->root_fd, node, &fd, err) < 0)
        return -1;
    if (al_fd_read_all(fd, &text) < 0)
        return bad_json(err, "cannot be read");
    if (al_output_scan_check(fd, node, err) < 0 || al_outputs_parse(f->arena, al_buf_str(&text), &list, &n, err) < 0)
        return -1;
    f->list = al_arena_alloc(f->arena, (n + 1) * sizeof *f->list);
    if (!f->list)
        return bad_json(err, "is too large");
    for (size_t i = 0; i < n; i++) {
        if (add_declared(f, &list[i], err) < 0)
            return -1;
    }
    return check_overlap(f, err);
}

static int find_all(struct finder *f, struct al_err *err)
{
    f->list = al_arena_alloc(f->arena, (f->scan->n + 1) * sizeof *f->list);
    if (!f->list)
        return al_artifact_reject(err, AL_STR("."), "write fewer files", "holds too much");
    for (size_t i = 1; i < f->scan->n; i++) {
        const struct al_output_scan_node *node = &f->scan->nodes[i];
        struct al_str none = {NULL, 0};
        if (!strchr(node->path, '/') && add(f, node, none, none, err) < 0)
            return -1;
    }
    return 0;
}

/* The call's title is for the one that has none; all others are called by their names. */
static void give_titles(struct finder *f)
{
    size_t without = 0;
    for (size_t i = 0; i < f->n; i++)
        without += f->list[i].title.p == NULL;
    struct al_str title =
        f->spec->title ? clean_title(f->arena, al_str_of(f->spec->title)) : (struct al_str){NULL, 0};
    for (size_t i = 0; i < f->n; i++) {
        struct al_candidate *c = &f->list[i];
        const char *slash = strrchr(c->node->path, '/');
        if (!c->title.p)
            c->title = without == 1 && title.p ? title : al_str_of(slash ? slash + 1 : c->node->path);
    }
}

static int check_file(const struct al_publish_limits *l, const struct al_output_scan_node *node, uint64_t *files,
                      uint64_t *bytes, struct al_err *err)
{
    autobuf struct al_buf a = AL_BUF_INIT(64), b = AL_BUF_INIT(64);
    if (node->dir)
        return 0;
    ++*files;
    *bytes += (uint64_t)node->size;
    if (*files > l->max_files)
        return al_artifact_reject(
            err, al_str_of(node->path),
            "write fewer files, or one archive; analysis.limits.maxFiles raises the limit",
            "is one file too many: at most %llu are published", (unsigned long long)l->max_files);
    bool alone = (uint64_t)node->size > l->max_file_bytes;
    al_text_bytes(&a, alone ? (uint64_t)node->size : *bytes);
    al_text_bytes(&b, alone ? l->max_file_bytes : l->max_output_bytes);
    if (alone)
        return al_artifact_reject(
            err, al_str_of(node->path), "make it smaller; analysis.limits.maxFileBytes raises the limit",
            "has %.*s: a file may have %.*s", AL_FMT(al_buf_str(&a)), AL_FMT(al_buf_str(&b)));
    if (*bytes > l->max_output_bytes)
        return al_artifact_reject(err, al_str_of(node->path),
                                  "write less; analysis.limits.maxOutputBytes raises the limit",
                                  "brings the output to %.*s: all files may have %.*s",
                                  AL_FMT(al_buf_str(&a)), AL_FMT(al_buf_str(&b)));
    return 0;
}

static int check_limits(const struct finder *f, struct al_err *err)
{
    uint64_t files = 0, bytes = 0;
    const struct al_publish_limits *l = &f->spec->limits;
    for (size_t i = 0; i < f->n; i++) {
        const struct al_candidate *c = &f->list[i];
        if (check_file(l, c->node, &files, &bytes, err) < 0)
            return -1;
        for (size_t k = c->from; k < c->to; k++) {
            if (check_file(l, &f->scan->nodes[k], &files, &bytes, err) < 0)
                return -1;
        }
    }
    return 0;
}

int al_outputs_find(int root_fd, const struct al_output_scan *s, const struct al_publish_spec *spec,
                    struct al_arena *a, struct al_candidate **ret, size_t *ret_n, struct al_err *err)
{
    struct finder f = {root_fd, s, spec, a, NULL, 0};
    const struct al_output_scan_node *json = al_output_scan_find(s, AL_STR(AL_OUTPUTS_JSON));
    if ((json ? find_declared(&f, json, err) : find_all(&f, err)) < 0 || check_limits(&f, err) < 0)
        return -1;
    give_titles(&f);
    *ret = f.list;
    *ret_n = f.n;
    return 0;
}
