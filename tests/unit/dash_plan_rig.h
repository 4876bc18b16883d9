/* A dataset that is only said to be there: columns with their roles, for tests of goals and plans. */
#ifndef AL_TESTS_DASH_PLAN_RIG_H
#define AL_TESTS_DASH_PLAN_RIG_H

#include "test.h"

#include "dashboard/plan_int.h"

#include "base/buf.h"
#include "base/text.h"

#define RIG_COLUMNS 64

struct rig {
    struct al_dash d;
    struct al_dash_column columns[RIG_COLUMNS];
    struct al_buf json; /* of the last rig_write */
    struct al_err err;
};

void rig_init(struct rig *r, uint64_t rows);
void rig_free(struct rig *r);
/* Each returns the column's number and puts it last in its shortlist. */
int rig_measure(struct rig *r, const char *name, enum al_dash_adds adds);
int rig_dimension(struct rig *r, const char *name, uint64_t distinct);
int rig_natural(struct rig *r, const char *name, uint64_t distinct, enum al_dash_natural natural);
int rig_date(struct rig *r, const char *name, const char *first, const char *last);
int rig_year(struct rig *r, const char *name, int first, int last);
int rig_flag(struct rig *r, const char *name);
/* In no shortlist. */
int rig_other(struct rig *r, const char *name, enum al_dash_role role, uint64_t distinct);

/* The request, as JSON text (which has to outlive the rig), then the goal. Spanish for a locale es. */
void rig_request(struct rig *r, const char *json);
/* Goal and fresh plan, repaired; fails the test when it fails. */
void rig_plan(struct rig *r);
/* Reads a plan from JSON, and repairs it. False: it was not read, or nothing was left (r->err). */
bool rig_read(struct rig *r, const char *json);
/* The plan as JSON, zero-terminated; of the rig, until the next call. */
const char *rig_write(struct rig *r);
/* "kpi sum revenue; area sum revenue date/month; hbar …": a line for each widget. */
const char *rig_show(struct rig *r);
bool rig_has(struct rig *r, const char *part); /* of rig_show */
bool rig_noted(const struct rig *r, const char *part);
const struct al_widget *rig_widget(const struct rig *r, const char *id);

#define assert_has(r, part)                                                        \
    do {                                                                           \
        if (!rig_has((r), (part)))                                                 \
            fail_msg("no \"%s\" in\n%s", (part), rig_show(r));                     \
    } while (0)
#define assert_not(r, part)                                                        \
    do {                                                                           \
        if (rig_has((r), (part)))                                                  \
            fail_msg("\"%s\" is in\n%s", (part), rig_show(r));                     \
    } while (0)
void rig_assert_noted(const struct rig *r, const char *part);
void rig_assert_quiet(const struct rig *r);

#endif
