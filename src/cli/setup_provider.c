/* `alisio setup provider`: an entry in config.json, a key in credentials.json or the name of its variable. */
#include "base/mem.h"
#include "base/text.h"
#include "cli/agent_cmd.h"
#include "cli/commands.h"
#include "cli/mcp_common.h"
#include "os/fd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define LINE_BYTES (AL_KEY_MAX + 2)
#define MODELS_SHOWN 60

struct setup {
    struct al_app *app;
    struct al_reply *reply;
    struct al_provider p;
    char *key; /* to be kept; NULL: none */
    bool ask;  /* a person is at a terminal */
    bool dry;
    bool key_from_input; /* a line of standard input is the key */
};

/* --- lines --- */

/* A terminal that does not echo is no terminal to leave behind: whatever ends us there gives it back first.
 */
static struct termios echoing;
static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
#define N_ENDINGS (sizeof endings / sizeof *endings)
static struct sigaction endings_before[N_ENDINGS], stop_before;

static void on_ending(int number)
{
    tcsetattr(STDIN_FILENO, TCSANOW, &echoing);
    signal(number, SIG_DFL);
    raise(number);
}

static bool hide(void)
{
    struct sigaction end = {.sa_handler = on_ending}, ignore = {.sa_handler = SIG_IGN};
    struct termios quiet;
    if (tcgetattr(STDIN_FILENO, &echoing) < 0)
        return false;
    for (size_t i = 0; i < N_ENDINGS; i++)
        sigaction(endings[i], &end, &endings_before[i]);
    sigaction(SIGTSTP, &ignore, &stop_before);
    quiet = echoing;
    quiet.c_lflag &= (tcflag_t) ~(ECHO | ECHOE | ECHOK);
    quiet.c_lflag |= ECHONL;
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
    return true;
}

static void show(void)
{
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &echoing);
    for (size_t i = 0; i < N_ENDINGS; i++)
        sigaction(endings[i], &endings_before[i], NULL);
    sigaction(SIGTSTP, &stop_before, NULL);
}

/* A line that a person types; NULL at the end of input. Malloc'ed; hidden: not echoed. */
static char *read_line(struct setup *s, const char *prompt, bool hidden)
{
    char line[LINE_BYTES];
    size_t n = 0;
    ssize_t r = 0;
    autobuf struct al_buf b = AL_BUF_INIT(8192);
    al_buf_adds(&b, prompt);
    hidden = hidden && hide();
    al_tell(s->app, al_buf_str(&b));
    while (n < sizeof line && !(n && memchr(line, '\n', n))) {
        r = read(STDIN_FILENO, line + n, sizeof line - n);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            break;
        n += (size_t)r;
    }
    if (hidden)
        show();
    if (n == 0)
        return NULL;
    struct al_str text = al_str_trim((struct al_str){line, n});
    char *copy = al_xdup(text.p, text.n);
    explicit_bzero(line, sizeof line);
    return copy;
}

static int no_answer(struct al_err *err)
{
    return al_fail(err, AL_CANCELLED, "nothing was changed");
}

/* --- which provider --- */

static int named(struct setup *s, const char *name, struct al_err *err)
{
    const char *why = al_provider_name_fault(al_str_of(name));
    if (why)
        return al_fail(err, AL_INVALID_INPUT, "the provider's name %s", why);
    const struct al_provider *have = al_providers_find(al_config_providers(s->app->config), al_str_of(name));
    if (have)
        al_provider_copy(&s->p, have);
    else if (!al_provider_preset(al_str_of(name), &s->p))
        s->p = (struct al_provider){
            .name = al_xstrdup(name), .api = AL_API_CHAT, .temperature = -1, .origin = al_xstrdup("setup")};
    return 0;
}

