# Not with sanitizers, whose filters have to let more through.
al_test(sandbox_data_attack SOURCES ${CMAKE_SOURCE_DIR}/tests/sandbox/data_attack.c
        ${CMAKE_SOURCE_DIR}/tests/unit/data_fakes.c LINK test_data_rig TIMEOUT 180 NO_ASAN)
