add_test(NAME integration_python COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/python.test.mjs)
set_tests_properties(integration_python PROPERTIES TIMEOUT 240 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
