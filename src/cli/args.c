#include "cli/args.h"

#include "base/text.h"

#include <string.h>

struct parser {
    int argc, i;
    char *const *argv;
    struct al_args *out;
    struct al_err *err;
};

const struct al_command *al_command_find(struct al_str name)
{
    for (size_t i = 0; i < al_n_commands; i++)
        if (al_str_is(name, al_command_table[i].name))
            return &al_command_table[i];
    return NULL;
}

const struct al_group *al_group_find(struct al_str name)
{
    for (size_t i = 0; i < al_n_groups; i++)
        if (al_str_is(name, al_group_table[i].name))
            return &al_group_table[i];
    return NULL;
}

bool al_command_has_flag(const struct al_command *command, enum al_flag_id id)
{
    if (al_flag_table[id].global)
        return true;
    for (const enum al_flag_id *f = command ? command->flags : NULL; f && *f != AL_FLAG_END; f++)
        if (*f == id)
            return true;
    return false;
}

/* Keeps the nearest of the names offered. A name is near when about a third of it is wrong at most. */
struct nearest {
    struct al_str word;
    const char *best;
    unsigned distance;
};

static void nearest_offer(struct nearest *n, const char *name, struct al_str compared)
{
    unsigned limit = 1 + (unsigned)(n->word.n > 64 ? 64 : n->word.n) / 3;
    unsigned d = al_str_distance(n->word, compared);
    bool begins = n->word.n >= 2 && compared.n > n->word.n && memcmp(compared.p, n->word.p, n->word.n) == 0;
    if (begins && d > 1)
        d = 1;
    if (d <= limit && (!n->best || d < n->distance)) {
        n->best = name;
        n->distance = d;
    }
}

/* The first word of a command's name. */
static struct al_str first_word(const char *name)
{
    return (struct al_str){name, strcspn(name, " ")};
}

/* "show" of "runs show" when it belongs to the group; NULL when not. */
static const char *verb_of(const struct al_command *command, const struct al_group *group)
{
    size_t n = strlen(group->name);
    if (strncmp(command->name, group->name, n) != 0 || command->name[n] != ' ')
        return NULL;
    return command->name + n + 1;
}

const char *al_command_nearest(struct al_str word)
{
    struct nearest n = {.word = word};
    for (size_t i = 0; i < al_n_commands; i++)
        if (!strchr(al_command_table[i].name, ' '))
            nearest_offer(&n, al_command_table[i].name, first_word(al_command_table[i].name));
    for (size_t i = 0; i < al_n_groups; i++)
        nearest_offer(&n, al_group_table[i].name, al_str_of(al_group_table[i].name));
    return n.best;
}

const char *al_verb_nearest(const struct al_group *group, struct al_str word)
{
    struct nearest n = {.word = word};
    for (size_t i = 0; i < al_n_commands; i++) {
        const char *verb = verb_of(&al_command_table[i], group);
        if (verb)
            nearest_offer(&n, verb, al_str_of(verb));
    }
    return n.best;
}

const char *al_flag_nearest(const struct al_command *command, struct al_str word)
{
    while (word.n && word.p[0] == '-') {
        word.p++;
        word.n--;
    }
    struct nearest n = {.word = word};
    for (int id = AL_FLAG_END + 1; id < AL_FLAG_COUNT; id++)
        if (al_flag_table[id].name && al_command_has_flag(command, (enum al_flag_id)id))
            nearest_offer(&n, al_flag_table[id].name, al_str_of(al_flag_table[id].name + 2));
    return n.best;
}

/* --- flags --- */

static enum al_flag_id find_long(struct al_str name)
{
    for (int id = AL_FLAG_END + 1; id < AL_FLAG_COUNT; id++)
        if (al_flag_table[id].name && al_str_is(name, al_flag_table[id].name))
            return (enum al_flag_id)id;
    return AL_FLAG_END;
}

static enum al_flag_id find_letter(char letter)
{
    for (int id = AL_FLAG_END + 1; id < AL_FLAG_COUNT; id++)
        if (al_flag_table[id].letter && al_flag_table[id].letter == letter)
            return (enum al_flag_id)id;
    return AL_FLAG_END;
}

