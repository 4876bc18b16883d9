foreach(name job capture run life)
  if(name STREQUAL "life")
    set(plain_only NO_ASAN) # processes of its own, and the code of test_py_run
  endif()
  al_test(test_py_${name}
    SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_py_${name}.c ${CMAKE_SOURCE_DIR}/tests/unit/pyrun_world.c
    LINK al_pyrun TIMEOUT 240 ${plain_only})
endforeach()
unset(plain_only)
