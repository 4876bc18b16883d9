al_fuzz(llm_read SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_llm_read.c LINK al_llm)
al_fuzz(llm_message SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_llm_message.c LINK al_llm)