/* Whether a word is written exactly as one of the flags: then it is no value of the flag before it. */
static bool is_flag_word(const char *word)
{
    struct al_str s = al_str_of(word);
    if (s.n > 2 && s.p[0] == '-' && s.p[1] == '-')
        return find_long(s) != AL_FLAG_END;
    return s.n == 2 && s.p[0] == '-' && find_letter(s.p[1]) != AL_FLAG_END;
}

static int fail_unknown_flag(struct parser *p, struct al_str shown)
{
    const struct al_command *command = p->out->command;
    struct al_str name = {shown.p, 0};
    while (name.n < shown.n && shown.p[name.n] != '=')
        name.n++;
    enum al_flag_id known = find_long(name);
    if (known == AL_FLAG_END && name.n == 2)
        known = find_letter(name.p[1]);
    if (known != AL_FLAG_END && command) {
        al_fail(p->err, AL_INVALID_INPUT, "%.*s is no flag of `alisio %s`", AL_FMT(name), command->name);
        return al_hint(p->err, "`alisio %s --help` lists its flags", command->name);
    }
    if (known != AL_FLAG_END) {
        al_fail(p->err, AL_INVALID_INPUT, "%.*s stands before the command that it belongs to", AL_FMT(name));
        return al_hint(p->err, "write it after the command");
    }
    al_fail(p->err, AL_INVALID_INPUT, "unknown flag: %.*s", AL_FMT(name));
    const char *near = al_flag_nearest(command, name);
    const char *of = command ? command->name : "";
    if (near)
        return al_hint(p->err, "did you mean %s?", near);
    return al_hint(p->err, "`alisio %s%s--help` lists the flags", of, *of ? " " : "");
}

static int take_more(struct parser *p, enum al_flag_id id, const char *value)
{
    struct al_args *out = p->out;
    enum al_list list = al_flag_table[id].list;
    if (out->n_list[list] == AL_ARGS_MAX_LIST) {
        al_fail(p->err, AL_INVALID_INPUT, "%s is given more than %d times", al_flag_table[id].name,
                AL_ARGS_MAX_LIST);
        return al_hint(p->err,
                       id == AL_FLAG_ADD_DIR ? "give a folder above several of them" : "give it less often");
    }
    out->list[list][out->n_list[list]++] = value;
    out->value[id] = value;
    return 0;
}

static void flag_shown(enum al_flag_id id, char out[32])
{
    const struct al_flag *f = &al_flag_table[id];
    if (f->name) {
        size_t n = strlen(f->name);
        n = n > 31 ? 31 : n;
        memcpy(out, f->name, n);
        out[n] = 0;
    } else {
        out[0] = '-';
        out[1] = f->letter;
        out[2] = 0;
    }
}

static int set_flag(struct parser *p, enum al_flag_id id, const char *value)
{
    const struct al_flag *f = &al_flag_table[id];
    struct al_args *out = p->out;
    char shown[32];
    flag_shown(id, shown);
    if (f->takes == AL_TAKES_NOTHING) {
        out->value[id] = "";
        return 0;
    }
    if (!*value && f->takes != AL_TAKES_TEXT && !f->optional) {
        al_fail(p->err, AL_INVALID_INPUT, "%s has an empty value", shown);
        return al_hint(p->err, "write %s %s", shown, f->value);
    }
    if (f->list != AL_LIST_NONE)
        return take_more(p, id, value);
    if (out->value[id]) {
        al_fail(p->err, AL_INVALID_INPUT, "%s is given twice", shown);
        return al_hint(p->err, "give it once");
    }
    if (f->takes == AL_TAKES_INT && !al_parse_int(al_str_of(value), f->min, f->max, &out->number[id])) {
        al_fail(p->err, AL_INVALID_INPUT, "%s is no value for %s", value, shown);
        return al_hint(p->err, "a whole number from %lld to %lld", (long long)f->min, (long long)f->max);
    }
    out->value[id] = value;
    return 0;
}

