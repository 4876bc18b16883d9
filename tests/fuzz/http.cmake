al_fuzz(http_head SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_http_head.c LINK al_http)
al_fuzz(http_params SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_http_params.c LINK al_upstream)
al_fuzz(webfetch SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_webfetch.c LINK al_tools)
