foreach(part guard lies functions differential)
  al_test(test_query_${part} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_query_${part}.c ${CMAKE_SOURCE_DIR}/tests/unit/query_world.c
    LINK al_query al_dataset al_db al_base sqlite3)
endforeach()
al_test(test_query SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_query.c ${CMAKE_SOURCE_DIR}/tests/unit/query_world.c
  LINK al_query al_dataset al_db al_base sqlite3)
