# What goes in comes out, and no statement hurts: in both builds. A workbook is its CSV export.
foreach(name data_lossless data_attack data_xlsx)
  add_test(NAME integration_${name}
    COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/${name}.test.mjs)
  set_tests_properties(integration_${name} PROPERTIES TIMEOUT 300 ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>")
endforeach()
set_tests_properties(integration_data_lossless integration_data_attack PROPERTIES LABELS asan)
