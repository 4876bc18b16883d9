# In both builds: names and bytes of others come through here.
add_test(NAME integration_artifacts COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/artifacts.test.mjs)
set_tests_properties(integration_artifacts PROPERTIES TIMEOUT 180 LABELS asan ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
