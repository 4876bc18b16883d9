al_test(test_db SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_db.c LINK al_db al_base)
