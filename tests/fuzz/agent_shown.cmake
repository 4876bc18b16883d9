al_fuzz(agent_shown SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_agent_shown.c LINK al_agent)
