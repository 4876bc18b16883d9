add_test(NAME integration_endurance
  COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/endurance.test.mjs)
set_tests_properties(integration_endurance PROPERTIES TIMEOUT 300 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
