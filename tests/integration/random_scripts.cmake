# In both builds; in the sanitizer build it is the proof that no script makes the host misbehave.
add_test(NAME integration_random_scripts
  COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/random_scripts.test.mjs)
set_tests_properties(integration_random_scripts PROPERTIES TIMEOUT 300 LABELS asan
  ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
