/* What a person types to run a script by hand. */
#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "pyrun/backend.h"

#include <string.h>

#define ARENA_MAX (4u << 20)

static void add_line(struct al_buf *out, const char *folder, char *const *env, const char *program,
                     char *const *args)
{
    al_buf_adds(out, "cd ");
    al_text_shell(out, al_str_of(folder));
    al_buf_adds(out, "/work && env -i");
    for (; *env; env++) {
        al_buf_addc(out, ' ');
        al_text_shell(out, al_str_of(*env));
    }
    al_buf_addc(out, ' ');
    al_text_shell(out, al_str_of(program));
    for (; *args; args++) {
        al_buf_addc(out, ' ');
        al_text_shell(out, al_str_of(*args));
    }
    al_buf_addc(out, '\n');
}

/* The walls are made of descriptors and of processes of ours, which no command line has: it is the script
 * that a person wants to try. */
static int with_python(const struct al_py_start *start, struct al_arena *a, struct al_buf *out,
                       struct al_err *err)
{
    static const char *const none[] = {NULL};
    const struct al_py_places *places = al_py_host_places(start, a);
    const char *program = al_py_executable(start, a);
    const char *script = places ? al_arena_printf(a, "%s/main.py", places->script) : NULL;
    char **env = script ? al_py_env(start, places, a) : NULL;
    char **args = env ? al_py_argv(none, script, a) : NULL;
    if (!program || !args)
        return al_fail(err, AL_INTERNAL, "the command of the run is too long");
    add_line(out, start->spec->job->path, env, program, args);
    return 0;
}

static int of_back_end(const struct al_py_backend_ops *ops, const struct al_py_start *start,
                       struct al_arena *a, struct al_buf *out, struct al_err *err)
{
    struct al_py_command c = {.cwd_fd = -1, .fds = {-1, -1, -1, -1}};
    int r = ops->command(start, a, &c, err);
    if (r == 0)
        add_line(out, start->spec->job->path, c.envp, c.program ? c.program : "alisio", c.argv + 1);
    for (size_t i = 0; i < sizeof(c.fds) / sizeof(c.fds[0]); i++)
        al_close(&c.fds[i]);
    al_close(&c.cwd_fd);
    return r;
}

int al_py_run_command(struct al_pyrun *p, const struct al_py_run_spec *spec, struct al_buf *out,
                      struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(ARENA_MAX);
    const struct al_py_backend_ops *ops = al_py_backend_ops(spec->backend);
    struct al_py_interpreter python = {.path = NULL};
    struct al_py_start start = {.pyrun = p, .spec = spec, .report_fd = -1};
    if (!ops)
        return al_fail(err, AL_INTERNAL, "a run without a back end");
    if (!ops->needs_python)
        return of_back_end(ops, &start, &a, out, err);
    if (al_py_interpreter_find(p, &python, err) < 0)
        return -1;
    start.python = &python;
    int r = with_python(&start, &a, out, err);
    al_py_interpreter_fini(&python);
    if (r == 0 && al_buf_failed(out))
        return al_fail(err, AL_INTERNAL, "the command of the run is too long");
    return r;
}
