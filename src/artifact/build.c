/* One artifact, built beside its place: copies of what was seen, or an archive of it, and the manifest. */
#include "artifact/artifact_int.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK ((size_t)128 << 10)
#define MANIFEST_MAX ((size_t)32 << 20)

struct file {
    const char *path; /* in files/ */
    int64_t bytes;
    char sha256[AL_SHA256_HEX];
};

struct build {
    const struct al_publish_spec *spec;
    const struct al_output_scan *scan;
    const struct al_candidate *c;
    struct al_publication *p;
    struct al_artifact *row;
    int files_fd; /* <tmp>/files */
    struct file *list;
    size_t n;
};

static int cannot(struct al_err *err, int eno)
{
    al_fail_errno(err, eno == ENOSPC || eno == EDQUOT ? AL_QUOTA_EXCEEDED : AL_INTERNAL, eno,
                  "the output cannot be copied to where artifacts are kept");
    return eno == ENOSPC || eno == EDQUOT ? al_hint(err, "make room on the disk of the state folder") : -1;
}

static int too_long(struct build *b, struct al_err *err)
{
    return al_artifact_reject(err, al_str_of(b->c->node->path), "publish fewer files, with shorter names",
                              "holds too long names in all");
}

/* --- copies --- */

/* Bytes of in to out, hashed; exactly as many as were seen. */
static int copy_bytes(int in, int out, const struct al_output_scan_node *node, char sha256[AL_SHA256_HEX],
                      struct al_err *err)
{
    autofree char *buf = al_xmalloc(CHUNK);
    struct al_sha256 *h = al_sha256_new();
    int64_t done = 0;
    int r = 0;
    while (r == 0) {
        ssize_t n = read(in, buf, CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            r = cannot(err, errno);
        if (n <= 0)
            break;
        done += n;
        if (done > node->size) /* the check behind us tells it in words */
            break;
        al_sha256_add(h, buf, (size_t)n);
        int w = al_fd_write_all(out, (struct al_str){buf, (size_t)n});
        if (w < 0)
            r = cannot(err, -w);
    }
    al_sha256_end(h, sha256);
    if (r == 0 && done != node->size)
        r = al_artifact_reject(
            err, al_str_of(node->path),
            "a process that the script started still writes there: wait for it before the script ends",
            "changed while it was published");
    return r;
}

static int make_file(struct build *b, const char *rel, int *ret_fd, struct al_err *err)
{
    autofd int dir = -1;
    const char *name;
    if (al_path_open_parent(b->files_fd, rel, true, "the artifact", &dir, &name, err) < 0)
        return -1;
    int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
    if (fd < 0)
        return cannot(err, errno);
    *ret_fd = fd;
    return 0;
}

static int copy_node(struct build *b, int root_fd, const struct al_output_scan_node *node, const char *rel,
                     struct al_err *err)
{
    autofd int in = -1, out = -1;
    struct file *f = &b->list[b->n];
    if (al_output_scan_open(root_fd, node, &in, err) < 0 || make_file(b, rel, &out, err) < 0 ||
        copy_bytes(in, out, node, f->sha256, err) < 0 || al_output_scan_check(in, node, err) < 0)
        return -1;
    f->path = rel;
    f->bytes = node->size;
    b->n++;
    return 0;
}

/* --- archives --- */

static int hash_file(int fd, char sha256[AL_SHA256_HEX], int64_t *ret_bytes, struct al_err *err)
{
    autofree char *buf = al_xmalloc(CHUNK);
    struct al_sha256 *h = al_sha256_new();
    int64_t done = 0;
    ssize_t n;
    while ((n = pread(fd, buf, CHUNK, done)) > 0 || (n < 0 && errno == EINTR)) {
        if (n < 0)
            continue;
        al_sha256_add(h, buf, (size_t)n);
        done += n;
    }
    int eno = errno;
    al_sha256_end(h, sha256);
    *ret_bytes = done;
    return n < 0 ? cannot(err, eno) : 0;
}

static int pack_node(struct al_zipw *z, int root_fd, const struct al_output_scan_node *node, const char *name,
                     struct al_err *err)
{
    autofd int in = -1;
    if (al_output_scan_open(root_fd, node, &in, err) < 0 ||
        al_zipw_add(z, al_str_of(name), in, (uint64_t)node->size, err) < 0)
        return -1;
    return al_output_scan_check(in, node, err);
}

static int pack_nodes(struct build *b, struct al_zipw *z, int root_fd, struct al_err *err)
{
    size_t n = 0, skip = strlen(b->c->node->path) + 1;
    const char **paths = al_arena_alloc(&b->p->arena, (b->c->to - b->c->from + 1) * sizeof *paths);
    const char **names = al_arena_alloc(&b->p->arena, (b->c->to - b->c->from + 1) * sizeof *names);
    if (!paths || !names)
        return too_long(b, err);
    for (size_t i = b->c->from; i < b->c->to; i++) {
        if (!b->scan->nodes[i].dir)
            paths[n++] = b->scan->nodes[i].path + skip;
    }
    if (al_zip_names(&b->p->arena, paths, n, names, err) < 0)
        return -1;
    n = 0;
    for (size_t i = b->c->from; i < b->c->to; i++) {
        if (!b->scan->nodes[i].dir && pack_node(z, root_fd, &b->scan->nodes[i], names[n++], err) < 0)
            return -1;
    }
    return al_zipw_end(z, err);
}

static int pack_folder(struct build *b, int root_fd, const char *name, struct al_err *err)
{
    autofd int out = -1;
    struct file *f = &b->list[b->n];
    if (make_file(b, name, &out, err) < 0)
        return -1;
    struct al_zipw *z = al_zipw_new(out);
    int r = pack_nodes(b, z, root_fd, err);
    al_zipw_free(z);
    if (r < 0 || hash_file(out, f->sha256, &f->bytes, err) < 0)
        return -1;
    f->path = name;
    b->n++;
    return 0;
}

/* --- what they are --- */

static int open_file(struct build *b, const char *rel, int *ret_fd, struct al_err *err)
{
    return al_path_open(b->files_fd, rel, O_RDONLY | O_NOFOLLOW, 0, "the artifact", ret_fd, err);
}

static int type_of(struct build *b, const char *rel, struct al_artifact_type *ret, struct al_err *err)
{
    char head[AL_ARTIFACT_HEAD];
    autofd int fd = -1;
    const char *slash = strrchr(rel, '/');
    if (open_file(b, rel, &fd, err) < 0)
        return -1;
    ssize_t n = pread(fd, head, sizeof head, 0);
    if (n < 0)
        return cannot(err, errno);
    *ret = al_artifact_type_of(al_str_of(slash ? slash + 1 : rel), (struct al_str){head, (size_t)n});
    return 0;
}

struct page_place {
    const struct build *b;
    struct al_str dir; /* of the page, in files/: "" or "a/b/" */
};

static int by_path(const void *key, const void *f)
{
    return strcmp(key, ((const struct file *)f)->path);
}

/* Files are in byte order of their paths. A folder counts when it has an index.html. */
static bool is_beside(void *ud, struct al_str ref)
{
    const struct page_place *at = ud;
    autobuf struct al_buf full = AL_BUF_INIT(8192), clean = AL_BUF_INIT(8192);
    struct al_err outside;
    if (ref.p[0] == '/') /* from the root of a server that is not there */
        return false;
    al_buf_add_str(&full, at->dir);
    al_buf_add_str(&full, ref);
    if (al_path_normalize(al_buf_str(&full), &clean, &outside) < 0)
        return false;
    autofree char *path = al_xdup(clean.p, clean.n);
    if (at->b->n && bsearch(path, at->b->list, at->b->n, sizeof *at->b->list, by_path))
        return true;
    if (!al_str_is(al_buf_str(&clean), "."))
        al_buf_adds(&clean, "/index.html");
    else {
        al_buf_clear(&clean);
        al_buf_adds(&clean, "index.html");
    }
    autofree char *index = al_xdup(clean.p, clean.n);
    return at->b->n && bsearch(index, at->b->list, at->b->n, sizeof *at->b->list, by_path);
}

static int look_at_page(struct build *b, const struct file *f, struct al_err *err)
{
    struct al_artifact_type type;
    if (f->bytes > (int64_t)AL_HTML_MAX_BYTES)
        return 0;
    if (type_of(b, f->path, &type, err) < 0)
        return -1;
    if (strcmp(type.mime, "text/html") != 0)
        return 0;
    autofd int fd = -1;
    autobuf struct al_buf html = AL_BUF_INIT(AL_HTML_MAX_BYTES);
    if (open_file(b, f->path, &fd, err) < 0)
        return -1;
    int r = al_fd_read_all(fd, &html);
    if (r < 0)
        return cannot(err, -r);
    const char *slash = strrchr(f->path, '/');
    struct page_place at = {b, {f->path, slash ? (size_t)(slash - f->path) + 1 : 0}};
    struct al_html_findings found;
    al_html_look(al_buf_str(&html), is_beside, &at, &found);
    autobuf struct al_buf page = AL_BUF_INIT(16384); /* as the script called it */
    al_buf_addf(&page, "%s%s%s", b->row->source_path, b->row->entry ? "/" : "", b->row->entry ? f->path : "");
    al_html_warn(&found, al_buf_str(&page), &b->p->warnings);
    return 0;
}

/* --- the manifest --- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Of its lines "hash  path", sorted, each with its end: what `sha256sum` prints of them. */
static bool whole_hash(struct build *b, char out[AL_SHA256_HEX])
{
    const char **lines = al_arena_alloc(&b->p->arena, (b->n + 1) * sizeof *lines);
    for (size_t i = 0; lines && i < b->n; i++) {
        lines[i] = al_arena_printf(&b->p->arena, "%s  %s\n", b->list[i].sha256, b->list[i].path);
        if (!lines[i])
            return false;
    }
    if (!lines)
        return false;
    qsort(lines, b->n, sizeof *lines, by_text);
    struct al_sha256 *h = al_sha256_new();
    for (size_t i = 0; i < b->n; i++)
        al_sha256_add(h, lines[i], strlen(lines[i]));
    al_sha256_end(h, out);
    return true;
}

static int write_provenance(struct al_jw *w, const struct al_publish_spec *spec, struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)4 << 20);
    const struct al_json *v = NULL;
    if (spec->provenance.n && al_json_parse(&a, spec->provenance, &v, err) < 0)
        return al_wrap(err, "the provenance");
    al_jw_key(w, "provenance");
    al_jw_obj(w);
    if (spec->execution)
        al_jw_kstrz(w, "executionId", spec->execution);
    al_jw_kbool(w, "partial", spec->partial);
    al_json_each(it, v)
    {
        if (al_str_is(it->key, "executionId") || al_str_is(it->key, "partial"))
            continue;
        al_jw_key_str(w, it->key);
        al_jw_value(w, it);
    }
    al_jw_end(w);
    return 0;
}

