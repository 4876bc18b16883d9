#include "tools/tools.h"

#include "tools/artifacts_int.h"
#include "tools/dashboard_int.h"
#include "tools/data_int.h"
#include "tools/tools_int.h"

void al_tools_register(struct al_core *core)
{
    static const struct al_tool *const tools[] = {
        &al_tool_read_file,     &al_tool_read_files,      &al_tool_list_files,         &al_tool_search_text,
        &al_tool_write_file,    &al_tool_edit_file,       &al_tool_git_status,         &al_tool_git_diff,
        &al_tool_run_process,   &al_tool_shell,           &al_tool_webfetch,           &al_tool_data_inspect,
        &al_tool_data_query,    &al_tool_python_run,      &al_tool_artifact_create,    &al_tool_artifact_list,
        &al_tool_artifact_read, &al_tool_artifact_export, &al_tool_dashboard_generate,
    };
    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
        al_core_register(core, tools[i]);
}
