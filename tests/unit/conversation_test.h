/* A conversation for the tests of its journal. */
#ifndef AL_TESTS_CONVERSATION_TEST_H
#define AL_TESTS_CONVERSATION_TEST_H

#include "store_test.h"

#include "base/text.h"

#include "store/conversation.h"
#include "store/store_int.h"

#define USER "{\"role\":\"user\",\"by\":\"person\",\"parts\":[{\"text\":\"hello\"}]}"
#define ASSISTANT "{\"role\":\"assistant\",\"parts\":[]}"

struct talk {
    struct al_store *s;
    char session[AL_ID_MAX], turn[AL_ID_MAX];
    int64_t prompt;
};

static inline struct al_turn turn_of(const char *session)
{
    struct al_turn t = {.provider = (char *)"fake",
                        .base_url = (char *)"http://127.0.0.1:1/v1",
                        .model = (char *)"m",
                        .api = (char *)"chat",
                        .status = (char *)"running"};
    al_id_new(t.id, "run_");
    snprintf(t.session, sizeof t.session, "%s", session);
    return t;
}

static inline void new_session(struct al_store *s, const char *workspace, char out[AL_ID_MAX])
{
    struct al_session v = {0};
    struct al_err err = {0};
    OK(al_store_session_agent(s, workspace, "a title", &v, &err));
    assert_string_equal(v.kind, "agent");
    assert_string_equal(v.title, "a title");
    memcpy(out, v.id, AL_ID_MAX);
    al_session_fini(&v);
}

static inline void begin_turn(struct talk *t, const char *prompt)
{
    struct al_err err = {0};
    struct al_turn row = turn_of(t->session);
    memcpy(t->turn, row.id, sizeof t->turn);
    OK(al_turn_begin(t->s, &row, al_str_of(prompt), &t->prompt, &err));
}

static inline struct talk new_talk(const struct fix *f)
{
    struct talk t = {.s = open_store(f)};
    new_session(t.s, "/w", t.session);
    begin_turn(&t, USER);
    return t;
}

static inline void end_turn(struct talk *t, const char *status)
{
    struct al_err err = {0};
    struct al_turn row = {.status = (char *)status, .usage = (char *)"{\"input\":3}", .n_requests = 1, .n_calls = 2};
    memcpy(row.id, t->turn, sizeof row.id);
    OK(al_turn_end(t->s, &row, &err));
}

/* Borrowed texts: never al_model_call_fini. */
static inline struct al_model_call call_of(const char *name, const char *arguments)
{
    struct al_model_call c = {.name = (char *)name, .arguments = (char *)arguments};
    al_id_new(c.id, "call_");
    return c;
}

static inline int64_t assistant(struct talk *t, struct al_model_call *calls, size_t n)
{
    struct al_err err = {0};
    int64_t seq = 0;
    OK(al_turn_assistant(t->s, t->session, t->turn, AL_STR(ASSISTANT), calls, n, &seq, &err));
    assert_true(seq > t->prompt);
    return seq;
}

static inline int64_t number_of(struct al_store *s, const char *literal)
{
    struct al_stmt *q;
    struct al_err err = {0};
    OK(al_db_prepare(s->db, literal, &q, &err));
    assert_int_equal(al_step(q, &err), 1);
    int64_t v = al_col_int(q, 0);
    al_stmt_reset(q);
    return v;
}

struct calls {
    struct al_model_call v[16];
    size_t n;
};

static bool take_call_row(void *ud, const struct al_model_call *c)
{
    struct calls *l = ud;
    assert_true(l->n < 16);
    struct al_model_call *to = &l->v[l->n++];
    *to = *c;
    char **texts[] = {&to->name, &to->arguments, &to->effect, &to->status, &to->result, &to->whole, &to->output, &to->execution};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = *texts[i] ? al_xstrdup(*texts[i]) : NULL;
    return true;
}

static inline void calls_of(struct al_store *s, const char *session, struct calls *ret)
{
    struct al_err err = {0};
    *ret = (struct calls){.n = 0};
    OK(al_model_call_each(s, session, take_call_row, ret, &err));
}

static inline void calls_fini(struct calls *l)
{
    for (size_t i = 0; i < l->n; i++)
        al_model_call_fini(&l->v[i]);
    l->n = 0;
}

#endif
