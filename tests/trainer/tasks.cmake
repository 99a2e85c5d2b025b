# The task suite: what is read and drawn, and that every task of it works. Of the modules,
# `make test` runs a third, and `ctest -L long` the others.
warpwright_test(trainer_tasks_tests
  SOURCES captured_tasks_test.cpp tasks_test.cpp
  LINKS warpwright_tasks)

add_executable(trainer_suite_runs ${CMAKE_SOURCE_DIR}/tests/main.cpp suite_runs_test.cpp)
target_link_libraries(trainer_suite_runs PRIVATE warpwright_trainer)
set_target_properties(trainer_suite_runs PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_compile_definitions(trainer_suite_runs PRIVATE WARPWRIGHT_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
  WARPWRIGHT_BINARY_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
add_test(NAME trainer_suite_kernels COMMAND trainer_suite_runs "--test-case=every kernel*")
set_tests_properties(trainer_suite_kernels PROPERTIES TIMEOUT 300 SKIP_REGULAR_EXPRESSION "all cases skipped")
foreach(part 0 1 2)
  add_test(NAME trainer_suite_modules_${part} COMMAND trainer_suite_runs "--test-case=*every module*")
  set_tests_properties(trainer_suite_modules_${part} PROPERTIES TIMEOUT 600
    SKIP_REGULAR_EXPRESSION "all cases skipped" ENVIRONMENT "WARPWRIGHT_SUITE_PART=${part}/3")
  if(part GREATER 0)
    set_property(TEST trainer_suite_modules_${part} PROPERTY LABELS long)
  endif()
  if(WARPWRIGHT_TORCH_PYTHON)
    set_property(TEST trainer_suite_modules_${part} APPEND PROPERTY ENVIRONMENT "WARPWRIGHT_PYTHON=${WARPWRIGHT_TORCH_PYTHON}")
  endif()
endforeach()
