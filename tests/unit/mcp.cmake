foreach(name rpc mcp_bound)
  al_test(test_${name} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_${name}.c LINK al_mcp)
endforeach()
foreach(name mcp mcp_ask)
  al_test(test_${name} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_${name}.c ${CMAKE_SOURCE_DIR}/tests/unit/mcp_world.c
    ${CMAKE_SOURCE_DIR}/tests/unit/core_world.c LINK al_mcp)
endforeach()
