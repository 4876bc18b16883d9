al_fuzz(relay SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_relay.c LINK al_mcp)
