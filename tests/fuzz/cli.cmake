al_fuzz(args SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_args.c LINK al_cli)
