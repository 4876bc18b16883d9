al_test(test_py_sweep SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_py_sweep.c LINK al_pyrun)
