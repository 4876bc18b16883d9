#include "cli/commands.h"
#include "cli/args.h"

#define FLAGS(...)               \
    (const enum al_flag_id[])    \
    {                            \
        __VA_ARGS__, AL_FLAG_END \
    }
#define EXAMPLES(...)           \
    (const struct al_example[]) \
    {                           \
        __VA_ARGS__,            \
        {                       \
            0                   \
        }                       \
    }

const struct al_group al_group_table[] = {
    {"tool", "the tools that scripts and clients call"},
    {"data", "tables in files: inspect them, query them with SQL"},
    {"artifacts", "what scripts published: list, look, copy, run again"},
    {"analysis", "where Python scripts run, and what they need"},
    {"runs", "the journal of runs"},
    {"sessions", "sessions of the workspace"},
    {"mcp", "be an MCP server; the MCP servers behind it"},
    {"forge", "the engines that run scripts"},
    {"permissions", "what was allowed, and what was decided"},
    {"trust", "folders whose .alisio/config.json is read"},
    {"config", "options: values, where they come from, changes"},
    {"scratch", "the session's private folder for scripts and intermediate files"},
};
const size_t al_n_groups = sizeof al_group_table / sizeof *al_group_table;

const struct al_command al_command_table[] = {
    {.name = "js",
     .usage = "[FILE | -e CODE | -] [--input JSON] [--title T] [--timeout MS] [--mcp-config FILE]",
     .summary = "run a script in the sealed JavaScript VM",
     .about =
         "The script is the body of an async function: top-level await and return work, and an expression "
         "alone\n"
         "is its own result. It sees `tools`, `input`, `state`, print() and progress(), and nothing of the\n"
         "machine. Tools that only read may be called at once; others need their --allow flag. The value "
         "and\n"
         "the printed text go to standard output.",
     .flags = FLAGS(AL_FLAG_EVAL, AL_FLAG_INPUT, AL_FLAG_TITLE, AL_FLAG_TIMEOUT, AL_FLAG_MCP_CONFIG),
     .examples = EXAMPLES({"alisio js -e '1 + 1'", "a value"},
                          {"alisio js -e 'return input.map(x => x * 2)' --input '[1,2,3]'", "with input"},
                          {"alisio js -e 'return (await tools.list_files({})).files.length'", "with a tool"},
                          {"echo 'print(\"hello\")' | alisio js -", "from standard input"}),
     .max_args = 1,
     .arg = AL_ARG_FILE,
     .run = al_cmd_js},

    {.name = "py",
     .usage =
         "[FILE | -e CODE | -] [--in [NAME=]FILE|ds_ID|art_ID]... [--out DIR] [--title T] [--timeout MS] "
         "[--extras E] [--publish-on-error]",
     .summary = "run a Python script within walls, and publish what it leaves",
     .about =
         "The script finds its inputs in $ALISIO_INPUT_DIR and leaves files in $ALISIO_OUTPUT_DIR, "
         "which are\n"
         "published as artifacts when it ends without an error. It runs in the first of bubblewrap, "
         "Landlock, a\n"
         "container, WebAssembly that is ready, else with your own Python and your rights; the last "
         "line says which.\n"
         "`alisio analysis status` shows what is ready here. What the script prints is shown while it runs.",
     .flags = FLAGS(AL_FLAG_EVAL, AL_FLAG_IN, AL_FLAG_OUT, AL_FLAG_TITLE, AL_FLAG_TIMEOUT, AL_FLAG_EXTRAS,
                    AL_FLAG_PUBLISH_ON_ERROR),
     .examples = EXAMPLES(
         {"alisio py -e 'print(1 + 1)'", "a line"},
         {"alisio py report.py --in sales.csv --in last=sales-2025.csv", "with files"},
         {"alisio py report.py --in sales.csv --out reports", "and the results in a folder of yours"},
         {"echo 'print(\"hello\")' | alisio py -", "from standard input"}),
     .max_args = 1,
     .arg = AL_ARG_FILE,
     .run = al_cmd_py},

    {.name = "artifacts list",
     .usage = "[--kind K] [--limit N]",
     .summary = "list the workspace's artifacts",
     .flags = FLAGS(AL_FLAG_KIND, AL_FLAG_LIMIT),
     .examples = EXAMPLES({"alisio artifacts list", "newest first"},
                          {"alisio artifacts list --kind dashboard", "of one kind"}),
     .run = al_cmd_artifacts_list},
    {.name = "artifacts show",
     .usage = "ID|last",
     .summary = "show an artifact: its files, where they are, how it was made",
     .examples = EXAMPLES({"alisio artifacts show last", "the newest"}),
     .min_args = 1,
     .max_args = 1,
     .run = al_cmd_artifacts_show},
    {.name = "artifacts export",
     .usage = "ID|last DIR [--overwrite]",
     .summary = "copy an artifact's files into a folder",
     .flags = FLAGS(AL_FLAG_OVERWRITE),
     .examples = EXAMPLES({"alisio artifacts export last copies", "the newest, into that folder"}),
     .min_args = 2,
     .max_args = 2,
     .arg = AL_ARG_DIR,
     .run = al_cmd_artifacts_export},
    {.name = "artifacts rerun",
     .usage = "ID|EXEC|last [--in NAME=FILE]... [--out DIR]",
     .summary = "run the script of an artifact again, also on another file",
     .about = "Of an artifact, or of a run. The script and its inputs are those of then, checked by their "
              "hashes. --in gives another file "
              "in the\n"
              "place of the input of that name; without NAME it takes the place of the one that has the "
              "file's name.",
     .flags = FLAGS(AL_FLAG_IN, AL_FLAG_OUT),
     .examples =
         EXAMPLES({"alisio artifacts rerun last", "the same once more"},
                  {"alisio artifacts rerun last --in sales.csv=sales-october.csv", "on this month's file"}),
     .min_args = 1,
     .max_args = 1,
     .run = al_cmd_artifacts_rerun},
    {.name = "artifacts rm",
     .usage = "ID…",
     .summary = "delete artifacts",
     .examples = EXAMPLES({"alisio artifacts rm last", "the newest"}),
     .min_args = 1,
     .max_args = 8,
     .run = al_cmd_artifacts_rm},

    {.name = "analysis status",
     .usage = "",
     .summary = "show where Python scripts would run: each back end, its walls, what is missing",
     .examples = EXAMPLES({"alisio analysis status", "as a table"},
                          {"alisio analysis status --isolation strict", "what would run under that policy"}),
     .run = al_cmd_analysis_status},

    {.name = "analysis setup",
     .usage =
         "--extras analysis|science [--lock FILE] [--from DIR] | --oci [--image NAME] | --wasm [--from DIR]",
     .summary = "install what scripts may need: packages, a container image, Python in WebAssembly",
     .about = "Packages are installed from hash-locked wheels into an environment of ours; nothing of your "
              "own Python\n"
              "changes. --from takes wheels, or Pyodide, from a folder. Nothing of this is needed for the "
              "standard\n"
              "library.",
     .flags = FLAGS(AL_FLAG_EXTRAS, AL_FLAG_LOCK, AL_FLAG_FROM, AL_FLAG_OCI, AL_FLAG_IMAGE, AL_FLAG_WASM),
     .examples = EXAMPLES(
         {"alisio analysis setup --extras analysis", "pandas, numpy, matplotlib and others"},
         {"alisio analysis setup --oci --image python:3.12-slim", "pulls it, prints the pinned name"},
         {"alisio analysis setup --wasm", "Pyodide"}),
     .run = al_cmd_analysis_setup},
    {.name = "analysis sweep",
     .usage = "[--force]",
     .summary = "remove what analysis left, after its time",
     .about = "Work folders after analysis.retention.intermediateDays, jobs and unused datasets after "
              "jobsDays, files of\n"
              "artifacts after artifactsDays (never by default). A long-lived alisio does it once a day by "
              "itself.",
     .flags = FLAGS(AL_FLAG_FORCE),
     .examples = EXAMPLES({"alisio analysis sweep", "says what it removed"}),
     .run = al_cmd_analysis_sweep},

    {.name = "tool list",
     .usage = "[--mcp-config FILE]",
     .summary = "list the tools, with their effect",
     .flags = FLAGS(AL_FLAG_MCP_CONFIG),
     .examples = EXAMPLES({"alisio tool list", "all of them"}, {"alisio tool list --json", "for a program"}),
     .run = al_cmd_tool_list},
    {.name = "tool describe",
     .usage = "NAME [--mcp-config FILE]",
     .summary = "show what a tool takes and gives",
     .flags = FLAGS(AL_FLAG_MCP_CONFIG),
     .examples = EXAMPLES({"alisio tool describe read_file", "its signature and schemas"}),
     .min_args = 1,
     .max_args = 1,
     .run = al_cmd_tool_describe},
    {.name = "tool call",
     .usage = "NAME [JSON | -] [--explain] [--mcp-config FILE]",
     .summary = "call one tool",
     .about = "Typing the call is its approval. --read-only still refuses effects.",
     .flags = FLAGS(AL_FLAG_EXPLAIN, AL_FLAG_MCP_CONFIG),
     .examples =
         EXAMPLES({"alisio tool call list_files '{}'", "with arguments"},
                  {"echo '{}' | alisio tool call list_files -", "arguments from standard input"},
                  {"alisio tool call list_files '{}' --explain", "what would be checked; runs nothing"}),
     .min_args = 1,
     .max_args = 2,
     .run = al_cmd_tool_call},

    {.name = "data inspect",
     .usage =
         "FILE|ds_ID [--sheet S] [--rows N] [--delimiter C] [--header yes|no] [--encoding E] [--skip-rows N] "
         "[--decimal C]",
     .summary = "say what is in a CSV, TSV, JSON, JSON Lines or XLSX file",
     .about = "The file becomes a dataset of the session, which is there the next time. Nothing is lost: a "
              "cell that is "
              "no\n"
              "canonical number keeps its text. The flags force what was guessed wrong.",
     .flags = FLAGS(AL_FLAG_SHEET, AL_FLAG_ROWS, AL_FLAG_DELIMITER, AL_FLAG_HEADER, AL_FLAG_ENCODING,
                    AL_FLAG_SKIP_ROWS, AL_FLAG_DECIMAL),
     .examples =
         EXAMPLES({"alisio data inspect sales.csv", "columns, types, statistics, the first rows"},
                  {"alisio data inspect book.xlsx --sheet Orders --rows 10", "one sheet of a workbook"},
                  {"alisio data inspect export.txt --delimiter tab --header no", "how to read it"}),
     .min_args = 1,
     .max_args = 1,
     .arg = AL_ARG_FILE,
     .run = al_cmd_data_inspect},
    {.name = "data query",
     .usage =
         "FILE|ds_ID [SQL | -] [--format table|csv|tsv|json|jsonl] [--exact] [--max-rows N] [--param K=V] "
         "[--timeout MS] [--sheet S] [--delimiter C] [--header yes|no] [--encoding E] [--skip-rows N] "
         "[--decimal C]",
     .summary = "run a SELECT over a file",
     .about = "The table is `data`, of a workbook s_<sheet>; <table>_values has text converted that reads as "
              "numbers or "
              "dates.\n"
              "Without SQL, or with -, the statement comes from standard input. A table has 200 rows unless "
              "--max-rows "
              "says\n"
              "otherwise; the other formats have all rows, as they come. The flags of `data inspect` say how "
              "the file is "
              "read.",
     .flags =
         FLAGS(AL_FLAG_FORMAT, AL_FLAG_EXACT, AL_FLAG_MAX_ROWS, AL_FLAG_PARAM, AL_FLAG_TIMEOUT, AL_FLAG_SHEET,
               AL_FLAG_DELIMITER, AL_FLAG_HEADER, AL_FLAG_ENCODING, AL_FLAG_SKIP_ROWS, AL_FLAG_DECIMAL),
     .examples = EXAMPLES(
         {"alisio data query sales.csv 'SELECT region, sum(amount) FROM data GROUP BY region'", "a table"},
         {"alisio data query sales.csv 'SELECT * FROM data WHERE amount > :min' --param min=100",
          "with a value"},
         {"alisio data query sales.csv 'SELECT * FROM data' --format jsonl > sales.jsonl",
          "all rows, another format"},
         {"echo 'SELECT count(*) FROM data' | alisio data query sales.csv -", "from standard input"}),
     .min_args = 1,
     .max_args = 2,
     .arg = AL_ARG_FILE,
     .run = al_cmd_data_query},
    {.name = "data list",
     .usage = "",
     .summary = "list the workspace's datasets",
     .examples = EXAMPLES({"alisio data list", "newest first"}, {"alisio data list --json", "for a program"}),
     .run = al_cmd_data_list},
    {.name = "data rm",
     .usage = "ds_ID…",
     .summary = "delete datasets; the files that they were made of stay",
     .examples = EXAMPLES({"alisio data rm \"$(alisio data inspect sales.csv --json | sed "
                           "'s/.*\"datasetId\":\"\\(ds_[^\"]*\\)\".*/\\1/')\"",
                           "the one of a file"}),
     .min_args = 1,
     .max_args = 8,
     .run = al_cmd_data_rm},

    {.name = "dashboard",
     .usage = "FILE|ds_ID [--goal T] [--title T] [--locale TAG] [--sheet S] [--filter COND]... [--by A,B] "
              "[--like art_ID] [--no-rows] [--plan] [--spec FILE] [-o|--output FILE.html|FILE.pdf] [--open] "
              "[--delimiter C] [--header yes|no] [--encoding E] [--skip-rows N] [--decimal C]",
     .summary = "make a dashboard of a file: one HTML page, no code",
     .about = "The page needs nothing but itself and works from disk. It is published as an artifact of the "
              "workspace;\n"
              "-o writes it to a file, too, in the place of what is there. A PDF is printed by Chromium, where "
              "there is one.\n"
              "The goal is read in English and Spanish; what it asks for and the file does not have is said.\n"
              "The flags of `data inspect` say how the file is read.",
     .flags = FLAGS(AL_FLAG_GOAL, AL_FLAG_TITLE, AL_FLAG_LOCALE, AL_FLAG_SHEET, AL_FLAG_FILTER, AL_FLAG_BY,
                    AL_FLAG_LIKE, AL_FLAG_NO_ROWS, AL_FLAG_PLAN, AL_FLAG_SPEC, AL_FLAG_OUTPUT, AL_FLAG_OPEN,
                    AL_FLAG_DELIMITER, AL_FLAG_HEADER, AL_FLAG_ENCODING, AL_FLAG_SKIP_ROWS, AL_FLAG_DECIMAL),
     .examples = EXAMPLES(
         {"alisio dashboard sales.csv", "a page with what matters in it; prints its place"},
         {"alisio dashboard sales.csv --goal 'amount by region per month' -o sales.html", "what to show, and where"},
         {"alisio dashboard sales.csv --filter 'region=North|South' --locale es-CO",
          "some rows, their values as the file writes them; Spanish"},
         {"alisio dashboard sales.csv --plan > plan.json && alisio dashboard sales.csv --spec plan.json",
          "see the plan, change it, build it"},
         {"alisio dashboard sales.csv --like last", "the newest dashboard again, of this file"}),
     .min_args = 1,
     .max_args = 1,
     .arg = AL_ARG_FILE,
     .run = al_cmd_dashboard},

    {.name = "runs list",
     .usage = "[--failed] [--limit N]",
     .summary = "list the workspace's runs, newest first",
     .flags = FLAGS(AL_FLAG_FAILED, AL_FLAG_LIMIT),
     .examples = EXAMPLES({"alisio runs list", "the last 50"},
                          {"alisio runs list --failed --limit 5", "what went wrong"}),
     .run = al_cmd_runs_list},
    {.name = "runs show",
     .usage = "EXEC_ID|last [--code] [--command]",
     .summary = "show the record of a run",
     .flags = FLAGS(AL_FLAG_CODE, AL_FLAG_COMMAND),
     .examples =
         EXAMPLES({"alisio runs show last", "status, calls, printed text and value of the newest run"},
                  {"alisio runs show last --code", "its script"},
                  {"alisio runs show last --command", "a command line that runs it again"}),
     .min_args = 1,
     .max_args = 1,
     .arg = AL_ARG_WORDS,
     .words = "last",
     .run = al_cmd_runs_show},
    {.name = "runs logs",
     .usage = "EXEC_ID|last [-f]",
     .summary = "print what a run has said",
     .flags = FLAGS(AL_FLAG_FOLLOW),
     .examples = EXAMPLES({"alisio runs logs last", "so far"}, {"alisio runs logs last -f", "until it ends"}),
     .min_args = 1,
     .max_args = 1,
     .arg = AL_ARG_WORDS,
     .words = "last",
     .run = al_cmd_runs_logs},
    {.name = "runs cancel",
     .usage = "EXEC_ID|last|--all",
     .summary = "stop a run, whichever process it belongs to",
     .flags = FLAGS(AL_FLAG_ALL),
     .examples = EXAMPLES({"alisio runs cancel --all", "everything that runs in this workspace"}),
     .max_args = 1,
     .arg = AL_ARG_WORDS,
     .words = "last",
     .run = al_cmd_runs_cancel},
    {.name = "runs rm",
     .usage = "EXEC_ID",
     .summary = "delete a run from the journal",
     .examples = EXAMPLES({"alisio runs rm \"$(alisio js --json -e 1 | sed "
                           "'s/.*\"executionId\":\"\\(exec_[^\"]*\\)\".*/\\1/')\"",
                           "run something and leave no trace of it"}),
     .min_args = 1,
     .max_args = 1,
     .run = al_cmd_runs_rm},

    {.name = "sessions list",
     .usage = "",
     .summary = "list the workspace's sessions",
     .examples = EXAMPLES({"alisio sessions list", "newest first"}),
     .run = al_cmd_sessions_list},
    {.name = "sessions show",
     .usage = "ID",
     .summary = "show a session: its state, runs and scratchpad",
     .examples = EXAMPLES({"alisio sessions show default", "the workspace's own"}),
     .min_args = 1,
     .max_args = 1,
     .arg = AL_ARG_WORDS,
     .words = "default",
     .run = al_cmd_sessions_show},
    {.name = "sessions rm",
     .usage = "ID",
     .summary = "delete a session: runs, datasets, state, grants and scratchpad",
     .examples =
         EXAMPLES({"alisio sessions rm default", "the workspace's own; the next command makes a new one"}),
     .min_args = 1,
     .max_args = 1,
     .arg = AL_ARG_WORDS,
     .words = "default",
     .run = al_cmd_sessions_rm},

    {.name = "mcp",
     .usage = "[--expose files,process,upstream] [--plain-names] [--mcp-config FILE] [--http PORT | --socket "
              "PATH] [--allow-host NAME]",
     .summary = "be an MCP server on standard input and output, or over HTTP",
     .about =
         "Standard output carries the protocol and nothing else. With a broken configuration the server "
         "starts\n"
         "all the same, and says in every answer what is wrong. Over HTTP each request carries a token:\n"
         "\"Authorization: Bearer TOKEN\", from the file mcp-token of the config folder (made at the first\n"
         "start) or ALISIO_MCP_TOKEN.",
     .flags = FLAGS(AL_FLAG_EXPOSE, AL_FLAG_PLAIN_NAMES, AL_FLAG_MCP_CONFIG, AL_FLAG_HTTP, AL_FLAG_SOCKET,
                    AL_FLAG_ALLOW_HOST),
     .examples =
         EXAMPLES({"alisio mcp", "js_run and forge_guide"},
                  {"alisio mcp --expose files --allow-write", "and the file tools, with leave to write"},
                  {"alisio mcp --mcp-config .mcp.json", "scripts reach the MCP servers of a file, too"},
                  {"alisio mcp --http 8931", "http://127.0.0.1:8931/mcp"}),
     .run = al_cmd_mcp},
    {.name = "mcp list",
     .usage = "[--mcp-config FILE]",
     .summary = "list the MCP servers whose tools scripts can call",
     .flags = FLAGS(AL_FLAG_MCP_CONFIG),
     .examples = EXAMPLES({"alisio mcp list", "with the state of each one's catalogue and its policy"},
                          {"alisio mcp list --json", "for a program"}),
     .run = al_cmd_mcp_list},
    {.name = "mcp tools",
     .usage = "[SERVER] [--mcp-config FILE]",
     .summary = "list the tools of the MCP servers, with what they say of themselves and the policy",
     .about = "A server whose tools are not known yet is started for it.",
     .flags = FLAGS(AL_FLAG_MCP_CONFIG),
     .examples = EXAMPLES({"alisio mcp tools", "of all servers"}, {"alisio mcp tools github", "of one"}),
     .max_args = 1,
     .arg = AL_ARG_SERVER,
     .run = al_cmd_mcp_tools},
    {.name = "mcp doctor",
     .usage = "[SERVER] [--mcp-config FILE]",
     .summary = "start the MCP servers, all at once, and say how to mend what fails",
     .about = "Exit status 6 when one fails.",
     .flags = FLAGS(AL_FLAG_MCP_CONFIG),
     .examples = EXAMPLES({"alisio mcp doctor", "all servers"}, {"alisio mcp doctor github", "one of them"}),
     .max_args = 1,
     .arg = AL_ARG_SERVER,
     .run = al_cmd_mcp_doctor},
    {.name = "mcp import",
     .usage = "FILE [--yes]",
     .summary = "copy the MCP servers of another client's file to your config.json",
     .about = "Shows what each server starts or reaches, and asks. The file may be .mcp.json, or that of "
              "Claude Code,\n"
              "Claude Desktop, Cursor, VS Code, Gemini, opencode (JSON, comments allowed) or Codex (TOML). "
              "Then the\n"
              "servers are started: tools that say they only read are allowed, the others ask.",
     .flags = FLAGS(AL_FLAG_YES),
     .examples = EXAMPLES({"alisio mcp import .mcp.json", "ask at the terminal"},
                          {"alisio mcp import ~/.cursor/mcp.json --yes", "do not ask"}),
     .min_args = 1,
     .max_args = 1,
     .arg = AL_ARG_FILE,
     .run = al_cmd_mcp_import},
    {.name = "mcp allow",
     .usage = "SERVER 'PATTERN'",
     .summary = "let scripts call these tools of a server",
     .examples = EXAMPLES({"alisio mcp allow github 'get_*'", "all whose names begin with get_"}),
     .min_args = 2,
     .max_args = 2,
     .arg = AL_ARG_SERVER,
     .run = al_cmd_mcp_allow},
    {.name = "mcp ask",
     .usage = "SERVER 'PATTERN'",
     .summary = "have these tools of a server ask before they are called",
     .examples = EXAMPLES({"alisio mcp ask github 'create_*'", "a script names them in `uses`"}),
     .min_args = 2,
     .max_args = 2,
     .arg = AL_ARG_SERVER,
     .run = al_cmd_mcp_ask},
    {.name = "mcp deny",
     .usage = "SERVER 'PATTERN'",
     .summary = "refuse these tools of a server always",
     .examples = EXAMPLES({"alisio mcp deny github 'delete_*'", "no flag and no approval lifts it"}),
     .min_args = 2,
     .max_args = 2,
     .arg = AL_ARG_SERVER,
     .run = al_cmd_mcp_deny},
    {.name = "mcp review",
     .usage = "SERVER [--yes]",
     .summary = "show what has changed of tools since they were first used, and take it as it is now",
     .about = "An allowed tool whose description, schema or annotations changed asks until then.",
     .flags = FLAGS(AL_FLAG_YES),
     .examples = EXAMPLES({"alisio mcp review github", "shows the difference, and asks"}),
     .min_args = 1,
     .max_args = 1,
     .arg = AL_ARG_SERVER,
     .run = al_cmd_mcp_review},
    {.name = "mcp disable",
     .usage = "SERVER",
     .summary = "switch a server off, and keep its entry and rules",
     .examples = EXAMPLES({"alisio mcp disable github", "it is not started, and scripts have no tool of it"}),
     .min_args = 1,
     .max_args = 1,
     .arg = AL_ARG_SERVER,
     .run = al_cmd_mcp_disable},
    {.name = "mcp enable",
     .usage = "SERVER",
     .summary = "switch a server on again",
     .examples = EXAMPLES({"alisio mcp enable github", "with the rules that it had"}),
     .min_args = 1,
     .max_args = 1,
     .arg = AL_ARG_SERVER,
     .run = al_cmd_mcp_enable},
    {.name = "mcp remove",
     .usage = "SERVER [--yes]",
     .summary = "take a server out of your config.json, with its rules and what is known of its tools",
     .flags = FLAGS(AL_FLAG_YES),
     .examples = EXAMPLES({"alisio mcp remove github", "ask at the terminal"},
                          {"alisio mcp remove github --yes", "do not ask"}),
     .min_args = 1,
     .max_args = 1,
     .arg = AL_ARG_SERVER,
     .run = al_cmd_mcp_remove},

    {.name = "setup",
     .usage = "CLIENT [--yes | --dry-run | --undo] [--file PATH]",
     .summary = "move a client's MCP servers behind one entry, alisio",
     .about = "Shows each server that the client has, copies the chosen ones to your config.json, and leaves "
              "one entry\n"
              "in the client's file, beside a backup. All else in that file stays as it is. --undo puts "
              "everything back.",
     .flags = FLAGS(AL_FLAG_YES, AL_FLAG_DRY_RUN, AL_FLAG_UNDO, AL_FLAG_FILE),
     .examples = EXAMPLES({"alisio setup claude-code", "ask for each server"},
                          {"alisio setup cursor --dry-run", "show what would change"},
                          {"alisio setup codex --yes", "all servers, without a question"},
                          {"alisio setup codex --undo", "as it was"}),
     .min_args = 1,
     .max_args = 1,
     .arg = AL_ARG_WORDS,
     .words = "claude-code claude-desktop codex cursor vscode opencode gemini",
     .run = al_cmd_setup},

    {.name = "forge status",
     .usage = "[--probe] [--json]",
     .summary = "show the engine: build, isolation, limits, scratchpad",
     .flags = FLAGS(AL_FLAG_PROBE),
     .examples = EXAMPLES({"alisio forge status", "what is there"},
                          {"alisio forge status --probe", "and whether it works on this machine"}),
     .run = al_cmd_forge_status},

    {.name = "permissions list",
     .usage = "",
     .summary = "list stored grants",
     .examples = EXAMPLES({"alisio permissions list", "of the workspace's sessions"}),
     .run = al_cmd_permissions_list},
    {.name = "permissions revoke",
     .usage = "ID",
     .summary = "take a grant back",
     .examples =
         EXAMPLES({"alisio permissions revoke grant_01J00000000000000000000000", "an id from the list"}),
     .min_args = 1,
     .max_args = 1,
     .run = al_cmd_permissions_revoke},
    {.name = "permissions log",
     .usage = "",
     .summary = "show what was allowed and refused",
     .examples = EXAMPLES({"alisio permissions log", "newest first"}),
     .run = al_cmd_permissions_log},

    {.name = "trust list",
     .usage = "",
     .summary = "list trusted folders",
     .examples = EXAMPLES({"alisio trust list", "with the hash of what was trusted"}),
     .run = al_cmd_trust_list},
    {.name = "trust add",
     .usage = "DIR",
     .summary = "trust a folder's .alisio/config.json as it is now",
     .about =
         "Shows what the file would change. A trusted project may only lower limits and switch things off.\n"
         "When the file changes, the trust is gone.",
     .examples = EXAMPLES({"alisio trust add .", "the current folder"}),
     .min_args = 1,
     .max_args = 1,
     .arg = AL_ARG_DIR,
     .run = al_cmd_trust_add},
    {.name = "trust revoke",
     .usage = "DIR",
     .summary = "trust a folder no longer",
     .examples = EXAMPLES({"alisio trust revoke .", "the current folder"}),
     .min_args = 1,
     .max_args = 1,
     .arg = AL_ARG_DIR,
     .run = al_cmd_trust_revoke},

    {.name = "config show",
     .usage = "",
     .summary = "show every option, its value and where it comes from",
     .examples = EXAMPLES({"alisio config show", "as a table"}),
     .run = al_cmd_config_show},
    {.name = "config get",
     .usage = "KEY",
     .summary = "print the value of one option",
     .examples = EXAMPLES({"alisio config get forge.javascript.timeoutMs", "as JSON; text as it is"}),
     .min_args = 1,
     .max_args = 1,
     .run = al_cmd_config_get},
    {.name = "config set",
     .usage = "KEY VALUE",
     .summary = "change one option in your own config.json",
     .examples = EXAMPLES({"alisio config set forge.javascript.timeoutMs 60000", "a minute a script"}),
     .min_args = 2,
     .max_args = 2,
     .run = al_cmd_config_set},
    {.name = "config path",
     .usage = "",
     .summary = "print where your config.json is",
     .examples = EXAMPLES({"alisio config path", "whether it exists or not"}),
     .run = al_cmd_config_path},

    {.name = "scratch list",
     .usage = "",
     .summary = "list the files of the scratchpad",
     .examples = EXAMPLES({"alisio scratch list", "name, size and date"}),
     .run = al_cmd_scratch_list},
    {.name = "scratch show",
     .usage = "",
     .summary = "show where the scratchpad is and how full",
     .examples = EXAMPLES({"alisio scratch show", "place, bytes, quota"}),
     .run = al_cmd_scratch_show},
    {.name = "scratch empty",
     .usage = "",
     .summary = "delete every file of the scratchpad",
     .examples = EXAMPLES({"alisio scratch empty", "refused while a script of the session runs"}),
     .run = al_cmd_scratch_empty},

    {.name = "purge",
     .usage = "--workspace DIR | --older-than AGE | --dataset ds_ID",
     .summary = "delete every trace of a workspace or of a dataset, or what is old",
     .flags = FLAGS(AL_FLAG_WORKSPACE, AL_FLAG_OLDER_THAN, AL_FLAG_DATASET),
     .examples =
         EXAMPLES({"alisio purge --older-than 30d", "runs that ended, and datasets not used, for 30 days"},
                  {"alisio purge --workspace .",
                   "runs, sessions, datasets, artifacts, state, scratchpads and trust of this folder"}),
     .run = al_cmd_purge},
    {.name = "doctor",
     .usage = "[--require js,data,python[=isolated]]",
     .summary = "check this machine and this installation",
     .flags = FLAGS(AL_FLAG_REQUIRE),
     .examples =
         EXAMPLES({"alisio doctor", "one line a check"}, {"alisio doctor --require js,python=isolated",
                                                          "exit status 6 when scripts cannot run here"}),
     .run = al_cmd_doctor},
    {.name = "completion",
     .usage = "bash|zsh|fish",
     .summary = "print a completion script for a shell",
     .examples =
         EXAMPLES({"alisio completion bash > ~/.local/share/bash-completion/completions/alisio", "bash"},
                  {"alisio completion fish > ~/.config/fish/completions/alisio.fish", "fish"}),
     .min_args = 1,
     .max_args = 1,
     .arg = AL_ARG_WORDS,
     .words = "bash zsh fish",
     .run = al_cmd_completion},
    {.name = "help",
     .usage = "[COMMAND]",
     .summary = "print help",
     .examples = EXAMPLES({"alisio help", "all commands"}, {"alisio help runs show", "one of them"}),
     .max_args = 2,
     .run = al_cmd_help},
};
const size_t al_n_commands = sizeof al_command_table / sizeof *al_command_table;
