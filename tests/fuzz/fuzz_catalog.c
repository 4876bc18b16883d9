/* A list of tools as a server sends it, of any bytes: reading must end, and what is kept must be fit to be
 * kept. */
#include "base/json.h"
#include "base/text.h"
#include "store/catalog_int.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void check_object(const char *json, size_t max)
{
    struct al_arena a = AL_ARENA_INIT(16u << 20);
    const struct al_json *v = NULL;
    must(strlen(json) <= max && !strchr(json, '\n'));
    must(al_json_parse(&a, al_str_of(json), &v, NULL) == 0 && v->type == AL_JSON_OBJECT);
    al_arena_free(&a);
}

static void check_name(const char *name)
{
    size_t n = strlen(name);
    must(n < AL_CATALOG_NAME_MAX && strncmp(name, "mcp_", 4) == 0);
    must(strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == n);
}

static void check_tool(const struct al_catalog_tool *t)
{
    check_name(t->name);
    must(*t->tool && strlen(t->tool) <= AL_CATALOG_MAX_TOOL_NAME);
    must(!t->title || al_utf8_count(al_str_of(t->title)) <= AL_CATALOG_MAX_TITLE);
    must(!t->description || al_utf8_count(al_str_of(t->description)) <= AL_CATALOG_MAX_DESCRIPTION);
    check_object(t->input_schema, AL_CATALOG_MAX_SCHEMA);
    if (t->output_schema)
        check_object(t->output_schema, AL_CATALOG_MAX_SCHEMA);
    if (t->annotations)
        check_object(t->annotations, AL_CATALOG_MAX_ANNOTATIONS);
    struct al_buf definition = AL_BUF_INIT(1u << 20);
    al_catalog_definition(t, &definition);
    al_buf_addc(&definition, 0);
    must(!al_buf_failed(&definition));
    check_object(definition.p, 1u << 20);
    al_buf_free(&definition);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct al_str list = {(const char *)data, size}, one;
    struct al_buf words = AL_BUF_INIT(1u << 22);
    al_catalog_words(&words, list);
    al_buf_clear(&words);
    al_catalog_match(&words, list);
    must(!al_buf_failed(&words) && words.n < 1024);
    if (al_catalog_open(&list)) {
        while (al_catalog_next(&list, &one)) {
            struct al_arena a = AL_ARENA_INIT(4u << 20);
            struct al_catalog_tool t;
            al_buf_clear(&words);
            if (al_catalog_read("a_server", one, &a, &t, &words))
                check_tool(&t);
            al_arena_free(&a);
        }
    }
    al_buf_free(&words);
    return 0;
}
