add_test(NAME docs_examples COMMAND node ${CMAKE_SOURCE_DIR}/tests/docs/run.mjs)
set_tests_properties(docs_examples PROPERTIES TIMEOUT 180 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
