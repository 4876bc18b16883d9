al_test(test_py_extras SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_py_extras.c LINK al_pyrun)
