al_test(test_agent_loop SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_agent_loop.c LINK al_agent al_core)
al_test(test_agent_window
  SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_agent_window.c ${CMAKE_SOURCE_DIR}/tests/unit/agent_context_world.c
    ${CMAKE_SOURCE_DIR}/tests/unit/core_world.c
  LINK al_agent al_tools al_core)
target_compile_definitions(test_agent_window PRIVATE RECORDED="${CMAKE_SOURCE_DIR}/tests/agent/window.json")
al_test(test_agent_turn
  SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_agent_turn.c ${CMAKE_SOURCE_DIR}/tests/unit/llm_rig.c
    ${CMAKE_SOURCE_DIR}/tests/unit/core_world.c
  LINK al_agent al_tools al_core al_llm)
target_include_directories(test_agent_turn PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit)
