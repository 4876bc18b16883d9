al_test(test_httpd SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_httpd.c LINK al_http)
