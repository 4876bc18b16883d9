al_test(test_cli_args SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_cli_args.c LINK al_cli)
al_test(test_cli_text SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_cli_text.c LINK al_cli)
