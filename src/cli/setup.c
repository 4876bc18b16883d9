/* `alisio setup CLIENT`: the servers of a client move behind one entry, ours. */
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/setup_int.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct setup {
    struct al_app *app;
    struct al_reply *reply;
    const struct al_client *client;
    struct al_setup_file file;
    struct al_servers found; /* by the names that they get with us */
    char **names;            /* those that they have there */
    struct al_takeover takes;
    bool has_entry; /* one that starts this program is there already */
    struct al_buf notices, new_text, made_dirs;
    struct al_buf config_before, config_after;
    bool config_existed;
    char *own_path, *backup, *record;
};

/* --- what is there --- */

/* Another server of that name is ours already: both stay. */
static void rename_clash(const struct setup *s, struct al_server *server)
{
    const struct al_servers *own = al_config_servers(s->app->config);
    const struct al_server *have = al_servers_find(own, al_str_of(server->name));
    if (!have || strcmp(have->sha256, server->sha256) == 0 || al_server_is_own(server))
        return;
    for (unsigned i = 1; i < 100; i++) {
        char name[AL_SERVER_NAME_MAX + 1];
        int n = i == 1 ? snprintf(name, sizeof name, "%.40s-%s", server->name, s->client->name)
                       : snprintf(name, sizeof name, "%.40s-%s-%u", server->name, s->client->name, i);
        have = al_servers_find(own, al_str_of(name));
        if (n < 0 || (have && strcmp(have->sha256, server->sha256) != 0))
            continue;
        free(server->name);
        server->name = al_xstrdup(name);
        return;
    }
}

static int read_client(struct setup *s)
{
    struct al_err *err = &s->reply->err;
    const char *given = s->app->args.value[AL_FLAG_FILE];
    autofree char *usual = s->client->find();
    if (al_setup_file_open(given ? given : usual, &s->file, err) < 0 ||
        al_client_read(s->client, al_buf_str(&s->file.text), s->file.path, &s->found, &s->notices, err) < 0)
        return -1;
    al_servers_root(&s->found, 0, s->file.path, true, &s->notices);
    s->names = al_xcalloc(s->found.n + 1, sizeof *s->names);
    for (size_t i = 0; i < s->found.n; i++) {
        struct al_server *server = &s->found.v[i];
        s->names[i] = al_xstrdup(server->name);
        s->has_entry |= al_server_is_own(server) && !server->disabled;
        rename_clash(s, server);
    }
    al_takeover_init(s->app, &s->found, &s->takes);
    return 0;
}

static size_t n_chosen(const struct setup *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->takes.n; i++)
        n += s->takes.v[i].chosen;
    return n;
}

static void say_lines(struct al_str lines, const char *before, struct al_buf *out)
{
    while (lines.n) {
        const char *end = memchr(lines.p, '\n', lines.n);
        size_t n = end ? (size_t)(end - lines.p) : lines.n;
        al_buf_addf(out, "%s%.*s\n", before, (int)n, lines.p);
        n += end != NULL;
        lines = (struct al_str){lines.p + n, lines.n - n};
    }
}

static void say_found(struct setup *s, struct al_buf *out)
{
    autobuf struct al_buf others = AL_BUF_INIT(1 << 20);
    al_buf_addf(out, "%s: ", s->client->title);
    al_say_plain(out, s->file.path);
    if (!s->file.exists)
        al_buf_adds(out, " (not there yet)");
    al_buf_adds(out, s->found.n ? "\n" : " has no MCP server\n");
    for (size_t i = 0; i < s->takes.n; i++) {
        al_take_say(&s->takes.v[i], out);
        if (strcmp(s->names[i], s->found.v[i].name) != 0) {
            al_buf_adds(out, "    is called ");
            al_say_plain(out, s->names[i]);
            al_buf_adds(out, " there; yours of that name is another\n");
        }
    }
    say_lines(al_buf_str(&s->notices), "  stays there: ", out);
    al_client_other_scopes(s->client, s->app, al_buf_str(&s->file.text), &others);
    say_lines(al_buf_str(&others), "  not touched: ", out);
}

