add_test(NAME integration_mcp_http COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/mcp_http.test.mjs)
set_tests_properties(integration_mcp_http PROPERTIES TIMEOUT 180 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
