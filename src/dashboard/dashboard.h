/*
 * A dashboard of one dataset, without code: its columns are profiled, a plan is made (or repaired), one scan computes all
 * widgets, and a self-contained HTML page comes out. Runs in a sealed process; opens nothing, knows no frames and no faces.
 * Deterministic: the same dataset and request give the same bytes (no clock, no random numbers).
 */
#ifndef AL_DASHBOARD_DASHBOARD_H
#define AL_DASHBOARD_DASHBOARD_H

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

struct sqlite3;

#define AL_DASHBOARD_MAX_REQUEST ((size_t)1 << 20) /* bytes of the request's JSON */
#define AL_DASHBOARD_MAX_HTML ((size_t)4 << 20)
#define AL_DASHBOARD_MAX_JSON ((size_t)1 << 20)
#define AL_DASHBOARD_GOAL 2000 /* characters of the goal that count */

/* What it is doing, for people: "analysing", "planning", "reading", "writing". done of total rows while reading. */
typedef void al_dashboard_progress(void *ud, const char *stage, uint64_t done, uint64_t total);

struct al_dashboard_out {
    struct al_buf *html; /* the page; stays empty when only a plan was asked for */
    struct al_buf *json; /* {purpose, title, locale, sheet, rows, rawRows, widgets:[{id, type, title, sql}], measures, dimensions,
                            notShown, missing, notes, plan}: texts are arrays of display names or lines; see plan below */
    al_dashboard_progress *progress; /* may be NULL */
    void *ud;
};

/*
 * request: a JSON object; all but source may be absent.
 *   source    text: the file's name, for the foot of the page
 *   goal      text: what the dashboard is for, English or Spanish
 *   title     text, 1 to 120 characters
 *   locale    BCP 47 tag, "en" when absent: numbers and dates; words are Spanish for es*, else English
 *   sheet     name or table
 *   filters   [{column, op, value}]: see the plan
 *   by        [column, column]: a cross-tab
 *   noRows    true: no raw rows and no chips' cells in the page
 *   planOnly  true: profile and plan, no page
 *   spec      a plan, perhaps edited: validated and repaired
 *   like      {id, plan}: the plan of an earlier dashboard, for this dataset; columns are found by name, then by label
 * db: opened and guarded as for a query (query/query.h).
 *
 * The plan (version 1), as it comes out and as spec and like take it:
 *   {version: 1, purpose: executive|operational|analytical, locale, title, sheet, noRows,
 *    filters: [{column, op, value}]    op: = != < <= > >= in not_in between contains is_null not_null;
 *                                      value: text, number, boolean; an array for in, not_in, between
 *    chips: [column]                   up to 4
 *    widgets: [{id, type, role, title, ...}]}
 *      type   kpi line area bar hbar pie donut heat scatter table
 *      role   kpi trend ranking composition crosstab correlation table
 *      kpi and charts:  metric (column, or "*" for rows), aggregation sum avg min max count count_distinct ratio,
 *                       over (ratio: sum(metric) / sum(over)), percent (true: such a ratio is a percentage), latest (true:
 *                       only the last period of the time axis, for what adds up over places and not over time), clock (that
 *                       time column; the first when absent)
 *      charts:  dimension, bucket (hour day week month quarter year; of a time), by (a second dimension: series, or
 *               columns of a heat table), order (value, key), limit 1..20, other (true: what is left as one part)
 *      scatter: x, y       table: columns [..], limit 1..20
 * Fails with INVALID_INPUT (request, locale, filter; names what and what there is), NOT_FOUND (sheet), NO_USABLE_COLUMNS,
 * PLAN_FAILED, QUERY_ERROR, QUERY_LIMIT, QUERY_TIMEOUT.
 */
int al_dashboard_build(struct sqlite3 *db, struct al_str request, struct al_dashboard_out *out,
                       struct al_err *err) AL_MUST_CHECK;

/* Before the process is sealed: loads what formats numbers and dates. Without it, pages have English numbers and ISO dates. */
void al_dashboard_prepare(void);

#endif
