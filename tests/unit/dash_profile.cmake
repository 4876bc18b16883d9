al_test(test_dash_profile SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_dash_profile.c
  LINK al_dashboard al_query al_dataset al_table al_db al_base sqlite3)
al_test(test_dash_words SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_dash_words.c LINK al_dashboard al_base)
al_test(test_dash_catalog SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_dash_catalog.c ${CMAKE_SOURCE_DIR}/tests/unit/query_world.c
  LINK al_dashboard al_query al_dataset al_table al_db al_base sqlite3)
