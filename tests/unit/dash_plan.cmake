foreach(part goal plan plan_kinds repair)
  al_test(test_dash_${part} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_dash_${part}.c ${CMAKE_SOURCE_DIR}/tests/unit/dash_plan_rig.c
    LINK al_dashboard al_query al_dataset al_table al_db al_base sqlite3)
endforeach()
