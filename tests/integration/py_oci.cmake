# Scripts in a container, through the real binary; their parts have tests of their own (test_py_oci), with the same image.
add_test(NAME integration_py_oci COMMAND node --test ${CMAKE_SOURCE_DIR}/tests/integration/py_oci.test.mjs)
set_tests_properties(integration_py_oci PROPERTIES TIMEOUT 180 RESOURCE_LOCK oci_storage
  ENVIRONMENT "ALISIO_BINARY=$<TARGET_FILE:alisio>;ALISIO_OCI_DIR=${CMAKE_BINARY_DIR}/oci")
