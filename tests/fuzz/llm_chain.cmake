al_fuzz(llm_fault SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_llm_fault.c LINK al_llm)
al_fuzz(llm_models SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_llm_models.c LINK al_llm)
