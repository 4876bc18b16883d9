al_test(test_call_wall SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_call_wall.c ${CMAKE_SOURCE_DIR}/tests/unit/core_world.c
  LINK al_core)
