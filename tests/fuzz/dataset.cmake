al_fuzz(builder SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_builder.c LINK al_dataset)
al_fuzz(ingest SOURCES ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_ingest.c LINK al_dataset)
