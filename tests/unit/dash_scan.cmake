foreach(part bucket filter sql scan)
  al_test(test_dash_${part} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_dash_${part}.c ${CMAKE_SOURCE_DIR}/tests/unit/dash_world.c
    ${CMAKE_SOURCE_DIR}/tests/unit/query_world.c LINK al_dashboard al_query al_dataset al_table al_db al_base sqlite3)
endforeach()