/* --- the choice --- */

static int choose(struct setup *s)
{
    struct al_app *app = s->app;
    autobuf struct al_buf shown = AL_BUF_INIT(8u << 20);
    say_found(s, &shown);
    /* What a person cannot have seen is not asked about. */
    if (al_buf_failed(&shown) || al_buf_failed(&s->notices)) {
        al_fail(&s->reply->err, AL_CONFIG_INVALID, "the servers of %s are more than can be shown",
                s->client->title);
        return al_hint(&s->reply->err, "take some out");
    }
    bool asks = !al_args_has(&app->args, AL_FLAG_YES) && !al_args_has(&app->args, AL_FLAG_DRY_RUN);
    if (!asks || !al_app_can_ask(app))
        al_buf_add_str(&s->reply->text, al_buf_str(&shown));
    if (!asks)
        return 0;
    if (!al_app_can_ask(app)) {
        al_fail(&s->reply->err, AL_APPROVAL_REQUIRED,
                "this wants a person's yes, and there is no terminal to ask at");
        return al_hint(&s->reply->err,
                       "alisio setup %s --yes; with --dry-run it only shows what would change",
                       s->client->name);
    }
    al_tell(app, al_buf_str(&shown));
    for (size_t i = 0; i < s->takes.n; i++) {
        char question[200]; /* a name has at most 64 bytes */
        if (!s->takes.v[i].chosen)
            continue;
        snprintf(question, sizeof question, "Move %s behind alisio?", s->found.v[i].name);
        s->takes.v[i].chosen = al_ask_yes(app, question, true);
    }
    if (al_ask_yes(app, "Write both files now?", false))
        return 0;
    return al_fail(&s->reply->err, AL_CANCELLED, "nothing was changed");
}

/* --- the new texts --- */

static int make_text(struct setup *s)
{
    autofree struct al_str *gone = al_xcalloc(s->takes.n + 1, sizeof *gone);
    autobuf struct al_buf entry = AL_BUF_INIT(1 << 16);
    size_t n = 0;
    for (size_t i = 0; i < s->takes.n; i++)
        if (s->takes.v[i].chosen || s->takes.v[i].kind == AL_TAKE_SAME)
            gone[n++] = al_str_of(s->names[i]);
    if (!s->has_entry)
        al_client_entry(s->client, s->own_path, &entry);
    return al_client_edit(s->client, al_buf_str(&s->file.text), gone, n, al_buf_str(&entry), s->file.path,
                          &s->new_text, &s->reply->err);
}

static bool changes_nothing(const struct setup *s)
{
    bool same = s->has_entry && n_chosen(s) == 0;
    for (size_t i = 0; i < s->takes.n; i++)
        same &= s->takes.v[i].kind != AL_TAKE_SAME;
    return same;
}

static void read_config(struct setup *s)
{
    struct al_err err;
    s->config_existed = al_app_read_text(s->app->user_file, 1u << 20, &s->config_before, &err) == 0;
    if (al_str_starts(al_buf_str(&s->config_before), "\xef\xbb\xbf"))
        al_buf_drop(&s->config_before, 3); /* as every edit does */
}

static int dry_run(struct setup *s)
{
    struct al_err *err = &s->reply->err;
    for (size_t i = 0; i < s->takes.n; i++)
        if (s->takes.v[i].chosen && al_servers_add(&s->takes.chosen, s->takes.v[i].s, err) < 0)
            return -1;
    if (make_text(s) < 0 ||
        al_takeover_edit(&s->takes, al_buf_str(&s->config_before), &s->config_after, err) < 0)
        return -1;
    struct al_setup_change theirs = {.path = s->file.path,
                                     .old = al_buf_str(&s->file.text),
                                     .new = al_buf_str(&s->new_text),
                                     .toml = s->client->toml,
                                     .steps = {s->client->container}};
    struct al_setup_change ours = {.path = s->app->user_file,
                                   .old = al_buf_str(&s->config_before),
                                   .new = al_buf_str(&s->config_after),
                                   .steps = {"mcp", "servers"}};
    al_setup_say_change(s->app, &theirs, &s->reply->text);
    al_setup_say_change(s->app, &ours, &s->reply->text);
    al_buf_adds(&s->reply->text,
                "\nnothing was changed; the policy is proposed when the servers can be seen\n");
    return 0;
}

