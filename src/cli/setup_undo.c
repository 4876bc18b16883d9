/*
 * What setup did is written down before it is done: one record each time, config home/setup/CLIENT.N.json,
 * 0600. Undo takes the records from the newest to the first. Where a file is as we left it, its earlier bytes
 * come back; where others have written to it since, only our entry goes, and what we took out comes back.
 */
#include "cli/setup_int.h"

#include "base/mem.h"
#include "os/path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_RECORDS 1000
#define MAX_RECORD (8u << 20)

static char *record_path(const struct al_client *c, unsigned number)
{
    autofree char *home = al_config_home();
    struct al_buf b = AL_BUF_INIT(2 * PATH_MAX);
    al_buf_addf(&b, "%s/setup/%s.%u.json", home, c->name, number);
    return al_buf_take(&b);
}

/* The highest number in use; 0: none. */
static unsigned last_record(const struct al_client *c)
{
    for (unsigned n = 1; n <= MAX_RECORDS; n++) {
        autofree char *path = record_path(c, n);
        if (access(path, F_OK) != 0)
            return n - 1;
    }
    return MAX_RECORDS;
}

static void hash_member(struct al_jw *w, const char *key, struct al_str text)
{
    char sha[AL_SHA256_HEX];
    al_sha256(text, sha);
    al_jw_kstrz(w, key, sha);
}

int al_setup_record_write(const struct al_setup_record *r, char **ret, struct al_err *err)
{
    autobuf struct al_buf out = AL_BUF_INIT(MAX_RECORD);
    autofree char *home = al_config_home();
    struct al_buf dir = AL_BUF_INIT(PATH_MAX);
    struct al_jw w;
    al_buf_addf(&dir, "%s/setup", home);
    autofree char *folder = al_buf_take(&dir);
    unsigned number = last_record(r->client) + 1;
    if (number > MAX_RECORDS)
        return al_fail(err, AL_QUOTA_EXCEEDED, "setup has been done %d times without --undo", MAX_RECORDS);
    if (al_path_private_dir(folder, err) < 0)
        return -1;
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    al_jw_kint(&w, "version", 1);
    al_jw_kstrz(&w, "client", r->client->name);
    al_jw_kstrz(&w, "file", r->file->path);
    al_jw_kbool(&w, "existed", r->file->exists);
    al_jw_kstrz(&w, "backup", r->backup);
    hash_member(&w, "after", r->after);
    al_jw_kraw(&w, "madeFolders", r->made_dirs);
    al_jw_kbool(&w, "configExisted", r->config_existed);
    al_jw_kstr(&w, "configBefore", r->config_before);
    hash_member(&w, "configAfter", r->config_after);
    al_jw_key(&w, "servers");
    al_jw_arr(&w);
    for (size_t i = 0; i < r->takeover->n; i++) {
        const struct al_take *t = &r->takeover->v[i];
        al_jw_obj(&w);
        al_jw_kstrz(&w, "name", r->original_names[i]);
        al_jw_kstrz(&w, "as", t->s->name);
        al_jw_kbool(&w, "copied", t->chosen);
        al_jw_kbool(&w, "removed", t->chosen || t->kind == AL_TAKE_SAME);
        al_jw_end(&w);
    }
    al_jw_end(&w);
    al_jw_end(&w);
    if (al_buf_failed(&out))
        return al_fail(err, AL_CONFIG_INVALID, "your config.json is too large to be kept for --undo");
    *ret = record_path(r->client, number);
    return al_setup_write_private(*ret, al_buf_str(&out), err);
}

int al_setup_record_remove(const char *path, struct al_err *err)
{
    autofree char *dir = al_xstrdup(path);
    if (unlink(path) < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "the record %s cannot be removed", path);
    for (int i = 0; i < 2; i++) {
        *strrchr(dir, '/') = 0;
        rmdir(dir); /* one that is used stays */
    }
    return 0;
}

/* --- undo --- */

/* One that failed half-way is finished by the next: each step leaves alone what is done already, and the
 * backup goes when nothing can need it any more. */
