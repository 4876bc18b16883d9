add_library(test_data_rig STATIC ${CMAKE_SOURCE_DIR}/tests/unit/data_rig.c)
target_link_libraries(test_data_rig PUBLIC al_flags al_data cmocka)
target_include_directories(test_data_rig PUBLIC ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/tests/unit)
al_test(test_data_hostile SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_data_hostile.c
        ${CMAKE_SOURCE_DIR}/tests/unit/data_fakes.c LINK test_data_rig TIMEOUT 180)
al_test(test_data_dashboard SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_data_dashboard.c
        ${CMAKE_SOURCE_DIR}/tests/unit/data_fakes.c LINK test_data_rig TIMEOUT 180)
al_test(test_data SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_data.c LINK test_data_rig TIMEOUT 180)
