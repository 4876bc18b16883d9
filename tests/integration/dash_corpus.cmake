# Dashboards of files of others. It skips with the reason where there is no corpus.
add_test(NAME integration_dash_corpus COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/dashboard/corpus.test.mjs)
set_tests_properties(integration_dash_corpus PROPERTIES TIMEOUT 240 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