/* A number that is none of the list's, or a name that is nearly one of it: said, and asked once more. */
static bool looks_meant(struct setup *s, const char *typed)
{
    size_t n = al_provider_n_presets();
    int64_t number;
    if (al_parse_int(al_str_of(typed), INT64_MIN, INT64_MAX, &number)) {
        if (number < 1 || number > (int64_t)n)
            al_app_note(s->app, "There is no %s: 1 to %zu, a name or a URL.", typed, n);
        return number >= 1 && number <= (int64_t)n;
    }
    const char *near = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *name = al_provider_preset_at(i);
        if (strcmp(typed, name) == 0)
            return true;
        if (al_str_distance(al_str_of(typed), al_str_of(name)) <= 2)
            near = name;
    }
    if (near && !al_providers_find(al_config_providers(s->app->config), al_str_of(typed))) {
        al_app_note(s->app, "%.64s would be a new one; did you mean %s?", typed, near);
        return false;
    }
    return true;
}

static int ask_name(struct setup *s, struct al_err *err)
{
    autobuf struct al_buf b = AL_BUF_INIT(8192);
    size_t n = al_provider_n_presets();
    al_buf_adds(&b, "Which provider?\n");
    for (size_t i = 0; i < n; i++) {
        struct al_provider p;
        (void)al_provider_preset(al_str_of(al_provider_preset_at(i)), &p);
        al_buf_addf(&b, "  %zu  %-11s %s\n", i + 1, p.name, p.base_url);
        al_provider_fini(&p);
    }
    al_buf_adds(&b, "A number, a name of your own, or the URL of an endpoint: ");
    al_buf_addc(&b, 0);
    autofree char *typed = read_line(s, b.p, false);
    int64_t number;
    if (typed && *typed && !looks_meant(s, typed)) {
        autofree char *once_more = read_line(s, "Which? ", false);
        free(typed);
        typed = once_more;
        once_more = NULL;
    }
    if (!typed || !*typed)
        return no_answer(err);
    if (al_parse_int(al_str_of(typed), 1, (int64_t)n, &number))
        return named(s, al_provider_preset_at((size_t)number - 1), err);
    if (!strstr(typed, "://"))
        return named(s, typed, err);
    const char *why = al_provider_url_fault(al_str_of(typed));
    if (why)
        return al_fail(err, AL_INVALID_INPUT, "that URL %s", why);
    autofree char *name = read_line(s, "A name for it: ", false);
    if (!name || !*name)
        return no_answer(err);
    if (named(s, name, err) < 0)
        return -1;
    al_provider_set_url(&s->p, al_str_of(typed));
    return 0;
}

static int take_flags(struct setup *s, struct al_err *err)
{
    const struct al_args *args = &s->app->args;
    const char *url = args->value[AL_FLAG_BASE_URL], *api = args->value[AL_FLAG_API],
               *model = args->value[AL_FLAG_MODEL], *env = args->value[AL_FLAG_KEY_ENV];
    const char *why = url ? al_provider_url_fault(al_str_of(url)) : NULL;
    if (why)
        return al_fail(err, AL_INVALID_INPUT, "--base-url %s", why);
    if (url)
        al_provider_set_url(&s->p, al_str_of(url));
    if (api && !al_api_find(al_str_of(api), &s->p.api))
        return al_fail(err, AL_INVALID_INPUT, "--api is chat, responses or messages, not %.40s", api);
    if (model) {
        free(s->p.model);
        s->p.model = *model ? al_xstrdup(model) : NULL;
    }
    if (env && !al_provider_env_name(al_str_of(env))) {
        al_fail(err, AL_INVALID_INPUT, "--key-env takes the name of an environment variable, not a key");
        return al_hint(err, "export the key as a variable, and give the variable's name");
    }
    if (env) {
        free(s->p.key_env);
        s->p.key_env = al_xstrdup(env);
        if (s->p.auth == AL_AUTH_NONE)
            s->p.auth = AL_AUTH_DEFAULT;
    }
    return 0;
}

