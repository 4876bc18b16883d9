/* Fetching what tools a server has: page by page, within limits, into the catalogue. */
#include "base/mem.h"
#include "base/text.h"
#include "upstream/upstream_int.h"

#include <stdio.h>

#define MAX_CURSOR (16u << 10)

struct al_fetch {
    struct al_upstream *s;
    struct al_upstream_call *call; /* the page that is under way */
    struct al_put *put;            /* what was fetched is being written */
    struct al_buf tools;           /* the array so far, without its end */
    size_t n_tools;
    unsigned n_pages;
    uint64_t deadline_ms;
    uint64_t cursors[AL_UPSTREAM_MAX_PAGES]; /* hashes of those that were followed */
    struct al_err err;
};

/* On its way through the thread pool; the server may have gone when it comes back. */
struct al_put {
    struct al_upstreams *owner;
    struct al_upstream *s; /* NULL: nobody waits for it */
    char *db_path, *name, *sha256, *protocol, *info, *instructions;
    struct al_buf tools;
    int result;
    struct al_catalog_put_result counts;
    struct al_err err;
    struct al_put *next, **link;
};

static void warn(struct al_upstream *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void warn(struct al_upstream *s, const char *fmt, ...)
{
    va_list ap;
    char *z = NULL;
    va_start(ap, fmt);
    if (vasprintf(&z, fmt, ap) < 0)
        z = NULL;
    va_end(ap);
    free(s->warning);
    s->warning = z;
}

static uint64_t hash_of(struct al_str s)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * 1099511628211u;
    return h;
}

static void fetch_free(struct al_fetch *f)
{
    f->s->fetch = NULL;
    al_buf_free(&f->tools);
    free(f);
}

static void fetch_end(struct al_fetch *f, const struct al_err *err)
{
    struct al_upstream *s = f->s;
    struct al_err why = err ? *err : (struct al_err){0};
    fetch_free(f);
    al_upstream_fetched(s, err ? &why : NULL);
}

void al_upstream_fetch_drop(struct al_upstream *s)
{
    struct al_fetch *f = s->fetch;
    if (!f)
        return;
    if (f->put)
        f->put->s = NULL;
    if (f->call)
        f->call->r.done = NULL; /* request.c has it: it goes with the others */
    fetch_free(f);
}

/* --- into the catalogue --- */

static void put_free(struct al_put *p)
{
    *p->link = p->next;
    if (p->next)
        p->next->link = p->link;
    char *const strings[] = {p->db_path, p->name, p->sha256, p->protocol, p->info, p->instructions};
    for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++)
        free(strings[i]);
    al_buf_free(&p->tools);
    free(p);
}

static void put_work(void *ud)
{
    struct al_put *p = ud;
    struct al_catalog_server server = {
        .name = p->name,
        .config_sha256 = p->sha256,
        .protocol = p->protocol,
        .info = p->info,
        .instructions = p->instructions,
        .fetched_ms = al_wall_ms(),
    };
    p->result = al_catalog_put(p->db_path, &server, al_buf_str(&p->tools), &p->counts, &p->err);
}

static void put_done(void *ud)
{
    struct al_put *p = ud;
    struct al_upstream *s = p->s;
    struct al_upstreams *u = p->owner;
    int result = p->result;
    struct al_err err = p->err;
    if (s && result == 0 && p->counts.n_left_out > 0 && !s->warning)
        warn(s, "%lld of its tools were left out: their names or definitions cannot be used",
             (long long)p->counts.n_left_out);
    put_free(p);
    if (s)
        fetch_end(s->fetch, result < 0 ? &err : NULL);
    if (u)
        al_upstreams_check_stopped(u);
}

void al_upstreams_puts_drop(struct al_upstreams *u)
{
    while (u->puts) {
        struct al_put *p = u->puts;
        u->puts = p->next;
        if (p->next)
            p->next->link = &u->puts;
        p->owner = NULL;
        p->s = NULL;
        p->next = NULL;
        p->link = &p->next; /* a list of its own */
    }
}

static char *text_or_null(const struct al_buf *b)
{
    return b->n ? al_xdup(b->p, b->n) : NULL;
}

