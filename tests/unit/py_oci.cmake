al_test(test_py_oci
  SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_py_oci.c ${CMAKE_SOURCE_DIR}/tests/unit/pyrun_world.c
  LINK al_pyrun TIMEOUT 120 NO_ASAN)
# Made once: the image, and a storage of its own for the engine.
target_compile_definitions(test_py_oci PRIVATE
  AL_OCI_IMAGE_TOOL="${CMAKE_SOURCE_DIR}/tools/oci-image" AL_OCI_IMAGE_DIR="${CMAKE_BINARY_DIR}/oci")
set_tests_properties(test_py_oci PROPERTIES RESOURCE_LOCK oci_storage)
