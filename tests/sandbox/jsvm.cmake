al_test(sandbox_jsvm_attack SOURCES ${CMAKE_SOURCE_DIR}/tests/sandbox/jsvm_attack.c LINK test_jsvm_rig TIMEOUT 180)
al_test(sandbox_jsvm_secrets SOURCES ${CMAKE_SOURCE_DIR}/tests/sandbox/jsvm_secrets.c LINK test_jsvm_rig)
