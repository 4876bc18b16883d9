/* What setup would change in a file, for --dry-run: the entries that go and come, and nothing else of the
 * file. */
#include "cli/setup_int.h"

#include "base/text.h"

#include <string.h>
#include <strings.h>

/* Members whose values are nobody's to read, whatever form they have. */
static bool is_secret_key(struct al_str key)
{
    static const char *const whole[] = {"env", "environment", "headers", "http_headers", "env_http_headers"};
    static const char *const parts[] = {"token", "secret", "password", "key", "auth", "credential"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (key.n == strlen(whole[i]) && strncasecmp(key.p, whole[i], key.n) == 0)
            return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t k = 0, n = strlen(parts[i]); k + n <= key.n; k++)
            if (strncasecmp(key.p + k, parts[i], n) == 0)
                return true;
    return false;
}

struct printer {
    const struct al_app *app;
    struct al_buf *out;
    char sign; /* of each line */
};

static void begin_line(const struct printer *p, size_t depth)
{
    enum al_style style = p->sign == '-' ? AL_BAD : p->sign == '+' ? AL_GOOD : AL_PLAIN;
    al_buf_adds(p->out, al_style_on(p->app->color, style));
    al_buf_addf(p->out, "%c %*s", p->sign, (int)(2 * depth), "");
}

static void end_line(const struct printer *p)
{
    enum al_style style = p->sign == '-' ? AL_BAD : p->sign == '+' ? AL_GOOD : AL_PLAIN;
    al_buf_adds(p->out, al_style_off(p->app->color, style));
    al_buf_addc(p->out, '\n');
}

static void print_text(const struct printer *p, struct al_str s)
{
    autobuf struct al_buf json = AL_BUF_INIT(2 * AL_SETUP_MAX_FILE);
    struct al_jw w;
    al_jw_init(&w, &json);
    al_jw_str(&w, s);
    al_text_plain(p->out, al_buf_str(&json), false);
}

static void print_scalar(const struct printer *p, const struct al_json *v, bool secret)
{
    autobuf struct al_buf masked = AL_BUF_INIT(2 * AL_SETUP_MAX_FILE);
    if (secret) {
        al_buf_adds(p->out, "\"" AL_NOT_SHOWN "\"");
    } else if (al_json_is_string(v)) {
        al_mask_secrets(v->str, false, &masked);
        print_text(p, al_buf_str(&masked));
    } else {
        al_text_plain(p->out, v->raw, false);
    }
}

static bool all_scalars(const struct al_json *v)
{
    al_json_each(m, v)
    {
        if (m->type == AL_JSON_ARRAY || m->type == AL_JSON_OBJECT)
            return false;
    }
    return true;
}

/* A value; its line is begun, and not ended. */
static void print_value(const struct printer *p, const struct al_json *v, size_t depth, bool secret)
{
    bool array = v->type == AL_JSON_ARRAY, one_line = !v->child || (array && all_scalars(v));
    if (!array && v->type != AL_JSON_OBJECT) {
        print_scalar(p, v, secret);
        return;
    }
    al_buf_addc(p->out, array ? '[' : '{');
    al_json_each(m, v)
    {
        if (!one_line) {
            end_line(p);
            begin_line(p, depth + 1);
        }
        if (!array) {
            print_text(p, m->key);
            al_buf_adds(p->out, ": ");
        }
        print_value(p, m, depth + 1, secret || (!array && is_secret_key(m->key)));
        if (m->next)
            al_buf_adds(p->out, one_line ? ", " : ",");
    }
    if (!one_line) {
        end_line(p);
        begin_line(p, depth);
    }
    al_buf_addc(p->out, array ? ']' : '}');
}

/* Members of `servers` that `others` does not have, or has otherwise. */
static void print_members(struct printer *p, char sign, size_t depth, const struct al_json *servers,
                          const struct al_json *others)
{
    p->sign = sign;
    al_json_each(m, servers)
    {
        const struct al_json *other = al_json_get_str(others, m->key);
        if (other && al_json_equal(m, other))
            continue;
        begin_line(p, depth);
        print_text(p, m->key);
        al_buf_adds(p->out, ": ");
        print_value(p, m, depth, false);
        end_line(p);
    }
}

/* The object that the steps lead to; NULL: there is none. */
static const struct al_json *servers_of(struct al_arena *a, const struct al_setup_change *c,
                                        struct al_str text, struct al_buf *plain)
{
    const struct al_json *v;
    if (al_str_starts(text, "\xef\xbb\xbf"))
        text = (struct al_str){text.p + 3, text.n - 3};
    if (c->toml) {
        if (al_toml_read(a, text, c->steps[0], &v, NULL, NULL) < 0)
            return NULL;
    } else {
        al_jsonc_plain(text, plain);
        if (al_json_parse(a, al_buf_str(plain), &v, NULL) < 0)
            return NULL;
    }
    for (size_t i = 0; v && i < sizeof c->steps / sizeof *c->steps && c->steps[i]; i++)
        v = al_json_get(v, c->steps[i]);
    return v && v->type == AL_JSON_OBJECT ? v : NULL;
}

void al_setup_say_change(struct al_app *app, const struct al_setup_change *c, struct al_buf *out)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 30);
    autobuf struct al_buf plain_old = AL_BUF_INIT(AL_SETUP_MAX_FILE),
                          plain_new = AL_BUF_INIT(AL_SETUP_MAX_FILE);
    const struct al_json *old = servers_of(&a, c, c->old, &plain_old),
                         *new = servers_of(&a, c, c->new, &plain_new);
    struct printer p = {.app = app, .out = out, .sign = ' '};
    size_t depth = 1;
    al_buf_addc(out, '\n');
    al_say_plain(out, c->path);
    al_buf_adds(out, "\n  {\n");
    for (; depth <= sizeof c->steps / sizeof *c->steps && c->steps[depth - 1]; depth++)
        al_buf_addf(out, "  %*s\"%s\": {\n", (int)(2 * depth), "", c->steps[depth - 1]);
    print_members(&p, '-', depth, old, new);
    print_members(&p, '+', depth, new, old);
    while (depth-- > 0)
        al_buf_addf(out, "  %*s}\n", (int)(2 * depth), "");
}
