add_test(NAME integration_py_rerun COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/py_rerun.test.mjs)
set_tests_properties(integration_py_rerun PROPERTIES TIMEOUT 120 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
