/*
 * What a lock file may say, and what of the environment an installer may hear. Lock files of people pass
 * here, too, and pip takes options in them: another index, a folder to edit, sources to build. A lock file
 * names packages with their hashes, and nothing else.
 */
#include "pyrun/extras_int.h"

#include "base/text.h"

#include <string.h>

#define SHOWN_WORD 60u
#define HASH "--hash=sha256:"

static bool is_hash(struct al_str word)
{
    size_t n = strlen(HASH);
    if (!al_str_starts(word, HASH) || word.n != n + 64)
        return false;
    for (size_t i = n; i < word.n; i++) {
        if (!memchr("0123456789abcdefABCDEF", word.p[i], 22))
            return false;
    }
    return true;
}

/* A part of "name[extra]==1.2.3 ; python_version < '3.11'": no option, address, path or variable. */
static bool is_plain(struct al_str word)
{
    if (word.p[0] == '-')
        return false;
    for (size_t i = 0; i < word.n; i++) {
        unsigned char c = (unsigned char)word.p[i];
        if (c <= ' ' || c >= 0x7f || strchr("@/:$%\\#`|&", c))
            return false;
    }
    return true;
}

/* The next word of a line, its blanks skipped; false: there is none, or what follows is a comment. */
static bool next_word(struct al_str *rest, struct al_str *ret)
{
    size_t at = 0, end;
    while (at < rest->n && (rest->p[at] == ' ' || rest->p[at] == '\t'))
        at++;
    for (end = at; end < rest->n && rest->p[end] != ' ' && rest->p[end] != '\t';)
        end++;
    *ret = (struct al_str){rest->p + at, end - at};
    *rest = (struct al_str){rest->p + end, rest->n - end};
    return ret->n > 0 && ret->p[0] != '#';
}

static int refuse(size_t line, struct al_str word, struct al_err *err)
{
    autobuf struct al_buf shown = AL_BUF_INIT(16 * SHOWN_WORD);
    al_text_visible(&shown, al_utf8_head(word, SHOWN_WORD), false);
    al_fail(err, AL_INVALID_INPUT, "line %zu of the lock file has what is no part of a package's line: %.*s",
            line, AL_FMT(al_buf_str(&shown)));
    return al_hint(err,
                   "each line is name==1.2.3 --hash=sha256:…; options and addresses have no place in it: "
                   "give a folder of wheels with --from DIR, or configure the index for pip");
}

/* Python ends lines at more characters than these two, also within a comment: none of them may be there. */
static bool is_odd(unsigned char c)
{
    return (c < ' ' && c != '\t') || c >= 0x7f;
}

static int check_line(struct al_str line, size_t number, struct al_err *err)
{
    struct al_str rest = line, word;
    for (size_t i = 0; i < line.n; i++) {
        if (is_odd((unsigned char)line.p[i]))
            return refuse(number, (struct al_str){line.p + i, line.n - i}, err);
    }
    if (rest.n && rest.p[rest.n - 1] == '\\')
        rest.n--; /* the next line belongs to it, and is looked at like any other */
    while (next_word(&rest, &word)) {
        if (!is_hash(word) && !is_plain(word))
            return refuse(number, word, err);
    }
    return 0;
}

int al_extras_lock_check(struct al_str lock, struct al_err *err)
{
    for (size_t i = 0, from = 0, number = 1; i <= lock.n; i++) {
        if (i < lock.n && lock.p[i] != '\n' && lock.p[i] != '\r')
            continue;
        if (check_line((struct al_str){lock.p + from, i - from}, number, err) < 0)
            return -1;
        number += i < lock.n && (lock.p[i] == '\n' || i + 1 == lock.n || lock.p[i + 1] != '\n');
        from = i + 1;
    }
    return 0;
}

/* Where packages come from, and how they are reached, is the person's to set. What is installed, where to,
 * and what is checked of it is not for a variable to say. */
bool al_extras_env_passes(struct al_str entry)
{
    static const char *const pip[] = {"INDEX_URL", "EXTRA_INDEX_URL", "FIND_LINKS",       "NO_INDEX",
                                      "CERT",      "CLIENT_CERT",     "TRUSTED_HOST",     "PROXY",
                                      "CACHE_DIR", "NO_CACHE_DIR",    "DEFAULT_TIMEOUT",  "RETRIES",
                                      "TIMEOUT",   "USE_FEATURE",     "KEYRING_PROVIDER", "CONFIG_FILE"};
    static const char *const uv[] = {"FIND_LINKS", "OFFLINE",     "NATIVE_TLS",      "SYSTEM_CERTS",
                                     "CACHE_DIR",  "NO_CACHE",    "HTTP_TIMEOUT",    "DEFAULT_INDEX",
                                     "NO_INDEX",   "CONFIG_FILE", "INSECURE_HOST",   "KEYRING_PROVIDER",
                                     "INDEX",      "INDEX_URL",   "EXTRA_INDEX_URL", "INDEX_STRATEGY"};
    bool for_uv = al_str_starts(entry, "UV_");
    if (!for_uv && !al_str_starts(entry, "PIP_"))
        return false;
    const char *equals = memchr(entry.p, '=', entry.n);
    size_t skip = for_uv ? 3 : 4;
    if (!equals)
        return false;
    struct al_str name = {entry.p + skip, (size_t)(equals - entry.p) - skip};
    /* UV_INDEX_<NAME>_USERNAME and _PASSWORD */
    if (for_uv && al_str_starts(name, "INDEX_") &&
        (al_str_ends(name, "_USERNAME") || al_str_ends(name, "_PASSWORD")))
        return true;
    for (size_t i = 0; i < 16; i++) {
        if (al_str_is(name, for_uv ? uv[i] : pip[i]))
            return true;
    }
    return false;
}
