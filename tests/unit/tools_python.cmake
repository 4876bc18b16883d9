al_test(test_tools_python SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_tools_python.c
        ${CMAKE_SOURCE_DIR}/tests/unit/tools_world.c LINK al_tools TIMEOUT 120)
