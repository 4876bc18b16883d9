al_fuzz(zip SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_zip.c LINK al_table)
al_fuzz(xlsx SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_xlsx.c LINK al_table)
