#include "cli/app.h"
#include "cli/commands.h"

#include <string.h>

/* Every name of a flag, "-e" or "--json -h"; with its letter. */
static void flag_names(enum al_flag_id id, struct al_buf *out)
{
    const struct al_flag *f = &al_flag_table[id];
    if (f->name)
        al_buf_addf(out, " %s", f->name);
    if (f->letter)
        al_buf_addf(out, " -%c", f->letter);
}

/* "--cwd|--config|-e" of the flags for which test is true. */
static void flag_pattern(bool (*test)(const struct al_flag *), struct al_buf *out)
{
    bool first = true;
    for (int id = AL_FLAG_END + 1; id < AL_FLAG_COUNT; id++) {
        const struct al_flag *f = &al_flag_table[id];
        if (!test(f))
            continue;
        if (f->name)
            al_buf_addf(out, "%s%s", first ? "" : "|", f->name);
        if (f->letter)
            al_buf_addf(out, "%s-%c", first && !f->name ? "" : "|", f->letter);
        first = false;
    }
}

static bool takes_value(const struct al_flag *f)
{
    return f->takes != AL_TAKES_NOTHING && !f->optional;
}

static bool takes_dir(const struct al_flag *f)
{
    return f->takes == AL_TAKES_DIR;
}

static bool takes_file(const struct al_flag *f)
{
    return f->takes == AL_TAKES_FILE;
}

static void global_names(struct al_buf *out)
{
    for (int id = AL_FLAG_END + 1; id < AL_FLAG_COUNT; id++)
        if (al_flag_table[id].global)
            flag_names((enum al_flag_id)id, out);
}

static void group_pattern(struct al_buf *out)
{
    for (size_t i = 0; i < al_n_groups; i++)
        al_buf_addf(out, "%s%s", i ? "|" : "", al_group_table[i].name);
}

static void first_words(struct al_buf *out)
{
    for (size_t i = 0; i < al_n_groups; i++)
        al_buf_addf(out, " %s", al_group_table[i].name);
    for (size_t i = 0; i < al_n_commands; i++)
        if (!strchr(al_command_table[i].name, ' ') && !al_group_find(al_str_of(al_command_table[i].name)))
            al_buf_addf(out, " %s", al_command_table[i].name);
}

static void verbs_of(const struct al_group *group, struct al_buf *out)
{
    size_t n = strlen(group->name);
    for (size_t i = 0; i < al_n_commands; i++) {
        const char *name = al_command_table[i].name;
        if (strncmp(name, group->name, n) == 0 && name[n] == ' ')
            al_buf_addf(out, " %s", name + n + 1);
    }
}

/* --- bash and zsh: one function, that differs in how words are offered --- */

struct dialect {
    const char *words_begin, *words_end; /* around a list of words */
    const char *dirs, *files;
};

/* Shells expand the words that they are offered: a name with anything but these in it is left out. */
#define SERVER_NAMES \
    "alisio mcp list --quiet 2>/dev/null | awk -F '  +' 'NR > 1 && $1 ~ /^[A-Za-z0-9._-]+$/ {print $1}'"

static const struct dialect bash = {"COMPREPLY=($(compgen -W \"", "\" -- \"$cur\"))",
                                    "COMPREPLY=($(compgen -d -- \"$cur\"))",
                                    "COMPREPLY=($(compgen -f -- \"$cur\"))"};
static const struct dialect zsh = {"compadd --", "", "_files -/", "_files"};

static void offer(const struct dialect *d, const char *words, struct al_buf *out)
{
    al_buf_addf(out, "%s %s%s", d->words_begin, words, d->words_end);
}

static void after_flag(const struct dialect *d, struct al_buf *out)
{
    al_buf_adds(out, "    case $prev in\n    ");
    flag_pattern(takes_dir, out);
    al_buf_addf(out, ") %s; return ;;\n    ", d->dirs);
    flag_pattern(takes_file, out);
    al_buf_addf(out, ") %s; return ;;\n", d->files);
    for (int id = AL_FLAG_END + 1; id < AL_FLAG_COUNT; id++) {
        const struct al_flag *f = &al_flag_table[id];
        if (!takes_value(f) || takes_dir(f) || takes_file(f))
            continue;
        al_buf_adds(out, "    ");
        if (f->name)
            al_buf_adds(out, f->name);
        if (f->letter)
            al_buf_addf(out, "%s-%c", f->name ? "|" : "", f->letter);
        al_buf_adds(out, ") ");
        if (f->words)
            offer(d, f->words, out);
        al_buf_adds(out, f->words ? "; return ;;\n" : "return ;;\n");
    }
    al_buf_adds(out, "    esac\n");
}

static void own_flags(struct al_buf *out)
{
    al_buf_adds(out, "    case $cmd in\n");
    for (size_t i = 0; i < al_n_commands; i++) {
        if (!al_command_table[i].flags)
            continue;
        al_buf_addf(out, "    '%s') flags='", al_command_table[i].name);
        for (const enum al_flag_id *f = al_command_table[i].flags; *f != AL_FLAG_END; f++)
            flag_names(*f, out);
        al_buf_adds(out, "' ;;\n");
    }
    al_buf_adds(out, "    esac\n");
}

