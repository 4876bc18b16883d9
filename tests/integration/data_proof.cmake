# In both builds: what goes in comes out, a workbook is its CSV export, and no statement hurts.
foreach(name data_lossless data_xlsx data_attack)
  add_test(NAME integration_${name}
    COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/${name}.test.mjs)
  set_tests_properties(integration_${name} PROPERTIES TIMEOUT 300 LABELS asan
    ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
endforeach()
