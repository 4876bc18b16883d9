add_test(NAME integration_llm_requests COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/llm_requests.test.mjs)
set_tests_properties(integration_llm_requests PROPERTIES TIMEOUT 120 ENVIRONMENT "AL_LLM_BODIES=$<TARGET_FILE:llm_bodies>")
add_test(NAME integration_llm_prefix COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/llm_prefix.test.mjs)
set_tests_properties(integration_llm_prefix PROPERTIES TIMEOUT 120 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
