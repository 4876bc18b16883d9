al_test(test_dash_table SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_dash_table.c
  LINK al_dashboard al_query al_dataset al_table al_db al_base sqlite3)
