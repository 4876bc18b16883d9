al_test(test_tools_artifacts SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_tools_artifacts.c LINK tools_world)
