al_test(test_llm_known SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_llm_known.c LINK al_llm)
