# Faults of model endpoints, each through the real binary; their parts have sanitizer runs of their own.
foreach(name agent_faults agent_faults_runs agent_cut agent_canary agent_dialects)
  add_test(NAME integration_${name} COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/${name}.test.mjs)
  set_tests_properties(integration_${name} PROPERTIES TIMEOUT 240 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
endforeach()
