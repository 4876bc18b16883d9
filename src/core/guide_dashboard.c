/* The guide about dashboards without code: what to ask for, and how a plan is changed. */
#include "core/core_int.h"
#include "core/guide.h"

void guide_write_dashboards(struct al_core *core, struct al_str query, struct al_buf *out)
{
    (void)query;
    al_buf_adds(
        out,
        "# Dashboards\n"
        "dashboard_generate {datasetId, goal?} builds one HTML page of a dataset and publishes it: key "
        "figures, "
        "a trend, rankings, parts of a whole, a table; filters to click, the SQL of each number, CSV. No "
        "code is "
        "written, and no approval is needed. First data_inspect the file: its answer has the datasetId.\n"
        "- goal: what it is for, in English or Spanish, naming columns: \"revenue and margin % by region per "
        "month\". executive (default), operational or analytical in it choose the layout.\n"
        "- filters: [{column, op, value}], op = != < <= > >= in not_in between contains is_null not_null. "
        "by: [column, column] is a cross-tab. noRows: no raw rows in the page. locale: de, es-CO, …; words "
        "are "
        "Spanish for es, else English.\n"
        "- Sums, averages and time axes are chosen by what a column means: rates and prices are averaged, "
        "years "
        "and codes are never summed. Read notes and notShown in the answer: they say what was left out, and "
        "why.\n"
        "- To change something, plan: true gives the plan; edit it and send it back as spec. It is checked "
        "and "
        "repaired, each change with a note. like: an artifact id applies that dashboard's plan to another "
        "dataset; missing lists the columns that are not there.\n"
        "A plan: {version: 1, purpose, locale, title, sheet, filters, chips: [column], widgets: [{id, type, "
        "...}]}. "
        "type kpi, line, area, bar, hbar, pie, donut, heat: metric (a column, or \"*\" for rows), "
        "aggregation sum, "
        "avg, min, max, count, count_distinct or ratio (metric / over), dimension, bucket hour to year (of a "
        "time), "
        "by (a second dimension), order value or key, limit 1..20, other. type scatter: x, y. type table: "
        "columns, "
        "limit. At most 12 widgets.\n"
        "- The numbers are right and the page is whole: do not build it again in Python.");
    if (al_core_tool(core, AL_STR("python_run")))
        al_buf_adds(out, " python_run is for what it does not have: joins, statistical tests, other charts.");
    al_buf_adds(out, "\n");
    guide_add_examples(core, "dashboards", out);
}
