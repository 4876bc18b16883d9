# cli_runs in both builds: in the sanitizer build no command may leak or misstep. (`make asan` runs the others there, too.)
foreach(name cli cli_runs cli_dashboard)
  add_test(NAME integration_${name}
    COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/${name}.test.mjs)
  set_tests_properties(integration_${name} PROPERTIES TIMEOUT 400 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
endforeach()
set_tests_properties(integration_cli_runs PROPERTIES LABELS asan)
