foreach(part conversation conversation_words)
  al_test(test_store_${part} TIMEOUT 120 SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_store_${part}.c
    LINK al_store al_db al_os al_base)
endforeach()
