#include "agent/agent_int.h"

#include <string.h>

bool al_agent_event_durable(const char *type)
{
    return strcmp(type, "text_delta") != 0 && strcmp(type, "reasoning_delta") != 0 && strcmp(type, "tool_progress") != 0;
}
