al_fuzz(config SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_config.c LINK al_config al_base)
al_fuzz(servers SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_servers.c LINK al_config al_base)
