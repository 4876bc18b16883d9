# The parts have their sanitizer runs; data_lossless and data_attack send the whole of it through that build.
add_test(NAME integration_data COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/data.test.mjs)
set_tests_properties(integration_data PROPERTIES TIMEOUT 240 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
# How datasets and processes end: nothing of it depends on the build.
add_test(NAME integration_data_life COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/data_life.test.mjs)
set_tests_properties(integration_data_life PROPERTIES TIMEOUT 240 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
