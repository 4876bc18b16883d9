al_test(test_agent_history TIMEOUT 60 SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_agent_history.c
  LINK al_agent al_llm al_core al_store al_db al_config al_loop al_os al_base)
