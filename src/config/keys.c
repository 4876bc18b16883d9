/*
 * Keys of providers: from the environment, else from our credentials file. What holds a key here is
 * overwritten before it is freed, and no message shows any part of one.
 */
#include "config/providers_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "config/config_int.h"
#include "config/servers_text.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE (1u << 20)

static const char shown[] = "the credentials file";

static void wipe_buf(struct al_buf *b)
{
    if (b->p)
        explicit_bzero(b->p, b->cap);
    al_buf_free(b);
}
#define wipedbuf __attribute__((cleanup(wipe_buf)))

void al_key_free(struct al_key *k)
{
    if (k->value)
        explicit_bzero(k->value, strlen(k->value));
    free(k->value);
    free(k->name);
    *k = (struct al_key){0};
}

/* --- variables that are ours alone --- */

#define MAX_HIDDEN 160

static struct {
    char *name, *value;
} hidden[MAX_HIDDEN];
static size_t n_hidden;

const char *al_key_variable(const char *name)
{
    const char *now = getenv(name);
    for (size_t i = 0; !now && i < n_hidden; i++)
        if (strcmp(hidden[i].name, name) == 0)
            return hidden[i].value;
    return now;
}

/* The bytes go, too: those of the block that the process began with are what /proc shows, and what a fork
 * copies. */
static void hide(const char *name)
{
    char *value = name && al_provider_env_name(al_str_of(name)) ? getenv(name) : NULL;
    if (!value || !*value || n_hidden == MAX_HIDDEN)
        return;
    for (size_t i = 0; i < n_hidden; i++)
        if (strcmp(hidden[i].name, name) == 0)
            return;
    hidden[n_hidden].name = al_xstrdup(name);
    hidden[n_hidden++].value = al_xstrdup(value);
    explicit_bzero(value, strlen(value));
    unsetenv(name);
}

void al_keys_hide(const struct al_providers *p, const char *key_env)
{
    for (size_t i = 0; i < al_provider_n_presets(); i++) {
        struct al_provider preset;
        (void)al_provider_preset(al_str_of(al_provider_preset_at(i)), &preset);
        hide(preset.key_env);
        al_provider_fini(&preset);
    }
    for (size_t i = 0; p && i < p->n; i++)
        hide(p->v[i].key_env);
    hide(key_env);
}

/* What is wrong with a key as a header takes it, or NULL. */
static const char *key_fault(struct al_str key)
{
    if (key.n == 0)
        return "is empty";
    if (key.n > AL_KEY_MAX)
        return "is longer than 4,096 bytes";
    for (size_t i = 0; i < key.n; i++) {
        unsigned char c = (unsigned char)key.p[i];
        if (c <= ' ' || c >= 0x7f)
            return "holds a blank or a character that no key has; check what was pasted";
    }
    return NULL;
}

/* 1 taken, 0 the variable is not there or empty, -1. */
static int from_variable(const char *name, const char *source, struct al_key *ret, struct al_err *err)
{
    struct al_str value = al_str_trim(al_str_of(al_key_variable(name)));
    if (value.n == 0)
        return 0;
    const char *why = key_fault(value);
    if (why)
        return al_fail(err, AL_CONFIG_INVALID, "the key in the variable %s %s", name, why);
    *ret = (struct al_key){.value = al_xdup(value.p, value.n), .source = source, .name = al_xstrdup(name)};
    return 1;
}

/* --- the file --- */

static int private_only(const struct stat *st, const char *path, struct al_err *err)
{
    if (!S_ISREG(st->st_mode)) {
        al_fail(err, AL_CONFIG_INVALID, "%s is no regular file", shown);
        return al_hint(err, "take it away: rm '%.400s'", path);
    }
    if (st->st_uid != geteuid()) {
        al_fail(err, AL_CONFIG_INVALID, "%s belongs to another user, so no key is taken from it", shown);
        return al_hint(err, "make it yours: chown \"$(id -un)\" '%.400s'", path);
    }
    if (st->st_mode & 077) {
        al_fail(err, AL_CONFIG_INVALID, "%s is open to other users (mode %04o), so no key is taken from it",
                shown, (unsigned)(st->st_mode & 07777));
        return al_hint(err, "chmod 600 '%.400s', and make new keys if others could have read it", path);
    }
    return 0;
}

