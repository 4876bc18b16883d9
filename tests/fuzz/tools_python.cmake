al_fuzz(traceback SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_traceback.c LINK al_tools)
