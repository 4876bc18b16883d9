add_executable(bench_db_wait ${CMAKE_SOURCE_DIR}/bench/db_wait.c)
target_link_libraries(bench_db_wait PRIVATE al_flags al_store al_db al_os al_base)
