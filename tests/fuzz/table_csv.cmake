al_fuzz(csv SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_csv.c LINK al_table)
