add_test(NAME integration_py_gate COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/py_gate.test.mjs)
set_tests_properties(integration_py_gate PROPERTIES TIMEOUT 120 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