static void arguments(const struct dialect *d, struct al_buf *out)
{
    autobuf struct al_buf words = AL_BUF_INIT(1 << 16);
    al_buf_adds(out, "    case $cmd in\n    '') ");
    first_words(&words);
    al_buf_addc(&words, 0);
    offer(d, words.p + 1, out);
    al_buf_adds(out, " ;;\n");
    for (size_t i = 0; i < al_n_groups; i++) {
        al_buf_clear(&words);
        verbs_of(&al_group_table[i], &words);
        al_buf_addc(&words, 0);
        al_buf_addf(out, "    '%s') ", al_group_table[i].name);
        offer(d, words.p + 1, out);
        al_buf_adds(out, " ;;\n");
    }
    for (size_t i = 0; i < al_n_commands; i++) {
        const struct al_command *c = &al_command_table[i];
        if (c->arg == AL_ARG_NONE)
            continue;
        al_buf_addf(out, "    '%s') ", c->name);
        if (c->arg == AL_ARG_WORDS)
            offer(d, c->words, out);
        else if (c->arg == AL_ARG_SERVER)
            offer(d, "$(" SERVER_NAMES ")", out);
        else
            al_buf_adds(out, c->arg == AL_ARG_DIR ? d->dirs : d->files);
        al_buf_adds(out, " ;;\n");
    }
    al_buf_adds(out, "    esac\n");
}

/* 'setup provider': commands of two words whose first is no group. */
static void pairs_pattern(const char *separator, struct al_buf *out)
{
    bool first = true;
    for (size_t i = 0; i < al_n_commands; i++) {
        const char *name = al_command_table[i].name;
        if (!strchr(name, ' ') || al_group_find((struct al_str){name, strcspn(name, " ")}))
            continue;
        al_buf_addf(out, "%s'%s'", first ? "" : separator, name);
        first = false;
    }
}

/* The words before the cursor, without flags and their values, name the command. */
static void find_command(const char *first, const char *last, const char *array, struct al_buf *out)
{
    al_buf_addf(out, "    for ((i = %s; i < %s; i++)); do\n        w=${%s[i]}\n", first, last, array);
    al_buf_adds(out, "        if [[ -n $skip ]]; then skip=; continue; fi\n        case $w in\n        ");
    flag_pattern(takes_value, out);
    al_buf_adds(
        out, ") skip=1 ;;\n        -*) ;;\n        *) case $cmd in\n           '') cmd=$w ;;\n           ");
    group_pattern(out);
    al_buf_adds(out, ") cmd=\"$cmd $w\" ;;\n           *) case \"$cmd $w\" in ");
    pairs_pattern("|", out);
    al_buf_adds(out, ") cmd=\"$cmd $w\" ;; esac ;;\n           esac ;;\n        esac\n    done\n");
}

static void shell_function(const struct dialect *d, struct al_buf *out)
{
    autobuf struct al_buf names = AL_BUF_INIT(1 << 16);
    after_flag(d, out);
    own_flags(out);
    global_names(&names);
    if (d == &zsh)
        al_buf_adds(&names, " ${=flags}");
    else
        al_buf_adds(&names, "$flags");
    al_buf_addc(&names, 0);
    al_buf_adds(out, "    case $cur in\n    -*) ");
    offer(d, names.p + 1, out);
    al_buf_adds(out, "; return ;;\n    esac\n");
    arguments(d, out);
    al_buf_adds(out, "}\n");
}

static void for_bash(struct al_buf *out)
{
    al_buf_adds(out, "# Completion of alisio for bash.\n_alisio() {\n"
                     "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
                     "    local w i cmd= skip= flags=\n    COMPREPLY=()\n");
    find_command("1", "COMP_CWORD", "COMP_WORDS", out);
    shell_function(&bash, out);
    al_buf_adds(out, "complete -o filenames -F _alisio alisio\n");
}

static void for_zsh(struct al_buf *out)
{
    al_buf_adds(out, "#compdef alisio\n# Completion of alisio for zsh.\n_alisio() {\n"
                     "    local cur=${words[CURRENT]} prev=${words[CURRENT - 1]}\n"
                     "    local w i cmd= skip= flags=\n");
    find_command("2", "CURRENT", "words", out);
    shell_function(&zsh, out);
    al_buf_adds(
        out, "if [[ ${funcstack[1]} == _alisio ]]; then _alisio \"$@\"; else compdef _alisio alisio; fi\n");
}

/* --- fish --- */

/* Our own texts; what fish would read as the end of the string is escaped all the same. */
static void fish_text(struct al_buf *out, const char *z)
{
    al_buf_addc(out, '\'');
    for (; *z; z++) {
        if (*z == '\'' || *z == '\\')
            al_buf_addc(out, '\\');
        al_buf_addc(out, *z);
    }
    al_buf_addc(out, '\'');
}