static void write_catalogue(struct al_fetch *f)
{
    struct al_upstream *s = f->s;
    struct al_put *p = al_xcalloc(1, sizeof(*p));
    al_buf_addc(&f->tools, ']');
    p->owner = s->owner;
    p->s = s;
    p->db_path = al_xstrdup(al_store_db_path(al_core_store(al_upstream_core(s))));
    p->name = al_xstrdup(s->config->name);
    p->sha256 = al_xstrdup(s->config->sha256);
    p->protocol = al_xstrdup(s->protocol);
    p->info = text_or_null(&s->info);
    p->instructions = text_or_null(&s->instructions);
    p->tools = f->tools;
    al_buf_init(&f->tools, 0);
    p->next = s->owner->puts;
    p->link = &s->owner->puts;
    if (p->next)
        p->next->link = &p->next;
    s->owner->puts = p;
    f->put = p;
    al_work_start(al_upstream_loop(s), put_work, put_done, p);
}

/* --- pages --- */

static void ask_page(struct al_fetch *f, const struct al_json *cursor);

/* 2025-11-25, basic/utilities/tasks: it must be called as a task, which is not known here. */
static bool wants_a_task(const struct al_json *tool)
{
    return al_str_is(al_json_get_text(al_json_get(tool, "execution"), "taskSupport"), "required");
}

/* False: enough. */
static bool add_tools(struct al_fetch *f, const struct al_json *list)
{
    struct al_upstream *s = f->s;
    al_json_each(tool, list)
    {
        autobuf struct al_buf why = AL_BUF_INIT(512);
        if (tool->type != AL_JSON_OBJECT)
            continue;
        if (wants_a_task(tool)) {
            al_text_visible(&why, al_utf8_cut(al_json_get_text(tool, "name"), 100), false);
            warn(s, "the tool %.*s was left out: it can be called as a task alone, which is not known here",
                 AL_FMT(al_buf_str(&why)));
            continue;
        }
        if (!al_conn_takes_tool(s->conn, tool, &why)) {
            warn(s, "a tool was left out: %.*s", AL_FMT(al_buf_str(&why)));
            continue;
        }
        if (f->n_tools == AL_CATALOG_MAX_TOOLS) {
            warn(s, "it has more than %u tools; the others are not known here", AL_CATALOG_MAX_TOOLS);
            return false;
        }
        if (f->tools.n + tool->raw.n + 2 > f->tools.max) {
            warn(s, "the definitions of its tools are over %u MiB; the others are not known here",
                 AL_CATALOG_MAX_BYTES >> 20);
            return false;
        }
        if (f->n_tools++)
            al_buf_addc(&f->tools, ',');
        al_buf_add_str(&f->tools, tool->raw);
    }
    return true;
}

/* False: the list ends here. */
static bool follow(struct al_fetch *f, struct al_str cursor)
{
    struct al_upstream *s = f->s;
    uint64_t hash = hash_of(cursor);
    if (cursor.n > MAX_CURSOR) {
        warn(s, "its list of tools has a cursor of %zu bytes, which is not followed", cursor.n);
        return false;
    }
    for (unsigned i = 0; i + 1 < f->n_pages; i++) {
        if (f->cursors[i] != hash)
            continue;
        warn(s, "its list of tools repeats a cursor; what came until then is used");
        return false;
    }
    if (f->n_pages >= AL_UPSTREAM_MAX_PAGES) {
        warn(s, "its list of tools has more than %u pages; what came until then is used",
             AL_UPSTREAM_MAX_PAGES);
        return false;
    }
    if (al_mono_ms() >= f->deadline_ms) {
        warn(s, "its list of tools has no end within the time for its start; what came until then is used");
        return false;
    }
    f->cursors[f->n_pages - 1] = hash;
    return true;
}

