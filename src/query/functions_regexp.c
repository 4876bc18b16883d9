/* X REGEXP Y and regexp(pattern, text): PCRE2 with bounded time and memory. */
#include "query/query_int.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define MAX_PATTERN 4096
#define MAX_STEPS 1000000 /* of PCRE2's matcher, for one text: some ten milliseconds */
#define MAX_DEPTH 10000
#define MAX_HEAP 16384 /* KiB */

struct regexp {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *limits;
};

static void regexp_free(void *p)
{
    struct regexp *r = p;
    pcre2_match_data_free(r->data);
    pcre2_match_context_free(r->limits);
    pcre2_code_free(r->code);
    sqlite3_free(r);
}

static void fail(sqlite3_context *ctx, const char *what, int code)
{
    PCRE2_UCHAR why[160] = "";
    (void)pcre2_get_error_message(code, why, sizeof why);
    char *message = sqlite3_mprintf("%s: %s", what, (const char *)why);
    if (message)
        sqlite3_result_error(ctx, message, -1);
    else
        sqlite3_result_error_nomem(ctx);
    sqlite3_free(message);
}

static struct regexp *compile(sqlite3_context *ctx, struct al_str pattern)
{
    int error;
    PCRE2_SIZE at;
    char what[80];
    pcre2_compile_context *limits = pcre2_compile_context_create(NULL);
    if (!limits)
        return NULL;
    pcre2_set_max_pattern_length(limits, MAX_PATTERN);
    pcre2_set_parens_nest_limit(limits, 100);
    pcre2_code *code = pcre2_compile(
        (PCRE2_SPTR)pattern.p, pattern.n,
        PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C, &error, &at, limits);
    pcre2_compile_context_free(limits);
    if (!code) {
        sqlite3_snprintf(sizeof what, what, "regexp: the pattern is wrong at byte %lld", (long long)at + 1);
        fail(ctx, what, error);
        return NULL;
    }
    struct regexp *r = sqlite3_malloc64(sizeof *r);
    if (!r) {
        pcre2_code_free(code);
        sqlite3_result_error_nomem(ctx);
        return NULL;
    }
    *r = (struct regexp){code, pcre2_match_data_create(1, NULL), pcre2_match_context_create(NULL)};
    if (!r->data || !r->limits) {
        regexp_free(r);
        sqlite3_result_error_nomem(ctx);
        return NULL;
    }
    pcre2_set_match_limit(r->limits, MAX_STEPS);
    pcre2_set_depth_limit(r->limits, MAX_DEPTH);
    pcre2_set_heap_limit(r->limits, MAX_HEAP);
    return r;
}

static struct al_str text_of(sqlite3_value *v)
{
    const char *z = (const char *)sqlite3_value_text(v);
    return (struct al_str){z ? z : "", z ? (size_t)sqlite3_value_bytes(v) : 0};
}

static void regexp_call(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc;
    if (sqlite3_value_type(argv[0]) == SQLITE_NULL || sqlite3_value_type(argv[1]) == SQLITE_NULL)
        return;
    struct regexp *r = sqlite3_get_auxdata(ctx, 0);
    bool fresh = !r;
    if (fresh && !(r = compile(ctx, text_of(argv[0]))))
        return;
    struct al_str text = text_of(argv[1]);
    int n = pcre2_match(r->code, (PCRE2_SPTR)text.p, text.n, 0, PCRE2_NO_JIT, r->data, r->limits);
    if (n >= 0 || n == PCRE2_ERROR_NOMATCH)
        sqlite3_result_int(ctx, n >= 0);
    else
        fail(ctx, "regexp: the pattern takes too long on a text", n);
    /* Kept for the statement's next row; may be freed at once, so nothing touches it after this. */
    if (fresh)
        sqlite3_set_auxdata(ctx, 0, r, regexp_free);
}

int al_functions_regexp(sqlite3 *db)
{
    return sqlite3_create_function_v2(db, "regexp", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                      NULL, regexp_call, NULL, NULL, NULL);
}
