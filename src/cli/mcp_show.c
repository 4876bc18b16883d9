/* What an entry of a server would start or reach, for a person who is asked about it, and in JSON. */
#include "cli/mcp_common.h"
#include "cli/run_text.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAX_FILE (32u << 20)
#define MAX_WORD 200   /* characters of an argument or a value that are shown */
#define MAX_PLACE 4096 /* of a program, a folder, an address: none that works is longer */

void al_say_plain(struct al_buf *out, const char *z)
{
    al_text_plain(out, al_str_of(z), false);
}

void al_say_quoted(struct al_buf *out, const char *z)
{
    autobuf struct al_buf word = AL_BUF_INIT(64 << 10);
    al_text_shell(&word, al_str_of(z));
    al_text_plain(out, al_buf_str(&word), false);
}

/* --- secrets --- */

static bool one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static bool token_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || one_of(c, "._~%+=-");
}

/* How many bytes at i are hidden when a value begins there. What is a variable as a whole tells nothing. In
 * words of a command only what no shell could run is hidden. */
static size_t secret_length(struct al_str s, size_t i, bool word)
{
    size_t n = 0;
    if (word) {
        while (i + n < s.n && token_char(s.p[i + n]))
            n++;
        return n;
    }
    while (i + n < s.n && !one_of(s.p[i + n], "&# \t\n\"'"))
        n++;
    bool variable = n > 3 && s.p[i] == '$' && s.p[i + 1] == '{' && s.p[i + n - 1] == '}' &&
                    !memchr(s.p + i, ':', n) && !memchr(s.p + i, '=', n);
    return variable ? 0 : n;
}

/* "user:password@" behind "://": its length, 0 when there is none. */
static size_t userinfo_length(struct al_str s, size_t i, bool word)
{
    size_t n = 0;
    for (size_t k = i; k < s.n && !one_of(s.p[k], "/?# \t\n\"'"); k++)
        if (s.p[k] == '@')
            n = k - i;
    for (size_t k = i; word && k < i + n; k++)
        if (!token_char(s.p[k]) && s.p[k] != ':')
            return 0;
    return n;
}

static size_t scheme_length(struct al_str s, size_t i)
{
    static const char *const schemes[] = {"bearer ", "basic ", "token "};
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
        size_t n = strlen(schemes[k]);
        if (s.n - i > n && strncasecmp(s.p + i, schemes[k], n) == 0)
            return n;
    }
    return 0;
}

static size_t hide(struct al_str s, size_t i, size_t n, struct al_buf *out)
{
    if (n && i + n <= s.n)
        al_buf_adds(out, AL_NOT_SHOWN);
    return i + n;
}

void al_mask_secrets(struct al_str s, bool word, struct al_buf *out)
{
    bool in_url = false, in_query = false;
    for (size_t i = 0; i < s.n;) {
        size_t scheme = in_url ? 0 : scheme_length(s, i);
        char c = s.p[i];
        if (scheme) {
            al_buf_add(out, s.p + i, scheme);
            i = hide(s, i + scheme, secret_length(s, i + scheme, word), out);
            continue;
        }
        if (!in_url && s.n - i > 3 && memcmp(s.p + i, "://", 3) == 0) {
            al_buf_adds(out, "://");
            i = hide(s, i + 3, userinfo_length(s, i + 3, word), out);
            in_url = true;
            continue;
        }
        al_buf_addc(out, c);
        i++;
        if (one_of(c, " \t\n\"'"))
            in_url = in_query = false;
        bool begins = in_url && one_of(c, "?#");
        in_query |= begins;
        if (!in_query || (!begins && c != '&' && c != '='))
            continue;
        /* A name and its "=" stay; what has none is hidden whole. */
        size_t name = 0;
        while (c != '=' && i + name < s.n && !one_of(s.p[i + name], "=&# \t\n\"'"))
            name++;
        if (c != '=' && i + name < s.n && s.p[i + name] == '=') {
            al_buf_add(out, s.p + i, name);
            i += name;
        } else {
            i = hide(s, i, secret_length(s, i, word), out);
        }
    }
}

/* --- words --- */

/* 99800 as "99,800". */
static void say_number(size_t n, struct al_buf *out)
{
    if (n >= 1000) {
        say_number(n / 1000, out);
        al_buf_addf(out, ",%03zu", n % 1000);
    } else {
        al_buf_addf(out, "%zu", n);
    }
}

static void say_rest(struct al_str all, struct al_str shown, struct al_buf *out)
{
    if (shown.n == all.n)
        return;
    al_buf_adds(out, " … ");
    say_number(al_utf8_count((struct al_str){all.p + shown.n, all.n - shown.n}), out);
    al_buf_adds(out, " more characters");
}

