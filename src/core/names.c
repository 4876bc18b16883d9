#include "core/names.h"
#include "base/mem.h"
#include "base/str.h"

#include <limits.h>
#include <string.h>

/*
 * Files that make the next program that comes along run something, or that steer an agent.
 * git~1 is the short name under which Windows file systems know .git.
 */
static const char *const protected_names[] = {
    ".git",    "git~1", ".alisio", ".mcp.json",         ".claude", ".codex",    ".cursor",   ".gemini",
    ".vscode", ".idea", ".husky",  ".github/workflows", ".envrc",  "AGENTS.md", "CLAUDE.md", NULL,
};

/* What git keeps credentials in: also the files of submodules and worktrees, beneath .git. */
static const char *const secret_names[] = {
    ".env*",
    "!.env.example",
    "*.pem",
    "*.key",
    "id_*",
    ".npmrc",
    ".netrc",
    ".pypirc",
    "*.kdbx",
    ".git-credentials",
    ".git/**/config",
    ".git/**/config.worktree",
    "git~1/**/config",
    "git~1/**/config.worktree",
    NULL,
};

struct pattern {
    char *text; /* lower case; a zero after each part */
    size_t n;   /* bytes of text, without the last zero */
    size_t n_parts;
    bool lifts;
};

struct al_name_rules {
    struct pattern *list;
    size_t n;
};

/*
 * ASCII, and the two letters beyond it that file systems which ignore case take for ASCII ones: U+017F (long
 * s) and U+212A (the Kelvin sign). Never longer than the input. Length of out.
 */
size_t al_name_rules_fold(const char *s, size_t n, char *out)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (n - i >= 2 && memcmp(s + i, "\xc5\xbf", 2) == 0) {
            out[k++] = 's';
            i += 1;
        } else if (n - i >= 3 && memcmp(s + i, "\xe2\x84\xaa", 3) == 0) {
            out[k++] = 'k';
            i += 2;
        } else {
            out[k++] = s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] - 'A' + 'a') : s[i];
        }
    }
    return k;
}

static void add(struct al_name_rules *names, const char *text)
{
    bool lifts = *text == '!';
    text += lifts;
    while (*text == '/')
        text++;
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '/')
        n--;
    if (n == 0 || n > PATH_MAX)
        return;
    struct pattern p = {.text = al_xmalloc(n + 1), .n_parts = 1, .lifts = lifts};
    p.n = al_name_rules_fold(text, n, p.text);
    p.text[p.n] = 0;
    for (char *s = p.text; *s; s++) {
        if (*s != '/')
            continue;
        *s = 0;
        p.n_parts++;
    }
    names->list = al_xrealloc(names->list, (names->n + 1) * sizeof(*names->list));
    names->list[names->n++] = p;
}

static struct al_name_rules *make(const char *const *ours, const char *const *user)
{
    struct al_name_rules *names = al_xcalloc(1, sizeof(*names));
    for (; *ours; ours++)
        add(names, *ours);
    for (; user && *user; user++)
        add(names, *user);
    return names;
}

struct al_name_rules *al_name_rules_protected(const char *const *user)
{
    return make(protected_names, user);
}

struct al_name_rules *al_name_rules_secret(const char *const *user)
{
    return make(secret_names, user);
}

void al_name_rules_free(struct al_name_rules *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < names->n; i++)
        free(names->list[i].text);
    free(names->list);
    free(names);
}

/* What is still to be matched, from the last part to the first: `left` parts of the pattern, its bytes before
 * `pattern_end`, and the path's before `end`; `more` is false when the path has no part left. */
struct walk {
    size_t left, pattern_end, end;
    bool more;
};

static size_t part_start(const char *s, size_t end, char separator)
{
    while (end > 0 && s[end - 1] != separator)
        end--;
    return end;
}

static void drop_part(struct walk *w, const char *path)
{
    size_t from = part_start(path, w->end, '/');
    w->more = from > 0;
    w->end = from > 0 ? from - 1 : 0;
}

/* Whether the pattern's parts match the path's parts that end before `end`. On a mismatch the last "**" seen
 * takes one part more, and no earlier one: so the cost stays pattern times path. */
static bool matches_at(const struct pattern *p, const char *path, size_t end)
{
    struct walk w = {p->n_parts, p->n, end, true}, again = {0};
    while (w.left > 0) {
        size_t from = part_start(p->text, w.pattern_end, 0);
        bool deep = w.pattern_end - from == 2 && memcmp(p->text + from, "**", 2) == 0;
        size_t at = part_start(path, w.end, '/');
        bool hit = deep || (w.more && al_str_glob(p->text + from, (struct al_str){path + at, w.end - at}));
        if (hit) {
            w.left--;
            w.pattern_end = from ? from - 1 : 0;
            if (deep)
                again = w;
            else
                drop_part(&w, path);
            continue;
        }
        if (!again.more)
            return false;
        drop_part(&again, path);
        w = again;
    }
    return true;
}

static bool ends_in_match(const struct al_name_rules *names, const char *path, size_t end)
{
    for (size_t i = names->n; i > 0; i--)
        if (matches_at(&names->list[i - 1], path, end))
            return !names->list[i - 1].lifts;
    return false;
}

bool al_name_rules_match(const struct al_name_rules *names, const char *path)
{
    size_t n = strlen(path);
    autofree char *folded = al_xmalloc(n + 1);
    n = al_name_rules_fold(path, n, folded);
    folded[n] = 0;
    for (size_t end = 1; end <= n; end++)
        if ((end == n || folded[end] == '/') && folded[end - 1] != '/' && ends_in_match(names, folded, end))
            return true;
    return false;
}
