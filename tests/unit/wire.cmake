al_test(test_frame SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_frame.c LINK al_wire)
