foreach(part ask fault models)
  al_test(test_llm_${part} SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_llm_${part}.c ${CMAKE_SOURCE_DIR}/tests/unit/llm_rig.c
    LINK al_llm)
  target_include_directories(test_llm_${part} PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit)
endforeach()
al_test(test_http_reach SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_http_reach.c ${CMAKE_SOURCE_DIR}/tests/unit/http_peer.c
        ${CMAKE_SOURCE_DIR}/tests/unit/names_rig.c LINK al_http ${CMAKE_DL_LIBS})
target_include_directories(test_http_reach PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit)
al_test(test_llm_attempt SOURCES ${CMAKE_SOURCE_DIR}/tests/unit/test_llm_attempt.c ${CMAKE_SOURCE_DIR}/tests/unit/http_peer.c
        ${CMAKE_SOURCE_DIR}/tests/unit/names_rig.c LINK al_llm al_http ${CMAKE_DL_LIBS})
target_include_directories(test_llm_attempt PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit)
