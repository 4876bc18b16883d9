/*
 * `alisio config set`: changes one value inside the user's text. Only the bytes of that value change, so that
 * a person's own order, blank lines and indentation stay.
 */
#include "config/config_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_STEPS 8

struct edit {
    struct al_str text;
    struct al_str steps[MAX_STEPS];
    unsigned n_steps;
    const struct al_json *at[MAX_STEPS + 1]; /* at[0] the root, at[i] what steps[i - 1] names */
    unsigned found;                          /* steps that exist */
};

static int bad_file(struct al_err *err, const char *why)
{
    al_fail(err, AL_CONFIG_INVALID, "the user config file, %s", why);
    return al_hint(err, "edit the file that `alisio config path` names");
}

static void split(struct edit *e, struct al_str key)
{
    while (e->n_steps < MAX_STEPS) {
        ptrdiff_t dot = al_str_find(key, AL_STR("."));
        size_t n = dot < 0 ? key.n : (size_t)dot;
        e->steps[e->n_steps++] = (struct al_str){key.p, n};
        if (dot < 0)
            return;
        key = (struct al_str){key.p + n + 1, key.n - n - 1};
    }
}

static int locate(struct edit *e, const struct al_json *root, struct al_err *err)
{
    e->at[0] = root;
    for (unsigned i = 0; i < e->n_steps; i++) {
        if (e->at[i]->type != AL_JSON_OBJECT)
            return bad_file(err, i ? "a section is no object" : "line 1: it must be a JSON object");
        const struct al_json *hit = NULL;
        al_json_each(m, e->at[i])
        {
            if (!al_str_eq(m->key, e->steps[i]))
                continue;
            if (hit)
                return bad_file(err, "a key is there twice");
            hit = m;
        }
        if (!hit)
            return 0;
        e->at[i + 1] = hit;
        e->found = i + 1;
    }
    return 0;
}

static void indent(struct al_buf *out, unsigned level)
{
    al_buf_addc(out, '\n');
    for (unsigned i = 0; i < level; i++)
        al_buf_adds(out, "  ");
}

/* "a": {"b": value} for the steps from i on, as members of an object at depth i. */
static void add_members(struct al_buf *out, const struct edit *e, unsigned i, struct al_str value)
{
    for (unsigned k = i; k < e->n_steps; k++) {
        indent(out, k + 1);
        al_buf_addc(out, '"');
        al_buf_add_str(out, e->steps[k]);
        al_buf_adds(out, "\": ");
        if (k + 1 < e->n_steps)
            al_buf_addc(out, '{');
    }
    al_buf_add_str(out, value);
    for (unsigned k = e->n_steps - 1; k > i; k--) {
        indent(out, k);
        al_buf_addc(out, '}');
    }
}

/* out = text with the bytes [from, to) replaced by mid. */
static void replace(struct al_buf *out, struct al_str text, const char *from, const char *to,
                    struct al_str mid)
{
    al_buf_add(out, text.p, (size_t)(from - text.p));
    al_buf_add_str(out, mid);
    al_buf_add(out, to, (size_t)(text.p + text.n - to));
}

static const char *end_of(const struct al_json *v)
{
    return v->raw.p + v->raw.n;
}

static const struct al_json *last_child(const struct al_json *v)
{
    const struct al_json *last = v->child;
    while (last && last->next)
        last = last->next;
    return last;
}

static void put(const struct edit *e, struct al_str value, struct al_buf *out)
{
    const struct al_json *deepest = e->at[e->found];
    if (e->found == e->n_steps) {
        replace(out, e->text, deepest->raw.p, end_of(deepest), value);
        return;
    }
    autobuf struct al_buf mid = AL_BUF_INIT(AL_CONFIG_MAX_FILE);
    const struct al_json *last = last_child(deepest);
    if (last) {
        const char *at = end_of(last), *to = at;
        al_buf_addc(&mid, ',');
        add_members(&mid, e, e->found, value);
        if (!memchr(deepest->raw.p, '\n', deepest->raw.n)) {
            indent(&mid, e->found); /* all in one line so far: the closing brace moves to its own */
            to = end_of(deepest) - 1;
        }
        replace(out, e->text, at, to, al_buf_str(&mid));
        return;
    }
    al_buf_addc(&mid, '{');
    add_members(&mid, e, e->found, value);
    indent(&mid, e->found);
    al_buf_addc(&mid, '}');
    replace(out, e->text, deepest->raw.p, end_of(deepest), al_buf_str(&mid));
}

