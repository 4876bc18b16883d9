/* What a server prints beside its messages: kept for doctor, where a person reads it, and for nobody else.
 * What it was given in confidence stands there by its name. */
#include "base/mem.h"
#include "base/text.h"
#include "config/providers.h"
#include "config/servers.h"
#include "upstream/upstream_int.h"

#define MIN_SECRET 6 /* bytes; what is shorter is found in many words */
#define MAX_SECRETS 256
#define MAX_EXPANDED (64u << 10)

struct secrets {
    struct {
        char *name, *value;
        size_t n;
    } v[MAX_SECRETS];
    size_t n;
};

static void add_secret(struct secrets *x, struct al_str name, struct al_str value)
{
    value = al_str_trim(value);
    if (value.n < MIN_SECRET || x->n == MAX_SECRETS)
        return;
    x->v[x->n].name = al_xdup(name.p, name.n);
    x->v[x->n].value = al_xdup(value.p, value.n);
    x->v[x->n++].n = value.n;
}

static void add_variables(struct secrets *x, const char *text)
{
    autobuf struct al_buf names = AL_BUF_INIT(4096);
    al_server_variables(text, &names);
    struct al_str rest = al_buf_str(&names);
    while (rest.n > 0) {
        ptrdiff_t comma = al_str_find(rest, AL_STR(", "));
        struct al_str name = {rest.p, comma < 0 ? rest.n : (size_t)comma};
        autofree char *z = al_xdup(name.p, name.n);
        const char *value = al_key_variable(z);
        if (value)
            add_secret(x, name, al_str_of(value));
        size_t step = comma < 0 ? rest.n : name.n + 2;
        rest = (struct al_str){rest.p + step, rest.n - step};
    }
}

/* "NAME=value" or "Name: value"; of a header with several words (Bearer …) the last one alone, too. */
static void add_pair(struct secrets *x, const char *line, char separator)
{
    autobuf struct al_buf out = AL_BUF_INIT(MAX_EXPANDED);
    struct al_err unused;
    const char *end = strchr(line, separator);
    if (!end || al_server_expand(end + 1, &out, &unused) < 0 || al_buf_failed(&out))
        return;
    struct al_str name = {line, (size_t)(end - line)}, value = al_str_trim(al_buf_str(&out));
    add_secret(x, name, value);
    size_t from = value.n;
    while (from > 0 && value.p[from - 1] != ' ')
        from--;
    if (separator == ':' && from > 0)
        add_secret(x, name, (struct al_str){value.p + from, value.n - from});
}

static void collect(const struct al_server *config, struct secrets *x)
{
    for (char **p = config->env; p && *p; p++)
        add_pair(x, *p, '=');
    for (char **p = config->headers; p && *p; p++)
        add_pair(x, *p, ':');
    for (char **p = config->args; p && *p; p++)
        add_variables(x, *p);
    if (config->url)
        add_variables(x, config->url);
}

static void without_secrets(const struct al_server *config, struct al_str text, struct al_buf *out)
{
    struct secrets *x = al_xcalloc(1, sizeof(*x));
    collect(config, x);
    for (size_t i = 0; i < text.n;) {
        size_t best = MAX_SECRETS;
        for (size_t k = 0; k < x->n; k++)
            if (x->v[k].n <= text.n - i && memcmp(text.p + i, x->v[k].value, x->v[k].n) == 0 &&
                (best == MAX_SECRETS || x->v[k].n > x->v[best].n))
                best = k;
        if (best == MAX_SECRETS) {
            al_buf_addc(out, text.p[i++]);
            continue;
        }
        al_buf_addf(out, "${%s}", x->v[best].name);
        i += x->v[best].n;
    }
    for (size_t k = 0; k < x->n; k++) {
        free(x->v[k].name);
        free(x->v[k].value);
    }
    free(x);
}

void al_upstream_log_add(struct al_upstream *s, struct al_str bytes)
{
    size_t max = AL_UPSTREAM_MAX_LOG;
    if (bytes.n > max)
        bytes = (struct al_str){bytes.p + bytes.n - max, max};
    if (s->log.n + bytes.n > max)
        al_buf_drop(&s->log, s->log.n + bytes.n - max);
    al_buf_add_str(&s->log, bytes);
}

struct al_str al_upstream_log(const struct al_upstream *s)
{
    al_buf_clear(s->log_shown);
    without_secrets(s->config, al_buf_str(&s->log), s->log_shown);
    return al_buf_str(s->log_shown);
}

void al_upstream_noise_add(struct al_upstream *s, struct al_str line)
{
    autobuf struct al_buf plain = AL_BUF_INIT(64u << 10), shown = AL_BUF_INIT(8 * AL_UPSTREAM_NOISE_CUT);
    if (s->n_noise++ >= AL_UPSTREAM_NOISE_LINES)
        return;
    size_t i = 0;
    while (i < AL_UPSTREAM_NOISE_LINES - 1 && s->noise[i])
        i++;
    without_secrets(s->config, al_utf8_cut(line, 4 * AL_UPSTREAM_NOISE_CUT), &plain);
    al_text_visible(&shown, al_utf8_cut(al_buf_str(&plain), AL_UPSTREAM_NOISE_CUT), false);
    free(s->noise[i]);
    s->noise[i] = al_buf_take(&shown);
}
