/* The guide about files of data: what the two tools do, and what a statement may say. */
#include "core/core_int.h"
#include "core/guide.h"

static long long number(const struct al_core *core, enum al_opt o)
{
    return (long long)al_config_int(al_core_config(core), o);
}

void guide_write_data(struct al_core *core, struct al_str query, struct al_buf *out)
{
    (void)query;
    al_buf_adds(out, "# Data files\n"
                     "data_inspect {path} reads CSV, TSV, JSON, JSON Lines or XLSX (the first four also .gz) "
                     "once into a dataset and "
                     "says what is in it; data_query {datasetId, sql} runs one SELECT over it. Inspect "
                     "first: it has the names of "
                     "tables and columns, the types, the ranges and notes on what was odd in the file. Both "
                     "only read, and scripts may "
                     "call them. Let SQL count, group and join; do not fetch rows to do it in JavaScript.\n\n"
                     "Tables: `data`; of a workbook `s_<sheet>` each. Names of columns are lower case ASCII "
                     "(\"Año de venta\" is "
                     "ano_de_venta; its label keeps the header). A cell is a number where its text is the "
                     "plain print of one; else it is "
                     "its exact text (007, 1.234,56, 12 %, 31/12/2024). Empty is NULL.\n"
                     "`data_values` (`<table>_values`) is the same with the columns converted that have "
                     "parsedAs: use it for sums and "
                     "dates. A cell that does not convert is NULL there. sum and avg over text that is no "
                     "number are QUERY_ERROR, not a "
                     "wrong number; to_number(x) and to_date(x) convert by hand.\n\n"
                     "The SQL is SQLite's: WITH, joins, UNION, window functions, json_each and ->>, printf, "
                     "date('now'), math functions. "
                     "Strings in '…', names in \"…\". Integer division cuts: 1.0 * a / b. Text compares by "
                     "bytes: use lower(x) or "
                     "COLLATE NOCASE. Dates are ISO text: date_trunc('month', d), strftime('%Y', d). Also: "
                     "regexp(pattern, x) and x REGEXP "
                     "pattern, median(x), percentile(x, 90), stddev(x). Only SELECT (and WITH, VALUES, "
                     "EXPLAIN QUERY PLAN): no PRAGMA, "
                     "no ATTACH, no changes.\n"
                     "Values go into params: [5] for ?1, {\"min\": 5} for :min. Several datasets: "
                     "{\"datasets\": {\"a\": \"ds_…\", \"b\": "
                     "\"ds_…\"}}, then a.data and b.data. A result is {columns, rows, rowCount, truncated}; "
                     "rows are arrays.\n\n");
    al_buf_addf(
        out,
        "Now: files up to %lld bytes (analysis.data.maxUploadBytes), %lld rows a sheet "
        "(analysis.data.maxRows), 1,000 "
        "columns; a query %lld ms unless timeoutMs says otherwise (up to 60,000), 200 rows unless maxRows "
        "does (up to "
        "1,000), 256 MiB of memory. QUERY_LIMIT, QUERY_TIMEOUT and INGEST_LIMIT name what was reached.\n",
        number(core, AL_OPT_ANALYSIS_DATA_MAX_UPLOAD_BYTES), number(core, AL_OPT_ANALYSIS_DATA_MAX_ROWS),
        number(core, AL_OPT_ANALYSIS_DATA_QUERY_TIMEOUT_MS));
    guide_add_examples(core, "data", out);
}