/* 1 read, 0 there is none, -1. */
static int read_file(const char *path, struct al_buf *out, struct al_err *err)
{
    autofd int fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    struct stat st;
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (fd < 0 && errno == ELOOP) {
        al_fail(err, AL_CONFIG_INVALID, "%s is a link, so no key is taken from it", shown);
        return al_hint(err, "put the file itself there: '%.400s'", path);
    }
    if (fd < 0)
        return al_fail_errno(err, AL_CONFIG_INVALID, errno, "%s cannot be read", shown);
    if (fstat(fd, &st) < 0)
        return al_fail_errno(err, AL_CONFIG_INVALID, errno, "%s cannot be read", shown);
    if (private_only(&st, path, err) < 0)
        return -1;
    int r = al_fd_read_all(fd, out);
    if (r == -EFBIG)
        return al_fail(err, AL_CONFIG_INVALID, "%s is larger than 1 MiB", shown);
    return r < 0 ? al_fail_errno(err, AL_CONFIG_INVALID, -r, "%s cannot be read", shown) : 1;
}

static int bad_file(struct al_err *err, const char *what, struct al_str name)
{
    autobuf struct al_buf v = AL_BUF_INIT(1024);
    al_text_visible(&v, al_utf8_cut(name, 64), false);
    al_fail(err, AL_CONFIG_INVALID, "%s: %s%s%.*s", shown, what, name.n ? " " : "", AL_FMT(al_buf_str(&v)));
    return al_hint(
        err,
        "its form is {\"providers\": {\"NAME\": {\"key\": \"…\"}}}; `alisio setup provider NAME` writes it");
}

/* The members of an object, each of a name that is there once. */
static int once_each(const struct al_json *obj, const char *what, struct al_err *err)
{
    if (obj->type != AL_JSON_OBJECT)
        return bad_file(err, what, (struct al_str){0});
    if (obj->n > AL_PROVIDERS_MAX * 4)
        return bad_file(err, "it has too many entries", (struct al_str){0});
    al_json_each(m, obj)
    {
        for (const struct al_json *b = obj->child; b != m; b = b->next)
            if (al_str_eq(b->key, m->key))
                return bad_file(err, "there is twice", m->key);
    }
    return 0;
}

/* The key of a provider's entry, or an empty view; everything else in the file is checked, too. */
static int find_key(struct al_arena *a, struct al_str text, struct al_str provider, struct al_str *ret,
                    struct al_err *err)
{
    const struct al_json *root;
    struct al_err why;
    *ret = (struct al_str){0};
    text = al_config_without_bom(text);
    if (al_str_trim(text).n == 0)
        return 0;
    if (al_json_parse(a, text, &root, &why) < 0)
        return bad_file(err, why.msg, (struct al_str){0});
    if (once_each(root, "it must be a JSON object", err) < 0)
        return -1;
    al_json_each(m, root)
    {
        if (!al_str_is(m->key, "providers"))
            return bad_file(err, "there is no key", m->key);
        if (once_each(m, "\"providers\" must be an object", err) < 0)
            return -1;
        al_json_each(p, m)
        {
            if (once_each(p, "an entry of \"providers\" must be an object", err) < 0)
                return -1;
            al_json_each(k, p)
            {
                if (!al_str_is(k->key, "key"))
                    return bad_file(err, "there is no key", k->key);
                if (!al_json_is_string(k))
                    return bad_file(err, "the key is no text of the provider", p->key);
                if (al_str_eq(p->key, provider))
                    *ret = k->str;
            }
        }
    }
    return 0;
}

int al_key_read(struct al_str text, struct al_str provider, struct al_key *ret, struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(AL_CONFIG_MAX_ARENA);
    struct al_str key;
    *ret = (struct al_key){0};
    if (find_key(&a, text, provider, &key, err) < 0)
        return -1;
    int r = 0;
    struct al_str value = al_str_trim(key);
    const char *why = value.n ? key_fault(value) : NULL;
    if (why)
        r = al_fail(err, AL_CONFIG_INVALID, "the key of %.*s in %s %s",
                    (int)(provider.n > 64 ? 64 : provider.n), provider.p, shown, why);
    else if (value.n)
        *ret = (struct al_key){.value = al_xdup(value.p, value.n), .source = shown};
    return r;
}

