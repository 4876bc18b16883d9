add_test(NAME integration_agent_context COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/agent_context.test.mjs)
set_tests_properties(integration_agent_context PROPERTIES TIMEOUT 120 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
