al_fuzz(upstream SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_upstream.c LINK al_upstream)