/* --- doing it --- */

static int edit_config(void *ud, struct al_str old, struct al_buf *out, struct al_err *err)
{
    struct setup *s = ud;
    if (!al_str_eq(old, al_buf_str(&s->config_before)))
        return al_fail(err, AL_STATE_CONFLICT,
                       "your config.json was changed meanwhile; run the command again");
    al_buf_add_str(out, al_buf_str(&s->config_after));
    return 0;
}

static int restore_config(void *ud, struct al_str old, struct al_buf *out, struct al_err *err)
{
    struct setup *s = ud;
    (void)old, (void)err;
    al_buf_add_str(out, al_buf_str(&s->config_before));
    return 0;
}

/* The client's file comes last: until then nothing that it has is lost. */
static int write_all(struct setup *s)
{
    struct al_err *err = &s->reply->err, ignored;
    struct al_jw w;
    al_jw_init(&w, &s->made_dirs);
    al_jw_arr(&w);
    if (al_setup_file_folder(&s->file, &w, err) < 0)
        return -1;
    al_jw_end(&w);
    if (s->file.exists && al_setup_file_backup(&s->file, &s->backup, err) < 0)
        return -1;
    struct al_setup_record r = {.client = s->client,
                                .file = &s->file,
                                .backup = s->backup,
                                .after = al_buf_str(&s->new_text),
                                .takeover = &s->takes,
                                .original_names = (const char *const *)s->names,
                                .config_existed = s->config_existed,
                                .config_before = al_buf_str(&s->config_before),
                                .config_after = al_buf_str(&s->config_after),
                                .made_dirs = al_buf_str(&s->made_dirs)};
    int r1 = al_setup_record_write(&r, &s->record, err);
    if (r1 == 0 && n_chosen(s))
        r1 = al_config_user_edit(s->app->user_file, edit_config, s, err);
    if (r1 == 0) {
        r1 = al_setup_file_write(&s->file, al_buf_str(&s->new_text), err);
        if (r1 < 0 && n_chosen(s) && s->config_existed)
            (void)!al_config_user_edit(s->app->user_file, restore_config, s, &ignored);
        else if (r1 < 0 && n_chosen(s))
            unlink(s->app->user_file);
    }
    if (r1 < 0 && s->record)
        (void)!al_setup_record_remove(s->record, &ignored);
    if (r1 < 0 && s->backup)
        unlink(s->backup);
    return r1;
}

/* What the tools of this server alone cost a client, for comparison. */
static size_t own_bytes(const struct al_app *app)
{
    size_t n = 0;
    for (size_t i = 0; i < al_core_n_tools(app->core); i++) {
        const struct al_tool *t = al_core_tool_at(app->core, i);
        if (!t->expose && al_core_tool_registered(app->core, t))
            n += strlen(t->name) + strlen(t->description) + strlen(t->input_schema);
    }
    return n;
}

static long long say_saving(struct setup *s, struct al_buf *out)
{
    size_t theirs = 0, tools = 0, unseen = 0;
    for (size_t i = 0; i < s->takes.n; i++) {
        const struct al_take *t = &s->takes.v[i];
        if (!t->chosen || t->s->disabled)
            continue;
        theirs += t->counts.bytes;
        tools += t->counts.tools;
        unseen += !t->known;
    }
    if (!tools)
        return 0;
    long long saved = ((long long)theirs - (long long)own_bytes(s->app)) / 4;
    al_buf_addf(out, "%zu tool definitions leave the client's context: ", tools);
    if (saved > 0)
        al_buf_addf(out, "about %lld tokens less in each conversation", saved);
    else
        al_buf_adds(out, "no tokens less, since they were as small as alisio's own");
    al_buf_adds(out, " (an estimate: bytes of the definitions less ours, by 4");
    if (unseen)
        al_buf_addf(out, "; %zu server%s not counted", unseen, unseen == 1 ? "" : "s");
    al_buf_adds(out, ")\n");
    return saved;
}

