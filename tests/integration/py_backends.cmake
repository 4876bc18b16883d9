add_test(NAME integration_py_backends
  COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/py_backends.test.mjs)
set_tests_properties(integration_py_backends PROPERTIES TIMEOUT 240 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
