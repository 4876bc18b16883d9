add_test(NAME integration_mcp_artifacts COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/mcp_artifacts.test.mjs)
set_tests_properties(integration_mcp_artifacts PROPERTIES TIMEOUT 180 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
