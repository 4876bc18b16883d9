foreach(part ask fault models)
  al_test(test_llm_${part} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_llm_${part}.c ${CMAKE_SOURCE_DIR}/tests/unit/llm_rig.c
    LINK al_llm)
  target_include_directories(test_llm_${part} PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit)
endforeach()
