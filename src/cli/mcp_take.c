#include "cli/mcp_take.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

void al_takeover_init(struct al_app *app, const struct al_servers *found, struct al_takeover *ret)
{
    const struct al_servers *own = al_config_servers(app->config);
    *ret = (struct al_takeover){.v = al_xcalloc(found->n + 1, sizeof *ret->v), .n = found->n};
    for (size_t i = 0; i < found->n; i++) {
        struct al_take *t = &ret->v[i];
        const struct al_server *have = al_servers_find(own, al_str_of(found->v[i].name));
        t->s = &found->v[i];
        t->kind = al_server_is_own(t->s)                    ? AL_TAKE_OWN
                  : !have                                   ? AL_TAKE_NEW
                  : strcmp(have->sha256, t->s->sha256) == 0 ? AL_TAKE_SAME
                                                            : AL_TAKE_REPLACE;
        t->chosen = t->kind == AL_TAKE_NEW || t->kind == AL_TAKE_REPLACE;
    }
}

void al_takeover_free(struct al_takeover *t)
{
    al_servers_free(&t->chosen);
    free(t->v);
    *t = (struct al_takeover){0};
}

void al_take_say(const struct al_take *t, struct al_buf *out)
{
    static const char *const says[] = {[AL_TAKE_NEW] = "",
                                       [AL_TAKE_SAME] = "  (is configured already)",
                                       [AL_TAKE_REPLACE] = "  (replaces the one of that name)",
                                       [AL_TAKE_OWN] = "  (is alisio itself: left out)"};
    al_buf_adds(out, "  ");
    al_say_plain(out, t->s->name);
    al_buf_addf(out, "%s\n", says[t->kind]);
    al_say_server(t->s, out);
}

/* --- the proposal --- */

static bool has_rule(const struct al_server *s, const char *pattern)
{
    for (size_t i = 0; i < s->n_rules; i++)
        if (strcmp(s->rules[i].pattern, pattern) == 0)
            return true;
    return false;
}

/* What a person has decided here comes before what the file says. */
static int put_own_rules_first(struct al_server *s, const struct al_server *have, struct al_err *err)
{
    struct al_server theirs = {.rules = s->rules, .n_rules = s->n_rules};
    bool fits = true;
    s->rules = NULL;
    s->n_rules = 0;
    for (size_t i = 0; have && i < have->n_rules; i++)
        al_server_add_rule(s, have->rules[i].pattern, have->rules[i].policy);
    for (size_t i = 0; i < theirs.n_rules; i++) {
        if (!has_rule(s, theirs.rules[i].pattern)) {
            fits &= s->n_rules < AL_SERVER_RULES_MAX;
            al_server_add_rule(s, theirs.rules[i].pattern, theirs.rules[i].policy);
        }
        free(theirs.rules[i].pattern);
    }
    free(theirs.rules);
    if (!fits)
        return al_fail(err, AL_CONFIG_INVALID, "%s: your rules for it and those of the file are more than %d",
                       s->name, AL_SERVER_RULES_MAX);
    return 0;
}

static int choose(struct al_app *app, struct al_takeover *t, const char *imported_file, struct al_err *err)
{
    const struct al_servers *own = al_config_servers(app->config);
    for (size_t i = 0; i < t->n; i++) {
        if (!t->v[i].chosen)
            continue;
        if (al_servers_add(&t->chosen, t->v[i].s, err) < 0)
            return -1;
        struct al_server *s = &t->chosen.v[t->chosen.n - 1];
        if (put_own_rules_first(s, al_servers_find(own, al_str_of(s->name)), err) < 0)
            return -1;
        if (!imported_file)
            continue;
        free(s->imported_file);
        free(s->imported_name);
        s->imported_file = al_xstrdup(imported_file);
        s->imported_name = al_xstrdup(s->name);
        if (!s->imported_sha256[0])
            memcpy(s->imported_sha256, s->sha256, sizeof s->imported_sha256);
    }
    t->n_chosen = t->chosen.n;
    return 0;
}

static struct al_take *take_named(struct al_takeover *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->v[i].chosen && strcmp(t->v[i].s->name, name) == 0)
            return &t->v[i];
    return NULL;
}

/* A person's own rules for a server of that name stay as they are. What the proposal is about is pinned: a
 * server that makes something else of a tool before its first use is seen. */
