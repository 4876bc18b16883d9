#include "store/store_int.h"

/*
 * Times are ms since 1970 UTC, 0 for "not yet"; rows are ordered by seq, never by the clock. A run repeats
 * the workspace of its session, so that the lists of a workspace need one index and no join.
 */
const char *const al_store_migrations[] = {
    "CREATE TABLE sessions("
    "  id TEXT PRIMARY KEY NOT NULL, workspace TEXT NOT NULL, kind TEXT NOT NULL, title TEXT,"
    "  created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL);"
    "CREATE UNIQUE INDEX sessions_default ON sessions(workspace) WHERE kind = 'default';"
    "CREATE INDEX sessions_workspace ON sessions(workspace, updated_ms);"

    "CREATE TABLE scripts(sha256 TEXT PRIMARY KEY NOT NULL, code TEXT NOT NULL);"

    "CREATE TABLE runs("
    "  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    "  session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, workspace TEXT NOT NULL,"
    "  host_id TEXT NOT NULL, kind TEXT NOT NULL, title TEXT, source TEXT NOT NULL,"
    "  code_sha256 TEXT REFERENCES scripts(sha256), engine TEXT, limits TEXT, status TEXT NOT NULL,"
    "  error_code TEXT, error_msg TEXT,"
    "  created_ms INTEGER NOT NULL, started_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL, pid INTEGER NOT "
    "NULL,"
    "  n_calls INTEGER NOT NULL DEFAULT 0, text_bytes INTEGER NOT NULL DEFAULT 0,"
    "  tool_bytes INTEGER NOT NULL DEFAULT 0, cpu_ms INTEGER NOT NULL DEFAULT 0,"
    "  heap_peak_bytes INTEGER NOT NULL DEFAULT 0, record TEXT);"
    "CREATE INDEX runs_session ON runs(session, seq);"
    "CREATE INDEX runs_workspace ON runs(workspace, seq);"
    "CREATE INDEX runs_live ON runs(host_id) WHERE status IN ('queued','running');"
    "CREATE INDEX runs_ended ON runs(ended_ms);"
    "CREATE INDEX runs_code ON runs(code_sha256);"

    "CREATE TABLE calls("
    "  run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, seq INTEGER NOT NULL,"
    "  tool TEXT NOT NULL, effect TEXT, args_sha256 TEXT, args_preview TEXT, decision TEXT, status TEXT NOT "
    "NULL,"
    "  code TEXT, started_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL, bytes INTEGER NOT NULL DEFAULT 0,"
    "  PRIMARY KEY(run, seq)) WITHOUT ROWID;"

    "CREATE TABLE events("
    "  seq INTEGER PRIMARY KEY, run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, type TEXT NOT NULL,"
    "  body TEXT NOT NULL, at_ms INTEGER NOT NULL);"
    "CREATE INDEX events_run ON events(run, seq);"

    "CREATE TABLE state("
    "  session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, key TEXT NOT NULL, value TEXT NOT "
    "NULL,"
    "  ord INTEGER NOT NULL, version INTEGER NOT NULL DEFAULT 1, PRIMARY KEY(session, key));"
    "CREATE INDEX state_order ON state(session, ord);"

    "CREATE TABLE grants("
    "  id TEXT PRIMARY KEY NOT NULL, session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,"
    "  capability TEXT NOT NULL, isolation TEXT, source TEXT NOT NULL,"
    "  created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL, revoked_ms INTEGER NOT NULL);"
    "CREATE INDEX grants_session ON grants(session, capability);"

    /* Without a reference: what was decided stays readable when a run is deleted. */
    "CREATE TABLE decisions("
    "  seq INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, session TEXT, run TEXT, tool TEXT, effect TEXT,"
    "  origin TEXT, decision TEXT NOT NULL, reason TEXT);"
    "CREATE INDEX decisions_session ON decisions(session, seq);"

    "CREATE TABLE trust(dir TEXT PRIMARY KEY NOT NULL, config_sha256 TEXT NOT NULL, at_ms INTEGER NOT NULL);",

    /* What other MCP servers offer. The index keeps no second copy of the texts. */
    "CREATE TABLE catalog_servers("
    "  name TEXT PRIMARY KEY NOT NULL, config_sha256 TEXT NOT NULL, protocol TEXT, info TEXT, instructions "
    "TEXT,"
    "  fetched_ms INTEGER NOT NULL, n_tools INTEGER NOT NULL);"
    "CREATE TABLE catalog_tools("
    "  id INTEGER PRIMARY KEY, server TEXT NOT NULL, tool TEXT NOT NULL, name TEXT NOT NULL, title TEXT,"
    "  description TEXT, input_schema TEXT NOT NULL, output_schema TEXT, annotations TEXT, sha256 TEXT NOT "
    "NULL,"
    "  UNIQUE(server, tool));"
    "CREATE INDEX catalog_tools_name ON catalog_tools(name);"
    "CREATE VIRTUAL TABLE catalog_index USING fts5(name, title, description, params, content='',"
    "  contentless_delete=1, tokenize='unicode61', prefix='2 3');"
    "CREATE TABLE catalog_pins("
    "  server TEXT NOT NULL, tool TEXT NOT NULL, sha256 TEXT NOT NULL, definition TEXT NOT NULL,"
    "  at_ms INTEGER NOT NULL, PRIMARY KEY(server, tool));",

    /* A dataset repeats the workspace of its session, as a run does. The source_ columns say which file it
       was. */
    "CREATE TABLE datasets("
    "  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    "  session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, workspace TEXT NOT NULL,"
    "  name TEXT NOT NULL, format TEXT NOT NULL, sha256 TEXT NOT NULL, options TEXT NOT NULL,"
    "  bytes INTEGER NOT NULL, source_bytes INTEGER NOT NULL, n_rows INTEGER NOT NULL, source_path TEXT,"
    "  source_dev INTEGER NOT NULL, source_ino INTEGER NOT NULL, source_size INTEGER NOT NULL,"
    "  source_mtime_ns INTEGER NOT NULL, source_ctime_ns INTEGER NOT NULL,"
    "  db_rel_path TEXT NOT NULL, ingest_version INTEGER NOT NULL, sheets TEXT NOT NULL,"
    "  created_ms INTEGER NOT NULL, used_ms INTEGER NOT NULL);"
    "CREATE INDEX datasets_session ON datasets(session, sha256);"
    "CREATE INDEX datasets_source ON datasets(session, source_ino);"
    "CREATE INDEX datasets_workspace ON datasets(workspace, seq);"
    "CREATE INDEX datasets_used ON datasets(used_ms);",

    /* Without a reference: artifacts outlive their session and its runs. The manifest, which may be long, is
       last: a list does not read past it. */
    "CREATE TABLE artifacts("
    "  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL, workspace TEXT NOT NULL,"
    "  host_id TEXT NOT NULL, execution TEXT, source_path TEXT NOT NULL, title TEXT NOT NULL,"
    "  file_name TEXT NOT NULL, kind TEXT NOT NULL, mime TEXT NOT NULL, sha256 TEXT NOT NULL, entry TEXT,"
    "  rel_dir TEXT NOT NULL, status TEXT NOT NULL, bytes INTEGER NOT NULL, n_files INTEGER NOT NULL,"
    "  partial INTEGER NOT NULL, created_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL, manifest TEXT NOT "
    "NULL);"
    "CREATE UNIQUE INDEX artifacts_source ON artifacts(execution, source_path) WHERE execution IS NOT NULL;"
    "CREATE INDEX artifacts_session ON artifacts(session, seq);"
    "CREATE INDEX artifacts_workspace ON artifacts(workspace, seq);"
    "CREATE INDEX artifacts_publishing ON artifacts(seq) WHERE status = 'publishing';"
    "CREATE INDEX artifacts_bytes ON artifacts(workspace, bytes) WHERE status IN ('publishing','ready');",

    /*
     * Conversations. place orders the messages of one: a row's own seq, or of a summary the place of the first
     * row that it stands for. A copy of a conversation has its calls under the same ids, so that they are unique
     * in a session only. What may be long is last: a list does not read past it.
     */
    "CREATE TABLE turns("
    "  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    "  session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, host_id TEXT NOT NULL,"
    "  provider TEXT, base_url TEXT, model TEXT, api TEXT, status TEXT NOT NULL, error_code TEXT, error_msg TEXT,"
    "  usage TEXT, created_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL,"
    "  n_requests INTEGER NOT NULL DEFAULT 0, n_calls INTEGER NOT NULL DEFAULT 0);"
    "CREATE INDEX turns_session ON turns(session, seq);"
    "CREATE INDEX turns_live ON turns(host_id) WHERE status = 'running';"

    "CREATE TABLE messages("
    "  seq INTEGER PRIMARY KEY, session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,"
    "  turn TEXT, created_ms INTEGER NOT NULL, compacted_by INTEGER NOT NULL DEFAULT 0, place INTEGER NOT NULL,"
    "  body TEXT NOT NULL);"
    "CREATE INDEX messages_session ON messages(session, seq);"
    "CREATE INDEX messages_sent ON messages(session, place) WHERE compacted_by = 0;"

    "CREATE TABLE model_requests("
    "  seq INTEGER PRIMARY KEY, turn TEXT NOT NULL REFERENCES turns(id) ON DELETE CASCADE, attempt INTEGER NOT NULL,"
    "  model TEXT, sha256 TEXT, status TEXT NOT NULL, error TEXT, created_ms INTEGER NOT NULL,"
    "  ended_ms INTEGER NOT NULL, usage TEXT);"
    "CREATE INDEX model_requests_turn ON model_requests(turn, seq);"

    "CREATE TABLE model_calls("
    "  seq INTEGER PRIMARY KEY, id TEXT NOT NULL, session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,"
    "  message INTEGER NOT NULL REFERENCES messages(seq) ON DELETE CASCADE, ord INTEGER NOT NULL,"
    "  name TEXT NOT NULL, effect TEXT, status TEXT NOT NULL, is_error INTEGER NOT NULL DEFAULT 0, execution TEXT,"
    "  started_ms INTEGER NOT NULL DEFAULT 0, ended_ms INTEGER NOT NULL DEFAULT 0, arguments TEXT NOT NULL,"
    "  output TEXT, result TEXT, whole TEXT, UNIQUE(session, id));"
    "CREATE UNIQUE INDEX model_calls_place ON model_calls(message, ord);"
    "CREATE INDEX model_calls_id ON model_calls(id);"
    "CREATE INDEX model_calls_open ON model_calls(session) WHERE status IN ('absent','running');"

    "CREATE TABLE turn_events("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,"
    "  turn TEXT NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, at_ms INTEGER NOT NULL, data TEXT NOT NULL);"
    "CREATE INDEX turn_events_session ON turn_events(session, id);"

    "CREATE TABLE session_locks("
    "  session TEXT PRIMARY KEY NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, host_id TEXT NOT NULL,"
    "  pid INTEGER NOT NULL, terminal TEXT, since_ms INTEGER NOT NULL);"
    "CREATE INDEX session_locks_host ON session_locks(host_id);"

    /* Of endpoints, not of a session. */
    "CREATE TABLE model_facts("
    "  base_url TEXT NOT NULL, model TEXT NOT NULL, at_ms INTEGER NOT NULL, facts TEXT NOT NULL,"
    "  PRIMARY KEY(base_url, model));",
};

const int al_store_n_migrations = sizeof al_store_migrations / sizeof al_store_migrations[0];
