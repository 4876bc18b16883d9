# In the sanitizer build no command may leak or misstep.
add_test(NAME integration_setup COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/setup.test.mjs)
set_tests_properties(integration_setup PROPERTIES TIMEOUT 300 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
add_test(NAME integration_servers COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/servers.test.mjs)
set_tests_properties(integration_servers PROPERTIES TIMEOUT 300 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
if(AL_ASAN)
  # Of these, what reads the files of others and shows what they hold; `make asan` has the rest there, too.
  add_test(NAME integration_servers_files COMMAND node --test
    "--test-name-pattern=import|shown|seen|arguments|variables|addresses|copied|Codex|refused|wrong entry|rules are|policy is told"
    ${CMAKE_SOURCE_DIR}/tests/integration/servers.test.mjs)
  add_test(NAME integration_setup_files COMMAND node --test
    "--test-name-pattern=^(cursor|codex|gemini): one entry|^codex: what|dry-run|broken|empty file|link|another server|not written|Gemini|has to be given"
    ${CMAKE_SOURCE_DIR}/tests/integration/setup.test.mjs)
  set_tests_properties(integration_servers_files integration_setup_files PROPERTIES TIMEOUT 300 LABELS asan ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
endif()
