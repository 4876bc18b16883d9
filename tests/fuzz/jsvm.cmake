al_fuzz(jsvm_json SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_jsvm_json.c LINK al_jsvm)
