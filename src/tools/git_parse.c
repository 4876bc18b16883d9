/* What git prints, taken apart. Names may hold anything but NUL. */
#include "tools/git_int.h"

#include "base/text.h"

#include <strings.h>

/* --- configuration --- */

/* Up to the next NUL; false at the end. */
static bool next_field(struct al_str *rest, struct al_str *ret)
{
    if (rest->n == 0)
        return false;
    const char *nul = memchr(rest->p, 0, rest->n);
    size_t n = nul ? (size_t)(nul - rest->p) : rest->n;
    *ret = (struct al_str){rest->p, n};
    n += nul != NULL;
    rest->p += n;
    rest->n -= n;
    return true;
}

/* One entry of the listing; those of our own command line are passed over. */
static bool next_entry(struct al_str *list, struct al_str *ret_key, struct al_str *ret_value)
{
    struct al_str scope, entry;
    do {
        if (!next_field(list, &scope) || !next_field(list, &entry))
            return false;
    } while (al_str_is(scope, "command"));
    const char *lf = memchr(entry.p, '\n', entry.n);
    *ret_key = (struct al_str){entry.p, lf ? (size_t)(lf - entry.p) : entry.n};
    /* A key without a value is true. */
    *ret_value = lf ? (struct al_str){lf + 1, entry.n - ret_key->n - 1} : AL_STR("true");
    return true;
}

static bool is_false(struct al_str v)
{
    return v.n == 0 || al_str_is(v, "false") || al_str_is(v, "no") || al_str_is(v, "off") ||
           al_str_is(v, "0");
}

/* Would git run something for this key while it shows status or differences? Keys come in lower case, but for
 * the part in the middle. */
static bool names_program(struct al_str key, struct al_str value)
{
    if (al_str_is(key, "core.fsmonitor"))
        return !is_false(value);
    if (value.n == 0)
        return false;
    if (al_str_is(key, "core.hookspath") || al_str_is(key, "diff.external"))
        return true;
    if (al_str_starts(key, "filter."))
        return al_str_ends(key, ".clean") || al_str_ends(key, ".smudge") || al_str_ends(key, ".process");
    if (al_str_starts(key, "diff."))
        return al_str_ends(key, ".command") || al_str_ends(key, ".textconv");
    /* An object that is missing would be fetched from there. */
    return al_str_starts(key, "remote.") &&
           (al_str_ends(key, ".promisor") || al_str_ends(key, ".partialclonefilter"));
}

static bool have_filter(const struct al_buf *filters, size_t n, struct al_str name)
{
    for (size_t i = 0; i < n; i++) {
        if (al_str_eq(al_buf_str(&filters[i]), name))
            return true;
    }
    return false;
}

static int note_filter(struct al_str key, struct al_buf *filters, size_t max, size_t *n)
{
    const char *dot = memrchr(key.p, '.', key.n);
    size_t from = strlen("filter.");
    if (!al_str_starts(key, "filter.") || (size_t)(dot - key.p) < from)
        return 0;
    struct al_str name = {key.p + from, (size_t)(dot - key.p) - from};
    if (have_filter(filters, *n, name))
        return 0;
    if (*n == max)
        return -1;
    al_buf_init(&filters[*n], 4096);
    al_buf_add_str(&filters[*n], name);
    return al_buf_failed(&filters[(*n)++]) ? -1 : 0;
}

int al_git_config_scan(struct al_str list, struct al_buf *filters, size_t max_filters, size_t *ret_n,
                       struct al_buf *programs)
{
    struct al_str key, value;
    while (next_entry(&list, &key, &value)) {
        if (note_filter(key, filters, max_filters, ret_n) < 0)
            return -1;
        if (!names_program(key, value))
            continue;
        size_t before = programs->n;
        if (before > 0)
            al_buf_adds(programs, ", ");
        al_text_visible(programs, al_utf8_cut(key, 80), false);
        if (al_buf_failed(programs)) { /* enough of them are named */
            programs->n = before;
            programs->failed = false;
        }
    }
    return 0;
}

bool al_git_config_get(struct al_str list, const char *key, struct al_str *ret)
{
    struct al_str name, value;
    bool found = false;
    while (next_entry(&list, &name, &value)) {
        if (!al_str_is(name, key))
            continue;
        *ret = value;
        found = true;
    }
    return found;
}

