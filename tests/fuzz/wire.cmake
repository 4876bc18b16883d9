al_fuzz(frame SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_frame.c LINK al_wire)
