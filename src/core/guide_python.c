/* The guide about Python scripts: where one would run now, what it gets, and how what it leaves is published.
 */
#include "base/text.h"
#include "core/core_int.h"
#include "core/guide.h"
#include "pyrun/extras.h"

static long long number(const struct al_core *core, enum al_opt o)
{
    return (long long)al_config_int(al_core_config(core), o);
}

static void write_walls(enum al_py_isolation isolation, struct al_buf *out)
{
    static const char *const words[] = {
        [AL_PY_OS_SANDBOX] = "no network, no files but those of the job",
        [AL_PY_OS_FILTER] = "no network, no files but those of the job and of the system",
        [AL_PY_CONTAINER] = "no network, no files but those of the job and of the image",
        [AL_PY_RESTRICTED_PROCESS] = "files of the job only; the network may be open",
        [AL_PY_NONE] = "not sandboxed: it runs with the person's rights",
    };
    al_buf_adds(out, words[isolation]);
}

/* What is known: forge_guide has asked before. */
static void write_place(struct al_core *core, struct al_buf *out)
{
    struct al_pyrun *p = al_core_pyrun(core);
    struct al_py_probe probes[AL_PY_N];
    enum al_py_backend chosen, need;
    autobuf struct al_buf reason = AL_BUF_INIT(4096);
    struct al_err err = {0};
    for (int b = 0; b < AL_PY_N; b++)
        probes[b] = *al_pyrun_known(p, (enum al_py_backend)b);
    int r = al_py_choose(al_pyrun_wanted(p), al_pyrun_policy(p), probes, &chosen, &need, &reason, &err);
    al_buf_adds(out, "Now: ");
    if (r == 0) {
        const struct al_py_probe *probe = &probes[chosen];
        al_buf_addf(out, "%s, isolation %s (", al_py_backend_name(chosen),
                    al_py_isolation_name(probe->isolation));
        write_walls(probe->isolation, out);
        al_buf_adds(out, ")");
        if (probe->python[0])
            al_buf_addf(out, ", Python %s", probe->python);
        al_buf_adds(out, ".\n");
    } else if (r > 0) {
        al_buf_adds(out, "where a script runs is in its result.\n");
    } else {
        al_buf_addf(out, "none can run: %s. A person should run `alisio analysis status`.\n", err.msg);
    }
}

/* As it was noted when they were installed; a run checks them. */
static void write_extras(struct al_core *core, struct al_buf *out)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(1u << 20);
    autobuf struct al_buf text = AL_BUF_INIT(64u << 10);
    const struct al_json *v;
    struct al_jw w;
    struct al_err ignored;
    al_jw_init(&w, &text);
    al_py_extras_json(al_core_pyrun(core), &w);
    if (al_json_parse(&arena, al_buf_str(&text), &v, &ignored) < 0)
        return;
    size_t n = 0;
    al_json_each(set, v)
    {
        al_json_each(one, set)
        {
            al_buf_adds(out, n++ ? ", " : "Extras that are installed: ");
            al_buf_addf(out, "%.*s (Python %.*s)", AL_FMT(al_utf8_head(set->key, 20)),
                        AL_FMT(al_utf8_head(al_json_get_text(one, "python"), 20)));
        }
    }
    al_buf_adds(out, n ? ".\n" : "No extras are installed: a call that names them asks the person first.\n");
}

void guide_write_python(struct al_core *core, struct al_str query, struct al_buf *out)
{
    (void)query;
    al_buf_adds(
        out, "# python_run\n"
             "Runs one Python script in a folder of its own and publishes the files that it leaves as "
             "artifacts. Use it for "
             "statistics, charts, reports, spreadsheets; to combine tool calls use js_run, to count and "
             "group a data file "
             "data_query.\n"
             "- Inputs: inputs: [{path} | {datasetId} | {artifactId}, as?]; each is copied into input_dir(). "
             "Nothing else "
             "of the workspace is there. A dataset comes as NAME.sqlite.\n"
             "- Outputs: what is in output_dir() when the script ends without an error. Each file is an "
             "artifact; a folder "
             "with index.html is one page; another folder becomes a ZIP. outputs.declare(path, title) names "
             "them.\n"
             "- The current folder is for scratch and is not published. What is printed comes back, its head "
             "and its end.\n"
             "- A failing script publishes nothing, unless publishOnError. Tracebacks have the script's own "
             "lines.\n"
             "- Standard library and alisio_runtime only, unless extras: [\"analysis\"] (pandas, numpy, "
             "matplotlib, openpyxl, "
             "python-docx, reportlab, plotly) or [\"science\"] (also scipy, statsmodels, scikit-learn) are "
             "installed. No pip "
             "in a script.\n"
             "- Pages are shown offline: use alisio_runtime.charts; no CDN, no hand-drawn charts.\n"
             "- rerunOf: an artifact or run id in place of code runs the same again; with inputs, those of "
             "the same `as` "
             "name take the place of the recorded ones.\n\n"
             "from alisio_runtime import charts, datasets, input_dir, output_dir, outputs, progress\n"
             "db = datasets.open(\"sales\")  # of a dataset; read-only sqlite3; tables data and data_values\n"
             "rows = db.execute(\"SELECT region, sum(amount) FROM data_values GROUP BY 1 ORDER BY 2 "
             "DESC\").fetchall()\n"
             "body = charts.card(\"By region\", charts.hbar([r[0] for r in rows], [r[1] for r in rows], "
             "fmt=\"number\"))\n"
             "charts.write(\"report.html\", \"Sales\", body)\n"
             "Charts: bar, hbar, line, area, pie, donut, scatter, kpis, card, grid; fmt number, integer, "
             "percent (of "
             "fractions), compact, currency:EUR.\n\n");
    write_place(core, out);
    write_extras(core, out);
    al_buf_addf(
        out,
        "Limits: %lld ms (timeoutMs may lower it), %lld MiB of memory, %lld published files, %lld bytes "
        "each, "
        "%lld in all.\n",
        number(core, AL_OPT_ANALYSIS_LIMITS_TIMEOUT_MS), number(core, AL_OPT_ANALYSIS_LIMITS_MEMORY_MB),
        number(core, AL_OPT_ANALYSIS_LIMITS_MAX_FILES), number(core, AL_OPT_ANALYSIS_LIMITS_MAX_FILE_BYTES),
        number(core, AL_OPT_ANALYSIS_LIMITS_MAX_OUTPUT_BYTES));
}