struct al_str al_git_config_include(struct al_str list)
{
    struct al_str key, value;
    while (next_entry(&list, &key, &value)) {
        if (al_str_is(key, "include.path") || (al_str_starts(key, "includeif.") && al_str_ends(key, ".path")))
            return key;
    }
    return (struct al_str){0};
}

/* --- paths --- */

static bool is_plain_name(struct al_str name)
{
    static const char git[] = ".git";
    if (name.n == 0 || al_str_is(name, ".") || al_str_is(name, ".."))
        return false;
    return name.n != strlen(git) || strncasecmp(name.p, git, name.n) != 0;
}

bool al_git_path_is_plain(struct al_str path)
{
    if (path.n > 0 && path.p[path.n - 1] == '/')
        path.n--;
    for (;;) {
        const char *slash = path.n > 0 ? memchr(path.p, '/', path.n) : NULL;
        struct al_str name = {path.p, slash ? (size_t)(slash - path.p) : path.n};
        if (!is_plain_name(name))
            return false;
        if (!slash)
            return true;
        path.n -= name.n + 1;
        path.p += name.n + 1;
    }
}

int al_git_fail_path(struct al_str path, struct al_err *err)
{
    autobuf struct al_buf shown = AL_BUF_INIT(2000);
    al_text_visible(&shown, al_utf8_cut(path, 200), false);
    al_fail(err, AL_UNTRUSTED_REPOSITORY,
            "the repository's index names a file that is not in the repository: %.*s",
            AL_FMT(al_buf_str(&shown)));
    return al_hint(err, "git itself writes no such index; do not work in this folder");
}

/* --- status --- */

struct status {
    struct al_str head, prefix;
    int64_t ahead, behind;
    bool has_upstream, full;
    struct al_str strange; /* a path that is not plain */
    struct al_jw w;
    struct al_buf *json, *text;
    size_t n;
};

/* "1 XY sub mH mI mW hH hI path": what is behind the given number of spaces. */
static struct al_str after_spaces(struct al_str s, unsigned spaces)
{
    while (spaces > 0 && s.n > 0) {
        spaces -= s.p[0] == ' ';
        s.p++;
        s.n--;
    }
    return s;
}

static struct al_str without_prefix(struct al_str path, struct al_str prefix)
{
    if (prefix.n > 0 && path.n > prefix.n && memcmp(path.p, prefix.p, prefix.n) == 0) {
        path.p += prefix.n;
        path.n -= prefix.n;
    }
    return path;
}

static void add_entry(struct status *s, char index, char worktree, struct al_str path, struct al_str from)
{
    if (!al_git_path_is_plain(path))
        s->strange = path.p ? path : AL_STR("");
    if (from.p && !al_git_path_is_plain(from))
        s->strange = from;
    path = without_prefix(path, s->prefix);
    if (from.p)
        from = without_prefix(from, s->prefix);
    size_t cost = al_tool_json_cost(path) + (from.p ? al_tool_json_cost(from) : 0) + 128;
    if (s->full || s->json->n + cost > AL_TOOL_JSON_ROOM) {
        s->full = true;
        return;
    }
    s->n++;
    al_jw_obj(&s->w);
    al_jw_kstr(&s->w, "path", path);
    al_jw_kstr(&s->w, "index", (struct al_str){&index, 1});
    al_jw_kstr(&s->w, "worktree", (struct al_str){&worktree, 1});
    if (from.p)
        al_jw_kstr(&s->w, "from", from);
    al_jw_end(&s->w);
    if (s->text->n > AL_TOOL_TEXT_CHARS)
        return;
    al_buf_addf(s->text, "%c%c ", index, worktree);
    if (from.p) {
        al_text_visible(s->text, from, false);
        al_buf_adds(s->text, " -> ");
    }
    al_text_visible(s->text, path, false);
    al_buf_addc(s->text, '\n');
}

static void take_header(struct status *s, struct al_str field)
{
    struct al_str v = after_spaces(field, 2);
    if (al_str_starts(field, "# branch.head "))
        s->head = v;
    if (!al_str_starts(field, "# branch.ab +"))
        return;
    const char *space = memchr(v.p, ' ', v.n);
    size_t at = space ? (size_t)(space - v.p) : 0;
    if (at < 2 || v.n < at + 3 || space[1] != '-')
        return;
    struct al_str ahead = {v.p + 1, at - 1};
    struct al_str behind = {space + 2, v.n - at - 2};
    s->has_upstream =
        al_parse_int(ahead, 0, INT32_MAX, &s->ahead) && al_parse_int(behind, 0, INT32_MAX, &s->behind);
}

