foreach(part store store_kill store_hosts catalog)
  al_test(test_${part} TIMEOUT 120 SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_${part}.c
    LINK al_store al_db al_os al_base)
endforeach()
