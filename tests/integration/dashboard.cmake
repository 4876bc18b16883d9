add_test(NAME integration_dashboard COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/dashboard.test.mjs)
set_tests_properties(integration_dashboard PROPERTIES TIMEOUT 180 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
