foreach(name table_csv table_exports table_source corpus_csv)
  al_test(test_${name}
    SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_${name}.c ${CMAKE_SOURCE_DIR}/tests/unit/csv_rig.c
    LINK al_table ${ZLIB_ARCHIVE} TIMEOUT 120)
  target_compile_definitions(test_${name} PRIVATE ALISIO_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
endforeach()
