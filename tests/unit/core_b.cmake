foreach(name jsrun jsresult guide control source)
  al_test(test_${name}
    SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_${name}.c ${CMAKE_SOURCE_DIR}/tests/unit/jsrun_world.c
    LINK al_core)
endforeach()
set_tests_properties(test_jsrun test_control PROPERTIES TIMEOUT 240)
