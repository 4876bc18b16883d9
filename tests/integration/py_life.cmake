# How runs end does not depend on the build; their parts have their sanitizer runs.
add_test(NAME integration_py_life COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/py_life.test.mjs)
set_tests_properties(integration_py_life PROPERTIES TIMEOUT 240 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
