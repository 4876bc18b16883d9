/* What is read does not depend on where the text is cut, and is valid exactly where the JSON reader of base
 * says so. */
#include "../unit/table_json_help.h"

#include "base/json.h"
#include "base/text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

static void check_same(const struct written *a, const struct written *b, int ra, int rb,
                       const struct al_err *ea, const struct al_err *eb)
{
    MUST(ra == rb);
    if (ra < 0) {
        MUST(ea->code == eb->code && (ea->code == AL_INGEST_INVALID || ea->code == AL_INGEST_LIMIT));
        MUST(ea->msg[0] && ea->hint[0] && al_utf8_valid(al_str_of(ea->msg)));
        return;
    }
    MUST(a->rows == b->rows && a->width == b->width);
    MUST(al_str_eq(al_buf_str(&a->out), al_buf_str(&b->out)));
    MUST(al_utf8_valid(al_buf_str(&a->out)));
}

/* The first byte: 1 for JSON Lines by name, then how the text is cut; a header may be forced. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    bool lines = data[0] & 1;
    size_t piece = 1 + (data[0] >> 3);
    struct al_table_opts opts = {.header = (signed char)((data[0] >> 1 & 3) % 3 - 1)};
    autobuf struct al_buf text = AL_BUF_INIT((size_t)1 << 24);
    al_utf8_clean(&text, (struct al_str){(const char *)data + 1, size - 1});
    if (al_buf_failed(&text))
        return 0;
    static struct written whole, cut;
    struct al_table_found found = {0}, again = {0};
    struct al_err err = {0}, err2 = {0};
    memset(&whole, 0, sizeof whole);
    memset(&cut, 0, sizeof cut);
    int r = read_json(al_buf_str(&text), (size_t)1 << 20, lines, &opts, &whole, &found, &err);
    int r2 = read_json(al_buf_str(&text), piece, lines, &opts, &cut, &again, &err2);
    check_same(&whole, &cut, r, r2, &err, &err2);
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)1 << 26);
    const struct al_json *v = NULL;
    bool valid = al_json_parse(&a, al_buf_str(&text), &v, NULL) == 0;
    if (r == 0 && found.format == AL_TABLE_JSON)
        MUST(valid);
    if (valid && r < 0)
        MUST(err.code == AL_INGEST_LIMIT);
    if (valid && r == 0 && found.format == AL_TABLE_JSON &&
        v->type == AL_JSON_ARRAY) /* no record is lost, but names */
        MUST(whole.rows == v->n || (whole.rows + 1 == v->n && whole.notes[AL_NOTE_HEADER]));
    al_buf_free(&whole.out);
    al_buf_free(&cut.out);
    return 0;
}
