al_test(test_cell SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_cell.c LINK al_dataset)
al_test(test_fdvfs SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_fdvfs.c LINK al_db al_base)
