add_library(test_jsvm_rig STATIC ${CMAKE_SOURCE_DIR}/tests/unit/test_jsvm_rig.c)
target_link_libraries(test_jsvm_rig PUBLIC al_flags al_jsvm cmocka)
target_include_directories(test_jsvm_rig PUBLIC ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/tests/unit)
al_test(test_jsvm SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_jsvm.c LINK test_jsvm_rig)
