/* A command line: words separated by NUL bytes. Whatever they are, parsing ends with a line or with words
 * about it. */
#include "base/text.h"
#include "cli/args.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_word_of(char *const *argv, int argc, const char *p)
{
    for (int i = 0; i < argc; i++)
        if (p >= argv[i] && p <= argv[i] + strlen(argv[i]))
            return true;
    return false;
}

static void check_line(const struct al_args *args, int argc, char *const *argv)
{
    assert(args->n_pos <= AL_ARGS_MAX_POS && args->pos[args->n_pos] == NULL);
    for (int l = 0; l < AL_LIST_COUNT; l++)
        assert(args->n_list[l] <= AL_ARGS_MAX_LIST && args->list[l][args->n_list[l]] == NULL);
    assert(!args->command || args->n_pos <= args->command->max_args);
    for (size_t i = 0; i < args->n_pos; i++)
        assert(is_word_of(argv, argc, args->pos[i]));
    for (int id = AL_FLAG_END + 1; id < AL_FLAG_COUNT; id++) {
        const char *v = args->value[id];
        if (!v)
            continue;
        assert(args->command == NULL || al_command_has_flag(args->command, (enum al_flag_id)id));
        if (al_flag_table[id].takes == AL_TAKES_NOTHING)
            assert(*v == 0);
        else
            assert(is_word_of(argv, argc, v));
        if (al_flag_table[id].takes == AL_TAKES_INT)
            assert(args->number[id] >= al_flag_table[id].min && args->number[id] <= al_flag_table[id].max);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *argv[MAX_WORDS + 2] = {NULL};
    int argc = 0;
    if (size > 1 << 16)
        return 0;
    /* The program's name, the words, and a zero after the last. */
    char *text = malloc(size + 3);
    if (!text)
        return 0;
    memcpy(text, "a", 2);
    if (size)
        memcpy(text + 2, data, size);
    text[size + 2] = 0;
    argv[argc++] = text;
    for (char *p = text + 2; p <= text + 2 + size && argc <= MAX_WORDS; p += strlen(p) + 1)
        argv[argc++] = p;

    struct al_args args;
    struct al_err err = {0};
    int r = al_args_parse(argc, argv, &args, &err);
    if (r == 0) {
        check_line(&args, argc, argv);
    } else {
        assert(r == -1 && err.code == AL_INVALID_INPUT);
        assert(err.msg[0] && err.hint[0]);
    }
    int64_t age;
    for (int i = 1; i < argc; i++)
        if (al_parse_age(al_str_of(argv[i]), &age))
            assert(age >= 0);
    free(text);
    return 0;
}
