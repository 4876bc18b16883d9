al_fuzz(dashboard SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_dashboard.c LINK al_dashboard al_query al_dataset al_db al_base sqlite3)
