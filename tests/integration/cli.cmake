# In both builds; in the sanitizer build no command may leak or misstep.
foreach(name cli cli_runs cli_dashboard)
  add_test(NAME integration_${name}
    COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/${name}.test.mjs)
  set_tests_properties(integration_${name} PROPERTIES TIMEOUT 400 LABELS asan
    ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
endforeach()
