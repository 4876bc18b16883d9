
al_test(test_store_dataset SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_store_dataset.c
  LINK al_store al_db al_os al_base)
al_test(test_tools_data SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_tools_data.c ${CMAKE_SOURCE_DIR}/tests/unit/core_world.c
  LINK al_tools al_core)
al_test(test_tools_dashboard SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_tools_dashboard.c
  ${CMAKE_SOURCE_DIR}/tests/unit/core_world.c LINK al_tools al_core)
