# Python in WebAssembly, through the real binary; its parts have tests of their own (test_py_wasm).
add_test(NAME integration_py_wasm COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/py_wasm.test.mjs)
set_tests_properties(integration_py_wasm PROPERTIES TIMEOUT 180 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
