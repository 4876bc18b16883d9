foreach(part jsonrows format)
  al_fuzz(${part} SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_${part}.c LINK al_table)
endforeach()
