foreach(part outputs html bytes)
  al_fuzz(artifact_${part} SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_artifact_${part}.c
    LINK al_artifact al_store al_db al_os al_base)
endforeach()
