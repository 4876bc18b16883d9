add_test(NAME integration_py_seed COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/py_seed.test.mjs)
set_tests_properties(integration_py_seed PROPERTIES TIMEOUT 120 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