static int do_it(struct setup *s, long long *ret_saved)
{
    struct al_buf *out = &s->reply->text;
    struct al_err *err = &s->reply->err;
    size_t n = n_chosen(s);
    if (al_takeover_prepare(s->app, &s->takes, NULL, err) < 0 || make_text(s) < 0 ||
        al_takeover_edit(&s->takes, al_buf_str(&s->config_before), &s->config_after, err) < 0 ||
        write_all(s) < 0)
        return -1;
    al_buf_addf(out, "%s now starts alisio", s->client->title);
    if (n) {
        al_buf_addf(out, "; %zu server%s moved to ", n, n == 1 ? "" : "s");
        al_say_plain(out, s->app->user_file);
        al_buf_adds(out, ", with this policy:\n");
        al_takeover_say_policy(&s->takes, out);
    } else {
        al_buf_adds(out, "\n");
    }
    if (s->backup) {
        al_buf_adds(out, "backup: ");
        al_say_plain(out, s->backup);
        al_buf_addc(out, '\n');
    }
    *ret_saved = say_saving(s, out);
    al_buf_addf(out, "start %s anew to use it; `alisio setup %s --undo` puts everything back\n",
                s->client->title, s->client->name);
    return 0;
}

static void to_json(struct setup *s, bool changed, long long saved)
{
    struct al_jw w;
    al_jw_init(&w, &s->reply->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "client", s->client->name);
    al_jw_kstrz(&w, "file", s->file.path);
    al_jw_kbool(&w, "changed", changed);
    al_jw_kstrz(&w, "backup", s->backup);
    al_jw_kint(&w, "tokensSavedEstimate", saved);
    al_jw_key(&w, "servers");
    al_takeover_json(&s->takes, &w);
    al_jw_kstr(&w, "leftThere", al_buf_str(&s->notices));
    al_jw_end(&w);
}

static int run(struct setup *s)
{
    bool dry = al_args_has(&s->app->args, AL_FLAG_DRY_RUN);
    long long saved = 0;
    s->own_path = al_own_path(&s->reply->err);
    if (!s->own_path || read_client(s) < 0)
        return -1;
    if (changes_nothing(s)) {
        al_buf_addf(&s->reply->text,
                    "%s starts alisio already, and has no other server to move: nothing to do\n",
                    s->client->title);
        to_json(s, false, 0);
        return 0;
    }
    read_config(s);
    int r = choose(s);
    if (r == 0)
        r = dry ? dry_run(s) : do_it(s, &saved);
    to_json(s, r == 0 && !dry, saved);
    return r;
}

int al_cmd_setup(struct al_app *app, struct al_reply *reply)
{
    struct setup s = {.app = app,
                      .reply = reply,
                      .notices = AL_BUF_INIT(1u << 20),
                      .new_text = AL_BUF_INIT(AL_SETUP_MAX_FILE),
                      .made_dirs = AL_BUF_INIT(1u << 20),
                      .config_before = AL_BUF_INIT(1u << 20),
                      .config_after = AL_BUF_INIT(1u << 20)};
    s.client = al_client_find(app->args.pos[0], &reply->err);
    if (!s.client || al_app_config(app, &reply->err) < 0)
        return -1;
    if (al_args_has(&app->args, AL_FLAG_UNDO))
        return al_setup_undo(app, s.client, reply);
    int r = run(&s);
    for (size_t i = 0; s.names && i < s.found.n; i++)
        free(s.names[i]);
    free(s.names);
    al_takeover_free(&s.takes);
    al_servers_free(&s.found);
    al_setup_file_close(&s.file);
    al_buf_free(&s.notices);
    al_buf_free(&s.new_text);
    al_buf_free(&s.made_dirs);
    al_buf_free(&s.config_before);
    al_buf_free(&s.config_after);
    free(s.own_path);
    free(s.backup);
    free(s.record);
    return r;
}