static int make_manifest(struct build *b, struct al_buf *out, struct al_err *err)
{
    const struct al_artifact *row = b->row;
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kint(&w, "schemaVersion", 1);
    al_jw_kstrz(&w, "id", row->id);
    al_jw_kstrz(&w, "title", row->title);
    al_jw_kstrz(&w, "fileName", row->file_name);
    al_jw_kstrz(&w, "kind", row->kind);
    al_jw_kstrz(&w, "mimeType", row->mime);
    if (row->entry)
        al_jw_kstrz(&w, "entry", row->entry);
    al_jw_key(&w, "files");
    al_jw_arr(&w);
    for (size_t i = 0; i < b->n; i++) {
        al_jw_obj(&w);
        al_jw_kstrz(&w, "path", b->list[i].path);
        al_jw_kint(&w, "bytes", b->list[i].bytes);
        al_jw_kstrz(&w, "sha256", b->list[i].sha256);
        al_jw_end(&w);
    }
    al_jw_end(&w);
    al_jw_kint(&w, "bytes", row->bytes);
    al_jw_kstrz(&w, "sha256", row->sha256);
    al_jw_kint(&w, "createdAt", row->created_ms);
    if (write_provenance(&w, b->spec, err) < 0)
        return -1;
    al_jw_end(&w);
    return al_buf_failed(out) ? too_long(b, err) : 0;
}

