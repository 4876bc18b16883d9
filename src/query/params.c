/* The call's params, bound to the statement's parameters: an array to ?1 …, an object to :name, @name and
 * $name. */
#include "query/query_int.h"

#include <stdio.h>

#define ARENA ((size_t)32 << 20)

static int bind_one(sqlite3_stmt *stmt, int i, const struct al_json *v, const char *called,
                    struct al_err *err)
{
    int64_t n;
    double d;
    int rc;
    switch (v->type) {
    case AL_JSON_NULL:
        rc = sqlite3_bind_null(stmt, i);
        break;
    case AL_JSON_TRUE:
    case AL_JSON_FALSE:
        rc = sqlite3_bind_int(stmt, i, v->type == AL_JSON_TRUE);
        break;
    case AL_JSON_NUMBER:
        if (al_json_int(v, INT64_MIN, INT64_MAX, &n))
            rc = sqlite3_bind_int64(stmt, i, n);
        else if (al_json_double(v, &d))
            rc = sqlite3_bind_double(stmt, i, d);
        else
            return al_fail(err, AL_QUERY_ERROR, "the parameter %s is a number that is too large", called);
        break;
    case AL_JSON_STRING:
        rc = sqlite3_bind_text64(stmt, i, v->str.p, v->str.n, SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
    default: /* for json_each(?1): its text */
        rc = sqlite3_bind_text64(stmt, i, v->raw.p, v->raw.n, SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
    }
    if (rc == SQLITE_TOOBIG)
        return al_fail(err, AL_QUERY_LIMIT, "the parameter %s is longer than 16 MiB", called);
    if (rc == SQLITE_NOMEM)
        return al_fail(err, AL_QUERY_LIMIT, "the parameters do not fit into a query's memory of %d MiB",
                       (int)(AL_QUERY_HEAP >> 20));
    return rc == SQLITE_OK ? 0 : al_fail(err, AL_QUERY_ERROR, "the parameter %s could not be bound", called);
}

static int bind_array(sqlite3_stmt *stmt, const struct al_json *list, struct al_err *err)
{
    int want = sqlite3_bind_parameter_count(stmt), i = 0;
    for (int k = 1; k <= want; k++) {
        const char *name = sqlite3_bind_parameter_name(stmt, k);
        if (name && *name != '?') {
            al_fail(err, AL_QUERY_ERROR, "params is an array, but the statement has the named parameter %s",
                    name);
            return al_hint(err, "give an object: params: {\"%s\": …}", name + 1);
        }
    }
    if ((int)list->n != want) {
        al_fail(err, AL_QUERY_ERROR, "the statement has %d parameter%s, and params has %u value%s", want,
                want == 1 ? "" : "s", list->n, list->n == 1 ? "" : "s");
        return al_hint(err, "each ? of the statement takes one value of the array, in order");
    }
    al_json_each(v, list)
    {
        char called[16];
        snprintf(called, sizeof called, "?%d", ++i);
        if (bind_one(stmt, i, v, called, err) < 0)
            return -1;
    }
    return 0;
}

static int check_names(sqlite3_stmt *stmt, const struct al_json *object, struct al_err *err)
{
    al_json_each(v, object)
    {
        bool used = false;
        for (int k = 1; k <= sqlite3_bind_parameter_count(stmt); k++) {
            const char *name = sqlite3_bind_parameter_name(stmt, k);
            used |= name && (al_str_is(v->key, name + 1) || al_str_is(v->key, name));
        }
        if (!used) {
            al_fail(err, AL_QUERY_ERROR,
                    "params has \"%.*s\", but the statement has no parameter of that name", AL_FMT(v->key));
            return al_hint(err, "write it as :%.*s in the statement, or leave it out", AL_FMT(v->key));
        }
    }
    return 0;
}

static int bind_object(sqlite3_stmt *stmt, const struct al_json *object, struct al_err *err)
{
    for (int k = 1; k <= sqlite3_bind_parameter_count(stmt); k++) {
        const char *name = sqlite3_bind_parameter_name(stmt, k);
        const struct al_json *v = name ? al_json_get(object, name + 1) : NULL;
        if (!v && name)
            v = al_json_get(object, name);
        if (!v) {
            al_fail(err, AL_QUERY_ERROR, "params has no value for %s", name ? name : "?");
            return name ? al_hint(err, "add it: params: {\"%s\": …}", name + 1)
                        : al_hint(err, "name it (:name) in the statement, or give params as an array");
        }
        if (bind_one(stmt, k, v, name, err) < 0)
            return -1;
    }
    return check_names(stmt, object, err);
}

int al_params_bind(sqlite3_stmt *stmt, struct al_str params_json, struct al_err *err)
{
    int want = sqlite3_bind_parameter_count(stmt);
    if (params_json.n == 0) {
        if (want == 0)
            return 0;
        const char *name = sqlite3_bind_parameter_name(stmt, 1);
        al_fail(err, AL_QUERY_ERROR, "the statement has %d parameter%s (%s), and the call has no params",
                want, want == 1 ? "" : "s", name ? name : "?");
        return al_hint(err, "give params: an array for ?, an object for :name");
    }
    autoarena struct al_arena arena = AL_ARENA_INIT(ARENA);
    const struct al_json *v = NULL;
    if (al_json_parse(&arena, params_json, &v, err) < 0)
        return al_wrap(err, "params");
    if (v->type == AL_JSON_ARRAY)
        return bind_array(stmt, v, err);
    if (v->type == AL_JSON_OBJECT)
        return bind_object(stmt, v, err);
    if (v->type == AL_JSON_NULL && want == 0)
        return 0;
    return al_fail(err, AL_QUERY_ERROR, "params is %s %s, where an array or an object is taken", "a",
                   al_json_type_name(v));
}