static void page_failed(struct al_fetch *f, const struct al_upstream_answer *a)
{
    struct al_upstream *s = f->s;
    autoarena struct al_arena arena = AL_ARENA_INIT(1u << 20);
    autobuf struct al_buf said = AL_BUF_INIT(4096);
    const struct al_json *failure = NULL;
    if (a->err && a->err->code == AL_TOOL_TIMEOUT && f->n_pages > 0) {
        warn(s, "its list of tools has no end within the time for its start; what came until then is used");
        write_catalogue(f);
        return;
    }
    if (a->err) {
        fetch_end(f, a->err);
        return;
    }
    if (al_json_parse(&arena, a->failure, &failure, &f->err) < 0)
        failure = NULL;
    al_text_visible(&said, al_utf8_cut(al_json_get_text(failure, "message"), 300), false);
    al_fail(&f->err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s refuses to list its tools: %.*s",
            s->config->name, AL_FMT(al_buf_str(&said)));
    fetch_end(f, &f->err);
}

/* What was known of the server before is not forgotten for an answer that is no list. */
static void no_page(struct al_fetch *f)
{
    if (f->n_pages > 0) {
        warn(f->s, "a page of its list of tools is no list; what came until then is used");
        write_catalogue(f);
        return;
    }
    al_fail(&f->err, AL_UPSTREAM_UNAVAILABLE,
            "the MCP server %s answers tools/list with something that is no list", f->s->config->name);
    fetch_end(f, &f->err);
}

static void page_done(void *ud, const struct al_upstream_answer *a)
{
    struct al_fetch *f = ud;
    const struct al_json *result = a->value;
    f->call = NULL;
    if (!result) {
        page_failed(f, a);
        return;
    }
    const struct al_json *tools = al_json_get(result, "tools");
    if (!tools || tools->type != AL_JSON_ARRAY) {
        no_page(f);
        return;
    }
    f->n_pages++;
    const struct al_json *cursor = al_json_get(result, "nextCursor"); /* an empty one is one, too */
    bool more = add_tools(f, tools);
    if (more && al_json_is_string(cursor) && follow(f, cursor->str))
        ask_page(f, cursor);
    else
        write_catalogue(f);
}

/* cursor NULL: the first. */
static void ask_page(struct al_fetch *f, const struct al_json *cursor)
{
    autobuf struct al_buf params = AL_BUF_INIT(8 * MAX_CURSOR);
    uint64_t now = al_mono_ms();
    if (cursor) {
        struct al_jw w;
        al_jw_init(&w, &params);
        al_jw_obj(&w);
        al_jw_kstr(&w, "cursor", cursor->str);
        al_jw_end(&w);
    }
    struct al_upstream_request r = {
        .method = "tools/list",
        .params = al_buf_str(&params),
        .timeout_ms = f->deadline_ms > now ? f->deadline_ms - now : 1,
        .done = page_done,
        .ud = f,
    };
    f->call = al_upstream_send(f->s, &r);
}

static bool has_tools(const struct al_upstream *s)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    const struct al_json *caps;
    struct al_err unused;
    return al_json_parse(&a, al_buf_str(&s->capabilities), &caps, &unused) == 0 && al_json_get(caps, "tools");
}

void al_upstream_fetch(struct al_upstream *s)
{
    if (s->fetch)
        return;
    struct al_fetch *f = al_xcalloc(1, sizeof(*f));
    f->s = s;
    f->deadline_ms = al_mono_ms() + s->config->start_timeout_ms;
    al_buf_init(&f->tools, AL_CATALOG_MAX_BYTES);
    al_buf_addc(&f->tools, '[');
    s->fetch = f;
    s->list_changed = false;
    free(s->warning);
    s->warning = NULL;
    if (has_tools(s))
        ask_page(f, NULL);
    else
        write_catalogue(f);
}

void al_upstream_look_up(struct al_upstream *s)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    struct al_catalog_server known;
    struct al_err unused;
    if (s->looked_up)
        return;
    s->looked_up = true;
    if (al_catalog_server(al_core_store(al_upstream_core(s)), s->config->name, &a, &known, &unused) < 0)
        return;
    s->catalog_fresh = known.config_sha256 && strcmp(known.config_sha256, s->config->sha256) == 0;
    s->fetched_ms = known.fetched_ms;
    if (s->catalog_fresh && known.protocol)
        snprintf(s->protocol, sizeof(s->protocol), "%s", known.protocol);
}
