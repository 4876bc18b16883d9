add_executable(fake_mcp ${CMAKE_SOURCE_DIR}/tests/unit/fake_mcp.c)
target_link_libraries(fake_mcp PRIVATE al_flags al_rpc al_base)
# Runs itself anew as the supervisor of the server that it talks to.
al_test(test_upstream
  SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_upstream.c ${CMAKE_SOURCE_DIR}/tests/unit/core_world.c
  LINK al_upstream al_core al_sandbox TIMEOUT 180)
target_compile_definitions(test_upstream PRIVATE FAKE_MCP="$<TARGET_FILE:fake_mcp>")
add_dependencies(test_upstream fake_mcp)
al_test(test_upstream_result SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_upstream_result.c LINK al_upstream)
al_test(test_upstream_source
  SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_upstream_source.c ${CMAKE_SOURCE_DIR}/tests/unit/core_world.c
  LINK al_upstream al_core)