/* ".", "M", "A", "D", "R", "C", "T", "U": the forms hold nothing else, whatever git of tomorrow prints. */
static char state_of(char c)
{
    return c == '.' || (c >= 'A' && c <= 'Z') ? c : '?';
}

static void take_field(struct status *s, struct al_str field, struct al_str *rest)
{
    struct al_str none = {0}, from = {0};
    char kind = field.n > 2 ? field.p[0] : 0;
    char x = field.n > 4 ? state_of(field.p[2]) : '?', y = field.n > 4 ? state_of(field.p[3]) : '?';
    if (kind == '1') {
        add_entry(s, x, y, after_spaces(field, 8), none);
    } else if (kind == '2' && next_field(rest, &from)) {
        add_entry(s, x, y, after_spaces(field, 9), from);
    } else if (kind == 'u') {
        add_entry(s, x, y, after_spaces(field, 10), none);
    } else if (kind == '?') {
        add_entry(s, '?', '?', after_spaces(field, 1), none);
    }
}

static void write_head(struct status *s)
{
    bool detached = al_str_is(s->head, "(detached)") || s->head.n == 0;
    al_jw_key(&s->w, "branch");
    if (detached)
        al_jw_null(&s->w);
    else
        al_jw_str(&s->w, s->head);
    al_jw_key(&s->w, "ahead");
    if (s->has_upstream)
        al_jw_int(&s->w, s->ahead);
    else
        al_jw_null(&s->w);
    al_jw_key(&s->w, "behind");
    if (s->has_upstream)
        al_jw_int(&s->w, s->behind);
    else
        al_jw_null(&s->w);
    al_buf_adds(s->text, detached ? "detached HEAD" : "branch ");
    if (!detached) /* .git/HEAD may hold anything */
        al_text_visible(s->text, s->head, false);
    if (s->has_upstream)
        al_buf_addf(s->text, ", %lld ahead, %lld behind", (long long)s->ahead, (long long)s->behind);
    al_buf_addc(s->text, '\n');
}

int al_git_status_json(struct al_str status, struct al_str prefix, struct al_buf *json, struct al_buf *text,
                       struct al_err *err)
{
    struct status s = {.prefix = prefix, .json = json, .text = text};
    struct al_str field, rest = status;
    al_jw_init(&s.w, json);
    al_jw_obj(&s.w);
    while (rest.n > 0 && rest.p[0] == '#' && next_field(&rest, &field))
        take_header(&s, field);
    write_head(&s);
    al_jw_key(&s.w, "entries");
    al_jw_arr(&s.w);
    while (!s.strange.p && next_field(&rest, &field))
        take_field(&s, field, &rest);
    al_jw_end(&s.w);
    al_jw_end(&s.w);
    if (s.strange.p) {
        al_buf_clear(json);
        al_buf_clear(text);
        return al_git_fail_path(s.strange, err);
    }
    if (s.n == 0)
        al_buf_adds(text, "nothing changed\n");
    else if (text->n > AL_TOOL_TEXT_CHARS)
        al_buf_addf(text, "[%zu entries in all; not all are shown here]\n", s.n);
    return s.full;
}

/* --- numstat --- */

static int64_t count_of(struct al_str s)
{
    int64_t v = -1;
    return al_parse_int(s, 0, INT32_MAX, &v) ? v : -1;
}

bool al_git_numstat_next(struct al_str *rest, struct al_git_numstat *ret)
{
    struct al_str field;
    if (!next_field(rest, &field))
        return false;
    const char *tab = memchr(field.p, '\t', field.n);
    const char *tab2 = tab ? memchr(tab + 1, '\t', field.n - (size_t)(tab + 1 - field.p)) : NULL;
    if (!tab2)
        return false;
    ret->added = count_of((struct al_str){field.p, (size_t)(tab - field.p)});
    ret->removed = count_of((struct al_str){tab + 1, (size_t)(tab2 - tab) - 1});
    ret->path = (struct al_str){tab2 + 1, field.n - (size_t)(tab2 + 1 - field.p)};
    return true;
}

/* --- patch --- */