struct undo {
    struct al_app *app;
    const struct al_client *client;
    struct al_reply *reply;
    const struct al_json *record;
    struct al_setup_file file;
};

static bool text_is(const struct undo *u, const char *key, struct al_str text)
{
    char sha[AL_SHA256_HEX];
    al_sha256(text, sha);
    return al_str_is(al_json_get_text(u->record, key), sha);
}

static bool was_removed(const struct al_json *server)
{
    return al_json_is_true(al_json_get(server, "removed"));
}

/* A server of the backup back into the text as it is now, in JSON. */
static int put_back_json(const struct undo *u, struct al_str backup, struct al_buf *text, struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 30);
    autobuf struct al_buf plain = AL_BUF_INIT(AL_SETUP_MAX_FILE);
    const struct al_json *root;
    struct al_servers now = {0};
    int r = 0;
    if (al_str_starts(backup, "\xef\xbb\xbf"))
        backup = (struct al_str){backup.p + 3, backup.n - 3};
    al_jsonc_plain(backup, &plain);
    if (al_json_parse(&a, al_buf_str(&plain), &root, err) < 0)
        return al_wrap(err, "the backup");
    if (al_client_read(u->client, al_buf_str(text), u->file.path, &now, NULL, err) < 0)
        r = -1;
    const struct al_json *container = al_json_get(root, u->client->container);
    al_json_each(m, r == 0 ? container : NULL)
    {
        bool wanted = al_str_is(m->key, AL_SETUP_ENTRY);
        al_json_each(s, al_json_get(u->record, "servers"))
        {
            wanted |= was_removed(s) && al_str_eq(al_json_get_text(s, "name"), m->key);
        }
        if (!wanted || al_servers_find(&now, m->key))
            continue;
        autobuf struct al_buf next = AL_BUF_INIT(AL_SETUP_MAX_FILE);
        struct al_text_edit e = {.steps = {al_str_of(u->client->container)},
                                 .n_steps = 1,
                                 .put_name = m->key,
                                 .put_value = m->raw};
        r = al_text_edit_json(al_buf_str(text), &e, u->file.path, &next, err);
        if (r < 0)
            break;
        al_buf_clear(text);
        al_buf_add_str(text, al_buf_str(&next));
    }
    al_servers_free(&now);
    return r;
}

/* The statements of the backup that were taken out, at the end of the text. */
static int put_back_toml(const struct undo *u, struct al_str backup, struct al_buf *text, struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 30);
    struct al_toml_spans spans;
    struct al_servers now = {0};
    const struct al_json *root;
    if (al_toml_read(&a, backup, u->client->container, &root, &spans, err) < 0)
        return al_wrap(err, "the backup");
    int r = al_client_read(u->client, al_buf_str(text), u->file.path, &now, NULL, err);
    bool in_table = false;
    for (size_t i = 0; r == 0 && i < spans.n; i++) {
        const struct al_toml_span *s = &spans.v[i];
        bool wanted = s->n_path > 1 && al_str_is(s->path[0], u->client->container) &&
                      al_str_is(s->path[1], AL_SETUP_ENTRY);
        al_json_each(t, al_json_get(u->record, "servers"))
        {
            wanted |= s->n_path > 1 && al_str_is(s->path[0], u->client->container) && was_removed(t) &&
                      al_str_eq(al_json_get_text(t, "name"), s->path[1]);
        }
        if (s->header)
            in_table = wanted;
        if (!wanted || al_servers_find(&now, s->path[1]))
            continue;
        if (!in_table) {
            r = al_fail(err, AL_CONFIG_INVALID,
                        "%s: its servers stood outside of tables; they are in the backup", u->file.path);
            break;
        }
        if (s->header && text->n)
            al_buf_adds(text, text->p[text->n - 1] == '\n' ? "\n" : "\n\n");
        al_buf_add(text, backup.p + s->from, s->to - s->from);
        if (text->p[text->n - 1] != '\n')
            al_buf_addc(text, '\n');
    }
    al_servers_free(&now);
    return r;
}

