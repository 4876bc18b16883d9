al_test(test_pattern SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_pattern.c LINK al_dataset al_base)
