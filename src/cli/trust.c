#include "cli/app.h"
#include "cli/commands.h"
#include "cli/run_text.h"
#include "cli/table.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"

#include <fcntl.h>
#include <string.h>

#define MAX_PROJECT_FILE (1u << 20)

struct listing {
    struct al_table table;
    struct al_jw w;
};

static bool list_dir(void *ud, const char *dir, const char *sha256, int64_t at_ms)
{
    struct listing *l = ud;
    autobuf struct al_buf cell = AL_BUF_INIT(64);
    bool has_file = sha256 && *sha256;
    al_table_add(&l->table, dir);
    al_say_time(&cell, at_ms);
    al_table_add_str(&l->table, al_buf_str(&cell));
    al_table_addf(&l->table, "%.12s", has_file ? sha256 : "-");
    al_jw_obj(&l->w);
    al_jw_kstrz(&l->w, "path", dir);
    al_jw_kstrz(&l->w, "configSha256", has_file ? sha256 : NULL);
    al_jw_ktime(&l->w, "at", at_ms);
    al_jw_end(&l->w);
    return true;
}

int al_cmd_trust_list(struct al_app *app, struct al_reply *reply)
{
    static const char *const heads[] = {"FOLDER", "SINCE", "CONFIG SHA-256", NULL};
    struct listing l = {0};
    if (al_app_store(app, &reply->err) < 0)
        return -1;
    al_table_init(&l.table, heads);
    al_jw_init(&l.w, &reply->structured);
    al_jw_obj(&l.w);
    al_jw_key(&l.w, "trusted");
    al_jw_arr(&l.w);
    int r = al_store_trust_each(app->store, list_dir, &l, &reply->err);
    al_jw_end(&l.w);
    al_jw_end(&l.w);
    if (l.table.n_cells == 0)
        al_buf_adds(&reply->text, "no folder is trusted\n");
    al_table_print(app, &l.table, &reply->text);
    al_table_free(&l.table);
    return r;
}

/* --- trust add --- */

/* What the project's bytes would change against the user's own options. The bytes that are shown are the
 * bytes that are hashed. */
static int show_changes(struct al_app *app, struct al_str project, struct al_reply *reply, struct al_jw *w)
{
    struct al_config *without = NULL, *with = NULL;
    autobuf struct al_buf user = AL_BUF_INIT(MAX_PROJECT_FILE);
    autofree char *home = al_config_home();
    autobuf struct al_buf path = AL_BUF_INIT(8192);
    al_buf_addf(&path, "%s/config.json", home);
    al_buf_addc(&path, 0);
    autofd int fd = openat(AT_FDCWD, path.p, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd >= 0 && al_fd_read_all(fd, &user) < 0)
        al_buf_clear(&user);
    int r = al_config_load_bytes(al_buf_str(&user), (struct al_str){0}, &without, &reply->err);
    if (r == 0)
        r = al_config_load_bytes(al_buf_str(&user), project, &with, &reply->err);
    unsigned n = 0;
    al_jw_key(w, "changes");
    al_jw_arr(w);
    for (int o = 0; r == 0 && o < AL_OPT_COUNT; o++) {
        autobuf struct al_buf before = AL_BUF_INIT(1 << 20), after = AL_BUF_INIT(1 << 20);
        al_config_value_json(without, (enum al_opt)o, &before);
        al_config_value_json(with, (enum al_opt)o, &after);
        if (al_str_eq(al_buf_str(&before), al_buf_str(&after)))
            continue;
        n++;
        al_buf_addf(&reply->text, "  %s: ", al_opt_name((enum al_opt)o));
        al_say_foreign(app, &reply->text, al_buf_str(&before), false);
        al_buf_adds(&reply->text, " becomes ");
        al_say_foreign(app, &reply->text, al_buf_str(&after), false);
        al_buf_addc(&reply->text, '\n');
        al_jw_obj(w);
        al_jw_kstrz(w, "key", al_opt_name((enum al_opt)o));
        al_jw_kraw(w, "from", al_buf_str(&before));
        al_jw_kraw(w, "to", al_buf_str(&after));
        al_jw_end(w);
    }
    al_jw_end(w);
    if (r == 0 && n == 0)
        al_buf_adds(&reply->text, "  it changes nothing now\n");
    const char *const *notices = NULL;
    size_t n_notices = r == 0 ? al_config_notices(with, &notices) : 0;
    for (size_t i = 0; i < n_notices; i++)
        al_app_warn(app, "%s", notices[i]);
    al_config_free(without);
    al_config_free(with);
    return r;
}

int al_cmd_trust_add(struct al_app *app, struct al_reply *reply)
{
    char sha[AL_SHA256_HEX] = "";
    autobuf struct al_buf bytes = AL_BUF_INIT(MAX_PROJECT_FILE);
    struct al_jw w;
    autofree char *dir = al_path_real(app->args.pos[0], &reply->err);
    int has = dir ? al_app_read_project(dir, &bytes, sha, &reply->err) : -1;
    if (has < 0)
        return -1;
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "path", dir);
    al_jw_kstrz(&w, "configSha256", has ? sha : NULL);
    if (al_app_store(app, &reply->err) < 0)
        return -1;
    al_buf_adds(&reply->text, "trusted ");
    al_say_foreign(app, &reply->text, al_str_of(dir), false);
    if (!has) {
        al_buf_adds(&reply->text,
                    "\nit has no .alisio/config.json; when one appears, trust is asked for again\n");
    } else {
        al_buf_addf(&reply->text, "\nits .alisio/config.json (SHA-256 %.12s…):\n", sha);
        if (show_changes(app, al_buf_str(&bytes), reply, &w) < 0) {
            al_buf_clear(&reply->text);
            al_buf_clear(&reply->structured);
            return -1;
        }
    }
    al_jw_end(&w);
    if (al_store_trust_add(app->store, dir, has ? sha : NULL, &reply->err) == 0)
        return 0;
    al_buf_clear(&reply->text);
    al_buf_clear(&reply->structured);
    return -1;
}

int al_cmd_trust_revoke(struct al_app *app, struct al_reply *reply)
{
    const char *word = app->args.pos[0];
    struct al_err gone;
    struct al_jw w;
    /* A folder that is no more may still be in the list: then its name is taken as it was shown there. */
    autofree char *real = al_path_real(word, &gone);
    if (!real && word[0] != '/') {
        reply->err = gone;
        return al_hint(&reply->err,
                       "`alisio trust list` shows the folders; give the whole path of one that is gone");
    }
    const char *dir = real ? real : word;
    if (al_app_store(app, &reply->err) < 0 || al_store_trust_revoke(app->store, dir, &reply->err) < 0)
        return -1;
    al_buf_adds(&reply->text, "no longer trusted: ");
    al_say_foreign(app, &reply->text, al_str_of(dir), false);
    al_buf_addc(&reply->text, '\n');
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "revoked", dir);
    al_jw_end(&w);
    return 0;
}
