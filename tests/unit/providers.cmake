al_test(test_providers SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_providers.c LINK al_config al_os al_base)
