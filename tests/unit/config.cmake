al_test(test_config SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_config.c LINK al_config al_os al_base)
al_test(test_servers SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_servers.c LINK al_config al_os al_base)
