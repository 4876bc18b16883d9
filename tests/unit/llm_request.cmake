al_test(test_llm_request SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_llm_request.c ${CMAKE_SOURCE_DIR}/tests/unit/llm_request_world.c
  LINK al_llm al_config al_base m)
target_compile_definitions(test_llm_request PRIVATE AL_REQUESTS="${CMAKE_SOURCE_DIR}/tests/llm/requests")
add_executable(llm_bodies ${CMAKE_SOURCE_DIR}/tests/unit/llm_bodies.c ${CMAKE_SOURCE_DIR}/tests/unit/llm_request_world.c)
target_link_libraries(llm_bodies PRIVATE al_flags al_llm al_config al_base m)
target_include_directories(llm_bodies PRIVATE ${CMAKE_SOURCE_DIR}/tests)
al_test(test_llm_history SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_llm_history.c ${CMAKE_SOURCE_DIR}/tests/unit/llm_request_world.c
  LINK al_llm al_config al_base m)
al_test(test_llm_money SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_llm_money.c LINK al_llm al_config al_base m)
target_compile_definitions(test_llm_money PRIVATE AL_ESTIMATE="${CMAKE_SOURCE_DIR}/tests/llm/estimate")
