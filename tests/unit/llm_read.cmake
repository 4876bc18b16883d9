foreach(part scripts calls limits ends)
  al_test(test_llm_read_${part} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_llm_read_${part}.c
    ${CMAKE_SOURCE_DIR}/tests/unit/llm_read_rig.c LINK al_llm)
  target_compile_definitions(test_llm_read_${part} PRIVATE ALISIO_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_include_directories(test_llm_read_${part} PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit)
endforeach()
al_test(test_llm_message SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_llm_message.c LINK al_llm)
