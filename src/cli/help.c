#include "cli/help.h"

#include "cli/app.h"
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#define USAGE_WIDTH 110

static void head(bool color, const char *title, struct al_buf *out)
{
    al_buf_adds(out, al_style_on(color, AL_BOLD));
    al_buf_adds(out, title);
    al_buf_adds(out, al_style_off(color, AL_BOLD));
    al_buf_addc(out, '\n');
}

static void row(struct al_buf *out, const char *left, unsigned width, const char *right)
{
    al_buf_addf(out, "  %-*s  %s\n", (int)width, left, right);
}

static void flag_left(const struct al_flag *f, char *out, size_t n)
{
    if (f->optional)
        snprintf(out, n, "%s[=%s]", f->name, f->value);
    else if (f->name && f->letter)
        snprintf(out, n, "-%c, %s%s%s", f->letter, f->name, f->value ? " " : "", f->value ? f->value : "");
    else if (f->name)
        snprintf(out, n, "%s%s%s", f->name, f->value ? " " : "", f->value ? f->value : "");
    else
        snprintf(out, n, "-%c%s%s", f->letter, f->value ? " " : "", f->value ? f->value : "");
}

static void flag_row(enum al_flag_id id, struct al_buf *out)
{
    char left[64];
    flag_left(&al_flag_table[id], left, sizeof left);
    row(out, left, 26, al_flag_table[id].help);
}

static void global_flags(bool color, struct al_buf *out)
{
    head(color, "Flags of all commands", out);
    for (int id = AL_FLAG_END + 1; id < AL_FLAG_COUNT; id++)
        if (al_flag_table[id].global)
            flag_row((enum al_flag_id)id, out);
}

static bool is_first_of_group(size_t i, const struct al_group **ret)
{
    const char *name = al_command_table[i].name;
    struct al_str word = {name, strcspn(name, " ")};
    *ret = al_group_find(word);
    if (!*ret)
        return true;
    if (i == 0)
        return true;
    const char *before = al_command_table[i - 1].name;
    return strcspn(before, " ") != word.n || strncmp(before, name, word.n) != 0;
}

void al_help_all(bool color, struct al_buf *out)
{
    al_buf_adds(
        out,
        "alisio gives AI agents a code mode: one script in a sealed VM in place of many tool calls.\n\n");
    head(color, "Commands", out);
    for (size_t i = 0; i < al_n_commands; i++) {
        const struct al_group *group;
        if (!is_first_of_group(i, &group))
            continue;
        row(out, group ? group->name : al_command_table[i].name, 13,
            group ? group->summary : al_command_table[i].summary);
    }
    al_buf_adds(out, "\n`alisio COMMAND --help` shows a command with examples.\n\n");
    global_flags(color, out);
}

/* A long usage goes on in the next line, before one of its brackets. */
static void usage_lines(const struct al_command *c, struct al_buf *out)
{
    size_t line = out->n;
    al_buf_addf(out, "  alisio %s", c->name);
    for (const char *from = c->usage; *from;) {
        const char *end = strstr(from, " [");
        size_t n = end ? (size_t)(end - from) : strlen(from);
        if (out->n - line + 1 + n > USAGE_WIDTH) {
            al_buf_adds(out, "\n          ");
            line = out->n - 10;
        }
        al_buf_addf(out, " %.*s", (int)n, from);
        from += end ? n + 1 : n;
    }
    al_buf_addc(out, '\n');
}

static void group_commands(bool color, const struct al_group *group, struct al_buf *out)
{
    head(color, "Commands", out);
    for (size_t i = 0; i < al_n_commands; i++) {
        const struct al_command *c = &al_command_table[i];
        size_t n = strlen(group->name);
        if (strncmp(c->name, group->name, n) != 0 || c->name[n] != ' ')
            continue;
        usage_lines(c, out);
        al_buf_addf(out, "      %s\n", c->summary);
    }
    al_buf_addf(out, "\n`alisio %s COMMAND --help` shows a command with examples.\n", group->name);
}

void al_help_group(bool color, const struct al_group *group, struct al_buf *out)
{
    al_buf_addf(out, "alisio %s: %s\n\n", group->name, group->summary);
    group_commands(color, group, out);
}

void al_help_command(bool color, const struct al_command *c, struct al_buf *out)
{
    al_buf_addf(out, "alisio %s: %s\n\n", c->name, c->summary);
    head(color, "Usage", out);
    usage_lines(c, out);
    al_buf_addc(out, '\n');
    if (c->about)
        al_buf_addf(out, "%s\n\n", c->about);
    if (c->flags) {
        head(color, "Flags", out);
        for (const enum al_flag_id *f = c->flags; *f != AL_FLAG_END; f++)
            flag_row(*f, out);
        al_buf_addc(out, '\n');
    }
    head(color, "Examples", out);
    for (const struct al_example *e = c->examples; e->line; e++)
        al_buf_addf(out, "  %s\n      %s\n", e->line, e->says);
    al_buf_addc(out, '\n');
    const struct al_group *group = al_group_find(al_str_of(c->name));
    if (group) {
        group_commands(color, group, out);
        al_buf_addc(out, '\n');
    }
    global_flags(color, out);
}

int al_cmd_help(struct al_app *app, struct al_reply *reply)
{
    const struct al_args *args = &app->args;
    if (args->n_pos == 0) {
        al_help_all(app->color, &reply->text);
        return 0;
    }
    autobuf struct al_buf name = AL_BUF_INIT(1024);
    al_buf_adds(&name, args->pos[0]);
    if (args->n_pos > 1)
        al_buf_addf(&name, " %s", args->pos[1]);
    struct al_str s = al_buf_str(&name);
    const struct al_command *command = al_command_find(s);
    const struct al_group *group = al_group_find(s);
    if (command) {
        al_help_command(app->color, command, &reply->text);
        return 0;
    }
    if (group) {
        al_help_group(app->color, group, &reply->text);
        return 0;
    }
    s.n = s.n > 80 ? 80 : s.n;
    al_fail(&reply->err, AL_INVALID_INPUT, "there is no command %.*s", AL_FMT(s));
    group = al_group_find(al_str_of(args->pos[0]));
    const char *near = group && args->n_pos > 1 ? al_verb_nearest(group, al_str_of(args->pos[1]))
                                                : al_command_nearest(al_str_of(args->pos[0]));
    if (near)
        return al_hint(&reply->err, "did you mean `alisio help %s%s%s`?", group ? group->name : "",
                       group ? " " : "", near);
    return al_hint(&reply->err, "`alisio help` lists the commands");
}
