add_test(NAME docs_examples COMMAND node ${CMAKE_SOURCE_DIR}/tests/docs/run.mjs)
set_tests_properties(docs_examples PROPERTIES TIMEOUT 180 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
# The first of the README's two commands, but for its build.
add_test(NAME demo COMMAND ${CMAKE_SOURCE_DIR}/examples/demo $<TARGET_FILE:alisio>)
set_tests_properties(demo PROPERTIES TIMEOUT 120)
