al_test(test_seccomp_profile SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_seccomp_profile.c LINK al_sandbox)
