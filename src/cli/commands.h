/* What each command does: one function a command, called by main with a parsed line; each fills the reply. */
#ifndef AL_CLI_COMMANDS_H
#define AL_CLI_COMMANDS_H

struct al_app;
struct al_reply;

int al_cmd_js(struct al_app *app, struct al_reply *reply);
int al_cmd_py(struct al_app *app, struct al_reply *reply);
int al_cmd_artifacts_list(struct al_app *app, struct al_reply *reply);
int al_cmd_artifacts_show(struct al_app *app, struct al_reply *reply);
int al_cmd_artifacts_export(struct al_app *app, struct al_reply *reply);
int al_cmd_artifacts_rerun(struct al_app *app, struct al_reply *reply);
int al_cmd_artifacts_rm(struct al_app *app, struct al_reply *reply);
int al_cmd_analysis_status(struct al_app *app, struct al_reply *reply);
int al_cmd_analysis_setup(struct al_app *app, struct al_reply *reply);
int al_cmd_analysis_sweep(struct al_app *app, struct al_reply *reply);
int al_cmd_tool_list(struct al_app *app, struct al_reply *reply);
int al_cmd_tool_describe(struct al_app *app, struct al_reply *reply);
int al_cmd_tool_call(struct al_app *app, struct al_reply *reply);
int al_cmd_data_inspect(struct al_app *app, struct al_reply *reply);
int al_cmd_data_query(struct al_app *app, struct al_reply *reply);
int al_cmd_data_list(struct al_app *app, struct al_reply *reply);
int al_cmd_data_rm(struct al_app *app, struct al_reply *reply);
int al_cmd_dashboard(struct al_app *app, struct al_reply *reply);
int al_cmd_runs_list(struct al_app *app, struct al_reply *reply);
int al_cmd_runs_show(struct al_app *app, struct al_reply *reply);
int al_cmd_runs_logs(struct al_app *app, struct al_reply *reply);
int al_cmd_runs_cancel(struct al_app *app, struct al_reply *reply);
int al_cmd_runs_rm(struct al_app *app, struct al_reply *reply);
int al_cmd_run(struct al_app *app, struct al_reply *reply);
int al_cmd_resume(struct al_app *app, struct al_reply *reply);
int al_cmd_models(struct al_app *app, struct al_reply *reply);
int al_cmd_models_show(struct al_app *app, struct al_reply *reply);
int al_cmd_models_forget(struct al_app *app, struct al_reply *reply);
int al_cmd_sessions_list(struct al_app *app, struct al_reply *reply);
int al_cmd_sessions_show(struct al_app *app, struct al_reply *reply);
int al_cmd_sessions_export(struct al_app *app, struct al_reply *reply);
int al_cmd_sessions_rm(struct al_app *app, struct al_reply *reply);
int al_cmd_mcp(struct al_app *app, struct al_reply *reply);
int al_cmd_mcp_list(struct al_app *app, struct al_reply *reply);
int al_cmd_mcp_tools(struct al_app *app, struct al_reply *reply);
int al_cmd_mcp_doctor(struct al_app *app, struct al_reply *reply);
int al_cmd_mcp_import(struct al_app *app, struct al_reply *reply);
int al_cmd_mcp_allow(struct al_app *app, struct al_reply *reply);
int al_cmd_mcp_ask(struct al_app *app, struct al_reply *reply);
int al_cmd_mcp_deny(struct al_app *app, struct al_reply *reply);
int al_cmd_mcp_review(struct al_app *app, struct al_reply *reply);
int al_cmd_mcp_disable(struct al_app *app, struct al_reply *reply);
int al_cmd_mcp_enable(struct al_app *app, struct al_reply *reply);
int al_cmd_mcp_remove(struct al_app *app, struct al_reply *reply);
int al_cmd_setup(struct al_app *app, struct al_reply *reply);
int al_cmd_setup_provider(struct al_app *app, struct al_reply *reply);
int al_cmd_context_explain(struct al_app *app, struct al_reply *reply);
int al_cmd_forge_status(struct al_app *app, struct al_reply *reply);
int al_cmd_permissions_list(struct al_app *app, struct al_reply *reply);
int al_cmd_permissions_revoke(struct al_app *app, struct al_reply *reply);
int al_cmd_permissions_log(struct al_app *app, struct al_reply *reply);
int al_cmd_trust_list(struct al_app *app, struct al_reply *reply);
int al_cmd_trust_add(struct al_app *app, struct al_reply *reply);
int al_cmd_trust_revoke(struct al_app *app, struct al_reply *reply);
int al_cmd_config_show(struct al_app *app, struct al_reply *reply);
int al_cmd_config_get(struct al_app *app, struct al_reply *reply);
int al_cmd_config_set(struct al_app *app, struct al_reply *reply);
int al_cmd_config_path(struct al_app *app, struct al_reply *reply);
int al_cmd_scratch_list(struct al_app *app, struct al_reply *reply);
int al_cmd_scratch_show(struct al_app *app, struct al_reply *reply);
int al_cmd_scratch_empty(struct al_app *app, struct al_reply *reply);
int al_cmd_purge(struct al_app *app, struct al_reply *reply);
int al_cmd_doctor(struct al_app *app, struct al_reply *reply);
int al_cmd_completion(struct al_app *app, struct al_reply *reply);
int al_cmd_help(struct al_app *app, struct al_reply *reply);

#endif
