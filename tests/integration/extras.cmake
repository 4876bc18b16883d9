# Most of its time is pip's.
add_test(NAME integration_extras COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/extras.test.mjs)
set_tests_properties(integration_extras PROPERTIES TIMEOUT 400 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
