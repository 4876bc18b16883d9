foreach(part err str buf arena json text ident)
  al_test(test_${part} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_${part}.c LINK al_base)
endforeach()