static int ask_url(struct setup *s, struct al_err *err)
{
    autofree char *typed =
        s->ask ? read_line(s, "The URL of its endpoint (such as http://127.0.0.1:8080/v1): ", false) : NULL;
    if (s->ask && (!typed || !*typed))
        return no_answer(err);
    if (!s->ask) {
        al_fail(err, AL_INVALID_INPUT, "%s is known by no URL", s->p.name);
        return al_hint(err, "give --base-url URL");
    }
    const char *why = al_provider_url_fault(al_str_of(typed));
    if (why)
        return al_fail(err, AL_INVALID_INPUT, "that URL %s", why);
    al_provider_set_url(&s->p, al_str_of(typed));
    return 0;
}

/* --- key and model --- */

/* Typed without echo; or the name of its variable. Without a terminal one line of standard input, if there is
 * one. */
static int ask_key(struct setup *s, struct al_err *err)
{
    autobuf struct al_buf prompt = AL_BUF_INIT(4096);
    struct al_key have = {0};
    autofree char *file = al_credentials_file();
    if (al_args_has(&s->app->args, AL_FLAG_KEY_ENV) || s->p.auth == AL_AUTH_NONE)
        return 0;
    if (al_key_find(&s->p, NULL, file, &have, err) < 0)
        return -1;
    bool known = have.value != NULL;
    if (known && s->ask)
        al_app_note(s->app, "a key is there already, from %s%s%s", have.source, have.name ? ": " : "",
                    have.name ? have.name : "");
    al_key_free(&have);
    al_buf_addf(&prompt, "Its key (not shown; %s), or $NAME of a variable: ",
                known ? "empty: as it is" : "empty: none");
    al_buf_addc(&prompt, 0);
    if (!s->ask && !s->key_from_input)
        return 0;
    char *typed = read_line(s, s->ask ? prompt.p : "", s->ask);
    if (typed && typed[0] == '$') {
        const char *name = typed + 1 + (typed[1] == '{');
        struct al_str word = {name, strcspn(name, "}")};
        bool good = al_provider_env_name(word);
        if (good) {
            free(s->p.key_env);
            s->p.key_env = al_xdup(word.p, word.n);
        }
        explicit_bzero(typed, strlen(typed));
        free(typed);
        return good ? 0 : al_fail(err, AL_INVALID_INPUT, "that is no name of a variable");
    }
    s->key = typed && *typed ? typed : NULL;
    if (!s->key)
        free(typed);
    return 0;
}

static void say_models(struct setup *s);

static int ask_model(struct setup *s, struct al_err *err)
{
    autobuf struct al_buf prompt = AL_BUF_INIT(4096);
    if (!s->ask || al_args_has(&s->app->args, AL_FLAG_MODEL))
        return 0;
    if (s->p.model)
        al_buf_addf(&prompt, "The model (? lists them; empty: %.200s): ", s->p.model);
    else
        al_buf_adds(&prompt, "The model, by its id (? lists them; empty: named with each run): ");
    al_buf_addc(&prompt, 0);
    for (;;) {
        autofree char *typed = read_line(s, prompt.p, false);
        if (!typed)
            return no_answer(err);
        if (strcmp(typed, "?") == 0) {
            say_models(s);
            if (s->app->signal)
                return no_answer(err);
            continue;
        }
        if (*typed) {
            free(s->p.model);
            s->p.model = al_xstrdup(typed);
        }
        return 0;
    }
}

/* --- writing --- */

struct put {
    const struct al_provider *p;
    bool default_one;
};

static int edit(void *ud, struct al_str old, struct al_buf *out, struct al_err *err)
{
    const struct put *put = ud;
    return al_providers_edit_put(old, put->p, put->default_one, out, err);
}

/* The first provider is the one that is used. */
static bool becomes_default(struct setup *s)
{
    const char *now = al_config_text(s->app->config, AL_OPT_PROVIDER);
    return !now || strcmp(now, s->p.name) == 0 || s->ask;
}

