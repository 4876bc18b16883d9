al_fuzz(http_heads SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_http_heads.c LINK al_mcp)