/* As git quotes a name that holds control characters or quotes: "a\tb\303". Moves *s behind it. */
static bool unquote(struct al_str *s, struct al_buf *out)
{
    static const char from[] = "abfnrtv\\\"", to[] = "\a\b\f\n\r\t\v\\\"";
    size_t i = 1;
    while (i < s->n && s->p[i] != '"') {
        char c = s->p[i++];
        if (c != '\\') {
            al_buf_addc(out, c);
            continue;
        }
        const char *at = i < s->n && s->p[i] ? strchr(from, s->p[i]) : NULL;
        int64_t code = 0;
        if (at) {
            al_buf_addc(out, to[at - from]);
            i++;
            continue;
        }
        for (int digit = 0; digit < 3; digit++, i++) {
            if (i >= s->n || s->p[i] < '0' || s->p[i] > '7')
                return false;
            code = code * 8 + (s->p[i] - '0');
        }
        al_buf_addc(out, (char)code);
    }
    if (i >= s->n)
        return false;
    s->p += i + 1;
    s->n -= i + 1;
    return !al_buf_failed(out);
}

/* "a/NAME b/NAME", each quoted or not; without renames both are the same. */
static bool two_names(struct al_str s, struct al_buf *name)
{
    struct al_str a = {0}, b = {0};
    autobuf struct al_buf qa = AL_BUF_INIT(65536), qb = AL_BUF_INIT(65536);
    if (s.n > 0 && s.p[0] == '"') {
        if (!unquote(&s, &qa) || s.n < 2 || s.p[0] != ' ' || s.p[1] != '"')
            return false;
        s = (struct al_str){s.p + 1, s.n - 1};
        if (!unquote(&s, &qb) || s.n > 0)
            return false;
        a = al_buf_str(&qa);
        b = al_buf_str(&qb);
    } else if (s.n % 2 == 1 && s.p[s.n / 2] == ' ') {
        a = (struct al_str){s.p, s.n / 2};
        b = (struct al_str){s.p + s.n / 2 + 1, s.n / 2};
    }
    if (!al_str_starts(a, "a/") || !al_str_starts(b, "b/"))
        return false;
    a = (struct al_str){a.p + 2, a.n - 2};
    if (!al_str_eq(a, (struct al_str){b.p + 2, b.n - 2}))
        return false;
    al_buf_add_str(name, a);
    return !al_buf_failed(name);
}

static bool one_name(struct al_str s, struct al_buf *name)
{
    if (s.n > 0 && s.p[0] == '"')
        return unquote(&s, name) && s.n == 0;
    al_buf_add_str(name, s);
    return !al_buf_failed(name);
}

/* Does a file's part begin with that line? All lines of contents begin with a space, "+", "-" or "\". */
static bool is_head(struct al_str line, struct al_str *ret_names, bool *ret_two)
{
    static const char *const words[] = {"diff --git ", "diff --cc ", "diff --combined ", "* Unmerged path "};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!al_str_starts(line, words[i]))
            continue;
        size_t n = strlen(words[i]);
        *ret_names = (struct al_str){line.p + n, line.n - n};
        *ret_two = i == 0;
        return true;
    }
    return false;
}

/* With its line feed; a carriage return stays, it may be part of a name. */
static struct al_str whole_line(struct al_str s)
{
    const char *lf = memchr(s.p, '\n', s.n);
    return (struct al_str){s.p, lf ? (size_t)(lf - s.p) + 1 : s.n};
}

static struct al_str without_end(struct al_str line)
{
    return (struct al_str){line.p, line.n - (line.n > 0 && line.p[line.n - 1] == '\n')};
}

bool al_git_patch_next(struct al_str *rest, struct al_str *ret_part, struct al_buf *name)
{
    struct al_str names;
    bool two;
    al_buf_clear(name);
    if (rest->n == 0)
        return false;
    struct al_str line = whole_line(*rest), part = line;
    if (is_head(without_end(line), &names, &two) && !(two ? two_names(names, name) : one_name(names, name)))
        al_buf_clear(name);
    for (;;) {
        struct al_str next = {rest->p + part.n, rest->n - part.n};
        if (next.n == 0)
            break;
        line = whole_line(next);
        if (is_head(without_end(line), &names, &two))
            break;
        part.n += line.n;
    }
    *ret_part = part;
    rest->p += part.n;
    rest->n -= part.n;
    return true;
}