static bool needs_quotes(struct al_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (one_of(s.p[i], " \t\n\"'\\|&;<>()*?`#~"))
            return true;
    return s.n == 0;
}

/* One word of a command line, cut to what a person reads. */
static void say_word(struct al_buf *out, struct al_str all, size_t max)
{
    struct al_str s = al_utf8_head(all, max);
    if (needs_quotes(s)) {
        autobuf struct al_buf json = AL_BUF_INIT(1 << 20);
        struct al_jw w;
        al_jw_init(&w, &json);
        al_jw_str(&w, s);
        al_text_plain(out, al_buf_str(&json), false);
    } else {
        al_text_plain(out, s, false);
    }
    say_rest(all, s, out);
}

/* Addresses and headers among the arguments may hold secrets; anything else stays, since it may be what runs.
 */
static void mask_argument(struct al_str s, struct al_buf *out)
{
    static const char *const kinds[] = {"http://", "https://", "authorization:", "bearer "};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i]);
        if (s.n < n || strncasecmp(s.p, kinds[i], n) != 0)
            continue;
        al_mask_secrets(s, true, out);
        return;
    }
    al_buf_add_str(out, s);
}

static void say_argument(struct al_buf *out, const char *z)
{
    autobuf struct al_buf masked = AL_BUF_INIT(MAX_FILE);
    mask_argument(al_str_of(z), &masked);
    say_word(out, al_buf_str(&masked), MAX_WORD);
}

static void say_place(struct al_buf *out, const char *head, const char *z)
{
    struct al_str all = al_str_of(z), s = al_utf8_head(all, MAX_PLACE);
    al_buf_adds(out, head);
    al_text_plain(out, s, false);
    say_rest(all, s, out);
    al_buf_addc(out, '\n');
}

/* --- variables and headers --- */

/* The part of "NAME=value" before the separator. */
static struct al_str name_of(const char *pair, char separator)
{
    return (struct al_str){pair, strcspn(pair, (char[]){separator, 0})};
}

static struct al_str value_of(const char *pair)
{
    const char *at = strchr(pair, '=');
    return al_str_of(at ? at + 1 : "");
}

static bool ends_with(struct al_str s, const char *suffix)
{
    size_t n = strlen(suffix);
    return s.n >= n && strncasecmp(s.p + s.n - n, suffix, n) == 0;
}

/* Variables that make a harmless program run other code, or reach another place. */
static bool decides_what_runs(struct al_str name)
{
    static const char *const names[] = {
        "PATH", "HOME", "ENV", "BASH_ENV", "NODE_OPTIONS", "NODE_PATH", "JAVA_TOOL_OPTIONS"};
    static const char *const prefixes[] = {"LD_",  "PYTHON",      "GIT_",        "PERL5", "RUBY",
                                           "PIP_", "npm_config_", "NPM_CONFIG_", "UV_"};
    static const char *const secrets[] = {"TOKEN", "PASSWORD", "SECRET", "_KEY", "_AUTH"};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        if (ends_with(name, secrets[i]))
            return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (al_str_is(name, names[i]))
            return true;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (al_str_starts(name, prefixes[i]))
            return true;
    return ends_with(name, "_PROXY");
}

static void masked_value(const char *pair, struct al_buf *out)
{
    al_mask_secrets(value_of(pair), false, out);
}

static void say_names(struct al_buf *out, const char *head, char **list, char separator)
{
    size_t n = 0;
    for (size_t i = 0; list && list[i]; i++) {
        autobuf struct al_buf variables = AL_BUF_INIT(4096);
        struct al_str name = name_of(list[i], separator);
        if (separator == '=' && decides_what_runs(name))
            continue;
        al_buf_adds(out, n++ ? ", " : head);
        al_text_plain(out, name, false);
        al_server_variables(list[i], &variables);
        if (variables.n)
            al_buf_addf(out, " (from %.*s)", AL_FMT(al_buf_str(&variables)));
    }
    if (n)
        al_buf_addc(out, '\n');
}

static void say_deciding(struct al_buf *out, char **env)
{
    for (size_t i = 0; env && env[i]; i++) {
        autobuf struct al_buf value = AL_BUF_INIT(MAX_FILE);
        struct al_str name = name_of(env[i], '=');
        if (!decides_what_runs(name))
            continue;
        masked_value(env[i], &value);
        al_buf_adds(out, "    ! sets   ");
        al_text_plain(out, name, false);
        al_buf_addc(out, '=');
        say_word(out, al_buf_str(&value), MAX_WORD);
        al_buf_adds(out, "  (it decides what runs)\n");
    }
}

