al_test(test_dash_format SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_dash_format.c LINK al_dashboard al_base)
al_test(test_dash_page SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_dash_page.c ${CMAKE_SOURCE_DIR}/tests/unit/dash_page_world.c
  LINK al_dashboard al_assets al_base)