int al_key_find(const struct al_provider *p, const char *key_env, const char *credentials_file,
                struct al_key *ret, struct al_err *err)
{
    *ret = (struct al_key){0};
    if (key_env) {
        if (!al_provider_env_name(al_str_of(key_env))) {
            al_fail(err, AL_INVALID_INPUT, "--key-env takes the name of an environment variable, not a key");
            return al_hint(err, "export the key as a variable, and give the variable's name");
        }
        int r = from_variable(key_env, "--key-env", ret, err);
        if (r != 0)
            return r < 0 ? -1 : 0;
        al_fail(err, AL_AUTH_REQUIRED, "the variable %s, which --key-env names, is not set", key_env);
        return al_hint(err, "export %s with the key, or leave --key-env out", key_env);
    }
    if (p->auth == AL_AUTH_NONE)
        return 0;
    if (p->key_env) {
        int r = from_variable(p->key_env, "the environment", ret, err);
        if (r != 0)
            return r < 0 ? -1 : 0;
    }
    wipedbuf struct al_buf text = AL_BUF_INIT(MAX_FILE);
    int r = credentials_file ? read_file(credentials_file, &text, err) : 0;
    return r <= 0 ? r : al_key_read(al_buf_str(&text), al_str_of(p->name), ret, err);
}

/* --- writing --- */

static int edit(struct al_str old, struct al_str provider, const char *value, struct al_buf *out,
                struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(AL_CONFIG_MAX_ARENA);
    wipedbuf struct al_buf json = AL_BUF_INIT(8 * AL_KEY_MAX);
    struct al_str ignored;
    struct al_jw w;
    /* A file that is wrong is not mended by an edit that hides it. */
    if (find_key(&a, old, provider, &ignored, err) < 0)
        return -1;
    al_jw_init(&w, &json);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "key", value ? value : "");
    al_jw_end(&w);
    struct al_text_edit e = {.steps = {AL_STR("providers")}, .n_steps = 1};
    if (value) {
        e.put_name = provider;
        e.put_value = al_buf_str(&json);
    } else {
        e.remove = &provider;
        e.n_remove = 1;
    }
    return al_text_edit_json(old, &e, shown, out, err);
}

static int folder_of(const char *path, int *ret_fd, struct al_err *err)
{
    const char *slash = strrchr(path, '/');
    if (!slash || !slash[1])
        return al_fail(err, AL_INTERNAL, "%s has no absolute path", shown);
    autofree char *dir = al_xdup(path, slash == path ? 1 : (size_t)(slash - path));
    struct stat st;
    if (stat(dir, &st) < 0 && al_path_private_dir(dir, err) < 0)
        return al_wrap(err, "the folder of %s", shown);
    *ret_fd = openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *ret_fd < 0
               ? al_fail_errno(err, AL_CONFIG_INVALID, errno, "the folder of %s cannot be opened", shown)
               : 0;
}

int al_key_store(const char *credentials_file, struct al_str provider, const char *value, struct al_err *err)
{
    wipedbuf struct al_buf old = AL_BUF_INIT(MAX_FILE), new = AL_BUF_INIT(MAX_FILE);
    autofd int dir = -1;
    const char *why = value ? key_fault(al_str_of(value)) : NULL;
    if (why)
        return al_fail(err, AL_INVALID_INPUT, "the key %s", why);
    if (al_provider_name_fault(provider))
        return al_fail(err, AL_INVALID_INPUT, "that is no name of a provider");
    if (folder_of(credentials_file, &dir, err) < 0)
        return -1;
    while (flock(dir, LOCK_EX) < 0)
        if (errno != EINTR)
            return al_fail_errno(err, AL_CONFIG_INVALID, errno, "the folder of %s cannot be locked", shown);
    int r = read_file(credentials_file, &old, err);
    if (r < 0 || edit(al_buf_str(&old), provider, value, &new, err) < 0)
        return -1;
    if (al_str_eq(al_buf_str(&old), al_buf_str(&new)))
        return 0;
    return al_path_write_atomic(dir, strrchr(credentials_file, '/') + 1, al_buf_str(&new), 0600, shown, err);
}
