foreach(part schema gate workspace scratch)
  al_test(test_${part} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_${part}.c LINK al_core)
endforeach()