static void say_entry(struct setup *s, struct al_buf *out)
{
    autobuf struct al_buf entry = AL_BUF_INIT(1 << 20);
    autoarena struct al_arena arena = AL_ARENA_INIT(16u << 20);
    const struct al_json *v;
    struct al_err ignored;
    struct al_jw w;
    al_jw_init(&w, &entry);
    al_jw_obj(&w);
    al_jw_key(&w, s->p.name);
    al_provider_write(&w, &s->p);
    al_jw_end(&w);
    if (al_json_parse(&arena, al_buf_str(&entry), &v, &ignored) == 0) {
        al_say_json(s->app, out, v);
        al_buf_addc(out, '\n');
    }
}

static int write_all(struct setup *s, struct al_err *err)
{
    struct put put = {&s->p, becomes_default(s)};
    autofree char *file = al_credentials_file();
    /* The key first: an entry without its key would be of no use. */
    if (s->key && al_key_store(file, al_str_of(s->p.name), s->key, err) < 0)
        return -1;
    return al_config_user_edit(s->app->user_file, edit, &put, err);
}

/* --- trying it --- */

struct probe {
    bool done;
    struct al_err err;
    size_t n;
    bool listed;
    const char *model;
    struct al_buf *say; /* takes their ids, a line each; may be NULL */
};

static void on_models(void *ud, const struct al_llm_models *models, const struct al_err *err)
{
    struct probe *p = ud;
    p->done = true;
    if (err)
        p->err = *err;
    for (size_t i = 0; !err && i < models->n; i++, p->n++) {
        p->listed |= p->model && al_str_is(models->v[i].id, p->model);
        if (!p->say || i > MODELS_SHOWN)
            continue;
        al_buf_adds(p->say, "  ");
        if (i < MODELS_SHOWN)
            al_text_plain(p->say, al_utf8_head(models->v[i].id, 200), false);
        else
            al_buf_addf(p->say, "and %zu more", models->n - i);
        al_buf_addc(p->say, '\n');
    }
}

static void on_signal(void *ud)
{
    *(bool *)ud = true;
}

/* Asks the endpoint for its models; what it says is in p. */
static int list_models(struct setup *s, struct probe *p, struct al_err *err)
{
    struct al_endpoint e = {0};
    autofree char *file = al_credentials_file();
    al_provider_copy(&e.provider, &s->p);
    e.model = s->p.model ? al_xstrdup(s->p.model) : NULL;
    int r = 0;
    if (s->key)
        e.key = (struct al_key){.value = al_xstrdup(s->key), .source = "what was typed"};
    else
        r = al_key_find(&s->p, s->app->args.value[AL_FLAG_KEY_ENV], file, &e.key, err);
    if (r == 0)
        r = al_app_store(s->app, err);
    if (r == 0)
        r = al_endpoint_open(s->app, &e, err);
    if (r == 0) {
        al_app_catch_signals(s->app, on_signal, &p->done);
        struct al_llm_listing *listing = al_llm_list(e.llm, p->say ? NULL : s->p.model, on_models, p);
        al_loop_run_until(s->app->loop, &p->done, 0);
        s->app->on_signal = NULL;
        if (s->app->signal) {
            al_llm_list_cancel(listing);
            r = al_fail(err, AL_CANCELLED, "cancelled");
        } else if (p->err.code != AL_OK) {
            *err = p->err;
            r = -1;
        }
    }
    al_endpoint_close(&e);
    return r;
}

static int probe(struct setup *s, struct al_err *err)
{
    struct probe p = {.model = s->p.model};
    int r = list_models(s, &p, err);
    if (r == 0)
        al_buf_addf(&s->reply->text, "%s answers, with %zu model%s%s\n", s->p.base_url, p.n,
                    p.n == 1 ? "" : "s",
                    !s->p.model ? ""
                    : p.listed  ? "; the chosen one is among them"
                                : "; the chosen one is not in its list");
    return r;
}

