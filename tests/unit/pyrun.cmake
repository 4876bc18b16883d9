foreach(part interpreter choose)
  al_test(test_py_${part} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_py_${part}.c LINK al_pyrun)
endforeach()
al_test(test_py_backends SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_py_backends.c
  ${CMAKE_SOURCE_DIR}/tests/unit/pyrun_world.c LINK al_pyrun TIMEOUT 180)
