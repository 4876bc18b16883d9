al_fuzz(catalog SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_catalog.c LINK al_store al_db al_os al_base)
