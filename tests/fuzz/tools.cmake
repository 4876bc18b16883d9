foreach(part rg git glob decode data_show)
  al_fuzz(${part} SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_${part}.c LINK al_tools)
endforeach()