static int merge_back(struct undo *u, struct al_str backup, struct al_err *err)
{
    autobuf struct al_buf text = AL_BUF_INIT(AL_SETUP_MAX_FILE);
    struct al_str own = AL_STR(AL_SETUP_ENTRY);
    if (al_client_edit(u->client, al_buf_str(&u->file.text), &own, 1, (struct al_str){0}, u->file.path, &text,
                       err) < 0)
        return -1;
    if (backup.n && (u->client->toml ? put_back_toml : put_back_json)(u, backup, &text, err) < 0)
        return -1;
    if (al_buf_failed(&text))
        return al_fail(err, AL_CONFIG_INVALID, "%s would be larger than 32 MiB", u->file.path);
    return al_setup_file_write(&u->file, al_buf_str(&text), err);
}

static void remove_made_folders(const struct undo *u)
{
    const struct al_json *made = al_json_get(u->record, "madeFolders");
    for (size_t left = made ? made->n : 0; left > 0; left--) {
        const struct al_json *dir = made->child;
        for (size_t i = 1; i < left; i++)
            dir = dir->next;
        autofree char *path = al_xdup(dir->str.p, dir->str.n);
        rmdir(path); /* one that is used meanwhile stays */
    }
}

static bool is_as_before(const struct undo *u, bool existed, struct al_str backup)
{
    return existed && u->file.exists && al_str_eq(al_buf_str(&u->file.text), backup);
}

/* `old` is the backup, opened where there is one. */
static int restore_file(struct undo *u, const struct al_setup_file *old, bool had_backup, struct al_err *err)
{
    struct al_buf *out = &u->reply->text;
    bool existed = al_json_is_true(al_json_get(u->record, "existed"));
    bool as_left = text_is(u, "after", al_buf_str(&u->file.text));
    struct al_str backup = al_buf_str(&old->text);
    int r = 0;
    if (!u->file.exists) {
        al_buf_addf(out, "%s is gone, and stays so\n", u->file.path);
        return 0;
    }
    if (had_backup && !old->exists)
        return al_fail(err, AL_NOT_FOUND, "the backup %s is gone", old->path);
    if (had_backup && is_as_before(u, existed, backup))
        as_left = true;
    else if (as_left && !existed)
        r = unlink(u->file.path) == 0 ? 0 : al_fail_errno(err, AL_CONFIG_INVALID, errno, "%s", u->file.path);
    else if (as_left)
        r = al_setup_file_write(&u->file, backup, err);
    else
        r = merge_back(u, backup, err);
    if (r == 0)
        al_buf_addf(out, as_left ? "%s is as it was\n" : "%s: alisio is out, and its own servers are back\n",
                    u->file.path);
    return r;
}

static int undo_file(struct undo *u, const char *kept, struct al_err *err)
{
    struct al_str path = al_json_get_text(u->record, "file");
    autofree char *file = al_xdup(path.p, path.n);
    struct al_setup_file old = {0};
    int r = al_setup_file_open(file, &u->file, err);
    if (r == 0 && *kept)
        r = al_setup_file_open(kept, &old, err);
    if (r == 0)
        r = restore_file(u, &old, *kept, err);
    al_setup_file_close(&old);
    al_setup_file_close(&u->file);
    return r;
}

