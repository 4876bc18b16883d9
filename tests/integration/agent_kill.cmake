foreach(name agent_kill agent_resume agent_one_writer agent_survivors agent_unwritable)
  if(EXISTS ${CMAKE_SOURCE_DIR}/tests/integration/${name}.test.mjs)
    add_test(NAME integration_${name} COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/${name}.test.mjs)
    set_tests_properties(integration_${name} PROPERTIES TIMEOUT 300 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
  endif()
endforeach()
# What is read of a journal, under the sanitizers, too.
set_tests_properties(integration_agent_resume PROPERTIES LABELS asan)
