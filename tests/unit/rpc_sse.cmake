al_test(test_sse SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_sse.c LINK al_rpc)
