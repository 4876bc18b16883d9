al_test(test_store_artifact SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_store_artifact.c
  LINK al_store al_db al_os al_base)
al_test(test_artifact SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_artifact.c
  LINK al_artifact al_store al_db al_os al_base)
