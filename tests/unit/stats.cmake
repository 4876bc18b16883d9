al_test(test_pattern SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_pattern.c LINK al_dataset al_base)
al_test(test_stats SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_stats.c LINK al_dataset al_base sqlite3)
al_test(test_corpus_strd SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_corpus_strd.c LINK al_dataset al_base m)
target_compile_definitions(test_corpus_strd PRIVATE AL_CORPUS="${CMAKE_SOURCE_DIR}/../shared/corpus")
