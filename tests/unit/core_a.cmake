foreach(part ask_text schema gate workspace scratch)
  al_test(test_${part} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_${part}.c LINK al_core)
endforeach()
foreach(part registry call core)
  al_test(test_${part} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_${part}.c ${CMAKE_SOURCE_DIR}/tests/unit/core_world.c
    LINK al_core)
endforeach()
