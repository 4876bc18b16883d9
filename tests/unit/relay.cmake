foreach(name relay_names relay_translate mcp_http_param)
  al_test(test_${name} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_${name}.c LINK al_mcp)
endforeach()
