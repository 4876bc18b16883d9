# A script that tries to get out of every back end.
add_test(NAME integration_py_attack COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/py_attack.test.mjs)
set_tests_properties(integration_py_attack PROPERTIES TIMEOUT 400 RESOURCE_LOCK oci_storage
  ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>;ALISIO_OCI_DIR=${CMAKE_BINARY_DIR}/oci")
