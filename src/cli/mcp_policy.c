/* `alisio mcp allow|ask|deny` and `alisio mcp review`. */
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/mcp_common.h"
#include "cli/run_text.h"

#include "base/mem.h"
#include "base/text.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define AL_NEAR_MAX 128

/* --- allow, ask, deny --- */

struct rule {
    struct al_str server;
    const char *pattern;
    enum al_tool_policy policy;
};

static int edit_rule(void *ud, struct al_str old, struct al_buf *out, struct al_err *err)
{
    const struct rule *r = ud;
    return al_servers_edit_rule(old, r->server, r->pattern, r->policy, out, err);
}

/* A set that is opened has to be closed; by itself "[" would match nothing that anybody means. */
static bool has_open_set(const char *z)
{
    for (; *z; z++) {
        if (*z == '\\' && z[1]) {
            z++;
        } else if (*z == '[') {
            z += 1 + (z[1] == '!' || z[1] == '^');
            const char *end = *z ? strchr(z + 1, ']') : NULL; /* one that comes first is of the set */
            if (!end)
                return true;
            z = end;
        }
    }
    return false;
}

struct matching {
    const char *pattern;
    size_t n, all;
    char near[AL_NEAR_MAX]; /* the tool whose name is nearest to the pattern; "": none */
    unsigned best;
    struct al_seen seen;
};

/* How far a name is from a pattern, its stars left out and as many characters at the end of the name, where
 * the pattern ends in one. */
static unsigned pattern_distance(const char *pattern, const char *tool)
{
    char bare[AL_NEAR_MAX];
    size_t n = 0;
    for (const char *z = pattern; *z && n < sizeof bare; z++)
        if (*z != '*' && *z != '\\')
            bare[n++] = *z;
    struct al_str name = al_str_of(tool);
    if (al_str_ends(al_str_of(pattern), "*") && name.n > n)
        name.n = n;
    unsigned d = al_str_distance((struct al_str){bare, n}, name);
    return n == 0 || d > 1 + n / 3 ? UINT_MAX : d;
}

static bool match(void *ud, const struct al_catalog_tool *t)
{
    struct matching *m = ud;
    m->all++;
    unsigned far = pattern_distance(m->pattern, t->tool);
    if (far < m->best && strlen(t->tool) < sizeof m->near) {
        m->best = far;
        snprintf(m->near, sizeof m->near, "%s", t->tool);
    }
    if (!al_str_glob(m->pattern, al_str_of(t->tool)))
        return true;
    m->n++;
    al_seen_add(&m->seen, t);
    return true;
}

/* What is allowed are the definitions that are counted: pinned first, since nothing may come between. */
static int apply_rule(struct al_app *app, struct rule *rule, struct matching *m, struct al_err *err)
{
    int r = al_catalog_each(app->store, app->args.pos[0], match, m, err);
    if (r == 0 && rule->policy == AL_POLICY_ALLOW)
        r = al_seen_pin(app, app->args.pos[0], &m->seen, err);
    al_seen_free(&m->seen);
    return r < 0 ? r : al_config_user_edit(app->user_file, edit_rule, rule, err);
}

static void warn_no_match(struct al_app *app, const struct matching *m)
{
    autobuf struct al_buf near = AL_BUF_INIT(4096);
    if (m->near[0]) {
        al_buf_adds(&near, "the nearest is ");
        al_say_plain(&near, m->near);
    } else {
        al_buf_adds(&near, "`alisio mcp tools ");
        al_say_quoted(&near, app->args.pos[0]);
        al_buf_adds(&near, "` lists them");
    }
    al_app_warn(app, "the pattern matches no tool of %s that is known; %.*s", app->args.pos[0],
                AL_FMT(al_buf_str(&near)));
}

