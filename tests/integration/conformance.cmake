add_test(NAME integration_conformance
  COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/conformance.test.mjs)
set_tests_properties(integration_conformance PROPERTIES TIMEOUT 300 PROCESSORS 2
  ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