/* The value that follows in the next word. */
static int take_value(struct parser *p, enum al_flag_id id)
{
    const struct al_flag *f = &al_flag_table[id];
    char shown[32];
    flag_shown(id, shown);
    const char *next = p->i + 1 < p->argc ? p->argv[p->i + 1] : NULL;
    if (!next || strcmp(next, "--") == 0 || is_flag_word(next)) {
        al_fail(p->err, AL_INVALID_INPUT, "%s needs a value", shown);
        if (next)
            return al_hint(p->err, "write %s %s; a value that looks like a flag is written %s=%s", shown,
                           f->value, shown, next);
        return al_hint(p->err, "write %s %s", shown, f->value);
    }
    p->i++;
    return set_flag(p, id, next);
}

static int parse_long(struct parser *p, const char *word)
{
    struct al_str name = {word, strcspn(word, "=")};
    enum al_flag_id id = find_long(name);
    if (id == AL_FLAG_END || !al_command_has_flag(p->out->command, id))
        return fail_unknown_flag(p, al_str_of(word));
    bool attached = word[name.n] == '=';
    if (al_flag_table[id].takes == AL_TAKES_NOTHING) {
        if (attached) {
            al_fail(p->err, AL_INVALID_INPUT, "%.*s takes no value", AL_FMT(name));
            return al_hint(p->err, "write %.*s alone", AL_FMT(name));
        }
        return set_flag(p, id, "");
    }
    if (!attached && al_flag_table[id].optional)
        return set_flag(p, id, "");
    return attached ? set_flag(p, id, word + name.n + 1) : take_value(p, id);
}

/* "-e CODE", "-eCODE", "-e=CODE", and letters without values together. */
static int parse_letters(struct parser *p, const char *word)
{
    for (size_t k = 1; word[k]; k++) {
        enum al_flag_id id = find_letter(word[k]);
        bool takes = id != AL_FLAG_END && al_flag_table[id].takes != AL_TAKES_NOTHING;
        if (id == AL_FLAG_END || !al_command_has_flag(p->out->command, id) || (takes && k > 1))
            return fail_unknown_flag(p, al_str_of(word));
        if (takes) {
            const char *rest = word + k + 1;
            if (!*rest)
                return take_value(p, id);
            return set_flag(p, id, *rest == '=' ? rest + 1 : rest);
        }
        if (set_flag(p, id, "") < 0)
            return -1;
    }
    return 0;
}

/* --- words --- */

static int fail_unknown_command(struct parser *p, struct al_str word)
{
    al_fail(p->err, AL_INVALID_INPUT, "unknown command: %.*s", (int)(word.n > 80 ? 80 : word.n), word.p);
    const struct al_command *quoted = al_command_find(word);
    if (quoted)
        return al_hint(p->err, "write it as two words: `alisio %s`", quoted->name);
    const char *near = al_command_nearest(word);
    if (near)
        return al_hint(p->err, "did you mean `alisio %s`?", near);
    return al_hint(p->err, "`alisio help` lists the commands");
}

static int take_verb(struct parser *p, struct al_str word)
{
    const struct al_group *group = p->out->group;
    for (size_t i = 0; i < al_n_commands; i++) {
        const char *verb = verb_of(&al_command_table[i], group);
        if (verb && al_str_is(word, verb)) {
            p->out->command = &al_command_table[i];
            return 0;
        }
    }
    al_fail(p->err, AL_INVALID_INPUT, "unknown command: %s %.*s", group->name,
            (int)(word.n > 80 ? 80 : word.n), word.p);
    if (strcmp(group->name, "mcp") == 0 && al_str_is(word, "add"))
        return al_hint(p->err, "`alisio mcp import FILE` copies servers from a file like .mcp.json");
    const char *near = al_verb_nearest(group, word);
    if (near)
        return al_hint(p->err, "did you mean `alisio %s %s`?", group->name, near);
    return al_hint(p->err, "`alisio %s --help` lists its commands", group->name);
}

/* The command whose name is that of `first` and the word behind it; NULL. */
static const struct al_command *two_words(const struct al_command *first, struct al_str word)
{
    size_t n = strlen(first->name);
    for (size_t i = 0; i < al_n_commands; i++) {
        const char *name = al_command_table[i].name;
        if (strncmp(name, first->name, n) == 0 && name[n] == ' ' && al_str_is(word, name + n + 1))
            return &al_command_table[i];
    }
    return NULL;
}

