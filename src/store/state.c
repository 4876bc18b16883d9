/* The object `state` of a session: one row per top-level key. */
#include "store/store_int.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>

/* Trees and copies of one merge. Values are bounded by max_bytes before they come here; this bounds their
 * trees. */
#define MAX_ARENA (256u << 20)

int al_store_state_get(struct al_store *s, const char *session, struct al_buf *out, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "SELECT key, value FROM state WHERE session=?1 ORDER BY ord", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, session);
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    int r;
    while ((r = al_step(q, err)) == 1) {
        al_jw_key_str(&w, al_col_text(q, 0));
        al_jw_raw(&w, al_col_text(q, 1));
    }
    al_jw_end(&w);
    if (r < 0)
        return -1;
    return al_buf_failed(out) ? al_fail(err, AL_STATE_LIMIT, "the session's state is larger than can be read")
                              : 0;
}

enum side {
    BEFORE, /* when the run started */
    AFTER,  /* when it ended */
    STORED, /* now */
    N_SIDES,
};

struct item {
    struct al_str key, value;
    enum side side;
    uint32_t at; /* place within its side: the later of two equal keys counts, new keys keep their order */
};

/* A key on all sides; value.p NULL where it is not. */
struct change {
    struct al_str key, value[N_SIDES];
    uint32_t at;
};

struct merge {
    struct al_store *s;
    const char *session;
    struct al_arena arena;
    struct item *items;
    size_t n, cap;
    struct change *changes; /* keys that this run changed */
    size_t n_changes;
    size_t bytes, stored_bytes;
};

static void add_item(struct merge *m, struct al_str key, struct al_str value, enum side side)
{
    if (m->n == m->cap) {
        m->cap = m->cap ? 2 * m->cap : 64;
        m->items = al_xrealloc(m->items, m->cap * sizeof *m->items);
    }
    m->items[m->n] = (struct item){key, value, side, (uint32_t)m->n};
    m->n++;
}

static int parse(struct merge *m, struct al_str text, enum al_json_type want, const struct al_json **ret,
                 struct al_err *err)
{
    const struct al_json *v;
    if (al_json_parse(&m->arena, text, &v, NULL) < 0) {
        if (m->arena.used > MAX_ARENA - 65536)
            return al_fail(err, AL_STATE_LIMIT, "the state has too many values");
        return al_fail(err, AL_INTERNAL, "the engine's state is no JSON");
    }
    if (v->type != want)
        return al_fail(err, AL_INTERNAL, "the engine's state has a wrong form");
    *ret = v;
    return 0;
}

static int add_before(struct merge *m, struct al_str text, struct al_err *err)
{
    const struct al_json *v;
    if (al_str_trim(text).n == 0)
        return 0;
    if (parse(m, text, AL_JSON_OBJECT, &v, err) < 0)
        return -1;
    al_json_each(member, v) add_item(m, member->key, member->raw, BEFORE);
    return 0;
}

static int add_after(struct merge *m, struct al_str text, struct al_err *err)
{
    const struct al_json *v;
    if (parse(m, text, AL_JSON_ARRAY, &v, err) < 0)
        return -1;
    al_json_each(pair, v)
    {
        if (pair->type != AL_JSON_ARRAY || pair->n != 2 || !al_json_is_string(pair->child))
            return al_fail(err, AL_INTERNAL, "the engine's state has a wrong form");
        add_item(m, pair->child->str, pair->child->next->raw, AFTER);
    }
    return 0;
}

static struct al_str keep(struct merge *m, struct al_str v)
{
    return (struct al_str){al_arena_dup(&m->arena, v), v.n};
}

static int add_stored(struct merge *m, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(m->s->db, "SELECT key, value FROM state WHERE session=?1 ORDER BY ord", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, m->session);
    int r;
    while ((r = al_step(q, err)) == 1) {
        struct al_str key = keep(m, al_col_text(q, 0)), value = keep(m, al_col_text(q, 1));
        if (!key.p || !value.p) {
            al_stmt_reset(q);
            return al_fail(err, AL_STATE_LIMIT, "the state has too many values");
        }
        add_item(m, key, value, STORED);
    }
    return r;
}

static int by_key(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int r = al_str_cmp(x->key, y->key);
    return r ? r : x->at < y->at ? -1 : x->at > y->at;
}

