#include "llm_read_rig.h"

#include "base/mem.h"
#include "base/text.h"

#include <dirent.h>
#include <stdio.h>

struct script *scripts;
size_t n_scripts;

static void load_file(const char *path, struct al_buf *out)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    al_buf_init(out, 1 << 20);
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
        al_buf_add(out, part, n);
    fclose(f);
    assert_false(al_buf_failed(out));
}

static void load_script(struct script *s, enum al_api api, const char *dir, const char *file)
{
    const char *dot = strrchr(file, '.');
    char path[512];
    s->api = api;
    s->whole = strcmp(dot, ".body") == 0;
    snprintf(s->name, sizeof s->name, "%s/%.*s", al_api_name(api), (int)(dot - file), file);
    snprintf(path, sizeof path, "%s/%s", dir, file);
    load_file(path, &s->text);
    snprintf(path, sizeof path, "%s/%.*s.json", dir, (int)(dot - file), file);
    load_file(path, &s->expect_text);
    al_arena_init(&s->arena, 1 << 20);
    struct al_err err;
    if (al_json_parse(&s->arena, al_buf_str(&s->expect_text), &s->expect, &err) < 0)
        fail_msg("%s: %s", path, err.msg);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct script *)a)->name, ((const struct script *)b)->name);
}

int load_scripts(void **state)
{
    (void)state;
    scripts = al_xcalloc(1000, sizeof *scripts);
    for (int api = 0; api < AL_N_APIS; api++) {
        char dir[300];
        snprintf(dir, sizeof dir, "%s/tests/llm/scripts/%s", ALISIO_SOURCE_DIR, al_api_name(api));
        DIR *d = opendir(dir);
        assert_non_null(d);
        for (struct dirent *e; (e = readdir(d));) {
            struct al_str name = al_str_of(e->d_name);
            if ((al_str_ends(name, ".sse") || al_str_ends(name, ".body")) && n_scripts < 1000)
                load_script(&scripts[n_scripts++], api, dir, e->d_name);
        }
        closedir(d);
    }
    qsort(scripts, n_scripts, sizeof *scripts, by_name);
    assert_true(n_scripts > 150);
    return 0;
}

int free_scripts(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_scripts; i++) {
        al_buf_free(&scripts[i].text);
        al_buf_free(&scripts[i].expect_text);
        al_arena_free(&scripts[i].arena);
    }
    free(scripts);
    scripts = NULL;
    n_scripts = 0;
    return 0;
}

static void on_text(void *ud, struct al_str text)
{
    struct reading *x = ud;
    assert_true(text.n > 0 && al_utf8_valid(text));
    x->n_told++;
    al_buf_add_str(&x->text, text);
}

static void on_reasoning(void *ud, struct al_str text)
{
    struct reading *x = ud;
    assert_true(text.n > 0 && al_utf8_valid(text));
    x->n_told++;
    al_buf_add_str(&x->reasoning, text);
}

static void on_warning(void *ud, struct al_str text)
{
    struct reading *x = ud;
    assert_true(al_utf8_valid(text));
    x->warnings++;
    snprintf(x->warning, sizeof x->warning, "%.*s", AL_FMT(text));
}

void start_reading(struct reading *x, enum al_api api)
{
    static const struct al_llm_sink sink = {
        .text = on_text, .reasoning = on_reasoning, .warning = on_warning};
    *x = (struct reading){0};
    al_buf_init(&x->text, 256 << 20);
    al_buf_init(&x->reasoning, 256 << 20);
    al_llm_reader_init(&x->r, api, &sink, x);
}

void end_reading(struct reading *x)
{
    al_llm_reader_fini(&x->r);
    al_buf_free(&x->text);
    al_buf_free(&x->reasoning);
}

void read_all(struct reading *x, enum al_api api, struct al_str text, size_t step, size_t first)
{
    start_reading(x, api);
    if (!step) {
        al_llm_reader_feed(&x->r, (struct al_str){text.p, first});
        al_llm_reader_feed(&x->r, (struct al_str){text.p + first, text.n - first});
    }
    for (size_t at = 0; step && at < text.n; at += step)
        al_llm_reader_feed(&x->r, (struct al_str){text.p + at, text.n - at < step ? text.n - at : step});
    al_llm_reader_eof(&x->r);
}

void read_whole(struct reading *x, enum al_api api, struct al_str body)
{
    start_reading(x, api);
    al_llm_reader_whole(&x->r, body);
}

static void tell_part(const struct al_llm_part *p, struct al_buf *out)
{
    static const char *const names[] = {
        [AL_LLM_TEXT] = "text", [AL_LLM_REASONING] = "reasoning", [AL_LLM_CALL] = "call"};
    al_buf_addf(out, "%s %.*s %.*s %zu:", names[p->kind], AL_FMT(p->name), AL_FMT(p->provider_id), p->text.n);
    al_buf_add_str(out, p->text);
    al_buf_addf(out, " %.*s\n", AL_FMT(p->raw));
    if (p->kind == AL_LLM_CALL)
        assert_true(al_id_valid(p->id, "call_"));
}

void tell_message(const struct reading *x, struct al_buf *out)
{
    if (x->r.state != AL_LLM_ENDED)
        return;
    autoarena struct al_arena arena = AL_ARENA_INIT(512u << 20);
    struct al_llm_message m;
    struct al_err err;
    assert_int_equal(al_llm_reader_message(&x->r, &arena, &m, &err), 0);
    assert_int_equal(m.role, AL_LLM_ASSISTANT);
    assert_int_equal(m.from.api, x->r.api);
    for (size_t i = 0; i < m.n_parts; i++)
        tell_part(&m.parts[i], out);
    al_buf_addf(out, "%s %s\n", al_llm_end_name(x->r.end), x->r.end_word);
}

void tell_reading(const struct reading *x, struct al_buf *out)
{
    const struct al_llm_reader *r = &x->r;
    assert_true(r->state == AL_LLM_ENDED || r->state == AL_LLM_FAILED);
    if (r->state == AL_LLM_FAILED) {
        al_buf_addf(out, "%s %d %s", al_llm_fault_name(r->fault.kind), r->fault.retry, r->fault.message);
        return;
    }
    tell_message(x, out);
    const struct al_llm_usage *u = &r->usage;
    al_buf_addf(out, "%d %lld %lld %lld %lld %lld", u->known, (long long)u->input, (long long)u->cached_input,
                (long long)u->cache_write, (long long)u->output, (long long)u->reasoning);
}

void tell_text(struct al_str text, enum al_api api, size_t step, size_t first, struct al_buf *out)
{
    struct reading x;
    read_all(&x, api, text, step, first);
    tell_reading(&x, out);
    al_buf_addf(out, "\n%zu %zu\n", x.text.n, x.reasoning.n);
    al_buf_add_str(out, al_buf_str(&x.text));
    al_buf_add_str(out, al_buf_str(&x.reasoning));
    end_reading(&x);
}