static int set_rule(struct al_app *app, struct al_reply *reply, enum al_tool_policy policy)
{
    struct rule rule = {al_str_of(app->args.pos[0]), app->args.pos[1], policy};
    struct matching m = {.pattern = rule.pattern, .best = UINT_MAX};
    struct al_jw w;
    if (!rule.pattern[0]) {
        al_fail(&reply->err, AL_INVALID_INPUT, "the pattern is empty");
        return al_hint(&reply->err, "'*' stands for all tools of the server");
    }
    if (has_open_set(rule.pattern)) {
        al_fail(&reply->err, AL_INVALID_INPUT, "the pattern has a [ that no ] closes");
        return al_hint(&reply->err, "'get_[ab]*' is a set; '\\[' is the character itself");
    }
    if (al_app_config(app, &reply->err) < 0 || al_app_servers(app, &reply->err) < 0 ||
        !al_mcp_server(app, app->args.pos[0], &reply->err) || al_app_store(app, &reply->err) < 0 ||
        apply_rule(app, &rule, &m, &reply->err) < 0)
        return -1;
    struct al_buf *out = &reply->text;
    al_say_plain(out, rule.pattern);
    al_buf_adds(out, " of ");
    al_say_plain(out, app->args.pos[0]);
    al_buf_addf(out, " is now %s; ", al_tool_policy_name(policy));
    if (m.all)
        al_buf_addf(out, "%zu of its %zu known tools match\n", m.n, m.all);
    else
        al_buf_adds(out, "its tools are not known yet\n");
    if (m.all && m.n == 0)
        warn_no_match(app, &m);
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "server", app->args.pos[0]);
    al_jw_kstrz(&w, "pattern", rule.pattern);
    al_jw_kstrz(&w, "policy", al_tool_policy_name(policy));
    al_jw_kint(&w, "matching", (int64_t)m.n);
    al_jw_kint(&w, "known", (int64_t)m.all);
    al_jw_end(&w);
    return 0;
}

int al_cmd_mcp_allow(struct al_app *app, struct al_reply *reply)
{
    return set_rule(app, reply, AL_POLICY_ALLOW);
}

int al_cmd_mcp_ask(struct al_app *app, struct al_reply *reply)
{
    return set_rule(app, reply, AL_POLICY_ASK);
}

int al_cmd_mcp_deny(struct al_app *app, struct al_reply *reply)
{
    return set_rule(app, reply, AL_POLICY_DENY);
}

/* --- review --- */

struct review {
    struct al_app *app;
    struct al_reply *reply;
    struct al_jw w;
    struct {
        char *tool, *sha256; /* what was shown */
    } * tools;
    size_t n;
    bool cut; /* something could not be shown whole */
};

/* Texts as paragraphs, all else as indented JSON: what a person compares by lines. */
static void definition_lines(struct al_app *app, struct al_str json, struct al_buf *out)
{
    autoarena struct al_arena a = AL_ARENA_INIT(32u << 20);
    const struct al_json *v;
    if (al_json_parse(&a, json, &v, NULL) < 0) {
        al_buf_add_str(out, json);
        al_buf_addc(out, '\n');
        return;
    }
    al_json_each(m, v)
    {
        if (m->type == AL_JSON_NULL)
            continue;
        al_text_plain(out, m->key, false);
        al_buf_adds(out, al_json_is_string(m) && !memchr(m->str.p, '\n', m->str.n) ? ": " : ":\n");
        if (al_json_is_string(m))
            al_buf_add_str(out, m->str);
        else
            al_say_json(app, out, m);
        al_buf_addc(out, '\n');
    }
}

