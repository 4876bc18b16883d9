al_fuzz(query SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_query.c LINK al_query al_dataset al_db al_base sqlite3)
