add_test(NAME integration_agent_grants COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/agent_grants.test.mjs)
set_tests_properties(integration_agent_grants PROPERTIES TIMEOUT 180 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
