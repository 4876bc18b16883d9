al_test(test_store_artifact SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_store_artifact.c
  LINK al_store al_db al_os al_base)
foreach(part artifact artifact_kill artifact_forms artifact_random)
  al_test(test_${part} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_${part}.c
    LINK al_artifact al_store al_db al_os al_table al_base)
endforeach()
