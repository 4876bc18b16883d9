# Rules about the source itself.
foreach(rule layers banned size)
  add_test(NAME lint_${rule} COMMAND ${CMAKE_SOURCE_DIR}/tests/lint/${rule})
  set_tests_properties(lint_${rule} PROPERTIES TIMEOUT 60)
endforeach()
add_test(NAME lint_names COMMAND ${CMAKE_SOURCE_DIR}/tests/lint/names ${CMAKE_BINARY_DIR})
set_tests_properties(lint_names PROPERTIES TIMEOUT 60)
