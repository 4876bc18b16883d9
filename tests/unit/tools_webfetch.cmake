al_test(test_tools_webfetch SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_tools_webfetch.c
        ${CMAKE_SOURCE_DIR}/tests/unit/tools_world.c ${CMAKE_SOURCE_DIR}/tests/unit/http_peer.c LINK al_tools TIMEOUT 180)
target_include_directories(test_tools_webfetch PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit)