static void say_models(struct setup *s)
{
    autobuf struct al_buf ids = AL_BUF_INIT(64 << 10);
    struct probe p = {.say = &ids};
    struct al_err err;
    if (list_models(s, &p, &err) < 0)
        al_app_note(s->app, "%s\n%s", err.msg, err.hint);
    else if (!p.n)
        al_app_note(s->app, "%s lists no models", s->p.name);
    else
        al_tell(s->app, al_buf_str(&ids));
}

/* --- the command --- */

static void to_json(struct setup *s, bool changed)
{
    struct al_jw w;
    al_jw_init(&w, &s->reply->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "provider", s->p.name);
    al_jw_kbool(&w, "changed", changed);
    al_jw_kbool(&w, "keyStored", changed && s->key);
    al_jw_key(&w, "entry");
    al_provider_write(&w, &s->p);
    al_jw_end(&w);
}

static void say_next(struct setup *s, struct al_buf *out)
{
    struct al_key key = {0};
    struct al_err ignored;
    autofree char *file = al_credentials_file();
    bool has =
        s->p.auth == AL_AUTH_NONE || (al_key_find(&s->p, NULL, file, &key, &ignored) == 0 && key.value);
    al_key_free(&key);
    if (!has && s->p.key_env)
        al_buf_addf(out, "next: export %s=…\n", s->p.key_env);
    if (!s->p.model)
        al_buf_addf(out, "next: `alisio models --provider %s` lists the models\n", s->p.name);
    else
        al_buf_addf(out, "next: alisio run%s%s \"What is in this folder?\"\n",
                    becomes_default(s) ? "" : " --provider ", becomes_default(s) ? "" : s->p.name);
}

static int run(struct setup *s)
{
    struct al_err *err = &s->reply->err;
    struct al_buf *out = &s->reply->text;
    const struct al_args *args = &s->app->args;
    const char *name = args->n_pos ? args->pos[0] : NULL;
    if (args->n_pos > 1 && strcmp(args->pos[1], "-") != 0) {
        al_fail(err, AL_INVALID_INPUT,
                "behind the provider's name stands nothing, or - for a key on standard input");
        return al_hint(err, "a key is never an argument: others can see the arguments of a program");
    }
    s->key_from_input = args->n_pos > 1;
    if (!name && !s->ask) {
        al_fail(err, AL_INVALID_INPUT, "which provider?");
        return al_hint(err, "alisio setup provider NAME --model M; at a terminal it asks");
    }
    if ((name ? named(s, name, err) : ask_name(s, err)) < 0 || take_flags(s, err) < 0)
        return -1;
    if (!s->p.base_url && ask_url(s, err) < 0)
        return -1;
    if (!s->dry && (ask_key(s, err) < 0 || ask_model(s, err) < 0))
        return -1;
    if (al_args_has(&s->app->args, AL_FLAG_PROBE) && probe(s, err) < 0)
        return al_wrap(err, "nothing was changed, since the endpoint could not be used");
    if (!s->dry && write_all(s, err) < 0)
        return -1;
    al_buf_adds(out, s->dry ? "this would be written to " : "this is now in ");
    al_say_plain(out, s->app->user_file);
    al_buf_adds(out, ", under \"providers\":\n");
    say_entry(s, out);
    if (!s->dry && s->key)
        al_buf_adds(out, "its key is in credentials.json beside it, which only you can read\n");
    if (!s->dry)
        say_next(s, out);
    to_json(s, !s->dry);
    return 0;
}

int al_cmd_setup_provider(struct al_app *app, struct al_reply *reply)
{
    struct setup s = {.app = app,
                      .reply = reply,
                      .dry = al_args_has(&app->args, AL_FLAG_DRY_RUN),
                      .ask = al_app_can_ask(app)};
    int r = al_app_config(app, &reply->err);
    if (r == 0)
        r = run(&s);
    if (s.key) {
        explicit_bzero(s.key, strlen(s.key));
        free(s.key);
    }
    al_provider_fini(&s.p);
    return r;
}
