al_test(test_py_wasm
  SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_py_wasm.c ${CMAKE_SOURCE_DIR}/tests/unit/pyrun_world.c
  LINK al_pyrun TIMEOUT 180 NO_ASAN)
target_compile_definitions(test_py_wasm PRIVATE AL_NODE_MODULES="${CMAKE_SOURCE_DIR}/node_modules")
