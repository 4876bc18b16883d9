al_fuzz(dash_plan SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_dash_plan.c
  LINK al_dashboard al_query al_dataset al_table al_db al_base sqlite3)
