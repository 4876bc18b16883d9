al_test(test_mcp_http SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_mcp_http.c ${CMAKE_SOURCE_DIR}/tests/unit/mcp_world.c
  ${CMAKE_SOURCE_DIR}/tests/unit/core_world.c LINK al_mcp)
al_test(test_mcp_http_heads SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_mcp_http_heads.c LINK al_mcp)
