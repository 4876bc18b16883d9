foreach(area loop stream)
  al_test(test_${area} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_${area}.c LINK al_loop)
endforeach()
# These run themselves anew as the supervisor; test_child makes and kills many processes.
al_test(test_service SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_service.c LINK al_loop al_sandbox)
al_test(test_child SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_child.c LINK al_loop al_sandbox TIMEOUT 180)
