# Rules about the source itself.
foreach(rule layers banned size)
  add_test(NAME lint_${rule} COMMAND ${CMAKE_SOURCE_DIR}/tests/lint/${rule})
  set_tests_properties(lint_${rule} PROPERTIES TIMEOUT 60)
endforeach()