static int write_manifest(struct build *b, int tmp_fd, struct al_err *err)
{
    autobuf struct al_buf json = AL_BUF_INIT(MANIFEST_MAX);
    if (make_manifest(b, &json, err) < 0)
        return -1;
    b->row->manifest = al_arena_dup(&b->p->arena, al_buf_str(&json));
    if (!b->row->manifest)
        return too_long(b, err);
    autofd int fd =
        openat(tmp_fd, "manifest.json", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
    if (fd < 0)
        return cannot(err, errno);
    al_buf_addc(&json, '\n');
    int r = al_fd_write_all(fd, al_buf_str(&json));
    return r < 0 ? cannot(err, -r) : 0;
}

/* --- one artifact --- */

static int fill_pages(struct build *b, int root_fd, struct al_err *err)
{
    size_t skip = strlen(b->c->node->path) + 1;
    for (size_t i = b->c->from; i < b->c->to; i++) {
        const struct al_output_scan_node *node = &b->scan->nodes[i];
        if (!node->dir && copy_node(b, root_fd, node, node->path + skip, err) < 0)
            return -1;
    }
    return 0;
}

static int fill(struct build *b, int root_fd, struct al_err *err)
{
    struct al_arena *a = &b->p->arena;
    struct al_artifact *row = b->row;
    const char *path = b->c->node->path, *slash = strrchr(path, '/');
    /* The scan's texts go before the publication does. */
    char *name = al_arena_dup(a, al_str_of(slash ? slash + 1 : path));
    row->file_name = b->c->form == AL_FORM_ZIP && name ? al_arena_printf(a, "%s.zip", name) : name;
    row->source_path = al_arena_dup(a, al_str_of(path));
    row->title = al_arena_dup(a, b->c->title);
    if (!row->file_name || !row->source_path || !row->title)
        return too_long(b, err);
    if (strlen(row->file_name) > 255)
        return al_artifact_reject(err, al_str_of(path), "give the folder a shorter name",
                                  "has a name that is too long for an archive");
    switch (b->c->form) {
    case AL_FORM_FILE:
        return copy_node(b, root_fd, b->c->node, row->file_name, err);
    case AL_FORM_PAGES:
        row->entry = al_arena_dup(a, b->c->entry);
        return row->entry ? fill_pages(b, root_fd, err) : too_long(b, err);
    case AL_FORM_ZIP:
        break;
    }
    return pack_folder(b, root_fd, row->file_name, err);
}

static int describe(struct build *b, const char *rel_dir, struct al_err *err)
{
    struct al_arena *a = &b->p->arena;
    struct al_artifact *row = b->row;
    struct al_artifact_type type;
    char slug[AL_SLUG_MAX + 1], sha256[AL_SHA256_HEX];
    if (type_of(b, row->entry ? row->entry : row->file_name, &type, err) < 0)
        return -1;
    row->kind = al_arena_dup(a, al_str_of(type.kind));
    row->mime = al_arena_dup(a, al_str_of(type.mime));
    row->status = al_arena_dup(a, AL_STR("publishing"));
    row->workspace = al_arena_dup(a, al_str_of(b->spec->workspace));
    snprintf(row->session, sizeof row->session, "%s", b->spec->session);
    snprintf(row->execution, sizeof row->execution, "%s", b->spec->execution ? b->spec->execution : "");
    row->partial = b->spec->partial;
    row->created_ms = al_wall_ms();
    row->n_files = (int64_t)b->n;
    for (size_t i = 0; i < b->n; i++)
        row->bytes += b->list[i].bytes;
    al_artifact_slug(b->c->title, slug);
    row->rel_dir = al_arena_printf(a, "%s/%s--%s", rel_dir, slug, row->id);
    if (!whole_hash(b, sha256))
        return too_long(b, err);
    row->sha256 = al_arena_dup(a, al_str_of(sha256));
    if (!row->kind || !row->mime || !row->status || !row->workspace || !row->rel_dir || !row->sha256)
        return too_long(b, err);
    for (size_t i = 0; i < b->n; i++) {
        if (look_at_page(b, &b->list[i], err) < 0)
            return -1;
    }
    return 0;
}

int al_build_one(const struct al_publish_spec *spec, const struct al_output_scan *scan,
                 const struct al_candidate *c, int dir_fd, const char *rel_dir, struct al_publication *p,
                 struct al_artifact *row, struct al_err *err)
{
    char tmp[AL_ID_MAX + 8];
    autofd int tmp_fd = -1, files_fd = -1;
    snprintf(tmp, sizeof tmp, ".tmp-%s", row->id);
    if (mkdirat(dir_fd, tmp, 0700) < 0)
        return cannot(err, errno);
    tmp_fd = openat(dir_fd, tmp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (tmp_fd < 0 || mkdirat(tmp_fd, "files", 0700) < 0)
        return cannot(err, errno);
    files_fd = openat(tmp_fd, "files", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (files_fd < 0)
        return cannot(err, errno);
    al_publish_step("made a folder");
    struct build b = {spec, scan, c, p, row, files_fd, NULL, 0};
    size_t most = c->form == AL_FORM_PAGES ? c->to - c->from : 1;
    b.list = al_xcalloc(most, sizeof *b.list);
    int r = fill(&b, spec->staging_fd, err);
    if (r == 0) {
        al_publish_step("copied its files");
        r = describe(&b, rel_dir, err) < 0 ? -1 : write_manifest(&b, tmp_fd, err);
    }
    free(b.list);
    if (r == 0)
        al_publish_step("wrote its manifest");
    return r;
}
