al_test(test_agent_context
  SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_agent_context.c ${CMAKE_SOURCE_DIR}/tests/unit/agent_context_world.c
    ${CMAKE_SOURCE_DIR}/tests/unit/core_world.c
  LINK al_agent al_tools al_core)
al_test(test_agent_project
  SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_agent_project.c ${CMAKE_SOURCE_DIR}/tests/unit/core_world.c
  LINK al_agent al_core)
al_test(test_agent_question
  SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_agent_question.c ${CMAKE_SOURCE_DIR}/tests/unit/core_world.c
  LINK al_agent al_core)