static int take_word(struct parser *p, const char *z)
{
    struct al_args *out = p->out;
    struct al_str word = al_str_of(z);
    if (out->group && (!out->command || al_str_is(al_str_of(out->group->name), out->command->name)))
        return take_verb(p, word);
    if (!out->command) {
        /* Never a name with a space in it: "runs show" is two words. */
        out->group = al_group_find(word);
        if (!memchr(word.p, ' ', word.n))
            out->command = al_command_find(word);
        return out->command || out->group ? 0 : fail_unknown_command(p, word);
    }
    /* "setup provider" is a command beside "setup CLIENT". */
    const struct al_command *longer = out->n_pos == 0 ? two_words(out->command, word) : NULL;
    if (longer) {
        out->command = longer;
        return 0;
    }
    if (out->n_pos >= out->command->max_args) {
        al_fail(p->err, AL_INVALID_INPUT, "`alisio %s` does not know what to do with \"%.*s\"",
                out->command->name, (int)(word.n > 80 ? 80 : word.n), word.p);
        if (al_command_has_flag(out->command, AL_FLAG_MAX_TURNS))
            return al_hint(p->err, "put the whole prompt in quotes: alisio %s %s", out->command->name,
                           strcmp(out->command->name, "run") == 0 ? "\"…\"" : "SESSION \"…\"");
        if (al_command_has_flag(out->command, AL_FLAG_IN))
            return al_hint(p->err, "a file for the script is named by --in FILE; usage: alisio %s %s",
                           out->command->name, out->command->usage);
        return al_hint(p->err, "usage: alisio %s %s", out->command->name, out->command->usage);
    }
    out->pos[out->n_pos++] = z;
    return 0;
}

static bool is_flag_like(const char *word)
{
    if (word[0] != '-' || word[1] == 0)
        return false;
    return !(word[1] >= '0' && word[1] <= '9');
}

static int check_count(struct parser *p)
{
    struct al_args *out = p->out;
    if (al_args_has(out, AL_FLAG_HELP) || al_args_has(out, AL_FLAG_VERSION))
        return 0;
    if (!out->command && out->group) {
        al_fail(p->err, AL_INVALID_INPUT, "`alisio %s` needs a second word", out->group->name);
        return al_hint(p->err, "`alisio %s --help` lists its commands", out->group->name);
    }
    if (out->command && out->n_pos < out->command->min_args) {
        if (out->command->missing) {
            al_fail(p->err, AL_INVALID_INPUT, "%s", out->command->missing[0]);
            return al_hint(p->err, "%s", out->command->missing[1]);
        }
        al_fail(p->err, AL_INVALID_INPUT, "`alisio %s` needs more than that", out->command->name);
        return al_hint(p->err, "usage: alisio %s %s", out->command->name, out->command->usage);
    }
    return 0;
}

static int parse_all(struct parser *p)
{
    bool flags_ended = false;
    for (p->i = 1; p->i < p->argc; p->i++) {
        const char *word = p->argv[p->i];
        int r;
        if (!flags_ended && strcmp(word, "--") == 0) {
            flags_ended = true;
            continue;
        }
        if (flags_ended || !is_flag_like(word))
            r = take_word(p, word);
        else if (word[1] == '-')
            r = parse_long(p, word);
        else
            r = parse_letters(p, word);
        if (r < 0)
            return -1;
    }
    return check_count(p);
}

int al_args_parse(int argc, char *const *argv, struct al_args *ret, struct al_err *err)
{
    *ret = (struct al_args){0};
    struct parser p = {.argc = argc, .argv = argv, .out = ret, .err = err};
    if (parse_all(&p) == 0)
        return 0;
    for (int i = p.i; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            ret->value[AL_FLAG_JSON] = "";
    return -1;
}

bool al_parse_age(struct al_str text, int64_t *ret_ms)
{
    static const struct {
        char unit;
        int64_t ms;
    } units[] = {{'m', 60000}, {'h', 3600000}, {'d', 86400000}, {'w', 604800000}};
    const int64_t most = 100LL * 365 * 86400000;
    int64_t count;
    if (text.n < 2 || !al_parse_int((struct al_str){text.p, text.n - 1}, 0, 100LL * 365 * 1440, &count))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (text.p[text.n - 1] != units[i].unit)
            continue;
        if (count > most / units[i].ms)
            return false;
        *ret_ms = count * units[i].ms;
        return true;
    }
    return false;
}