static void all_variables(const struct al_server *s, struct al_buf *out)
{
    autobuf struct al_buf text = AL_BUF_INIT(MAX_FILE);
    char **lists[] = {s->args, s->env, s->headers};
    const char *texts[] = {s->command, s->cwd, s->url};
    for (size_t i = 0; i < 3; i++) {
        al_buf_adds(&text, texts[i] ? texts[i] : "");
        al_buf_addc(&text, '\n');
        for (size_t k = 0; lists[i] && lists[i][k]; k++) {
            al_buf_adds(&text, lists[i][k]);
            al_buf_addc(&text, '\n');
        }
    }
    al_buf_addc(&text, 0);
    if (!al_buf_failed(&text))
        al_server_variables(text.p, out);
}

/* --- an entry --- */

void al_say_command(const struct al_server *s, struct al_buf *out)
{
    say_word(out, al_str_of(s->command), MAX_PLACE);
    for (size_t i = 0; s->args && s->args[i]; i++) {
        al_buf_addc(out, ' ');
        say_argument(out, s->args[i]);
    }
    al_buf_addc(out, '\n');
}

static void say_stdio(const struct al_server *s, struct al_buf *out)
{
    al_buf_adds(out, "    starts   ");
    al_say_command(s, out);
    if (s->cwd)
        say_place(out, "    in       ", s->cwd);
    say_names(out, "    sets     ", s->env, '=');
    say_deciding(out, s->env);
}

void al_say_server(const struct al_server *s, struct al_buf *out)
{
    if (s->http) {
        autobuf struct al_buf url = AL_BUF_INIT(MAX_FILE);
        al_mask_secrets(al_str_of(s->url), false, &url);
        al_buf_addc(&url, 0);
        say_place(out, "    reaches  ", al_buf_failed(&url) ? "" : url.p);
        say_names(out, "    headers  ", s->headers, ':');
    } else {
        say_stdio(s, out);
    }
    autobuf struct al_buf variables = AL_BUF_INIT(64 << 10);
    all_variables(s, &variables);
    if (variables.n)
        al_buf_addf(out, "    reads    %.*s\n", AL_FMT(al_buf_str(&variables)));
    if (s->note)
        al_buf_addf(out, "    note     %s\n", s->note);
    if (s->disabled)
        al_buf_adds(out, "    is switched off\n");
}

/* --- JSON --- */

static void json_names(struct al_jw *w, const char *key, char **list, char separator)
{
    al_jw_key(w, key);
    al_jw_arr(w);
    for (size_t i = 0; list && list[i]; i++)
        al_jw_str(w, name_of(list[i], separator));
    al_jw_end(w);
}

static void json_deciding(struct al_jw *w, char **env)
{
    al_jw_key(w, "decidesWhatRuns");
    al_jw_obj(w);
    for (size_t i = 0; env && env[i]; i++) {
        autobuf struct al_buf value = AL_BUF_INIT(MAX_FILE);
        if (!decides_what_runs(name_of(env[i], '=')))
            continue;
        masked_value(env[i], &value);
        al_jw_key_str(w, name_of(env[i], '='));
        al_jw_str(w, al_buf_str(&value));
    }
    al_jw_end(w);
}

void al_json_server(struct al_jw *w, const struct al_server *s)
{
    al_jw_kstrz(w, "name", s->name);
    al_jw_kstrz(w, "transport", s->http ? "http" : "stdio");
    if (s->http) {
        autobuf struct al_buf url = AL_BUF_INIT(MAX_FILE);
        al_mask_secrets(al_str_of(s->url), false, &url);
        al_jw_kstr(w, "url", al_buf_str(&url));
        json_names(w, "headers", s->headers, ':');
    } else {
        al_jw_kstrz(w, "command", s->command);
        al_jw_key(w, "args");
        al_jw_arr(w);
        for (size_t i = 0; s->args && s->args[i]; i++) {
            autobuf struct al_buf masked = AL_BUF_INIT(MAX_FILE);
            mask_argument(al_str_of(s->args[i]), &masked);
            al_jw_str(w, al_buf_str(&masked));
        }
        al_jw_end(w);
        al_jw_kstrz(w, "cwd", s->cwd);
        json_names(w, "env", s->env, '=');
        json_deciding(w, s->env);
    }
    autobuf struct al_buf variables = AL_BUF_INIT(64 << 10);
    all_variables(s, &variables);
    al_jw_kstr(w, "variables", al_buf_str(&variables));
    if (s->note)
        al_jw_kstrz(w, "note", s->note);
    al_jw_kbool(w, "disabled", s->disabled);
    al_jw_kstrz(w, "origin", s->origin);
}
