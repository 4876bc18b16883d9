al_fuzz(json SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_json.c LINK al_base)
