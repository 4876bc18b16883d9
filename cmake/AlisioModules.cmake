# al_module(name SOURCES a.c … [LINK targets…])   one static library per folder of src/
function(al_module name)
  cmake_parse_arguments(M "" "" "SOURCES;LINK" ${ARGN})
  add_library(al_${name} STATIC ${M_SOURCES})
  target_link_libraries(al_${name} PUBLIC al_flags ${M_LINK})
endfunction()

# al_test(name SOURCES … LINK … [TIMEOUT s] [NO_ASAN])   a cmocka program, run by ctest with a time limit.
# Label "asan": `make check` runs it in the sanitizer build, too; NO_ASAN: only in the plain one.
function(al_test name)
  cmake_parse_arguments(T "NO_ASAN" "TIMEOUT" "SOURCES;LINK" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 60)
  endif()
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE al_flags ${T_LINK} cmocka)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  # cmocka needs setjmp.h, stdarg.h, stddef.h, stdint.h before it: tests/test.h does that.
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${T_TIMEOUT})
  if(NOT T_NO_ASAN)
    set_tests_properties(${name} PROPERTIES LABELS asan)
  endif()
endfunction()

# al_fuzz(name SOURCES … LINK …)   with AL_FUZZ a libFuzzer target; always a replayer of tests/fuzz/corpus/<name>
function(al_fuzz name)
  cmake_parse_arguments(F "" "" "SOURCES;LINK" ${ARGN})
  set(corpus ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
  if(AL_FUZZ)
    add_executable(fuzz_${name} ${F_SOURCES})
    target_link_libraries(fuzz_${name} PRIVATE al_flags ${F_LINK} -fsanitize=fuzzer)
  else()
    add_executable(fuzz_${name} ${F_SOURCES} ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c)
    target_link_libraries(fuzz_${name} PRIVATE al_flags ${F_LINK})
    add_test(NAME fuzz_${name} COMMAND fuzz_${name} ${corpus})
    set_tests_properties(fuzz_${name} PROPERTIES TIMEOUT 120 LABELS asan)
  endif()
endfunction()
