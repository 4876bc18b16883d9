al_fuzz(rpc SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_rpc.c LINK al_mcp)
al_fuzz(mcp SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_mcp.c LINK al_mcp)
