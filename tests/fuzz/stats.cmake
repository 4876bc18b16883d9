al_fuzz(pattern SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_pattern.c LINK al_dataset al_base)
