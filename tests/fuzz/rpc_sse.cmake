al_fuzz(sse SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_sse.c LINK al_rpc)