static bool show_change(void *ud, const char *tool, struct al_str old_json, struct al_str new_json,
                        const char *new_sha256)
{
    struct review *r = ud;
    autobuf struct al_buf old = AL_BUF_INIT(8u << 20), new = AL_BUF_INIT(8u << 20);
    struct al_buf *out = &r->reply->text;
    bool color = r->app->color;
    definition_lines(r->app, old_json, &old);
    definition_lines(r->app, new_json, &new);
    al_buf_addf(out, "%s%s", r->n ? "\n" : "", al_style_on(color, AL_BOLD));
    al_say_plain(out, tool);
    al_buf_addf(out, "%s\n", al_style_off(color, AL_BOLD));
    al_diff_lines(r->app, al_buf_str(&old), al_buf_str(&new), out);
    r->cut |= al_buf_failed(&old) || al_buf_failed(&new) || al_buf_failed(out);
    r->tools = al_xrealloc(r->tools, (r->n + 1) * sizeof *r->tools);
    r->tools[r->n].tool = al_xstrdup(tool);
    r->tools[r->n++].sha256 = al_xstrdup(new_sha256);
    al_jw_obj(&r->w);
    al_jw_kstrz(&r->w, "tool", tool);
    al_jw_kraw(&r->w, "old", old_json);
    al_jw_kraw(&r->w, "new", new_json);
    al_jw_end(&r->w);
    return true;
}

static int accept_all(struct review *r, const char *server)
{
    char question[160];
    autobuf struct al_buf command = AL_BUF_INIT(1024);
    if (r->cut)
        return al_fail(&r->reply->err, AL_QUOTA_EXCEEDED, "what changed is more than can be shown");
    snprintf(question, sizeof question, "Take %s as %s now?", r->n == 1 ? "it" : "them",
             r->n == 1 ? "it is" : "they are");
    al_buf_adds(&command, "alisio mcp review ");
    al_text_shell(&command, al_str_of(server));
    al_buf_adds(&command, " --yes");
    al_buf_addc(&command, 0);
    if (!al_approved(r->app, al_buf_str(&r->reply->text), question,
                     al_buf_failed(&command) ? "alisio mcp review SERVER --yes" : command.p, &r->reply->err))
        return -1;
    for (size_t i = 0; i < r->n; i++)
        if (al_catalog_pin(r->app->store, server, r->tools[i].tool, r->tools[i].sha256, true,
                           &r->reply->err) < 0)
            return -1;
    if (!al_args_has(&r->app->args, AL_FLAG_YES))
        al_buf_clear(&r->reply->text); /* it was shown with the question */
    al_buf_addf(&r->reply->text, "%zu tool%s of ", r->n, r->n == 1 ? "" : "s");
    al_say_plain(&r->reply->text, server);
    al_buf_addf(&r->reply->text, " taken as %s now\n", r->n == 1 ? "it is" : "they are");
    return 0;
}

static void say_nothing_changed(struct al_buf *out, const char *server)
{
    al_buf_adds(out, "nothing of ");
    al_say_plain(out, server);
    al_buf_adds(out, " has changed since its tools were first used\n");
}

int al_cmd_mcp_review(struct al_app *app, struct al_reply *reply)
{
    const char *server = app->args.pos[0];
    struct review r = {.app = app, .reply = reply};
    if (al_app_config(app, &reply->err) < 0 || al_app_servers(app, &reply->err) < 0 ||
        !al_mcp_server(app, server, &reply->err) || al_app_store(app, &reply->err) < 0)
        return -1;
    al_jw_init(&r.w, &reply->structured);
    al_jw_obj(&r.w);
    al_jw_kstrz(&r.w, "server", server);
    al_jw_key(&r.w, "changed");
    al_jw_arr(&r.w);
    int n = al_catalog_changed(app->store, server, show_change, &r, &reply->err);
    al_jw_end(&r.w);
    int result = n;
    if (n == 0 && r.n == 0)
        say_nothing_changed(&reply->text, server);
    else if (n == 0)
        result = accept_all(&r, server);
    al_jw_kbool(&r.w, "accepted", result == 0 && r.n > 0);
    al_jw_end(&r.w);
    for (size_t i = 0; i < r.n; i++) {
        free(r.tools[i].tool);
        free(r.tools[i].sha256);
    }
    free(r.tools);
    return result;
}
