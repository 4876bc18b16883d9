# Compiler flags of our own code. Generated and third-party code takes al_flags_third instead.
# Assertions stay on: a broken invariant ends the process instead of going on with it.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_C_FLAGS_RELEASE "-O2")

add_library(al_flags INTERFACE)
target_include_directories(al_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/gen)
target_compile_definitions(al_flags INTERFACE _GNU_SOURCE _FILE_OFFSET_BITS=64 AL_VERSION="${PROJECT_VERSION}")
target_compile_options(al_flags INTERFACE
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla -Wundef
  -Wpointer-arith -Wwrite-strings -fno-strict-aliasing -fno-common)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_compile_options(al_flags INTERFACE -Wjump-misses-init)
endif()
if(AL_WERROR)
  target_compile_options(al_flags INTERFACE -Werror)
endif()

add_library(al_flags_third INTERFACE)
target_compile_options(al_flags_third INTERFACE -w -fno-strict-aliasing)

if(AL_ASAN)
  add_compile_definitions(AL_ASAN=1)
  target_compile_options(al_flags INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer
    -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
elseif(AL_FUZZ)
  add_compile_definitions(AL_ASAN=1)
  target_compile_options(al_flags INTERFACE -fsanitize=address,undefined,fuzzer-no-link -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
else()
  target_compile_options(al_flags INTERFACE -fstack-protector-strong)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(al_flags INTERFACE -D_FORTIFY_SOURCE=2)
  endif()
  add_link_options(-pie -Wl,-z,relro,-z,now)
endif()