static void take_out(const struct edit *e, struct al_buf *out)
{
    if (e->found < e->n_steps) {
        al_buf_add_str(out, e->text);
        return;
    }
    const struct al_json *parent = e->at[e->n_steps - 1], *gone = e->at[e->n_steps], *before = NULL;
    for (const struct al_json *m = parent->child; m != gone; m = m->next)
        before = m;
    if (before) {
        replace(out, e->text, end_of(before), end_of(gone), (struct al_str){0});
        return;
    }
    const char *from = parent->raw.p + 1, *to = end_of(gone);
    if (gone->next) {
        while (*to != ',')
            to++;
        to++;
    } else {
        to = end_of(parent) - 1;
    }
    replace(out, e->text, from, to, (struct al_str){0});
}

/* Does the option take this JSON value as it stands? What it cannot be at all stays, to be refused with its
 * range. */
static bool taken_as_json(enum al_opt_type type, const struct al_json *v)
{
    if (!v)
        return false;
    if (v->type == AL_JSON_NULL || type == AL_OPT_BOOL || type == AL_OPT_INT || type == AL_OPT_HUNDREDTHS)
        return true;
    if (type == AL_OPT_LIST)
        return v->type == AL_JSON_ARRAY;
    return v->type == AL_JSON_STRING;
}

/* The value as a person types it: JSON, else a plain string. A list may be given as its only name. */
static int value_of(struct al_arena *a, enum al_opt o, struct al_str typed, struct al_buf *text,
                    const struct al_json **ret, struct al_err *err)
{
    enum al_opt_type type = al_opt_table[o].type;
    const struct al_json *v = NULL;
    if (al_json_parse(a, typed, &v, NULL) < 0)
        v = NULL;
    if (taken_as_json(type, v)) {
        al_buf_add_str(text, v->raw);
        *ret = v;
        return 0;
    }
    struct al_jw w;
    al_jw_init(&w, text);
    if (type == AL_OPT_LIST)
        al_jw_arr(&w);
    al_jw_str(&w, al_json_is_string(v) ? v->str : typed);
    if (type == AL_OPT_LIST)
        al_jw_end(&w);
    if (al_buf_failed(text))
        return al_fail(err, AL_INVALID_INPUT, "the value of %s is too long", al_opt_table[o].name);
    return al_json_parse(a, al_buf_str(text), ret, err);
}

static int check_result(struct al_str text, struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(AL_CONFIG_MAX_ARENA);
    const struct al_json *root;
    if (al_json_parse(&a, text, &root, NULL) < 0)
        return al_fail(err, AL_INTERNAL, "the edited configuration would be no JSON");
    return 0;
}

