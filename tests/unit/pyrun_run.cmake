foreach(name job capture run life)
  al_test(test_py_${name}
    SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_py_${name}.c ${CMAKE_SOURCE_DIR}/tests/unit/pyrun_world.c
    LINK al_pyrun TIMEOUT 240)
endforeach()
