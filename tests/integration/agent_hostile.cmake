add_test(NAME integration_agent_hostile COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/agent_hostile.test.mjs)
set_tests_properties(integration_agent_hostile PROPERTIES TIMEOUT 240 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
