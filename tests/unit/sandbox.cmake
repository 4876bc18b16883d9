al_test(test_supervise SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_supervise.c LINK al_sandbox al_os TIMEOUT 120)
al_test(test_landlock SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_landlock.c LINK al_loop al_sandbox)
al_test(test_landlock_search SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_landlock_search.c LINK al_loop al_sandbox
        TIMEOUT 120)
set_tests_properties(test_landlock test_landlock_search PROPERTIES SKIP_RETURN_CODE 77)
al_test(test_seccomp SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_seccomp.c LINK al_sandbox al_os)
al_test(test_cgroup SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_cgroup.c LINK al_sandbox al_os)
al_test(test_guest SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_guest.c LINK al_sandbox al_os TIMEOUT 120)
al_test(test_filter SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_filter.c LINK al_sandbox)
