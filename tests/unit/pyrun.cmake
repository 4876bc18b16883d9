al_test(test_py_interpreter SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_py_interpreter.c LINK al_pyrun)
