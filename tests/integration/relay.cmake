add_test(NAME integration_relay COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/relay.test.mjs)
set_tests_properties(integration_relay PROPERTIES TIMEOUT 240
  ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
add_test(NAME integration_relay_hostile COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/relay_hostile.test.mjs)
set_tests_properties(integration_relay_hostile PROPERTIES TIMEOUT 240
  ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
