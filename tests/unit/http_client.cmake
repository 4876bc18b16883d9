al_test(test_http_client SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_http_client.c
        ${CMAKE_SOURCE_DIR}/tests/unit/http_peer.c LINK al_http)
target_include_directories(test_http_client PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit)
al_test(test_http_tls SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_http_tls.c LINK al_http ssl crypto)
target_include_directories(test_http_tls PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit)
