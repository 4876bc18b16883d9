add_test(NAME integration_agent_slips COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/agent_slips.test.mjs)
set_tests_properties(integration_agent_slips PROPERTIES TIMEOUT 120 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
