# What `alisio dashboard` says where a person slips.
add_test(NAME integration_cli_dashboard_slips COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/cli_dashboard_slips.test.mjs)
set_tests_properties(integration_cli_dashboard_slips PROPERTIES TIMEOUT 120 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
