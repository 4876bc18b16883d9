al_test(test_table_format SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_table_format.c LINK al_table)