static int by_place(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool same(struct al_str a, struct al_str b)
{
    return a.p && b.p ? al_str_eq(a, b) : a.p == b.p;
}

/* Size of "key":value in the object's text; the braces and commas are counted once per member. */
static size_t member_bytes(struct al_str key, struct al_str value)
{
    if (!value.p)
        return 0;
    /* As written: an escape has up to six bytes for one. */
    struct al_buf b = AL_BUF_INIT(8 * key.n + 16);
    struct al_jw w;
    al_jw_init(&w, &b);
    al_jw_str(&w, key);
    size_t n = b.n + 2 + value.n;
    al_buf_free(&b);
    return n;
}

static int judge(struct merge *m, const struct change *c, struct al_err *err)
{
    const struct al_str *v = c->value;
    bool mine = !same(v[BEFORE], v[AFTER]);
    struct al_str result = mine ? v[AFTER] : v[STORED];
    m->stored_bytes += member_bytes(c->key, v[STORED]);
    m->bytes += member_bytes(c->key, result);
    if (!mine || (!v[AFTER].p && !v[STORED].p))
        return 0;
    /* Also when both came to the same value: two that count up by one would otherwise lose one. */
    if (!same(v[BEFORE], v[STORED])) {
        autobuf struct al_buf shown = AL_BUF_INIT(1024);
        al_text_visible(&shown, al_utf8_cut(c->key, 80), false);
        al_fail(err, AL_STATE_CONFLICT, "another run of the session changed state key %.*s meanwhile",
                AL_FMT(al_buf_str(&shown)));
        return al_hint(err, "run it again: it then starts from the other run's state");
    }
    m->changes[m->n_changes++] = *c;
    return 0;
}

/* The change at items[*i], which are sorted; *i moves behind its key. */
static struct change next_change(const struct merge *m, size_t *i)
{
    struct change c = {.key = m->items[*i].key};
    for (; *i < m->n && al_str_eq(m->items[*i].key, c.key); ++*i) {
        const struct item *item = &m->items[*i];
        c.value[item->side] = item->value;
        if (item->side == AFTER)
            c.at = item->at;
    }
    return c;
}

static void sort(struct merge *m)
{
    if (m->n)
        qsort(m->items, m->n, sizeof *m->items, by_key);
}

/* Did this run change anything, seen from where it started? */
static bool changed_here(struct merge *m)
{
    sort(m);
    for (size_t i = 0; i < m->n;) {
        struct change c = next_change(m, &i);
        if (!same(c.value[BEFORE], c.value[AFTER]))
            return true;
    }
    return false;
}

static int compare(struct merge *m, struct al_err *err)
{
    sort(m);
    m->changes = al_xcalloc(m->n + 1, sizeof *m->changes);
    m->bytes = m->stored_bytes = 1; /* two braces, less the comma that the last member has not */
    for (size_t i = 0; i < m->n;) {
        struct change c = next_change(m, &i);
        if (judge(m, &c, err) < 0)
            return -1;
    }
    if (m->bytes < 2)
        m->bytes = 2;
    qsort(m->changes, m->n_changes, sizeof *m->changes, by_place);
    return 0;
}

static int apply(struct merge *m, const struct change *c, struct al_err *err)
{
    struct al_stmt *q;
    if (!c->value[AFTER].p) {
        if (al_db_prepare(m->s->db, "DELETE FROM state WHERE session=?1 AND key=?2", &q, err) < 0)
            return -1;
    } else {
        if (al_db_prepare(m->s->db,
                          "INSERT INTO state(session, key, value, ord) VALUES(?1, ?2, ?3, "
                          "(SELECT coalesce(max(ord),0)+1 FROM state WHERE session=?1)) "
                          "ON CONFLICT(session, key) DO UPDATE SET value=excluded.value, version=version+1",
                          &q, err) < 0)
            return -1;
        al_bind_text(q, 3, c->value[AFTER]);
    }
    al_bind_textz(q, 1, m->session);
    al_bind_text(q, 2, c->key);
    return al_store_write(m->s, q, err);
}

static int merge_in_tx(struct merge *m, size_t max_bytes, struct al_err *err)
{
    if (add_stored(m, err) < 0 || compare(m, err) < 0)
        return -1;
    /* A limit that was lowered must not keep a script from making the state smaller. */
    if (m->n_changes && m->bytes > max_bytes && m->bytes >= m->stored_bytes) {
        al_fail(err, AL_STATE_LIMIT, "the state would have %zu bytes, the limit is %zu", m->bytes, max_bytes);
        return al_hint(err, "keep less in it, or raise forge.state.maxTotalBytes");
    }
    for (size_t i = 0; i < m->n_changes; i++) {
        if (apply(m, &m->changes[i], err) < 0)
            return -1;
    }
    return 0;
}

static int merge_all(struct merge *m, struct al_str before, struct al_str after, size_t max_bytes,
                     struct al_err *err)
{
    if (add_before(m, before, err) < 0 || add_after(m, after, err) < 0)
        return -1;
    /* Most runs change nothing: then nobody waits for the write lock. */
    if (!changed_here(m))
        return add_stored(m, err) < 0 ? -1 : compare(m, err);
    if (al_db_begin(m->s->db, false, err) < 0)
        return -1;
    return al_store_finish(m->s, merge_in_tx(m, max_bytes, err), err);
}

int al_store_state_merge(struct al_store *s, const char *session, struct al_str before, struct al_str after,
                         size_t max_bytes, size_t *ret_bytes, bool *ret_changed, struct al_err *err)
{
    struct merge m = {.s = s, .session = session, .arena = AL_ARENA_INIT(MAX_ARENA)};
    int r = merge_all(&m, before, after, max_bytes, err);
    if (r == 0) {
        *ret_bytes = m.bytes;
        *ret_changed = m.n_changes > 0;
    }
    free(m.items);
    free(m.changes);
    al_arena_free(&m.arena);
    return r;
}
