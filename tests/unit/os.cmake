foreach(area fd path spawn lock temps)
  al_test(test_${area} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_${area}.c LINK al_os TIMEOUT 120)
endforeach()