static void fish_flag(enum al_flag_id id, const char *condition, struct al_buf *out)
{
    const struct al_flag *f = &al_flag_table[id];
    al_buf_adds(out, "complete -c alisio");
    if (condition)
        al_buf_addf(out, " -n \"%s\"", condition);
    if (f->name)
        al_buf_addf(out, " -l %s", f->name + 2);
    if (f->letter)
        al_buf_addf(out, " -s %c", f->letter);
    if (f->takes == AL_TAKES_DIR)
        al_buf_adds(out, " -x -a '(__fish_complete_directories)'");
    else if (f->takes == AL_TAKES_FILE)
        al_buf_adds(out, " -r -F");
    else if (takes_value(f))
        al_buf_adds(out, " -x");
    if (f->words) {
        al_buf_adds(out, " -a ");
        fish_text(out, f->words);
    }
    al_buf_adds(out, " -d ");
    fish_text(out, f->help);
    al_buf_addc(out, '\n');
}

static void fish_word(const char *condition, const char *word, const char *says, struct al_buf *out)
{
    al_buf_addf(out, "complete -c alisio -n \"%s\" -a %s -d ", condition, word);
    fish_text(out, says);
    al_buf_addc(out, '\n');
}

static void fish_command(const struct al_command *c, struct al_buf *out)
{
    autobuf struct al_buf here = AL_BUF_INIT(1024);
    al_buf_addf(&here, "__alisio_is '%s'", c->name);
    al_buf_addc(&here, 0);
    const char *space = strchr(c->name, ' ');
    if (space) {
        autobuf struct al_buf group = AL_BUF_INIT(1024);
        al_buf_addf(&group, "__alisio_is '%.*s'", (int)(space - c->name), c->name);
        al_buf_addc(&group, 0);
        fish_word(group.p, space + 1, c->summary, out);
    } else if (!al_group_find(al_str_of(c->name))) {
        fish_word("__alisio_is ''", c->name, c->summary, out);
    }
    for (const enum al_flag_id *f = c->flags; f && *f != AL_FLAG_END; f++)
        fish_flag(*f, here.p, out);
    if (c->arg == AL_ARG_WORDS)
        al_buf_addf(out, "complete -c alisio -n \"%s\" -a '%s'\n", here.p, c->words);
    else if (c->arg == AL_ARG_SERVER)
        al_buf_addf(out, "complete -c alisio -n \"%s\" -a \"(__alisio_servers)\"\n", here.p);
    else if (c->arg == AL_ARG_FILE)
        al_buf_addf(out, "complete -c alisio -n \"%s\" -F\n", here.p);
    else if (c->arg == AL_ARG_DIR)
        al_buf_addf(out, "complete -c alisio -n \"%s\" -a '(__fish_complete_directories)'\n", here.p);
}

static void for_fish(struct al_buf *out)
{
    al_buf_adds(out,
                "# Completion of alisio for fish.\nfunction __alisio_is\n    set -l cmd\n    set -l skip\n"
                "    for w in (commandline -opc)[2..-1]\n        if test -n \"$skip\"\n            set skip\n"
                "            continue\n        end\n        switch $w\n            case");
    for (int id = AL_FLAG_END + 1; id < AL_FLAG_COUNT; id++)
        if (takes_value(&al_flag_table[id]))
            flag_names((enum al_flag_id)id, out);
    al_buf_adds(out, "\n                set skip 1\n            case '-*'\n            case '*'\n"
                     "                switch \"$cmd\"\n                    case ''\n"
                     "                        set cmd $w\n                    case");
    for (size_t i = 0; i < al_n_groups; i++)
        al_buf_addf(out, " %s", al_group_table[i].name);
    al_buf_adds(out, "\n                        set cmd \"$cmd $w\"\n                    case '*'\n"
                     "                        if contains -- \"$cmd $w\" ");
    pairs_pattern(" ", out);
    al_buf_adds(
        out, "\n                            set cmd \"$cmd $w\"\n                        end\n"
             "                end\n        end\n    end\n"
             "    test \"$cmd\" = \"$argv[1]\"\nend\nfunction __alisio_servers\n    " SERVER_NAMES "\nend\n"
             "complete -c alisio -f\n");
    for (int id = AL_FLAG_END + 1; id < AL_FLAG_COUNT; id++)
        if (al_flag_table[id].global)
            fish_flag((enum al_flag_id)id, NULL, out);
    for (size_t i = 0; i < al_n_groups; i++)
        fish_word("__alisio_is ''", al_group_table[i].name, al_group_table[i].summary, out);
    for (size_t i = 0; i < al_n_commands; i++)
        fish_command(&al_command_table[i], out);
}

int al_cmd_completion(struct al_app *app, struct al_reply *reply)
{
    struct al_str shell = al_str_of(app->args.pos[0]);
    if (al_str_is(shell, "bash"))
        for_bash(&reply->text);
    else if (al_str_is(shell, "zsh"))
        for_zsh(&reply->text);
    else if (al_str_is(shell, "fish"))
        for_fish(&reply->text);
    else {
        al_fail(&reply->err, AL_INVALID_INPUT, "there is no completion for the shell \"%.40s\"",
                app->args.pos[0]);
        return al_hint(&reply->err, "bash, zsh or fish");
    }
    return 0;
}
