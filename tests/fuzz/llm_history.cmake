al_fuzz(llm_history SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_llm_history.c ${CMAKE_SOURCE_DIR}/tests/unit/llm_request_world.c
  LINK al_llm al_config al_base m)
target_include_directories(fuzz_llm_history PRIVATE ${CMAKE_SOURCE_DIR}/tests)
