foreach(name mcp mcp_ask mcp_sdk relay_pressure)
  add_test(NAME integration_${name}
    COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/${name}.test.mjs)
  set_tests_properties(integration_${name} PROPERTIES TIMEOUT 180
    ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
endforeach()
