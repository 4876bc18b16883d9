foreach(part format json)
  al_test(test_table_${part} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_table_${part}.c LINK al_table)
endforeach()
al_test(test_names SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_names.c LINK al_dataset)
