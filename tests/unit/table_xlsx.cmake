foreach(part zip table_xlsx)
  al_test(test_${part} LINK al_table ${ZLIB_ARCHIVE}
    SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_${part}.c ${CMAKE_SOURCE_DIR}/tests/unit/xlsx_make.c)
endforeach()
al_test(test_corpus_xlsx LINK al_table ${ZLIB_ARCHIVE}
  SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_corpus_xlsx.c ${CMAKE_SOURCE_DIR}/tests/unit/xlsx_make.c)
target_compile_definitions(test_corpus_xlsx PRIVATE AL_CORPUS="${CMAKE_SOURCE_DIR}/../shared/corpus")
al_test(test_table_twins LINK al_table ${ZLIB_ARCHIVE}
  SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_table_twins.c ${CMAKE_SOURCE_DIR}/tests/unit/csv_rig.c
          ${CMAKE_SOURCE_DIR}/tests/unit/xlsx_make.c)
target_compile_definitions(test_table_twins PRIVATE ALISIO_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
