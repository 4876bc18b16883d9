al_test(test_upstream_http SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_upstream_http.c
        ${CMAKE_SOURCE_DIR}/tests/unit/http_peer.c LINK al_upstream)
target_include_directories(test_upstream_http PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit)