int al_config_edit(struct al_str old, struct al_str key, struct al_str value, struct al_buf *out,
                   struct al_err *err)
{
    enum al_opt o;
    if (al_opt_find(key, &o, err) < 0)
        return -1;
    if (value.n > AL_CONFIG_MAX_FILE / 2)
        return al_fail(err, AL_INVALID_INPUT, "the value of %s is too long", al_opt_table[o].name);
    autoarena struct al_arena a = AL_ARENA_INIT(AL_CONFIG_MAX_ARENA);
    autobuf struct al_buf typed = AL_BUF_INIT(AL_CONFIG_MAX_FILE), all = AL_BUF_INIT(AL_CONFIG_MAX_FILE);
    const struct al_json *json, *root;
    if (value_of(&a, o, value, &typed, &json, err) < 0)
        return -1;
    struct al_opt_value checked = {0};
    if (json->type != AL_JSON_NULL && al_opt_read(o, json, NULL, &checked, err) < 0)
        return -1;
    al_opt_value_fini(&checked);
    if (al_str_trim(old).n == 0)
        old = AL_STR("{}\n");
    struct al_err why;
    if (al_json_parse(&a, old, &root, &why) < 0)
        return bad_file(err, why.msg);
    struct edit e = {.text = old};
    split(&e, al_str_of(al_opt_table[o].name));
    if (locate(&e, root, err) < 0)
        return -1;
    if (json->type == AL_JSON_NULL)
        take_out(&e, &all);
    else
        put(&e, al_buf_str(&typed), &all);
    if (al_buf_failed(&all))
        return al_fail(err, AL_INVALID_INPUT, "the configuration would be larger than 1 MiB");
    if (check_result(al_buf_str(&all), err) < 0)
        return -1;
    al_buf_add_str(out, al_buf_str(&all));
    return 0;
}

/* The folder of the file, made when it is missing. A link at the file's name is followed first (dotfiles). */
static int open_folder(const char *file, char **ret_name, int *ret_fd, struct al_err *err)
{
    autofree char *real = realpath(file, NULL);
    const char *path = real ? real : file;
    const char *slash = strrchr(path, '/');
    if (!slash || !slash[1])
        return al_fail(err, AL_INTERNAL, "the user config file has no absolute path");
    autofree char *dir = al_xdup(path, slash == path ? 1 : (size_t)(slash - path));
    int fd = openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        if (al_path_private_dir(dir, err) < 0)
            return al_wrap(err, "the folder of the user config file");
        fd = openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    if (fd < 0)
        return al_fail_errno(err, AL_CONFIG_INVALID, errno,
                             "the folder of the user config file cannot be opened");
    *ret_fd = fd;
    *ret_name = al_xstrdup(slash + 1);
    return 0;
}

int al_config_user_edit(const char *user_file,
                        int (*edit)(void *ud, struct al_str old, struct al_buf *out, struct al_err *err),
                        void *ud, struct al_err *err)
{
    static const char shown[] = "the user config file";
    autobuf struct al_buf old = AL_BUF_INIT(AL_CONFIG_MAX_FILE), new = AL_BUF_INIT(AL_CONFIG_MAX_FILE);
    autofree char *name = NULL;
    autofd int dir = -1;
    if (open_folder(user_file, &name, &dir, err) < 0)
        return -1;
    /* Two edits at once would lose one. The lock goes with the descriptor. */
    while (flock(dir, LOCK_EX) < 0)
        if (errno != EINTR)
            return al_fail_errno(err, AL_CONFIG_INVALID, errno, "the folder of %s cannot be locked", shown);
    int r = al_config_read_file(user_file, true, true, shown, &old, err);
    if (r < 0 || edit(ud, al_buf_str(&old), &new, err) < 0)
        return -1;
    if (r && al_str_eq(al_buf_str(&old), al_buf_str(&new)))
        return 0;
    /* The writer keeps the mode of what it replaces. */
    if (r && fchmodat(dir, name, 0600, 0) < 0)
        return al_fail_errno(err, AL_CONFIG_INVALID, errno, "%s cannot be made private", shown);
    return al_path_write_atomic(dir, name, al_buf_str(&new), 0600, shown, err);
}

struct set {
    struct al_str key, value;
};

static int edit_option(void *ud, struct al_str old, struct al_buf *out, struct al_err *err)
{
    const struct set *s = ud;
    return al_config_edit(old, s->key, s->value, out, err);
}

int al_config_set(const char *user_file, struct al_str key, struct al_str value, struct al_err *err)
{
    enum al_opt o;
    struct set s = {key, value};
    if (al_opt_find(key, &o, err) < 0)
        return -1;
    return al_config_user_edit(user_file, edit_option, &s, err);
}