static int propose(struct al_app *app, struct al_takeover *t, struct al_err *err)
{
    const struct al_servers *own = al_config_servers(app->config);
    for (size_t i = 0; i < t->chosen.n; i++) {
        struct al_server *s = &t->chosen.v[i];
        struct al_take *take = take_named(t, s->name);
        const struct al_server *have = al_servers_find(own, al_str_of(s->name));
        if (!take->known)
            continue;
        struct al_seen seen = {0};
        int r = have && have->n_rules ? al_count_tools(app, s, &take->counts, &seen, err)
                                      : al_propose_policy(app, s, &take->counts, &seen, err);
        if (r == 0)
            r = al_seen_pin(app, s->name, &seen, err);
        al_seen_free(&seen);
        if (r < 0)
            return -1;
    }
    return 0;
}

int al_takeover_prepare(struct al_app *app, struct al_takeover *t, const char *imported_file,
                        struct al_err *err)
{
    if (choose(app, t, imported_file, err) < 0)
        return -1;
    /* The core works with what will be configured. */
    al_servers_free(&app->servers);
    for (size_t i = 0; i < t->chosen.n; i++)
        if (al_servers_add(&app->servers, &t->chosen.v[i], err) < 0)
            return -1;
    app->servers_read = true;
    if (al_app_core(app, "cli", err) < 0)
        return -1;
    size_t n = 0, all = app->upstreams ? al_upstreams_n(app->upstreams) : 0;
    autofree struct al_fetch *v = al_xcalloc(all + 1, sizeof *v);
    for (size_t i = 0; i < all; i++) {
        struct al_upstream *u = al_upstreams_at(app->upstreams, i);
        if (!al_upstream_config(u)->disabled)
            v[n++].s = u;
    }
    if (n)
        al_app_note(app, "starting %zu server%s to see %s tools", n, n == 1 ? "" : "s",
                    n == 1 ? "its" : "their");
    if (al_fetch_all(app, v, n, true, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct al_take *take = take_named(t, al_upstream_config(v[i].s)->name);
        take->err = v[i].err;
        take->known = v[i].err.code == AL_OK;
    }
    return propose(app, t, err);
}

int al_takeover_edit(void *ud, struct al_str old, struct al_buf *out, struct al_err *err)
{
    const struct al_takeover *t = ud;
    autobuf struct al_buf now = AL_BUF_INIT(1u << 20), next = AL_BUF_INIT(1u << 20);
    al_buf_add_str(&now, old);
    for (size_t i = 0; i < t->chosen.n; i++) {
        if (al_servers_edit_put(al_buf_str(&now), &t->chosen.v[i], &next, err) < 0)
            return -1;
        al_buf_clear(&now);
        al_buf_add_str(&now, al_buf_str(&next));
        al_buf_clear(&next);
    }
    al_buf_add_str(out, al_buf_str(&now));
    return 0;
}

void al_takeover_say_policy(const struct al_takeover *t, struct al_buf *out)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct al_take *k = &t->v[i];
        if (!k->chosen)
            continue;
        al_buf_adds(out, "  ");
        al_say_plain(out, k->s->name);
        if (k->s->disabled) {
            al_buf_adds(out, ": is switched off, and stays so\n");
        } else if (!k->known) {
            al_buf_adds(out, ": every tool asks, since they could not be seen: ");
            al_say_plain(out, k->err.msg);
            al_buf_addc(out, '\n');
        } else {
            al_buf_addf(out, ": %zu tool%s; allow %zu", k->counts.tools, k->counts.tools == 1 ? "" : "s",
                        k->counts.allow);
            if (k->counts.ask)
                al_buf_addf(out, ", ask for %zu", k->counts.ask);
            if (k->counts.deny)
                al_buf_addf(out, ", deny %zu", k->counts.deny);
            al_buf_addc(out, '\n');
        }
    }
}

void al_takeover_json(const struct al_takeover *t, struct al_jw *w)
{
    static const char *const kinds[] = {[AL_TAKE_NEW] = "new",
                                        [AL_TAKE_SAME] = "same",
                                        [AL_TAKE_REPLACE] = "replaces",
                                        [AL_TAKE_OWN] = "own"};
    al_jw_arr(w);
    for (size_t i = 0; i < t->n; i++) {
        const struct al_take *k = &t->v[i];
        al_jw_obj(w);
        al_json_server(w, k->s);
        al_jw_kstrz(w, "kind", kinds[k->kind]);
        al_jw_kbool(w, "copied", k->chosen);
        if (k->chosen && k->known) {
            al_jw_kint(w, "tools", (int64_t)k->counts.tools);
            al_jw_kint(w, "allow", (int64_t)k->counts.allow);
            al_jw_kint(w, "ask", (int64_t)k->counts.ask);
            al_jw_kint(w, "deny", (int64_t)k->counts.deny);
        } else if (k->chosen && k->err.code != AL_OK) {
            al_jw_kstrz(w, "error", k->err.msg);
        }
        al_jw_end(w);
    }
    al_jw_end(w);
}