/* Without the servers that were copied; what is empty then goes, too. */
static int config_without(void *ud, struct al_str old, struct al_buf *out, struct al_err *err)
{
    const struct undo *u = ud;
    autobuf struct al_buf now = AL_BUF_INIT(1u << 20), next = AL_BUF_INIT(1u << 20);
    struct al_str mcp = AL_STR("mcp");
    struct al_text_edit no_mcp = {.remove = &mcp, .n_remove = 1};
    struct al_servers left = {0};
    if (text_is(u, "configAfter", old)) {
        al_buf_add_str(out, al_json_get_text(u->record, "configBefore"));
        return 0;
    }
    al_buf_add_str(&now, old);
    al_json_each(s, al_json_get(u->record, "servers"))
    {
        if (!al_json_is_true(al_json_get(s, "copied")))
            continue;
        al_buf_clear(&next);
        if (al_servers_edit_remove(al_buf_str(&now), al_json_get_text(s, "as"), &next, err) < 0) {
            if (err->code != AL_NOT_FOUND)
                return -1;
            continue; /* a person has taken it out already */
        }
        al_buf_clear(&now);
        al_buf_add_str(&now, al_buf_str(&next));
    }
    if (al_servers_read(al_buf_str(&now), AL_SERVERS_OURS, "the user config file", &left, NULL, err) < 0)
        return -1;
    size_t n = left.n;
    al_servers_free(&left);
    if (n == 0 && now.n)
        return al_text_edit_json(al_buf_str(&now), &no_mcp, "the user config file", out, err);
    al_buf_add_str(out, al_buf_str(&now));
    return 0;
}

static bool says_nothing(struct al_str text)
{
    autoarena struct al_arena a = AL_ARENA_INIT(AL_SETUP_MAX_FILE);
    const struct al_json *v;
    if (al_str_trim(text).n == 0)
        return true;
    return al_json_parse(&a, text, &v, NULL) == 0 && v->type == AL_JSON_OBJECT && v->n == 0;
}

/* A configuration that says nothing is none, unless that is how it was found. */
static void remove_empty_config(const struct undo *u)
{
    autobuf struct al_buf text = AL_BUF_INIT(1u << 20);
    struct al_err err;
    bool existed = al_json_is_true(al_json_get(u->record, "configExisted"));
    if (existed && says_nothing(al_json_get_text(u->record, "configBefore")))
        return;
    if (al_app_read_text(u->app->user_file, 1u << 20, &text, &err) == 0 && says_nothing(al_buf_str(&text)))
        unlink(u->app->user_file);
}

static int undo_config(struct undo *u, struct al_err *err)
{
    if (access(u->app->user_file, F_OK) == 0 &&
        al_config_user_edit(u->app->user_file, config_without, u, err) < 0)
        return -1;
    remove_empty_config(u);
    if (al_app_store(u->app, err) < 0)
        return -1;
    al_json_each(s, al_json_get(u->record, "servers"))
    {
        struct al_str as = al_json_get_text(s, "as");
        autofree char *name = al_xdup(as.p, as.n);
        if (al_json_is_true(al_json_get(s, "copied")) && al_catalog_remove(u->app->store, name, err) < 0 &&
            err->code != AL_NOT_FOUND)
            return -1;
    }
    al_err_clear(err);
    return 0;
}

static int undo_one(struct undo *u, const char *path, struct al_err *err)
{
    autobuf struct al_buf text = AL_BUF_INIT(MAX_RECORD);
    autoarena struct al_arena a = AL_ARENA_INIT(64u << 20);
    if (al_app_read_text(path, MAX_RECORD, &text, err) < 0 ||
        al_json_parse(&a, al_buf_str(&text), &u->record, err) < 0)
        return al_wrap(err, "the record of the setup");
    struct al_str backup = al_json_get_text(u->record, "backup");
    autofree char *kept = al_xdup(backup.p, backup.n);
    if (undo_file(u, kept, err) < 0 || undo_config(u, err) < 0 || al_setup_record_remove(path, err) < 0)
        return -1;
    if (*kept)
        unlink(kept);
    remove_made_folders(u);
    return 0;
}

int al_setup_undo(struct al_app *app, const struct al_client *c, struct al_reply *reply)
{
    struct undo u = {.app = app, .client = c, .reply = reply};
    unsigned n = last_record(c);
    if (n == 0) {
        al_fail(&reply->err, AL_NOT_FOUND, "setup of %s was not done, or is undone already", c->title);
        return al_hint(&reply->err, "`alisio setup %s` does it", c->name);
    }
    for (; n > 0; n--) {
        autofree char *path = record_path(c, n);
        if (undo_one(&u, path, &reply->err) < 0)
            return -1;
    }
    al_buf_adds(&reply->text, "what was copied to your config.json is out again\n");
    return 0;
}
