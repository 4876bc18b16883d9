/* What a script is started with. */
#include "pyrun/backend.h"

#include "base/mem.h"
#include "os/path.h"

#include <string.h>

#define ENV_MAX 32

struct list {
    struct al_arena *arena;
    char **words;
    size_t n, max;
    bool failed;
};

static void add(struct list *l, char *word)
{
    if (!word || l->n + 1 >= l->max)
        l->failed = true;
    else
        l->words[l->n++] = word;
}

static void put(struct list *l, const char *name, const char *value)
{
    if (value)
        add(l, al_arena_printf(l->arena, "%s=%s", name, value));
}

/* Nothing of ours passes but what is named here: our environment may hold keys. */
char **al_py_env(const struct al_py_start *start, const struct al_py_places *places, struct al_arena *a)
{
    static const char *const home[] = {"HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "ALISIO_WORK_DIR"};
    static const char *const yes[] = {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONNOUSERSITE"};
    struct list l = {.arena = a, .words = al_arena_alloc(a, ENV_MAX * sizeof(char *)), .max = ENV_MAX};
    if (!l.words)
        return NULL;
    const char *walls = "/usr/local/bin:/usr/bin:/bin", *own = getenv("PATH");
    autofree char *open_path = start->spec->backend == AL_PY_MANAGED && own
                                   ? al_path_for_child(own, al_pyrun_avoid(start->pyrun))
                                   : NULL;
    put(&l, "PATH", open_path ? open_path : walls);
    put(&l, "LANG", getenv("LANG"));
    put(&l, "LC_ALL", getenv("LC_ALL"));
    for (size_t i = 0; i < sizeof(home) / sizeof(home[0]); i++)
        put(&l, home[i], places->work);
    put(&l, "ALISIO_INPUT_DIR", places->input);
    put(&l, "ALISIO_OUTPUT_DIR", places->output);
    put(&l, "ALISIO_SCRATCH_DIR", start->spec->scratch ? places->scratch : NULL);
    put(&l, "ALISIO_EXECUTION_ID", start->spec->job->id);
    add(&l, al_arena_printf(a, "ALISIO_PROGRESS_FILE=%s/.alisio-progress.json", places->work));
    put(&l, "MPLBACKEND", "Agg");
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
        put(&l, yes[i], "1");
    put(&l, "PYTHONIOENCODING", "utf-8");
    return l.failed ? NULL : l.words;
}

char **al_py_argv(const char *const *head, const char *main_py, struct al_arena *a)
{
    static const char *const own[] = {"-E", "-s", "-B", "-u", "-X", "utf8"};
    size_t n = 0, n_own = sizeof(own) / sizeof(own[0]);
    while (head && head[n])
        n++;
    struct list l = {.arena = a, .max = n + n_own + 2};
    l.words = al_arena_alloc(a, l.max * sizeof(char *));
    if (!l.words)
        return NULL;
    for (size_t i = 0; i < n; i++)
        add(&l, al_arena_dup(a, al_str_of(head[i])));
    for (size_t i = 0; i < n_own; i++)
        add(&l, al_arena_dup(a, al_str_of(own[i])));
    add(&l, al_arena_dup(a, al_str_of(main_py)));
    return l.failed ? NULL : l.words;
}
