foreach(part cell builder describe)
  al_test(test_${part} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_${part}.c LINK al_dataset)
endforeach()
al_test(test_fdvfs SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_fdvfs.c LINK al_db al_base)
