foreach(part interpreter choose)
  al_test(test_py_${part} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_py_${part}.c LINK al_pyrun)
endforeach()
